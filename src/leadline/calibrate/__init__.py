"""A described machine from a real run: what the simulator must know, each number with its interval.

The engine's model of a message (`native/machine/engine.cpp`) has a cost at each end and a way between.
Ping-pong tells their sum, overhead how much of it falls to each end, bandwidth the slower end; they are
fitted together (`_rows`). What else a node has is told by a benchmark of its own (`_node`). What a run lacks
is not guessed: the machine goes without, and a note says which benchmark would tell it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

from leadline.analysis.bootstrap import bounds
from leadline.calibrate import _cold, _node, _own, _protocol_fit, _selection
from leadline.calibrate._evidence import BOTH, STREAM, WHOLE, Evidence, between_nodes, evidence, missing
from leadline.calibrate._shared import Streams, streams
from leadline.calibrate._values import FASTEST, Value
from leadline.calibrate._write import Entry, machine_text, source
from leadline.core.errors import UsageError
from leadline.core.units import format_bytes

__all__ = ["Calibration", "Value", "calibrate"]

# Whose choice of collective algorithms the simulator knows, by what an MPI's name and version begin with.
LIBRARIES = {
    "mpich-3.": "mpich-3",
    "mpich-4.": "mpich-4",
    "mpich-5.": "mpich-4",
    "openmpi-4.1": "openmpi-4",
    "openmpi-5.": "openmpi-4",
}
# What is in no table and told by every core at once: its key, the benchmark, and what it tells.
CORES = (
    ("copy", "copy", "how fast a core copies"),
    ("reduce", "combine", "how fast a core sums"),
)
ROW_BENCHMARKS = ("pingpong", "bandwidth", "overhead")
CROSSING_BENCHMARKS = ("bibandwidth", "pingpong")
BOTH_WAYS = 1.7  # times what goes one way, from which a link is taken to move as much each way
ONE_WAY = 2**0.5  # the same, up to which it is nearer to one way at a time
LINK_FROM = ("bandwidth", "pingpong")


@dataclass
class Calibration:
    """The tables of a machine file, and sentences on what the run did not tell."""

    run: str
    title: str
    about: str
    top: dict[str, Entry] = field(default_factory=dict)  # what is in no table
    tables: dict[str, dict[str, Entry]] = field(default_factory=dict)
    rows: dict[str, list[dict[str, Entry]]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def toml(self) -> str:
        """The machine file."""
        return machine_text(
            {"title": self.title, "about": self.about}, self.run, {"": self.top, **self.tables}, self.rows
        )

    def numbers(self) -> list[dict[str, Any]]:
        """Every number with its key, interval and source, as an object each."""
        named = [("", self.top), *self.tables.items()]
        named += [(f"{name}.{_label(row)}", row) for name, rows in self.rows.items() for row in rows]
        return [
            {
                "key": f"{name}.{key}" if name else key,
                "value": entry.value,
                "unit": entry.unit,
                "low": entry.low,
                "high": entry.high,
                "source": source(entry, self.run),
            }
            for name, table in named
            for key, entry in table.items()
            if isinstance(entry, Value)
        ]


def _label(row: Mapping[str, Entry]) -> str:
    """What a row is called: its name, or the memory that it is about."""
    walked = row.get("walked")
    return format_bytes(round(walked.value)) if isinstance(walked, Value) else str(row["name"])


def calibrate(
    records: pl.DataFrame,
    provenance: Mapping[str, object],
    *,
    mpi: str | None = None,
    stack: str | None = None,
    placement: str | None = None,
    run: str | None = None,
) -> Calibration:
    """The machine that a run's records tell of, under one MPI and stack.

    `placement` is that of the two ranks on one node; core-group is taken where it is not said, else default.
    Raises UsageError where a choice is needed, also where the run lacks what every machine needs.
    """
    records = _selection.chosen(records, mpi, stack, run)
    first = records.row(0, named=True)
    made = Calibration(
        run=first["run"],
        title=f"Calibrated on {first['run']}: {first['mpi']}",
        about=_about(provenance, first),
    )
    near = _selection.within_node(records, placement)
    far = records.filter(pl.col("placement") == _selection.NODES)
    if "pingpong" not in far.get_column("benchmark"):
        far = far.clear()
    _topology(made, records, bool(far.height), provenance)
    _node_table(made, records, near, provenance)
    within = _evidence(near) if near.height else None
    if within:
        path = _add_path(made, within, "local_protocol" if far.height else "protocol")
        cold = _cold.rows(near, lambda sizes: path.asks(within, sizes))
        _add_rows(made, "cold", "cold", cold, "what messages cost after a computation")
    if far.height:
        shared = streams(far)
        told = _evidence(far, lambda those: between_nodes(those, shared, within))
        _add_path(made, told, "protocol", ("multistream",) if shared and shared.filled else LINK_FROM)
        _links(made, told, shared)
    if not near.height and not far.height:
        raise UsageError(_lacks(sorted(ROW_BENCHMARKS)))
    own = _own.rows(records)
    _add_rows(made, "own_protocol", "own", own, "what a message of a rank to itself costs")
    for begin, library in LIBRARIES.items():
        if str(first["mpi"]).startswith(begin):
            made.top["library"] = library
    _collectives(made, records, near)
    if found := _node.noise(records):
        made.tables["noise"] = dict(found)
    elif "noise" not in records.get_column("benchmark"):
        made.notes.append(_lacks(["noise"], "detours of the cores"))
    return made


def _collectives(made: Calibration, records: pl.DataFrame, near: pl.DataFrame) -> None:
    """What a core does in a collective beside its messages."""
    if (overhead := _node.collective_overhead(near)) is not None:
        made.top["collective_overhead"] = overhead
    elif "allgather" not in near.get_column("benchmark"):
        made.notes.append(_lacks(["allgather"], "what a core takes to begin a collective"))
    for key, benchmark, what in CORES:
        if rate := _node.rate_of_cores(records, benchmark):
            made.top[key] = rate
        elif benchmark not in records.get_column("benchmark"):
            made.notes.append(_lacks([benchmark], what))


def _about(provenance: Mapping[str, Any], first: Mapping[str, Any]) -> str:
    """What was measured, where and when, in a sentence."""
    machine = provenance.get("machine") or {}
    where = machine.get("cpu") or "a processor of unknown name"
    when = str(provenance.get("date", "")).partition("T")[0] or "an unknown day"
    return (
        f"{where}, {first['mpi']} over {first['transport'] or first['stack']}, measured on {when}. "
        "Each number has the 95 % interval that launches give."
    )


def _add_rows(made: Calibration, table: str, benchmark: str, rows: list[dict[str, Entry]], what: str) -> None:
    """The rows of a table, or a note that the run does not tell them."""
    if rows:
        made.rows[table] = rows
    else:
        made.notes.append(_lacks([benchmark], what))


def _lacks(benchmarks: list[str], what: str = "what a message costs") -> str:
    """The sentence on what a run does not tell."""
    return f"{what} cannot be estimated: the run lacks {' and '.join(benchmarks)}; {_selection.HINT}"


def _evidence(records: pl.DataFrame, of: Callable[[pl.DataFrame], Evidence] = evidence) -> Evidence:
    """The evidence of a way; UsageError where the records lack something."""
    if lacking := missing(records):
        raise UsageError(_lacks(lacking))
    return of(records)


def _add_path(
    made: Calibration, told: Evidence, table: str, link_from: tuple[str, ...] = LINK_FROM
) -> _protocol_fit.Path:
    """The protocol rows of a way, and what its messages share."""
    path = _protocol_fit.fit(told, between_nodes=table == "protocol" and "links" in made.tables)
    made.rows[table] = [_row(told, path, i) for i in range(len(path.rows))]
    if "wire" in path.shared:
        _both_ways(made, told, path)
    latency = _shared(told, path, "latency", "s")
    if "wire" not in path.shared:
        made.tables["node"]["local_latency"] = latency
    else:
        made.tables["links"]["base"] = latency
        if rate := _rate(path.shared["wire"], told.launches, link_from):
            made.tables["links"]["rate"] = rate
        if path.shared["message_gap"].value > 0:
            made.tables["node"]["message_gap"] = _shared(told, path, "message_gap", "s")
    if path.early:
        made.notes.append(
            f"messages of {format_bytes(round(path.early[0]))} to {format_bytes(round(path.early[-1]))} come "
            "sooner than the rate of the link allows, as where a limiter lets bursts pass: they are not "
            "fitted, and single messages of these sizes take less than the machine says"
        )
    worst = [f"{name} by {100 * off:.0f} %" for name, off in path.misses.items()]
    made.notes.append(f"[[{table}]] misses (median over sizes): {', '.join(worst)}")
    return path


def _both_ways(made: Calibration, told: Evidence, path: _protocol_fit.Path) -> None:
    """Whether a link that holds streams up moves as much both ways at once, with a handshake and without."""
    if not told.wire or BOTH not in told.sizes:
        return
    sizes = told.sizes[BOTH]
    asks = path.asks(told, sizes)
    # Of the time that streams one way and the other would take after each other.
    streams = np.stack([np.interp(sizes, told.sizes[STREAM], draw) for draw in told.draws[STREAM]])
    gains = 2 * told.at(STREAM, sizes) / told.typical[BOTH]
    drawn = 2 * streams / told.draws[BOTH]
    linked = path.of_cores(told, sizes) < BOTH_WAYS / 2 * told.typical[BOTH]  # else the cores hold them up
    for those, which in ((linked & ~asks, "without"), (linked & asks, "with")):
        if not those.any() or (gain := float(np.median(gains[those]))) >= BOTH_WAYS:
            continue
        said = f"messages {which} a handshake move {gain:.2f} times as much both ways at once as one way"
        low, high = bounds(np.median(drawn[:, those], axis=1), told.launches)
        if which == "with" and (gain if low is None or high is None else high) < ONE_WAY:
            for row in made.rows["protocol"]:
                row.update({"one_way": True} if "handshake" in row else {})
            made.notes.append(f"{said}: grants wait for the data of the other way (one_way)")
        else:
            made.notes.append(
                f"{said}, where a link moves twice as much: exchanges take longer than simulated"
            )


def _shared(told: Evidence, path: _protocol_fit.Path, name: str, unit: str) -> Value:
    """A number that all rows of a way share."""
    one = path.shared[name]
    return Value.drawn(one.value, one.draws, told.launches, unit, ROW_BENCHMARKS)


def _row(told: Evidence, path: _protocol_fit.Path, index: int) -> dict[str, Entry]:
    """One row of the protocol table."""
    row, numbers = path.rows[index], path.numbers[index]
    made: dict[str, Entry] = {"name": _name(path.rows, index)}
    if index + 1 < len(path.rows):
        # It changes somewhere after the last size of this row and up to the first of the next.
        last, first = (float(told.sizes[WHOLE][at]) for at in (row.end - 1, row.end))
        made["up_to"] = Value(float(np.sqrt(last * first)), "B", last, first, ("pingpong", "overhead"))
    for key, one in numbers.items():
        if key.endswith("_copy"):
            if rate := _rate(one, told.launches, ROW_BENCHMARKS):
                made[key] = rate
        else:
            benchmarks = CROSSING_BENCHMARKS if key == "crossing_latency" else ROW_BENCHMARKS
            made[key] = Value.drawn(one.value, one.draws, told.launches, "s", benchmarks)
    if row.handshake:
        made["handshake"] = True
        made["handshake_overhead"] = _shared(told, path, "handshake_overhead", "s")
    return made


def _rate(cost: _protocol_fit.Fitted, launches: int, benchmarks: tuple[str, ...]) -> Value | None:
    """A rate from a cost a byte; None where the bytes cost nothing."""
    if cost.value * FASTEST < 1:
        return None
    with np.errstate(divide="ignore"):
        return Value.drawn(1 / cost.value, 1 / cost.draws, launches, "B/s", benchmarks)


def _name(rows: list[_protocol_fit.Row], index: int) -> str:
    """Rows are named for what they do: the last before the handshake is eager, those before it are short."""
    if rows[index].handshake:
        nth = index - next(i for i, row in enumerate(rows) if row.handshake)
        return "rendezvous" if nth == 0 else f"rendezvous-{nth + 1}"
    if index + 1 == len(rows) or rows[index + 1].handshake:
        return "eager"
    return "short" if index == 0 else f"short-{index + 1}"


def _topology(made: Calibration, records: pl.DataFrame, several: bool, provenance: Mapping[str, Any]) -> None:
    """The topology and, where there are several nodes, an empty table of links."""
    if not several:
        made.tables["topology"] = {"kind": "single"}
        return
    bindings = records.get_column("binding").drop_nulls().to_list()
    hosts = {place.partition(":")[0] for binding in bindings for place in binding.split()}
    count, said = len(hosts), "hosts of the run's ranks, taken as nodes of one switch"
    if simulated := provenance.get("simulated"):
        count = -(-simulated["partition"] // provenance["described"]["node"]["ranks"])
        said = "nodes that the run was simulated on, taken as those of one switch"
    arity = Value(max(2, count), "shape", source=said)
    made.tables["topology"] = {"kind": "fat-tree", "arity": arity}
    made.tables["links"] = {}
    if count > 2:
        made.notes.append(f"{count} hosts are taken as nodes of one switch: no benchmark tells more")


def _links(made: Calibration, told: Evidence, shared: Streams | None) -> None:
    """What is left of the links: a hop is not told apart from the network's ends, and a link may have more
    to give than was asked of it.
    """
    links = made.tables["links"]
    if shared is None:
        taken = "the link, which ranks of a node share" if told.wire else "what single messages tell"
        made.notes.append(
            "one stream at a time between nodes does not tell whether the link or the cores at its ends hold "
            f"it up: taken is {taken}; "
            + _lacks(["multistream of 1 and 2 pairs with placement = nodes"], "which it is")
        )
    elif not shared.filled:
        rate = links.get("rate")
        if not isinstance(rate, Value) or rate.value < shared.rate:
            said = f"at least, from multistream on {made.run}: {shared.pairs} pairs do not fill the link"
            links["rate"] = Value(shared.rate, "B/s", source=said)
        made.notes.append(
            f"{shared.pairs} pairs between two nodes move {shared.rate / shared.alone:.2f} times as much as "
            "one: the cores hold a stream up, and the rate of the link is what is left of single messages"
        )
    nothing = Value(0.0, "s", source="one hop was measured, so that hops are part of the base")
    links.setdefault("hop", nothing)
    if "rate" not in links:
        raise UsageError(_lacks(["bandwidth of large messages between nodes"], "the rate of a link"))


def _node_table(
    made: Calibration, records: pl.DataFrame, near: pl.DataFrame, provenance: Mapping[str, Any]
) -> None:
    """Cores and sockets as hwloc saw them, and the node's own times."""
    machine, hwloc = provenance.get("machine") or {}, f"hwloc, at the run {made.run}"
    if described := provenance.get("described"):  # the run was simulated
        node_of = described["node"]
        machine = {
            "cores": node_of["cores"],
            "packages": node_of.get("sockets", 1),
            "threads_per_core": node_of.get("threads", 1),
        }
        hwloc = f"the machine that {made.run} was simulated on"
    ranks = int(records.get_column("ranks").cast(pl.Int64).max() or 1)  # type: ignore[arg-type]
    cores = int(machine.get("cores") or ranks)
    told = hwloc if machine.get("cores") else "the most ranks of the run, which does not tell its cores"
    node: dict[str, Entry] = {
        "cores": Value(cores, "1", source=told),
        "ranks": Value(cores, "1", source=told),
    }
    for key, fact in (("sockets", "packages"), ("threads", "threads_per_core")):
        if (machine.get(fact) or 1) > 1:
            node[key] = Value(machine[fact], "1", source=hwloc)
    made.tables["node"] = node
    far = records.filter(pl.col("placement") == _selection.SOCKETS)
    if found := _node.socket_latency(near, far):
        node["socket_latency"] = found
    elif (machine.get("packages") or 1) > 1:
        made.notes.append(_lacks(["pingpong with placement = sockets"], "the way between sockets"))
    if found := _node.match(records):
        node["match"] = found
    else:
        made.notes.append(_lacks(["matching"], "what a queue costs"))
    computing = _node.computing(records, cores)
    node |= computing
    if lacking := [name for name in ("memory", "flops") if name not in computing]:
        made.notes.append(
            _lacks(["jacobi on one rank and on all cores"], f"node.{' and node.'.join(lacking)}")
        )
