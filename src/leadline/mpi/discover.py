"""Which MPIs are on this machine: found where they may lie, asked what they are, each listed once.

Looked at: the directories of PATH, those that environment modules name, the usual places of distributions
and vendors, and the environments that Leadline installed itself. Nothing is believed from a path: the header
and the launcher state library and version.
"""

import os
import re
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from leadline.core.errors import UsageError, suggest
from leadline.core.paths import mpi_dir
from leadline.mpi import wrapper
from leadline.mpi.family import Family, families
from leadline.mpi.library import LEADLINE, MODULE, SYSTEM_PATH, Mpi

WRAPPER = re.compile(r"mpicc(?P<suffix>\.[\w.-]+)?|mpigcc|mpiicx")
LAUNCHER = re.compile(r"(mpirun|mpiexec)(?P<suffix>\.(?!hydra|gforker|slurm|prte)[\w.-]+)?")
ROOTS = (
    "MPI_HOME",
    "MPI_ROOT",
    "MPI_DIR",
    "I_MPI_ROOT",
    "MPICH_DIR",
    "MPICH_HOME",
    "OMPI_HOME",
    "OPENMPI_HOME",
)
USUAL = (  # where distributions and vendors put what is not on PATH
    "/usr/bin",
    "/usr/lib64/*mpi*/bin",
    "/usr/lib64/mpi/gcc/*/bin",
    "/usr/mpi/gcc/*/bin",
    "/opt/intel/oneapi/mpi/latest/bin",
    "/opt/*mpi*/bin",
)


@dataclass(frozen=True)
class Candidate:
    """A directory of programs and the suffix that belongs together there: mpicc.mpich and mpiexec.mpich."""

    place: Path
    suffix: str
    origin: str

    @property
    def prefix(self) -> Path:
        """The directory above the one of the programs."""
        return self.place.parent

    def program(self, *names: str) -> Path | None:
        """The first of these programs that is there, with the candidate's suffix."""
        paths = [self.place / f"{name}{self.suffix}" for name in names]
        return next((path for path in paths if os.access(path, os.X_OK) and path.is_file()), None)


def find(environ: Mapping[str, str] | None = None, usual: Iterable[str] = USUAL) -> list[Mpi]:
    """Every MPI on the machine, those on PATH first, in its order; `environ` defaults to the process's."""
    environ = dict(os.environ if environ is None else environ)
    candidates = _candidates(environ, usual)
    with ThreadPoolExecutor(max_workers=8) as pool:
        found = [mpi for mpi in pool.map(lambda each: identify(each, environ), candidates) if mpi]
    return _named(_once(found))


def of_recording(library: object) -> Mpi | None:
    """The MPI of this machine that a program was recorded with, by the library that it tells; or None."""
    return next((each for each in find() if str(library).startswith(each.library)), None)


def resolve(name: str, known: list[Mpi] | None = None) -> Mpi:
    """The MPI that `name` means: an id, the beginning of one, a family, or a prefix; `default` is the first.

    Raises UsageError when there is none.
    """
    mpis = find() if known is None else known
    meant = next((each.name for each in families().values() if name in {each.name, *each.aliases}), None)
    tests: tuple[Callable[[Mpi], bool], ...] = (
        lambda mpi: mpi.id == name,
        lambda mpi: name == "default" and mpi.compiler is not None and mpi.launcher is not None,
        lambda mpi: meant == mpi.family and mpi.compiler is not None,
        lambda mpi: meant == mpi.family,
        lambda mpi: mpi.id.startswith(name),
        lambda mpi: "/" in name and Path(name).resolve() == mpi.prefix.resolve(),
    )
    for test in tests:
        for mpi in mpis:
            if test(mpi):
                return mpi
    add = "'leadline doctor --install mpich' (or openmpi, impi) adds one"
    if not mpis:
        raise UsageError(f"no MPI on this machine; {add}")
    hint = suggest(name, [mpi.id for mpi in mpis])
    raise UsageError(f"unknown MPI '{name}'{hint}{' ' if hint.endswith('?') else '; '}{add}")


def row(mpi: Mpi) -> dict[str, object]:
    """An MPI as data: what lists show and what the provenance keeps."""
    return {
        "id": mpi.id,
        "library": mpi.library,
        "version": mpi.version,
        "origin": mpi.origin,
        "compiler": str(mpi.compiler) if mpi.compiler else None,
        "launcher": str(mpi.launcher) if mpi.launcher else None,
    }


def rows() -> list[dict[str, object]]:
    """`leadline list mpis`: one row an MPI, as text."""
    return [row(mpi) for mpi in find()]


def identify(candidate: Candidate, environ: Mapping[str, str]) -> Mpi | None:
    """What stands at `candidate`; None when it is no MPI that a family knows."""
    bundled = (candidate.prefix / "pyvenv.cfg").is_file()
    guess = {
        "I_MPI_ROOT": str(candidate.prefix),
        **({"OPAL_PREFIX": str(candidate.prefix)} if bundled else {}),
    }
    asking = {**environ, **guess}
    compiler = candidate.program("mpicc", "mpigcc", "mpiicx")
    flags = (wrapper.flags(compiler, asking) if compiler else None) or wrapper.fallback(candidate.prefix)
    stated = _from_header(flags.include) if flags else None
    launcher = _launcher(candidate, asking, stated)
    kind, version = stated or (launcher[1:] if launcher else (None, ""))
    if kind is None:
        return None
    shmem = _shmem(flags) if flags and stated else ()
    return Mpi(
        id="",
        family=kind.name,
        library=kind.title,
        version=version,
        origin=candidate.origin,
        prefix=candidate.prefix,
        compiler=compiler if stated else None,
        cxx_compiler=candidate.program("mpicxx", "mpic++", "mpigxx", "mpiicpx") if stated else None,
        launcher=launcher[0] if launcher else None,
        include=flags.include if flags and stated else (),
        link=flags.link if flags and stated else (),
        environment=kind.prefix_environment(candidate.prefix, bundled),
        has_shmem=bool(shmem),
        shmem_link=shmem,
    )


def _from_header(include: Iterable[str]) -> tuple[Family, str] | None:
    """The family and version that the first `mpi.h` states."""
    for place in include:
        header = Path(place) / "mpi.h"
        if not header.is_file():
            continue
        text = header.read_text(errors="replace")
        for kind in families().values():
            version = kind.version_in_header(text)
            if version:
                return kind, version
    return None


def _launcher(
    candidate: Candidate, environ: Mapping[str, str], stated: tuple[Family, str] | None
) -> tuple[Path, Family, str] | None:
    """The launcher beside the wrapper that states the same library and version (its first two numbers)."""
    bare = Candidate(candidate.place, "", candidate.origin)
    # Intel's mpirun is a script that starts whatever mpiexec is on PATH, so the launcher proper comes first.
    paths = [
        candidate.program("mpiexec.hydra"),
        candidate.program("mpirun"),
        candidate.program("mpiexec"),
        *((bare.program("mpiexec.hydra"), bare.program("mpirun")) if stated else ()),
    ]
    for path in dict.fromkeys(path for path in paths if path):
        said = wrapper.ask([str(path), "--version"], environ)
        for kind in [stated[0]] if stated else families().values():
            version = kind.version_in_launcher(said)
            if version and (stated is None or _short(version) == _short(stated[1])):
                return path, kind, version
    return None


def _short(version: str) -> list[str]:
    return re.findall(r"\d+", version)[:2]


def _shmem(flags: wrapper.Flags) -> tuple[str, ...]:
    """Linker words for OpenSHMEM; () unless its header and library are both there."""
    places = [word[2:] for word in flags.link if word.startswith("-L")]
    header = any((Path(place) / "shmem.h").is_file() for place in flags.include)
    library = any((Path(place) / "liboshmem.so").exists() for place in places)
    return ("-loshmem",) if header and library else ()


def _candidates(environ: Mapping[str, str], usual: Iterable[str]) -> list[Candidate]:
    """Every place that holds a wrapper or a launcher, with its suffixes, each real directory once."""
    places: dict[Path, str] = {}
    for directory, origin in _directories(environ, usual):
        if directory.is_dir():
            places.setdefault(directory.resolve(), origin)
    return [
        Candidate(place, suffix, origin) for place, origin in places.items() for suffix in _suffixes(place)
    ]


def _directories(environ: Mapping[str, str], usual: Iterable[str]) -> Iterable[tuple[Path, str]]:
    """Where MPIs may lie and what to call that, PATH first."""
    modules = _module_roots(environ)
    own = mpi_dir()
    for word in environ.get("PATH", "").split(os.pathsep):
        if word:
            yield Path(word), _origin(Path(word), environ, modules, own)
    for root in modules:
        for sub in ("bin", "intel64/bin"):
            yield root / sub, MODULE
    for pattern in usual:
        for place in sorted(Path("/").glob(pattern.lstrip("/"))):
            yield place, _distribution()
    for place in sorted(own.glob("*/bin")):
        yield place, LEADLINE


def _origin(place: Path, environ: Mapping[str, str], modules: list[Path], own: Path) -> str:
    """What to call the origin of what lies in a directory of PATH."""
    if place.is_relative_to(own):
        return LEADLINE
    loaded = [entry for entry in environ.get("LOADEDMODULES", "").split(":") if "/" in entry]
    named = any(all(part in str(place) for part in entry.split("/")) for entry in loaded)
    if named or any(place.is_relative_to(root) for root in modules):
        return MODULE
    system = place.resolve().is_relative_to("/usr") and not place.resolve().is_relative_to("/usr/local")
    return _distribution() if system else SYSTEM_PATH


def _module_roots(environ: Mapping[str, str]) -> list[Path]:
    """Prefixes that environment modules put into variables (EasyBuild's begin with EBROOT)."""
    names = [name for name in environ if name in ROOTS or (name.startswith("EBROOT") and "MPI" in name)]
    return [Path(environ[name]) for name in names if environ[name] and environ[name] not in {"/", "/usr"}]


@cache
def _distribution() -> str:
    """The distribution's name, from os-release."""
    try:
        text = Path("/etc/os-release").read_text()
    except OSError:
        return "system"
    said = re.search(r'^ID="?(\w+)', text, re.MULTILINE)
    return said[1].capitalize() if said else "system"


def _suffixes(place: Path) -> list[str]:
    """Suffixes of the wrappers and launchers in `place`, the plain one first."""
    try:
        names = os.listdir(place)  # noqa: PTH208  (names only: PATH may hold thousands)
    except OSError:
        return []
    matches = [
        WRAPPER.fullmatch(name) or LAUNCHER.fullmatch(name) for name in names if name.startswith("mpi")
    ]
    return sorted({match.groupdict().get("suffix") or "" for match in matches if match})


def _once(found: list[Mpi]) -> list[Mpi]:
    """Each MPI once, at its first position, by the name that an alternatives system would not change."""
    kept: dict[tuple[str, str], Mpi] = {}
    for mpi in found:
        if mpi.compiler is None:
            continue
        key = (mpi.family, str(Path(mpi.include[0]).resolve()))
        if key not in kept or (kept[key].compiler.suffix == "" and mpi.compiler.suffix != ""):  # type: ignore[union-attr]
            kept[key] = mpi
    launchers = {mpi.launcher.resolve() for mpi in kept.values() if mpi.launcher}
    for mpi in found:
        if mpi.compiler is None and mpi.launcher and mpi.launcher.resolve() not in launchers:
            launchers.add(mpi.launcher.resolve())
            kept[mpi.family, str(mpi.launcher)] = mpi
    return list(kept.values())


def _named(found: list[Mpi]) -> list[Mpi]:
    """Each with its id: family and version, then the origin, then a number where that is not enough."""
    taken: set[str] = set()
    named = []
    for mpi in found:
        base = f"{mpi.family}-{mpi.version}"
        same = sum(f"{other.family}-{other.version}" == base for other in found) > 1
        wish = f"{base}-{mpi.origin.lower()}" if same and base in taken else base
        name, number = wish, 2
        while name in taken:
            name, number = f"{wish}-{number}", number + 1
        taken.add(name)
        named.append(replace(mpi, id=name))
    return named
