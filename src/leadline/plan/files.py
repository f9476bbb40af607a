"""Where plans are: those that come with Leadline, by name, and everybody's own, by path."""

import tomllib
from pathlib import Path

from leadline.core import paths
from leadline.core.errors import UsageError, suggest


def shipped() -> dict[str, Path]:
    """The plans that come with Leadline, by name: those of the package, or of the checkout it runs from."""
    return paths.shipped("plans")


def find(name: str) -> Path:
    """The plan's file, from a path or from the name of a shipped plan; UsageError when there is neither."""
    path = Path(name)
    if path.is_file() or path.suffix == ".toml" or len(path.parts) > 1:
        return path
    if name in shipped():
        return shipped()[name]
    raise UsageError(f"no plan {name!r} here and none shipped{suggest(name, shipped())}")


def about(path: Path) -> dict[str, str]:
    """A plan's question and the time it may take, without checking the plan; empty where not said."""
    try:
        said = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        said = {}
    return {key: str(said.get(key, "")) for key in ("question", "time")}
