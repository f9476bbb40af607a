"""The verb that writes the page about runs, and its figures for papers."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from leadline.cli._types import RUNS, Run, newest_run
from leadline.cli._working import working

if TYPE_CHECKING:
    import polars as pl

PAGE = "report.html"


class Reported(Run):
    """A run, or a tuning of input and output, which has a page of its own."""

    def convert(self, value: str | Path, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        """The path; UsageError where there is neither."""
        from leadline.tune.io.journal import is_tuning  # noqa: PLC0415

        for path in (Path(value), Path(RUNS) / value):
            if is_tuning(path):
                return path
        return super().convert(value, param, ctx)


@click.command()
@click.argument("runs", type=Reported(), metavar="[RUN]...", nargs=-1)
@click.option(
    "--output",
    "-o",
    type=click.Path(path_type=Path),
    default=Path("report") / PAGE,
    show_default=True,
    help=f"The page to write, or a directory for {PAGE}.",
)
@click.option(
    "--figures",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Also draw every figure into DIR as SVG, PNG and PDF. 'leadline figure' has more options.",
)
@click.option("--open", "show", is_flag=True, help="Open the page in a browser.")
def command(*, runs: tuple[Path, ...], output: Path, figures: Path | None, show: bool) -> None:
    """Write a page with the results of one run or several.

    RUN is a run's directory, its name in runs/, or a file of records; without one it is the newest run.
    Several runs stand beside one another in every figure. Of one run, intervals include what differs between
    runs where three earlier runs of its plan lie beside it. The page is one file that opens from disk and
    needs no network; the last line printed is its path. A tuning of 'leadline io tune' has a page of its own.
    """
    from leadline.api import about  # noqa: PLC0415
    from leadline.report import write  # noqa: PLC0415  (heavy imports only when the verb is used)
    from leadline.run import store  # noqa: PLC0415

    paths = list(dict.fromkeys(runs)) or [newest_run()]
    if output.is_dir() or not output.suffix:
        output /= PAGE
    if page := _tuning(paths, output):
        click.echo(page)
        return
    with working("reading records"):
        records = _together(paths)
        earlier = store.load_earlier(paths[0]) if len(paths) == 1 else []
    provenances = [about(path) for path in paths]
    if figures is not None:
        click.echo(f"{len(_draw(records, figures))} files in {figures}")
    with working(f"writing {output}"):
        page = write(records, provenances, output, earlier)
    click.echo(page)
    if show:
        click.launch(page.resolve().as_uri())


def _tuning(paths: list[Path], output: Path) -> Path | None:
    """The page of a tuning; None where none of the paths is one. UsageError where others stand beside it."""
    from leadline.report import write_tuning  # noqa: PLC0415
    from leadline.tune.io import journal as io_journal  # noqa: PLC0415
    from leadline.tune.io import results as io_results  # noqa: PLC0415

    if not any(map(io_journal.is_tuning, paths)):
        return None
    if len(paths) > 1:
        raise click.UsageError("a tuning has a page of its own: name it alone", click.get_current_context())
    with working(f"writing {output}"):
        found = io_results.load(paths[0])
        return write_tuning(found, paths[0].name, output)


def _together(paths: list[Path]) -> "pl.DataFrame":
    """The records of all runs, under names that tell them apart: by path where two have one name."""
    import polars as pl  # noqa: PLC0415

    from leadline.core import record  # noqa: PLC0415
    from leadline.run import store  # noqa: PLC0415

    tables = [store.load(path) for path in paths]
    names = [name for table in tables for name in table.get_column("run").unique().to_list()]
    clashes = [name for name in set(names) if names.count(name) > 1]
    by_path = [
        table.with_columns(
            run=pl.when(pl.col("run").is_in(clashes)).then(pl.lit(str(path))).otherwise(pl.col("run"))
        )
        for path, table in zip(paths, tables, strict=True)
    ]
    return record.concat(by_path if clashes else tables)


def _draw(records: "pl.DataFrame", directory: Path) -> list[Path]:
    """The files of the figures; a terminal sees a bar meanwhile."""
    from leadline.report import write_figures  # noqa: PLC0415

    if not sys.stderr.isatty():
        return write_figures(records, directory)
    with click.progressbar(label="drawing figures", length=1, file=sys.stderr) as bar:

        def progress(done: int, total: int) -> None:
            bar.length = total
            bar.update(done - bar.pos)

        return write_figures(records, directory, progress)
