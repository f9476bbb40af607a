"""Whether a program can be given settings by preloading, told before it is run; what to do if not."""

import os
import re
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.elf.dynamic import DynamicSegment
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from leadline.core.errors import LeadlineError, UsageError

GOOD, PART, BAD = "yes", "in part", "no"
PATIENCE = 30.0  # seconds for asking a linker or an interpreter
STATIC_HDF5 = b"HDF5-DIAG: Error detected in"  # H5E_print's, in every HDF5 whether stripped or not
VERSION_OF = (
    "import ctypes, sys; n = [ctypes.c_uint() for _ in range(3)];"
    "ctypes.CDLL(sys.argv[1]).H5get_libversion(*map(ctypes.byref, n)); print(*(each.value for each in n))"
)
MODULES = ("h5py", "netCDF4", "tables", "mpi4py")
WHERE_OF = (
    "import importlib.util, sys; "
    "found = [(m, importlib.util.find_spec(m)) for m in sys.argv[1:]]; "
    "[print(m, s.origin) for m, s in found if s and s.origin]"
)


@dataclass(frozen=True)
class Diagnosis:
    """`verdict` is GOOD, PART or BAD; each finding says what is so and what to do about it."""

    program: Path
    verdict: str
    findings: tuple[str, ...]


@dataclass(frozen=True)
class _Elf:
    """What a program's file says of itself."""

    dynamic: bool
    bits: int
    machine: str
    needed: tuple[str, ...]
    wanted: frozenset[str]  # symbols that libraries must have
    own: frozenset[str]  # symbols that it has
    stripped: bool


def diagnose(name: str) -> Diagnosis:
    """Judge a program by its file, its libraries and, for Python, its packages; nothing of it is run.

    Raises UsageError where there is no such program, LeadlineError where it cannot be read.
    """
    path = _find(name)
    findings = list(_privileges(path))
    if findings:
        return Diagnosis(path, BAD, tuple(findings))
    try:
        with path.open("rb") as file:
            begin = file.read(256)
            if begin.startswith(b"#!"):
                return _script(path, begin)
            if not begin.startswith(b"\x7fELF"):
                return Diagnosis(path, BAD, ("it is neither an executable nor a script",))
            elf = _read(ELFFile(file))
    except OSError as problem:
        raise LeadlineError(f"cannot read {path}: {problem.strerror}") from problem
    except (ELFError, ValueError, KeyError) as problem:
        raise LeadlineError(f"{path} is a damaged program: {problem}") from problem
    return _program(path, elf)


def _find(name: str) -> Path:
    found = shutil.which(name)
    path = Path(found or name)
    if not path.is_file():
        raise UsageError(f"there is no program {name!r}, here or in PATH")
    return path


def _privileges(path: Path) -> Iterator[str]:
    """What makes the system ignore LD_PRELOAD."""
    mode = path.stat().st_mode
    if mode & (stat.S_ISUID | stat.S_ISGID):
        yield (
            "it is set-user-ID or set-group-ID, for which the system ignores LD_PRELOAD; "
            "run a copy without the bit (cp drops it)"
        )
    try:
        os.getxattr(path, "security.capability")
    except OSError:
        return
    yield "it has capabilities, for which the system ignores LD_PRELOAD; run a copy of it (cp drops them)"


def _script(path: Path, begin: bytes) -> Diagnosis:
    words = begin[2:].split(b"\n")[0].decode(errors="replace").split()
    words = [word for word in words if not word.startswith("-")]
    if words and Path(words[0]).name == "env":
        words = [word for word in words[1:] if "=" not in word]
    if not words or not shutil.which(words[0]):
        return Diagnosis(path, BAD, ("it is a script whose interpreter is not here",))
    if Path(words[0]).name in ("sh", "bash", "dash", "zsh", "ksh", "csh", "tcsh"):
        return Diagnosis(path, BAD, ("it is a shell's script; name the program that it starts",))
    inner = diagnose(words[0])
    return Diagnosis(path, inner.verdict, (f"it is a script; this is of {inner.program}", *inner.findings))


def _read(elf: "ELFFile") -> _Elf:
    needed: list[str] = []
    dynamic = False
    for segment in elf.iter_segments():
        dynamic = dynamic or segment.header.p_type == "PT_INTERP"
        if isinstance(segment, DynamicSegment):
            needed += [str(getattr(tag, "needed", "")) for tag in segment.iter_tags("DT_NEEDED")]
    wanted: set[str] = set()
    own: set[str] = set()
    stripped = True
    for section in elf.iter_sections():
        if isinstance(section, SymbolTableSection):
            stripped = stripped and section.name != ".symtab"
            for symbol in section.iter_symbols():
                undefined = symbol.entry.st_shndx == "SHN_UNDEF"
                (wanted if undefined else own).add(symbol.name.partition("@")[0])
    return _Elf(
        dynamic,
        elf.elfclass,
        str(elf.header.e_machine),
        tuple(needed),
        frozenset(wanted),
        frozenset(own),
        stripped,
    )


def _program(path: Path, elf: _Elf) -> Diagnosis:
    if not elf.dynamic and "__libc_start_main" not in elf.wanted:
        return Diagnosis(
            path,
            BAD,
            (
                "it is linked statically, so nothing can be preloaded; link it without -static, "
                "or give MPI its hints by ROMIO_HINTS or Open MPI's parameters",
            ),
        )
    if elf.bits != sys.maxsize.bit_length() + 1:
        return Diagnosis(path, BAD, (f"it is a program of {elf.bits} bits, and the library is not",))
    if re.match(r"python(\d|$)", path.resolve().name):
        return _python(path)
    libraries = _libraries(path)
    return _judge(path, elf, libraries)


def _judge(path: Path, elf: _Elf, libraries: dict[str, Path | None]) -> Diagnosis:
    """By what is linked: HDF5 dynamically, statically or not at all, and MPI-IO likewise."""
    findings: list[str] = []
    missing = [name for name, place in libraries.items() if place is None]
    if missing:
        findings.append(f"it does not start here: {', '.join(missing)} is not found; load its modules first")
    hdf5 = [place or Path(name) for name, place in libraries.items() if re.match(r"libhdf5[^/]*\.so", name)]
    main = [each for each in hdf5 if not re.search(r"(hl|fortran|cpp|f90cstub)", each.name)]
    static = "H5Fcreate" in elf.own or (not main and STATIC_HDF5 in path.read_bytes())
    mpi = [name for name in libraries if re.match(r"lib(mpi|mpich|mpicxx|mpi_mpifh|mpifort)\b", name)]
    if main:
        findings += [_version(each) for each in main]
        verdict = BAD if all("before 1.10" in each for each in findings[-len(main) :]) else GOOD
        findings += [] if mpi else ["it is not linked with MPI: settings of HDF5 hold, hints have no meaning"]
        return Diagnosis(path, BAD if missing else verdict, tuple(findings))
    if static:
        told = " (it is stripped; known by its messages)" if elf.stripped else ""
        findings.append(f"HDF5 is linked into it statically{told}, so none of HDF5's settings can be made")
        findings.append(
            "MPI-IO is called in a library, so hints and striping hold; for the rest link with -shlib (h5pcc)"
            if mpi
            else "link it with HDF5's shared library (h5cc -shlib)"
        )
        return Diagnosis(path, BAD if missing or not mpi else PART, tuple(findings))
    if mpi:
        findings.append("it is linked with MPI and not with HDF5: hints and striping hold if it uses MPI-IO")
        return Diagnosis(path, BAD if missing else PART, tuple(findings))
    findings.append(
        "it is linked with neither HDF5 nor MPI, so nothing would be set; if it loads them while it runs, "
        "a run with LEADLINE_H5_LOG shows it"
    )
    return Diagnosis(path, BAD, tuple(findings))


def _version(library: Path) -> str:
    """The version of a shared HDF5, in a sentence."""
    said = _ask([sys.executable, "-c", VERSION_OF, str(library)]).split()
    if len(said) != 3:
        return f"HDF5 is the shared library {library}"
    version = ".".join(said)
    if (int(said[0]), int(said[1])) < (1, 10):
        return f"{library} is HDF5 {version}, before 1.10, which is left alone; build with a newer one"
    return f"HDF5 {version} is the shared library {library}"


def _libraries(path: Path) -> dict[str, Path | None]:
    """All libraries that the linker would load, by name; None for one that it does not find."""
    found: dict[str, Path | None] = {}
    for line in _ask(["ldd", str(path)]).splitlines():
        name, arrow, place = line.strip().partition(" => ")
        if arrow:
            found[name] = None if "not found" in place else Path(place.split(" ")[0])
    return found


def _python(path: Path) -> Diagnosis:
    """An interpreter: by the packages that it would load."""
    places = dict(line.split(" ", 1) for line in _ask([str(path), "-c", WHERE_OF, *MODULES]).splitlines())
    findings: list[str] = []
    for module in ("h5py", "netCDF4", "tables"):
        if module not in places:
            continue
        package = Path(places[module]).parent
        bundled = [
            *package.parent.glob(f"{module}.libs/libhdf5*"),
            *package.parent.glob(f"{module.lower()}.libs/libhdf5*"),
            *package.glob(".libs/libhdf5*"),
        ]
        own = [each for each in bundled if "_hl" not in each.name]
        findings.append(
            f"{module} is a wheel with an HDF5 of its own ({own[0].name}), which the library finds"
            if own
            else f"{module} uses the system's HDF5, or one of its environment"
        )
    if not findings:
        return Diagnosis(
            path,
            BAD,
            ("it is Python without h5py, netCDF4 or PyTables; install one, or name another Python",),
        )
    if "mpi4py" not in places:
        findings.append("mpi4py is not there: settings of HDF5 hold, hints have no meaning")
    return Diagnosis(path, GOOD, tuple(findings))


def _ask(command: list[str]) -> str:
    """What a command prints; empty where it fails."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout
