"""`leadline io tune`: searches the HDF5, MPI-IO and file-system settings that make a program fastest."""

import sys
from pathlib import Path
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from leadline.cli._options import Parsed
from leadline.cli._submit import Resumable, Submittable
from leadline.cli._table import tell
from leadline.cli._types import AtLeast, MachineFile, Word
from leadline.cli._working import working
from leadline.core.paths import kernels, shipped
from leadline.plan.settings import positive_time

if TYPE_CHECKING:
    from leadline.tune.io.runner import Progress
    from leadline.tune.io.setup import Request

PAGE = "report.html"


def _methods() -> list[str]:
    """The search methods, without importing them."""
    where = Path(__file__).resolve().parents[2] / "tune" / "search"
    return sorted(name for _, name, _ in iter_modules([str(where)]) if not name.startswith("_"))


# For each way to measure settings: the options that have no effect there, and why.
WITHOUT = {
    "a program": (
        ("--set", "--ranks", "--mpi", "--on", "--directory"),
        "for a --kernel only",
    ),
    "a --kernel": (
        ("--minimize", "--maximize", "--check"),
        "for a program only: a kernel times itself and checks every byte",
    ),
    "--on": (
        ("--set", "--mpi", "--directory", "--number", "--limit", "--minimize", "--maximize", "--check"),
        "for real runs only: with --on the machine file has the rest",
    ),
}


class _Tune(Submittable):
    """As a job, a tuning goes to a directory that is known beforehand, and is resumed from it."""

    cut = "If the time limit ends it, a new job resumes the tuning."

    def resumable(self, params: dict[str, Any], words: list[str]) -> Resumable:
        if params["resume"]:
            return Resumable(words, words, None)
        output = params["output"] or _fresh()
        words = words if params["output"] else [*words[:2], "--output", str(output), *words[2:]]
        return Resumable(words, ["io", "tune", "--resume", str(output)], output)


@click.command(cls=_Tune, context_settings={"ignore_unknown_options": False})
@click.argument("command", nargs=-1, type=click.UNPROCESSED, metavar="[-- COMMAND...]")
@click.option(
    "--kernel",
    metavar="NAME",
    help=f"Tune one of Leadline's I/O kernels instead of a program: {', '.join(sorted(kernels()))}.",
)
@click.option(
    "--set",
    "sweeps",
    multiple=True,
    metavar="KEY=VALUE",
    help="With --kernel: set one of its keys, such as mode=read; repeat it for others.",
)
@click.option("--ranks", type=AtLeast(1), help="With --kernel: number of ranks. Default: 4.")
@click.option(
    "--mpi",
    default="default",
    metavar="NAME",
    help="With --kernel: the MPI, from 'leadline list mpis'. Default: the first of them.",
)
@click.option(
    "--on",
    "machine",
    type=MachineFile(),
    metavar="MACHINE",
    help="With --kernel: simulate its storage on a described machine instead of writing.",
)
@click.option(
    "--space",
    metavar="NAME|FILE",
    help=f"Search space: {', '.join(shipped('spaces'))}, or a TOML file. Default: here, for this "
    "machine's file system.",
)
@click.option(
    "--number",
    "numbers",
    multiple=True,
    metavar="NAME=COUNT",
    help="A number that the search space needs, such as targets=48 (lustre, gpfs: targets, nodes, ranks); "
    "repeat it for others. A machine file has its own.",
)
@click.option(
    "--search",
    "method",
    default="gp",
    show_default=True,
    metavar="METHOD",
    help=f"Search method: {', '.join(_methods())}; gp is a Gaussian process, ga a genetic algorithm.",
)
@click.option(
    "--budget",
    default=40,
    show_default=True,
    type=AtLeast(1),
    help="Number of combinations of settings to try, each run up to 3 times. In addition: 8 runs with the "
    "default settings to measure noise, one run for each setting to find those that change anything, 20 at "
    "the end that alternate the best and the default, and some that try parts of the best.",
)
@click.option("--seed", default=1, show_default=True, help="Seed of the search and of the order of runs.")
@click.option(
    "--safety",
    type=Word(["auto", "hint", "layout", "semantics"]),
    default="auto",
    show_default=True,
    help="Settings that may be tried. hint: only hints; layout: also the layout of the file; semantics: also "
    "settings that leave undefined what the program reads and never wrote, such as no fill values. auto: "
    "layout for programs; semantics for kernels, which write every byte.",
)
@click.option(
    "--minimize",
    "time",
    metavar="PATTERN",
    help="Regular expression for a time in s that the program prints, such as 'wrote in ([0-9.]+) s', to "
    "minimize. Default: the time of its run.",
)
@click.option(
    "--maximize",
    metavar="PATTERN",
    help="Regular expression for a rate that the program prints, such as 'rate: ([0-9.]+)', to maximize.",
)
@click.option(
    "--check",
    metavar="COMMAND",
    help="Shell command that checks the output after each run; a non-zero exit code means wrong data.",
)
@click.option(
    "--limit",
    type=Parsed(positive_time),
    metavar="TIME",
    help="Time limit of a run, such as '2 min'. Default: four times as long as with default settings.",
)
@click.option(
    "--directory",
    type=click.Path(path_type=Path, file_okay=False),
    help="With --kernel: where to write its files. Default: TUNING.",
)
@click.option(
    "--output",
    "-o",
    type=click.Path(path_type=Path),
    metavar="TUNING",
    help="Directory for the results. Default: runs/tune-io-DATE.",
)
@click.option(
    "--resume", type=click.Path(path_type=Path), metavar="TUNING", help="Resume an interrupted search."
)
def command(**asked: object) -> None:
    """Search the HDF5, MPI-IO and file-system settings that make a program fastest.

    COMMAND starts the program, such as -- mpirun -n 4 ./app input. Leadline runs it repeatedly, each time
    with other settings that a preloaded library passes to HDF5 and MPI-IO; the program is not changed. Each
    result is written to disk before the next run starts, so --resume continues an interrupted search without
    repeating a run.

    TUNING receives settings.toml for the preloaded library, the same settings without it where possible
    (ROMIO hints, Open MPI parameters, lfs setstripe), lines for a job script, and a page, report.html. The
    result may be that no setting gives a significant gain. Where one does, 'leadline io advise' prints the
    settings for programs with a similar access pattern.

    Exit codes: 0, settings were found; 1, none gives a gain, or the program failed; 2, the request was not
    understood; 130, interrupted.
    """
    from leadline.tune.io import setup as io_setup  # noqa: PLC0415

    request = _request(asked)
    with working("checking the program and the search space") as say:
        tuning = io_setup.begin(request, say, _show)
    try:
        with tuning.journal:
            tuning.run()
    except KeyboardInterrupt as interrupt:
        way_on = f"every finished run is kept; resume with 'leadline io tune --resume {tuning.journal.path}'"
        raise KeyboardInterrupt(way_on) from interrupt
    finally:
        _wipe()
    _conclude(tuning.journal.path)


def _request(asked: dict[str, Any]) -> "Request":
    """The request that the options make. Raises UsageError where they exclude each other."""
    from leadline.core.processes import check_startable  # noqa: PLC0415
    from leadline.tune.io.setup import Request  # noqa: PLC0415

    context = click.get_current_context()
    resume = asked.pop("resume")
    asked["command"] = list(asked["command"])
    if resume:
        _refuse_others(context, bool(asked["command"]))
        return Request.again(resume)
    if bool(asked["kernel"]) == bool(asked["command"]):
        raise click.UsageError(
            "--kernel NAME and a program after -- exclude each other"
            if asked["command"]
            else "nothing to tune: give a program after --, such as -- mpirun -n 4 ./app, or --kernel NAME",
            context,
        )
    if asked["command"]:
        check_startable(asked["command"])
    way = "a program" if asked["command"] else "--on" if asked["machine"] else "a --kernel"
    _refuse_idle(context, way)
    return Request(**{**asked, "output": asked["output"] or _fresh()})


def _fresh() -> Path:
    """The directory of a tuning for which none was given."""
    from datetime import datetime  # noqa: PLC0415

    from leadline.run.store import RUNS  # noqa: PLC0415

    return RUNS / f"tune-io-{datetime.now():%Y%m%d-%H%M%S}"


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
        raise click.UsageError(f"{', '.join(idle)}: {why}", context)


def _refuse_others(context: click.Context, named: bool) -> None:
    """UsageError for what would change a tuning that has begun; `named`: a program is given."""
    given = ["a program"] if named else []
    given += [each for each in _given(context) if each != "--resume"]
    if given:
        raise click.UsageError(
            f"--resume takes everything from the tuning, but got {', '.join(given)}; leave that out, or "
            "start another tuning in another directory",
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
    from leadline.core.errors import LeadlineError  # noqa: PLC0415
    from leadline.report import write_tuning  # noqa: PLC0415
    from leadline.report.tuning import told, verdict  # noqa: PLC0415
    from leadline.tune.io import output as io_output  # noqa: PLC0415
    from leadline.tune.io import patterns as io_patterns  # noqa: PLC0415
    from leadline.tune.io import results as io_results  # noqa: PLC0415

    found = io_results.load(directory)
    with working("writing the page"):
        paths = io_output.write(found, directory)
        page = write_tuning(found, directory.name, directory / PAGE)
    tell(verdict(found))
    for part in found.parts:
        gain = f"{told(part.gain)} as fast" if part.gain else f"failed: {part.reason}"
        tell(f"  {part.name}: {gain}", indent="    ")
    for path in paths:
        click.echo(str(path))
    click.echo(str(page))
    try:
        kept = io_output.remember(found, directory.name, io_patterns.database())
    except LeadlineError as problem:
        click.echo(f"leadline: {problem}", err=True)  # the answer stands all the same
        return
    if kept:
        click.echo("stored for 'leadline io advise'", err=True)
