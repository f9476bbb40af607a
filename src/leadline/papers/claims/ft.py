"""The claims of Bell, Bonachea, Nishtala and Yelick on NAS FT, from plans/ft.toml and plans/ft-small.toml.

A machine's records are told by its name. Times of all iterations are made of runs of one and of two of them
(`leadline.predict.ft`). Table 1 is for a cube; here it is in the dimensions of the class.
"""

from statistics import mean

import polars as pl

from leadline.core.record import OK
from leadline.papers.checks import Shape, claim
from leadline.papers.results import AbsentError, Results
from leadline.predict.ft import CLASSES, DEFAULT, PIECES, WAYS, messages, overlap, totals, volume

LARGE, RANKS = "D", 256  # of section 6.1
SMALL_MESSAGE = 64  # B, up to which a message counts as small
MIDDLE = (1 << 10, 100_000)  # B, between which section 4.2 sees one-sided communication ahead
AHEAD = 1.05  # what counts as ahead
ALIKE = 0.05  # what counts as the same peak

Times = dict[tuple[str, str], float]


def _machines(results: Results) -> list[str]:
    """The machines that have points of ft."""
    found = results.records.filter(pl.col("benchmark") == "ft")["mpi"].unique().sort().to_list()
    if not found:
        raise AbsentError("the runs have no point of ft")
    return [str(each) for each in found]


def _times(results: Results, machine: str) -> Times:
    """Times of the whole benchmark on a machine, by pieces and way."""
    records = results.records.filter((pl.col("mpi") == machine) & (pl.col("benchmark") == "ft"))
    times = totals(records, CLASSES[str(records["class"][0])])
    for pieces in PIECES:
        for by in WAYS:
            if (pieces, by) not in times:
                raise AbsentError(f"{machine} has no time of {pieces} by {by}")
    return times


def _best(times: Times, by: str) -> float:
    """The shortest time of a way, s."""
    return min(time for (_, way), time in times.items() if way == by)


def _counted(results: Results, metric: str, pieces: str) -> list[tuple[str, int, float]]:
    """Class, ranks and what the program counted, of every point."""
    if "pieces" not in results.records.columns:
        raise AbsentError("the runs have no point of ft")
    wanted = (pl.col("benchmark") == "ft") & (pl.col("metric") == metric) & (pl.col("status") == OK)
    rows = results.records.filter(wanted & (pl.col("pieces") == pieces)).iter_rows(named=True)
    found = [(str(row["class"]), int(row["ranks"]), float(row["samples"][0])) for row in rows]
    if not found:
        raise AbsentError(f"the runs have no {metric} of {pieces}")
    return found


def _messages(results: Results, pieces: str) -> Shape:
    """Whether the program counted what table 1 says, at every point."""
    found = _counted(results, "messages", pieces)
    off = max(abs(count / messages(CLASSES[name], ranks, pieces) - 1) for name, ranks, count in found)
    return Shape(off == 0, off, f"counted by the program at {len(found)} points; largest deviation {off:g}")


@claim("ft.messages.exchange")
def exchange(results: Results) -> Shape:
    """Messages counted in a transform, a process's own share as well, against THREADS."""
    return _messages(results, "exchange")


@claim("ft.messages.slabs")
def slabs(results: Results) -> Shape:
    """Messages counted in a transform, a process's own share as well, against THREADS times its planes."""
    return _messages(results, "slabs")


@claim("ft.messages.pencils")
def pencils(results: Results) -> Shape:
    """Messages counted in a transform, a process's own as well, against n^2 / THREADS; n^2 is nx nz here."""
    return _messages(results, "pencils")


@claim("ft.messages.classD")
def class_d(results: Results) -> Shape:
    """Messages counted, and bytes counted over them, of class D on 256 processes."""
    wanted = {"slabs": (1024, 128 << 10), "pencils": (8192, 16 << 10)}
    said, holds = [], True
    for pieces, expected in wanted.items():
        counts = {count for *key, count in _counted(results, "messages", pieces) if key == [LARGE, RANKS]}
        sizes = {count for *key, count in _counted(results, "bytes", pieces) if key == [LARGE, RANKS]}
        if not counts or not sizes:
            raise AbsentError(f"no point of class {LARGE} on {RANKS} ranks")
        many, each = max(counts), max(sizes) / max(counts)
        holds &= (many, each) == expected and len(counts) == 1
        said.append(f"{pieces}: {many:.0f} of {each / 1024:g} KiB")
    return Shape(holds, 1.0 if holds else 0.0, "; ".join(said))


@claim("ft.overlap.efficiency")
def efficiency(results: Results) -> Shape:
    """All messages but the first and the last over all, as counted, against table 1 with n^2 = nx nz."""
    off = 0.0
    for pieces in PIECES:
        for name, ranks, count in _counted(results, "messages", pieces):
            counted = 0.0 if pieces == "exchange" else (count - 2) / count
            off = max(off, abs(counted - overlap(CLASSES[name], ranks, pieces)))
    return Shape(off < 1e-12, off, f"largest deviation {off:g}")


@claim("ft.volume")
def same_volume(results: Results) -> Shape:
    """Bytes counted in a transform of each way, against a process's part of the grid."""
    off = max(
        abs(count / volume(CLASSES[name], ranks) - 1)
        for pieces in PIECES
        for name, ranks, count in _counted(results, "bytes", pieces)
    )
    return Shape(off == 0, off, f"largest deviation {off:g}")


@claim("ft.speedup.onesided")
def one_sided(results: Results) -> float:
    """Default exchange by the library's all-to-all over the best one-sided way; mean over the machines."""
    times = [_times(results, machine) for machine in _machines(results)]
    return mean(each[DEFAULT] / _best(each, "put") for each in times)


@claim("ft.speedup.twosided")
def two_sided(results: Results) -> float:
    """Default exchange by the library's all-to-all over the best two-sided way; mean over the machines."""
    times = [_times(results, machine) for machine in _machines(results)]
    return mean(each[DEFAULT] / _best(each, "messages") for each in times)


@claim("ft.onesided.gain")
def gain(results: Results) -> float:
    """Best two-sided time over best one-sided time; mean over the machines."""
    times = [_times(results, machine) for machine in _machines(results)]
    return mean(_best(each, "messages") / _best(each, "put") for each in times)


@claim("ft.pencils.slabs")
def finer(results: Results) -> float:
    """Time of slabs over that of pencils, one-sided; mean over the machines."""
    times = [_times(results, machine) for machine in _machines(results)]
    return mean(each["slabs", "put"] / each["pencils", "put"] for each in times)


@claim("ft.twosided.pencils")
def too_fine(results: Results) -> Shape:
    """Time of two-sided pencils over two-sided slabs; the least of any machine must be above 1."""
    ratios = {}
    for machine in _machines(results):
        times = _times(results, machine)
        ratios[machine] = times["pencils", "messages"] / times["slabs", "messages"]
    least = min(ratios.values())
    return Shape(least > 1, least, ", ".join(f"{name} {ratio:.3f}" for name, ratio in ratios.items()))


@claim("ft.onesided.latency")
def latency(results: Results) -> Shape:
    """Round trips up to 64 B on each machine: the faster message over the slower of put and get."""
    ratios = {}
    for machine in _machines(results):
        curves = {
            way: results.curve("roundtrip", "latency", "bytes", operation=way, mpi=machine)
            for way in ("send", "isend", "put", "get")
        }
        ratios[machine] = min(
            min(curves["send"][size], curves["isend"][size]) / max(curves["put"][size], curves["get"][size])
            for size in curves["put"]
            if size <= SMALL_MESSAGE
        )
    least = min(ratios.values())
    return Shape(least > 1, least, ", ".join(f"{name} {ratio:.2f}" for name, ratio in ratios.items()))


@claim("ft.onesided.flood")
def flood(results: Results) -> Shape:
    """Bandwidth of puts over messages: highest between 1 KB and 100 KB, and at the largest size."""
    holds, said, lead = True, [], 0.0
    for machine in _machines(results):
        put, sent = (
            results.curve("flood", "bandwidth", "bytes", operation=way, mpi=machine)
            for way in ("put", "isend")
        )
        most = max(put[size] / sent[size] for size in put if MIDDLE[0] <= size <= MIDDLE[1])
        peak = put[max(put)] / sent[max(put)]
        holds &= most > AHEAD and abs(peak - 1) < ALIKE
        lead = max(lead, most)
        said.append(f"{machine} {most:.2f}, at the end {peak:.2f}")
    return Shape(holds, lead, "; ".join(said))
