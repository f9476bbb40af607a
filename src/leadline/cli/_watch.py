"""What the commands of `leadline watch` share: options, the verdict in words, and the files in a history."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from leadline.cli._options import Parsed
from leadline.cli._table import print_table, tell
from leadline.core.errors import LeadlineError, UsageError
from leadline.core.units import parse_fraction

if TYPE_CHECKING:
    from leadline.run.watched import Verdict

Decorated = TypeVar("Decorated", bound=Callable[..., Any])
COLUMNS = {
    "verdict": "verdict",
    "point": "point",
    "value": "newest",
    "change": "change, 95 %",
    "since": "since",
    "reason": "reason",
}


def history_option(function: Decorated) -> Decorated:
    """The option --history DIR: the parameter `history`."""
    return click.option(
        "--history",
        type=click.Path(path_type=Path, file_okay=False),
        metavar="DIR",
        required=True,
        help="Directory of the runs, the baseline, and the files with the verdict on the newest run.",
    )(function)


def threshold_option(function: Decorated) -> Decorated:
    """The option --threshold: the parameter `threshold`, a fraction."""
    return click.option(
        "--threshold",
        type=Parsed(parse_fraction),
        default="2 %",
        show_default=True,
        help="A certain change counts only if its estimate is larger than this. A "
        "history tells smaller changes than two runs do ('leadline compare': 5 %).",
    )(function)


def any_host_option(function: Decorated) -> Decorated:
    """The option --any-host: the parameter `any_host`."""
    return click.option(
        "--any-host",
        is_flag=True,
        help="Runs on other hosts with the same processor belong to the history, as under a batch system.",
    )(function)


@contextmanager
def failures_are_no_regressions() -> Iterator[None]:
    """What could not be measured or judged has exit code 2, for 1 is a regression."""
    try:
        yield
    except UsageError:
        raise
    except LeadlineError as problem:
        raise UsageError(str(problem)) from problem
    except OSError as problem:
        name = f" {problem.filename}" if problem.filename else ""
        raise UsageError(f"cannot read or write{name}: {problem.strerror or problem}") from problem


def conclude(verdict: "Verdict", as_json: bool) -> None:
    """Print the verdict, write the files of the history, and exit with 1 for a regression."""
    from leadline.report.watch import sentences, table  # noqa: PLC0415
    from leadline.report.watch_files import write_files  # noqa: PLC0415

    rows = table(verdict)
    if as_json:
        print_table(rows, {}, as_json=True)
    else:
        silent = {"unchanged", "not measured"} | ({"not judged"} if verdict.learning else set())
        told = [row for row in rows if row["verdict"] not in silent]
        if told:
            print_table(told, COLUMNS)
    for sentence in sentences(verdict):
        tell(sentence, err=as_json)
    for path in write_files(verdict):
        click.echo(f"  {path}", err=True)
    if verdict.bad:
        click.get_current_context().exit(1)
