"""The verb that writes what results say: settings of libraries, and mappings of ranks."""

from importlib import import_module
from pathlib import Path

import click

from leadline.cli import summary

FILES = "_tune_"  # the beginning of the names of the files beside this one that hold what can be tuned


class Tuned(click.Group):
    """A group whose commands are the files `_tune_*.py` beside this one, imported when they are used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """What can be tuned."""
        return sorted(path.stem.removeprefix(FILES) for path in Path(__file__).parent.glob(f"{FILES}*.py"))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of one of them."""
        if cmd_name not in self.list_commands(ctx):
            return None
        command = import_module(f"leadline.cli.{FILES}{cmd_name}").command
        assert isinstance(command, click.Command), f"{FILES}{cmd_name}.py holds no click command"
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that the arguments begin with; an unknown one is refused with the nearest."""
        if args and not args[0].startswith("-") and args[0] not in self.list_commands(ctx):
            from leadline.core.errors import suggest  # noqa: PLC0415

            hint = suggest(args[0], self.list_commands(ctx))
            raise click.UsageError(f"there is no {args[0]!r} to tune{hint}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Each with its line of help, read from the files without importing them."""
        with formatter.section("What can be tuned"):
            here = Path(__file__).parent
            formatter.write_dl(
                [(name, summary(here / f"{FILES}{name}.py")) for name in self.list_commands(ctx)]
            )


@click.group(cls=Tuned)
def command() -> None:
    """Write what results say into the form that a library or a job takes.

    'collectives' chooses a library's algorithms from a run; 'mapping' chooses which rank sits where, on the
    simulator; 'io' tries settings of HDF5, MPI-IO and the file system on a program, which 'check', 'doctor',
    'library' and 'advise' help with; 'run' starts a program with what is known. Each has a --help of its own.
    """
