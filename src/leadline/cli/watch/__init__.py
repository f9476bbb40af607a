"""`leadline watch PLAN`: measures a plan again and again, and says when the machine has changed."""

import click

from leadline.cli._group import LazyGroup


class _Watch(LazyGroup):
    """A group in which a word that is no command is a plan: `watch PLAN` is `watch run PLAN`."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that the arguments begin with, else `run`."""
        named = bool(args) and args[0] in self.names()
        return super().resolve_command(ctx, args if named else ["run", *args])


@click.group(
    cls=_Watch,
    package=__name__,
    context_settings={"ignore_unknown_options": True},
    subcommand_metavar="PLAN --history DIR | COMMAND",
)
def command() -> None:
    """Measure a plan again and again, and find when the machine changed.

    'leadline watch PLAN --history DIR' is 'leadline watch run': it measures, adds the run to the history in
    DIR and judges it against the accepted baseline. --history is required, by the other commands as well.

    Exit codes: 0, nothing became worse, or too few runs are known to judge; 1, a point became slower, drifts,
    or failed; 2, nothing could be measured or judged; 130, interrupted.
    """
