"""`leadline tune io`: which settings of HDF5, MPI-IO and the file system make a program's files faster."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from leadline.cli._types import MachineFile
from leadline.cli._working import working

if TYPE_CHECKING:
    from leadline.tune.io.runner import Progress

PAGE = "report.html"
# What judges settings: the options that would change nothing there, and whose they are.
WITHOUT = {
    "a program": (
        ("--set", "--ranks", "--mpi", "--on", "--directory"),
        "of a --kernel, and a program has its own",
    ),
    "a --kernel": (("--time", "--check"), "of a program, and a kernel times itself and checks every byte"),
    "--on": (
        ("--set", "--mpi", "--directory", "--number", "--limit", "--time", "--check"),
        "of real runs, and --on simulates on a machine whose description says the rest",
    ),
}


@click.command(context_settings={"ignore_unknown_options": False})
@click.argument("command", nargs=-1, type=click.UNPROCESSED, metavar="[-- COMMAND...]")
@click.option("--kernel", metavar="NAME", help="Tune a kernel that comes with Leadline, such as vorpal.")
@click.option(
    "--set",
    "sweeps",
    multiple=True,
    metavar="SWEEP=VALUE",
    help="With --kernel: a coordinate of its point, such as mode=read; several times.",
)
@click.option("--ranks", type=click.IntRange(min=1), help="With --kernel: how many. Default: 4.")
@click.option("--mpi", default="default", show_default=True, help="With --kernel: which MPI.")
@click.option(
    "--on",
    "machine",
    type=MachineFile(),
    metavar="MACHINE",
    help="With --kernel: simulate its storage on a described machine instead of writing.",
)
@click.option("--space", help="What may be set: a shipped space or a TOML file. Default: here.")
@click.option(
    "--number",
    "numbers",
    multiple=True,
    metavar="NAME=COUNT",
    help="What a space depends on, such as targets=48 (lustre, gpfs: targets, nodes, ranks); several times. "
    "Described machines know their own.",
)
@click.option("--search", "method", default="gp", show_default=True, help="How to search, such as ga.")
@click.option("--budget", default=40, show_default=True, type=click.IntRange(min=1), help="Trials.")
@click.option("--seed", default=1, show_default=True, help="Of the search and of the order of runs.")
@click.option(
    "--safety",
    type=click.Choice(["auto", "hint", "layout", "semantics"]),
    default="auto",
    show_default=True,
    help="The most daring settings: hints, the file's form, or what is read where nothing was written. auto: "
    "form, and for kernels, which write every byte, also the last.",
)
@click.option(
    "--time", metavar="PATTERN", help="The program prints its own time, in s: a regular expression."
)
@click.option("--check", metavar="COMMAND", help="Run after each run; where it fails the data are wrong.")
@click.option("--limit", type=float, metavar="SECONDS", help="Of a run. Default: four times the default's.")
@click.option(
    "--directory",
    type=click.Path(path_type=Path, file_okay=False),
    help="With --kernel: where it writes. Default: in the tuning.",
)
@click.option(
    "--output", "-o", type=click.Path(path_type=Path), metavar="TUNING", help="Default: runs/tune-io-DATE."
)
@click.option("--resume", type=click.Path(path_type=Path), metavar="TUNING", help="Go on with a tuning.")
def command(**asked: Any) -> None:
    """Tune what a program's files are written with, and write the settings found.

    COMMAND is the program as it is started, such as -- mpirun -n 4 ./app input; it is run again and again,
    each time with other settings, which a preloaded library hands to HDF5 and MPI-IO: the program stays as it
    is. Every run is on the disk before the next begins: a tuning that was ended at any moment goes on with
    --resume, with nothing lost and nothing run twice.

    TUNING gets settings.toml for the preloaded library, what does without it (ROMIO's hints, Open MPI's
    parameters, lfs setstripe), lines for a job's script, and a page, report.html. 'No significant gain' is an
    answer like any other. Where a gain is certain, 'leadline tune advise' has the settings for programs that
    write alike.
    """
    from leadline.tune.io import setup as io_setup  # noqa: PLC0415

    request = _request(asked)
    with working("looking at the program and the space") as say:
        tuning = io_setup.begin(request, say, _show)
    try:
        with tuning.journal:
            tuning.run()
    except KeyboardInterrupt as interrupt:
        way_on = f"every run is kept, go on with 'leadline tune io --resume {tuning.journal.path}'"
        raise KeyboardInterrupt(way_on) from interrupt
    finally:
        _wipe()
    _conclude(tuning.journal.path)


def _request(asked: dict[str, Any]) -> Any:
    """What is asked, once it makes sense by itself; UsageError where it does not."""
    from leadline.run.store import RUNS  # noqa: PLC0415
    from leadline.tune.io.setup import Request  # noqa: PLC0415

    context = click.get_current_context()
    resume = asked.pop("resume")
    asked["command"] = list(asked["command"])
    if resume:
        _refuse_others(context, bool(asked["command"]))
        return Request.again(resume)
    if bool(asked["kernel"]) == bool(asked["command"]):
        raise click.UsageError(
            "name a program after --, such as -- mpirun -n 4 ./app, or a --kernel", context
        )
    way = "a program" if asked["command"] else "--on" if asked["machine"] else "a --kernel"
    _refuse_idle(context, way)
    if asked["output"] is None:
        from datetime import datetime  # noqa: PLC0415

        asked["output"] = RUNS / f"tune-io-{datetime.now():%Y%m%d-%H%M%S}"
    return Request(**asked)


def _given(context: click.Context) -> list[str]:
    """The options that were given, by their first names."""
    return [
        each.opts[0]
        for each in context.command.params
        if isinstance(each, click.Option)
        and context.get_parameter_source(str(each.name)) is ParameterSource.COMMANDLINE
    ]


def _refuse_idle(context: click.Context, way: str) -> None:
    """UsageError for options that would change nothing in this way of judging."""
    without, why = WITHOUT[way]
    if idle := [each for each in _given(context) if each in without]:
        be, them = ("is", "it") if len(idle) == 1 else ("are", "them")
        raise click.UsageError(f"{', '.join(idle)} {be} {why}; leave {them} out", context)


def _refuse_others(context: click.Context, named: bool) -> None:
    """UsageError for what would change a tuning that has begun; `named`: a program is given."""
    given = ["a program"] if named else []
    given += [each for each in _given(context) if each != "--resume"]
    if given:
        raise click.UsageError(
            f"--resume takes everything from the tuning, but got {', '.join(given)}; leave that out, or tune "
            "anew into another directory",
            context,
        )


def _show(progress: "Progress") -> None:
    """One line that is written over, at a terminal; elsewhere a line now and then."""
    best = f", best so far {progress.best:.2f} times as fast" if progress.best else ""
    line = f"{progress.phase} {progress.done}/{progress.of}{best}"
    if sys.stderr.isatty():
        click.echo(f"\r\x1b[K{line}", err=True, nl=False)
    elif progress.done == progress.of or progress.done % 10 == 0:
        click.echo(line, err=True)


def _wipe() -> None:
    if sys.stderr.isatty():
        click.echo("\r\x1b[K", err=True, nl=False)


def _conclude(directory: Path) -> None:
    """Write the files and the page, say what was found, and keep it where it is a gain."""
    from leadline import report  # noqa: PLC0415
    from leadline.core.errors import LeadlineError  # noqa: PLC0415
    from leadline.report.tuning import told, verdict  # noqa: PLC0415
    from leadline.tune.io import output as io_output  # noqa: PLC0415
    from leadline.tune.io import patterns as motifs  # noqa: PLC0415
    from leadline.tune.io import results as io_results  # noqa: PLC0415

    found = io_results.load(directory)
    with working("writing the page"):
        paths = io_output.write(found, directory)
        page = report.write_tuning(found, directory.name, directory / PAGE)
    click.echo(verdict(found))
    for part in found.parts:
        gain = f"{told(part.gain)} as fast" if part.gain else f"failed: {part.reason}"
        click.echo(f"  {part.name}: {gain}")
    for path in paths:
        click.echo(str(path))
    click.echo(str(page))
    try:
        kept = io_output.remember(found, directory.name, motifs.database())
    except LeadlineError as problem:
        click.echo(f"leadline: {problem}", err=True)  # the answer stands all the same
        return
    if kept:
        click.echo("'leadline tune advise' knows of it now", err=True)
