"""What a watched history says: sentences, a table, a page of trends, JUnit XML and OpenMetrics text."""

from collections import Counter
from collections.abc import Sequence
from math import exp
from typing import Any

from leadline.analysis.noise import percent
from leadline.analysis.watch import (
    ABSENT,
    DRIFT,
    IMPROVEMENT,
    REGRESSION,
    SUSPECTED,
    UNCHANGED,
    UNJUDGED,
    Finding,
    change_points,
)
from leadline.core.record import Row
from leadline.core.units import format_quantity
from leadline.report import theme
from leadline.report.answers import Answers, Section, Table
from leadline.report.figures import Figure
from leadline.report.origin import origins
from leadline.report.page import Count, plot
from leadline.report.plots.axes import ABOVE, axis_unit, titled
from leadline.report.plots.canvas import canvas
from leadline.report.theme import Spec
from leadline.report.words import coordinates
from leadline.run.watched import FAILS, FIRST, Point, Verdict, circumstances

ORDER = (REGRESSION, FAILS, DRIFT, SUSPECTED, IMPROVEMENT, UNCHANGED, UNJUDGED, ABSENT)
SHARED = "all points together"
FIGURES = 12  # of points on the page; the table has all of them


def table(verdict: Verdict) -> list[Row]:
    """A row for each point, the worst first; the first row is what all points share, where that is known."""
    rows = []
    if verdict.shared:
        change = verdict.shared.change, verdict.shared.low, verdict.shared.high
        rows.append({"point": SHARED, "value": "", **_row(verdict, verdict.shared, change, "time")})
    ranked = sorted(
        verdict.points,
        key=lambda point: (ORDER.index(point.finding.verdict), -abs((point.change or (0.0,))[0])),
    )
    for point in ranked:
        newest = point.values[-1]
        value = "" if newest is None else format_quantity(newest, point.unit)
        row = {"point": name(point), "value": value, **_row(verdict, point.finding, point.change, "value")}
        rows.append(
            {
                **row,
                "reason": point.reason or row["reason"],
                **point.names,
                "unit": point.unit,
                "newest": newest,
            }
        )
    return rows


def _row(verdict: Verdict, finding: Finding, change: Any, of: str) -> Row:
    runs = verdict.history.runs
    says = finding.verdict + (
        f", {'worse' if finding.worse else 'better'}" if finding.verdict in (DRIFT, SUSPECTED) else ""
    )
    known = change is not None and change[0] is not None
    since = runs[finding.since].told if finding.since is not None and finding.since < len(runs) else ""
    reason = None
    if finding.verdict == DRIFT and finding.rate is not None:
        reason = f"{100 * finding.rate:+.2g} % of its time a day"
    elif finding.verdict == SUSPECTED:
        reason = "one run alone: the next runs decide"
    return {
        "verdict": says,
        "change": _percent(change) if known else "",
        "since": since,
        "reason": reason,
        "of": of,
        "change_relative": change[0] if known else None,
        "change_low": change[1] if known else None,
        "change_high": change[2] if known else None,
        "detectable": finding.detectable,
        "chance": finding.chance,
        "rate_a_day": finding.rate,
    }


def _percent(change: Sequence[float]) -> str:
    value, low, high = (100 * each for each in change)
    digits = 0 if high - low >= 2 else 1 if high - low >= 0.2 else 2
    if low == high:
        return f"{value:+.{digits}f} %"
    return f"{value:+.{digits}f} % [{low:+.{digits}f}, {high:+.{digits}f}]"


def name(point: Point) -> str:
    """A point by name: "pingpong latency, openmpi-4.1.4, 8 B"."""
    shown = {key: value for key, value in point.names.items() if key not in ("source", "benchmark", "metric")}
    return f"{point.names['benchmark']} {point.names['metric']}, {coordinates(shown, shown)}"


def sentences(verdict: Verdict) -> list[str]:
    """The outcome in a line, and what must be known to believe it."""
    history, runs = verdict.history, verdict.history.runs
    newest = runs[-1].told
    counts = Counter(point.finding.verdict for point in verdict.points)
    said = []
    if verdict.learning:
        said.append(
            f"{newest} is the first run: its simulated values are exact, and the next run is compared with "
            "them."
            if any(point.reason == FIRST for point in verdict.points)
            else f"{newest} is run {len(runs)} of a baseline of {history.baseline.runs}: too few runs are "
            "known to say how much runs differ, so nothing is judged yet."
        )
        if counts[FAILS]:
            said.append(f"{counts[FAILS]} points of earlier runs failed in it.")
    else:
        listed = ", ".join(f"{counts[each]} {each}" for each in ORDER if counts[each])
        points = f"{len(verdict.points)} point{'' if len(verdict.points) == 1 else 's'}"
        against = f"{verdict.baseline} runs from {runs[0].told} on" if verdict.baseline else runs[0].told
        said.append(
            f"{newest} against {against}: {points}, threshold {percent(verdict.threshold)}: {listed}."
        )
        if verdict.shared and verdict.shared.verdict in (REGRESSION, IMPROVEMENT, DRIFT):
            said.append(_of_shared(verdict, verdict.shared))
        found = sorted(point.finding.detectable for point in verdict.points if point.finding.detectable)
        shares = verdict.shared.detectable if verdict.shared else None
        if found and verdict.baseline:
            middle, worst = found[len(found) // 2], found[-1]
            said.append(
                f"A change of {percent(middle)} would be found within 3 runs with probability 80 % at "
                f"half of the points, of {percent(worst)} at each"
                + (f", and of {percent(shares)} where all change." if shares else ".")
            )
    said += [
        f"{run.told}: {what} was {old or 'unknown'}, is {new or 'unknown'}."
        for run, what, old, new in circumstances(runs)[-6:]
    ]
    said += [f"{each}." for each in history.notes]
    said += [f"{each} is set aside: {reason}." for each, reason in history.aside.items()]
    return said


def _of_shared(verdict: Verdict, shared: Finding) -> str:
    since = verdict.history.runs[shared.since].told if shared.since is not None else "then"
    if shared.verdict == DRIFT and shared.rate is not None:
        return f"All points together drift by {100 * shared.rate:+.2g} % of their time a day since {since}."
    change = _percent((shared.change, shared.low, shared.high))  # type: ignore[arg-type]
    return f"All points together take {change} time since {since}."


def compose(verdict: Verdict) -> Answers:
    """The page of trends."""
    rows = table(verdict)
    runs = verdict.history.runs
    ranked = sorted(
        verdict.points,
        key=lambda point: (ORDER.index(point.finding.verdict), -abs((point.change or (0.0,))[0])),
    )
    drawn = [point for point in ranked if sum(value is not None for value in point.values) > 1][:FIGURES]
    counts = Counter(point.finding.verdict for point in verdict.points)
    columns = ["verdict", "point", "newest", "change, 95 %", "since", "reason"]
    cells = [
        [str(row[key] or "") for key in ("verdict", "point", "value", "change", "since", "reason")]
        for row in rows
    ]
    changed = [[run.told, what, old, new] for run, what, old, new in circumstances(runs)]
    listed = [
        [run.told, "used", "baseline" if place < verdict.baseline else ""] for place, run in enumerate(runs)
    ]
    listed += [[each, "set aside", reason] for each, reason in verdict.history.aside.items()]
    sections = [
        Section(
            "Trends",
            "trends",
            "Each point is the median of a run; vertical lines are changes, the band is what "
            "runs of the baseline do (95 %).",
            [plot(_trend(verdict, point, place)) for place, point in enumerate(drawn)],
        ),
        Section("All points", "points", "The worst first.", [], Table("Points", columns, cells)),
        Section(
            "What changed around the runs",
            "circumstances",
            "Kernel, MPI, compiler, settings of the host.",
            [],
            Table("Circumstances", ["first run with it", "what", "before", "after"], changed),
        )
        if changed
        else None,
        Section(
            "Runs",
            "runs",
            "In the order in which they were taken.",
            [],
            Table("Runs", ["run", "use", "note"], listed),
        ),
    ]
    if verdict.shared:
        sections.insert(
            0,
            Section(
                "All points together",
                "together",
                "What the points of a run share, such as a warm day: the median change "
                "of their times against the baseline.",
                [plot(_together(verdict))],
            ),
        )
    said = sentences(verdict)
    return Answers(
        title=f"Watch of {verdict.history.directory.resolve().name}",
        subtitles=[f"{len(runs)} runs, the newest {runs[-1].told}"],
        verdict=said,
        counts=[
            Count(each, str(counts[each]), bad=each in (REGRESSION, FAILS, DRIFT))
            for each in ORDER
            if counts[each]
        ],
        sections=[each for each in sections if each],
        origins=origins([{"run": runs[-1].name, **runs[-1].facts}]),
        note="Intervals cover launches and days: their width is what the runs of the baseline differ by.",
    )


def _trend(verdict: Verdict, point: Point, place: int) -> Figure:
    """The value of a point in each run, with the baseline's band and the dates of changes."""
    worth = axis_unit(point.unit)[0]
    values = [None if value is None else value / worth for value in point.values]
    title = name(point)
    caption = _caption(point.finding, verdict)
    return _figure(
        f"trend-{place}",
        title,
        titled(str(point.names["metric"]), point.unit),
        values,
        verdict,
        point.finding,
        caption,
    )


def _together(verdict: Verdict) -> Figure:
    values: list[float | None] = [100 * (exp(each) - 1) for each in verdict.together]
    assert verdict.shared is not None
    return _figure(
        "together",
        "All points together",
        "time against the baseline (%)",
        values,
        verdict,
        verdict.shared,
        _caption(verdict.shared, verdict),
    )


def _caption(finding: Finding, verdict: Verdict) -> str:
    row = _row(verdict, finding, None, "")
    said = row["verdict"] + (f" since {row['since']}" if row["since"] else "")
    return f"{said[0].upper()}{said[1:]}{': ' + row['reason'] if row['reason'] else ''}."


def _figure(  # noqa: PLR0917
    anchor: str,
    title: str,
    y: str,
    values: Sequence[float | None],
    verdict: Verdict,
    finding: Finding,
    caption: str,
) -> Figure:
    import numpy as np  # noqa: PLC0415

    runs = verdict.history.runs
    dates = [run.date.isoformat() if run.date else None for run in runs]
    ordered = (
        all(dates) and verdict.history.days == sorted(verdict.history.days) and not verdict.history.notes
    )
    points = [
        {
            "x": dates[place] if ordered else place + 1,
            "y": value,
            "run": run.told,
            "part": "baseline" if place < verdict.baseline else "judged",
        }
        for place, (run, value) in enumerate(zip(runs, values, strict=True))
        if value is not None
    ]
    base = np.array([value for value in values[: verdict.baseline] if value is not None])
    band = []
    marks = [finding.since] if finding.since is not None and finding.verdict != DRIFT else []
    if base.size > 2:
        spread = 2.0 * float(base.std(ddof=1))
        band = [{"lo": float(base.mean()) - spread, "hi": float(base.mean()) + spread}]
        if spread > 0:
            series = (np.array([np.nan if value is None else value for value in values]) - base.mean()) / (
                spread / 2
            )
            marks = sorted({*marks, *change_points(series)})
    x: Spec = {
        "field": "x",
        "type": "temporal" if ordered else "quantitative",
        "title": "date" if ordered else "run",
    }
    channel = {
        "field": "y",
        "type": "quantitative",
        "title": y,
        "scale": {"zero": False, "nice": True},
        "axis": {**ABOVE, "format": ",.6~r", "tickCount": 5},
    }
    rules = [{"x": dates[mark] if ordered else mark + 1, "run": runs[mark].told} for mark in marks]
    spec = {
        **canvas(title, 200),
        "datasets": {"points": points, "band": band, "rules": rules},
        "layer": [
            {
                "data": {"name": "band"},
                "mark": {"type": "rect", "opacity": 0.14, "color": theme.token("s0")},
                "encoding": {"y": {**channel, "field": "lo"}, "y2": {"field": "hi"}},
            },
            {
                "data": {"name": "rules"},
                "mark": {"type": "rule", "strokeDash": [5, 3], "color": theme.token("s1")},
                "encoding": {"x": x, "tooltip": [{"field": "run", "title": "change"}]},
            },
            {
                "data": {"name": "points"},
                "mark": {"type": "line", "strokeWidth": 1, "opacity": 0.5, "color": theme.token("s0")},
                "encoding": {"x": x, "y": channel},
            },
            {
                "data": {"name": "points"},
                "mark": {"type": "point", "filled": True, "size": 34, "color": theme.token("s0")},
                "encoding": {
                    "x": x,
                    "y": channel,
                    "tooltip": [
                        {"field": "run", "title": "run"},
                        {"field": "y", "title": y, "format": ".5~g"},
                        {"field": "part"},
                    ],
                },
            },
        ],
    }
    return Figure(anchor, title, spec, caption)
