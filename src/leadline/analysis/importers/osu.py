"""The output of the OSU micro-benchmarks, versions 3 to 7, one program or many after another.

A program prints its title, what distinguishes this table (kind of window, synchronisation, data type, where
buffers are), columns and a row a size; of several data types each has rows of its own. All of that is part
of the point. What launchers print around is passed over. Sizes are bytes, MB/s are 1e6 B/s, latencies are
one-way and in microseconds (README of the suite).
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from leadline.analysis.importers import _collectives
from leadline.analysis.importers.table import Cell, Table, is_row, number, whole, word
from leadline.core.errors import UsageError

TITLE = "OSU micro-benchmarks"

_TITLE = re.compile(r"#\s*OSU\s+(?P<title>.+?)\s+Test(?:\s+v(?P<version>\S+))?")
_PAIRS = re.compile(r"#\s*\[ pairs: (?P<pairs>\d+) \] \[ window size: (?P<window>\w+) \]")
_COLUMNS = re.compile(r"#\s*(?P<columns>(?:Size|(?:Avg )?Latency ?\(us\)|Overall ?\(us\)).*)")
# What is asked beside the size: "# Synchronization: MPI_Win_flush".
_FACT = re.compile(r"#\s*(?P<name>[A-Za-z][\w ()/-]*?)\s*:\s*(?P<value>\S.*?)\.?")
_WORDS = re.compile(
    r"#\s*(?P<words>[A-Za-z].*)"
)  # "# Rank 0 Memory on DEVICE (D) and Rank 1 Memory on HOST (H)"
_INVALID = re.compile(r"validation error", re.IGNORECASE)
_AT_SIZE = re.compile(r"(?:size|bytes)\D{0,12}(?P<size>\d+)", re.IGNORECASE)
_USUAL = {("datatype", "mpi_char")}  # what programs of all versions do, and older ones do not print
# What `mpirun --tag-output` and `srun --label` put before each line.
_TAG = re.compile(r"(?:\[\d+,\d+\]<stdout>:|\d+:)\s?")

# Columns, in lower case without blanks: the metric and its unit in SI.
_METRICS = {
    "latency(us)": ("latency", 1e-6),
    "avglatency(us)": ("latency", 1e-6),
    "maxlatency(us)": ("time", 1e-6),
    "purecomm.(us)": ("latency", 1e-6),
    "bandwidth(mb/s)": ("bandwidth", 1e6),
    "bi-bandwidth(mb/s)": ("bandwidth", 1e6),
    "mb/s": ("bandwidth", 1e6),
    "messages/s": ("message_rate", 1.0),
}

# Programs that ask what a benchmark of ours asks. The window of osu_bw and osu_bibw is not printed.
_WINDOW = 64
_SAME: dict[str, tuple[str, dict[str, int | str]]] = {
    "MPI Latency": ("pingpong", {"buffers": "reused"}),
    "MPI Bandwidth": ("bandwidth", {"window": _WINDOW}),
    "MPI Bi-Directional Bandwidth": ("bibandwidth", {"window": _WINDOW}),
    "MPI Multiple Bandwidth / Message Rate": ("multistream", {}),
}
_COLLECTIVE = re.compile(r"MPI (?P<name>\w+) Latency")
# One-sided programs as versions from 4 on are by default; another window or synchronisation is their own.
_ONE_SIDED: dict[str, tuple[str, dict[str, int | str]]] = {
    "MPI_Put Latency": ("roundtrip", {"operation": "put"}),
    "MPI_Get Latency": ("roundtrip", {"operation": "get"}),
    "MPI_Put Bandwidth": ("flood", {"operation": "put", "outstanding": _WINDOW}),
    "MPI_Get Bandwidth": ("flood", {"operation": "get", "outstanding": _WINDOW}),
}
_AS_OURS = {"window_creation": "mpi_win_allocate", "synchronization": "mpi_win_flush"}
_OF_TWO_RANKS = {"pingpong", "bandwidth", "bibandwidth"}
# One-sided and threaded programs refuse more than two ranks.
_TWO_ONLY = re.compile(r"MPI_|MPI Multi-(?:threaded|process) ")


def tables(path: Path, lines: Sequence[str]) -> Iterator[Table]:
    """The tables of numbers in a text, one for each title.

    Raises UsageError, with file and line, where there is no title, and for a row that does not fit its
    columns.
    """
    plain = [_TAG.sub("", line, 1).strip() for line in lines]
    starts = [(n, m) for n, line in enumerate(plain) if (m := _TITLE.search(line))]
    if not starts:
        raise UsageError(
            f"{path}:1: this is no output of the {TITLE}; it has a line like '# OSU MPI Latency Test v7.4'"
        )
    before = next((n for n in range(starts[0][0]) if _COLUMNS.fullmatch(plain[n])), None)
    if before is not None:
        raise UsageError(f"{path}:{before + 1}: this table has no title, so it is not known what it is of")
    ends = [start for start, _ in starts[1:]] + [len(lines)]
    for (start, title), end in zip(starts, ends, strict=True):
        yield from _tables(path, title, plain[start + 1 : end], start + 1)


@dataclass
class _Part:
    """The rows of one data type under a title."""

    facts: dict[str, int | str] = field(default_factory=dict)
    columns: list[str] | None = None
    cells: list[Cell] = field(default_factory=list)

    def as_collective(self) -> None:
        """What is printed of a collective of ours: the mean over the ranks, and the slowest."""
        self.cells = [
            Cell(
                cell.coordinates,
                {"mean" if name == "latency" else name: value for name, value in cell.values.items()},
                cell.batch,
                cell.reason,
                cell.failed,
            )
            for cell in self.cells
        ]

    def fail(self, line: str, place: str) -> None:
        """Take out what the suite found to be wrong: the size that it names, or all."""
        size = _AT_SIZE.search(line)
        wrong = {"bytes": whole(size["size"], place)} if size else None
        reason = f"{place}: the suite's own validation of the data failed"
        if wrong is not None and all(cell.coordinates != wrong for cell in self.cells):
            self.cells.append(Cell(wrong, reason=reason, failed=True))
        self.cells = [
            Cell(cell.coordinates, reason=reason, failed=True) if wrong in (None, cell.coordinates) else cell
            for cell in self.cells
        ]


def _tables(path: Path, title: re.Match[str], lines: Sequence[str], first: int) -> Iterator[Table]:
    """The tables under one title, whose line is number `first`: one for each data type."""
    parts = [_Part()]
    for number_, line in enumerate(lines, start=first + 1):
        _take(parts, line, f"{path}:{number_}")
    for part in parts:
        benchmark, coordinates = _meaning(title["title"], part.facts)
        for name, value in _USUAL:
            if part.facts.get(name) == value:  # not taken out as the type of what is reduced
                del part.facts[name]
        if "cadence" in coordinates:
            part.as_collective()
        pairs = part.facts.get("pairs")
        ranks = 2 * int(pairs) if pairs else 2 if benchmark in _OF_TWO_RANKS else None
        left = [
            name for name in part.columns or () if name not in {*_METRICS, "size", "iterations", "validation"}
        ]
        assumed = "window" in coordinates and "window" not in part.facts
        yield Table(
            benchmark=benchmark,
            ranks=ranks,
            coordinates={**coordinates, **part.facts},
            version=title["version"] or "",
            cells=part.cells,
            empty=f"{path}:{first}: no row of numbers follows this title",
            place=f"{path}:{first}",
            notes=[f"columns of {benchmark} that were not read: {', '.join(left)}"] if left else [],
            assumed={"window": f"window of {benchmark} taken as the suite's default, {_WINDOW}"}
            if assumed
            else {},
            any_ranks=ranks is None and not _TWO_ONLY.match(title["title"]),
        )


def _meaning(title: str, facts: dict[str, int | str]) -> tuple[str, dict[str, int | str]]:
    """Our benchmark and coordinates for a program; facts that these include are taken out."""
    if title in _ONE_SIDED and all(facts.get(name) == value for name, value in _AS_OURS.items()):
        for name in _AS_OURS:
            del facts[name]
        return _ONE_SIDED[title]
    if (match := _COLLECTIVE.fullmatch(title)) and "form" not in facts:
        kind = str(facts.get("datatype", "mpi_float"))  # versions before 7 reduce floats and do not say so
        if found := _collectives.meaning(match["name"], "osu", kind):
            facts.pop("datatype" if "type" in found[1] else "", None)
            return found
    return _SAME.get(title, (_own_name(title), {}))


def _take(parts: list[_Part], line: str, place: str) -> None:
    """Take one line under a title."""
    part = parts[-1]
    if pairs := _PAIRS.match(line):
        if not pairs["window"].isdecimal():
            raise UsageError(f"{place}: a table with one window size is read; run it with -W SIZE")
        part.facts |= {"pairs": whole(pairs["pairs"], place), "window": whole(pairs["window"], place)}
    elif header := _COLUMNS.fullmatch(line):
        if part.columns and part.cells:
            raise UsageError(f"{place}: this table has no title, so it is not known what it is of")
        part.columns = _columns(header["columns"], place)
    elif _INVALID.search(line):
        part.fail(line, place)
    elif line.startswith("#"):
        _note(parts, line)
    elif part.columns and is_row(line):
        part.cells.append(_cell(line.split(), part.columns, place))


def _note(parts: list[_Part], line: str) -> None:
    """Take a comment: a fact of the point. Another data type after rows begins rows of its own."""
    part = parts[-1]
    if fact := _FACT.fullmatch(line):
        name, value = word(fact["name"]), word(fact["value"])
        if part.cells and name == "datatype":
            parts.append(part := _Part(dict(part.facts)))
            part.facts.pop(name, None)
        part.facts[name] = value
    elif (words := _WORDS.fullmatch(line)) and not part.cells:
        part.facts["form"] = word(words["words"])


def _columns(text: str, place: str) -> list[str]:
    """The columns' names, in lower case without blanks."""
    # A name may hold one blank, "Latency (us)"; between names there are at least two.
    columns = ["".join(name.lower().split()) for name in re.split(r"\s{2,}|\t", text.strip())]
    if not any(name in _METRICS for name in columns):
        raise UsageError(f"{place}: none of the columns {', '.join(columns)} is a latency or bandwidth")
    return columns


def _cell(words: list[str], columns: list[str], place: str) -> Cell:
    """One row: its size, and the columns that are metrics."""
    if len(words) != len(columns):
        raise UsageError(
            f"{place}: this row has {len(words)} of {len(columns)} columns; mend or cut the line"
        )
    row = dict(zip(columns, words, strict=True))
    size = {"bytes": whole(row["size"], place)} if "size" in row else {}
    if row.get("validation", "pass").lower() not in ("pass", "-"):
        return Cell(size, reason=f"{place}: the suite's own validation of the data failed", failed=True)
    values = {
        metric: number(row[name], place) * unit for name, (metric, unit) in _METRICS.items() if name in row
    }
    batch = whole(row["iterations"], place) if "iterations" in row else None
    return Cell(size, values, batch)


def _own_name(title: str) -> str:
    """The name of a program that asks what no benchmark of ours asks: its title, as a word."""
    return "osu_" + word(title.removeprefix("MPI "))
