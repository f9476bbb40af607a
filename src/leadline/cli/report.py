"""The verb that writes the page about runs, and its figures for papers."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from leadline.cli._options import Parsed, machine_option
from leadline.cli._output import page_file
from leadline.cli._types import RUNS, Run, newest_run
from leadline.cli._working import working
from leadline.core.formatting import counted

if TYPE_CHECKING:
    import polars as pl

PAGE = "report.html"
PROGRAM = ".program"


def _window(text: str) -> tuple[float, float]:
    """Two times with units, such as "1.2s:1.3s", in s."""
    from leadline.core.errors import UsageError  # noqa: PLC0415
    from leadline.core.units import parse_time  # noqa: PLC0415

    begin, colon, end = text.partition(":")
    first = parse_time(begin) if begin.strip() not in {"0", ""} else 0.0
    times = first, parse_time(end) if colon else 0.0
    if not times[0] < times[1]:
        raise UsageError(f"a window is two times, the later one last, such as 1.2s:1.3s, but got {text!r}")
    return times


class Reported(Run):
    """A run, or a tuning of input and output or a program, which have pages of their own."""

    def convert(self, value: str | Path, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        """The path; UsageError where there is neither."""
        from leadline.tune.io.journal import is_tuning  # noqa: PLC0415

        if Path(value).suffix == PROGRAM:
            return Path(value)
        for path in (Path(value), Path(RUNS) / value):
            if is_tuning(path):
                return path
        return super().convert(value, param, ctx)


@click.command()
@click.argument("runs", type=Reported(), metavar="[RUN]...", nargs=-1)
@click.option(
    "--output",
    "-o",
    type=page_file(),
    default=Path("report") / PAGE,
    show_default=True,
    help=f"The page to write, or a directory for {PAGE}.",
)
@click.option(
    "--figures",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Also draw every figure of runs into DIR as SVG, PNG and PDF. 'leadline figure' has more options.",
)
@machine_option("With a program file: also say what its messages should cost on this machine.")
@click.option(
    "--window",
    type=Parsed(_window),
    metavar="FROM:TO",
    help="With a program file: show operations between these times, such as 1.2s:1.3s. "
    "Default: the longest wait.",
)
@click.option("--open", "show", is_flag=True, help="Open the page in a browser.")
def command(
    *,
    runs: tuple[Path, ...],
    output: Path,
    figures: Path | None,
    machine: Path | None,
    window: tuple[float, float] | None,
    show: bool,
) -> None:
    """Write a page with the results of one run or several, or about a program file.

    RUN is a run (by name or directory), or a .parquet file of records. Default: the newest run. Several runs
    stand beside one another in every figure. Where a run's directory is beside those of three or more
    earlier runs of its plan, intervals include the variation from run to run. The page is one file that
    opens from disk and needs no network; the last line printed is its path. A tuning of 'leadline io
    tune' has a page of its own, and so has a program file (NAME.program, which 'leadline record' writes):
    where the time goes, who waits for whom, what is sent.
    """
    from leadline.api import about  # noqa: PLC0415
    from leadline.report import write  # noqa: PLC0415  (heavy imports only when the verb is used)
    from leadline.run import store  # noqa: PLC0415

    paths = list(dict.fromkeys(runs)) or [newest_run()]
    if output.is_dir() or not output.suffix:
        output /= PAGE
    if page := _alone(paths, output, figures, machine, window):
        click.echo(page)
        if show:
            click.launch(page.resolve().as_uri())
        return
    with working("reading records"):
        records = _together(paths)
        earlier = store.load_earlier(paths[0]) if len(paths) == 1 else []
    provenances = [about(path) for path in paths]
    if figures is not None:
        click.echo(f"{counted(len(_draw(records, figures)), 'file')} in {figures}")
    with working(f"writing {output}"):
        page = write(records, provenances, output, earlier)
    click.echo(page)
    if show:
        click.launch(page.resolve().as_uri())


def _alone(
    paths: list[Path],
    output: Path,
    figures: Path | None,
    machine: Path | None,
    window: tuple[float, float] | None,
) -> Path | None:
    """The page of a tuning or a program; None where none of the paths is one.

    UsageError where others stand beside it, or where an option is of another page.
    """
    from leadline.report import write_tuning  # noqa: PLC0415
    from leadline.tune.io import journal as io_journal  # noqa: PLC0415
    from leadline.tune.io import results as io_results  # noqa: PLC0415

    programs = [path for path in paths if path.suffix == PROGRAM]
    tunings = [path for path in paths if io_journal.is_tuning(path)]
    context = click.get_current_context()
    if (machine or window) and not programs:
        raise click.UsageError(
            f"{'--on' if machine else '--window'} is for the page of a program file (NAME.program)",
            context,
        )
    if not programs and not tunings:
        return None
    if figures:
        raise click.UsageError("--figures draws figures of runs: leave it out for this page", context)
    if len(paths) > 1:
        what = "program" if programs else "tuning"
        raise click.UsageError(f"a {what} has a page of its own: name it alone", context)
    with working(f"writing {output}") as say:
        if programs:
            return _program(paths[0], output, machine, window, say)
        return write_tuning(io_results.load(paths[0]), paths[0].name, output)


def _program(
    path: Path,
    output: Path,
    machine: Path | None,
    window: tuple[float, float] | None,
    say: Callable[[str], None],
) -> Path:
    """The page of a program, with what is known of its times."""
    from leadline.cli.profile import simulated  # noqa: PLC0415
    from leadline.core.units import format_quantity  # noqa: PLC0415
    from leadline.profile import profile  # noqa: PLC0415
    from leadline.program import files  # noqa: PLC0415
    from leadline.report import write_program  # noqa: PLC0415
    from leadline.report.program import Subject  # noqa: PLC0415
    from leadline.run.replay import recorded_time  # noqa: PLC0415

    say("reading the program")
    read = files.read(path)
    timed = read.times_of is not None
    if not timed and (machine or window):
        option = "--on" if machine else "--window"
        raise click.UsageError(
            f"{option} needs a program's times, and {path} has none", click.get_current_context()
        )
    length = recorded_time(read)
    if window and length is not None and window[0] >= length:
        raise click.UsageError(
            f"--window begins after the end of the program, which took {format_quantity(length, 's')}",
            click.get_current_context(),
        )
    say("finding who waits for whom")
    found = profile(read) if timed else None
    expected = simulated(read, path, machine, say) if machine else None
    say(f"writing {output}")
    return write_program(Subject(path.name, read, found, expected, window), output)


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
