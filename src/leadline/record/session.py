"""A program run with the recorder before it, and what came of it."""

import json
import os
import re
import shutil
import subprocess
import uuid
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from leadline.core.busy import Watch
from leadline.core.errors import LeadlineError, UsageError
from leadline.core.formatting import counted
from leadline.core.paths import native_dir
from leadline.core.processes import run_alone
from leadline.mpi.discover import find, resolve
from leadline.mpi.library import Mpi
from leadline.native.build import build
from leadline.program.model import Program
from leadline.record import spills
from leadline.record.convert import convert

LIBRARY = "libleadline_record.so"
SEEN = 0.5  # processors: ranks that poll take one each; with less they are not what was waited for
_COMMAND = "command.json"  # in the directory of the records
# Which library of MPI an executable is linked with, as ldd prints it, by family.
_LAUNCHER = re.compile(rb"\b(mpirun|mpiexec|srun)\b")
STANDARD = "the standard ABI"  # of MPI 5, which any MPI may have beside its own
_SONAMES = {
    "libmpi.so.40": "openmpi",
    "libmpich.so.12": "mpich",
    "libmpi.so.12": "mpich",
    "libmpi_abi.so": STANDARD,
}


def mpi_of(command: Sequence[str], name: str | None = None) -> Mpi:
    """The MPI with which a command's ranks run: the one named, that of its launcher, or of a program in it.

    Raises UsageError where none of these tells.
    """
    if name:
        return resolve(name)
    known = find()
    started = shutil.which(command[0])
    if started:
        for mpi in known:
            if mpi.launcher and mpi.launcher.resolve() == Path(started).resolve():
                return mpi
    families = [family for word in command if (family := _linked(word))]
    for mpi in known:
        if mpi.family in families or (STANDARD in families and _standard_include(mpi)):
            return mpi
    names = ", ".join(mpi.id for mpi in known) or "none"
    raise UsageError(
        f"it is not clear which MPI '{command[0]}' starts; name it with --mpi (there are: {names})"
    )


def _linked(word: str) -> str | None:
    """The family of the MPI that an executable is linked with; None for what is none."""
    path = shutil.which(word)
    if path is None or not shutil.which("ldd"):
        return None
    done = subprocess.run(["ldd", path], capture_output=True, text=True, check=False)
    return next((family for soname, family in _SONAMES.items() if soname in done.stdout), None)


_ASK_PYTHON = (
    "import mpi4py; mpi4py.rc.initialize = False; from mpi4py import MPI; print(MPI.Get_library_version())"
)


def check(command: Sequence[str], mpi: Mpi) -> None:
    """UsageError where a program of the command is seen to use another MPI than its launcher's.

    Its calls would be passed on unrecorded: better to say so before it has run for hours.
    """
    for word in command:
        found = _linked(word)
        if found is None and Path(word).name.startswith("python") and shutil.which(word):
            done = subprocess.run([word, "-c", _ASK_PYTHON], capture_output=True, text=True, check=False)
            if done.returncode == 0:
                found = "openmpi" if "Open MPI" in done.stdout else "mpich"
        if found == STANDARD:
            continue
        if found is not None and found != mpi.family and {found, mpi.family} != {"mpich", "intel"}:
            raise UsageError(
                f"{word} uses {found}, but would be recorded as a program of {mpi.id}: start it with its own "
                "launcher, or name its MPI with --mpi (mpi4py takes the one that MPI4PY_MPIABI names)"
            )


def _libmpi(mpi: Mpi, command: Sequence[str]) -> Path | None:
    """The library of an MPI that must be there from the start: Open MPI's, where Python loads it itself."""
    if mpi.family != "openmpi" or not any("python" in Path(word).name for word in command):
        return None
    folders = [Path(word.removeprefix("-L")) for word in mpi.link if word.startswith("-L")]
    return next((folder / "libmpi.so" for folder in folders if (folder / "libmpi.so").exists()), None)


def environment(library: Path, directory: Path, libmpi: Path | None = None) -> dict[str, str]:
    """What has the recorder stand before a program and write into a directory."""
    first = f"{library}:{libmpi}" if libmpi else str(library)
    before = os.environ.get("LD_PRELOAD", "")
    return {
        "LD_PRELOAD": f"{first}:{before}" if before else first,
        "LEADLINE_RECORD": str(directory),
        "LEADLINE_RECORD_ID": uuid.uuid4().hex,
    }


def prepare(mpi: Mpi, command: Sequence[str] = ()) -> Path:
    """The library to preload before a command that runs with an MPI.

    A program of the standard ABI (`libmpi_abi`) has other handles than the MPI's own: its recorder is built
    with the standard's header, which is the same whichever MPI it came with. Raises UsageError where no MPI
    here has that header, LeadlineError, naming the log, where the library cannot be built.
    """
    if STANDARD not in map(_linked, command):
        return build(mpi, LIBRARY)
    for each in (mpi, *find()):
        if include := _standard_include(each):
            own = str(native_dir() / "record" / "abi")
            return build(replace(each, id=f"{each.id}-abi", include=(own, *include), link=()), LIBRARY)
    raise UsageError(
        "the program uses MPI's standard ABI (libmpi_abi), and no MPI here has its header, mpi_abi.h; "
        "'leadline doctor --install mpich' adds one that has"
    )


def _standard_include(mpi: Mpi) -> tuple[str, ...]:
    """The directories of an MPI's headers where the standard ABI's is among them, else none."""
    return mpi.include if any((Path(place) / "mpi_abi.h").is_file() for place in mpi.include) else ()


def note(directory: Path, command: Sequence[str]) -> None:
    """Writes down whose records a directory has, for whoever reads them later, if there is room.

    Said when they stay: before that, room belongs to the records.
    """
    with suppress(OSError):
        (directory / _COMMAND).write_text(json.dumps(list(command)))


def command_of(directory: Path) -> tuple[str, ...]:
    """The command whose ranks wrote into a directory; none where nobody could write it down.

    Raises UsageError where there are no records.
    """
    if not any(directory.glob("*.raw")):
        raise UsageError(
            f"{directory} has no records: what 'leadline record' leaves where it is interrupted is named "
            ".leadline-record-... and has a file for each rank"
        )
    try:
        return tuple(map(str, json.loads((directory / _COMMAND).read_text())))
    except (OSError, ValueError, TypeError):
        return ()


def run(command: Sequence[str], directory: Path, library: Path, mpi: Mpi) -> tuple[int, float | None]:
    """Runs a command with the recorder before it; its exit code, as a shell has it, and `others`.

    These are the processors that others, of this host or other guests, kept busy meanwhile, mean; None where
    that cannot be told, as where ranks are no descendants of the command (a batch system's launcher starts
    them). Raises UsageError where it cannot be started.
    """
    watch = Watch()
    code = run_alone(command, environment(library, directory, _libmpi(mpi, command)))
    seen = watch.seen()
    return code, seen.others + seen.steal if seen.own >= SEEN else None


def program(
    directory: Path,
    command: Sequence[str],
    others: float | None = None,
    say: Callable[[str], None] = lambda _: None,
) -> Program:
    """The program that the files in a directory make, of a run beside `others`.

    Raises LeadlineError where they make none.
    """
    paths = sorted(directory.glob("*.raw"))
    if not paths and (elsewhere := sorted(directory.glob("*.other"))):
        met = elsewhere[0].read_text(errors="replace").strip()
        raise LeadlineError(
            f"nothing was recorded: the program's MPI is '{met}', not its launcher's; name it with --mpi"
        )
    if not paths and (script := _script_with_launcher(command)):
        raise LeadlineError(
            f"nothing was recorded: no process called MPI_Init. {script} starts ranks itself, and "
            "Open MPI's mpirun starts none within another one; record the script alone: "
            f"leadline record --mpi NAME -- {script}"
        )
    if not paths:
        raise LeadlineError(
            "nothing was recorded: no process called MPI_Init. Programs that use no MPI, that are linked "
            "statically, that have another MPI than the launcher's, or that use only sessions "
            "(MPI_Session_init) cannot be recorded"
        )
    say(f"reading the records of {counted(len(paths), 'rank')}")
    facts: dict[str, object] = {
        "command": list(command),
        "date": datetime.now(UTC).isoformat("T", "seconds"),
        "cores": len(os.sched_getaffinity(0)),
        **({} if others is None else {"others": round(others, 3)}),
    }
    kept = [path for path in paths if not spills.is_empty(path)]
    if not kept:
        raise LeadlineError(
            "nothing was recorded: there was no room on the disk for the records of the processes "
            f"({len(paths)}), which begin with 8 MiB each, in {directory.parent}; name another place with "
            "--directory"
        )
    return convert(_with_lost([spills.load(path) for path in kept], len(paths) - len(kept)), facts)


def _script_with_launcher(command: Sequence[str]) -> str | None:
    """The script that a launcher starts and that has a launcher itself; None where there is none."""
    for word in command[1:]:
        path = shutil.which(word)
        if path and Path(path).read_bytes()[:2] == b"#!" and _LAUNCHER.search(Path(path).read_bytes()):
            return word
    return None


def _with_lost(kept: list[spills.Spill], empty: int) -> list[spills.Spill]:
    """The files of all ranks: for those whose files are empty some in which nothing happens."""
    missing = sorted(set(range(int(kept[0].facts["ranks"]))) - {each.rank for each in kept})
    if len(missing) != empty:
        return kept  # some are missing for another reason
    return kept + [kept[0].lost(rank) for rank in missing]
