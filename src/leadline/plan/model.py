"""A plan: what is to be measured, at which points, and how tight the answers must be.

It is written in TOML (`docs/plans.md` has the keys, `plans/` has examples). Reading it checks everything
that can be known without launching a rank; its points are then one benchmark with one value for each of its
sweeps, and the launch that it needs.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from leadline.core import toml as plan_text
from leadline.core.arguments import PATH, checked
from leadline.core.axes import AXES, CORES, DEFAULT, FOUND, NODES
from leadline.core.errors import UsageError, suggest
from leadline.core.record_files import PointKey
from leadline.core.units import parse_fraction
from leadline.core.values import Value, text, word, words
from leadline.native.registry import Benchmark, SweepContext, benchmarks
from leadline.plan.points import Point
from leadline.plan.settings import (
    KEYS,
    Launches,
    Settings,
    positive_time,
    read_settings,
)

if TYPE_CHECKING:
    from leadline.targets import Target

__all__ = ["CORES", "FOUND", "Headline", "Launches", "Measure", "Plan", "Point", "Registry"]

THEN = ("guidelines",)  # what can be said of a run's records at its end

_REGISTRY = "a function that gives the benchmarks by name"

# The benchmarks by name; a benchmark's default values depend on the ranks and where they are.
Registry = Callable[[SweepContext], Mapping[str, Benchmark]]


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
    """A plan as read, or as made in Python."""

    path: Path
    text: str
    question: str
    then: tuple[str, ...]  # what is said of the records at the end of a run
    time: float  # s, for the whole plan
    settings: Settings
    headline: Headline | None
    measures: tuple[Measure, ...]
    registry: Registry = field(repr=False, compare=False)

    @property
    def name(self) -> str:
        """The plan's name: that of its file."""
        return self.path.stem

    @classmethod
    @checked(path=PATH, registry=_REGISTRY)
    def load(cls, path: Path | str, registry: Registry = benchmarks) -> "Plan":
        """Read and check a plan's file.

        Raises UsageError, naming file and line, for whatever a person can get wrong in it.
        """
        path = Path(path)
        return cls._of(path, plan_text.read(path), registry)

    @classmethod
    @checked(text="the text of a plan", path=PATH, registry=_REGISTRY)
    def parse(cls, text: str, path: Path | str, registry: Registry = benchmarks) -> "Plan":
        """A plan from its text; `path` is what complaints name. Raises UsageError as `load` does."""
        path = Path(path)
        return cls._of(path, plan_text.parse(text, path), registry)

    @classmethod
    @checked(name=PATH, beside="a text or a Path of a directory", registry=_REGISTRY)
    def of(
        cls,
        *measures: Mapping[str, object],
        name: str | Path = "plan",
        beside: Path | str = Path(),
        registry: Registry = benchmarks,
        **keys: Any,
    ) -> "Plan":
        """A plan made in Python: every measure has the keys of a `[[measure]]`, `keys` are those of the plan.

        `beside` is the directory in which files that it names are sought. Raises UsageError, naming the
        measure and the key, for whatever a plan's file may not have.

        >>> Plan.of({"benchmark": "pingpong", "bytes": "8 B"}, time="10 s").time
        10.0
        """
        if "measure" in keys:
            raise UsageError(f"{name}: measurements are arguments without a name, but got 'measure'")
        for each in measures:
            if not isinstance(each, Mapping):
                raise UsageError(
                    f"{name}: each measurement is a mapping such as {{'benchmark': 'pingpong'}}, "
                    f"but got {each!r}"
                )
        document = plan_text.Document.made({**keys, "measure": [dict(each) for each in measures]}, str(name))
        return cls._of(Path(beside) / f"{name}.toml", document, registry)

    @classmethod
    def _of(cls, path: Path, document: plan_text.Document, registry: Registry) -> "Plan":
        """The plan that a document describes."""
        top, measures = document.top, document.rows("measure")
        top.check_keys([*_PLAN_KEYS, *KEYS], "a plan")
        if not measures:
            raise top.error("a plan has at least one [[measure]] with the name of a benchmark")
        settings = read_settings(top, Settings())
        headline = document.table("headline")
        read = tuple(_measure(table, settings, registry) for table in measures)
        _check_ranks(top, settings, [each for each in read if "ranks" not in each.table.data], registry)
        return cls(
            path=path,
            text=document.text,
            question=top.get("question", text, ""),
            then=top.get("then", words(THEN), ()),
            time=top.get("time", positive_time, 300.0),
            settings=settings,
            headline=_headline(headline, registry) if headline else None,
            measures=read,
            registry=registry,
        )

    def points(self, target: "Target") -> list[Point]:
        """Every point of the plan at a target, in its order, each once.

        Raises UsageError for what the target does not have, for a point that two measurements ask for, and
        for a headline that none of them contains.
        """
        found: dict[PointKey, Point] = {}
        asked: dict[object, int] = {}
        for index, measure in enumerate(self.measures):
            for words_used, point in self._expand(index, measure, target):
                if asked.setdefault((words_used, point.key), index) != index and target.strict:
                    first = self.measures[asked[words_used, point.key]].table.line
                    raise measure.table.error(f"{point.describe()} is already asked for on line {first}")
                found.setdefault(point.key, point)
        if self.headline and found and not any(point.headline for point in found.values()):
            values = (f"{name}={value}" for name, value in self.headline.values.items())
            named = " ".join([self.headline.benchmark, *values])
            raise self.headline.table.error(f"[headline] names {named}, which no [[measure]] measures")
        return list(found.values())

    def _expand(
        self, index: int, measure: Measure, target: "Target"
    ) -> Iterator[tuple[tuple[Value | None, ...], Point]]:
        """The points of one measurement, each with the plan's words for its MPI and its ranks."""
        try:
            s = target.settings(measure.settings)
        except UsageError as problem:
            key = str(problem).partition(":")[0]
            if not re.search(rf"^\s*{re.escape(key)}\s*=", self.text, re.MULTILINE):
                raise  # an option has it, not the plan
            raise measure.table.error(str(problem), key) from None
        smallest = self.registry(SweepContext())[measure.benchmark]
        # Which algorithms there are depends on the point; all other axes are asked for in the plan's words.
        asked = {**s.axes, "ranks": s.axes["ranks"] or (smallest.min_ranks,), "collectives": (None,)}
        for words_used in product(*(asked[name] or (None,) for name in AXES)):
            launch = dict(zip(AXES, words_used, strict=True))
            mpi_word, ranks_word, partition = (launch[name] for name in ("mpi", "ranks", "partition"))
            part = partition if isinstance(partition, int) else None
            if isinstance(ranks_word, int):
                ranks = ranks_word
            else:
                nodes = ranks_word == NODES
                there = target.nodes(s.hosts, part) if nodes else target.cores(s.hosts, s.agent, part)
                ranks = _clamp(there, smallest)
            sweeps = {
                sweep.name: measure.sweeps.get(sweep.name, sweep.default)
                for sweep in self.registry(target.sweep_context(ranks, part))[measure.benchmark].sweeps
            }
            for mpi, values in product(target.mpis(str(mpi_word)), product(*sweeps.values())):
                coordinates = dict(zip(sweeps, values, strict=True))
                headline = self.headline is not None and self.headline.covers(measure.benchmark, coordinates)
                point = Point(
                    **_launched({**launch, "mpi": mpi, "ranks": ranks}),
                    benchmark=measure.benchmark,
                    values=coordinates,
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
                )
                for each in target.collectives(s.words("collectives"), point):
                    yield (mpi_word, ranks_word), replace(point, collectives=each)


def _launched(words_used: Mapping[str, Value | None]) -> dict[str, Any]:
    """The values of axes that a plan's words mean."""
    return {name: None if AXES[name].later and word == DEFAULT else word for name, word in words_used.items()}


def _share(value: object) -> float:
    """A part of the whole: above 0 and below 1."""
    if not 0 < (fraction := parse_fraction(value)) < 1:
        raise UsageError(f"this lies between 0 and 1, but got {value!r}")
    return fraction


_PLAN_KEYS = ("question", "time", "then", "headline", "measure")
_MEASURE_KEYS = ("benchmark", "time")
_HEADLINE_KEYS = ("benchmark", "share")


def _measure(table: plan_text.Table, around: Settings, registry: Registry) -> Measure:
    """One `[[measure]]`, checked against the benchmark that it names."""
    benchmark = _benchmark(table, registry, "a [[measure]]", [*_MEASURE_KEYS, *KEYS])
    sweeps = {sweep.name: sweep for sweep in benchmark.sweeps}
    table.check_keys([*_MEASURE_KEYS, *KEYS, *sweeps], f"a [[measure]] of {benchmark.name}")
    settings = read_settings(table, around)
    # Ranks set for the whole plan stand for those benchmarks that can use them.
    if "ranks" not in table.data:
        usable = tuple(r for r in settings.axes["ranks"] if isinstance(r, str) or _fits(r, benchmark))
        settings = settings.with_axes({"ranks": usable})
    for ranks in settings.axes["ranks"]:
        if isinstance(ranks, int) and not _fits(ranks, benchmark):
            raise table.error(f"ranks: {benchmark.name} takes {_taken(benchmark)}, but got {ranks}", "ranks")
    return Measure(
        benchmark=benchmark.name,
        sweeps={n: table.get(n, s.read, s.default) for n, s in sweeps.items() if n in table.data},
        settings=settings,
        time=table.get("time", positive_time, None),
        table=table,
    )


def _check_ranks(
    top: plan_text.Table, settings: Settings, measures: Sequence[Measure], registry: Registry
) -> None:
    """UsageError for a number of ranks for the whole plan that none of these measurements can use."""
    names = dict.fromkeys(each.benchmark for each in measures)
    known = [registry(SweepContext())[name] for name in names]
    for ranks in settings.axes["ranks"]:
        if known and isinstance(ranks, int) and not any(_fits(ranks, each) for each in known):
            taken = "; ".join(f"{each.name} takes {_taken(each)}" for each in known[:3])
            raise top.error(f"ranks: no measurement can use {ranks}: {taken}", "ranks")


def _headline(table: plan_text.Table, registry: Registry) -> Headline:
    """The `[headline]`, checked against the benchmark that it names."""
    benchmark = _benchmark(table, registry, "[headline]", _HEADLINE_KEYS)
    sweeps = {sweep.name: sweep for sweep in benchmark.sweeps}
    table.check_keys([*_HEADLINE_KEYS, *sweeps], "[headline]")
    values: dict[str, Value] = {}
    for name, sweep in sweeps.items():
        given = table.get(name, sweep.read, None)
        if given is not None and len(given) != 1:
            raise table.error(f"{name}: a headline is one point, but got {len(given)} values", name)
        if given is not None:
            values[name] = given[0]
    return Headline(benchmark.name, values, table.get("share", _share, 0.2), table)


def _benchmark(table: plan_text.Table, registry: Registry, where: str, keys: Sequence[str]) -> Benchmark:
    """The benchmark that a table names; where it names none, a key that is neither of `keys` nor any
    benchmark's is complained of first, since it may be that name misspelt.
    """
    known = registry(SweepContext())
    if "benchmark" not in table.data:
        sweeps = {sweep.name for each in known.values() for sweep in each.sweeps}
        table.check_keys([*keys, *sweeps], where)
    name = table.need("benchmark", word(), where)
    if name not in known:
        hint = suggest(name, known) or "; 'leadline list benchmarks' has all"
        if name.startswith("osu_"):
            hint = "; docs/osu-imb.md says which benchmark is like each of OSU's"
        raise table.error(f"unknown benchmark {name!r}{hint}", "benchmark")
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


def _clamp(places: int, benchmark: Benchmark) -> int:
    """A rank on every core or node, as far as the benchmark takes them."""
    return max(benchmark.min_ranks, min(places, benchmark.max_ranks or places))
