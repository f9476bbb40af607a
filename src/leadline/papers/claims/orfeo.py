"""The claims of Celoria's report on ORFEO, from plans/orfeo.toml, plans/orfeo-gpu.toml and orfeo-jacobi.csv.

Of the Jacobi solver the report has a model and measurements; the model is `leadline.predict.jacobi` with the
described machine's own numbers.
"""

from collections.abc import Sequence
from math import prod

import numpy as np
import polars as pl

from leadline import machine as machines
from leadline.analysis.fits import fit_all
from leadline.papers.checks import Shape, claim
from leadline.papers.results import AbsentError, Results
from leadline.predict import jacobi
from leadline.predict.ring import Piece, turns

THIN, GPU = "orfeo-thin", "orfeo-gpu"
CUTS = [(2, 12), (13, 24), (25, 48)]  # a socket, a node, two of them: the source's pieces over N
LATENCIES = {THIN: (0.34e-6, 0.57e-6, 1.16e-6), GPU: (0.42e-6, 0.47e-6, 0.66e-6)}  # s, equation 1
NEAR = 0.1  # of a latency: what counts as met, for the source gives two digits and no interval
SHARES = (0.87, 0.12, 0.01)
SHARE = 0.03  # of the whole: what counts as met of "around"
THREADED = [("24x1x1", "25x1x1", "32x1x1", "40x1x1", "48x1x1"), ("4x3x2", "5x5x1", "4x4x2", "5x4x2", "4x4x3")]
LINEAR = 0.05  # of a process's rate: how far growth may be from a straight line
EVEN = 1_000_000  # elements a rank of tables I to III
HUMP, CACHED = 4 << 20, 20e9  # B and B/s: up to which size the source's ping-pong streams from its caches

# Tables I to III: array, grid, and least and most elements of a rank by boxes. All others are EVEN.
UNEVEN = {
    ("2400x100x100", "8x3x1"): (990_000, 1_020_000),
    ("2400x100x100", "4x3x2"): (990_000, 1_020_000),
    ("1200x200x100", "8x3x1"): (990_000, 1_005_000),
    ("1200x200x100", "4x3x2"): (990_000, 1_005_000),
    ("800x300x100", "24x1x1"): (990_000, 1_005_000),
    ("800x300x100", "12x2x1"): (990_000, 1_005_000),
    ("800x300x100", "6x4x1"): (997_500, 1_005_000),
    ("800x300x100", "6x2x2"): (997_500, 1_005_000),
}
ARRAYS = ("2400x100x100", "1200x200x100", "800x300x100")
GRIDS = ("24x1x1", "12x2x1", "8x3x1", "6x4x1", "6x2x2", "4x3x2")
# Its example on four ranks: array, grid, split, least and most.
EXAMPLE = [
    ("5x5x1", "4x1x1", "even", 6, 7),
    ("5x5x1", "2x2x1", "even", 6, 7),
    ("5x5x1", "4x1x1", "sizes", 5, 10),
    ("5x5x1", "2x2x1", "sizes", 4, 9),
]


@claim("orfeo.jacobi.model")
def model(_: Results) -> float:
    """The formula with the described machine's T_s, T_l and B; largest relative difference of any row."""
    return max(abs(_modelled(row).performance / row.model - 1) for row in jacobi.measured())


@claim("orfeo.jacobi.halo")
def halo(_: Results) -> float:
    """Bytes that a rank exchanges a sweep, 16 k L^2; largest relative difference of any row."""
    rows = [row for row in jacobi.measured() if row.halo > 0]
    return max(abs(_modelled(row).halo / row.halo - 1) for row in rows)


@claim("orfeo.jacobi.thin")
def thin(_: Results) -> float:
    """What the source measured over the model here, tables VI, VIII and X; the row farthest from 1."""
    rows = [row for row in jacobi.measured() if row.machine == THIN and row.ranks > 1]
    ratios = [row.measured / _modelled(row).performance for row in rows]
    return max(ratios, key=lambda ratio: abs(ratio - 1))


def _modelled(row: jacobi.Measured) -> jacobi.Model:
    """The model at a row of the tables."""
    return jacobi.on_machine(machines.load(row.machine), row.grid, row.placement, jacobi.EDGE)


@claim("orfeo.jacobi.hyperthreads")
def hyperthreads(results: Results) -> Shape:
    """Points updated a second by 24 to 48 processes at table XI's grids, of one dimension and of more.

    From 24 to 25 there must be a loss; from 25 to 48 the rate of one process may change by a twentieth. The
    value is the rate of 25 processes over that of 24, the larger of the two kinds of grid.
    """
    worst, straight = 0.0, True
    for grids in THREADED:
        rates = [results.value("jacobi", "rate", mpi=GPU, grid=grid) for grid in grids]
        ranks = [prod(jacobi.grid_of(grid)) for grid in grids]
        worst = max(worst, rates[1] / rates[0])
        each = [rate / count for rate, count in zip(rates[1:], ranks[1:], strict=True)]
        straight = straight and max(each) <= (1 + LINEAR) * min(each)
    grows = "grows linearly to 48" if straight else "does not grow linearly to 48"
    return Shape(worst < 1 and straight, worst, f"{worst:.3f} of 24 processes' rate with 25; {grows}")


def _pieces(results: Results, machine: str) -> list[Piece]:
    """The pieces of the ring on a machine."""
    of_machine = results.records.filter(pl.col("mpi") == machine)
    found = [pieces for keys, pieces in turns(of_machine) if keys["way"] == "in-turn"]
    if len(found) != 1:
        raise AbsentError(f"the run has no ring on {machine}, or several")
    return found[0]


@claim("orfeo.ring.latency")
def ring_latency(results: Results) -> Shape:
    """Half the slope of the time of a turn over N, of the pieces that are found; met within a tenth.

    The value is the largest relative difference from the source's six latencies.
    """
    worst, said = 0.0, []
    for machine, expected in LATENCIES.items():
        found = _pieces(results, machine)
        said.append(f"{machine} {', '.join(f'{1e6 * each.latency:.2f}' for each in found)} us")
        if len(found) != len(expected):
            worst = max(worst, 1.0)
        pairs = zip(found, expected, strict=False)
        worst = max([worst, *(abs(each.latency / latency - 1) for each, latency in pairs)])
    return Shape(worst <= NEAR, worst, "; ".join(said))


@claim("orfeo.ring.pieces")
def ring_pieces(results: Results) -> Shape:
    """Straight pieces of the time of a turn over N = 2 to 48, as many as an information criterion finds."""
    found = {name: [(p.first, p.last) for p in _pieces(results, name)] for name in LATENCIES}
    said = [f"{name} {', '.join(f'{a}-{b}' for a, b in cuts)}" for name, cuts in found.items()]
    right = sum(cuts == CUTS for cuts in found.values())
    return Shape(right == len(found), float(right), "; ".join(said))


@claim("orfeo.ring.result")
def ring_result(results: Results) -> Shape:
    """Messages that each rank received, and the sum that its own brought home, for N = 2 to 48.

    Messages are taken by the tag 10 times the number of the rank that sent them off: others would not match,
    and the ring would not end. What comes home from the left is the same number, negative.
    """
    right = asked = 0
    for machine in LATENCIES:
        received = results.curve("ring", "messages", "ranks", mpi=machine)
        sums = results.curve("ring", "sum", "ranks", mpi=machine)
        for ranks, messages in received.items():
            asked += 1
            right += messages == 2 * ranks and sums.get(ranks) == ranks * (ranks - 1) / 2
    return Shape(right == asked, right / asked, f"{right} of {asked} turns")


@claim("orfeo.sum3d.load")
def load(results: Results) -> Shape:
    """Least and most elements of a rank at the 36 points of tables I to III and the 4 of the example.

    Which rank has how many is held against the tables by the application's own tests.
    """
    points = [(a, g, "even", EVEN, EVEN) for a in ARRAYS for g in GRIDS]
    points += [(a, g, "sizes", *UNEVEN.get((a, g), (EVEN, EVEN))) for a in ARRAYS for g in GRIDS]
    wrong = []
    for array, grid, split, least, most in [*points, *EXAMPLE]:
        where = {"array": array, "grid": grid, "split": split}
        found = tuple(results.value("sum3d", metric, **where) for metric in ("least", "most"))
        if found != (least, most):
            wrong.append(f"{array} on {grid} has {found[0]:.0f} to {found[1]:.0f}, not {least} to {most}")
    asked = len(points) + len(EXAMPLE)
    said = "; ".join([f"{asked - len(wrong)} of {asked} points", *wrong])
    return Shape(not wrong, 1 - len(wrong) / asked, said)


@claim("orfeo.sum3d.scatter")
def scatter(results: Results) -> Shape:
    """Shares of the time in scatter, gather and rest, mean of ranks and points; met within 0.03."""
    parts = [results.all("sum3d", part, ranks=24) for part in ("scatter", "gather", "rest")]
    whole = np.sum(parts, axis=0)
    shares = [float(np.mean(np.asarray(part) / whole)) for part in parts]
    worst = max(abs(share - told) for share, told in zip(shares, SHARES, strict=True))
    said = ", ".join(f"{share:.3f}" for share in shares)
    return Shape(worst <= SHARE, shares[0], f"scatter, gather, rest: {said}")


@claim("orfeo.pingpong.fit")
def pingpong_fit(results: Results) -> Shape:
    """Both fits of the ping-pong in a socket, across sockets, across nodes; then of the first with a hump.

    The hump is the source's: up to 4 MiB at 20 GB/s, from its caches. Least squares must then give a latency
    below zero, with its flag, and the two ends the one that was.
    """
    wanted = (pl.col("benchmark") == "pingpong") & (pl.col("mpi") == THIN) & (pl.col("source") != "imported")
    records = results.records.filter(wanted & (pl.col("metric") == "latency"))
    plain = fit_all(records, ["least_squares", "asymptotic"])
    told = {name: [fit for fit in plain if fit.name == name] for name in ("least_squares", "asymptotic")}
    if not plain:
        raise AbsentError("the run has no ping-pong to fit")
    humped = fit_all(_humped(records), ["least_squares", "asymptotic"])
    negative = [fit.parameter("latency") for fit in humped if fit.name == "least_squares"]
    flagged = [each for each in negative if each and each.value < 0 and each.flag]
    ways = min(len(fits) for fits in told.values())
    holds = ways == len(told["asymptotic"]) and len(flagged) == len(negative) > 0
    below = f"{len(flagged)} of {len(negative)} latencies negative and flagged"
    said = f"{ways} ways fitted by both; with a hump {below}"
    return Shape(holds, float(ways), said)


def _humped(records: pl.DataFrame) -> pl.DataFrame:
    """The same with messages up to 4 MiB as fast as the source's caches make them."""

    def faster(row: dict[str, object]) -> Sequence[float]:
        size, samples = row["bytes"], row["samples"]
        assert isinstance(size, int)
        assert isinstance(samples, list)
        return [min(each, 0.2e-6 + size / CACHED) if size <= HUMP else each for each in samples]

    samples = [faster(row) for row in records.iter_rows(named=True)]
    return records.with_columns(samples=pl.Series(samples, dtype=records.schema["samples"]))
