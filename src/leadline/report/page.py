"""What the page of a report says, part by part; `leadline.report.render` writes it down."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import polars as pl

from leadline import predict
from leadline.analysis.counts import count_points, point_names
from leadline.analysis.noise import Quietness, judge_runs
from leadline.core.json_types import JsonObject
from leadline.core.record import INVALID, OK, Row
from leadline.report import figures, tables
from leadline.report.broken import Broken, broken
from leadline.report.costs import Cost, costs
from leadline.report.fits_table import FitGroup, fit_groups
from leadline.report.origin import Origin, look_up, origins
from leadline.report.scales import Scales
from leadline.report.scales import compose as by_size
from leadline.report.subject import SERIES, Names, Subject
from leadline.report.theme import Spec
from leadline.report.verdicts import unmeasured, verdicts

if TYPE_CHECKING:
    from leadline.analysis.fits import Fit

# From what one message costs to what many do to each other. A benchmark that is not named here comes after.
READING_ORDER = (
    *("pingpong", "bandwidth", "bibandwidth", "overhead", "corepairs", "distance", "flowthrough"),
    *("rankpairs", "congestion", "multistream", "hotspot", "fan", "protocol", "roundtrip", "flood", "noise"),
)
NOT_MEASURED = "not-measured"  # the anchor of what has no section of its own
_GROUPS = {
    "series": "Series",
    "variant": "Variants",
    "fit": "Fits",
    "choice": "Shown",
}
_LEVELS = {
    "quiet": ("quiet", "The machine was quiet."),
    "disturbed": ("noisy", "Other work ran on the machine: read intervals before values."),
    "loaded": ("busy", "The machine was busy with other work: these numbers do not describe it."),
    "unknown": ("unknown", "How quiet the machine was is unknown."),
}


@dataclass(frozen=True)
class LegendGroup:
    """The buttons of one kind in a figure's legend."""

    kind: str
    label: str
    entries: list[figures.Entry]


@dataclass(frozen=True)
class Plot:
    """A figure on the page, under a name that no other figure of the page has."""

    name: str
    title: str
    caption: str
    spec: Spec
    groups: list[LegendGroup]


@dataclass(frozen=True)
class Section:
    """A benchmark on the page."""

    name: str
    anchor: str
    title: str
    question: str
    common: str
    figures: list[Plot]
    missing: list[tables.Missing]
    table: tables.Table


@dataclass(frozen=True)
class Quiet:
    """How quiet the machine was during a run, in a word, a sentence, and what shows it."""

    level: str
    badge: str
    says: str
    sentences: list[str]


@dataclass(frozen=True)
class Count:
    """How many there are of something, with a link to where they are; `bad` when none would be better."""

    name: str
    value: str
    link: str = ""
    bad: bool = False


@dataclass(frozen=True)
class Page:
    """All that the page says."""

    title: str
    subtitles: list[str]
    verdicts: list[str]
    costs: list[Cost]
    quietness: list[Quiet]
    counts: list[Count]
    sections: list[Section]
    fits: list[FitGroup]
    origins: list[Origin] = field(default_factory=list)
    exact: bool = False  # whether it has exact values
    scales: list[Scales] = field(default_factory=list)  # of runs of a machine at several sizes
    empty: list[Section] = field(default_factory=list)  # benchmarks of which no point was measured
    broken: Broken | None = None  # guidelines, where the runs have points that they relate


@dataclass(frozen=True)
class Findings:
    """What a report is made from: records, their summary and fits, and the names of the series."""

    records: pl.DataFrame
    rows: list[Row]
    fits: Sequence["Fit"]
    names: Names
    history: str = ""  # what earlier runs show of how much runs differ

    @classmethod
    def of(
        cls, records: pl.DataFrame, summary: pl.DataFrame, fits: Sequence["Fit"], history: str = ""
    ) -> "Findings":
        """Findings from records and what was derived from them; rows in the order of the series' names."""
        measured = records.filter(pl.col("status") == OK)
        told = (records if measured.is_empty() else measured).select("benchmark", *SERIES)
        names = Names.of(told.unique(maintain_order=True).rows(named=True))

        def place(row: Row) -> tuple[str, str, int]:
            return (row["benchmark"], row["metric"], names.index(names.series(row)))

        return cls(records, sorted(summary.rows(named=True), key=place), fits, names, history)

    def benchmarks(self) -> list[str]:
        """The benchmarks in the order in which they are read: those of READING_ORDER, then others by name."""
        known = {name: place for place, name in enumerate(READING_ORDER)}
        found = self.records.get_column("benchmark").unique().to_list()
        return sorted(found, key=lambda name: (known.get(name, len(known)), name))

    def subject(self, benchmark: str) -> Subject:
        """What the figures of a benchmark are about."""
        rows = [row for row in self.rows if row["benchmark"] == benchmark and row["status"] == OK]
        records = self.records.filter((pl.col("benchmark") == benchmark) & (pl.col("status") == OK))
        own = [fit for fit in self.fits if fit.series.get("benchmark") == benchmark]
        expected = predict.expected(benchmark, self.rows, self.records)
        return Subject(benchmark, rows, self.names, records, own, expected)


def compose(findings: Findings, provenances: Sequence[JsonObject]) -> Page:
    """The page of a report."""
    measured = [row for row in findings.rows if row["status"] == OK]
    questions = asked(provenances)
    cards = costs(measured, findings.fits, findings.names)
    every = [_section(findings, name, questions.get(name, "")) for name in findings.benchmarks()]
    sections = [each for each in every if each.table.rows]
    empty = [replace(each, anchor=NOT_MEASURED) for each in every if not each.table.rows]
    return Page(
        title=title(provenances),
        subtitles=subtitles(findings, provenances),
        verdicts=[*verdicts(cards), *unmeasured(findings.rows)],
        costs=cards,
        quietness=quietness(findings),
        counts=_counts(findings, [*sections, *empty]),
        sections=sections,
        empty=empty,
        fits=fit_groups(findings.fits, findings.names),
        origins=origins(provenances),
        exact=any(row.get("exact") for row in measured),
        broken=broken(findings.records),
        scales=by_size(measured),
    )


def asked(provenances: Iterable[JsonObject]) -> dict[str, str]:
    """The question of each benchmark, as the first provenance that has them says."""
    for provenance in provenances:
        described = provenance.get("benchmarks")
        if isinstance(described, list):
            return {each["name"]: each["question"] for each in described if {"name", "question"} <= set(each)}
    return {}


def _section(findings: Findings, benchmark: str, question: str) -> Section:
    rows = [row for row in findings.rows if row["benchmark"] == benchmark]
    measured = [row for row in rows if row["status"] == OK]
    return Section(
        benchmark,
        f"benchmark-{benchmark}",
        readable(benchmark),
        question,
        tables.common(measured),
        [plot(each) for each in figures.draw(findings.subject(benchmark))],
        tables.missing([row for row in rows if row["status"] != OK]),
        tables.points_table(benchmark, measured),
    )


def readable(name: str) -> str:
    """The name of a benchmark as a title."""
    return name.replace("_", " ").capitalize()


def plot(figure: figures.Figure) -> Plot:
    """A figure with its legend in groups; a group of one button that hides everything is left out."""
    groups = [
        LegendGroup(kind, label, entries)
        for kind, label in _GROUPS.items()
        if (entries := [entry for entry in figure.legend if entry.kind == kind])
    ]
    return Plot(figure.name, figure.title, figure.caption, figure.spec, groups)


def quietness(findings: Findings) -> list[Quiet]:
    """The verdict on each run for the first screen, what earlier runs show before everything else."""
    several = findings.records.get_column("run").n_unique() > 1
    history = [findings.history] if findings.history else []
    return [_quiet(run, verdict, several, history) for run, verdict in judge_runs(findings.records).items()]


def _quiet(run: str, verdict: Quietness, several: bool, history: list[str]) -> Quiet:
    badge, says = _LEVELS[verdict.level]
    sentences = [*history, *verdict.sentences]
    return Quiet(verdict.level, badge, f"{run}: {says}" if several else says, sentences)


def title(provenances: Sequence[JsonObject]) -> str:
    """The page's title, with the hosts where they are known."""
    hosts = dict.fromkeys(host for each in provenances if (host := _described(each) or look_up(each, "host")))
    return f"What messages cost on {', '.join(hosts)}" if hosts else "What messages cost"


def _described(provenance: JsonObject, fact: str = "machine") -> str:
    """A fact of the described machine of a simulated run; empty for a run of real ranks."""
    said = provenance.get("simulated")
    return str(said.get(fact) or "") if isinstance(said, Mapping) else ""


def subtitles(findings: Findings, provenances: Sequence[JsonObject]) -> list[str]:
    """Processor and kernel of each host once, then the libraries and the day."""
    machines = [
        _described(each, "title")
        or ", ".join(word for what in ("cpu", "kernel") if (word := look_up(each, what)))
        for each in provenances
    ]
    lines = list(dict.fromkeys(line for line in machines if line))
    libraries = findings.records.get_column("mpi").drop_nulls().unique(maintain_order=True).to_list()
    sources = findings.records.get_column("source").drop_nulls().unique(maintain_order=True).to_list()
    began = findings.records.select(pl.col("started").min().dt.strftime("%d %B %Y")).item()
    words = [", ".join(libraries), " and ".join(sources)]
    parts = findings.records.get_column("partition").drop_nulls().unique().sort().to_list()
    words += [f"a part of {' and '.join(f'{part:,}' for part in parts)} ranks"] if parts else []
    return [*lines, " · ".join(word for word in [*words, began] if word)]


def _counts(findings: Findings, sections: Sequence[Section]) -> list[Count]:
    """How many points were measured, are in doubt, or are missing, each counted once for all its metrics."""

    def first(section_has: Callable[..., bool]) -> str:
        return next((f"#{section.anchor}" for section in sections if section_has(section)), "")

    ok = [row for row in findings.rows if row["status"] == OK]
    names = point_names(findings.records)

    wrong = set(findings.records.filter(pl.col("status") == INVALID).select(names).unique().rows())

    def points(rows: Iterable[Row]) -> int:
        return len({tuple(row.get(name) for name in names) for row in rows} - wrong)

    meaningless = points(row for row in ok if row["meaningless"])
    disturbed = points(row for row in ok if row["disturbed"]) - meaningless
    exact = points(row for row in ok if row.get("exact"))
    states = count_points(findings.records)
    measured = states[OK] - exact
    counts = [Count("points measured", str(measured))] if measured or not ok else []
    counts += [Count("points simulated", str(exact))] if exact else []
    if measured or not ok:
        counts.append(Count("samples", f"{sum(row['samples'] or 0 for row in ok):,}"))
    for mark, name, count in (
        ("disturbed", "noisy", disturbed),
        ("meaningless", "too noisy to use", meaningless),
    ):
        if count:
            marks = {mark}
            link = first(lambda section, marks=marks: any(row.mark in marks for row in section.table.rows))
            counts.append(Count(name, str(count), link, bad=True))
    for status in ("skipped", "failed", "invalid"):
        if count := states[status]:
            link = first(
                lambda section, status=status: any(each.status == status for each in section.missing)
            )
            counts.append(Count(status, str(count), link, bad=True))
    return counts
