"""What `leadline replay --sensitivity` prints: what a program's time goes with."""

from typing import TYPE_CHECKING

import click

from leadline.cli._table import print_table, wrapped
from leadline.core.formatting import network_text

if TYPE_CHECKING:
    from leadline.run.program_sensitivity import ProgramSensitivity

COLUMNS = {"what": "constant", "share": "share of the time"}
REST = "other constants"
WHAT_REST = (
    "Other constants are all in the machine's file that are no latency, bandwidth of links or overhead: "
    "copies, sums of reductions, searches of queues, gaps between messages."
)
SEEN = 5e-4  # of the time; a rest that is smaller is rounding


def print_program_sensitivity(found: "ProgramSensitivity", subject: str, as_json: bool) -> None:
    """Shares of the time of `subject`, a program on a machine, and tolerated latencies; JSON in SI units."""
    from leadline.core.units import format_quantity  # noqa: PLC0415

    shares = {slope.what: slope.share for slope in found.slopes}
    if as_json:
        row = {
            "time": found.time,
            "network": found.network,
            **{f"share_{what}": share for what, share in shares.items()},
            "messages_on_critical_path": found.per_message,
            **{f"latency_for_{growth:.0%}".rstrip("%"): added for growth, added in found.tolerated.items()},
        }
        print_table([row], {}, as_json=True)
        return
    time = format_quantity(found.time, "s")
    click.echo(f"{subject}: {time} (simulated), network model {network_text(found.network)}\n")
    rest = 1 - sum(shares.values())
    if abs(rest) > SEEN:
        shares[REST] = rest
    rows = [{"what": what, "share": f"{100 * share:.2f} %"} for what, share in shares.items()]
    print_table(rows, COLUMNS)
    if REST in shares:
        click.echo("\n" + wrapped(WHAT_REST))
    if not found.per_message and not any(found.tolerated.values()):
        click.echo("\nNo message between nodes is on the critical path, whatever its latency.")
        return
    click.echo(
        "\n"
        + wrapped(
            f"The critical path has {found.per_message:,.0f} messages between nodes: each ns of latency more "
            f"costs {format_quantity(found.per_message * 1e-9, 's')}."
        )
    )
    for growth, added in found.tolerated.items():
        if added is not None:
            told = format_quantity(added, "s")
            click.echo(f"{100 * growth:g} % longer with {told} more latency of every message between nodes")
