"""`leadline profile`: where a recorded program's time goes, who is waited for, and what to do."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from leadline.cli._machine import load_described
from leadline.cli._options import machine_option
from leadline.cli._table import json_option, print_table, wrapped
from leadline.cli._types import RUNS
from leadline.cli._working import working
from leadline.core.errors import UsageError
from leadline.core.formatting import counted, network_text

if TYPE_CHECKING:
    from leadline.profile import Profile
    from leadline.program.model import Program

SITES = 5


@click.command()
@click.argument("program", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE")
@machine_option("Also say what the messages should cost on this described or calibrated machine.")
@json_option
def command(*, program: Path, machine: Path | None, as_json: bool) -> None:
    """Print where the time goes in a recording, or in what 'leadline replay --times' wrote.

    100 % is the sum of the ranks' own times, each until its last operation ends. A receive or probe waits
    until the matching send begins (late sender); what is left of it is transfer. Waiting in a collective ends
    when the last of the ranks that it depends on has entered it; with a root, also when the rank leaves soon
    after another came, since libraries hand data on from rank to rank. The critical path goes back from the
    end of the last rank; at each wait it changes to the rank that was waited for. With --json there is a row
    for each rank, in seconds.
    """
    from leadline.profile import profile  # noqa: PLC0415  (loads numpy)
    from leadline.program import files  # noqa: PLC0415

    if program.name and (Path(RUNS) / program).is_dir():
        raise UsageError(f"{program} is a run, which 'leadline show {program}' prints; FILE is a .program")
    with working("reading the program") as say:
        read = files.read(program)
        say("finding who waits for whom")
        found = profile(read)
        expected = simulated(read, program, machine, say) if machine else None
    if as_json:
        print_table(_rows(found), {}, as_json=True)
        return
    _print_first(program, found)
    if expected:
        from leadline.profile.sentences import excess  # noqa: PLC0415

        where, ought = expected
        click.echo(wrapped("  " + excess(found, ought, where), "  "))
    _print_sites(found)
    _print_findings(found)


def simulated(
    read: "Program", path: Path, machine: Path, say: Callable[[str], None]
) -> "tuple[str, Profile]":
    """The profile of the same program, executed on a described machine, which is named with its network."""
    from leadline.profile import profile  # noqa: PLC0415
    from leadline.run.replay import replay  # noqa: PLC0415
    from leadline.targets.simulated.machine import SimulatedMachine  # noqa: PLC0415

    say(f"executing it on {machine.stem}")
    target = SimulatedMachine.of(load_described(machine), None, read.ranks, None, "auto")
    found = replay(path, target, ranks=read.ranks, detailed=True, say=say)
    model = network_text(found.network)
    return f"{machine.stem} (network model {model})", profile(replace(read, times_of=found.times))


def _rows(found: "Profile") -> list[dict[str, object]]:
    """A row for each rank, s."""
    from leadline.profile.waits import WAITS  # noqa: PLC0415

    caused = found.caused()
    computing, inside = found.path_by_rank()
    return [
        {
            "rank": rank,
            "time": found.end[rank] * 1e-9,
            "computation": found.computing[rank] * 1e-9,
            "files": found.files[rank] * 1e-9,
            "communication": found.communication[rank] * 1e-9,
            **{name.replace(" ", "_"): found.waits[rank, place] * 1e-9 for place, name in enumerate(WAITS)},
            "transfer": found.transfer[rank] * 1e-9,
            "others_wait": caused[rank] * 1e-9,
            "path_computation": computing[rank] * 1e-9,
            "path_communication": inside[rank] * 1e-9,
        }
        for rank in range(found.program.ranks)
    ]


def _print_first(path: Path, found: "Profile") -> None:
    """What was profiled, and how much of the ranks' time is what."""
    from leadline.core.units import format_quantity  # noqa: PLC0415
    from leadline.profile.sentences import shares, warnings  # noqa: PLC0415

    time = format_quantity(float(found.end.max(initial=0)) * 1e-9, "s")
    machine = found.program.recorded.get("simulated_on")
    click.echo(
        f"{path}: {counted(found.program.ranks, 'rank')}, "
        f"{counted(found.program.operations_in_all, 'operation')}, {time}"
        + (f", simulated on {machine}" if machine else "")
    )
    for warning in warnings(found):
        click.echo(wrapped("  " + warning, "  "))
    click.echo(wrapped("  " + shares(found), "  "))


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


def _print_findings(found: "Profile") -> None:
    """Whom others wait for, who is on the critical path, and what to do."""
    from leadline.profile.findings import findings  # noqa: PLC0415
    from leadline.profile.sentences import clocks, critical_path, waited_for  # noqa: PLC0415

    click.echo("\n" + "\n".join(filter(None, [waited_for(found), critical_path(found), clocks(found)])))
    for sentence in findings(found):
        click.echo("\n" + wrapped(sentence))
