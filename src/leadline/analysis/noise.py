"""How quiet was the machine? From the records: who else used it while a point was measured, and did it show?

The same binary gives 0.3 us on a quiet machine and 1.3 to 17 us on a loaded one, so a number without this is
worth little. Four signs are read from each record (`SIGNS`); the run is judged by how many records show one,
by what the `noise` benchmark found, by the clock frequency, and by launches that fall into two groups.

The thresholds and their reasons:

- DISTURBED, 2 % of the time: the default tolerance of a plan. Less cannot move a result by more than the
  result promises.
- LOADED, 20 % of the time: more than the 9 to 19 % by which launches of a quiet machine differ by themselves.
- NOISE_DISTURBED, 5 %: what the noise benchmark loses is counted from its quickest quantum, an extreme that
  the clock's own wobble already lies a few per cent above.
- SOME = 5 % of the records: as many as a 95 % interval may leave out. MANY = 25 %: with about twenty launches
  the interval of the median ends at the quartiles, so that many disturbed ones decide where it ends.
"""

from dataclasses import dataclass, field
from math import exp, log
from typing import Any, Literal, NamedTuple

import numpy as np
import polars as pl

from leadline.analysis.dependence import of_runs
from leadline.analysis.estimates import launch_estimates, series_columns
from leadline.core.busy import BUSY
from leadline.core.record import OK, SIMULATED
from leadline.core.statistics import Values
from leadline.core.units import format_quantity

Level = Literal["quiet", "disturbed", "loaded", "unknown"]
# The levels for people.
IN_WORDS: dict[Level, str] = {
    "quiet": "quiet",
    "disturbed": "noisy",
    "loaded": "busy",
    "unknown": "not known",
}

DISTURBED, LOADED = 0.02, 0.20
NOISE_DISTURBED = 0.05
SOME, MANY = 0.05, 0.25
FREQUENCY_RANGE = 0.10  # a tenth of the clock is a tenth of the software latency, as much as launches differ
WILD = 3.0  # times the value: beyond that nothing is told, whether others were seen or not
MEANINGLESS = 0.25  # six launches that differ by 19 % (the most of a quiet machine) give about +-24 %
TINY = 1e-300  # keeps equal launches from dividing by no variance
JUMP_LAUNCHES = 6  # fewer cannot be told apart into two groups of two and more


class Sign(NamedTuple):
    """Something in a record that tells of others on the machine."""

    name: str
    figure: pl.Expr  # null where it was not watched
    unit: str  # "%" of the time (the figure is a share), else the unit of the figure
    disturbed: float
    loaded: float  # infinite: this sign alone does not show that the ranks suffered
    says: str  # how it is told, with {} for the largest figure


# Oversubscribed ranks wait for each other by design, so waiting and switches tell nothing about others there.
_ALONE = ~pl.col("oversubscribed").fill_null(False)
_DURATION = pl.when(pl.col("duration") > 0).then(pl.col("duration"))

SIGNS = (
    Sign(
        "waiting",
        # A rank may have begun to wait before rank 0 began the point.
        pl.when(_ALONE).then((pl.col("run_delay") / _DURATION).clip(upper_bound=1.0)),
        "%",
        DISTURBED,
        LOADED,
        "a rank waited for its processor up to {} of the time",
    ),
    # Time of all processors of the host together: it may all have been taken from ours.
    Sign(
        "steal",
        pl.col("steal"),
        "%",
        DISTURBED,
        LOADED,
        "the hypervisor took up to {} of one processor's time",
    ),
    # A quarter of a processor: caches, memory and clock are shared even where processors are not. Whether
    # others really met the ranks on a node of many cores, only waiting tells: never "loaded" by this alone.
    Sign("others", pl.col("others"), "processors", BUSY, float("inf"), "other processes kept up to {} busy"),
    # The kernel's slice is about 3 ms: one competitor takes a rank off its processor 300 times a second.
    Sign(
        "switches",
        pl.when(_ALONE & (pl.col("switches") >= 10)).then(pl.col("switches") / _DURATION / pl.col("ranks")),
        "1/s",
        100.0,
        float("inf"),
        "a rank was taken off its processor up to {} times a second",
    ),
)


@dataclass(frozen=True)
class Quietness:
    """The verdict on a run: how quiet, the sentences that say why, and the figures behind them (SI, shares
    of 1).

    `level` is "unknown" where the records hold none of the signs, as imported ones do.
    """

    level: Level
    sentences: list[str] = field(default_factory=list)
    figures: dict[str, float] = field(default_factory=dict)


def with_signs(records: pl.DataFrame) -> pl.DataFrame:
    """`records` with each sign's figure (`sign_NAME`), and `disturbed` and `loaded`: whether any sign says
    so.
    """
    table = records.with_columns(sign.figure.cast(pl.Float64).alias(f"sign_{sign.name}") for sign in SIGNS)

    def beyond(level: str) -> pl.Expr:
        return pl.any_horizontal(
            (pl.col(f"sign_{sign.name}") >= getattr(sign, level)).fill_null(False) for sign in SIGNS
        )

    return table.with_columns(disturbed=beyond("disturbed"), loaded=beyond("loaded"))


def percent(share: float) -> str:
    """A share of 1 for people, two digits and no exponent: 0.123 is "12 %", 0.00123 is "0.12 %"."""
    digits = 0 if share >= 0.0995 else 1 if share >= 0.00995 else 2
    text = f"{100 * share:.{digits}f}"
    return f"{text.rstrip('0').rstrip('.') if '.' in text else text} %"


def of_value(share: float) -> str:
    """How far an interval reaches, for people: "12 %" of its value; beyond that "5,200 times the value"."""
    return percent(share) if share <= 1 else f"{share:,.{0 if share >= 10 else 1}f} times the value"


def factor(value: float) -> str:
    """A factor, for people: "1.3", "27,000"."""
    return f"{value:,.0f}" if value >= 10 else f"{value:.2g}"


def told(sign: Sign, figure: float) -> str:
    """The figure of a sign for people: "12 %", "1.3 processors", "3,240"."""
    if sign.unit == "%":
        return percent(figure)
    return f"{figure:.2g} {sign.unit}" if sign.unit != "1/s" else f"{figure:,.0f}"


def describe(figures: dict[str, float | None]) -> str:
    """What other work did, from the largest figure of each sign; only of those beyond their threshold."""
    return "; ".join(
        sign.says.format(told(sign, figure))
        for sign in SIGNS
        if (figure := figures.get(sign.name)) is not None and figure >= sign.disturbed
    )


class Jump(NamedTuple):
    """Launches of one point that fall into two groups: where, how many in each, and how they follow."""

    low: float
    high: float
    count_low: int
    count_high: int
    changes: int  # how often a launch is of the other group than the one before

    @property
    def in_time(self) -> bool:
        """Whether groups last: at most half as many changes as without any order."""
        small, large = sorted((self.count_low, self.count_high))
        return self.changes <= small * large / (small + large)


def find_jump(medians: Values, spread: float = 0.0) -> Jump | None:
    """Two groups among the launches of a point (in order), or None.

    `spread` is the quartile distance within a launch, as a share. The groups are those that part the
    logarithms with the least squared distance from their means, two launches at least in each. They count
    as two when their means lie 25 % apart (more than a quiet machine's 9 to 19 %), the gap between them is
    wider than the spread within a launch, and parting them explains 0.8 + 1/n of the variance: n values of
    one normal, uniform or exponential distribution reach that at most one time in twenty
    (tests/analysis/test_noise.py).
    """
    values = np.asarray(medians, dtype=np.float64)
    if values.size < JUMP_LAUNCHES or (values <= 0).any():
        return None
    logs = np.sort(np.log(values))
    within = {k: k * logs[:k].var() + (logs.size - k) * logs[k:].var() for k in range(2, logs.size - 1)}
    cut = min(within, key=within.__getitem__)
    lower, upper = logs[:cut], logs[cut:]
    gap = upper[0] - lower[-1]
    explained = 1 - within[cut] / max(logs.size * logs.var(), TINY)
    parted = explained >= 0.8 + 1 / logs.size and upper.mean() - lower.mean() >= log(1.25)
    if not parted or gap <= spread:
        return None
    above = np.log(values) > (upper[0] + lower[-1]) / 2
    changes = int(np.count_nonzero(np.diff(above)))
    return Jump(exp(lower.mean()), exp(upper.mean()), cut, logs.size - cut, changes)


def judge(records: pl.DataFrame, launches: pl.DataFrame | None = None) -> Quietness:
    """The verdict on all the records given, which should be those of one run; `launches` are their
    `launch_estimates`, where these are known.
    """
    if launches is None:
        launches = launch_estimates(records)
    measured = with_signs(records.filter(pl.col("status") == OK))
    sentences: list[str] = []
    figures: dict[str, float] = {}
    levels: list[Level] = []
    parts = (
        (_judge_signs, measured),
        (_judge_noise_benchmark, measured),
        (_judge_frequency, measured),
        (_judge_launches, launches),
    )
    for part, table in parts:
        if found := part(table, sentences, figures):
            levels.append(found)
    order: tuple[Level, ...] = ("loaded", "disturbed", "quiet")
    level: Level = next((each for each in order if each in levels), "unknown")
    if level == "unknown":
        sentences.insert(0, "These records have no data on other work.")
    return Quietness(level, sentences, figures)


def judge_runs(records: pl.DataFrame) -> dict[str, Quietness]:
    """The verdict on each run in `records`, by the run's name, in order of appearance.

    A simulated run has no machine that could be disturbed, and no verdict.
    """
    records = records.filter(pl.col("source") != SIMULATED)
    runs = records.get_column("run").unique(maintain_order=True)
    launches = launch_estimates(records)
    found = {run: judge(*(each.filter(pl.col("run") == run) for each in (records, launches))) for run in runs}
    for run, dependent in of_runs(launches).items():
        if dependent.says:
            found[run].sentences.insert(0, dependent.says)
    return found


def _judge_signs(measured: pl.DataFrame, sentences: list[str], figures: dict[str, float]) -> Level | None:
    """How many records show a sign of others, and each sign in numbers."""
    watched = [sign for sign in SIGNS if measured.get_column(f"sign_{sign.name}").count() > 0]
    if not watched:
        return None
    disturbed, loaded = (_share(measured.get_column(name)) for name in ("disturbed", "loaded"))
    figures |= {"records": float(measured.height), "disturbed_share": disturbed, "loaded_share": loaded}
    sentences.append(
        f"{percent(disturbed)} of the {measured.height} records show other work on the machine, "
        f"{percent(loaded)} much of it."
    )
    for sign in watched:
        column = measured.get_column(f"sign_{sign.name}").drop_nulls()
        middle, most = (float(column.quantile(q, "nearest") or 0.0) for q in (0.5, 1.0))
        figures |= {f"{sign.name}_median": middle, f"{sign.name}_max": most}
        said = sign.says.format(told(sign, most))
        sentences.append(f"{said[0].upper()}{said[1:]} (median over the records {told(sign, middle)}).")
    return "loaded" if loaded >= MANY else "disturbed" if disturbed >= SOME else "quiet"


def _share(flags: pl.Series) -> float:
    """The share of true values."""
    return float(flags.sum()) / max(1, flags.len())


def _judge_noise_benchmark(
    measured: pl.DataFrame, sentences: list[str], figures: dict[str, float]
) -> Level | None:
    """What the noise benchmark lost of its fixed work: the mean of its shares (unit 1), and its longest
    delay.
    """
    noise = measured.filter(pl.col("benchmark") == "noise").with_columns(
        kept=pl.col("samples").list.slice(pl.col("warmup").fill_null(0))
    )
    lost, delays = (
        noise.filter(pl.col("unit") == unit).get_column("kept").explode().drop_nulls().drop_nans().to_numpy()
        for unit in ("1", "s")
    )
    if not lost.size:
        return None
    mean, most = float(np.mean(lost)), float(np.max(lost))
    figures |= {"noise_mean": mean, "noise_max": most}
    said = f"The noise benchmark lost {percent(mean)} of its time, in its worst sample {percent(most)}"
    if delays.size:
        figures["noise_longest"] = float(np.max(delays))
        said += f"; the longest delay was {format_quantity(figures['noise_longest'], 's')}"
    sentences.append(f"{said}.")
    return "loaded" if mean >= LOADED else "disturbed" if mean >= NOISE_DISTURBED else "quiet"


def _judge_frequency(measured: pl.DataFrame, sentences: list[str], figures: dict[str, float]) -> Level | None:
    """Whether the clock held: the range of 90 % of the records."""
    clock = measured.get_column("frequency").drop_nulls()
    if clock.is_empty():
        return None
    low, high = (float(clock.quantile(q, "nearest") or 0.0) for q in (0.05, 0.95))
    figures |= {"frequency_low": low, "frequency_high": high}
    moved = high > 0 and 1 - low / high >= FREQUENCY_RANGE
    sentences.append(
        f"The clock {'moved between' if moved else 'stayed between'} {format_quantity(low, 'Hz')} and "
        f"{format_quantity(high, 'Hz')}."
    )
    return "disturbed" if moved else None  # a steady clock alone does not make a machine quiet


class Groups(NamedTuple):
    """At how many points of so many the launches fall into two groups, and how far apart these are there."""

    jumps: int
    points: int
    factor: float  # median over those points of the ratio of the two; 1 without any

    @property
    def many(self) -> bool:
        """Whether a point may have met one of the two alone: a ratio up to `factor` is chance."""
        return self.jumps >= max(2, MANY * self.points)


def groups(launches: pl.DataFrame) -> Groups:
    """The two groups of a run's launches (a table of `launch_estimates`)."""
    points = _several(launches)
    found = [jump for point in points if (jump := find_jump(point["median"], point["spread"]))]
    apart = float(np.median([jump.high / jump.low for jump in found])) if found else 1.0
    return Groups(len(found), len(points), apart)


def _several(launches: pl.DataFrame) -> list[dict[str, Any]]:
    """The points with enough launches to tell groups: their medians in order, and the spread within one."""
    by = series_columns(launches.drop("median", "spread", "samples"))
    return (
        launches.sort("launch", maintain_order=True)
        .group_by(by, maintain_order=True)
        .agg(pl.col("unit").first(), pl.col("median"), pl.col("spread").median().fill_null(0.0))
        .filter(pl.col("median").list.len() >= JUMP_LAUNCHES)
        .rows(named=True)
    )


def _judge_launches(launches: pl.DataFrame, sentences: list[str], figures: dict[str, float]) -> Level | None:
    """How far launches lie apart, beside the samples within one; and whether they fall in two groups."""
    points = _several(launches)
    if not points:
        return None
    between = float(np.median([_quartile_distance(point["median"]) for point in points]))
    within = float(np.median([point["spread"] for point in points]))
    figures |= {"between_launches": between, "within_launch": within}
    over = f"{len(points)} points" if len(points) > 1 else "1 point"
    sentences.append(
        f"Launches differ by {of_value(between)} (quartile distance, median over {over} with at "
        f"least {JUMP_LAUNCHES} launches), samples within one by {of_value(within)}."
    )
    jumps = [(point, jump) for point in points if (jump := find_jump(point["median"], point["spread"]))]
    figures["jump_share"] = len(jumps) / len(points)
    if not jumps:
        return None
    sentences.append(_jump_sentence(jumps, len(points)))
    in_time = sum(jump.in_time for _, jump in jumps) / len(points)
    figures["shift_share"] = in_time
    # Groups that alternate are a lottery of the launch itself (where its memory lies): quiet machines too.
    return "disturbed" if in_time >= SOME else None


def _quartile_distance(values: Values) -> float:
    """Distance between the quartiles as a share of the median; 0 where the median is not above zero."""
    low, middle, high = np.quantile(values, (0.25, 0.5, 0.75))
    return float((high - low) / middle) if middle > 0 else 0.0


def _jump_sentence(jumps: list[tuple[dict[str, Any], Jump]], points: int) -> str:
    """At how many points the launches have two groups, and the widest of them in numbers."""
    row, jump = max(jumps, key=lambda each: each[1].high / each[1].low)
    unit = str(row["unit"])
    size = f" at {format_quantity(row['bytes'], 'B')}" if isinstance(row.get("bytes"), int) else ""
    how = "in no order of time"
    if jump.changes == 1:
        how = "one group followed the other: something began or ended"
    elif jump.in_time:
        how = f"in {jump.changes + 1} stretches, as where the machine has states that last"
    return (
        f"At {len(jumps)} of {points} values the launches fall into two groups; the widest is "
        f"{row['benchmark']} {row['metric']}{size}: {jump.count_low} launches at about "
        f"{format_quantity(jump.low, unit)}, {jump.count_high} at about "
        f"{format_quantity(jump.high, unit)} ({how})."
    )
