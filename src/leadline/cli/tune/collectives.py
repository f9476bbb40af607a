"""`leadline tune collectives`: chooses the fastest collective algorithms of an MPI library."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from leadline.cli._options import Parsed, where_option
from leadline.cli._progress import shown
from leadline.cli._submit import Submittable
from leadline.cli._table import json_option, print_table, tell
from leadline.cli._target import interruptible, local, warn
from leadline.cli._types import RunOrProgram
from leadline.cli._working import working
from leadline.plan.settings import positive_time

if TYPE_CHECKING:
    from leadline.tune.collectives.calls import Calls, Saving
    from leadline.tune.collectives.selection import Chosen, Gain

CHOSEN = {
    "mpi": "mpi",
    "operation": "operation",
    "ranks": "ranks",
    "size": "size",
    "chosen": "algorithm",
    "told": "time / default, 95 %",
    "applied": "between computations",
    "own": "default",
    "time": "time",
    "tried": "tried",
}
SAVED = {
    "mpi": "mpi",
    "operation": "operation",
    "ranks": "ranks",
    "size": "size",
    "count": "calls of a rank",
    "recorded": "time in them",
    "chosen": "algorithm",
    "told": "would save, 95 %",
}
GAINED = {
    "mpi": "mpi",
    "operation": "operation",
    "ranks": "ranks",
    "size": "size",
    "cadence": "cadence",
    "told": "tuned / default, 95 %",
    "own": "default",
    "time": "tuned",
    "verdict": "verdict",
}


@click.command(cls=Submittable)
@click.argument("run", type=RunOrProgram(), metavar="RUN|FILE.program")
@click.option(
    "--output",
    "-o",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIRECTORY",
    help="Directory for the settings, such as tuned. Without it, the choices are only printed.",
)
@click.option("--force", is_flag=True, help="Overwrite an existing directory.")
@click.option(
    "--mpi",
    metavar="NAME",
    help="With FILE.program: the MPI whose algorithms are tried. Default: the one it was recorded with.",
)
@click.option(
    "--within",
    "seconds",
    type=Parsed(positive_time),
    default="3 min",
    show_default=True,
    metavar="TIME",
    help="With FILE.program: time for the measurement.",
)
@where_option("Use only records with this value, such as mpi=openmpi or placement=nodes.")
@json_option
def command(
    *,
    run: Path,
    output: Path | None,
    force: bool,
    where: tuple[str, ...],
    as_json: bool,
    mpi: str | None,
    seconds: float,
) -> None:
    """Choose the fastest algorithm of each collective operation, and write the MPI library's tuning files.

    RUN is a run that measured every algorithm beside the library's default, such as a run of the plan 'tune'.
    An algorithm is chosen where it is significantly faster than the library's default. For FILE.program, as
    'leadline record' writes it, its own collective calls are measured first, into a new run in runs/, and the
    table says what a rank of the program would save in one execution, on average.

    DIRECTORY receives, for each library that can be improved, a file MPI.sh with shell variables and the
    files that they name: a rules file for Open MPI, JSON selection trees for MPICH. 'leadline run PLAN
    --tuned DIRECTORY' then measures with and without these settings, launch by launch, and prints the gain.
    If RUN is such a run, its gain is printed again.

    Exit codes: 0, an algorithm is faster; 1, none is, or nothing could be measured; 2, RUN forced no
    algorithm, or the request was not understood.
    """
    from leadline.analysis.select import matching  # noqa: PLC0415
    from leadline.core.collectives import TUNED  # noqa: PLC0415
    from leadline.core.errors import UsageError  # noqa: PLC0415
    from leadline.core.paths import is_free  # noqa: PLC0415
    from leadline.run import store  # noqa: PLC0415  (loads polars)
    from leadline.tune.collectives import calls as collective_calls  # noqa: PLC0415
    from leadline.tune.collectives import selection as collectives  # noqa: PLC0415

    if output and not is_free(output) and not force:
        raise UsageError(
            f"{output} exists and is not empty; choose another directory, or add --force to overwrite it"
        )
    calls: list[Calls] = []
    if run.suffix == ".program":
        run, calls = _measured(run, mpi, seconds)
    elif mpi:
        raise UsageError("--mpi needs a FILE.program; of a run choose with --where mpi=NAME")
    with working("reading records"):
        records = matching(store.load(run), where)
    if not output and (records["collectives"] == TUNED).any():
        print_gains(collectives.gains(records), as_json)
        return
    with working("choosing"):
        chosen = collectives.choose(records)
    if calls:
        _print_savings(calls, chosen, as_json)
    elif as_json:
        print_table([each.row() for each in chosen], {}, as_json=True)
    else:
        print_table([_chosen(each) for each in chosen], CHOSEN)
    if not as_json:
        tell(_summary(chosen), indent="")
    if left := collective_calls.without_choice(calls, chosen):
        tell(f"{left}. 'leadline show {run}' says why; --within gives more time.", indent="", err=as_json)
    for line in _write(chosen, output, run) if output else []:
        click.echo(line, err=as_json)
    if not any(each.algorithm for each in chosen):
        click.get_current_context().exit(1)


def _measured(path: Path, mpi: str | None, seconds: float) -> "tuple[Path, list[Calls]]":
    """A run of a program's own collective calls, and these calls."""
    from leadline.core.errors import LeadlineError  # noqa: PLC0415
    from leadline.core.record import OK  # noqa: PLC0415
    from leadline.mpi.discover import of_recording  # noqa: PLC0415
    from leadline.program import read  # noqa: PLC0415
    from leadline.run import session, store  # noqa: PLC0415
    from leadline.tune.collectives import calls as collective_calls  # noqa: PLC0415

    with working("reading the program"):
        program = read(path)
        every = collective_calls.calls(program)
        worth = collective_calls.worth_measuring(every)
        own = of_recording(program.recorded.get("mpi"))
        plan = collective_calls.plan(worth, path.stem, mpi or (own.id if own else "found"), seconds)
    run = store.fresh(plan.name)
    if len(worth) < len(every):
        tell(
            f"leadline: {len(worth)} of {len(every)} kinds of calls are measured; the others take less than "
            f"{collective_calls.SHARE:.0%} of the time in collectives, or have more than "
            f"{collective_calls.MOST} sizes",
            err=True,
        )
    with shown() as (show, say), interruptible(run):
        records = session.run(
            plan, local(None, None, {"hosts": None, "agent": None}), run, begun=warn, say=say, show=show
        )
    if not (records["status"] == OK).any():
        reason = records["reason"].drop_nulls().to_list()
        raise LeadlineError(f"none of the calls could be measured here: {reason[0] if reason else 'no time'}")
    click.echo(f"leadline: measured into {run}", err=True)
    return run, worth


def _print_savings(calls: "list[Calls]", chosen: "list[Chosen]", as_json: bool) -> None:
    """What a program would save: by call, and in all."""
    from leadline.core.units import format_bytes, format_quantity  # noqa: PLC0415
    from leadline.tune.collectives.calls import savings  # noqa: PLC0415

    found = savings(calls, chosen)
    if as_json:
        print_table([each.row() for each in found], {}, as_json=True)
        return
    rows = []
    for each in found:
        saved = "" if each.chosen.algorithm is None else _interval(each)
        size = format_bytes(each.calls.bytes) if each.calls.operation != "barrier" else ""
        time = format_quantity(each.calls.time, "s") if each.calls.time else ""
        words = {"size": size, "recorded": time, "told": saved, "count": f"{each.calls.count:.4g}"}
        rows.append(each.row() | words | {"chosen": each.chosen.algorithm or "default"})
    print_table(rows, SAVED)
    for mpi in sorted({each.chosen.mpi for each in found}):
        whole = sum(each.seconds for each in found if each.chosen.mpi == mpi)
        if whole:
            saved = format_quantity(whole, "s")
            tell(f"In one execution a rank of the program would save {saved} with {mpi}, on average.")


def _interval(saving: "Saving") -> str:
    """What is saved with its interval."""
    from leadline.core.units import format_quantity  # noqa: PLC0415

    return format_quantity(saving.seconds, "s", saving.low, saving.high)


def _write(chosen: "list[Chosen]", output: Path, run: Path) -> list[str]:
    """Write the settings of each library that can be improved; what to say of it."""
    from leadline.core.errors import LeadlineError, UsageError  # noqa: PLC0415
    from leadline.mpi.discover import find, resolve  # noqa: PLC0415
    from leadline.mpi.family import Unsupported, family  # noqa: PLC0415
    from leadline.tune.collectives import files as collectives_files  # noqa: PLC0415
    from leadline.tune.collectives import selection as collectives  # noqa: PLC0415

    said: list[str] = []
    known = find()
    for name, choices in collectives.choices(chosen).items():
        try:
            mpi = resolve(name, known)
            tuned = family(mpi).tuned(mpi, choices, output.resolve())
        except (Unsupported, UsageError) as problem:
            said.append(f"{name}: no file written: {problem}")
            continue
        said += [f"note: {note}" for note in tuned.notes]
        if not tuned.environment:
            said.append(f"{name}: no file written: the library has no setting for these choices")
            continue
        ratios = [_gain(each) for each in chosen if each.mpi == name and each.algorithm]
        tuned = replace(tuned, notes=[*tuned.notes, *ratios])
        paths = collectives_files.write(output, mpi, choices, tuned, run.name)
        said.append(f"{name}: {', '.join(str(path) for path in paths)}")
    if output.is_dir():
        said.append(f"measure the gain with 'leadline run PLAN --tuned {output}'")
    elif not said:
        raise LeadlineError(
            "no file written: no algorithm is significantly faster than the library's default"
        )
    return said


def _gain(each: "Chosen") -> str:
    """A choice with its ratios, for the settings file."""
    from leadline.core.formatting import ratio_text  # noqa: PLC0415

    text = f"{each.operation} {_size(each)}: {each.algorithm}, time / default {_ratio(each)}"
    if each.applied is None:
        return f"{text}, not checked between computations"
    return f"{text}; between computations {ratio_text(each.applied, each.applied_low, each.applied_high)}"


def _summary(chosen: "list[Chosen]") -> str:
    """How many choices there were, and how they were made."""
    better = sum(each.algorithm is not None for each in chosen)
    return (
        f"{better} of {len(chosen)} points have an algorithm that is significantly faster than the library's "
        "default: by more than 2 %, at a false discovery rate of 5 %."
    )


def _chosen(each: "Chosen") -> dict[str, object]:
    """A choice in words."""
    from leadline.core.formatting import ratio_text  # noqa: PLC0415
    from leadline.core.units import format_quantity  # noqa: PLC0415

    words = each.row() | {"chosen": each.algorithm or "default", "size": _size(each)}
    applied = ratio_text(each.applied, each.applied_low, each.applied_high)
    words |= {"told": _ratio(each), "applied": applied, "own": format_quantity(each.own, "s")}
    return words | {"time": format_quantity(each.time, "s") if each.algorithm else ""}


def print_gains(gains: "list[Gain]", as_json: bool = False) -> None:
    """What tuned settings gained, an operation in all before its sizes."""
    from leadline.core.units import format_quantity  # noqa: PLC0415

    if as_json:
        print_table([each.row() for each in gains], {}, as_json=True)
        return
    rows = []
    for each in gains:
        words = each.row() | {"size": _size(each) if each.bytes is not None else "all", "told": _ratio(each)}
        words |= {name: format_quantity(words[name], "s") if words[name] else "" for name in ("own", "time")}
        rows.append(words)
    print_table(rows, GAINED)
    whole = [each for each in gains if each.bytes is None]
    verdicts = ("faster", "alike", "slower", "undecided")
    counts = {word: sum(each.verdict == word for each in whole) for word in verdicts}
    tell(
        f"{len(whole)} operation{'s' if len(whole) != 1 else ''} with tuned settings: "
        + ", ".join(f"{count} {word}" for word, count in counts.items() if count or word != "undecided")
        + ". A ratio below 1 is a gain. False discovery rate of faster and slower: 5 %."
    )


def _size(each: "Chosen | Gain") -> str:
    """The size of a point; nothing for a barrier."""
    from leadline.core.units import format_bytes  # noqa: PLC0415

    return format_bytes(each.bytes) if each.bytes else ""


def _ratio(each: "Chosen | Gain") -> str:
    """A ratio with its interval."""
    from leadline.core.formatting import ratio_text  # noqa: PLC0415

    return ratio_text(each.ratio, each.low, each.high)
