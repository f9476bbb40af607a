"""The output of the Intel MPI Benchmarks, versions 3 to 2021, MPI-1 part and the others.

Each benchmark prints its name, the number of processes, its columns and a row a size. Times are microseconds;
a PingPong's is half a round trip. An Mbyte is 1e6 bytes in present versions (user guide: "million bytes per
second") and was 2**20 in old ones: a table with a message rate tells which, so it is computed, not believed.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median

from leadline.analysis.importers import _collectives
from leadline.analysis.importers.table import Cell, Table, is_row, number, whole, word
from leadline.core.errors import UsageError

TITLE = "Intel MPI Benchmarks"

_SUITE = re.compile(
    r"Intel ?\(R\) MPI Benchmarks?(?: Suite)? V?(?P<version>\S+?(?: [Uu]pdate \d+)?), "
    r"(?P<part>.+? part(?: \(GPU\))?)"
)
_NAME = re.compile(r"#\s*Benchmarking\s+(?P<name>\S+)")
_PROCESSES = re.compile(r"#\s*#processes = (?P<ranks>\d+)")
_GROUPS = re.compile(r"#\s*\(\s*(?P<groups>\d+) groups of (?P<ranks>\d+) processes")
_MODE = re.compile(r"#\s*MODE: (?P<mode>\S+)")
_COLUMNS = re.compile(r"(?:Group\s+)?(?:#bytes\s+)?#repetitions\s.*")
_LEFT_OUT = re.compile(r"(?P<size>\d+)\s+(?P<reason>(?:out-of-mem|int-overflow).*)")
_WINDOW_OPTION = re.compile(r"-window_size\s+(?P<window>\d+)")
_DATA = re.compile(r"#\s*(?P<name>MPI_Datatype for reductions|MPI_Datatype|MPI_Op)\s*:\s*(?P<value>\S+)")
# What the suite takes unless options say otherwise; of what is reduced only where something is.
_USUAL = {"MPI_Datatype": "MPI_BYTE", "MPI_Datatype for reductions": "MPI_FLOAT", "MPI_Op": "MPI_SUM"}
_REDUCES = re.compile(r"reduce|scan|accumulate", re.IGNORECASE)
_DEFECTS = "defects"  # a column with -DCHECK: how far the data are wrong
_OFF_CACHE = re.compile(r"-off_cache\s+(?!-1\b|0\b)\S+")

_NO_SYNC = re.compile(r"-sync\s+(?:off|0|disable|no)\b")
_ROOT_SHIFT = re.compile(r"-root_shift\s+(?:on|1|enable|yes)\b")
_SYNCED = 2018  # from this version on a barrier is known to follow each call

# The column that is the time of one operation, the best known first.
_TIMES = ("t[usec]", "t_avg[usec]", "t_pure[usec]")
_SLOWEST = "t_max[usec]"
_BANDWIDTH, _RATE = "Mbytes/sec", "Msg/sec"
_MEGA = (1e6, 2.0**20)
_READ = {
    "#bytes",
    "#repetitions",
    "Group",
    "t[usec]",
    "t_avg[usec]",
    "t_pure[usec]",
    _BANDWIDTH,
    _RATE,
    _DEFECTS,
}

_WINDOW = 64  # sends under way in Uniband and Biband, unless -window_size says otherwise (user guide)


def tables(path: Path, lines: Sequence[str]) -> Iterator[Table]:
    """The tables of numbers in a text, one for each benchmark, number of processes and mode.

    Raises UsageError, with file and line, where there is none, and for a row that does not fit.
    """
    starts = [number_ for number_, line in enumerate(lines) if _NAME.match(line.strip())]
    if not starts:
        raise UsageError(
            f"{path}:1: this is no output of the {TITLE}; it has a line like '# Benchmarking PingPong'"
        )
    before = next((n for n in range(starts[0]) if _COLUMNS.fullmatch(lines[n].strip())), None)
    if before is not None:
        raise UsageError(f"{path}:{before + 1}: this table has no title, so it is not known what it is of")
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        # Of several runs in one text the last that began is the one that this table belongs to.
        begun = max((n for n in range(start) if _SUITE.search(lines[n])), default=0)
        yield _table(path, lines[start:end], start + 1, "\n".join(lines[begun:start]))


def _table(path: Path, lines: Sequence[str], first: int, above: str) -> Table:
    """The table that begins with a benchmark's name on line number `first`; `above` is its run's heading."""
    name, ranks, told = "", None, dict[str, int | str]()
    columns: list[str] | None = None
    rows: list[tuple[str, dict[str, str]]] = []
    left_out: list[Cell] = []
    for number_, raw in enumerate(lines, start=first):
        line, place = raw.strip(), f"{path}:{number_}"
        if match := _NAME.match(line):
            name = match["name"]
        elif match := _PROCESSES.match(line):
            ranks = whole(match["ranks"], place)
        elif match := _GROUPS.match(line):
            told["groups"] = groups = whole(match["groups"], place)
            ranks = whole(str(groups * whole(match["ranks"], place)), place)
        elif match := _MODE.match(line):
            told["mode"] = match["mode"].lower()
        elif _COLUMNS.fullmatch(line):
            if rows or left_out:
                raise UsageError(f"{place}: this table has no title, so it is not known what it is of")
            columns = line.split()
        elif columns and (match := _LEFT_OUT.fullmatch(line)):
            left_out.append(Cell({"bytes": whole(match["size"], place)}, reason=match["reason"].strip()))
        elif columns and is_row(line):
            rows.append((place, _row(line.split(), columns, place)))
    suite = _SUITE.search(above)
    benchmark, coordinates = _meaning(name, ranks, suite["part"] if suite else "MPI-1 part", above)
    mega = _mega(rows)
    read = _READ | ({_SLOWEST} if "cadence" in coordinates else set())
    left = [column for column in columns or () if column not in read]
    window = coordinates.get("window")
    return Table(
        benchmark=benchmark,
        ranks=ranks,
        coordinates={**coordinates, **told, **({} if "type" in coordinates else _data(name, above))},
        version=suite["version"] if suite else "",
        cells=[_cell(row, mega, place, "cadence" in coordinates) for place, row in rows] + left_out,
        empty=f"{path}:{first}: no row of numbers follows this name",
        place=f"{path}:{first}",
        notes=[f"columns of {name} that were not read: {', '.join(left)}"] if left else [],
        assumed={"window": f"window of {name}: {window}"} if window is not None else {},
    )


def _data(name: str, above: str) -> dict[str, int | str]:
    """Data types and operation of a table, where they are not the usual ones."""
    found: dict[str, int | str] = {}
    for match in _DATA.finditer(above):
        reduces = match["name"] != "MPI_Datatype"
        if match["value"] != _USUAL[match["name"]] and (not reduces or _REDUCES.search(name)):
            found["operation" if match["name"] == "MPI_Op" else "datatype"] = word(match["value"])
    return found


def _meaning(name: str, ranks: int | None, part: str, above: str) -> tuple[str, Mapping[str, int | str]]:
    """What a benchmark is called here, with the coordinates that its name and options stand for.

    What asks the same as one of ours has its name; everything else keeps its own with "imb_" before it.
    """
    option = _WINDOW_OPTION.search(above)
    window = whole(option["window"], "option -window") if option else _WINDOW
    if part == "MPI-1 part" and name in {"PingPong", "PingPongSpecificSource"} and ranks == 2:
        return "pingpong", {"buffers": "rotated" if _OFF_CACHE.search(above) else "reused"}
    if part == "MPI-1 part" and name == "Uniband" and ranks is not None:
        if ranks == 2:
            return "bandwidth", {"window": window}
        return "multistream", {"pairs": ranks // 2, "window": window}
    if part == "MPI-1 part" and name == "Biband" and ranks == 2:
        return "bibandwidth", {"window": window}
    if part == "MPI-1 part" and (ours := _collective(name, above)):
        return ours
    kind = re.sub(r"^(?:MPI|IMB)-| part", "", part) if part != "MPI-1 part" else ""
    words = f"{kind} {name}"
    return "imb_" + word(words), {}


def _collective(name: str, above: str) -> tuple[str, Mapping[str, int | str]] | None:
    """A collective as a point of ours, where options leave the suite's own loop: a barrier after each call.

    Its barriers follow one another, and with -sync off all do. A root that moves (-root_shift), operations
    or buffers out of cache that are asked for are the suite's own, and so are versions whose loop is unknown.
    """
    version = re.search(r"\d+", suite["version"]) if (suite := _SUITE.search(above)) else None
    if version and int(version[0]) < _SYNCED:
        return None
    alone = name == "Barrier" or bool(_NO_SYNC.search(above))
    asked = {match["name"]: match["value"] for match in _DATA.finditer(above)}
    if _ROOT_SHIFT.search(above) or _OFF_CACHE.search(above) or asked.get("MPI_Op", "MPI_SUM") != "MPI_SUM":
        return None
    kind = word(asked.get("MPI_Datatype for reductions", "MPI_FLOAT"))
    return _collectives.meaning(name, "back-to-back" if alone else "imb", kind)


def _row(words: list[str], columns: list[str], place: str) -> dict[str, str]:
    """One row: column to word."""
    if len(words) != len(columns):
        raise UsageError(
            f"{place}: this row has {len(words)} of {len(columns)} columns; mend or cut the line"
        )
    if not {*_TIMES, _BANDWIDTH} & set(columns):
        raise UsageError(f"{place}: none of the columns {', '.join(columns)} is a time or bandwidth")
    return dict(zip(columns, words, strict=True))


def _cell(row: Mapping[str, str], mega: float, place: str, collective: bool) -> Cell:
    """The point and the values of one row in SI units; bandwidth only where no time is told.

    A `collective` of ours has the mean over the ranks and the slowest rank's time.
    """
    at: dict[str, int | str] = {"bytes": whole(row["#bytes"], place)} if "#bytes" in row else {}
    if "Group" in row:
        at["group"] = whole(row["Group"], place)
    if _DEFECTS in row and number(row[_DEFECTS], place) > 0:
        return Cell(at, reason=f"{place}: the suite's own check of the data failed", failed=True)
    time = next((row[column] for column in _TIMES if column in row), None)
    if time is not None:
        values = {"mean" if collective else "latency": number(time, place) * 1e-6}
        if collective and _SLOWEST in row:
            values["time"] = number(row[_SLOWEST], place) * 1e-6
    else:
        # Of messages without bytes there is a rate but no bandwidth.
        values = {"bandwidth": number(row[_BANDWIDTH], place) * mega} if at.get("bytes") != 0 else {}
        if _RATE in row:
            values["message_rate"] = number(row[_RATE], place)
    return Cell(at, values, batch=whole(row["#repetitions"], place))


def _mega(rows: Sequence[tuple[str, Mapping[str, str]]]) -> float:
    """What an Mbyte is in a table: bytes times messages a second, over Mbytes a second; 1e6 if untold."""
    if not rows or not {"#bytes", _BANDWIDTH, _RATE} <= set(rows[0][1]):
        return _MEGA[0]
    told = [
        number(row["#bytes"], place) * number(row[_RATE], place) / mbytes
        for place, row in rows
        if (mbytes := number(row[_BANDWIDTH], place)) >= 10  # below, its two decimals are too coarse
    ]
    if not told:
        return _MEGA[0]
    nearest = min(_MEGA, key=lambda mega: abs(median(told) / mega - 1))
    if abs(median(told) / nearest - 1) > 0.01:
        raise UsageError(f"{rows[0][0]}: Mbytes and messages a second of this table do not fit each other")
    return nearest
