"""Records of toy machines on which every claim of the papers holds, by laws that can be done by hand."""

from collections.abc import Callable, Iterator
from itertools import product
from math import ceil
from typing import Any

from leadline import record
from leadline.reproduce.results import Constant, Machines, Results

Row = dict[str, Any]

LATENCY, HOP, LINK = 2.8e-6, 58e-9, 375e6  # s, s for each hop after the first, B/s: 3.0 Gb/s
BOTH = ["XYZT", "TXYZ"]
MEGABYTE = 1_000_000
SIZES = [8, 512, 1024, 65536, 1 << 20, 4 << 20]
PAYLOAD, HEADER = 240, 16  # B, of a packet, and of an eager message
TREE = 2.98e-3  # s, of 1 MB
PACKET = PAYLOAD / 154e6  # s, of a packet at a Blue Gene/L link's payload bandwidth


def _points(benchmark: str, metric: str, law: Callable[[Row], float], **axes: Any) -> Iterator[Row]:
    """A record for every combination of the axes' values, with what the law gives there.

    An axis is a list, or the one value that all points have.
    """
    lists = [each if isinstance(each, list | range) else [each] for each in axes.values()]
    for values in product(*lists):
        point = dict(zip(axes, values, strict=True))
        yield {
            **{"run": "toy", "source": record.SIMULATED, "mpi": "toy", "stack": "auto", "ranks": 2},
            **{"protocol": "default", "placement": "default", "launch": 0, "status": record.OK},
            **{"benchmark": benchmark, "metric": metric, "unit": "s" if law(point) < 1e3 else "B/s"},
            **{"better": "lower", "samples": [law(point)], "warmup": 0, "partition": 2048},
            **point,
        }


def _time(point: Row) -> float:
    """One-way time, s."""
    hops = max(1, int(point.get("distance", 3)) - 2)
    return LATENCY + (hops - 1) * HOP + float(point["bytes"]) / LINK


def _congested(point: Row) -> float:
    """All of a link for the pair whose traffic passes through, a twentieth for the one that begins there."""
    through = point["measured"] == "first" or point["other"] == "idle"
    return LINK if through else LINK / 20


def _streams(point: Row) -> float:
    """A message every LATENCY from each pair, as far as the link goes."""
    return float(min(LINK, point["pairs"] * point["bytes"] / LATENCY))


def _hotspot(point: Row) -> float:
    """In proportion to the workers; less through a tree."""
    return float(point["workers"]) * {"flat": 1e-6, "tree": 0.3e-6}[point["shape"]]


def _fan(point: Row) -> float:
    """Up to 13 Gb/s in and 18 Gb/s out, B/s."""
    return float(point["neighbours"]) / 6 * {"in": 1625e6, "out": 2250e6}[point["direction"]]


def _barrier(point: Row) -> float:
    """Hardware's for all, ten times that for all but one, s."""
    return {"world": 1.6e-6, "dup": 1.6e-6, "world-1": 16e-6}[point["communicator"]]


def bgp() -> list[Row]:
    """The points of the plan bgp that its claims ask for."""
    busy = {"pattern": ["nested", "overlapping"], "measured": ["first", "second"], "other": ["idle", "busy"]}
    far = ["XYZT", "mappings/bgp-farthest.txt"]
    through = {6: "mappings/bgp-through-intra.txt", 4: "mappings/bgp-through-link.txt"}
    workers = [64, 1024, 4096, 131071]
    parts = ["world", "dup", "world-1"]
    made = [
        _points("pingpong", "latency", _time, mapping=BOTH, bytes=SIZES, buffers=["reused", "rotated"]),
        _points("bandwidth", "bandwidth", lambda _: LINK, mapping="XYZT", bytes=SIZES),
        _points("bandwidth", "bandwidth", lambda _: 6 * LINK, mapping="TXYZ", bytes=SIZES),
        _points("bandwidth", "bandwidth", lambda _: LINK, mapping=far, bytes=SIZES, partition=131072),
        _points("corepairs", "latency", _time, pair=["0-1", "0-2", "0-3"], bytes=SIZES),
        _points(
            *("distance", "latency", _time),
            mapping="mappings/bgp-hops.txt",
            partition=131072,
            distance=[3, 14, 50],
            bytes=[0, *SIZES],
        ),
        *(
            _points("flowthrough", "bandwidth", lambda _: LINK, mapping=file, traffic=[0, n], bytes=SIZES)
            for n, file in through.items()
        ),
        _points("congestion", "bandwidth", _congested, **busy, bytes=[65536, 1 << 20]),
        _points("multistream", "bandwidth", _streams, pairs=[1, 2, 4], bytes=SIZES),
        _points("hotspot", "latency", _hotspot, shape=["flat", "tree"], workers=workers, bytes=[8, 4096]),
        _points("fan", "bandwidth", _fan, direction=["in", "out"], neighbours=[1, 3, 6], bytes=65536),
        _points("barrier", "time", _barrier, ranks=[2048, 131072], communicator=parts),
    ]
    return [row for rows in made for row in rows]


def _megabyte(point: Row) -> float:
    """Time of 1 MB in messages of a size: each a cost of its own, and its packets."""
    own = {"eager": 1.0e-6, "rendezvous": 3.6e-6}[point["protocol"]]
    size = int(point["bytes"])
    return 1e6 / size * (2.05e-6 if size <= 120 else own + ceil((size + HEADER) / PAYLOAD) * PACKET)


def _sum(point: Row) -> float:
    """The tree adds integers as it goes, and doubles in several phases, s."""
    return {"int64": TREE, "double": 3.5 * TREE}[point["type"]]


def bgl() -> list[Row]:
    """The points of the plans bgl and bgl-vn that their claims ask for."""
    sizes = [*range(8, 121, 8), 121, *range(124, 1201, 4), 10240, 65536, MEGABYTE]
    forced = list(_points("protocol", "time", _megabyte, protocol=["eager", "rendezvous"], bytes=sizes))
    default = [{**row, "protocol": "default"} for row in forced if row["protocol"] == "eager"]
    axis, offaxis = "mappings/bgl-axis.txt", "mappings/bgl-offaxis.txt"
    world = {"communicator": "world", "bytes": MEGABYTE}
    near, far = range(3, 11), range(4, 11)
    made = [
        _points("distance", "bandwidth", lambda _: 150e6, mapping=axis, bytes=MEGABYTE, distance=near),
        _points("distance", "bandwidth", lambda _: 153e6, mapping=offaxis, bytes=MEGABYTE, distance=far),
        _points("bandwidth", "bandwidth", lambda _: 1670e6, mpi="bgl-vn", mapping="TXYZ", bytes=SIZES),
        _points("bcast", "time", lambda _: TREE, ranks=[512, 4096], **world),
        _points("allreduce", "time", _sum, ranks=4096, type=["int64", "double"], **world),
    ]
    return [*forced, *default, *(row for rows in made for row in rows)]


POINTS = {"bgp": bgp, "bgl": bgl}

MACHINES = Machines(
    constants={
        name: Constant(value, "toy", "links.rate")
        for name, value in {
            **{"bgp.link": 425e6, "bgp.barrier-hw": 1.3e-6, "bgp.collective-net": 5.1e9},
            **{"bgl.link": 154e6, "bgl.tree": 337e6, "bgl.tree-latency": 2.5e-6},
            **{"bgl.barrier-hw": 1.5e-6, "bgl.packet": 256.0, "bgl.short-limit": 120.0},
        }.items()
    },
    descriptions={
        "bgl": {
            "protocol": [{"name": "eager", "header": HEADER}],
            "packets": {"payload": PAYLOAD, "overhead": 32},
            "links": {"rate": 154e6 * (PAYLOAD + 32) / PAYLOAD},
        }
    },
)


def results(rows: list[Row], machines: Machines = MACHINES) -> Results:
    """Rows as the claims see them."""
    return Results(record.frame(rows), machines)
