"""The claims of Behzad et al. on tuning parallel I/O, from the runs that `storage_runs` makes of three
machines.

Speeds are told in MB/s as in table 4. Where a claim compares with published rows, the 22 of io-speedups.csv
count.
"""

from collections.abc import Mapping
from itertools import pairwise
from math import exp, log
from statistics import mean

from leadline.papers.checks import Shape, claim
from leadline.papers.results import AbsentError, Results
from leadline.tune import search
from leadline.tune.search import ga
from leadline.tune.storage.published import TUNED_AT, speedups

LUSTRE = ("hopper", "stampede")
NEAR = (280e6, 500e6)  # B/s: what is near 350 to 400 MB/s, a fifth below and a quarter above
STEADY = 1.25  # how much default bandwidths of a kernel may differ between numbers of ranks
ROUNDED = 0.021  # of table 2's volumes, which have two digits
GIB = 2**30
# Table 2, from and to how many bytes. Its GB can only be 2^30 B; its 1.1 TB, which it gives for two kernels
# whose bytes differ by 7 %, is of 10^12 B or of 2^40 B, and has two digits.
VOLUMES = {
    **{
        (kernel, ranks): (GIB * stated * (1 - ROUNDED), GIB * stated * (1 + ROUNDED))
        for kernel, ranks, stated in (
            ("vpic", 128, 32),
            ("vpic", 2048, 512),
            ("vorpal", 128, 34),
            ("vorpal", 2048, 549),
            ("gcrm", 128, 40),
            ("gcrm", 2048, 650),
            ("gcrm", 4096, 1300),
        )
    },
    ("vpic", 4096): (1.05e12, 1.15 * 2**40),
    ("vorpal", 4096): (1.05e12, 1.15 * 2**40),
}
NUMBERS = {"ranks": 4096, "nodes": 171, "targets": 156}  # of Hopper
VALUES = {  # table 3
    "striping_factor": 10,
    "striping_unit": 8,
    "cb_nodes": 12,
    "cb_buffer_size": 8,
    "alignment": 14,
    "bglockless": 2,
    "IBM_largeblock_io": 2,
    "chunk_size": 25,
}


def _bandwidth(results: Results, settings: str, machine: str, kernel: str, ranks: int) -> float:
    """The bandwidth of one run, B/s."""
    where = {"settings": settings, "mpi": machine, "kernel": kernel, "ranks": ranks}
    return results.value("io", "bandwidth", **where)


def _speedups(results: Results) -> dict[tuple[str, str, int], float]:
    """Tuned over default of the published rows, by machine, kernel and ranks."""
    found = {}
    for row in speedups():
        key = (row["platform"], row["kernel"], int(row["cores"]))
        found[key] = _bandwidth(results, "tuned", *key) / _bandwidth(results, "default", *key)
    return found


@claim("io.space")
def space(_: Results) -> Shape:
    """Numbers of values of the spaces that are shipped, against table 3."""
    off = []
    for name in ("lustre", "lustre-chunked", "gpfs", "gpfs-chunked"):
        axes = {each.name: len(each.values) for each in search.load(name, NUMBERS).axes}
        off += [f"{name}: {key} {count}" for key, count in axes.items() if VALUES[key] != count]
    return Shape(not off, len(off), "; ".join(off) or "as many values of each parameter")


@claim("io.ga")
def genetic(_: Results) -> Shape:
    """The constants of the search method ga, and how many runs it asks for, those of known points too."""
    space = search.load("lustre", NUMBERS)
    method = search.start("ga", space, seed=1, repeat=True)
    runs = 0
    while (settings := method.ask()) is not None:
        runs += 1
        method.tell(settings, float(len(repr(settings))))  # any time that only the settings decide
    says = (
        f"population {ga.POPULATION}, {ga.GENERATIONS} generations, mutation {100 * ga.MUTATION:g} %, "
        f"{runs} runs"
    )
    as_told = (ga.POPULATION, ga.GENERATIONS, ga.MUTATION) == (15, 40, 0.15)
    return Shape(as_told and runs <= 600, runs, says)


@claim("io.volume")
def volume(results: Results) -> Shape:
    """Bytes of every kernel on 128, 2048 and 4096 ranks, against table 2 as far as it is rounded."""
    off = [
        f"{kernel} on {ranks}: {value / GIB:.0f} GiB"
        for (kernel, ranks), (least, most) in VOLUMES.items()
        for value in results.all("io", "volume", kernel=kernel, ranks=ranks, settings="default")
        if not least <= value <= most
    ]
    return Shape(not off, len(off), "; ".join(off) or f"as table 2, all {len(VOLUMES)} volumes")


@claim("io.default.lustre")
def default(results: Results) -> Shape:
    """Defaults of collective kernels, 280 to 500 MB/s on Lustre and within 25 % of each other; on GPFS
    growing."""
    kernels, scales = ("vpic", "vorpal"), (128, 2048, 4096)
    lustre = {
        (machine, kernel): [_bandwidth(results, "default", machine, kernel, ranks) for ranks in scales]
        for machine in LUSTRE
        for kernel in kernels
    }
    every = [value for values in lustre.values() for value in values]
    near = all(NEAR[0] <= value <= NEAR[1] for value in every)
    steady = all(max(values) <= STEADY * min(values) for values in lustre.values())
    gpfs = [
        [_bandwidth(results, "default", "intrepid", kernel, ranks) for ranks in scales] for kernel in kernels
    ]
    grows = all(one <= other for values in gpfs for one, other in pairwise(values))
    says = f"{min(every) / 1e6:.0f} to {max(every) / 1e6:.0f} MB/s on Lustre, "
    says += f"{gpfs[0][0] / 1e6:.0f} to {gpfs[0][-1] / 1e6:.0f} MB/s of vpic on GPFS"
    return Shape(near and steady and grows, max(every) / min(every), says)


@claim("io.tuned")
def tuned(results: Results) -> float:
    """Geometric mean of max(r, 1/r), simulated over published, default and tuned, of 22 rows."""
    off = []
    for row in speedups():
        key = (row["platform"], row["kernel"], int(row["cores"]))
        for settings, column in (("default", "default_MBps"), ("tuned", "tuned_MBps")):
            off.append(abs(log(_bandwidth(results, settings, *key) / (1e6 * float(row[column])))))
    return exp(mean(off))


@claim("io.speedup.scale")
def scale(results: Results) -> Shape:
    """Tuned over default: from 128 to 2048 to 4096 ranks on Lustre, and means of the machines' published
    rows."""
    found = _speedups(results)
    scales: dict[tuple[str, str], list[float]] = {}
    for (machine, kernel, _), value in sorted(found.items()):
        scales.setdefault((machine, kernel), []).append(value)
    grows = [
        one < other
        for (machine, _), values in scales.items()
        if machine in LUSTRE
        for one, other in pairwise(values)
    ]
    means = {
        machine: mean(value for key, value in found.items() if key[0] == machine)
        for machine in ("hopper", "stampede", "intrepid")
    }
    order = means["stampede"] > means["hopper"] > means["intrepid"]
    says = ", ".join(f"{machine} {value:.1f}" for machine, value in means.items())
    says += f"; grows in {sum(grows)} of {len(grows)} steps"
    return Shape(all(grows) and order, means["stampede"] / means["hopper"], says)


@claim("io.partial")
def partial(results: Results) -> Shape:
    """2048 ranks, settings of table 5: the whole set over its best layer alone, and which layer that is on
    Lustre."""
    least, first, said = float("inf"), True, []
    for row in results.rows:
        if (row["settings"], row["ranks"], row["metric"]) != ("tuned", TUNED_AT, "bandwidth"):
            continue
        where = {"mpi": row["mpi"], "kernel": row["kernel"], "ranks": TUNED_AT}
        alone = _alone(results, where)
        if not alone:
            continue
        best = max(alone, key=lambda layer: alone[layer])
        least = min(least, float(row["value"]) / alone[best])
        first &= row["mpi"] not in LUSTRE or best == "lustre"
        said.append(f"{row['mpi']} {row['kernel']} {best} {100 * alone[best] / float(row['value']):.0f} %")
    if not said:
        raise AbsentError("the runs have no partial tuning")
    return Shape(least > 1 and first, least, "; ".join(said))


def _alone(results: Results, where: Mapping[str, object]) -> dict[str, float]:
    """The bandwidths with the settings of one layer, by the layer."""
    return {
        str(row["settings"]).removesuffix(" only"): float(row["value"])
        for row in results.rows
        if str(row["settings"]).endswith(" only")
        and row["metric"] == "bandwidth"
        and all(row[key] == value for key, value in where.items())
    }


def _buffers(results: Results, machine: str) -> dict[int, float]:
    """Bandwidth of vpic on 2048 ranks by the size of buffers."""
    where = {"settings": "buffers", "mpi": machine, "kernel": "vpic", "ranks": TUNED_AT}
    return results.curve("io", "bandwidth", "buffer", **where)


@claim("io.vpic.hopper.stripe")
def stripe(results: Results) -> Shape:
    """The best size of stripes with the other settings of table 5, and the worst of half and twice of it."""
    found = _buffers(results, "hopper")
    best = max(found, key=lambda size: found[size])
    beside = min(found.get(best // 2, 0.0), found.get(2 * best, 0.0)) / found[best]
    says = f"best at {best >> 20} MiB, half and twice of it at least {100 * beside:.1f} % of that"
    return Shape(best == 32 << 20 and beside > 0.8, beside, says)


@claim("io.vpic.intrepid.buffer")
def buffer(results: Results) -> Shape:
    """The best size of buffers with the other settings of table 5, and the aggregators of the best of the
    space."""
    found = _buffers(results, "intrepid")
    best = max(found, key=lambda size: found[size])
    where = {
        "settings": "best",
        "mpi": "intrepid",
        "kernel": "vpic",
        "ranks": TUNED_AT,
        "metric": "bandwidth",
    }
    many = [
        row["aggregators"] for row in results.rows if all(row[key] == value for key, value in where.items())
    ]
    if not many:
        raise AbsentError("the runs have no best settings of vpic on intrepid")
    says = (
        f"best at {best >> 20} MiB with table 5's other settings; the best of all has {many[0]} aggregators"
    )
    return Shape(best == 128 << 20 and many[0] == 512, found[best] / min(found.values()), says)
