"""What a paper's figure is drawn from: points of the runs, chosen, renamed, turned into other quantities."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from leadline.core.record import OK
from leadline.report.figures import Figure
from leadline.report.plots.curve import curve
from leadline.report.plots.dots import dots
from leadline.report.subject import Names, Row, Subject


@dataclass(frozen=True)
class Points:
    """Rows of a summary that have numbers or none, as the figures of papers ask them."""

    rows: Sequence[Row]

    def of(self, benchmark: str, metric: str, **where: Any) -> "Points":
        """The points of a benchmark that were reached and have these values; of a tuple, any of them."""
        wanted = {"benchmark": benchmark, "metric": metric, "status": OK, **where}
        return Points([row for row in self.rows if all(_has(row, *each) for each in wanted.items())])

    def named(self, column: str, name: Callable[[Row], str]) -> "Points":
        """The points with one more coordinate, which gives each the name of its line."""
        return Points([{**row, column: name(row)} for row in self.rows])

    def without(self, *columns: str) -> "Points":
        """The points without coordinates by which their lines are not to be told apart."""
        return Points([{key: row[key] for key in row if key not in columns} for row in self.rows])

    def become(self, metric: str, unit: str, worth: Callable[[Row], float | None]) -> "Points":
        """The points with another quantity in their place; those without one are left out."""
        return Points(list(self._become({"metric": metric, "unit": unit}, worth)))

    def _become(self, quantity: Row, worth: Callable[[Row], float | None]) -> Iterator[Row]:
        """The new points, which have no interval."""
        for row in self.rows:
            if (value := worth(row)) is not None:
                yield {**row, **quantity, "value": value, "low": None, "high": None}

    def draw(self, name: str, title: str, lines: str | None, **how: Any) -> list[Figure]:
        """A quantity along a sweep with a line for each value of `lines`; nothing where there are no points.

        `how` goes to `leadline.report.plots.curve.curve`.
        """
        if not self.rows:
            return []
        first = self.rows[0]
        subject = Subject(first["benchmark"], list(self.rows), Names.of(self.rows))
        return [curve(subject, first["metric"], name=name, title=title, by=lines, **how)]

    def side_by_side(
        self, name: str, title: str, dot: Callable[[Row], str], line: Callable[[Row], str], **how: Any
    ) -> list[Figure]:
        """A quantity as dots in lines, a dot and a line each by its name; nothing where there are no points.

        `how` goes to `leadline.report.plots.dots.dots`.
        """
        if not self.rows:
            return []
        rows = [{**row, "mpi": dot(row), "stack": None, "line": line(row)} for row in self.rows]
        subject = Subject(rows[0]["benchmark"], rows, Names.of(rows))
        named = lambda row: str(row["line"])  # noqa: E731
        return [dots(subject, [rows[0]["metric"]], name=name, title=title, label=named, **how)]


def at_once(row: Row) -> str:
    """How many communicators work at once: cores-3 are three."""
    count = int(row["communicator"].removeprefix("cores-"))
    return "1 communicator" if count == 1 else f"{count} communicators"


CORES = tuple(f"cores-{count}" for count in range(1, 5))


def _has(row: Row, key: str, wanted: Any) -> bool:
    """Whether a row has the value, or one of them."""
    return row.get(key) in wanted if isinstance(wanted, tuple) else row.get(key) == wanted
