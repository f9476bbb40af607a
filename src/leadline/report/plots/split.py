"""How a figure's points fall into groups (colour and shape) and variants (dashes), and the legend of both."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from leadline.core.record import Row
from leadline.report import theme
from leadline.report.figures import Entry
from leadline.report.subject import Subject, coordinate, placed, sweeps, variant, varying
from leadline.report.theme import Spec


@dataclass(frozen=True)
class Split:
    """The groups and variants of one figure.

    A group is a series of the report, or a value of the coordinate `by`; `varied` are the coordinates that
    make the variants.
    """

    subject: Subject
    varied: tuple[str, ...]
    groups: tuple[str, ...]
    variants: tuple[str, ...]
    by: str | None = None

    @classmethod
    def of(
        cls, subject: Subject, rows: Sequence[Row], x: Sequence[str] = (), by: str | None = None
    ) -> "Split":
        """The split of `rows`, whose place along the axes is told by the coordinates `x`."""
        candidates = [*sweeps(rows), "protocol", "ranks"]
        named = [name for name in dict.fromkeys(candidates) if name not in x and name != by]
        empty = cls(subject, (*varying(rows, named), *placed(rows)), (), (), by)
        groups = list(dict.fromkeys(empty.group(row) for row in rows))
        if by is None:
            groups.sort(key=subject.names.index)
        return cls(subject, empty.varied, tuple(groups), empty._variants(rows), by)

    def _variants(self, rows: Sequence[Row]) -> tuple[str, ...]:
        """The variants of `rows`: sizes in their order, words as they come."""
        ordered = sorted(rows, key=lambda row: [_rank(row.get(name)) for name in self.varied])
        return tuple(dict.fromkeys(self.variant(row) for row in ordered))

    def group(self, row: Mapping[str, object]) -> str:
        """The group of a row, or of a fit's series."""
        if self.by is not None:
            return coordinate(self.by, row.get(self.by))
        return self.subject.names.series(row)

    def variant(self, row: Mapping[str, object]) -> str:
        """The variant of a row, or of a fit's series; empty when there is only one."""
        words = [variant(row, self.varied)] if self.varied else []
        if self.by is not None and self.subject.several:
            words.insert(0, self.subject.names.series(row))
        return ", ".join(words)

    def hue(self, group: str) -> str:
        """The colour token of a group."""
        return theme.hue(self._index(group))

    def _index(self, group: str) -> int:
        return self.groups.index(group) if self.by is not None else self.subject.names.index(group)

    def shape(self, group: str) -> str:
        return theme.SHAPES[self._index(group) % len(theme.SHAPES)]

    def dash(self, name: str) -> tuple[int, ...]:
        """The dashes of a variant's line."""
        return theme.DASHES[self.variants.index(name) % len(theme.DASHES)]

    def legend(self) -> tuple[Entry, ...]:
        """The legend: all groups, and the variants when there are several."""
        groups = [Entry("series", each, self.hue(each), self.shape(each)) for each in self.groups]
        variants = [Entry("variant", each, dash=self.dash(each)) for each in self.variants]
        return (*groups, *(variants if len(variants) > 1 else ()))

    def colour(self) -> Spec:
        scale = {"domain": list(self.groups), "range": [self.hue(group) for group in self.groups]}
        return {"field": "s", "type": "nominal", "title": None, "scale": scale}

    def shapes(self) -> Spec:
        """The shape channel."""
        scale = {"domain": list(self.groups), "range": [self.shape(group) for group in self.groups]}
        return {"field": "s", "type": "nominal", "title": None, "scale": scale}

    def dashes(self) -> Spec:
        """The dash channel; its legend only where there is something to tell apart."""
        scale = {"domain": list(self.variants), "range": [list(self.dash(each)) for each in self.variants]}
        legend = {"symbolType": "stroke", "symbolSize": 300} if len(self.variants) > 1 else None
        return {"field": "v", "type": "nominal", "title": None, "scale": scale, "legend": legend}


def _rank(value: float | str | None) -> tuple[int, float, str]:
    """A key by which numbers, words and nulls sort together."""
    if value is None:
        return (2, 0.0, "")
    return (1, 0.0, value) if isinstance(value, str) else (0, float(value), "")
