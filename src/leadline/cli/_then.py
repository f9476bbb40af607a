"""What a run prints at its end: what its plan asks for with `then`, and what tuned settings gained."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from leadline.core.collectives import TUNED

if TYPE_CHECKING:
    import polars as pl


def print_results(path: Path, records: "pl.DataFrame", then: Iterable[str]) -> None:
    """Print what the plan of the run in `path` asks for, and what tuned settings gained."""
    for name in then:
        _PRINTERS[name](path, records)
    if (records["collectives"] == TUNED).any():
        _gains(records)


def _gains(records: "pl.DataFrame") -> None:
    """What the settings of tuned launches gained."""
    from leadline.cli.tune.collectives import print_gains  # noqa: PLC0415
    from leadline.tune.collectives.selection import gains  # noqa: PLC0415

    print_gains(gains(records))


def _guidelines(path: Path, records: "pl.DataFrame") -> None:
    """Which guidelines are broken."""
    from leadline.analysis.guidelines import judge  # noqa: PLC0415
    from leadline.cli._guidelines import print_verdict  # noqa: PLC0415

    print_verdict(judge(records))
    click.echo(f"'leadline guidelines {path} --json' lists all comparisons.")


_PRINTERS: dict[str, Callable[[Path, "pl.DataFrame"], None]] = {"guidelines": _guidelines}
