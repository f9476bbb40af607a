"""`leadline io run`: runs a program with preloaded settings."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from leadline.cli._working import working

if TYPE_CHECKING:
    from tempfile import TemporaryDirectory

    from leadline.tune.io.profiles import Chosen

AUTO, NONE = "auto", "none"


@click.command(context_settings={"allow_interspersed_args": False})
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED, metavar="-- COMMAND...")
@click.option(
    "--settings",
    default=AUTO,
    show_default=True,
    metavar="auto|none|FILE",
    help="auto: the best known settings for the access pattern of the program's last run; none: only record "
    "the access pattern; FILE: a settings file.",
)
@click.option(
    "--database",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Database to search. Default: Leadline's own.",
)
def command(*, command: tuple[str, ...], settings: str, database: Path | None) -> None:
    """Run a program with preloaded settings, and exit with the program's exit code.

    COMMAND starts the program, such as -- mpirun -n 4 ./app input. Leadline records its access pattern. From
    the second run on, 'auto' uses the settings of the nearest access pattern of the database where one is
    near enough, and names them on standard error. 'leadline io tune' fills the database. Settings that are
    safe for some programs only are never used by 'auto'. 'leadline io advise ./app' prints the settings
    without running the program.
    """
    from leadline.core.processes import check_startable, run_alone  # noqa: PLC0415  (heavy imports)
    from leadline.tune.io import profiles as io_profiles  # noqa: PLC0415

    check_startable(command)
    with _shared() as name:
        place = Path(name)
        path, env = _prepare(command, settings, database, place)
        status = run_alone(command, env)
        _tell(place / io_profiles.LOG, settings=path is not None)
        if status == 0 and path is None:
            _keep(command, place / io_profiles.LOG)
    click.get_current_context().exit(status)


def _shared() -> "TemporaryDirectory[str]":
    """A directory for settings and log, beside the library that is preloaded: the nodes that have the library
    have both. /tmp is each node's own.
    """
    from tempfile import TemporaryDirectory  # noqa: PLC0415

    from leadline.core.errors import LeadlineError  # noqa: PLC0415
    from leadline.core.paths import state_dir  # noqa: PLC0415

    parent = state_dir() / "io"
    try:
        parent.mkdir(parents=True, exist_ok=True)
        return TemporaryDirectory(prefix="run-", dir=parent)
    except OSError as problem:
        raise LeadlineError(f"cannot make a directory in {parent}: {problem.strerror or problem}") from None


def _prepare(
    command: tuple[str, ...], settings: str, database: Path | None, place: Path
) -> tuple[Path | None, Mapping[str, str]]:
    """The settings file of this run, None where nothing is set, and the variables of its environment."""
    from leadline.tune.io import preload as io_preload  # noqa: PLC0415
    from leadline.tune.io import profiles as io_profiles  # noqa: PLC0415
    from leadline.tune.io import settings as h5settings  # noqa: PLC0415

    path = None if settings in (AUTO, NONE) else Path(settings).absolute()
    with working("searching the database") as say:
        library = io_preload.library(say)
        if path is not None:
            h5settings.read(path)  # what is wrong with it is said before anything runs
        chosen = _chosen(command, database) if settings == AUTO else None
    if chosen:
        path = place / "settings.toml"
        path.write_text(chosen.text, encoding="utf-8")
    return path, io_preload.environment(library, path, place / io_profiles.LOG)


def _chosen(command: tuple[str, ...], database: Path | None) -> "Chosen | None":
    """The settings for this run, after saying which."""
    from leadline.tune.io import profiles as io_profiles  # noqa: PLC0415

    log = io_profiles.log_of(command)
    if not log.is_file():
        _say(
            "this is the first run of this command: no settings are used; its access pattern is recorded "
            "for the next"
        )
        return None
    chosen = io_profiles.choose(log, database)
    if chosen is None:
        _say("the database has no similar access pattern: no settings are used")
        return None
    advice, names = chosen.advice, ", ".join(chosen.left_out)
    _say(
        f"using the settings of {advice.source}, distance {advice.distance:.2f} "
        f"(confidence {100 * advice.confidence:.0f} %)"
        + (f"; without {names}, which is not safe for every program" if names else "")
    )
    return chosen


def _tell(log: Path, *, settings: bool) -> None:
    """Print what the library had to say, whether ranks lack it, and whether nothing was set."""
    from leadline.tune.io import log as io_log  # noqa: PLC0415

    seen = io_log.read(log)
    if seen is None and settings:
        _say(
            "nothing was set: the program opened no file through HDF5 or MPI-IO, or the library did not "
            "reach it; have the launcher pass LD_PRELOAD, LEADLINE_H5_LOG and LEADLINE_H5_SETTINGS on "
            "(mpirun -x, srun --export=ALL)"
        )
    for sentence in [*seen.messages, seen.missing] if seen else []:
        if sentence:
            _say(sentence)


def _keep(command: tuple[str, ...], log: Path) -> None:
    """Keep what was recorded; the program ran all the same where that cannot be."""
    from leadline.core.errors import LeadlineError  # noqa: PLC0415
    from leadline.tune.io import profiles as io_profiles  # noqa: PLC0415

    try:
        io_profiles.keep(command, log)
    except LeadlineError as problem:
        _say(str(problem))


def _say(text: str) -> None:
    """A line beside what the program says."""
    click.echo(f"leadline: {text}", err=True)
