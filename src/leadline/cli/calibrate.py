"""`leadline calibrate`: a described machine from a real run."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from leadline.cli._table import json_option, print_table, tell
from leadline.cli._types import Run, newest_run
from leadline.cli._working import working
from leadline.core.record import Row

if TYPE_CHECKING:
    from leadline.calibrate import Calibration

COLUMNS = {"key": "number", "told": "value, 95 %", "source": "from"}


@click.command
@click.argument("run", type=Run(), required=False)
@click.option(
    "--output",
    "-o",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Machine file to write, such as machines/here.toml. Without it, the numbers are only printed.",
)
@click.option("--force", is_flag=True, help="Overwrite an existing file.")
@click.option(
    "--mpi",
    metavar="MPI",
    help="MPI to calibrate with, needed where the run has several; a family such as openmpi is enough.",
)
@click.option("--stack", metavar="STACK", help="Transports to calibrate with, needed if the run has several.")
@click.option(
    "--placement",
    metavar="PLACEMENT",
    help="Placement of the two ranks that communication within a node is calibrated on, such as core-group. "
    "Default: core-group, else default.",
)
@json_option
def command(
    *,
    run: Path | None,
    output: Path | None,
    force: bool,
    mpi: str | None,
    stack: str | None,
    placement: str | None,
    as_json: bool,
) -> None:
    """Write a machine file for the simulator from a run on this machine.

    RUN is a run, or a .parquet file of records. Default: the newest run. The plan 'calibrate' measures all
    that is needed. The machine file has each number with its 95 % interval and its benchmarks; 'leadline
    run PLAN --on FILE' simulates any plan on this machine.

    Exit code 2: the run lacks a benchmark that every machine needs, or the request was not understood.
    """
    from leadline import calibrate  # noqa: PLC0415  (load numpy and polars)
    from leadline.core.errors import UsageError  # noqa: PLC0415
    from leadline.run import store  # noqa: PLC0415  (load numpy and polars)

    if output and output.exists() and not force:
        raise UsageError(f"{output} is there already; name another file, or replace it with --force")
    path = run or newest_run()
    with working("reading records") as say:
        records, provenance = store.load(path), store.provenance(path)
        say("fitting")
        made = calibrate.calibrate(records, provenance, mpi=mpi, stack=stack, placement=placement)
    if output:
        _write(made, output)
    if as_json:
        print_table(made.numbers(), {}, as_json=True)
        return
    print_table(_for_people(made), COLUMNS)
    for note in made.notes:
        tell(f"{note}.")
    if output:
        click.echo(f"{output}: run a plan on it with 'leadline run PLAN --on {output}'")


def _write(made: "Calibration", output: Path) -> None:
    """Write the machine file, and read it as the simulator will."""
    from leadline import machine  # noqa: PLC0415
    from leadline.core.errors import LeadlineError  # noqa: PLC0415
    from leadline.core.record_files import replace  # noqa: PLC0415

    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        replace(output, made.toml().encode())
    except OSError as problem:
        raise LeadlineError(f"cannot write {output}: {problem.strerror}") from problem
    machine.load(output)


def _for_people(made: "Calibration") -> list[Row]:
    """The numbers with quantities in words."""
    from leadline.core.units import format_bytes, format_quantity  # noqa: PLC0415

    rows = []
    for row in made.numbers():
        unit = "1" if row["unit"] == "shape" else row["unit"]
        if unit == "B":  # a size that lies between two that were measured, which are exact
            ends = (row["value"],) if row["low"] is None else (row["low"], row["high"])
            told = " to ".join(format_bytes(int(end)) for end in ends)
        else:
            told = format_quantity(row["value"], unit, row["low"], row["high"])
        rows.append({"key": row["key"], "told": told, "source": row["source"]})
    return rows
