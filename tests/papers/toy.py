"""Records of toy machines on which every claim of the papers holds, by laws that can be done by hand."""

from collections.abc import Callable, Iterator
from itertools import permutations, product
from math import ceil, prod
from typing import Any

from leadline.core import record
from leadline.papers.results import Constant, Machines, Results
from leadline.predict import ft as nas
from planted import frame_of

from . import toy_io

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


def _alone(point: Row) -> float:
    """Ten times as long without the last process, s."""
    return {"world": 1.6e-3, "dup": 1.6e-3, "world-1": 16e-3}[point["communicator"]]


def _at_once(point: Row) -> float:
    """The number of communicators that work at once."""
    return float(point["communicator"].removeprefix("cores-"))


def _coalesced(point: Row) -> float:
    """What several need is carried by the messages of one, s."""
    return 100e-6 / _at_once(point)


def _shared(point: Row) -> float:
    """Three times as long where four share the links, s."""
    return 1e-3 * (1 + (_at_once(point) - 1) * 2 / 3)


def _gathered(point: Row) -> float:
    """What four need more than one grows with the system, s."""
    return 1e-3 * (1 + (_at_once(point) - 1) * float(point["ranks"]) / 131072)


ORDERS = ["".join(order) for order in permutations("XYZT")]


def _halo(point: Row) -> float:
    """Of 16,384 ranks the worst order takes twice as long as the best, of 131,072 three times, s."""
    most = {16384: 2.0, 131072: 3.0}[point["ranks"]] if point["edge"] == 1024 else 1.1
    return 10e-6 * (1 + (most - 1) * ORDERS.index(point["mapping"]) / (len(ORDERS) - 1))


def _collectives() -> list[Row]:
    """The points of sections 3.8 and 3.9."""
    cores = [f"cores-{count}" for count in range(1, 5)]
    both = {"communicator": cores, "ranks": [16384, 131072]}
    parts = ["world", "dup", "world-1"]
    made = [
        _points("barrier", "time", _barrier, ranks=[2048, 131072], communicator=parts),
        _points("barrier", "mean", _coalesced, **both),
        _points("bcast", "time", _alone, ranks=131072, communicator=parts, bytes=1 << 20),
        _points("bcast", "mean", _coalesced, bytes=4, **both),
        _points("bcast", "mean", _shared, bytes=16384, **both),
        _points("allreduce", "mean", lambda _: 2e-3, bytes=16384, **both),
        _points("allgather", "mean", _gathered, bytes=4, **both),
        _points("halo", "time", _halo, ranks=16384, edge=[2, 1024], mapping=ORDERS),
        _points("halo", "time", _halo, ranks=131072, edge=1024, mapping=[*ORDERS[:5], ORDERS[-1]]),
    ]
    return [row for rows in made for row in rows]


def bgp() -> list[Row]:
    """The points of the plan bgp that its claims ask for."""
    busy = {"pattern": ["nested", "overlapping"], "measured": ["first", "second"], "other": ["idle", "busy"]}
    far = ["XYZT", "mappings/bgp-farthest.txt"]
    through = {6: "mappings/bgp-through-intra.txt", 4: "mappings/bgp-through-link.txt"}
    workers = [64, 1024, 4096, 131071]
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
    ]
    return [*(row for rows in made for row in rows), *_collectives()]


def _megabyte(point: Row) -> float:
    """Time of 1 MB in messages of a size: each a cost of its own, and its packets."""
    own = {"eager": 1.0e-6, "rendezvous": 3.6e-6}[point["protocol"]]
    size = int(point["bytes"])
    return 1e6 / size * (2.05e-6 if size <= 120 else own + ceil((size + HEADER) / PAYLOAD) * PACKET)


BGL_LINK = 154e6  # B/s, payload


def _sum(point: Row) -> float:
    """The tree sums integers as it goes, doubles in phases; all else takes longer, s."""
    if point["reduction"] == "user":
        return 20 * TREE
    if point["communicator"] != "world":
        return {"p": 5.0, "b": 5.0, "s": 20.0}[point["communicator"][0]] * TREE
    return {("sum", "int64"): 1, ("sum", "double"): 3.5}.get((point["reduction"], point["type"]), 10) * TREE


def _deposited(point: Row) -> float:
    """Over one link along a part of a line, two along all of it, three and more on what is wider, s."""
    subset = point["communicator"]
    links = {"line-full": 2.0, "plane-full": 2.5}.get(subset, {"l": 1.0, "p": 2.0, "b": 2.5}.get(subset[0]))
    rate = BGL_LINK * (links or 0.5) * 0.99
    return MEGABYTE / rate


def _one(point: Row) -> float:
    """A node's bandwidth with its neighbours: less in virtual node mode but for collectives, B/s."""
    known = {"send": 1.0, "receive": 2.0, "exchange": 1.5}
    links = known[point["operation"]]
    virtual = point["mpi"] == "bgl-vn"
    if point["way"] == "nonblocking":
        links = 2.5 / 1.3 if virtual else 2.5
    elif point["way"] == "sendrecv":
        links = 1.6
    elif point["way"] == "collective" and point["operation"] == "exchange":
        links = 2.2
    return BGL_LINK * links


def _all(point: Row) -> float:
    """What goes through a node, half of it out: less with varying sizes, less than a link at random, B/s."""
    if point["mapping"] == "random:1":
        return {"nonblocking": 120e6}.get(point["way"], 200e6)
    best = {"collective": 800e6, "nonblocking": 780e6}.get(point["way"], 600e6)
    return best * (0.65 if point["variation"] == "varying" else 1.0)


def _subsets() -> list[Row]:
    """The points of sections 5 and 6."""
    whole: Row = {"bytes": MEGABYTE, "ranks": 4096, "mpi": "bgl"}
    two = {**whole, "ranks": 8192, "mpi": "bgl-vn"}
    rectangles = ["line-2", "line-4", "line-8", "line-15", "line-full", "plane-16x2", "plane-16x8"]
    rectangles += ["plane-16x15", "plane-full", "box-16x16x2", "box-16x16x8"]
    others = ["scattered-256", "scattered-2048"]
    three = ["world", "box-16x16x8", "scattered-2048"]
    both, ways = ["bgl", "bgl-vn"], ["blocking", "nonblocking", "sendrecv", "collective"]
    sums = {"type": ["int64", "double"], "reduction": ["sum", "product", "user"]}
    subsets = [*three, "plane-full", "scattered-256"]
    made = [
        _points("bcast", "time", lambda _: TREE, communicator="world", **{**whole, "ranks": [512, 4096]}),
        _points("bcast", "time", _deposited, communicator=[*rectangles, *others], **whole),
        _points("bcast", "time", lambda _: 0.04, communicator=three[1:], **two),
        _points("allreduce", "time", _sum, communicator=subsets, **sums, **whole),
        _points("bibandwidth", "bandwidth", lambda _: 2 * BGL_LINK, mpi="bgl", bytes=[4096, MEGABYTE]),
    ]
    for mode in both:
        here: Row = {"bytes": MEGABYTE, "mpi": mode}
        alone: Row = {"with": "compute", "communicator": "world"}
        with_bcast: Row = {"with": "bcast"}
        made += [
            _points("overlap", "together", lambda _: 1.0, **alone, **here),
            _points("overlap", "together", lambda _: 0.8, communicator=three, **with_bcast, **here),
            _points(
                *("neighbours", "bandwidth", _one),
                operation=["send", "receive", "exchange"],
                way=ways,
                **here,
            ),
        ]
    every = {"way": ways, "bytes": MEGABYTE, "mpi": "bgl", "variation": ["equal", "varying"]}
    made += [
        _points("allneighbours", "bandwidth", _all, mapping=["XYZT", "random:1"], ranks=4096, **every),
        _points("allneighbours", "bandwidth", _all, mapping="XYZT", ranks=1024, **every),
    ]
    return [row for rows in made for row in rows]


def bgl() -> list[Row]:
    """The points of the plans bgl and bgl-vn that their claims ask for."""
    sizes = [*range(8, 121, 8), 121, *range(124, 1201, 4), 10240, 65536, MEGABYTE]
    forced = list(_points("protocol", "time", _megabyte, protocol=["eager", "rendezvous"], bytes=sizes))
    default = [{**row, "protocol": "default"} for row in forced if row["protocol"] == "eager"]
    axis, offaxis = "mappings/bgl-axis.txt", "mappings/bgl-offaxis.txt"
    near, far = range(3, 11), range(4, 11)
    made = [
        _points("distance", "bandwidth", lambda _: 150e6, mapping=axis, bytes=MEGABYTE, distance=near),
        _points("distance", "bandwidth", lambda _: 153e6, mapping=offaxis, bytes=MEGABYTE, distance=far),
        _points("bandwidth", "bandwidth", lambda _: 1670e6, mpi="bgl-vn", mapping="TXYZ", bytes=SIZES),
    ]
    return [*forced, *default, *(row for rows in made for row in rows), *_subsets()]


ORFEO = {"orfeo-thin": (0.34e-6, 0.57e-6, 1.16e-6), "orfeo-gpu": (0.42e-6, 0.47e-6, 0.66e-6)}
LOADS = {  # elements of the fewest and the most by boxes: array, grid
    **{("2400x100x100", grid): (990_000, 1_020_000) for grid in ("8x3x1", "4x3x2")},
    **{("1200x200x100", grid): (990_000, 1_005_000) for grid in ("8x3x1", "4x3x2")},
    **{("800x300x100", grid): (990_000, 1_005_000) for grid in ("24x1x1", "12x2x1")},
    **{("800x300x100", grid): (997_500, 1_005_000) for grid in ("6x4x1", "6x2x2")},
    ("5x5x1", "4x1x1"): (5, 10),
    ("5x5x1", "2x2x1"): (4, 9),
}


def _turn(point: Row) -> float:
    """Two messages a step, which the farthest neighbours hold up, s."""
    ranks = int(point["ranks"])
    near, across, far = ORFEO[point["mpi"]]
    return 2 * ranks * (near if ranks <= 12 else across if ranks <= 24 else far)


def _load(which: int) -> Callable[[Row], float]:
    """The fewest (0) or the most (1) elements of a rank."""

    def law(point: Row) -> float:
        even = (6, 7) if point["array"] == "5x5x1" else (EVEN, EVEN)
        by_boxes = LOADS.get((point["array"], point["grid"]), (EVEN, EVEN))
        return float((even if point["split"] == "even" else by_boxes)[which])

    return law


EVEN = 1_000_000  # elements a rank of tables I to III


THREADED = ["24x1x1", "25x1x1", "32x1x1", "40x1x1", "48x1x1", "4x3x2", "5x5x1", "4x4x2", "5x4x2", "4x4x3"]


def _threaded(point: Row) -> float:
    """As many points a second from each process; 0.7 of it where some share a core."""
    ranks = prod(int(length) for length in point["grid"].split("x"))
    return 78e6 * ranks * (1.0 if ranks <= 24 else 0.7)


def _arrays() -> Iterator[Row]:
    """The sums of arrays of tables I to III, and of the example."""
    grids = ["24x1x1", "12x2x1", "8x3x1", "6x4x1", "6x2x2", "4x3x2"]
    tables: Row = {"array": ["2400x100x100", "1200x200x100", "800x300x100"], "grid": grids, "ranks": 24}
    example: Row = {"array": "5x5x1", "grid": ["4x1x1", "2x2x1"], "ranks": 4}
    for axes in (tables, example):
        for part, share in (("scatter", 0.87), ("gather", 0.12), ("rest", 0.01)):
            law = lambda _, share=share: share  # noqa: E731
            yield from _points("sum3d", part, law, split=["even", "sizes"], mpi="orfeo-thin", **axes)
        for which, metric in enumerate(("least", "most")):
            yield from _points(
                "sum3d", metric, _load(which), split=["even", "sizes"], mpi="orfeo-thin", **axes
            )


def orfeo() -> list[Row]:
    """The points of the plans orfeo and orfeo-gpu that their claims ask for."""
    ring: Row = {"mpi": list(ORFEO), "ranks": range(2, 49), "way": "in-turn", "bytes": 8}
    sizes = [0, *(2**k for k in range(29))]
    places = ["core-group", "sockets", "nodes"]
    made = [
        _points("ring", "time", _turn, **ring),
        _points("ring", "messages", lambda point: 2 * point["ranks"], **ring),
        _points("ring", "sum", lambda point: point["ranks"] * (point["ranks"] - 1) / 2, **ring),
        _points("pingpong", "latency", _time, placement=places, bytes=sizes, mpi="orfeo-thin"),
        _points("jacobi", "rate", _threaded, mpi="orfeo-gpu", grid=THREADED),
        _arrays(),
    ]
    return [row for rows in made for row in rows]


# Time of an iteration of NAS FT by pieces and way, s.
ITERATION = {
    **{("exchange", "messages"): 1.9, ("slabs", "messages"): 1.9 / 1.7, ("pencils", "messages"): 1.3},
    **{("exchange", "put"): 1.85, ("slabs", "put"): 1.05, ("pencils", "put"): 1.0},
}


def _flood(point: Row) -> float:
    """A message costs 1 us more than a put, and both have 1 GB/s, B/s."""
    overhead = 1e-6 if point["operation"] == "isend" else 1e-8
    return float(point["bytes"] / (overhead + point["bytes"] / 1e9))


def ft() -> list[Row]:
    """The points of the plan ft that its claims ask for."""
    problem, ranks = nas.CLASSES["D"], 256
    ways: Row = {"class": "D", "ranks": ranks, "pieces": list(nas.PIECES), "by": list(nas.WAYS)}
    here: Row = {**ways, "iterations": [1, 2], "mpi": "toy"}
    trips: Row = {"operation": ["send", "isend", "put", "get"], "bytes": [1, 8, 64], "mpi": "toy"}
    floods: Row = {"operation": ["isend", "put"], "bytes": [1024, 8192, 1 << 26], "mpi": "toy"}
    made = [
        _points("ft", "time", lambda p: p["iterations"] * ITERATION[p["pieces"], p["by"]], **here),
        _points("ft", "messages", lambda p: nas.messages(problem, ranks, p["pieces"]), **here),
        _points("ft", "bytes", lambda _: nas.volume(problem, ranks), **here),
        _points("roundtrip", "latency", lambda p: 2e-6 if "send" in p["operation"] else 1e-6, **trips),
        _points("flood", "bandwidth", _flood, **floods),
    ]
    return [row for rows in made for row in rows]


POINTS = {"bgp": bgp, "bgl": bgl, "orfeo": orfeo, "ft": ft, "io": toy_io.io}

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
    return Results(frame_of(rows), machines)
