"""`leadline replay`: executes a recorded or written program here or on a described machine."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from leadline.cli._machine import load_described
from leadline.cli._options import Parsed, machine_option, mapping_option, network_option
from leadline.cli._output import program_file
from leadline.cli._submit import Submittable
from leadline.cli._table import json_option, print_table, tell
from leadline.cli._types import AtLeast, Existing
from leadline.cli._working import working
from leadline.core.formatting import counted, network_text

if TYPE_CHECKING:
    from leadline.program.model import Program
    from leadline.run.replay import Change, Replay, Value
    from leadline.targets import Target
    from leadline.targets.simulated.machine import SimulatedMachine


def _factor(text: str) -> float:
    """A factor from 0 on."""
    from leadline.core.errors import UsageError  # noqa: PLC0415

    try:
        if 0 <= (found := float(text)) < 1e6:
            return found
    except ValueError:
        pass
    raise UsageError(f"a factor is a number from 0, such as 0.7, but got {text!r}")


def _change(text: str) -> object:
    """A change of `--what-if`."""
    from leadline.run.replay import parse_change  # noqa: PLC0415

    return parse_change(text)


_OPTIONS = {"changes": "what-if"}  # by parameter, where they are not called the same


@click.command(cls=Submittable)
@click.argument("program", type=Existing(), metavar="FILE")
@machine_option("Execute it on this described machine instead of with this machine's MPI.")
@mapping_option()
@click.option(
    "--ranks",
    "--partition",
    "partition",
    type=AtLeast(1),
    help="With --on: size of the part of the machine, in ranks. Default: as many as the program has.",
)
@network_option("With --on: network model. Default: auto.", default=None)
@click.option("--noise", is_flag=True, help="With --on: simulate the machine's noise, too.")
@click.option("--seed", type=int, help="With --noise: its seed. Default: 1.")
@click.option(
    "--compute",
    type=Parsed(_factor),
    default="1",
    show_default=True,
    metavar="FACTOR",
    help="Factor of the computation between operations; 0: messages alone.",
)
@click.option(
    "--what-if",
    "changes",
    type=Parsed(_change),
    multiple=True,
    metavar="CHANGE",
    help="With --on: also execute it with this change, and print what it gains: latency*0.5, bandwidth*2, "
    "overhead*0.5, compute*0.7, bytes*2, bytes(REGION)*2, KEY*FACTOR for a key of the machine file, "
    "mapping=ORDER, mapping=best (which is searched), network=MODEL, allreduce=ALGORITHM. Repeatable.",
)
@click.option(
    "--sensitivity",
    is_flag=True,
    help="With --on: print what share of the time is due to latency, bandwidth, overhead and computation, "
    "and how much more latency lengthens it by 1, 2 and 5 %; always by the network model loggp.",
)
@click.option(
    "--by",
    type=click.Choice(["rank", "region"]),
    help="With --on: a row for each of these; a region is what MPI_Pcontrol(n) begins and MPI_Pcontrol(-n) "
    "ends.",
)
@click.option(
    "--mpi",
    default=None,
    metavar="NAME",
    help="Without --on: the MPI, from 'leadline list mpis'. Default: that of the recording.",
)
@click.option(
    "--launches",
    type=AtLeast(1),
    help="Without --on: how often it is launched. Default: 6, and up to 12 until its time is known to 2 %.",
)
@click.option(
    "--times",
    type=program_file(),
    metavar="FILE",
    help="With --on: program file to write, with the simulated times of the operations, for "
    "'leadline profile'.",
)
@json_option
def command(*, program: Path, machine: Path | None, as_json: bool, **asked: Any) -> None:
    """Execute a program file: a recording, an imported trace, or a pattern written in Python.

    Without --on it runs with this machine's MPI: messages and collectives are real, computation is time that
    a core is kept busy. With --on it runs on a described machine, and each rank's and region's time is known.
    """
    from leadline.core.errors import LeadlineError, UsageError  # noqa: PLC0415
    from leadline.mpi.discover import of_recording  # noqa: PLC0415
    from leadline.program import files  # noqa: PLC0415  (loads polars)
    from leadline.run import replay as replaying  # noqa: PLC0415

    _check(program, machine, asked)
    with working("reading the program") as say:
        read = files.read(program)
        if asked["by"] == "region" and not read.regions:
            raise UsageError(
                f"--by region: {program} has no regions; it marks them with MPI_Pcontrol, or comm.region in "
                "Python"
            )
        if read.partial and not machine:
            raise LeadlineError(
                f"the records of {counted(len(read.partial), 'rank')} of {program} end before the program "
                "did: with an MPI others would wait for them for ever; record the program to its end"
            )
        replaying.check_changes(asked["changes"] or (), read)
        if machine and (asked["partition"] or read.ranks) < read.ranks:
            raise UsageError(
                f"--ranks or --partition: {program} needs {counted(read.ranks, 'rank')} or more, "
                f"but got {asked['partition']}"
            )
        recorded, inside = replaying.recorded_time(read), replaying.recorded_communication(read)
        target = _described(machine, read, asked) if machine else _here()
        if asked["sensitivity"]:
            _sensitivity(program, _simulated(target), read.ranks, {**asked, "as_json": as_json}, say)
            return
        own = None if machine else of_recording(read.recorded.get("mpi"))
        mpi = asked["mpi"] or (own.id if own else "default")
        say("executing it")
        found = _executed(program, read, target, {**asked, "mpi": mpi, "recorded": recorded}, say)
        alternatives = _alternatives(program, target, read.ranks, asked, say) if asked["changes"] else []
    if asked["times"]:
        assert found.times is not None
        read.times_of = found.times
        read.recorded["simulated_on"] = machine.stem if machine else ""
        read.write(asked["times"])
    if asked["by"]:
        assert found.times is not None
        _print_parts(read, found, asked["by"], as_json)
        return
    rows = [_row("as it is", found, found)]
    rows += [_row(change.words, each, found) for change, each in alternatives]
    if as_json:
        rows[0] |= {"recorded": recorded, "recorded_communication": inside}
        print_table(rows, {}, as_json=True)
        return
    model = f", network model {network_text(found.network)}" if found.network else ""
    where = f"on {machine.stem}{model}" if machine else f"with {_called(mpi)}"
    described = _simulated(target) if machine else None
    _print_first(program, read, found, where, target=described, scaled=asked["compute"] != 1)
    _print_recorded(found, recorded, inside)
    if alternatives:
        click.echo()
        _print_alternatives(rows)


def _check(program: Path, machine: Path | None, asked: dict[str, Any]) -> None:
    """Raise click.UsageError for options that do not go together."""
    context = click.get_current_context()
    for name in ("mapping", "partition", "network", "noise", "changes", "by", "times", "sensitivity"):
        if asked[name] and not machine:
            raise click.UsageError(
                f"--{_OPTIONS.get(name, name)} needs a described machine: name it with --on", context
            )
    for name in ("launches", "mpi"):
        if asked[name] and machine:
            raise click.UsageError(f"--{name} needs this machine's MPI: leave out --on", context)
    if asked["times"] and asked["times"].resolve() == program.resolve():
        raise click.UsageError("--times would replace the program itself: name another file", context)
    if asked["seed"] is not None and not asked["noise"]:
        raise click.UsageError("--seed needs --noise", context)
    apart = {"sensitivity": ("changes", "by", "times"), "changes": ("by",)}
    for name, others in apart.items():
        for other in others:
            if asked[name] and asked[other]:
                both = " and ".join(f"--{_OPTIONS.get(each, each)}" for each in (name, other))
                raise click.UsageError(f"{both} exclude each other", context)


def _executed(
    path: Path, read: "Program", target: "Target", asked: dict[str, Any], say: Callable[[str], None]
) -> "Replay":
    """The program executed; where it cannot be, the reason, and what was executed otherwise than recorded."""
    from leadline.core.errors import LeadlineError  # noqa: PLC0415
    from leadline.program.threads import in_order  # noqa: PLC0415
    from leadline.run.replay import remarks, replay  # noqa: PLC0415
    from leadline.targets.simulated.machine import SimulatedMachine  # noqa: PLC0415

    try:
        return replay(
            path,
            target,
            ranks=read.ranks,
            compute=asked["compute"],
            detailed=bool(asked["by"] or asked["times"]),
            launches=asked["launches"],
            mpi=asked["mpi"],
            # Threads that are executed one after another may wait for ever, which is found out first.
            recorded=asked["recorded"] if in_order(read) else None,
            say=say,
        )
    except LeadlineError as problem:
        otherwise = remarks(read, target.machine if isinstance(target, SimulatedMachine) else None)
        raise type(problem)("; ".join([str(problem), *otherwise])) from None


def _alternatives(
    path: Path, target: "Target", ranks: int, asked: dict[str, Any], say: Callable[[str], None]
) -> "list[tuple[Change, Replay]]":
    """The program executed with each change by itself."""
    from tempfile import TemporaryDirectory  # noqa: PLC0415

    from leadline.cli._best_mapping import with_best_mapping  # noqa: PLC0415
    from leadline.run.replay import what_if  # noqa: PLC0415

    simulated = _simulated(target)
    with TemporaryDirectory() as place:
        changes = with_best_mapping(asked["changes"], path, simulated, Path(place), say)
        return what_if(path, simulated, changes, ranks=ranks, compute=asked["compute"], say=say)


def _sensitivity(
    path: Path, target: "SimulatedMachine", ranks: int, asked: dict[str, Any], say: Callable[[str], None]
) -> None:
    """What the program's time goes with."""
    from leadline.cli._program_sensitivity import print_program_sensitivity  # noqa: PLC0415
    from leadline.run.program_sensitivity import sensitivity  # noqa: PLC0415

    found = sensitivity(path, target, ranks=ranks, compute=asked["compute"], say=say)
    subject = f"{path}: {counted(ranks, 'rank')} on {target.machine.name}"
    print_program_sensitivity(found, subject, asked["as_json"])


def _described(machine: Path, program: "Program", asked: dict[str, Any]) -> "SimulatedMachine":
    """The described machine as the options want it."""
    from leadline.targets.simulated.machine import SimulatedMachine  # noqa: PLC0415

    described = SimulatedMachine.of(
        load_described(machine),
        None,
        asked["partition"] or program.ranks,
        asked["mapping"],
        asked["network"] or "auto",
        noise=asked["noise"],
        seed=1 if asked["seed"] is None else asked["seed"],
    )
    described.check_mapping(program.ranks)
    return described


def _simulated(target: "Target") -> "SimulatedMachine":
    """The target, which is a described machine."""
    from leadline.targets.simulated.machine import SimulatedMachine  # noqa: PLC0415

    assert isinstance(target, SimulatedMachine)
    return target


def _here() -> "Target":
    """This machine."""
    from leadline.targets.local.machine import LocalMachine  # noqa: PLC0415

    return LocalMachine.here()


def _row(words: str, found: "Replay", first: "Replay") -> dict[str, Any]:
    """Times in SI units, and how many times as fast as without the change."""
    return {
        "change": words,
        "time": found.time.value,
        "time_low": found.time.low,
        "time_high": found.time.high,
        "confidence": found.time.confidence,
        "launches": found.launches,
        "communication": found.communication.value,
        "disturbance": found.disturbance,
        "speedup": first.time.value / found.time.value if found.time.value else None,
        "network": found.network,
    }


def _said(value: "Value") -> str:
    """A time with its interval."""
    from leadline.core.formatting import formatted  # noqa: PLC0415

    told = formatted(value.value, "s", value.low, value.high, confidence=value.confidence)
    return " ".join(filter(None, (told.value, told.interval, told.note)))


def _called(mpi: str) -> str:
    """An MPI in a sentence."""
    return "this machine's first MPI" if mpi == "default" else mpi


def _print_first(
    path: Path,
    program: "Program",
    found: "Replay",
    where: str,
    *,
    target: "SimulatedMachine | None",
    scaled: bool,
) -> None:
    """What was executed where, and how long it took."""
    from leadline.run.replay import remarks  # noqa: PLC0415

    machine = target.machine if target else None
    operations = counted(program.operations_in_all, "operation")
    click.echo(f"{path}: {counted(program.ranks, 'rank')}, {operations}, {where}")
    sampled = "simulated" if machine else counted(found.launches, "launch")
    click.echo(f"  time           {_said(found.time)} ({sampled})")
    click.echo(f"  communication  {_said(found.communication)} of a rank, mean")
    for remark in remarks(program, machine):
        tell(f"  {remark}", indent="    ")
    if target and program.ranks > 1 and target.nodes((), None) == 1:
        click.echo("  all ranks are on one node: no message passes a link")
    if machine and program.measured and not scaled:
        click.echo("  computation between messages as it was recorded; --compute FACTOR scales it")
    if found.disturbance:
        tell(f"  {found.disturbance}", indent="    ")
    if found.oversubscribed:
        click.echo("  more ranks than cores: the time is not the program's")


def _print_recorded(found: "Replay", recorded: float | None, inside: float | None) -> None:
    """How long the recording took, and how the replay compares."""
    from leadline.core.units import format_quantity  # noqa: PLC0415

    for what, was, now in (
        ("recorded", recorded, found.time.value),
        ("  of it in MPI", inside, found.communication.value),
    ):
        if was is not None:
            ratio = f"; the replay takes {now / was:.3g} times as long" if was > 0 else ""
            click.echo(f"  {what:<14} {format_quantity(was, 's')}{ratio}")


def _print_alternatives(rows: list[dict[str, Any]]) -> None:
    """What each change gains."""
    from leadline.core.units import format_quantity  # noqa: PLC0415

    print_table(
        [
            {
                "change": row["change"],
                "time": format_quantity(row["time"], "s"),
                "communication": format_quantity(row["communication"], "s"),
                "speedup": f"{row['speedup']:.4g}" if row["speedup"] else "-",
            }
            for row in rows
        ],
        {
            "change": "what if",
            "time": "time",
            "communication": "communication",
            "speedup": "times as fast",
        },
    )


def _print_parts(program: "Program", found: "Replay", by: str, as_json: bool) -> None:
    """A row for each rank or region."""
    from leadline.core.units import format_quantity  # noqa: PLC0415
    from leadline.run.replay import by_rank, by_region  # noqa: PLC0415

    assert found.times is not None
    rows = (by_rank if by == "rank" else by_region)(program, found.times).rows(named=True)
    if as_json:
        print_table(rows, {}, as_json=True)
        return
    times = [name for name in rows[0] if name not in {"rank", "region", "turns"}]
    print_table(
        [{**row, **{name: format_quantity(row[name], "s") for name in times}} for row in rows],
        {name: name for name in rows[0]},
    )
