"""What a run says at its end: what its plan asks for with `then`, and what tuned settings gained."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from leadline.core.collectives import TUNED


def say(path: Path, records: Any) -> None:
    """Print what the plan of the run in `path` asks for, one after the other."""
    from leadline.plan.model import Plan  # noqa: PLC0415
    from leadline.run import store  # noqa: PLC0415

    for name in Plan.load(path / store.PLAN).then:
        _SAY[name](path, records)
    if (records["collectives"] == TUNED).any():
        _gains(records)


def _gains(records: Any) -> None:
    """What the settings of tuned launches gained."""
    from leadline.cli.tune.collectives import print_gains  # noqa: PLC0415
    from leadline.tune.collectives.selection import gains  # noqa: PLC0415

    print_gains(gains(records))


def _guidelines(path: Path, records: Any) -> None:
    """Which guidelines are broken."""
    from leadline.analysis.guidelines import judge  # noqa: PLC0415
    from leadline.cli._guidelines import print_verdict  # noqa: PLC0415

    print_verdict(judge(records))
    click.echo(f"'leadline guidelines {path} --json' lists all comparisons.")


_SAY: dict[str, Callable[[Path, Any], None]] = {"guidelines": _guidelines}
