"""`leadline figure`: draws a benchmark's figures for a paper."""

import re
from pathlib import Path

import click

from leadline.cli._options import Parsed, where_option
from leadline.cli._types import Run, Word, newest_run
from leadline.cli._working import working

FORMATS = ("svg", "png", "pdf")


def _size(text: str) -> tuple[float, float]:
    """Width and height, mm, of "85x60"."""
    from leadline.core.errors import UsageError  # noqa: PLC0415

    match = re.fullmatch(r"(\d+(?:\.\d+)?)x(\d+(?:\.\d+)?)(?: ?mm)?", text.strip())
    if match is None or not all(20 <= float(each) <= 2000 for each in match.groups()):
        raise UsageError(f"a size is WIDTHxHEIGHT in mm from 20 to 2000, such as 85x60, but got {text!r}")
    return float(match[1]), float(match[2])


@click.command()
@click.argument("run", type=Run(), required=False)
@click.option(
    "--benchmark",
    "-b",
    metavar="NAME",
    help="The benchmark, such as pingpong. Needed; a refusal without it lists those of the run.",
)
@where_option("Draw only points with this value, such as mpi=openmpi.")
@click.option("--error-bars", is_flag=True, help="Draw all intervals as error bars, not as bands.")
@click.option("--no-fits", is_flag=True, help="Draw the measured points without fitted models.")
@click.option(
    "--size",
    type=Parsed(_size),
    default="140x90",
    show_default=True,
    metavar="WIDTHxHEIGHT",
    help="Size of the whole figure in mm. Text is 8 pt, titles of axes are 9 pt.",
)
@click.option(
    "--format",
    "formats",
    type=Word(FORMATS),
    multiple=True,
    help="svg, png or pdf; repeatable. Default: pdf.",
)
@click.option(
    "--output",
    "-o",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIRECTORY",
    help="Where to write the files; files of these names are replaced. Default: figures/RUN.",
)
def command(
    *,
    run: Path | None,
    benchmark: str | None,
    where: tuple[str, ...],
    error_bars: bool,
    no_fits: bool,
    size: tuple[float, float],
    formats: tuple[str, ...],
    output: Path | None,
) -> None:
    """Draw the figures of a benchmark for a paper, and print the files' names.

    RUN is a run (by name or directory), or a .parquet file of records. Default: the newest run. Lines are
    fits, bands are 95 % intervals over launches. Colours and shapes are the same in all formats.
    """
    from leadline.analysis.select import matching  # noqa: PLC0415  (loads polars)
    from leadline.core.errors import UsageError  # noqa: PLC0415
    from leadline.report import write_paper_figures  # noqa: PLC0415
    from leadline.report.paper import Style  # noqa: PLC0415
    from leadline.run import store  # noqa: PLC0415

    with working("reading and fitting"):
        run = run or newest_run()
        records = store.load(run)
        if benchmark is None:
            there = ", ".join(records.get_column("benchmark").unique().sort())
            raise UsageError(f"name a benchmark with --benchmark; {run.stem} has {there}")
        records = matching(records, [f"benchmark={benchmark}", *where])
        style = Style(*size, error_bars=error_bars, fits=not no_fits, formats=formats or ("pdf",))
        paths = write_paper_figures(records, benchmark, output or Path("figures") / run.stem, style)
    for path in paths:
        click.echo(path)
