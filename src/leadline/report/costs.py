"""The first screen: what messages cost, one card a series (library, stack, placement, run).

Latency is the ping-pong's at 8 B with reused buffers; the asymptotic bandwidth, the size at which half of
it is reached and the protocol switches come from the fit with the best criterion that tells them (piecewise
before others); the streamed bandwidth is the best of the windowed benchmark; the noise is what the next
launch may show.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

from leadline.analysis.noise import of_value
from leadline.core import units
from leadline.core.formatting import FormattedQuantity, format_row, formatted, next_launch
from leadline.core.record import Row
from leadline.report.figures import Entry
from leadline.report.plots.fitted import switches
from leadline.report.subject import HEADLINE, UNTOLD, Names, usual
from leadline.report.theme import SHAPES, hue
from leadline.report.words import way

if TYPE_CHECKING:
    from leadline.analysis.fits import Fit, Parameter

_FITTED = {"bandwidth": "asymptotic bandwidth", "half-bandwidth size": "half-bandwidth size"}
LEADING = ("latency", "time", "bandwidth")  # metrics that an example is told in, the best first
EXAMPLES = 4  # benchmarks of which a card without a ping-pong tells
PREFERENCE = ("piecewise", "asymptotic", "least_squares")


@dataclass(frozen=True)
class Fact:
    """A line of a card: what is told, in one or more quantities."""

    name: str
    told: list[FormattedQuantity]
    lead: bool = False


@dataclass(frozen=True)
class Cost:
    """A card: a series and what it costs. `latency` and `bandwidth` are for the verdicts."""

    name: str
    entry: Entry
    facts: list[Fact]
    latency: Row | None = None
    fit: "Fit | None" = None
    streamed: Row | None = None
    where: str = ""
    mark: str = ""
    switches: list["Parameter"] = field(default_factory=list)


def costs(rows: Sequence[Row], fits: Sequence["Fit"], names: Names) -> list[Cost]:
    """A card for every series that has a ping-pong or a bandwidth; if none has, examples of what there is."""
    cards = []
    for series in names.order:
        own = [row for row in rows if names.series(row) == series]
        latency = headline(own)
        streamed = best(own)
        if latency is None and streamed is None:
            continue
        fitted = [fit for fit in fits if names.series(fit.series) == series and usual(fit.series)]
        cards.append(_card(series, names, latency, streamed, fitted))
    return cards or [
        _example_card(series, names, examples)
        for series in names.order
        if (examples := typical([row for row in rows if names.series(row) == series]))
    ]


def headline(rows: Iterable[Row]) -> Row | None:
    """The ping-pong's latency at 8 B, else at the size nearest to it."""
    found = [
        row
        for row in rows
        if row["benchmark"] == "pingpong" and row["metric"] == "latency" and row.get("bytes") is not None
    ]
    found = [row for row in found if usual(row)] or found
    return min(found, key=lambda row: abs(row["bytes"] - HEADLINE), default=None)


def best(rows: Iterable[Row]) -> Row | None:
    """The point of the windowed bandwidth benchmark with the highest bandwidth."""
    found = [row for row in rows if row["benchmark"] == "bandwidth" and row["metric"] == "bandwidth"]
    found = [row for row in found if usual(row)]
    # The highest of many is the one that noise raised most, so what noise made meaningless stands back.
    sound = [row for row in found if not row.get("meaningless")]
    return max(sound or found, key=lambda row: row["value"], default=None)


def typical(rows: Sequence[Row]) -> list[Row]:
    """An example of each of the first benchmarks of a series: the point nearest to 8 B.

    Of several the one whose settings are the commonest in its benchmark, of those the one with most ranks.
    """
    found = []
    for benchmark in list(dict.fromkeys(row["benchmark"] for row in rows))[:EXAMPLES]:
        own = [row for row in rows if row["benchmark"] == benchmark]
        known = {row["metric"] for row in own}
        metric = next((each for each in LEADING if each in known), own[0]["metric"])
        own = [row for row in own if row["metric"] == metric]
        common = {
            key: Counter(str(row.get(key)) for row in own).most_common(1)[0][0]
            for key in own[0]
            if isinstance(own[0][key], str)
        }
        found.append(max(own, key=lambda row: _typicality(row, common)))
    return found


def _typicality(row: Row, common: Mapping[str, str]) -> tuple[int, int, int]:
    """How good an example a point is: nearness to 8 B, settings that are the commonest, ranks."""
    alike = sum(str(row.get(key)) == value for key, value in common.items())
    return -abs((row.get("bytes") or HEADLINE) - HEADLINE), alike, row.get("ranks") or 0


def _example_card(series: str, names: Names, examples: Sequence[Row]) -> Cost:
    """The card of a series without a ping-pong or a bandwidth."""
    facts: list[Fact] = []
    for row in examples:
        size = f" at {units.format_bytes(row['bytes'])}" if row.get("bytes") is not None else ""
        facts.append(_quantity(f"{row['benchmark']}{size}", row, lead=not facts))
    index = names.index(series)
    entry = Entry("series", series, hue(index), SHAPES[index % len(SHAPES)])
    ranks = sorted({row["ranks"] for row in examples if row.get("ranks") is not None})
    where = f"{', '.join(map(str, ranks))} ranks" if ranks else ""
    return Cost(series, entry, facts, where=where, mark=_mark(examples[0]))


def _card(
    series: str, names: Names, latency: Row | None, streamed: Row | None, fits: Sequence["Fit"]
) -> Cost:
    """The card of one series from its headline points and its fits."""
    index = names.index(series)
    entry = Entry("series", series, hue(index), SHAPES[index % len(SHAPES)])
    facts = []
    if latency is not None:
        facts.append(_quantity(f"latency at {units.format_bytes(latency['bytes'])}", latency, lead=True))
    fit = preferred(fits)
    if fit is not None:
        facts += _fitted(fit)
    if streamed is not None:
        size = units.format_bytes(streamed["bytes"]) if streamed.get("bytes") is not None else ""
        facts.append(_quantity("streamed bandwidth", streamed, note=f"at {size}" if size else ""))
    found = [each for one in fits if one.name == PREFERENCE[0] for each in switches(one)]
    if any(one.name == PREFERENCE[0] for one in fits):
        told = [FormattedQuantity(each.told()) for each in found] or [FormattedQuantity("none found")]
        if not _apart(found):
            found, told = [], [FormattedQuantity("cannot be told apart")]
        facts.append(Fact("protocol switches", told))
    if latency is not None and not latency.get("exact"):
        facts.append(Fact("next launch", [_noise(latency)]))
    where = _where(latency or streamed, names)
    return Cost(series, entry, facts, latency, fit, streamed, where, _mark(latency), found)


def _apart(found: Sequence["Parameter"]) -> bool:
    """Whether switches lie between sizes of their own; where they overlap, launches do not agree on them."""
    bounds = sorted((each.low or each.value, each.high or each.value) for each in found)
    return all(one[1] <= other[0] for one, other in pairwise(bounds))


def preferred(fits: Sequence["Fit"]) -> "Fit | None":
    """The fit that the first screen quotes: the first of PREFERENCE that tells a bandwidth."""
    ranked = {name: place for place, name in enumerate(PREFERENCE)}
    telling = [fit for fit in fits if fit.name in ranked and fit.parameter("bandwidth") is not None]
    return min(telling, key=lambda fit: ranked[fit.name], default=None)


def _quantity(name: str, row: Row, note: str = "", lead: bool = False) -> Fact:
    """A measured point as a line of a card."""
    quantity = format_row(row)
    return Fact(name, [quantity, *([FormattedQuantity("", note=note)] if note else [])], lead)


def _fitted(fit: "Fit") -> list[Fact]:
    """Asymptotic bandwidth and half-bandwidth size of a fit, with their flags."""
    facts = []
    for name, shown in _FITTED.items():
        found = fit.parameter(name)
        if found is not None:
            quantity = formatted(found.value, found.unit, found.low, found.high, flag=found.flag)
            facts.append(
                Fact(shown, [quantity, *([FormattedQuantity("", note=found.flag)] if found.flag else [])])
            )
    return facts


def _noise(row: Row) -> FormattedQuantity:
    """Where the next launch's latency lies, and how far that is from the median."""
    coming = next_launch(row)
    low, high = row.get("next_low"), row.get("next_high")
    if low is None or high is None or not row["value"]:
        return FormattedQuantity(units.MISSING, note="one launch")
    below, above = (of_value(abs(each - row["value"]) / row["value"]) for each in (low, high))
    note = f"±{above}" if below == above else f"-{below} to +{above}"
    return FormattedQuantity(coming.value, note=", ".join(filter(None, [note, coming.note])))


def _where(row: Row | None, names: Names) -> str:
    """What the series ran over, and on how many launches it stands."""
    if row is None:
        return ""
    untold = [name for name in ("placement", "stack") if name not in names.differing]
    words = [str(row[name]) for name in untold if row.get(name) not in (None, *UNTOLD)]
    if row.get("transport"):
        words.append(way(row))
    if not row.get("exact"):
        words.append(f"{row['launches']} launch{'es' if row['launches'] != 1 else ''}")
    elif row.get("partition") is not None:
        words.append(f"partition of {row['partition']} ranks")
    return ", ".join(words)


def _mark(row: Row | None) -> str:
    """A warning for a card whose latency was measured beside other work."""
    if row is None or not row.get("disturbed"):
        return ""
    said = str(row.get("disturbance") or "other work on the machine")
    return f"{said[0].upper()}{said[1:]}"
