"""`leadline build` builds what it is asked for, and asks where that is nothing."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from leadline.cli import main
from leadline.native import build


def test_the_simulator_is_built_without_a_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its path is printed; the benchmarks of no MPI are built."""
    monkeypatch.setattr(build, "build_sim", lambda: Path("bin/leadline-sim"))
    monkeypatch.setattr(build, "build", lambda mpi: pytest.fail(f"{mpi.id} is built"))
    result = CliRunner().invoke(main, ["build", "--simulator"])
    assert (result.exit_code, result.stdout) == (0, "simulator: bin/leadline-sim\n")


def test_nothing_is_not_built() -> None:
    """One sentence, with what would do."""
    result = CliRunner().invoke(main, ["build"])
    assert result.exit_code == 2
    assert "--simulator" in result.output
