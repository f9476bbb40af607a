"""`leadline help`: what `--help` prints, for those who ask in this order."""

import click


@click.command
@click.argument("words", metavar="[COMMAND]...", nargs=-1)
@click.pass_context
def command(ctx: click.Context, *, words: tuple[str, ...]) -> None:
    """Print the help of a command, like its option --help."""
    assert ctx.parent is not None, "this is a command of a group"
    at = ctx.parent
    words = () if words == ("help",) else words
    for word in words:
        if not isinstance(at.command, click.Group):
            if any(
                isinstance(each.type, click.Choice) and word in each.type.choices
                for each in at.command.params
            ):
                break  # what the command is about, not a command
            raise click.UsageError(f"'{at.command_path}' has no commands, but got {word!r}", ctx)
        name, found, _ = at.command.resolve_command(at, [word])
        if found is None:
            raise click.UsageError(f"'{at.command_path}' has no command {word!r}", ctx)
        at = click.Context(found, parent=at, info_name=name)
    click.echo(at.get_help())
