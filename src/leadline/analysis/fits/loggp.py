"""LogGP's parameters: latency L, overheads o, gap g and gap per byte G, each from the benchmark made for it.

A. Alexandrov, M. F. Ionescu, K. E. Schauser and C. Scheiman, LogGP: incorporating long messages into the LogP
model, SPAA 1995: one message of n bytes takes T(n) = o_s + L + (n - 1) G + o_r.

- o_s, o_r: the benchmark `overhead`, at the smallest size that it shares with `pingpong`; o is their mean.
- L: half a round trip of `pingpong` (buffers reused, where there is a choice) less both overheads, at that
size.
- g: time a message at the smallest size of `bandwidth`, with the largest window, of which the ping-pong tells
  how long its last message and the answer are under way; G: slope of the time a message over its 4 largest
  sizes, weights 1/T^2, where messages are long enough that bytes and not messages are counted.

What the run did not measure is not guessed: the parameter is absent and a note says which benchmark is
missing.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from leadline.analysis.bootstrap import bounds
from leadline.analysis.criterion import criterion, flag, squares
from leadline.analysis.fits import Fit, Parameter
from leadline.analysis.segments import lines
from leadline.analysis.series import CONDITION, Series, draw_jointly, series
from leadline.analysis.windows import slower_end
from leadline.core.units import format_bytes

QUESTION = "What does a message cost the network and what the processors (LogGP's L, o, g, G)?"

Array = NDArray[np.float64]

LARGEST = 4  # sizes whose slope is G
NOTHING = 1e-12  # of what a difference is made of: less is what floating point makes of equal times
NEEDS = {
    "latency": "pingpong (latency)",
    "send": "overhead (send_overhead)",
    "receive": "overhead (receive_overhead)",
    "message": "bandwidth (message_rate)",
}


@dataclass
class _Sources:
    """The series of one condition, by what they tell; and their values in joint draws of launches."""

    parts: dict[str, Series] = field(default_factory=dict)
    draws: dict[str, Array] = field(default_factory=dict)
    parameters: list[Parameter] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def lacks(self, *needed: str) -> list[str]:
        """The benchmarks to run for what is needed and not there."""
        return [NEEDS[name] for name in needed if name not in self.parts]

    def add(self, name: str, value: float, draws: Array, unit: str) -> None:
        """A parameter from its value and its value in each draw."""
        launches = min(part.launches for part in self.parts.values())
        self.parameters.append(
            Parameter(name, value, *bounds(draws, launches), unit, flag(name, value, unit))
        )


def fit(records: pl.DataFrame) -> Iterator[Fit]:
    """One fit for each condition (run, MPI, stack, ...) under which any of the benchmarks needed was run."""
    for condition, sources in _conditions(records).items():
        parts = list(sources.parts.values())
        sources.draws = dict(zip(sources.parts, draw_jointly(parts), strict=True))
        _latency_and_overheads(sources)
        _gaps(sources)
        shortest = min(parts, key=lambda part: part.launches)
        sources.notes += shortest.notes()
        yield _fit(dict(condition), sources)


def _conditions(records: pl.DataFrame) -> dict[tuple[tuple[str, str | int], ...], _Sources]:
    """The series that LogGP needs, gathered by condition."""
    gathered: dict[tuple[tuple[str, str | int], ...], _Sources] = {}
    for name, found in (
        ("latency", series(records, "pingpong", "latency")),
        ("send", series(records, "overhead", "send_overhead")),
        ("receive", series(records, "overhead", "receive_overhead")),
        ("message", _message_times(records)),
    ):
        for each in found:
            condition = tuple((key, each.keys[key]) for key in CONDITION if key in each.keys)
            parts = gathered.setdefault(condition, _Sources()).parts
            if name not in parts or _preference(each) > _preference(parts[name]):
                parts[name] = each
    return gathered


def _preference(each: Series) -> tuple[bool, int]:
    """Which of several series of one condition to take: buffers reused, then the largest window."""
    window = each.keys.get("window", 0)
    return each.keys.get("buffers") == "reused", window if isinstance(window, int) else 0


def _message_times(records: pl.DataFrame) -> Iterable[Series]:
    """Time a message by size, from the message rate of a stream."""
    for each in series(records, "bandwidth", "message_rate"):
        yield replace(each, medians=1 / each.medians)


def _latency_and_overheads(sources: _Sources) -> None:
    """Adds o_s, o_r, o and L at the smallest size that all of them have."""
    if missing := sources.lacks("send", "receive", "latency"):
        sources.notes.append(f"L and o cannot be estimated: the run lacks {' and '.join(missing)}")
        return
    parts = [sources.parts[name] for name in ("send", "receive", "latency")]
    common = sorted(set.intersection(*({float(size) for size in part.sizes if size > 0} for part in parts)))
    if not common:
        sources.notes.append("L and o cannot be estimated: pingpong and overhead share no size above 0 B")
        return
    size = common[0]
    values, draws = [], []
    for name, part in zip(("send", "receive", "latency"), parts, strict=True):
        column = int(np.searchsorted(part.sizes, size))
        values.append(float(part.typical[column]))
        draws.append(sources.draws[name][:, column])
    sources.notes.append(f"L and o at {format_bytes(int(size))}")
    left = _left(*(np.array(each) for each in values)), _left(*draws)
    sources.add("latency L", float(left[0]), left[1], "s")
    sources.add("send overhead o_s", values[0], draws[0], "s")
    sources.add("receive overhead o_r", values[1], draws[1], "s")
    sources.add("overhead o", (values[0] + values[1]) / 2, (draws[0] + draws[1]) / 2, "s")


def _left(send: Array, receive: Array, whole: Array) -> Array:
    """A message's time without that of its two ends."""
    left = whole - send - receive
    return np.where(np.abs(left) <= NOTHING * np.abs(whole), 0.0, left)


def _paced(sources: _Sources) -> tuple[Array, Array]:
    """Time a message of a stream that does not end, and in each draw."""
    part, draws = sources.parts["message"], sources.draws["message"]
    window = part.keys.get("window", 1)
    assert isinstance(window, int)
    whole = sources.parts.get("latency")
    if whole is None:
        sources.notes.append(
            f"g and G include a window's round trip: the run lacks {NEEDS['latency']} to take it off"
        )
        return part.typical, draws
    typical = slower_end(part.sizes, part.typical[None], window, whole.sizes, whole.typical[None])[0]
    return typical, slower_end(part.sizes, draws, window, whole.sizes, sources.draws["latency"])


def _gaps(sources: _Sources) -> None:
    """Adds g and G."""
    if missing := sources.lacks("message"):
        sources.notes.append(f"g and G cannot be estimated: the run lacks {missing[0]}")
        return
    part = sources.parts["message"]
    typical, draws = _paced(sources)
    window = f", window {part.keys['window']}" if "window" in part.keys else ""
    sources.notes.append(f"g at {format_bytes(int(part.sizes[0]))}{window}")
    sources.add("gap g", float(typical[0]), draws[:, 0], "s")
    if part.sizes.size < 2:
        sources.notes.append("G cannot be estimated: bandwidth was run at a single size")
        return
    x = part.sizes[-LARGEST:]
    start = np.zeros((1, 1), dtype=np.int64)
    slope = lines(x[None], typical[None, -LARGEST:], start)[1][0, 0]
    slopes = lines(
        np.broadcast_to(x, (len(draws), x.size)), draws[:, -LARGEST:], np.repeat(start, len(draws), axis=0)
    )[1][:, 0]
    first, last = (format_bytes(int(size)) for size in (x[0], x[-1]))
    sources.notes.append(f"G over {first} to {last}")
    sources.add("gap per byte G", float(slope), slopes, "s/B")


def _fit(condition: dict[str, str | int], sources: _Sources) -> Fit:
    """The fit from its parameters; its curve is the time of one message, where all that it needs was told."""
    told = {parameter.name: parameter.value for parameter in sources.parameters}
    needed = ("latency L", "overhead o", "gap per byte G")
    complete = all(name in told for name in needed)
    fixed, slope = (
        (told["latency L"] + 2 * told["overhead o"], told["gap per byte G"]) if complete else (np.nan, np.nan)
    )

    def predict(sizes: Array) -> Array:
        return fixed + slope * np.maximum(np.asarray(sizes, dtype=np.float64) - 1, 0)

    part = sources.parts.get("latency")
    x, y = (part.sizes, part.typical) if part else (np.empty(0), np.empty(0))
    return Fit(
        name="loggp",
        question=QUESTION,
        series={**(part.keys if part else {}), **condition},
        parameters=sources.parameters,
        predict=predict,
        x=x,
        y=y,
        residuals=y - predict(x),
        criterion=criterion(squares(y, predict(x)), x.size, 1) if complete and x.size > 2 else None,
        notes=sources.notes,
    )
