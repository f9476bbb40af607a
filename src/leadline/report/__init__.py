"""The report: one page that says what the machine costs, and its figures for papers.

`write` makes the page, `write_figures` the files. Both derive everything from the records; what the page says
is composed in `page`, how it looks is in `templates/` and `theme`, and each figure is a file in `figures/`.
`write_tuning` makes the page of a tuning of input and output, `write_program` that of a recorded program.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from leadline.core.errors import LeadlineError
from leadline.core.json_types import JsonObject

if TYPE_CHECKING:
    import polars as pl

    from leadline.report.page import Findings
    from leadline.report.paper import Style
    from leadline.report.program import Subject as ProgramSubject
    from leadline.tune.io.results import Results as TuningResults


def write(
    records: "pl.DataFrame",
    provenances: Sequence[JsonObject],
    out: Path,
    earlier: Sequence["pl.DataFrame"] = (),
) -> Path:
    """Write the page about `records` to the file `out` and return it.

    `earlier` are the records of earlier runs, by which intervals include what differs between runs.

    `provenances` is one table of facts a run. Besides what `leadline.run.provenance` gathers, its "run" is
    the
    run's name, its "plan_text" the plan, and its "benchmarks" what the registry says of them. Raises
    LeadlineError when there is no record, or no place to write.
    """
    from leadline.report import page, render  # noqa: PLC0415  (imports polars and the figures)

    composed = page.compose(_findings(records, earlier), provenances)
    return save(render.html(composed), out)


def write_tuning(found: "TuningResults", name: str, out: Path) -> Path:
    """Write the page about a tuning of input and output to the file `out` and return it.

    Raises LeadlineError when there is no place to write.
    """
    from leadline.report import render, tuning  # noqa: PLC0415  (imports the figures)

    composed = tuning.compose(found, name)
    return save(render.html(composed, "answers.html.j2"), out)


def write_program(subject: "ProgramSubject", out: Path) -> Path:
    """Write the page about a recorded program to the file `out` and return it.

    Raises LeadlineError when there is no place to write.
    """
    from leadline.report import program, render  # noqa: PLC0415  (imports the figures)

    composed = program.compose(subject)
    return save(render.html(composed, "answers.html.j2"), out)


def save(html: str, out: Path) -> Path:
    """Write a page to the file `out` and return it."""
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(html, encoding="utf-8")
    except OSError as problem:
        raise LeadlineError(f"cannot write the report to {out}: {_why(problem)}") from problem
    return out


def write_figures(
    records: "pl.DataFrame", directory: Path, progress: Callable[[int, int], None] | None = None
) -> list[Path]:
    """Draw every figure about `records` into `directory` as SVG, PNG and PDF, and return the files.

    `progress` is told after each figure how many are drawn, and of how many. Raises LeadlineError when
    there is no record, or no place to write.
    """
    from leadline.report import render  # noqa: PLC0415
    from leadline.report.figures import draw  # noqa: PLC0415

    findings = _findings(records)
    drawn = [figure for name in findings.benchmarks() for figure in draw(findings.subject(name))]
    specs = [spec for figure in drawn for spec in render.on_paper(figure)]
    paths: list[Path] = []
    try:
        directory.mkdir(parents=True, exist_ok=True)
        for done, (name, spec) in enumerate(specs, start=1):
            paths += render.files(name, spec, directory)
            if progress is not None:
                progress(done, len(specs))
    except OSError as problem:
        raise LeadlineError(f"cannot write figures to {directory}: {_why(problem)}") from problem
    return paths


def write_paper_figures(
    records: "pl.DataFrame", benchmark: str, directory: Path, style: "Style"
) -> list[Path]:
    """Draw the figures of one benchmark into `directory` in a style, and return the files.

    Raises LeadlineError where none of its points was measured, or there is no place to write.
    """
    from leadline.report import render  # noqa: PLC0415
    from leadline.report.figures import draw  # noqa: PLC0415

    drawn = [style.apply(figure) for figure in draw(_findings(records).subject(benchmark))]
    if not drawn:
        raise LeadlineError(f"there is no figure of {benchmark}: none of its points was measured")
    specs = [spec for figure in drawn for spec in render.on_paper(figure)]
    try:
        directory.mkdir(parents=True, exist_ok=True)
        return [
            path
            for name, spec in specs
            for path in render.files(name, style.sized(spec), directory, style.formats)
        ]
    except OSError as problem:
        raise LeadlineError(f"cannot write figures to {directory}: {_why(problem)}") from problem


def _why(problem: OSError) -> str:
    """What kept a file from being written; making a directory where a file is says only "File exists"."""
    if isinstance(problem, FileExistsError | NotADirectoryError):
        return f"{problem.filename} is in the way, which is no directory"
    return problem.strerror or str(problem)


def _findings(records: "pl.DataFrame", earlier: Sequence["pl.DataFrame"] = ()) -> "Findings":
    """The records with their summary and fits."""
    from leadline.analysis.estimates import launch_estimates  # noqa: PLC0415
    from leadline.analysis.fits import fit_all  # noqa: PLC0415
    from leadline.analysis.summary import said_of_runs, summarise  # noqa: PLC0415
    from leadline.report.page import Findings  # noqa: PLC0415

    if records.is_empty():
        raise LeadlineError("there is nothing to report: the records are empty; measure with 'leadline run'")
    launches = launch_estimates(records)
    summary, said = summarise(records, earlier, launches), said_of_runs(records, earlier, launches)
    return Findings.of(records, summary, fit_all(records), said)
