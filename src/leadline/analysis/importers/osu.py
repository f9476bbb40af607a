"""The output of the OSU micro-benchmarks, versions 3 to 7, one program or many after another.

A program prints its title, columns and a row a size; what launchers print around that is passed over. Sizes
are bytes, MB/s are 1e6 B/s, latencies are one-way and in microseconds (README of the suite).
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from leadline.analysis.importers.table import Cell, Table, is_row, number
from leadline.core.errors import LeadlineError

TITLE = "OSU micro-benchmarks"

_TITLE = re.compile(r"#\s*OSU\s+(?P<title>.+?)\s+Test(?:\s+v(?P<version>\S+))?")
_PAIRS = re.compile(r"#\s*\[ pairs: (?P<pairs>\d+) \] \[ window size: (?P<window>\w+) \]")
_COLUMNS = re.compile(r"#\s*(?P<columns>(?:Size|(?:Avg )?Latency ?\(us\)|Overall ?\(us\)).*)")
# What `mpirun --tag-output` and `srun --label` put before each line.
_TAG = re.compile(r"(?:\[\d+,\d+\]<stdout>:|\d+:)\s?")

# Columns, in lower case without blanks: the metric and its unit in SI.
_METRICS = {
    "latency(us)": ("latency", 1e-6),
    "avglatency(us)": ("latency", 1e-6),
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
_OF_TWO_RANKS = {"pingpong", "bandwidth", "bibandwidth"}


def tables(path: Path, lines: Sequence[str]) -> Iterator[Table]:
    """The tables of numbers in a text, one for each title.

    Raises LeadlineError, with file and line, where there is no title, and for a row that does not fit its
    columns.
    """
    starts = [(n, m) for n, line in enumerate(lines) if (m := _TITLE.search(_TAG.sub("", line, 1).strip()))]
    if not starts:
        raise LeadlineError(
            f"{path}:1: this is no output of the {TITLE}; it has a line like '# OSU MPI Latency Test v7.4'"
        )
    ends = [start for start, _ in starts[1:]] + [len(lines)]
    for (start, title), end in zip(starts, ends, strict=True):
        yield _table(path, title, lines[start:end], start + 1)


def _table(path: Path, title: re.Match[str], lines: Sequence[str], first: int) -> Table:
    """The table under one title, whose line is number `first`."""
    benchmark, coordinates = _SAME.get(title["title"], (_own_name(title["title"]), {}))
    ranks = 2 if benchmark in _OF_TWO_RANKS else None
    assumed = "window" in coordinates
    columns: list[str] | None = None
    cells: list[Cell] = []
    for number_, raw in enumerate(lines, start=first):
        line, place = _TAG.sub("", raw, 1).strip(), f"{path}:{number_}"
        if pairs := _PAIRS.match(line):
            if not pairs["window"].isdecimal():
                raise LeadlineError(f"{place}: a table with one window size is read; run it with -W SIZE")
            ranks = 2 * int(pairs["pairs"])
            coordinates = {**coordinates, "pairs": int(pairs["pairs"]), "window": int(pairs["window"])}
        elif header := _COLUMNS.fullmatch(line):
            columns = _columns(header["columns"], place)
        elif columns and is_row(line):
            cells.append(_cell(line.split(), columns, place))
    return Table(
        benchmark=benchmark,
        ranks=ranks,
        coordinates=coordinates,
        version=title["version"] or "",
        cells=cells,
        empty=f"{path}:{first}: no row of numbers follows this title",
        notes=[f"window of {benchmark} taken as the suite's default, {_WINDOW}"] if assumed else [],
    )


def _columns(text: str, place: str) -> list[str]:
    """The columns' names, in lower case without blanks."""
    # A name may hold one blank, "Latency (us)"; between names there are at least two.
    columns = ["".join(name.lower().split()) for name in re.split(r"\s{2,}|\t", text.strip())]
    if not any(name in _METRICS for name in columns):
        raise LeadlineError(f"{place}: none of the columns {', '.join(columns)} is a latency or bandwidth")
    return columns


def _cell(words: list[str], columns: list[str], place: str) -> Cell:
    """One row: its size, and the columns that are metrics."""
    if len(words) != len(columns):
        raise LeadlineError(
            f"{place}: this row has {len(words)} of {len(columns)} columns; mend or cut the line"
        )
    row = dict(zip(columns, words, strict=True))
    size = {"bytes": int(number(row["size"], place))} if "size" in row else {}
    if row.get("validation", "").lower() == "fail":
        return Cell(size, reason=f"{place}: the suite's own validation of the data failed", failed=True)
    values = {
        metric: number(row[name], place) * unit for name, (metric, unit) in _METRICS.items() if name in row
    }
    batch = int(number(row["iterations"], place)) if "iterations" in row else None
    return Cell(size, values, batch)


def _own_name(title: str) -> str:
    """The name of a program that asks what no benchmark of ours asks: its title, as a word."""
    return "osu_" + re.sub(r"[^a-z0-9]+", "_", title.removeprefix("MPI ").lower()).strip("_")
