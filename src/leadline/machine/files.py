"""Where machines are: those that come with Leadline, by name, and everybody's own, by path."""

from pathlib import Path

from leadline.core import paths
from leadline.core.errors import UsageError, suggest


def shipped() -> dict[str, Path]:
    """The machines that come with Leadline, by name: those of the package, or of the checkout."""
    return paths.shipped("machines")


def names() -> list[str]:
    """The names of the machines that come with Leadline."""
    return list(shipped())


def find(name: str | Path) -> Path:
    """The machine's file, from a path or from the name of a shipped one; UsageError when there is neither."""
    path = Path(name)
    if path.is_file():
        return path
    if path.suffix == ".toml" or len(path.parts) > 1:
        raise UsageError(f"there is no machine file {path}; 'leadline list machines' shows those by name")
    if str(name) in shipped():
        return shipped()[str(name)]
    raise UsageError(f"no machine {str(name)!r} here and none shipped{suggest(str(name), shipped())}")


def is_shipped(path: Path) -> bool:
    """Whether the file is one of those that come with Leadline."""
    known = shipped().get(path.stem)
    return known is not None and known.resolve() == path.resolve()
