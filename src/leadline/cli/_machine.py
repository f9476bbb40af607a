"""What `leadline show machine NAME` prints: a described machine, each number with where it is from."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from leadline.cli._table import print_table, tell
from leadline.cli._types import MachineFile, Run
from leadline.core.formatting import counted
from leadline.core.record import Row

if TYPE_CHECKING:
    from leadline.machine import Machine

WORD = "machine"  # before a machine's name, where a run may stand as well

COLUMNS = {"key": "key", "text": "value", "source": "source", "mark": "mark"}


class Shown(Run):
    """What can be shown: a run, or the word `machine` and after it a machine; looked up when it is used."""

    name = "run"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The word as it is: what it means depends on those beside it."""
        return value

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Machines after the word `machine`; else this word and the runs."""
        before = ctx.params.get(param.name or "") or ()
        if before[:1] == (WORD,):
            return MachineFile().shell_complete(ctx, param, incomplete)
        word = [CompletionItem(WORD)] if incomplete and WORD.startswith(incomplete) else []
        return [*word, *super().shell_complete(ctx, param, incomplete)]


def load_described(path: Path) -> "Machine":
    """A machine to simulate; what its numbers cannot say is said on the standard error."""
    from leadline import machine  # noqa: PLC0415

    described = machine.load(path)
    if described.caveat:
        tell(f"leadline: note: {described.caveat}", err=True)
    return described


def show_machine(name: str, as_json: bool) -> None:
    """Print a machine: what it is, then each value, then the sources in full."""
    from leadline import machine  # noqa: PLC0415
    from leadline.native.registry import algorithms  # noqa: PLC0415

    described = machine.load(name)
    described.check_algorithms(algorithms)
    rows = _rows(described)
    if as_json:
        print_table(rows, {}, as_json=True)
        return
    click.secho(f"{described.name}: {described.title}", bold=sys.stdout.isatty())
    click.echo(click.wrap_text(described.about.strip(), 100))
    click.echo(
        f"At most {counted(described.max_nodes, 'node')} of {counted(described.ranks_per_node, 'rank')}, "
        f"{counted(described.max_ranks, 'rank')}; described in {described.path}\n"
    )
    marked = any(row["mark"] for row in rows)
    print_table(rows, COLUMNS if marked else {key: name for key, name in COLUMNS.items() if key != "mark"})
    if described.caveat:
        click.echo()
        tell(f"Note: {described.caveat}.")
    if described.sources:
        click.echo()
        print_table(
            [{"name": k, "full": v} for k, v in described.sources.items()], {"name": "source", "full": ""}
        )


def _rows(described: "Machine") -> list[dict[str, object]]:
    """One row a value; numbers with all that is known of them."""
    from leadline.machine import Number  # noqa: PLC0415

    rows: list[Row] = []
    for key, value in described.values():
        if isinstance(value, Number):
            rows.append({**value.row(), "mark": _mark(value.calibrated, value.claim)})
        else:
            rows.append({"key": key, "value": value, "text": "no" if value is False else value, "mark": ""})
    return rows


def _mark(calibrated: str | None, claim: str | None) -> str:
    """What a number was fitted to, and which claim states it."""
    marks = [
        f"calibrated on {calibrated}" if calibrated else "",
        f"checked by claim {claim}" if claim else "",
    ]
    return ", ".join(filter(None, marks))
