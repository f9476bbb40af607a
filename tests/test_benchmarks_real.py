"""Every benchmark on real ranks of every MPI here: each point comes to its end and its numbers can be true.

The mock never waits, so only real ranks show a body that deadlocks, in pairs that do not meet or in sends
that need a receive which comes later. Points are few and short: ranks that outnumber the cores mostly wait.
"""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from leadline.mpi import Mpi
from leadline.mpi.discover import find
from leadline.mpi.family import Start, family
from leadline.mpi.launcher import starter
from leadline.native.build import build
from leadline.native.launch import Launch
from leadline.native.registry import Benchmark, Sweep, SweepContext, benchmarks
from leadline.targets.local.topology import possible

pytestmark = pytest.mark.mpi

Values = dict[str, int | str]

SIZES = (8, 256 << 10)  # B: every library sends the first at once (eager), and asks first for the second
TIME = 0.001  # s, of a point
POINT_LIMIT = 60.0  # s without an answer: a hang; busy ranks beyond the cores have taken more than ten
USUAL = 4  # ranks of a launch
# More ranks than that, for what then takes another way: with 5, pairs leave a rank over and four
# workers are a tree of two levels; with 6, two streams pass the middle pair and the tree's groups differ.
MORE_RANKS = {5: ("fan", "hotspot", "multistream"), 6: ("flowthrough", "hotspot")}
UNEVEN: Values = {"workers": 5, "shape": "tree", "bytes": SIZES[0]}  # groups of three and of two
SLOWEST = 10.0  # s, for anything that is a time: oversubscribed ranks wait for each other's turns
FASTEST = 1e12  # B/s and 1/s: more than any memory gives

# What divides the sizes of kernels that write files.
SHRINK, SHRUNK = "shrink", 1024

# Words that are sizes: the usual ones alone, the others take minutes and more memory than there may be.
SIZED_BY_WORDS = {"class"}

# Cadences whose calls are timed one by one.
TIMED_CADENCES = {"application", "imb", "osu"}

# Metrics that may truly be nothing, or, as a difference of two times, less than nothing.
MAY_BE_ZERO = {("noise", "lost"), ("noise", "longest"), ("sum3d", "rest")}
# Parts of the time of NAS FT that not every way of handing over has.
MAY_BE_ZERO |= {("ft", part) for part in ("transpose", "initiation", "completion", "barrier")}
# Of differences of times: ranks that outnumber the cores make anything of them.
SHARES = ("overlap", "hidden", "together")
# Plain numbers that count something; others are parts of one.
COUNTS = {("ft", "messages"), ("ft", "bytes"), ("ring", "messages"), ("ring", "sum")}
COUNTS |= {("sum3d", "least"), ("sum3d", "most")}
# Times that are told of more than was done, by how much: 1 MB is some 500 trains of 256 messages of 8 B. And
# the share of a copy's bandwidth, of sweeps over a grid that stays in the caches, or of several in one go.
SCALED = {("protocol", "time"): 500.0, ("jacobi", "share"): 50.0}


@dataclass
class Asked:
    """A point and what a launch said of it."""

    benchmark: Benchmark
    values: Values
    records: dict[str, dict[str, Any]] = field(default_factory=dict)  # by metric
    skipped: str | None = None
    ended: bool = False

    def __str__(self) -> str:
        """As a person names it."""
        return f"{self.benchmark.name} {' '.join(f'{name}={value}' for name, value in self.values.items())}"

    @property
    def shmem(self) -> bool:
        """Whether it needs OpenSHMEM."""
        return any(str(value).endswith("-shmem") for value in self.values.values())


def choices(sweep: Sweep) -> tuple[int | str, ...]:
    """Every word of a closed list, since each is a way of its own through the code; else both ends."""
    if sweep.name == SHRINK:
        return (SHRUNK,)
    if sweep.choices and sweep.name not in SIZED_BY_WORDS:
        return sweep.choices
    return (sweep.default[0], sweep.default[-1])


def points(benchmark: Benchmark) -> Iterator[Values]:
    """The first point, those one coordinate away, and the opposite corner; all of them at both sizes."""
    sweeps = [sweep for sweep in benchmark.sweeps if sweep.kind != "bytes"]
    first: Values = {sweep.name: choices(sweep)[0] for sweep in sweeps}
    corners = [first, {sweep.name: choices(sweep)[-1] for sweep in sweeps}]
    corners += [{**first, sweep.name: value} for sweep in sweeps for value in choices(sweep)[1:]]
    sized = [sweep.name for sweep in benchmark.sweeps if sweep.kind == "bytes"]
    seen: list[Values] = []
    for corner in corners:
        for size in SIZES if sized else (0,):
            values = corner | dict.fromkeys(sized, size)
            if values not in seen:
                seen.append(values)
                yield values


def usual_ranks(benchmark: Benchmark, usual: int) -> int:
    """As many ranks as usual, or as near to that as the benchmark takes."""
    return max(benchmark.min_ranks, min(usual, benchmark.max_ranks or usual))


def questions(usual: int) -> dict[int, list[Asked]]:
    """Every benchmark's points, by the ranks of their launch."""
    counts = {name: {usual_ranks(each, usual)} for name, each in benchmarks(SweepContext(usual)).items()}
    for more, names in MORE_RANKS.items() if usual == USUAL else ():
        for name in names:
            counts[name].add(more)
    asked: dict[int, list[Asked]] = {}
    for name, several in counts.items():
        for ranks in several:
            benchmark = benchmarks(SweepContext(ranks))[name]
            asked.setdefault(ranks, []).extend(Asked(benchmark, values) for values in points(benchmark))
    if usual == USUAL:
        asked[6].append(Asked(benchmarks(SweepContext(6))["hotspot"], UNEVEN))
    return asked


def launch(mpi: Mpi, ranks: int, asked: list[Asked], directory: Path, *, shmem: bool = False) -> None:
    """Ask all points in one launch; fails, naming the point, unless it ends as it should."""
    environment = family(mpi).environment(mpi, shmem=shmem)
    oversubscribed = possible("default", ranks, ()) is not None
    command = starter(mpi)(mpi, Start(ranks, env=environment, oversubscribe=oversubscribed))
    points = [question(index, each) for index, each in enumerate(asked)]
    job = {"points": points, "directory": str(directory)}
    directory.mkdir()
    started = Launch([*command, str(build(mpi))], environment, job, directory, point_limit=POINT_LIMIT)
    last = None
    for last in started.events():
        of = asked[last["id"]] if last.get("id") is not None else None
        assert last["event"] not in ("died", "malformed"), f"{mpi.id}, {ranks} ranks, {of}: {last['reason']}"
        if of and last["event"] == "record":
            of.records[last["metric"]] = last
        elif of and last["event"] == "skip":
            of.skipped = last["reason"]
        elif of and last["event"] == "end":
            of.ended = True
        elif last["event"] == "launch":
            assert last["ranks"] == ranks, f"{mpi.id} started {last['ranks']} ranks instead of {ranks}"
    assert last, f"{mpi.id}, {ranks} ranks: nothing was said"
    assert last["event"] == "done"


def question(index: int, asked: Asked) -> dict[str, Any]:
    """A point as the benchmark program reads it."""
    return {
        "id": index,
        "benchmark": asked.benchmark.name,
        "point": asked.values,
        "time": TIME,
        "least": 3,
    }


def reason(mpi: Mpi, ranks: int, asked: Asked) -> str | None:
    """Why a point must be skipped here; None where it must be measured."""
    values, skipped = asked.values, asked.skipped is not None
    last = ranks - 1
    cases = [
        (asked.shmem and not mpi.has_shmem, r"this MPI comes without OpenSHMEM"),
        (
            values.get("shape") == "tree" and int(values["workers"]) < 4,
            r"a tree of two levels needs at least 4 workers",
        ),
        (
            values.get("way") == "sendrecv" and values.get("operation") in ("send", "receive"),
            r"sendrecv is a way to exchange: it both sends and receives",
        ),
        (
            values.get("communicator") == "world-1" and values.get("root") == last,
            rf"there is no rank {last} in 'world-1', which has {last} ranks",
        ),
        (
            values.get("cadence") in TIMED_CADENCES and values["form"] != "blocking",
            rf"the cadence '{values.get('cadence')}' has only the blocking form",
        ),
        (
            values.get("algorithm", "library") != "library" and values["form"] != "blocking",
            r"an algorithm over messages has only the blocking form",
        ),
        (
            values.get("pieces") == "fused" and values.get("by") == "messages",
            r"fused rows go out of the cache to where they belong, which messages cannot: take put or store",
        ),
        (
            values.get("by") == "store" and values.get("pieces") != "fused",
            r"only fused rows are stored where they belong: take put",
        ),
        (
            values.get("result") == "summed" and values.get("pieces") != "fused",
            r"only fused has its checksum while the result is in the cache: take result = kept",
        ),
        (
            values.get("kernel") == "plain" and values.get("depth") != 1,
            r"plain sweeps are not blocked in time: depth 1, or another kernel",
        ),
        # What each library has of them, and where ranks lie, is its own affair and the machine's.
        (
            values.get("form") == "persistent" and skipped,
            r"this MPI has no persistent collectives; .*|the persistent \w+ of MPICH \S+ fails",
        ),
        (SHRINK in values and skipped, r"this program was built without parallel HDF5: .*"),
        (asked.benchmark.name == "distance" and skipped, r"no rank is at distance \d .* from rank 0"),
    ]
    return next((said for holds, said in cases if holds), None)


def judge(mpi: Mpi, ranks: int, asked: Asked) -> list[str]:
    """What is wrong with the answer to one point; nothing where it is right."""
    where = f"{mpi.id}, {ranks} ranks, {asked}"
    if not asked.ended:
        return [f"{where}: no answer"]
    expected = reason(mpi, ranks, asked)
    if expected or asked.skipped:
        fits = expected and asked.skipped and re.fullmatch(expected, asked.skipped)
        return (
            []
            if fits and not asked.records
            else [f"{where}: skipped for {asked.skipped!r}, not {expected!r}"]
        )
    wrong = []
    for metric in asked.benchmark.metrics:
        if metric.name == "overlap" and asked.values["form"] == "blocking":
            continue  # of what is begun and ended apart
        record = asked.records.get(metric.name)
        if record is None or record["unit"] != metric.unit:
            wrong.append(f"{where}: no {metric.name} in {metric.unit}")
            continue
        kept = record["samples"][record["warmup"] :]
        if not kept or not all(possible_value(asked, metric.name, metric.unit, value) for value in kept):
            wrong.append(f"{where}: {metric.name} of {kept} {metric.unit}")
    return wrong


def possible_value(asked: Asked, metric: str, unit: str, value: float) -> bool:
    """Whether a sample can be true of any machine."""
    key = asked.benchmark.name, metric
    if metric in SHARES:
        return math.isfinite(value) and abs(value) < 1e4
    most = FASTEST if key in COUNTS else {"s": SLOWEST, "1": 1.0}.get(unit, FASTEST) * SCALED.get(key, 1.0)
    if not math.isfinite(value) or value >= most:
        return False
    if any(each.name == metric and each.difference for each in asked.benchmark.metrics):
        return value > -most
    return value >= 0 if key in MAY_BE_ZERO else value > 0


@pytest.fixture(params=find(), ids=lambda mpi: mpi.id)
def mpi(request: pytest.FixtureRequest) -> Mpi:
    """Each MPI of this machine."""
    found: Mpi = request.param
    return found


@pytest.mark.parametrize("usual", [2, pytest.param(USUAL, marks=pytest.mark.full)])
def test_every_benchmark_answers_on_every_mpi(tmp_path: Path, mpi: Mpi, usual: int) -> None:
    """Each point ends, with every metric possible or with the reason that holds here, and none hangs."""
    wrong: list[str] = []
    for ranks, every in questions(usual).items():
        apart = [each for each in every if each.shmem and mpi.has_shmem]
        together = [each for each in every if each not in apart]
        launch(mpi, ranks, together, tmp_path / f"{ranks}")
        if apart:
            launch(mpi, ranks, apart, tmp_path / f"{ranks}-shmem", shmem=True)
        wrong += [problem for each in every for problem in judge(mpi, ranks, each)]
        silent = {each.benchmark.name for each in every if not each.records}
        silent -= {each.benchmark.name for each in every if each.records}
        wrong += [f"{mpi.id}, {ranks} ranks: no point of {name} was measured" for name in silent]
    assert not wrong, "\n".join(wrong)


def test_the_points_reach_every_word_and_the_tree() -> None:
    """Every word of every choice is asked, and a tree where it has the four workers that it needs."""
    asked = [each for every in questions(USUAL).values() for each in every]
    for benchmark in benchmarks(SweepContext(4)).values():
        for sweep in benchmark.sweeps:
            said = {each.values[sweep.name] for each in asked if each.benchmark.name == benchmark.name}
            assert said >= set(choices(sweep) if sweep.name in SIZED_BY_WORDS else sweep.choices), (
                f"{benchmark.name} {sweep.name}"
            )
    trees = {each.values["workers"] for each in asked if each.values.get("shape") == "tree"}
    assert trees >= {4, 5}  # groups of two, and groups of three and of two


@pytest.mark.parametrize("value", [math.nan, math.inf, -1.0, 0.0, 2e12])
def test_an_impossible_bandwidth_is_found(mpi: Mpi, value: float) -> None:
    """The judge of the real points above refuses each of these, and a point without an answer."""
    benchmark = benchmarks(SweepContext(2))["bibandwidth"]
    asked = Asked(benchmark, next(points(benchmark)))
    assert judge(mpi, 2, asked) == [f"{mpi.id}, 2 ranks, {asked}: no answer"]
    for sample, problems in ((1e9, 0), (value, 1)):
        record = {"unit": "B/s", "samples": [value, sample], "warmup": 1}
        assert (
            len(judge(mpi, 2, Asked(benchmark, asked.values, {"bandwidth": record}, ended=True))) == problems
        )
