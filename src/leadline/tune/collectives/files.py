"""Tuned settings on the disk: of each library a file to be sourced by a shell, and what that names.

The file is also what `leadline run PLAN --tuned DIRECTORY` reads.
"""

import re
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from leadline.core.errors import LeadlineError, UsageError
from leadline.core.record_files import replace
from leadline.core.units import format_bytes
from leadline.mpi.library import Mpi
from leadline.mpi.tuned import Choice, Tuned

_EXPORT = re.compile(r"export (\w+)=(.*)")
_OPERATIONS = "# operations: "


@dataclass(frozen=True)
class Settings:
    """The settings of one library: variables, and the operations that they are about."""

    environment: Mapping[str, str]
    operations: tuple[str, ...]


def write(directory: Path, mpi: Mpi, choices: Iterable[Choice], tuned: Tuned, run: str) -> list[Path]:
    """Write the settings of a library into a directory; the paths of what was written, the shell's first."""
    script = directory / f"{mpi.id}.sh"
    texts = {script: _script(mpi, list(choices), tuned, run)}
    texts |= {directory / name: text for name, text in tuned.files.items()}
    try:
        directory.mkdir(parents=True, exist_ok=True)
        for path, text in texts.items():
            replace(path, text.encode())
    except OSError as problem:
        raise LeadlineError(f"cannot write {directory}: {problem.strerror}") from problem
    return list(texts)


def read(directory: Path) -> dict[str, Settings]:
    """The settings in a directory by identity of the library.

    Raises UsageError where there are none, where a line is not understood, or where a file that they name is
    gone.
    """
    scripts = sorted(directory.glob("*.sh")) if directory.is_dir() else []
    if not scripts:
        raise UsageError(
            f"{directory} holds no tuned settings; 'leadline tune collectives RUN -o {directory}' writes them"
        )
    return {script.stem: _read(script) for script in scripts}


def _script(mpi: Mpi, choices: list[Choice], tuned: Tuned, run: str) -> str:
    """The text that a shell sources."""
    operations = dict.fromkeys(choice.operation for choice in choices)
    lines = [
        f"# Algorithms of collectives for {mpi.id}, chosen by 'leadline tune collectives' from run {run}.",
        "# Source this before the launcher, which hands it on; files named below must be seen by every node.",
        _measured(mpi, choices),
        _OPERATIONS + ", ".join(operations),
        *(f"# {line}" for choice in choices for line in told(choice)),
        *(f"# {note}" for note in tuned.notes),
        *(f"export {name}={shlex.quote(value)}" for name, value in tuned.environment.items()),
    ]
    return "\n".join(lines) + "\n"


def _measured(mpi: Mpi, choices: list[Choice]) -> str:
    """What the settings were measured with, as a comment."""
    ranks = ", ".join(str(each) for each in sorted({choice.ranks for choice in choices}))
    most = max((each.last for choice in choices for each in choice.ranges), default=0)
    sizes = f"up to {format_bytes(most)}" if most else "no sizes"
    return f"# Measured: {mpi.id}, communicators of {ranks} ranks, {sizes}; they hold for these only."


def told(choice: Choice) -> list[str]:
    """A choice in words: "bcast of 2 ranks, up to 90 B: ring"."""
    lines = []
    for each in choice.ranges:
        sizes = f", {format_bytes(each.first)} to {format_bytes(each.last)}" if each.last else ""
        chosen = each.algorithm or "the library's own choice"
        lines.append(f"{choice.operation} of {choice.ranks} ranks{sizes}: {chosen}")
    return lines


def _read(script: Path) -> Settings:
    environment: dict[str, str] = {}
    operations: tuple[str, ...] = ()
    try:
        lines = script.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as problem:
        raise UsageError(f"cannot read {script}: {problem}") from None
    for number, line in enumerate(lines, start=1):
        if line.startswith(_OPERATIONS):
            operations = tuple(filter(None, line.removeprefix(_OPERATIONS).split(", ")))
        if not line.strip() or line.startswith("#"):
            continue
        found = _EXPORT.fullmatch(line.strip())
        try:
            values = shlex.split(found[2]) if found else []
        except ValueError:  # a quote that does not end
            values = []
        if not found or len(values) != 1:
            raise UsageError(f"{script}:{number}: this is no line 'export NAME=VALUE': {line!r}")
        environment[found[1]] = values[0]
        named = Path(values[0])
        if named.is_absolute() and not named.exists():
            raise UsageError(
                f"{script}:{number}: {named} is not there; settings that were moved are written anew by "
                "'leadline tune collectives'"
            )
    if not operations:
        raise UsageError(f"{script} does not say which operations it is about (a line '{_OPERATIONS}...')")
    return Settings(environment, operations)
