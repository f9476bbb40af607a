"""Commands that were traced, and settings for the next run of one: the best known for what it was seen to
write.

What the preloaded library recorded of a command's last run without settings is kept in a folder of its own,
named by a hash of the command's words. From it follow the access pattern, and from that the nearest settings
of the database (Behzad et al. 2013, figure 14: access patterns of programs, a database of the best settings,
and a runtime that applies them).
"""

import hashlib
import json
import shutil
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from leadline.core import paths
from leadline.core.errors import LeadlineError, UsageError
from leadline.tune.io import files as io_files
from leadline.tune.io import log as io_log
from leadline.tune.io import patterns as io_patterns
from leadline.tune.io import settings as h5settings
from leadline.tune.io.patterns import Advice
from leadline.tune.io.preload import VENDORS

LOG, COMMAND = "log.jsonl", "command.json"
NEAR = 1.0  # distance up to which settings are used unasked: a confidence of a half where all is known
MOST = 256  # commands that are kept


@dataclass(frozen=True)
class Chosen:
    """Settings for a run: the library's file, and the advice that it was made from."""

    text: str  # TOML
    advice: Advice
    left_out: tuple[str, ...]  # names that need what nothing here proves


def folder() -> Path:
    """Where commands that were traced are kept."""
    return paths.state_dir() / "traced"


def log_of(command: Sequence[str], within: Path | None = None) -> Path:
    """Where the record of a command's last run is, or will be; one command for all runs of the same words."""
    digest = hashlib.sha256(json.dumps(list(command)).encode()).hexdigest()[:16]
    return (within or folder()) / digest / LOG


def keep(command: Sequence[str], log: Path, within: Path | None = None) -> bool:
    """Keep what a run recorded in place of the last one's; whether it tells of anything that was written.

    Raises LeadlineError where it cannot be kept.
    """
    try:
        io_patterns.read(log)
    except UsageError:
        return False
    kept = log_of(command, within)
    try:
        kept.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(log, kept)
        (kept.parent / COMMAND).write_text(json.dumps(list(command)), encoding="utf-8")
    except OSError as problem:
        why = problem.strerror or problem
        raise LeadlineError(f"cannot write the access pattern to {kept}: {why}") from None
    _forget(kept.parent.parent)
    return True


def _forget(within: Path) -> None:
    """Leave the last commands alone."""
    known = sorted(within.glob(f"*/{COMMAND}"), key=lambda each: each.stat().st_mtime)
    for each in known[:-MOST]:
        shutil.rmtree(each.parent, ignore_errors=True)


def last_of(program: str, within: Path | None = None) -> Path | None:
    """The record of the last traced command that has a word of this program's name; None without one."""
    found = []
    for each in (within or folder()).glob(f"*/{COMMAND}"):
        with suppress(OSError, ValueError):
            words = json.loads(each.read_text(encoding="utf-8"))
            if any(Path(word).name == Path(program).name for word in words):
                found.append((each.stat().st_mtime, each.parent / LOG))
    return max(found)[1] if found else None


def choose(log: Path, database: Path | None = None) -> Chosen | None:
    """Settings for a program from a record of its last run; None where nothing near enough is known.

    What is right only for programs that write every element, or whose ranks all make each call, is left
    out: nothing here proves that. Raises UsageError for a record of nothing written.
    """
    access_pattern, seen = io_patterns.read(log), io_log.read(log)
    near = [each for each in io_patterns.advise(access_pattern, database) if each.distance <= NEAR]
    if not near or seen is None:
        return None
    known = {each.name: each.layer for each in h5settings.words()}
    wanted = {name: value for name, value in near[0].settings.items() if known.get(name) or _is_hint(name)}
    layers = {name: known.get(name, "mpi-io") for name in wanted}
    with TemporaryDirectory(prefix="leadline-") as place:
        path = Path(place) / "settings.toml"
        path.write_text(io_files.toml(wanted, layers, seen.arrays, access_pattern.ranks), encoding="utf-8")
        daring = {each.name for each in h5settings.read(path) if each.condition}
    safe = {name: value for name, value in wanted.items() if name not in daring}
    text = io_files.toml(safe, layers, seen.arrays, access_pattern.ranks)
    return Chosen(text, near[0], tuple(sorted(daring))) if text else None


def _is_hint(name: str) -> bool:
    """Whether a name that the library does not know is a vendor's hint, which it passes on."""
    return name.startswith(VENDORS)
