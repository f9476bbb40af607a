"""The verb that prints what a shell needs to complete Leadline's words."""

import click
from click.shell_completion import get_completion_class

from leadline.cli import main
from leadline.cli._types import Word

HOW = {
    "bash": 'eval "$(leadline completion bash)"   in ~/.bashrc',
    "zsh": 'eval "$(leadline completion zsh)"   in ~/.zshrc, after compinit',
    "fish": "leadline completion fish | source   in ~/.config/fish/config.fish",
}


@click.command(epilog="\b\n" + "\n".join(HOW.values()))
@click.argument("shell", type=Word(list(HOW)))
def command(shell: str) -> None:
    """Print the completion script for a shell: it completes commands, options, runs and plans."""
    kind = get_completion_class(shell)
    assert kind is not None  # click has all three
    click.echo(kind(main, {}, "leadline", "_LEADLINE_COMPLETE").source())
