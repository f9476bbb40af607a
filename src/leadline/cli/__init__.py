"""The command `leadline`: its verbs, one file each, and what happens when one of them fails.

A verb is a file of this package that holds `command`; it is imported when it is used, so that help and
completion are quick. An error that the user can act on is one line on the standard error and an exit code: 2
for a request that cannot be understood, 1 for a failure, 130 when interrupted.
"""

import ast
import os
import signal
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any, NoReturn

import click

from leadline import __version__
from leadline.core.errors import LeadlineError, suggest

INTERRUPTED = 130  # what a shell gives a command that Ctrl-C ended: 128 + SIGINT

EPILOG = """\b
To begin with:
  leadline doctor              is this machine ready to be measured?
  leadline run quick           measure it, in a few minutes, into runs/
  leadline report              make a page of what the newest run found
Then 'leadline VERB --help' for each verb; 'leadline list plans' for what else
can be measured.
"""


class Verbs(click.Group):
    """A group whose commands are the files beside this one."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The verbs; `import_.py` is the verb `import`."""
        return sorted(name.rstrip("_") for _, name, _ in iter_modules(__path__) if not name.startswith("_"))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of a verb, imported now."""
        path = _file(cmd_name)
        if path is None:
            return None
        command = import_module(f"{__name__}.{path.stem}").command
        assert isinstance(command, click.Command), f"{path} holds no click command"
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The verb that the arguments begin with; an unknown one is refused with the nearest."""
        if args and not args[0].startswith("-") and _file(args[0]) is None:
            hint = suggest(args[0], self.list_commands(ctx))
            raise click.UsageError(f"unknown verb {args[0]!r}{hint}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Each verb with its line of help, read from the files without importing them."""
        with formatter.section("Verbs"):
            formatter.write_dl([(name, summary(_file(name))) for name in self.list_commands(ctx)])

    def invoke(self, ctx: click.Context) -> Any:
        """Run the verb; a reader of its output that leaves, such as `head`, has what it wanted."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError:  # here, since click would make an exit code 1 of it
            _stop_writing()
            ctx.exit(0)

    def main(self, args: Sequence[str] | None = None, *arguments: Any, **options: Any) -> NoReturn:
        """Run a verb and leave with its exit code; whatever fails is said in one line.

        A verb that is interrupted may say what is kept: `raise KeyboardInterrupt("go on with ...")`.
        """
        _interruptible()
        options["standalone_mode"] = False
        try:
            result = super().main(args, *arguments, **options)
            sys.stdout.flush()
        except click.exceptions.NoArgsIsHelpError as problem:
            click.echo(problem.format_message(), err=True)
            sys.exit(problem.exit_code)
        except click.ClickException as problem:
            _fail(_told(problem), problem.exit_code)
        except LeadlineError as problem:
            _fail(str(problem), problem.exit_code)
        except click.Abort as problem:  # what click makes of KeyboardInterrupt
            kept = str(problem.__cause__ or "")
            _fail(f"interrupted; {kept}" if kept else "interrupted", INTERRUPTED)
        except BrokenPipeError:
            _stop_writing()
            sys.exit(0)
        # With standalone_mode off, `ctx.exit(code)` becomes the result.
        sys.exit(result if isinstance(result, int) else 0)


def _interruptible() -> None:
    """Have a cancelled job or a closed terminal end a verb, and what it started, as Ctrl-C does."""

    def interrupt(*_: object) -> NoReturn:
        raise KeyboardInterrupt

    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_DFL:  # nohup has it ignored
            signal.signal(number, interrupt)


def summary(path: Path | None) -> str:
    """The line of help of a verb's file: the first of the docstring of `command`, else of the file."""
    if path is None:
        return ""
    tree = ast.parse(path.read_bytes())
    docs = [
        ast.get_docstring(node)
        for node in tree.body
        if isinstance(node, ast.FunctionDef) and node.name == "command"
    ]
    text = next((doc for doc in docs if doc), None) or ast.get_docstring(tree) or ""
    return text.partition("\n\n")[0].replace("\n", " ").rstrip(".")


def _file(verb: str) -> Path | None:
    """The file of a verb, or None where there is no such verb."""
    here = Path(__file__).parent
    found = [here / f"{verb}.py", here / f"{verb}_.py"]
    return next((path for path in found if path.is_file() and not path.stem.startswith("_")), None)


def _told(problem: click.ClickException) -> str:
    """What click says, on one line, with the help that would do."""
    text = " ".join(problem.format_message().split())
    if isinstance(problem, click.UsageError) and problem.ctx is not None and "?" not in text:
        return f"{text.rstrip('.')}; see '{problem.ctx.command_path} --help'"
    return text


def _stop_writing() -> None:
    """Send the standard output nowhere: what is still to be flushed at exit must not fail again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _fail(sentence: str, code: int) -> NoReturn:
    """Say why on the standard error and leave."""
    click.echo(f"leadline: {sentence}", err=True)
    sys.exit(code)


@click.command(cls=Verbs, epilog=EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, "-V", "--version", prog_name="leadline")
def main() -> None:
    """Measure what message passing costs on this machine, fit models to it, and report it.

    A plan says what to measure; a run of it leaves records; everything else reads those.
    """
