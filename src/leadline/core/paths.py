"""Where Leadline keeps what it builds and installs, and where its native sources are.

In a checkout that is the checkout itself (`<root>/.state`, `<root>/native`); elsewhere it is the user's cache
directory and the installed package. `LEADLINE_STATE` overrides the first.
"""

import os
from functools import cache
from pathlib import Path

from leadline.core.errors import LeadlineError


@cache
def checkout() -> Path | None:
    """The root of the checkout that this package runs from; None when it was installed from a wheel."""
    root = Path(__file__).resolve().parents[3]
    return root if (root / "pyproject.toml").is_file() and (root / "src" / "leadline").is_dir() else None


def state_dir() -> Path:
    """The directory for builds and installed MPIs; not necessarily there yet."""
    chosen = os.environ.get("LEADLINE_STATE")
    if chosen:
        return Path(chosen).absolute()
    root = checkout()
    if root:
        return root / ".state"
    cache_home = os.environ.get("XDG_CACHE_HOME")
    return (Path(cache_home) if cache_home else Path.home() / ".cache") / "leadline"


def mpi_dir() -> Path:
    """The directory with one environment for each MPI that Leadline installed itself."""
    return state_dir() / "mpi"


def native_dir() -> Path:
    """The native sources; raises LeadlineError when they are not with the package."""
    root = checkout() or Path(__file__).resolve().parents[1]
    native = root / "native"
    if not (native / "CMakeLists.txt").is_file():
        raise LeadlineError(f"no native sources in {native}; install Leadline from a checkout")
    return native


def applications() -> set[str]:
    """The names of the applications: those benchmarks whose files stand with them. None without sources."""
    return _native("applications")


def kernels() -> set[str]:
    """The names of the kernels of parallel input and output, found likewise."""
    return _native("io")


@cache
def network_tiers() -> tuple[str, ...]:
    """The names of the simulator's network tiers: those files of their room whose first line says so."""
    room = "machine/networks"
    named = sorted(_native(room))
    return tuple(name for name in named if _first_line(room, name).startswith(f"// Tier `{name}`"))


@cache
def collective_libraries() -> tuple[str, ...]:
    """The names of the libraries whose choice of algorithms the simulator knows, found likewise."""
    room, mark = "collectives", "// Library "
    lines = [_first_line(room, name) for name in sorted(_native(room))]
    return tuple(line.removeprefix(mark).partition(":")[0] for line in lines if line.startswith(mark))


def _native(room: str) -> set[str]:
    """The names of the source files of a room of the native sources; none without sources."""
    try:
        return {path.stem for path in (native_dir() / room).glob("*.cpp")}
    except LeadlineError:
        return set()


def _first_line(room: str, name: str) -> str:
    with (native_dir() / room / f"{name}.cpp").open(encoding="utf-8") as source:
        return source.readline()


def is_free(directory: Path) -> bool:
    """Whether a directory can be made, or is there and empty: nothing would be overwritten."""
    return not directory.exists() or (directory.is_dir() and not any(directory.iterdir()))


def shipped(folder: str) -> dict[str, Path]:
    """The TOML files of a folder that come with Leadline, by name: of the package, or of the checkout."""
    here = Path(__file__).resolve().parents[1]
    for directory in (here / folder, here.parents[1] / folder):
        if directory.is_dir() and any(directory.glob("*.toml")):
            return {path.stem: path for path in sorted(directory.glob("*.toml"), key=lambda path: path.stem)}
    return {}


def mount(path: Path) -> dict[str, str]:
    """The file system of a path: `type` ("lustre", "ext4"), `device`, `mount` point; empty if unknown."""
    import psutil  # noqa: PLC0415  (start-up of every command)

    here = path.resolve()
    found = [each for each in psutil.disk_partitions(all=True) if here.is_relative_to(each.mountpoint)]
    if not found:
        return {}
    nearest = max(found, key=lambda each: len(each.mountpoint))
    return {"type": nearest.fstype, "device": nearest.device, "mount": nearest.mountpoint}
