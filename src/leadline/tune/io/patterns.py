"""Motifs of parallel output: what a program writes, how alike two programs are, and what was best for one
like it.

A motif is read from the record of the preloaded library, from a Darshan log (by Darshan's own package) or
from a kernel's access pattern. What a source does not tell is null, and no distance is taken of it. Motifs
with their best settings are kept in a database; those of Behzad et al. (2013), table 5, are there from the
beginning.

The distance of two motifs is Euclidean over what both know: logarithms to the base 16 of ranks, of bytes a
rank, of bytes of a rank in a dataset, and of the size of a write; 1 for collective against independent
writing, and 2 for another file system, whose settings are other settings. The confidence is 1 / (1 +
distance^2): a judgement, no probability.
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
from leadline.tune.search import Settings
from leadline.tune.storage import published

_BASE = 16.0  # a factor of 16 in a size is as far as a step of 1
_MODE, _SYSTEM = 1.0, 2.0  # distances of another way of writing, and of another file system
DATABASE = "motifs.sqlite"
TRACE = "a program is traced by 'leadline io run -- PROGRAM'"
TABLE5 = "Behzad et al. 2013, table 5"
_SIZES = ("ranks", "bytes_a_rank", "share", "piece")


@dataclass(frozen=True)
class Motif:
    """What a program writes; sizes in bytes, null where nobody told."""

    ranks: int
    bytes_a_rank: float | None = None
    share: float | None = None  # of a rank in one dataset
    piece: float | None = None  # of the write calls: half of all bytes went in calls no larger
    collective: bool | None = None  # whether fewer processes wrote than there were
    file_system: str | None = None  # "lustre", "gpfs", ...
    hdf5: str | None = None
    mpi: str | None = None


@dataclass(frozen=True)
class Advice:
    """The best settings known for a motif that is like the one that was asked for."""

    settings: Settings
    source: str
    speedup: float | None  # over the default there
    motif: Motif
    distance: float
    confidence: float


def read(path: Path) -> Motif:
    """The motif of a log: of the preloaded library (JSON, an object a line, or a directory) or of Darshan.

    Raises UsageError for a file that is neither, LeadlineError where Darshan's package is wanted and missing.
    """
    if path.is_dir():
        return of_lines(line for each in sorted(path.glob("*.jsonl")) for line in _lines(each))
    try:
        path.open("rb").close()
    except OSError as problem:
        why = problem.strerror or problem
        raise UsageError(
            f"no program {str(path)!r} was traced, and no log of this name can be read: {why}; {TRACE}"
        ) from None
    if not is_log(path):
        raise UsageError(
            f"{path} is neither a record of the preloaded library nor a Darshan log, and no program of this "
            f"name was traced; {TRACE}"
        )
    return _of_darshan(path) if path.suffix == ".darshan" else of_lines(_lines(path))


def is_log(path: Path) -> bool:
    """Whether a path looks like a log: a directory of them, Darshan's, or a file of JSON."""
    if path.is_dir() or path.suffix == ".darshan":
        return True
    try:
        with path.open("rb") as log:
            return log.read(64).lstrip().startswith(b"{")
    except OSError:
        return False


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    """The objects of a record; what is cut or no object is passed over."""
    for text in path.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            line = json.loads(text)
        except ValueError:
            continue
        if isinstance(line, dict):
            yield line


def of_lines(lines: Iterable[Mapping[str, Any]]) -> Motif:
    """The motif of the preloaded library's record. Raises UsageError where nothing was written."""
    ranks, writers, datasets = {0}, set(), set()
    sizes: dict[int, float] = {}
    words: dict[str, str] = {}
    system, written = None, 0.0
    for line in lines:
        ranks.add(int(line.get("rank", 0)))
        words |= {
            key: str(line[key]) for key in ("hdf5", "mpi") if line.get("kind") == "library" and key in line
        }
        if line.get("kind") == "dataset":
            datasets.add((line.get("file"), line.get("dataset")))
        if line.get("kind") == "observed" and line.get("bytes_written", 0) > 0:
            writers.add((line.get("rank"), line.get("process")))
            written += float(line["bytes_written"])
            system = "lustre" if "stripe_count" in line else system
            for least, calls in line.get("write_sizes", {}).items():
                sizes[int(least)] = sizes.get(int(least), 0.0) + float(calls) * int(least)
    if not written:
        raise UsageError("this record tells of nothing that was written: trace a run that writes its files")
    many = max(ranks) + 1
    return Motif(
        ranks=many,
        bytes_a_rank=written / many,
        share=written / many / len(datasets) if datasets else None,
        piece=_middle(sizes),
        collective=len(writers) < many if many > 1 else None,
        file_system=system,
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


# Darshan's bins of write sizes: the counter's end, and the middle of the bin on a logarithmic scale, B.
_BINS = {"0_100": 10, "100_1K": 320, "1K_10K": 3200, "10K_100K": 32_000, "100K_1M": 320_000}
_BINS |= {
    "1M_4M": 2_000_000,
    "4M_10M": 6_300_000,
    "10M_100M": 32_000_000,
    "100M_1G": 320_000_000,
    "1G_PLUS": 2**31,
}
_MOUNTS = {"lustre": "lustre", "gpfs": "gpfs", "ufs": "other"}


def _of_darshan(path: Path) -> Motif:
    try:
        import darshan  # noqa: PLC0415  (optional, and slow to import)
    except ImportError:
        raise LeadlineError(
            f"{path}: Darshan's package reads such logs; install it by 'pip install darshan'"
        ) from None
    try:
        report = darshan.DarshanReport(str(path), read_all=False)
        counters = {}
        for module in ("POSIX", "MPI-IO", "H5D"):
            if module in report.modules:
                report.mod_read_all_records(module)
                counters[module] = report.records[module].to_df()["counters"]
    except Exception as problem:  # whatever its package raises, it is about this file
        raise UsageError(f"{path}: Darshan's package cannot read this log: {problem}") from None
    ranks = int(report.metadata["job"]["nprocs"])
    posix = counters.get("POSIX")
    written = float(posix["POSIX_BYTES_WRITTEN"].sum()) if posix is not None else 0.0
    if posix is None or not written:
        raise UsageError(f"{path}: this log tells of nothing that was written")
    sizes = {size: float(posix[f"POSIX_SIZE_WRITE_{name}"].sum()) * size for name, size in _BINS.items()}
    mounted = {str(kind) for _, kind in report.mounts}
    mpiio, datasets = counters.get("MPI-IO"), counters.get("H5D")
    return Motif(
        ranks=ranks,
        bytes_a_rank=written / ranks,
        share=written / ranks / len(datasets) if datasets is not None and len(datasets) else None,
        piece=_middle(sizes),
        collective=bool(mpiio["MPIIO_COLL_WRITES"].sum() > 0) if mpiio is not None else None,
        file_system=next(
            (name for kind, name in _MOUNTS.items() if kind in mounted and name != "other"), None
        ),
    )


def of_kernel(kernel: str, ranks: int, file_system: str) -> Motif:
    """The motif of a kernel's access pattern on so many ranks."""
    pattern = storage.pattern(kernel)
    return Motif(
        ranks=ranks,
        bytes_a_rank=pattern.volume(1),
        share=float(pattern.share),
        collective=pattern.collective,
        file_system=file_system,
    )


def distance(one: Motif, other: Motif) -> float:
    """How far two motifs are from each other, over what both know."""
    total = 0.0
    for name in _SIZES:
        here, there = getattr(one, name), getattr(other, name)
        if here and there:
            total += math.log(here / there, _BASE) ** 2
    if one.collective is not None and other.collective is not None and one.collective != other.collective:
        total += _MODE**2
    if one.file_system and other.file_system and one.file_system != other.file_system:
        total += _SYSTEM**2
    return math.sqrt(total)


def database() -> Path:
    """Where motifs are kept unless another file is named."""
    return paths.state_dir() / DATABASE


def remember(motif: Motif, settings: Settings, source: str, speedup: float | None, path: Path) -> None:
    """Keep the best settings of a motif; the same once. Raises LeadlineError where they cannot be written."""
    row = (json.dumps(asdict(motif)), json.dumps(dict(settings)), source, speedup)
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
        raise LeadlineError(f"cannot keep the motif in {path}: {problem}") from None


def _kept(path: Path) -> Iterator[tuple[Motif, Settings, str, float | None]]:
    """What the database has, after what the paper has."""
    for row in published.speedups():
        if int(row["cores"]) == published.TUNED_AT:
            system = "gpfs" if row["platform"] == "intrepid" else "lustre"
            motif = of_kernel(row["kernel"], published.TUNED_AT, system)
            settings = published.tuned(row["platform"], row["kernel"])
            yield motif, settings, f"{row['kernel']} on {row['platform']}, {TABLE5}", float(row["speedup"])
    if not path.is_file():
        return
    try:
        with closing(sqlite3.connect(path)) as kept:
            for motif, settings, source, speedup in kept.execute("SELECT * FROM motifs"):
                yield Motif(**json.loads(motif)), json.loads(settings), source, speedup
    except (sqlite3.Error, ValueError, TypeError) as problem:
        raise LeadlineError(f"{path} is no database of motifs ({problem}); move it away") from None


def advise(motif: Motif, path: Path | None = None) -> list[Advice]:
    """What is known of motifs like this one, the nearest first, and of those as near what gained most.

    Raises LeadlineError for a database that cannot be read.
    """
    found = []
    for known, settings, source, speedup in _kept(path or database()):
        away = distance(motif, known)
        found.append(Advice(settings, source, speedup, known, away, 1 / (1 + away**2)))
    return sorted(found, key=lambda each: (each.distance, -(each.speedup or 1)))
