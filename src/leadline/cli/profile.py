"""`leadline profile`: where a recorded program's time goes, who is waited for, and what to do."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from leadline.cli._table import json_option, print_table, wrapped
from leadline.cli._working import working

if TYPE_CHECKING:
    from leadline.profile import Profile

SITES = 5
RANKS = 3


@click.command()
@click.argument("program", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE")
@json_option
def command(*, program: Path, as_json: bool) -> None:
    """Print where the time of a program goes: a recording, or what 'leadline replay --times' wrote.

    Shares are of all ranks' time. A rank that waits for a message waits until it is sent; in a collective,
    until the last rank has come that it needs. The critical path is what the last rank did and, before each
    wait, what its cause did. With --json there is a row for each rank, in seconds.
    """
    from leadline.profile import profile  # noqa: PLC0415  (loads numpy)
    from leadline.program import files  # noqa: PLC0415

    with working("reading the program") as say:
        read = files.read(program)
        say("finding who waits for whom")
        found = profile(read)
    if as_json:
        print_table(_rows(found), {}, as_json=True)
        return
    _print_shares(program, found)
    _print_sites(found)
    _print_ranks(found)
    _print_findings(found)


def _rows(found: "Profile") -> list[dict[str, object]]:
    """A row for each rank, s."""
    from leadline.profile.analysis import WAITS  # noqa: PLC0415

    caused = found.caused()
    computing, inside = found.path_by_rank()
    return [
        {
            "rank": rank,
            "time": found.end[rank] * 1e-9,
            "computation": found.computing[rank] * 1e-9,
            "communication": found.communication[rank] * 1e-9,
            **{name.replace(" ", "_"): found.waits[rank, place] * 1e-9 for place, name in enumerate(WAITS)},
            "transfer": found.transfer[rank] * 1e-9,
            "others_wait": caused[rank] * 1e-9,
            "path_computation": computing[rank] * 1e-9,
            "path_communication": inside[rank] * 1e-9,
        }
        for rank in range(found.program.ranks)
    ]


def _print_shares(path: Path, found: "Profile") -> None:
    """How much of the ranks' time is what."""
    from leadline.core.units import format_quantity  # noqa: PLC0415
    from leadline.profile.analysis import WAITS  # noqa: PLC0415

    total = int(found.end.sum()) or 1
    time = format_quantity(float(found.end.max(initial=0)) * 1e-9, "s")
    click.echo(f"{path}: {found.program.ranks} ranks, {found.program.operations_in_all:,} operations, {time}")
    shares = [f"computation {100 * found.computing.sum() / total:.1f} %"]
    shares += [f"{name} {100 * found.waits[:, n].sum() / total:.1f} %" for n, name in enumerate(WAITS)]
    shares.append(f"transfer and overhead {100 * found.transfer.sum() / total:.1f} %")
    click.echo(wrapped("  " + ", ".join(shares), "  "))


def _print_sites(found: "Profile") -> None:
    """The call sites that cost most."""
    total = int(found.end.sum()) or 1
    click.echo("\nCall sites by time in them:")
    print_table(
        [
            {
                "site": name or "unknown",
                "kind": kind,
                "calls": f"{calls:,}",
                "time": f"{100 * time / total:.1f} %",
                "waiting": f"{100 * waited / total:.1f} %",
            }
            for name, kind, calls, time, waited in found.by_site()[:SITES]
        ],
        {"site": "call site", "kind": "operation", "calls": "calls", "time": "time", "waiting": "waiting"},
    )


def _print_ranks(found: "Profile") -> None:
    """Whom others wait for, and who is on the critical path."""
    caused = found.caused()
    computing, inside = found.path_by_rank()
    path = int(computing.sum() + inside.sum()) or 1
    worst = [rank for rank in caused.argsort()[::-1][:RANKS].tolist() if caused[rank] > 0]
    if worst:
        waited = int(caused.sum())
        said = ", ".join(f"rank {rank} ({100 * caused[rank] / waited:.0f} %)" for rank in worst)
        click.echo(f"\nOthers wait for: {said} of all waiting.")
    on_path = [rank for rank in computing.argsort()[::-1][:RANKS].tolist() if computing[rank] > 0]
    said = ", ".join(f"rank {rank} {100 * computing[rank] / path:.0f} %" for rank in on_path)
    click.echo(
        f"Critical path: {100 * inside.sum() / path:.0f} % in MPI"
        + (f"; computation of {said}." if said else ".")
    )


def _print_findings(found: "Profile") -> None:
    """What to do."""
    from leadline.profile.findings import findings  # noqa: PLC0415

    for sentence in findings(found):
        click.echo("\n" + wrapped(sentence))
