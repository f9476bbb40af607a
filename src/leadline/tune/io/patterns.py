"""Motifs of parallel output: what a program writes, how alike two programs are, and what was best for one
like it.

An access pattern is read from the record of the preloaded library, from a Darshan log (by Darshan's own
package) or from a kernel. Traits that a source does not have are null and do not enter a distance. Patterns
with their best settings are kept in a database; those of Behzad et al. (2013), table 5, are there from the
beginning.

The distance of two access patterns is Euclidean over the traits that both have: logarithms to the base 16 of
ranks, of bytes a rank, of bytes of a rank in a dataset, and of the size of a write; 1 for collective against
independent writing, and 2 for another file system, whose settings are other settings; and the logarithm of
the number of files. The confidence is the share of these that both know, over 1 + distance^2: a judgement, no
probability.
Settings of a layer that a program does not use (MPI-IO, HDF5) are no advice for it.
"""

import json
import math
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from leadline.core import paths
from leadline.core.errors import LeadlineError, UsageError
from leadline.tune import storage
from leadline.tune.io import darshan_log
from leadline.tune.io import settings as io_settings
from leadline.tune.search import Settings
from leadline.tune.storage import published

_BASE = 16.0  # a factor of 16 in a size is as far as a step of 1
_MODE, _SYSTEM = 1.0, 2.0  # distances of another way of writing, and of another file system
DATABASE = "motifs.sqlite"
TRACE = "'leadline io run -- PROGRAM' records the access pattern of a program"
TABLE5 = "Behzad et al. 2013, table 5"
_SIZES = ("ranks", "bytes_a_rank", "share", "piece", "files")


@dataclass(frozen=True)
class AccessPattern:
    """What a program writes; sizes in bytes, null where nobody told."""

    ranks: int
    bytes_a_rank: float | None = None
    share: float | None = None  # of a rank in one dataset
    piece: float | None = None  # of the write calls: half of all bytes went in calls no larger
    collective: bool | None = None  # whether fewer processes wrote than there were
    file_system: str | None = None  # "lustre", "gpfs", ...
    hdf5: str | None = None
    mpi: str | None = None
    files: float | None = None  # that were written
    through_mpi_io: bool | None = None  # whether MPI-IO wrote any of them
    through_hdf5: bool | None = None  # whether HDF5 did


@dataclass(frozen=True)
class Advice:
    """The best settings known for an access pattern like the given one."""

    settings: Settings
    source: str
    speedup: float | None  # over the default there
    access_pattern: AccessPattern
    distance: float
    confidence: float
    parts: Mapping[str, float | None]  # of the distance: their squares sum to its square; None: not known


def read(path: Path) -> AccessPattern:
    """The access pattern in a log of the preloaded library (JSON lines or their directory) or of Darshan.

    Raises UsageError for a file that is neither, LeadlineError where Darshan's package is wanted and missing.
    """
    if path.is_dir():
        return of_lines(line for each in sorted(path.glob("*.jsonl")) for line in lines(each))
    try:
        path.open("rb").close()
    except OSError as problem:
        why = problem.strerror or problem
        raise UsageError(
            f"no run of a program {str(path)!r} is recorded, and there is no log of this name: {why}; {TRACE}"
        ) from None
    if not is_log(path):
        raise UsageError(
            f"no run of a program {str(path)!r} is recorded, and this file is neither a log of the preloaded "
            f"library nor of Darshan; {TRACE}"
        )
    return _of_darshan(path) if path.suffix == ".darshan" else of_lines(lines(path))


def is_log(path: Path) -> bool:
    """Whether a path looks like a log: a directory of them, Darshan's, or a file of JSON."""
    if path.is_dir() or path.suffix == ".darshan":
        return True
    try:
        with path.open("rb") as log:
            return log.read(64).lstrip().startswith(b"{")
    except OSError:
        return False


def lines(path: Path) -> Iterator[dict[str, Any]]:
    """The lines of a record, each an object; what is cut or cannot be a line is passed over.

    Raises OSError where the file cannot be read.
    """
    for text in path.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            line = json.loads(text)
        except (ValueError, RecursionError):
            continue
        if isinstance(line, dict) and _is_line(line):
            yield line


def _is_line(line: Mapping[str, Any]) -> bool:
    """Whether an object has the types that the preloaded library writes (native/h5tuner/log.h)."""
    sizes = line.get("write_sizes", {})
    return (
        all(_is_count(line.get(name, 0)) for name in ("rank", "ranks", "bytes_written"))
        and isinstance(sizes, dict)
        and all(least.isdecimal() and _is_count(calls) for least, calls in sizes.items())
        and all(isinstance(line.get(name, ""), str) for name in ("file", "dataset", "name", "state", "text"))
        and (line.get("kind") != "setting" or ("name" in line and "state" in line))
        and isinstance(line.get("lengths", []), list)
        and all(map(_is_count, line.get("lengths", [])))
    )


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 63


def of_lines(lines: Iterable[Mapping[str, Any]]) -> AccessPattern:
    """The access pattern of the preloaded library's record. Raises UsageError where nothing was written."""
    ranks, writers, datasets, files = {0}, set(), set(), set()
    met = {"hdf5": False, "mpi": False}
    sizes: dict[int, float] = {}
    words: dict[str, str] = {}
    system, written = None, 0.0
    for line in lines:
        ranks.add(int(line.get("rank", 0)))
        words |= {
            key: str(line[key]) for key in ("hdf5", "mpi") if line.get("kind") == "library" and key in line
        }
        met = {name: known or name in line for name, known in met.items()}
        if line.get("kind") == "dataset":
            met["hdf5"] = True
            datasets.add((line.get("file"), line.get("dataset")))
        if line.get("kind") == "observed" and line.get("bytes_written", 0) > 0:
            writers.add((line.get("rank"), line.get("process")))
            files.add(line.get("file"))
            written += float(line["bytes_written"])
            system = "lustre" if "stripe_count" in line else system
            for least, calls in line.get("write_sizes", {}).items():
                sizes[int(least)] = sizes.get(int(least), 0.0) + float(calls) * int(least)
    if not written:
        raise UsageError(f"this log has no writes, and settings are for writing: {TRACE}")
    many = max(ranks) + 1
    return AccessPattern(
        ranks=many,
        bytes_a_rank=written / many,
        share=written / many / len(datasets) if datasets else None,
        piece=_middle(sizes),
        collective=len(writers) < many if many > 1 else None,
        file_system=system,
        files=float(len(files)),
        through_mpi_io=met["mpi"],
        through_hdf5=met["hdf5"],
        **words,
    )


def _middle(sizes: Mapping[int, float]) -> float | None:
    """The size up to which half of all bytes went."""
    passed = 0.0
    for size in sorted(sizes):
        passed += sizes[size]
        if 2 * passed >= sum(sizes.values()):
            return float(size)
    return None


def _of_darshan(path: Path) -> AccessPattern:
    seen = darshan_log.read(path)
    if not seen["written"]:
        raise UsageError(f"{path}: this log has no writes, and settings are for writing")
    ranks, datasets = seen["ranks"], seen["datasets"]
    return AccessPattern(
        ranks=ranks,
        bytes_a_rank=seen["written"] / ranks,
        share=seen["written"] / ranks / datasets if datasets else None,
        piece=_middle({int(size): calls for size, calls in seen["sizes"].items()}),
        collective=seen["collective"],
        file_system=seen["file_system"],
        files=seen["files"] or None,
        through_mpi_io=seen["mpi_io"],
        through_hdf5=seen["hdf5"],
    )


def of_kernel(kernel: str, ranks: int, file_system: str) -> AccessPattern:
    """The access pattern of a kernel on so many ranks."""
    pattern = storage.pattern(kernel)
    return AccessPattern(
        ranks=ranks,
        bytes_a_rank=pattern.volume(1),
        share=float(pattern.share),
        collective=pattern.collective,
        file_system=file_system,
        files=1.0,
        through_mpi_io=True,
        through_hdf5=True,
    )


def parts(one: AccessPattern, other: AccessPattern) -> dict[str, float | None]:
    """How far two access patterns are from each other in each trait; None for traits that either lacks."""
    found: dict[str, float | None] = {}
    for name in _SIZES:
        here, there = getattr(one, name), getattr(other, name)
        found[name] = abs(math.log(here / there, _BASE)) if here and there else None
    for name, step in (("collective", _MODE), ("file_system", _SYSTEM)):
        here, there = getattr(one, name), getattr(other, name)
        found[name] = None if here is None or there is None else step * (here != there)
    return found


def distance(one: AccessPattern, other: AccessPattern) -> float:
    """How far two access patterns are from each other, over what both know."""
    return math.hypot(*(each for each in parts(one, other).values() if each is not None))


def _reachable(settings: Settings, pattern: AccessPattern) -> dict[str, Any]:
    """The settings that reach a program: without those of a layer that it does not use."""
    layers = {each.name: each.layer for each in io_settings.words()} | {"chunk_size": "hdf5"}
    without = {"hdf5": pattern.through_hdf5 is False, "mpi-io": pattern.through_mpi_io is False}
    if all(without.values()):
        return {}  # stripes alone are those of the file of another kind of program
    return {name: value for name, value in settings.items() if not without.get(layers.get(name, "mpi-io"))}


def database() -> Path:
    """Where access patterns are kept unless another file is named."""
    return paths.state_dir() / DATABASE


def remember(
    pattern: AccessPattern, settings: Settings, source: str, speedup: float | None, path: Path
) -> None:
    """Keep the best settings of a pattern, once. Raises LeadlineError where they cannot be written."""
    row = (json.dumps(asdict(pattern)), json.dumps(dict(settings)), source, speedup)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with closing(sqlite3.connect(path)) as kept, kept:
            kept.execute(
                "CREATE TABLE IF NOT EXISTS motifs (motif TEXT, settings TEXT, source TEXT, speedup REAL)"
            )
            kept.execute(
                "DELETE FROM motifs WHERE motif = ? AND settings = ? AND source = ? AND speedup IS ?", row
            )
            kept.execute("INSERT INTO motifs VALUES (?, ?, ?, ?)", row)
    except (sqlite3.Error, OSError) as problem:
        raise LeadlineError(f"cannot keep the access pattern in {path}: {problem}") from None


def _kept(path: Path) -> Iterator[tuple[AccessPattern, Settings, str, float | None]]:
    """What the database has, after what the paper has."""
    for row in published.speedups():
        if int(row["cores"]) == published.TUNED_AT:
            system = "gpfs" if row["platform"] == "intrepid" else "lustre"
            pattern = of_kernel(row["kernel"], published.TUNED_AT, system)
            settings = published.tuned(row["platform"], row["kernel"])
            yield (
                pattern,
                settings,
                f"{row['kernel']} on {row['platform']}, {TABLE5}",
                float(row["speedup"]),
            )
    if not path.is_file():
        return
    try:
        with closing(sqlite3.connect(path)) as kept:
            for pattern, settings, source, speedup in kept.execute("SELECT * FROM motifs"):
                yield AccessPattern(**json.loads(pattern)), json.loads(settings), source, speedup
    except (sqlite3.Error, ValueError, TypeError) as problem:
        raise LeadlineError(f"{path} is no database of access patterns ({problem}); move it away") from None


def advise(pattern: AccessPattern, path: Path | None = None) -> list[Advice]:
    """Known settings of similar access patterns, the nearest first; of equally near ones the largest gain.

    Nothing for a program that uses neither HDF5 nor MPI-IO, through which settings would reach it. Raises
    LeadlineError for a database that cannot be read.
    """
    found = []
    for known, settings, source, speedup in _kept(path or database()):
        if reachable := _reachable(settings, pattern):
            apart = parts(pattern, known)
            away = math.hypot(*(each for each in apart.values() if each is not None))
            share = sum(each is not None for each in apart.values()) / len(apart)
            found.append(Advice(reachable, source, speedup, known, away, share / (1 + away**2), apart))
    return sorted(found, key=lambda each: (-each.confidence, each.distance, -(each.speedup or 1)))
