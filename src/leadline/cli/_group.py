"""One class for every group of commands: a command is a file, a group is a folder."""

import ast
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

import click

from leadline.core.errors import suggest


class LazyGroup(click.Group):
    """A group whose commands are the modules of a package, imported when they are used.

    A module `name.py` holds `command`, a click command; a folder `name/` holds a group in its `__init__.py`.
    Names with a leading underscore are no commands; a trailing one is dropped, so that `import_.py` is
    `import`. `moved` has the new place of each command that was renamed, from the root of the command line:
    the old name works, with a note on the standard error, and is not in the help.
    """

    def __init__(self, *args: Any, package: str = "", moved: Mapping[str, str] | None = None, **more: Any):
        """A group of the modules of the package of that full name."""
        super().__init__(*args, **more)
        self.package = package
        self.moved = dict(moved or {})

    def names(self) -> list[str]:
        """The names of the commands."""
        found = iter_modules(import_module(self.package).__path__)
        return sorted(each.name.rstrip("_") for each in found if not each.name.startswith("_"))

    def load(self, name: str) -> click.Command:
        """One of these commands, imported now."""
        module = self._path(name).with_suffix("").name
        command = import_module(f"{self.package}.{module}").command
        assert isinstance(command, click.Command), f"{self.package}.{module} holds no click command"
        return command

    def line(self, name: str) -> str:
        """The line of help of one of these commands, read without importing it."""
        path = self._path(name)
        return summary(path / "__init__.py" if path.is_dir() else path)

    def _path(self, name: str) -> Path:
        """The file or folder of a command."""
        for folder in map(Path, import_module(self.package).__path__):
            for path in (folder / f"{name}.py", folder / f"{name}_.py", folder / name):
                if path.exists():
                    return path
        raise KeyError(name)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of the commands, without those that moved."""
        return self.names()

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name, also of one that moved; None where there is none."""
        if cmd_name in self.names():
            return self.load(cmd_name)
        return _at(self.moved[cmd_name]) if cmd_name in self.moved else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that the arguments begin with. Raises UsageError for an unknown one."""
        name = args[0] if args else ""
        if name in self.moved:
            new = f"leadline {self.moved[name]}"
            click.echo(
                f"leadline: '{ctx.command_path} {name}' is now '{new}'; the next version drops the old name",
                err=True,
            )
        elif name and not name.startswith("-") and name not in self.names():
            hint = suggest(name, self.names())
            raise click.UsageError(f"'{ctx.command_path}' has no command {name!r}{hint}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Each command with its line of help."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, self.line(name)) for name in self.names()])


def summary(path: Path) -> str:
    """The line of help of a file: the first of the docstring of `command`, else of the file."""
    tree = ast.parse(path.read_bytes())
    docs = [
        ast.get_docstring(node)
        for node in tree.body
        if isinstance(node, ast.FunctionDef) and node.name == "command"
    ]
    text = next((doc for doc in docs if doc), None) or ast.get_docstring(tree) or ""
    return text.partition("\n\n")[0].replace("\n", " ").rstrip(".")


def _at(words: str) -> click.Command:
    """The command at these words of the command line, such as "io tune"."""
    from leadline.cli import main  # noqa: PLC0415  (which is made of this class)

    command: click.Command = main
    for word in words.split():
        assert isinstance(command, LazyGroup), f"{words} is no command"
        command = command.load(word)
    return command
