"""The figures of a program's page, for 2 ranks and for thousands: many are gathered, none left out."""

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from leadline.core.units import format_bytes
from leadline.profile.analysis import Profile
from leadline.profile.shares import COMPUTATION, MESSAGES, STATES, TOGETHER, bars, by_state, worst
from leadline.profile.waits import WAITS
from leadline.report import theme
from leadline.report.figures import Entry, Figure
from leadline.report.plots.axes import ABOVE
from leadline.report.plots.canvas import canvas
from leadline.report.theme import Spec

_ROWS = 64  # of ranks; where there are more, each row is several
_COLUMNS = 200  # of time
_BARS = 1500  # of a timeline
_RANKS = 16  # of a timeline
_STEPS = 2000  # of the critical path
_ROW = 18  # px
# What is useful is quiet, what waits is loud.
_COLOURS = dict(zip(STATES, ("line", "s0", "s4", "s2", "s1", "s3", "s6", "s5"), strict=True))
_SHOWN = "indexof(hidden, datum.s) < 0"


def _legend(states: Sequence[str]) -> tuple[Entry, ...]:
    return tuple(Entry("series", each, theme.token(_COLOURS[each]), "square") for each in states)


def _colour() -> Spec:
    return {
        "field": "s",
        "type": "nominal",
        "scale": {"domain": list(STATES), "range": [theme.token(_COLOURS[each]) for each in STATES]},
    }


def _groups(ranks: int) -> list[tuple[int, int]]:
    """Rows of a figure: the first rank of each, and the one after its last."""
    edges = np.linspace(0, ranks, min(ranks, _ROWS) + 1).astype(int).tolist()
    return list(pairwise(edges))


def _label(first: int, after: int) -> str:
    return str(first) if after == first + 1 else f"{first}-{after - 1}"


def _ordinal(field: str, title: str, labels: Sequence[str]) -> Spec:
    axis = {"labelOverlap": "greedy", "labelAngle": 0, "ticks": False, "domain": False, "grid": False}
    scale = {"domain": list(labels), "paddingInner": 0.08}
    return {"field": field, "type": "ordinal", "title": title, "axis": axis, "scale": scale}


def _height(rows: int) -> int:
    return max(80, min(rows * _ROW, 460))


def _seconds(found: Profile) -> float:
    return float(found.end.max(initial=1)) * 1e-9


def by_rank(found: Profile) -> Figure:
    """What each rank's time is spent on; of many ranks the mean of neighbours."""
    edges = np.array([0.0, _seconds(found)])
    groups = _groups(found.program.ranks)
    values = []
    for first, after in groups:
        spent = [by_state(found, rank, edges) for rank in range(first, after)]
        for place, state in enumerate(STATES):
            mean = sum(float(each[state][0]) for each in spent) / len(spent)
            if mean > 0:
                values.append({"r": _label(first, after), "s": state, "y": _short(mean), "o": place})
    title = "Time of each rank, by what it is spent on"
    several = found.program.ranks > len(groups)
    spec = {
        **canvas(title, _height(len(groups))),
        "data": {"values": values},
        "transform": [{"filter": _SHOWN}],
        "mark": {"type": "bar"},
        "encoding": {
            "y": _ordinal("r", "ranks" if several else "rank", [_label(*each) for each in groups]),
            "x": {"field": "y", "type": "quantitative", "title": "time (s)", "stack": "zero"},
            "color": _colour(),
            "order": {"field": "o"},
            "tooltip": _told("r", "s", ("y", "time (s)")),
        },
    }
    caption = "A row is the mean of several ranks." if several else ""
    return Figure("time-by-rank", title, spec, caption, legend=_legend(_present(values)))


def _present(values: Sequence[Mapping[str, object]]) -> list[str]:
    there = {each["s"] for each in values}
    return [state for state in STATES if state in there]


def _told(*fields: str | tuple[str, str]) -> list[Spec]:
    names = {"r": "rank", "s": "what", "k": "operation", "p": "call site", "a": "from", "b": "to"}
    rows: list[Spec] = []
    for each in fields:
        field, title = each if isinstance(each, tuple) else (each, names[each])
        number = isinstance(each, tuple)
        kind = {"type": "quantitative", "format": ".4~g"} if number else {"type": "nominal"}
        rows.append({"field": field, "title": title, **kind})
    return rows


def _short(value: float) -> float:
    """Six digits: enough for a picture, and half the page."""
    return float(f"{value:.6g}")


_STACKED: Spec = {"type": "quantitative", "title": "ranks", "axis": {**ABOVE, "tickMinStep": 1}}


def over_time(found: Profile) -> Figure:
    """How many ranks do what at each moment."""
    end = _seconds(found)
    edges = np.linspace(0, end, _COLUMNS + 1)
    sums = dict.fromkeys(STATES, np.zeros(_COLUMNS))
    for rank in range(found.program.ranks):
        for state, spent in by_state(found, rank, edges).items():
            sums[state] = sums[state] + spent
    width = end / _COLUMNS
    values = [
        {
            "x": _short(edges[place]),
            "x2": _short(edges[place + 1]),
            "s": state,
            "y": _short(spent / width),
            "o": n,
        }
        for n, state in enumerate(STATES)
        for place, spent in enumerate(sums[state].tolist())
        if spent > 0
    ]
    title = "What ranks do at each moment"
    spec = {
        **canvas(title, 240),
        "data": {"values": values},
        "transform": [{"filter": _SHOWN}],
        "mark": {"type": "bar", "binSpacing": 0},
        "encoding": {
            "x": {"field": "x", "bin": {"binned": True}, "title": "time since the start (s)"},
            "x2": {"field": "x2"},
            "y": {**_STACKED, "field": "y", "stack": "zero"},
            "color": _colour(),
            "order": {"field": "o"},
            "tooltip": _told("s", ("x", "time (s)"), ("y", "ranks")),
        },
    }
    return Figure("over-time", title, spec, "", legend=_legend(_present(values)))


def activity(found: Profile) -> Figure:
    """All ranks over the whole time: the share of each moment that they wait or are in MPI."""
    end = _seconds(found)
    edges = np.linspace(0, end, _COLUMNS + 1)
    groups = _groups(found.program.ranks)
    choices = {"waiting": WAITS, "in MPI": (MESSAGES, TOGETHER, *WAITS)}
    values = []
    for first, after in groups:
        spent = [by_state(found, rank, edges) for rank in range(first, after)]
        for choice, states in choices.items():
            share = sum(each[state] for each in spent for state in states) * _COLUMNS / end / len(spent)
            values += [
                {
                    "r": _label(first, after),
                    "x": _short(edges[n]),
                    "x2": _short(edges[n + 1]),
                    "c": choice,
                    "y": y,
                }
                for n, y in enumerate(np.round(np.asarray(share), 3).tolist())
                if y > 0
            ]
    title = "All ranks over the whole time"
    labels = [_label(*each) for each in groups]
    spec = {
        **canvas(title, _height(len(groups))),
        "params": [{"name": "chosen", "value": "in MPI"}],
        "data": {"values": values},
        "transform": [{"filter": "datum.c == chosen"}],
        "mark": {"type": "rect"},
        "encoding": {
            "x": {"field": "x", "type": "quantitative", "title": "time since the start (s)"},
            "x2": {"field": "x2"},
            "y": _ordinal("r", "ranks" if len(groups) < found.program.ranks else "rank", labels),
            "color": {
                "field": "y",
                "type": "quantitative",
                "scale": {"range": theme.HEAT, "domain": [0, 1], "interpolate": "lab"},
                "legend": {
                    "title": "share of the moment",
                    "orient": "bottom",
                    "direction": "horizontal",
                    "format": ".0%",
                },
            },
            "tooltip": _told("r", ("x", "time (s)"), ("y", "share")),
        },
    }
    legend = tuple(Entry("choice", each, hidden=each != "in MPI") for each in choices)
    return Figure(
        "activity", title, spec, "The darker, the more; white is computation and files.", legend=legend
    )


def window(found: Profile, asked: tuple[float, float] | None) -> tuple[list[int], float, float]:
    """The ranks of a timeline and its begin and end, s."""
    ranks, begin, end = worst(found, _RANKS, _BARS)
    return (ranks, *asked) if asked else (ranks, begin, end)


def timeline(found: Profile, ranks: Sequence[int], begin: float, end: float) -> Figure:
    """What ranks do in a window, operation by operation; where there are too many, the first of them."""
    shown = list(bars(found, ranks, begin, end))
    cut = len(shown) > 4 * _BARS
    if cut:
        shown = sorted(shown, key=lambda bar: bar.begin)[: 4 * _BARS]
        end = shown[-1].begin
    values = [
        {
            "r": str(bar.rank),
            "x": _short(1e3 * max(bar.begin, begin)),
            "x2": _short(1e3 * min(bar.end, end)),
            "s": bar.state,
            "k": bar.operation,
            "p": bar.site,
            "d": _short(1e6 * (bar.end - bar.begin)),
        }
        for bar in shown
        if bar.begin < end and bar.end > begin
    ]
    title = f"Operations of {len(ranks)} ranks"
    spec = {
        **canvas(title, _height(2 * len(ranks))),
        "data": {"values": values},
        "transform": [{"filter": _SHOWN}],
        "mark": {"type": "bar", "minBandSize": 4},
        "encoding": {
            "x": {
                "field": "x",
                "type": "quantitative",
                "title": "time since the start (ms)",
                "scale": {"domain": [1e3 * begin, 1e3 * end], "nice": False, "zero": False},
            },
            "x2": {"field": "x2"},
            "y": _ordinal("r", "rank", [str(rank) for rank in ranks]),
            "color": _colour(),
            "tooltip": _told("r", "k", "s", "p", ("x", "begins (ms)"), ("d", "lasts (us)")),
        },
    }
    caption = "Between the bars ranks compute."
    if cut:
        caption += f" The window has more than {4 * _BARS:,} parts: the first of them are drawn."
    return Figure("timeline", title, spec, caption, legend=_legend(_present(values)))


def path(found: Profile) -> Figure:
    """On which rank the critical path is at each moment."""
    now, steps = int(found.end.max(initial=0)), []
    for rank, _, within, before in found.path:
        for state, length in ((MESSAGES, within), (COMPUTATION, before)):
            if length:
                steps.append((now - length, now, rank, state))
                now -= length
    merged: list[list[object]] = []
    least = int(found.end.max(initial=0)) / _STEPS
    for begin, end, rank, state in reversed(steps):
        last = merged[-1] if merged else None
        # What is shorter than a pixel joins what was before it.
        if last and (end - begin < least or (last[2] == rank and last[3] == state)):
            last[1] = end
        else:
            merged.append([begin, end, rank, state])
    names = {MESSAGES: "in MPI", COMPUTATION: COMPUTATION}
    values = [
        {"x": _short(begin * 1e-9), "x2": _short(end * 1e-9), "y": rank, "s": names[state]}  # type: ignore[operator,index]
        for begin, end, rank, state in merged
    ]
    title = "The rank that the critical path is on"
    colours = {COMPUTATION: "s2", "in MPI": "s0"}
    spec = {
        **canvas(title, 260),
        "data": {"values": values},
        "transform": [{"filter": _SHOWN}],
        "mark": {"type": "rule", "strokeWidth": 5},
        "encoding": {
            "x": {"field": "x", "type": "quantitative", "title": "time since the start (s)"},
            "x2": {"field": "x2"},
            "y": {
                "field": "y",
                "type": "quantitative",
                "title": "rank",
                "scale": {"domain": [-0.5, max(1, found.program.ranks) - 0.5], "nice": False},
                "axis": {**ABOVE, "tickMinStep": 1, "format": "d", **_few(found.program.ranks)},
            },
            "color": {
                "field": "s",
                "type": "nominal",
                "scale": {"domain": list(colours), "range": [theme.token(each) for each in colours.values()]},
            },
            "tooltip": [{"field": "y", "title": "rank"}, *_told("s", ("x", "from (s)"), ("x2", "to (s)"))],
        },
    }
    legend = tuple(Entry("series", name, theme.token(colour), "square") for name, colour in colours.items())
    return Figure("critical-path", title, spec, "", legend=legend)


def _few(ranks: int) -> Spec:
    """Every rank where they are few; else the axis chooses."""
    return {"values": list(range(ranks))} if ranks <= _RANKS else {}


def matrix(rows: npt.NDArray[np.int64], ranks: int) -> Figure:
    """Bytes from each rank to each other; of many ranks, from several to several."""
    groups = _groups(ranks)
    place = np.zeros(ranks, np.int64)
    for number, (first, after) in enumerate(groups):
        place[first:after] = number
    held = np.zeros((2, len(groups), len(groups)))
    np.add.at(held[0], (place[rows[:, 0]], place[rows[:, 1]]), rows[:, 2] * rows[:, 3])
    np.add.at(held[1], (place[rows[:, 0]], place[rows[:, 1]]), rows[:, 3])
    labels = [_label(*each) for each in groups]
    values = [
        {"a": labels[a], "b": labels[b], "c": choice, "y": float(held[n, a, b])}
        for n, choice in enumerate(("bytes", "messages"))
        for a, b in np.argwhere(held[1] > 0).tolist()
    ]
    title = "From which rank to which"
    several = "ranks" if len(groups) < ranks else "rank"
    spec = {
        **canvas(title, max(160, min(len(groups) * 30, 560))),
        "params": [{"name": "chosen", "value": "bytes"}],
        "data": {"values": values},
        "transform": [{"filter": "datum.c == chosen"}],
        "mark": {"type": "rect"},
        "encoding": {
            "x": _ordinal("b", f"to {several}", labels),
            "y": _ordinal("a", f"from {several}", labels),
            "color": {
                "field": "y",
                "type": "quantitative",
                "scale": {"range": theme.HEAT, "interpolate": "lab", "zero": True},
                "legend": {
                    "title": "in all",
                    "orient": "bottom",
                    "direction": "horizontal",
                    "format": ".3~s",
                },
            },
            "tooltip": _told("a", "b", ("y", "in all")),
        },
    }
    legend = (Entry("choice", "bytes"), Entry("choice", "messages", hidden=True))
    return Figure("matrix", title, spec, "The darker, the more; white is nothing.", legend=legend)


def sizes(counted: Mapping[int, int]) -> Figure:
    """How many messages there are of each size, by powers of 2."""
    found: dict[int, int] = {}
    for size, count in counted.items():
        power = size.bit_length()
        found[power] = found.get(power, 0) + count
    powers = range(min(found), max(found) + 1)
    labels = {power: _span(power) for power in powers}
    values = [{"b": labels[power], "y": found.get(power, 0)} for power in powers]
    title = "Messages by size"
    spec = {
        **canvas(title, 220),
        "data": {"values": values},
        "mark": {"type": "bar", "color": theme.token("s0")},
        "encoding": {
            "x": {
                "field": "b",
                "type": "ordinal",
                "title": "size, from",
                "sort": None,
                "axis": {"labelAngle": 0, "labelOverlap": "greedy"},
            },
            "y": {
                "field": "y",
                "type": "quantitative",
                "title": "messages",
                "axis": {**ABOVE, "format": "~s"},
            },
            "tooltip": [{"field": "b", "title": "size, from"}, *_told(("y", "messages"))],
        },
    }
    return Figure("message-sizes", title, spec)


def _span(power: int) -> str:
    """The smallest size of so many binary digits."""
    return format_bytes(0 if power == 0 else 1 << (power - 1))
