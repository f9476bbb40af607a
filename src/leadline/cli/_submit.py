"""`--submit`: the same command line as a job of a batch system, for every verb that may take hours."""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from leadline.cli._options import Parsed
from leadline.cli._table import terminal_width
from leadline.cli._types import AtLeast, Word

if TYPE_CHECKING:
    from leadline.batch import BatchJob

SYSTEMS = ("slurm", "flux", "pbs", "lsf")
PERIOD = 30.0  # s between lines where there is no terminal


class Resumable(NamedTuple):
    """How a command is started as a job, how continued (empty: not at all), and the path whose presence means
    the second.
    """

    command: list[str]
    again: list[str]
    begun: Path | None


def _time(text: str) -> float:
    """A time in s, from "2 h" or, as batch systems write it, "2:00:00"."""
    from leadline.core.errors import UsageError  # noqa: PLC0415
    from leadline.core.units import parse_time  # noqa: PLC0415

    parts = text.split(":")
    if len(parts) == 3 and all(part.isdecimal() for part in parts):
        hours, minutes, rest = map(int, parts)
        return 3600.0 * hours + 60 * minutes + rest
    try:
        seconds = parse_time(text)
    except UsageError:
        seconds = 0.0
    if seconds > 0:
        return seconds
    raise UsageError(
        f"a job's time limit is like '30 min', '2 h' or 2:00:00 (hours:minutes:seconds), but got {text!r}"
    )


def _options(cut: str) -> list[click.Option]:
    """The options of a submission; `cut` says what becomes of a job that its time limit ends."""
    return [
        click.Option(
            ["--submit"],
            type=Word(SYSTEMS),
            help=f"Submit this command as a job and follow it. {cut}",
        ),
        click.Option(["--nodes"], type=AtLeast(1), help="With --submit: whole nodes to ask for."),
        click.Option(
            ["--time", "--walltime", "walltime"],
            type=Parsed(_time),
            metavar="TIME",
            help="With --submit: time limit of a job, such as '2 h' or 2:00:00.",
        ),
        click.Option(["--queue"], metavar="NAME", help="With --submit: queue or partition."),
        click.Option(["--account"], metavar="NAME", help="With --submit: account that is charged."),
        click.Option(["--detach"], is_flag=True, help="With --submit: do not follow the job."),
    ]


# What --time may have been meant for.
NO_JOB = "how long a run measures is its plan's key time, how long a search takes its option --within"


class Submittable(click.Command):
    """A command that `--submit` hands to a batch system instead of executing it."""

    cut = "A job that the time limit ends is not continued."

    def __init__(self, *args: Any, **more: Any) -> None:
        """Its own options, then those of a submission."""
        super().__init__(*args, **more)
        self.submission = _options(self.cut)
        self.params += self.submission

    def resumable(self, params: dict[str, Any], words: list[str]) -> Resumable:
        """How these words are started as a job and continued; here: they are not continued."""
        return Resumable(words, [], None)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """As any command, keeping the words for the job."""
        ctx.meta[__name__] = list(args)
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Submit the command where that is asked, else execute it."""
        asked = {str(each.name): ctx.params.pop(str(each.name)) for each in self.submission}
        system = asked.pop("submit")
        if system is None:
            if given := next((each for each in self.submission if asked.get(str(each.name))), None):
                also = f"; {NO_JOB}" if given.name == "walltime" else ""
                raise click.UsageError(f"{' or '.join(given.opts)} needs --submit SYSTEM{also}", ctx)
            return super().invoke(ctx)
        words = [*ctx.command_path.split()[1:], *self._without(ctx.meta[__name__])]
        return ctx.exit(_submit(system, self.resumable(ctx.params, words), asked))

    def _without(self, args: Sequence[str]) -> list[str]:
        """The words of a command line without the submission's."""
        takes = {name: not each.is_flag for each in self.submission for name in each.opts}
        rest: list[str] = []
        words = iter(args)
        for word in words:
            if word == "--":
                return [*rest, word, *words]
            name, equals, _ = word.partition("=")
            if name not in takes:
                rest.append(word)
            elif takes[name] and not equals:
                next(words, None)
        return rest


def _submit(system: str, wanted: Resumable, asked: dict[str, Any]) -> int:
    """Submit a job and, unless it is to be left alone, follow it; the exit code."""
    from leadline import batch  # noqa: PLC0415
    from leadline.batch.job import create  # noqa: PLC0415
    from leadline.core.errors import LeadlineError  # noqa: PLC0415

    resources = batch.Resources(asked["nodes"] or 1, asked["walltime"], asked["queue"], asked["account"])
    job = create(system, *wanted, resources)
    try:
        batch.submit(job)
    except LeadlineError:
        batch.forget(job)  # it was never the system's
        raise
    click.echo(f"leadline: {job.name} is {system}'s job {job.native}; it prints to {job.log}", err=True)
    if asked["detach"]:
        return 0
    return follow_job(job)


def follow_job(job: "BatchJob") -> int:
    """Follow a job with a line of progress, then print what it printed; the exit code of its command."""
    from leadline import batch  # noqa: PLC0415

    try:
        with _line() as show:
            code = batch.follow(job, show)
    except KeyboardInterrupt:
        way_on = f"the job goes on; 'leadline jobs follow {job.name}' follows it, 'jobs cancel' ends it"
        raise KeyboardInterrupt(way_on) from None
    click.echo(job.log.read_text(errors="replace").rstrip())
    return code


class _line:
    """A line that is written over on a terminal; elsewhere a line for each new state, or now and then."""

    def __init__(self) -> None:
        self.terminal = sys.stderr.isatty()
        self.state = ""
        self.at = 0.0

    def __enter__(self) -> Callable[[str, str], None]:
        """What shows a state and a line of progress."""
        return self.show

    def show(self, state: str, line: str) -> None:
        """Show them where they are new."""
        from time import monotonic  # noqa: PLC0415

        text = "  ".join(filter(None, [state, line.removeprefix("leadline: ")]))
        if self.terminal:
            click.echo(f"\r\x1b[K{text[: terminal_width() - 1]}", err=True, nl=False)
        elif state and (state != self.state or monotonic() - self.at > PERIOD):
            click.echo(f"leadline: {text}", err=True)
            self.state, self.at = state, monotonic()

    def __exit__(self, *_: object) -> None:
        """Take the line away."""
        if self.terminal:
            click.echo("\r\x1b[K", err=True, nl=False)
