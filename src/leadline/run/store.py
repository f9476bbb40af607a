"""A run's directory: its plan, its provenance, and its records, which survive whatever ends the run.

While a run goes on its records are lines of `journal.jsonl`, each written and synchronised before the next
point is begun; at its end they become `records.parquet`. Where there is a journal it holds everything, so a
run that was killed at any moment can be read, and gone on with, as it is.
"""

import json
import os
import shutil
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace as replaced
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Any

import polars as pl

from leadline.core import journal
from leadline.core.errors import LeadlineError, UsageError, suggest
from leadline.core.journal import to_json
from leadline.core.record import Record, frame
from leadline.core.record_files import (
    JOURNAL_HEADER,
    PLAN_KEY,
    PROVENANCE_KEY,
    journal_frame,
    journal_lines,
    parquet_metadata,
    read_journal,
    read_parquet,
    replace,
    table,
    write_parquet,
)

__all__ = [
    "Store",
    "earlier",
    "find",
    "load",
    "load_earlier",
    "plan_text",
    "provenance",
    "runs",
    "write_parquet",
]

PLAN, PROVENANCE, JOURNAL, RECORDS = "plan.toml", "provenance.json", "journal.jsonl", "records.parquet"
RUNS = Path("runs")  # where runs go that are named by a word
EARLIER = 10  # runs beside one that are read to know how much runs differ


class Store:
    """A run that records are being added to. One process at a time holds it; close it, or use `with`."""

    def __init__(self, path: Path) -> None:
        """Use `create` or `reopen`."""
        self.path = path
        self._journal = journal.open_locked(path / JOURNAL)
        self._records: list[Record] = []

    @staticmethod
    def check_new(path: Path) -> None:
        """UsageError where a run cannot be made because something is there; an empty directory may be."""
        path = Path(path)
        if path.exists() and not (path.is_dir() and not any(path.iterdir())):
            resumed = f", or resume its run by 'leadline run --resume {path}'" if path.is_dir() else ""
            raise UsageError(f"{path} already exists; name another directory{resumed}")

    @classmethod
    def create(cls, path: Path, plan: str, provenance: Mapping[str, object]) -> "Store":
        """Begin a run in a directory that must not exist yet, or be empty; `plan` is the plan's text.

        Raises UsageError where it exists, LeadlineError where it cannot be written.
        """
        path = Path(path)
        cls.check_new(path)
        draft = path.with_name(f".{path.name}.{os.getpid()}")
        try:
            # Made beside its place and renamed, so that there is never half a run.
            draft.mkdir(parents=True)
            replace(draft / PLAN, plan.encode())
            replace(draft / PROVENANCE, to_json(provenance))
            replace(draft / JOURNAL, journal.encode([JOURNAL_HEADER]))
            draft.rename(path)
            _sync_directory(path.parent)
        except OSError as problem:
            shutil.rmtree(draft, ignore_errors=True)
            raise LeadlineError(f"cannot make the run {path}: {problem.strerror}") from problem
        return cls(path)

    @classmethod
    def reopen(cls, path: Path) -> "Store":
        """Go on with a run that was killed, or that was finished and gets more points.

        Raises UsageError where there is no run, LeadlineError where it is damaged or another process has it.
        """
        path = Path(path)
        provenance(path)  # raises where this is no run
        if _current(path) != JOURNAL:
            records = map(Record.of, load(path).to_dicts())
            replace(path / JOURNAL, journal.encode([JOURNAL_HEADER, *journal_lines(records)]))
        store = cls(path)
        try:
            store._records, length = read_journal(path / JOURNAL)
            store._journal.cut(length)
        except BaseException:
            store.close()
            raise
        return store

    def append(self, records: Iterable[Record]) -> None:
        """Add records; when this returns they are on the disk.

        All metrics of a point in a launch, given as neighbours, are there together or not at all, whenever
        the run is killed. Raises LeadlineError when the disk is full; the journal then ends as before.
        """
        named = [each if each.run else replaced(each, run=self.path.name) for each in records]
        self._journal.append(journal_lines(named), "every record before")
        self._records += named

    def records(self) -> pl.DataFrame:
        """The records so far."""
        return table(self._records, self.path / JOURNAL)

    def note(self, **facts: Any) -> None:
        """Add facts to the provenance, such as when the run was gone on with."""
        try:
            replace(self.path / PROVENANCE, to_json({**provenance(self.path), **facts}))
        except OSError as problem:
            raise LeadlineError(f"cannot write {self.path / PROVENANCE}: {problem.strerror}") from problem

    def finish(self) -> Path:
        """Turn the journal into one Parquet file and give its path; the store is closed.

        Raises LeadlineError when the disk is full; the journal then stays, and nothing is lost.
        """
        target = self.path / RECORDS
        write_parquet(self.records(), target, provenance(self.path), plan_text(self.path))
        _sync_directory(self.path)
        (self.path / JOURNAL).unlink()
        self.close()
        return target

    def close(self) -> None:
        """Let other processes write the run."""
        self._journal.close()

    def __enter__(self) -> "Store":
        """The store itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close it; what was appended stays."""
        self.close()


class Memory:
    """Records that are kept for as long as the program runs, of which nothing is written."""

    def __init__(self, name: str) -> None:
        """`name` is that of the run in the records."""
        self.name = name
        self._records: list[Record] = []

    def append(self, records: Iterable[Record]) -> None:
        """Add records."""
        self._records += [replaced(each, run=self.name) for each in records]

    def records(self) -> pl.DataFrame:
        """The records so far."""
        return frame(self._records)


def load(path: Path) -> pl.DataFrame:
    """The records of a run's directory (finished or killed), of a Parquet file, or of a journal.

    Raises UsageError where there is nothing, LeadlineError for what is damaged or something else.
    """
    path = _there(path)
    if path.is_dir():
        if (name := _current(path)) is None:
            raise UsageError(f"{path} is not a run: it has neither {RECORDS} nor {JOURNAL}")
        return load(path / name)
    return journal_frame(path) if path.suffix == ".jsonl" else read_parquet(path)


def _current(path: Path) -> str | None:
    """The file of a run's directory that holds all its records; None where there is none.

    A journal holds them all from the moment it is there, but for one that a machine lost on its way to the
    disk: without a line of records it never hides those that were finished.
    """
    journal_there, records_there = ((path / name).exists() for name in (JOURNAL, RECORDS))
    if not (journal_there and records_there):
        return JOURNAL if journal_there else RECORDS if records_there else None
    with (path / JOURNAL).open("rb") as file:
        file.readline()
        return JOURNAL if file.readline() else RECORDS


def provenance(path: Path) -> dict[str, Any]:
    """Where the records of a run's directory or of a Parquet file come from; empty where a file is silent.

    Raises UsageError where there is nothing, LeadlineError for what is damaged or something else.
    """
    path = _there(path)
    if path.is_dir():
        path = path / PROVENANCE
        if not path.exists():
            raise UsageError(f"{path.parent} is not a run: it has no {PROVENANCE}")
        text = path.read_text(encoding="utf-8", errors="replace")
    else:
        text = "{}" if path.suffix == ".jsonl" else parquet_metadata(path).get(PROVENANCE_KEY, "{}")
    try:
        facts = json.loads(text)
    except (ValueError, RecursionError) as problem:
        raise UsageError(f"{path}: its provenance cannot be read: {problem}") from problem
    if not isinstance(facts, dict):
        raise UsageError(f"{path}: its provenance is no table but {text[:40]!r}")
    return facts


def plan_text(path: Path) -> str:
    """The text of the plan of a run's directory or of a Parquet file; empty where it is not there."""
    path = _there(path)
    if path.is_dir():
        plan = path / PLAN
        return plan.read_text(encoding="utf-8", errors="replace") if plan.exists() else ""
    return "" if path.suffix == ".jsonl" else parquet_metadata(path).get(PLAN_KEY, "")


def find(name: str) -> Path:
    """The path of a run or record file, from a path or from the name of a directory in `runs/`."""
    for path in (Path(name), RUNS / name):
        if path.exists():
            return path
    known = [each.name for each in runs()]
    hint = suggest(name, known) if known else f"; there are no runs in {RUNS}/ yet"
    raise UsageError(f"there is no run or record file {name!r}{hint}")


def fresh(name: str) -> Path:
    """A directory in `runs/` named after what is run and the time."""
    return RUNS / f"{name}-{datetime.now():%Y%m%d-%H%M%S}"


def runs() -> list[Path]:
    """The directories in `runs/`, the newest last."""
    found = [path for path in RUNS.glob("[!.]*") if (path / PROVENANCE).exists()]
    return sorted(found, key=lambda path: (path / PROVENANCE).stat().st_mtime)


def earlier(path: Path) -> list[Path]:
    """The last finished runs of the same plan on the same host that lie beside a run, the newest last.

    At most `EARLIER`; none for a file of records, a simulated run, or one that does not say when it began.
    What cannot be read beside it is passed over.
    """
    path = Path(path).absolute()
    if not path.is_dir():
        return []
    plan, facts = plan_text(path), provenance(path)
    began, host = facts.get("date"), _host(facts)
    if not plan or not isinstance(began, str) or host is None:
        return []
    found = []
    for each in path.parent.glob(f"[!.]*/{RECORDS}"):
        other = each.parent
        with suppress(LeadlineError, OSError):
            # A FIFO would be waited for.
            whole = all((other / name).is_file() for name in (PLAN, PROVENANCE, RECORDS))
            if other == path or not whole or (other / JOURNAL).exists() or plan_text(other) != plan:
                continue
            said = provenance(other)
            if isinstance(said.get("date"), str) and said["date"] < began and _host(said) == host:
                found.append((said["date"], other))
    return [other for _, other in sorted(found)[-EARLIER:]]


def load_earlier(path: Path) -> list[pl.DataFrame]:
    """The records of the runs of `earlier`; those that are damaged are passed over."""
    found = []
    for each in earlier(path):
        with suppress(LeadlineError):
            found.append(load(each))
    return found


def _host(facts: Mapping[str, Any]) -> str | None:
    """The host that was measured; None where the run was simulated or does not say."""
    machine = facts.get("machine")
    return machine.get("host") if isinstance(machine, Mapping) and not facts.get("simulated") else None


def _there(path: Path) -> Path:
    """`path`; UsageError where there is nothing."""
    if not Path(path).exists():
        raise UsageError(f"there is no run or record file {path}")
    return Path(path)


def _sync_directory(path: Path) -> None:
    """Have the names in a directory on the disk."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
