"""A plan: what is to be measured, at which points, and how tight the answers must be.

It is written in TOML (`docs/plans.md` has the keys, `plans/` has examples). Reading it checks everything
that can be known without launching a rank; its points are then one benchmark with one value for each of its
sweeps, and the launch that it needs.
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Any

from leadline import plan_text
from leadline.errors import UsageError, suggest
from leadline.mpi.family import PLACEMENTS, PROTOCOLS, transports
from leadline.mpi.launcher import AUTO, OWN, launchers
from leadline.plan_values import (
    Value,
    flag,
    launch_counts,
    rank_counts,
    text,
    values_of,
    word,
    words,
)
from leadline.record_files import PointKey, point_key
from leadline.registry import Benchmark
from leadline.units import format_bytes, parse_fraction, parse_time

# The benchmarks by name; a benchmark's default values depend on the number of ranks.
Registry = Callable[[int], Mapping[str, Benchmark]]

FOUND = "found"  # the word for every MPI on the machine
CORES = "cores"  # the word for one rank on every core of the machine


@dataclass(frozen=True)
class Launches:
    """How often a point is launched anew: launches, not repetitions within one, are the sample.

    Six is the least number of launches whose median has a 95 % interval at all (1 - 2 / 2^6 = 97 %).
    """

    at_least: int = 6
    at_most: int = 60


@dataclass(frozen=True)
class Settings:
    """What a plan sets for all its measurements and each of them may set anew."""

    mpi: tuple[str, ...] = (FOUND,)
    stack: tuple[str, ...] = ("default",)
    protocol: tuple[str, ...] = ("default",)
    placement: tuple[str, ...] = ("default",)
    ranks: tuple[Value, ...] = ()  # none: the least that the benchmark takes
    oversubscribe: bool = False
    hosts: tuple[str, ...] = ()
    agent: str | None = None  # the program that starts processes on other hosts; None: the launcher's own
    launcher: str = AUTO  # what starts the ranks: the batch system of this allocation, else the library's own
    tolerance: float = 0.02  # half-width of the 95 % interval of the median, as a part of the median
    launches: Launches = Launches()
    point_time: float = 0.01  # s, of one point in one launch
    point_limit: float = 20.0  # s, after which a point counts as hanging


@dataclass(frozen=True)
class Point:
    """One benchmark at one value of each of its sweeps, in one kind of launch."""

    benchmark: str
    values: Mapping[str, Value]
    mpi: str
    stack: str
    protocol: str
    placement: str
    ranks: int
    oversubscribe: bool
    hosts: tuple[str, ...]
    agent: str | None
    launcher: str
    tolerance: float
    launches: Launches
    point_time: float
    point_limit: float
    time: float | None  # s, for all launches of all points of its measurement; None: no share of its own
    measure: int  # which measurement of the plan it belongs to
    headline: bool  # taken over many short launches

    @property
    def shmem(self) -> bool:
        """Whether the point uses OpenSHMEM, which changes how the library must be set for a launch."""
        return any(str(value).endswith("-shmem") for value in self.values.values())

    @property
    def launch_key(self) -> tuple[object, ...]:
        """What must be the same in two points for them to share a launch."""
        return (
            *(self.mpi, self.stack, self.protocol, self.placement),
            *(self.ranks, self.oversubscribe, self.hosts, self.agent, self.launcher),
            self.shmem,
        )

    @property
    def key(self) -> PointKey:
        """What tells this point's records from those of others (`leadline.record_files.point_key`)."""
        return point_key({**vars(self), **self.values}, self.values)

    def describe(self) -> str:
        """The point in a few words: "pingpong bytes=8 B buffers=reused, openmpi-4.1.4, 2 ranks"."""
        values = [
            f"{name}={format_bytes(value) if name == 'bytes' and isinstance(value, int) else value}"
            for name, value in self.values.items()
        ]
        axes = [each for each in (self.stack, self.protocol, self.placement) if each != "default"]
        return ", ".join([" ".join([self.benchmark, *values]), self.mpi, *axes, f"{self.ranks} ranks"])


@dataclass(frozen=True)
class Measure:
    """One `[[measure]]` of a plan: a benchmark, the sweeps that it sets, and its launches."""

    benchmark: str
    sweeps: Mapping[str, tuple[Value, ...]]  # those that the plan names; the others take their defaults
    settings: Settings
    time: float | None
    table: plan_text.Table = field(repr=False, compare=False)


@dataclass(frozen=True)
class Headline:
    """The point whose answer matters most, and the share of the time that its own short launches get."""

    benchmark: str
    values: Mapping[str, Value]
    share: float
    table: plan_text.Table = field(repr=False, compare=False)

    def covers(self, benchmark: str, values: Mapping[str, Value]) -> bool:
        """Whether a point is a headline: the benchmark's, with every value that the headline names."""
        return benchmark == self.benchmark and all(values[k] == v for k, v in self.values.items())


@dataclass(frozen=True)
class Plan:
    """A plan as read."""

    path: Path
    text: str
    question: str
    time: float  # s, for the whole plan
    settings: Settings
    headline: Headline | None
    measures: tuple[Measure, ...]

    @property
    def name(self) -> str:
        """The plan's name: that of its file."""
        return self.path.stem

    @classmethod
    def load(cls, path: Path, registry: Registry) -> "Plan":
        """Read and check a plan.

        Raises UsageError, naming file and line, for whatever a person can get wrong in it.
        """
        content, top, tables = plan_text.read(path)
        top.check_keys([*_PLAN_KEYS, *_SETTINGS], "a plan")
        for name in ("measure", "headline"):
            if name in top.data and name not in tables:
                raise top.error(f"{name} is a table, written [[measure]] or [headline]", name)
        if not tables.get("measure"):
            raise top.error("a plan has at least one [[measure]] with the name of a benchmark")
        if isinstance(top.data.get("headline"), list):
            raise top.error("a plan has one [headline], with single brackets", "headline")
        settings = _settings(top, Settings())
        headlines = tables.get("headline", [])
        return cls(
            path=path,
            text=content,
            question=top.get("question", text, ""),
            time=top.get("time", _positive_time, 300.0),
            settings=settings,
            headline=_headline(headlines[0], registry) if headlines else None,
            measures=tuple(_measure(table, settings, registry) for table in tables["measure"]),
        )

    def points(
        self,
        registry: Registry,
        resolve: Callable[[str], Sequence[str]] = lambda mpi: [mpi],
        cores: int | None = None,
    ) -> list[Point]:
        """Every point of the plan, in its order, each once.

        `resolve` turns a word for MPIs ("found", a family, an identity) into identities on this machine;
        `cores` is how many ranks "cores" is, by default those that this process may use. Raises UsageError
        for a point that two measurements ask for, and for a headline that none of them contains.
        """
        cores = cores or len(os.sched_getaffinity(0))
        found: dict[PointKey, Point] = {}
        asked: dict[object, int] = {}
        for index, measure in enumerate(self.measures):
            for words_used, point in self._expand(index, measure, registry, resolve, cores):
                if asked.setdefault((words_used, point.key), index) != index:
                    first = self.measures[asked[words_used, point.key]].table.line
                    raise measure.table.error(f"{point.describe()} is already asked for on line {first}")
                found.setdefault(point.key, point)
        if self.headline and found and not any(point.headline for point in found.values()):
            raise self.headline.table.error(
                f"no [[measure]] contains this headline, {self.headline.benchmark} "
                + " ".join(f"{name}={value}" for name, value in self.headline.values.items())
            )
        return list(found.values())

    def _expand(
        self,
        index: int,
        measure: Measure,
        registry: Registry,
        resolve: Callable[[str], Sequence[str]],
        cores: int,
    ) -> Iterator[tuple[tuple[Value, ...], Point]]:
        """The points of one measurement, each with the plan's words for its MPI and its ranks."""
        s = measure.settings
        smallest = registry(2)[measure.benchmark]
        axes = product(s.mpi, s.stack, s.protocol, s.placement, s.ranks or (smallest.min_ranks,))
        for mpi_word, stack, protocol, placement, ranks_word in axes:
            ranks = ranks_word if isinstance(ranks_word, int) else _clamp(cores, smallest)
            sweeps = {
                sweep.name: measure.sweeps.get(sweep.name, sweep.default)
                for sweep in registry(ranks)[measure.benchmark].sweeps
            }
            for mpi, values in product(resolve(mpi_word), product(*sweeps.values())):
                coordinates = dict(zip(sweeps, values, strict=True))
                headline = self.headline is not None and self.headline.covers(measure.benchmark, coordinates)
                yield (
                    (mpi_word, ranks_word),
                    Point(
                        benchmark=measure.benchmark,
                        values=coordinates,
                        mpi=mpi,
                        stack=stack,
                        protocol=protocol,
                        placement=placement,
                        ranks=ranks,
                        oversubscribe=s.oversubscribe,
                        hosts=s.hosts,
                        agent=s.agent,
                        launcher=s.launcher,
                        tolerance=s.tolerance,
                        launches=s.launches,
                        point_time=s.point_time,
                        point_limit=s.point_limit,
                        time=measure.time,
                        measure=index,
                        headline=headline,
                    ),
                )


def _positive_time(value: Any) -> float:
    """A time above nothing, s."""
    if (seconds := parse_time(value)) <= 0:
        raise UsageError(f"this time is more than nothing, but got {value!r}")
    return seconds


def _positive_fraction(value: Any) -> float:
    """A part of one above nothing."""
    if (fraction := parse_fraction(value)) <= 0:
        raise UsageError(f"this is more than nothing, but got {value!r}")
    return fraction


def _share(value: Any) -> float:
    """A part of the whole: more than nothing, less than everything."""
    if not 0 < (fraction := parse_fraction(value)) < 1:
        raise UsageError(f"this lies between 0 and 1, but got {value!r}")
    return fraction


# How the value of each key of `Settings` is read.
_SETTINGS: dict[str, Callable[[Any], Any]] = {
    "mpi": words(),
    "stack": words(check=transports),
    "protocol": words(PROTOCOLS),
    "placement": words(PLACEMENTS),
    "ranks": rank_counts(CORES),
    "oversubscribe": flag,
    "hosts": words(),
    "agent": text,
    "launcher": word((AUTO, OWN, *launchers())),
    "tolerance": _positive_fraction,
    "launches": lambda value: Launches(*launch_counts(value)),
    "point_time": _positive_time,
    "point_limit": _positive_time,
}
_PLAN_KEYS = ("question", "time", "headline", "measure")
_MEASURE_KEYS = ("benchmark", "time")


def _settings(table: plan_text.Table, default: Settings) -> Settings:
    """The settings of a table on top of those around it."""
    given = {key: table.get(key, parse, None) for key, parse in _SETTINGS.items() if key in table.data}
    settings = replace(default, **given)
    if settings.point_limit < settings.point_time:
        key = "point_limit" if "point_limit" in given else "point_time"
        raise table.error(
            f"point_limit, {settings.point_limit:g} s, is less than point_time, {settings.point_time:g} s",
            key,
        )
    return settings


def _measure(table: plan_text.Table, around: Settings, registry: Registry) -> Measure:
    """One `[[measure]]`, checked against the benchmark that it names."""
    benchmark = _benchmark(table, registry, "a [[measure]]")
    sweeps = {sweep.name: sweep for sweep in benchmark.sweeps}
    table.check_keys([*_MEASURE_KEYS, *_SETTINGS, *sweeps], f"a [[measure]] of {benchmark.name}")
    settings = _settings(table, around)
    # Ranks set for the whole plan stand for those benchmarks that can use them.
    if "ranks" not in table.data:
        usable = tuple(r for r in settings.ranks if isinstance(r, str) or _fits(r, benchmark))
        settings = replace(settings, ranks=usable)
    for ranks in settings.ranks:
        if isinstance(ranks, int) and not _fits(ranks, benchmark):
            raise table.error(f"ranks: {benchmark.name} takes {_taken(benchmark)}, but got {ranks}", "ranks")
    return Measure(
        benchmark=benchmark.name,
        sweeps={n: table.get(n, values_of(s), s.default) for n, s in sweeps.items() if n in table.data},
        settings=settings,
        time=table.get("time", _positive_time, None),
        table=table,
    )


def _headline(table: plan_text.Table, registry: Registry) -> Headline:
    """The `[headline]`, checked against the benchmark that it names."""
    benchmark = _benchmark(table, registry, "[headline]")
    sweeps = {sweep.name: sweep for sweep in benchmark.sweeps}
    table.check_keys(["benchmark", "share", *sweeps], "[headline]")
    values: dict[str, Value] = {}
    for name, sweep in sweeps.items():
        given = table.get(name, values_of(sweep), None)
        if given is not None and len(given) != 1:
            raise table.error(f"{name}: a headline is one point, but got {len(given)} values", name)
        if given is not None:
            values[name] = given[0]
    return Headline(benchmark.name, values, table.get("share", _share, 0.2), table)


def _benchmark(table: plan_text.Table, registry: Registry, where: str) -> Benchmark:
    """The benchmark that a table names."""
    known = registry(2)
    name = table.need("benchmark", word(), where)
    if name not in known:
        raise table.error(f"unknown benchmark {name!r}{suggest(name, known)}", "benchmark")
    return known[name]


def _fits(ranks: int, benchmark: Benchmark) -> bool:
    """Whether a benchmark can be asked of so many ranks."""
    return benchmark.min_ranks <= ranks and (benchmark.max_ranks is None or ranks <= benchmark.max_ranks)


def _taken(benchmark: Benchmark) -> str:
    """How many ranks a benchmark takes, in words."""
    least, most = benchmark.min_ranks, benchmark.max_ranks
    return (
        f"{least} ranks"
        if least == most
        else f"{least} to {most} ranks"
        if most
        else f"{least} ranks or more"
    )


def _clamp(cores: int, benchmark: Benchmark) -> int:
    """A rank on every core, as far as the benchmark takes them."""
    return max(benchmark.min_ranks, min(cores, benchmark.max_ranks or cores))
