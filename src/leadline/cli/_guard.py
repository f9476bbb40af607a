"""The edge of the command line: every failure becomes one line on the standard error and an exit code.

2: the request cannot be understood, or a file of it is missing or of another kind; 1: something failed; 130:
interrupted, as a shell has it; 70: a defect of Leadline, whose traceback is written to a file.
"""

import os
import resource
import shlex
import signal
import sys
import tempfile
import traceback
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, NoReturn

import click

from leadline import __version__
from leadline.cli._group import LazyGroup
from leadline.core.errors import LeadlineError, of_system

INTERRUPTED = 130  # 128 + SIGINT
DEFECT = 70  # EX_SOFTWARE of sysexits.h
DEBUG = "LEADLINE_DEBUG"  # set it to see tracebacks at once
STARVED = "see 'ulimit -v', 'ulimit -u' and 'ulimit -n'"
FEW_FILES = 64  # descriptors; libraries that start threads need some of their own


class GuardedGroup(LazyGroup):
    """The root of the command line, whose `main` lets no exception through."""

    def invoke(self, ctx: click.Context) -> object:
        """Run the command. A reader that closes the pipe, such as `head`, ends it without an error."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError:  # here, since click would make an exit code 1 of it
            _discard_output()
            ctx.exit(0)

    def main(self, args: Sequence[str] | None = None, *arguments: Any, **options: Any) -> NoReturn:
        """Run a command and exit with its code.

        A command that is interrupted may say how to resume: `raise KeyboardInterrupt("resume with ...")`.
        """
        _end_on_signals()
        options["standalone_mode"] = False
        try:
            result = super().main(args, *arguments, **options)
            sys.stdout.flush()
        except click.exceptions.NoArgsIsHelpError as problem:
            click.echo(problem.format_message(), err=True)
            sys.exit(problem.exit_code)
        except click.ClickException as problem:
            _fail(_one_line(problem), problem.exit_code)
        except LeadlineError as problem:
            _fail(str(problem), problem.exit_code)
        except (click.Abort, KeyboardInterrupt) as problem:  # click makes the first of the second
            kept = str(problem.__cause__ or "")
            _fail(f"interrupted; {kept}" if kept else "interrupted", INTERRUPTED)
        except BrokenPipeError:
            _discard_output()
            sys.exit(0)
        except OSError as problem:
            _fail(str(of_system(problem)), LeadlineError.exit_code)
        except MemoryError:
            _fail("not enough memory for this command", LeadlineError.exit_code)
        except SystemExit:
            raise
        except BaseException as problem:  # libraries in Rust raise what is no Exception
            if os.environ.get(DEBUG):
                raise
            if _is_starved(problem):
                _fail(f"not enough memory, threads or descriptors: {STARVED}", LeadlineError.exit_code)
            _fail(_defect(problem, args), DEFECT)
        # With standalone_mode off, `ctx.exit(code)` becomes the result.
        sys.exit(result if isinstance(result, int) else 0)


def _is_starved(problem: BaseException) -> bool:
    """Whether a limit on memory, threads or descriptors may be why a library failed: few of them say so."""
    little = any(
        resource.getrlimit(which)[0] != resource.RLIM_INFINITY
        for which in (resource.RLIMIT_AS, resource.RLIMIT_DATA)
    )
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    few = files != resource.RLIM_INFINITY and files < FEW_FILES
    return "can't start new thread" in str(problem) or little or few


def _end_on_signals() -> None:
    """Let SIGTERM and SIGHUP (a cancelled job, a closed terminal) end a command as Ctrl-C does."""

    def interrupt(*_: object) -> NoReturn:
        raise KeyboardInterrupt

    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_DFL:  # nohup ignores SIGHUP
            signal.signal(number, interrupt)


def _one_line(problem: click.ClickException) -> str:
    """Click's message on one line, with the help to read."""
    text = " ".join(problem.format_message().split())
    if isinstance(problem, click.UsageError) and problem.ctx is not None and "?" not in text:
        return f"{text.rstrip('.')}; see '{problem.ctx.command_path} --help'"
    return text


def _defect(problem: BaseException, args: Sequence[str] | None) -> str:
    """Write a report of a defect; the sentence that names it."""
    command = shlex.join(["leadline", *(sys.argv[1:] if args is None else args)])
    what = " ".join("".join(traceback.format_exception_only(problem)).split())[:200]
    report = (
        f"Leadline {__version__}, Python {sys.version.split()[0]}, {datetime.now().isoformat()}\n"
        f"command: {command}\ndirectory: {Path.cwd()}\n\n{''.join(traceback.format_exception(problem))}"
    )
    try:
        with tempfile.NamedTemporaryFile(
            "w", prefix="leadline-defect-", suffix=".txt", delete=False, encoding="utf-8"
        ) as file:
            file.write(report)
    except OSError:
        return f"a defect of Leadline: {what}; set {DEBUG}=1 to see where"
    return f"a defect of Leadline: {what}; please send its developers the report {file.name}"


def _discard_output() -> None:
    """Redirect the standard output to /dev/null, so that the flush at exit does not fail again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _fail(sentence: str, code: int) -> NoReturn:
    """Print why on the standard error and exit."""
    from leadline.cli._table import tell  # noqa: PLC0415

    tell(f"leadline: {sentence}", err=True)
    sys.exit(code)
