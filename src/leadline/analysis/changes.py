"""The verdict on each point that both sides of a comparison measured."""

from collections.abc import Mapping, Sequence
from math import exp, expm1, inf, log1p
from statistics import NormalDist

from leadline.analysis.dependence import Dependence, dependence
from leadline.analysis.noise import Groups, factor
from leadline.analysis.verdict import LEAST, Change, Common, Compared, judge
from leadline.core.record import Row
from leadline.core.statistics import CONFIDENCE, POWER

REGRESSION, IMPROVEMENT = "regression", "improvement"
UNCHANGED, UNDECIDED = "unchanged", "undecided"
SUSPECTED = {REGRESSION: "suspected regression", IMPROVEMENT: "suspected improvement"}
BUSY = "other work ran during many launches of"  # the beginning of a reason
FAILED_IN_B, ONLY_IN_A, ONLY_IN_B = "failed in B", "only in A", "only in B"
AS_FAR = 1.5  # times the typical distance of two groups, which differs from point to point
EXACT = "both simulated: exact"  # the reason of a verdict that no chance has a part in


def judge_rows(
    rows: list[Row],
    sides: Mapping[str, dict[int, int]],
    threshold: float,
    *,
    within_run: bool,
    earlier: Sequence[float] = (),
    groups: Mapping[str, Groups] | None = None,
) -> tuple[Common, dict[str, list[Dependence]]]:
    """Gives every point that both sides measured its ratio and verdict; returns what all points share.

    A row is one of `leadline.analysis.compare` with `logs`, the logarithms of both sides by launch (larger is
    slower), `busy`, the sides on which other work disturbed many launches heavily, and `chosen`, whether it
    is asked for: all points show what chance does, those asked for are corrected for. `sides` has the run of
    each launch. `within_run`: both sides were measured in turns.
    `earlier`: the shifts of earlier runs. `groups`: the two groups of launches of a side that is one run.
    """
    for row in rows:
        if row["reason"] == EXACT:
            row["verdict"] = _beyond(row["ratio"], row["better"] == "higher", threshold)
    tested = [row for row in rows if "logs" in row]
    chosen = [row for row in tested if row["chosen"]]
    among = sum(min(map(len, row["logs"])) >= LEAST for row in chosen)
    by_side = [[row["logs"][place] for row in tested] for place in range(2)]
    found = {name: _dependences(points, sides[name]) for name, points in zip("AB", by_side, strict=True)}
    a, b = ([each.inflation for each in found[name]] for name in "AB")
    if within_run:
        factor = [max([*a, *b, 1.0])]
        changes, common = judge(
            [_in_turns(*row["logs"]) for row in tested], days=False, inflation=((), factor), among=among
        )
    else:
        points = [
            Compared(_by_run(row["logs"][0], sides["A"]), _by_run(row["logs"][1], sides["B"]))
            for row in tested
        ]
        changes, common = judge(points, inflation=(a, b), earlier=earlier, among=among)
    for row, change in zip(tested, changes, strict=True):
        del row["logs"]
        row.update(_too_few(row) if change is None else _judged(row, change, common, threshold, len(chosen)))
        # What was taken in turns met the same disturbance on both sides.
        if row["verdict"] in SUSPECTED and row["busy"] and not within_run:
            said = f"{BUSY} {' and '.join(row['busy'])}"
            row.update({"verdict": SUSPECTED[row["verdict"]], "reason": said})
        if row["verdict"] in SUSPECTED and (met := _as_groups(row["ratio"], groups or {})):
            row.update({"verdict": SUSPECTED[row["verdict"]], "reason": met})
    for row in rows:
        row.pop("busy", None)
    return common, found


def _as_groups(ratio: float, groups: Mapping[str, Groups]) -> str | None:
    """Why a change may be that between two groups of launches: a machine that has two states."""
    for side, found in groups.items():
        if found.many and max(ratio, 1 / ratio) <= found.factor * AS_FAR:
            return (
                f"launches of {side} fall into two groups at {found.jumps} of {found.points} values, "
                f"{factor(found.factor)} times apart: this point may have met one of them"
            )
    return None


def _by_run(launches: Mapping[int, float], runs: Mapping[int, int]) -> list[list[float]]:
    """The values of launches, a list for each run."""
    found: list[list[float]] = [[] for _ in range(max(runs.values()) + 1)]
    for launch, value in sorted(launches.items()):
        found[runs[launch]].append(value)
    return found


def _in_turns(a: Mapping[int, float], b: Mapping[int, float]) -> Compared:
    """Launches of one run that were taken in turns, the k-th of B less the k-th of A."""
    ordered = [[value for _, value in sorted(each.items())] for each in (a, b)]
    return Compared([], [[after - before for before, after in zip(*ordered, strict=False)]])


def _dependences(points: Sequence[Mapping[int, float]], runs: Mapping[int, int]) -> list[Dependence]:
    """The dependence of the launches of each run of a side."""
    return [
        dependence([{k: v for k, v in point.items() if runs[k] == run} for point in points])
        for run in range(max(runs.values(), default=-1) + 1)
    ]


def _too_few(row: Row) -> Row:
    """What is said of a point that has a ratio and no interval."""
    return {
        "ratio": row["b"] / row["a"],
        "reason": f"too few launches: {row['launches_a']} against {row['launches_b']}; "
        f"{LEAST} against {LEAST} are the fewest",
    }


def _beyond(ratio: float, higher_is_better: bool, threshold: float) -> str:
    """The verdict on a ratio that chance has no part in."""
    up, down = (IMPROVEMENT, REGRESSION) if higher_is_better else (REGRESSION, IMPROVEMENT)
    return up if ratio > 1 + threshold else down if ratio < 1 - threshold else UNCHANGED


def _judged(row: Row, change: Change, common: Common, threshold: float, points: int) -> Row:
    """Ratio, interval and verdict of a point; the change is one of times, larger is slower."""
    turned = row["better"] == "higher"
    low, high = (-change.high, -change.low) if turned else (change.low, change.high)
    verdict, reason = _verdict(change, common, threshold, points)
    least = log1p(threshold)
    return {
        "ratio": exp(-change.shift if turned else change.shift),
        "low": exp(low),
        "high": exp(high),
        "confidence": CONFIDENCE,
        "detectable": max(change.detectable, _found_beyond(least, change.error)),
        "chance": min(
            change.chance(log1p(2 * threshold)), _reaches(log1p(2 * threshold) - least, change.error)
        ),
        "verdict": verdict,
        "reason": reason,
    }


def _found_beyond(least: float, error: float) -> float:
    """The change whose estimate lies beyond `least` with probability POWER."""
    return expm1(least + NormalDist().inv_cdf(POWER) * error)


def _reaches(distance: float, error: float) -> float:
    """The probability that an estimate is at most `distance` too small."""
    return NormalDist().cdf(distance / error if error > 0 else inf)


def _verdict(change: Change, common: Common, threshold: float, points: int) -> tuple[str, str | None]:
    """The verdict on one change of a time among all the points, and its reason where it needs one."""
    slower, faster = log1p(threshold), log1p(-threshold)
    # Against what all points share a point may have changed the other way than by itself: that is no verdict.
    if change.rises and change.size > slower and change.shift > 0:
        return REGRESSION, None
    if change.falls and change.size < faster and change.shift < 0:
        return IMPROVEMENT, None
    if faster <= change.low and change.high <= slower:
        return UNCHANGED, None
    if change.low > slower or change.high < faster:
        suspected = SUSPECTED[REGRESSION if change.shift > 0 else IMPROVEMENT]
        by_itself = f"beyond {100 * threshold:g} % by itself, but "
        if change.rises or change.falls or abs(change.own) < abs(change.shift) / 2:
            return (
                suspected,
                by_itself + "with all points of the run, as days differ: more runs on each side would tell",
            )
        return suspected, by_itself + f"among {points} points it may be chance: more launches would tell"
    return UNDECIDED, None
