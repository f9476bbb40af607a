"""What a paper's figure is drawn from: points of the runs, chosen, renamed, turned into other quantities."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from leadline.core.record import OK, Row
from leadline.report.figures import Figure
from leadline.report.plots.curve import curve
from leadline.report.plots.dots import dots
from leadline.report.subject import Names, Subject
from leadline.report.theme import Spec


@dataclass(frozen=True)
class Points:
    """Rows of a summary that have numbers or none, as the figures of papers ask them."""

    rows: Sequence[Row]

    def of(self, benchmark: str, metric: str, **where: object) -> "Points":
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


@dataclass(frozen=True)
class FigurePart:
    """A part of a paper's figure: a quantity of a benchmark at the points that have the values `where`.

    A curve has a line for each value of the coordinate `line`, or for each name that it gives a row; the
    coordinates `without` do not tell lines apart. With `dot`, which names a row's dot, the rows are dots in
    lines side by side. `prepare` chooses, renames and computes what that does not say; `how` goes to
    `leadline.report.plots.curve.curve` or to `leadline.report.plots.dots.dots`.
    """

    name: str
    title: str
    benchmark: str
    metric: str
    where: Spec = field(default_factory=dict)
    line: str | Callable[[Row], str] | None = None
    without: Sequence[str] = ()
    dot: Callable[[Row], str] | None = None
    prepare: Callable[[Points], Points] = lambda points: points
    how: Spec = field(default_factory=dict)

    def draw(self, points: Points) -> list[Figure]:
        """The figure; none where there are no points."""
        found = self.prepare(points.of(self.benchmark, self.metric, **self.where))
        line = self.line
        if callable(line):
            found, line = found.named("line", line), "line"
        rows = list(found.without(*self.without).rows)
        if not rows:
            return []
        if self.dot is None:
            subject = Subject(rows[0]["benchmark"], rows, Names.of(rows))
            metric = rows[0]["metric"]
            return [curve(subject, metric, name=self.name, title=self.title, by=line, **self.how)]
        rows = [{**row, "mpi": self.dot(row), "stack": None} for row in rows]
        subject = Subject(rows[0]["benchmark"], rows, Names.of(rows))
        label = lambda row: str(row["line"])  # noqa: E731
        metrics = [rows[0]["metric"]]
        return [dots(subject, metrics, name=self.name, title=self.title, label=label, **self.how)]


def at_once(row: Row) -> str:
    """How many communicators work at once: cores-3 are three."""
    count = int(row["communicator"].removeprefix("cores-"))
    return "1 communicator" if count == 1 else f"{count} communicators"


CORES = tuple(f"cores-{count}" for count in range(1, 5))


def _has(row: Row, key: str, wanted: object) -> bool:
    return row.get(key) in wanted if isinstance(wanted, tuple) else row.get(key) == wanted


# How curves over the size of the system are drawn, and those over the size of buffers.
BY_PROCESSES = {"x": "ranks", "x_title": "processes"}
BY_BUFFER = {"x": "buffer", "x_title": "buffer size (B)"}
LINEAR = {"log": False}
