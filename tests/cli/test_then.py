"""What a run says at its end, and what --tuned may not stand beside."""

from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from analysis.guidelines.library import records
from analysis.guidelines.test_guidelines import PLAIN, slow
from leadline.cli._then import print_results
from leadline.cli.run import command
from leadline.core.errors import UsageError
from leadline.plan.model import Plan

PLAN = 'then = "guidelines"\n[[measure]]\nbenchmark = "pingpong"\n'


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["quick", "--on", "bgp", "--tuned", "t"], "--tuned"),
        (["--resume", "r", "--tuned", "t"], "--resume"),
    ],
)
def test_settings_have_their_place(words: list[str], said: str) -> None:
    """A described machine has no library, and a run that goes on has its settings already."""
    found = CliRunner().invoke(command, words)
    assert found.exit_code == 2
    assert said in found.output


def test_settings_that_are_not_there_are_refused(tmp_path: Path) -> None:
    """Before anything is measured."""
    plan = tmp_path / "plan.toml"
    plan.write_text(PLAN)
    words = [str(plan), "-o", str(tmp_path / "run"), "--tuned", str(tmp_path / "no")]
    found = CliRunner().invoke(command, words)
    assert isinstance(found.exception, UsageError)
    assert "holds no tuned settings" in str(found.exception)
    assert not (tmp_path / "run").exists()


def test_a_plan_may_ask_for_the_list_of_guidelines(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its key `then` prints the tables at the end, and where the rest is."""
    broken = records(plant=slow("allreduce", 2.5, **PLAIN, bytes=8192))
    print_results(tmp_path, broken, Plan.parse(PLAN, tmp_path / "plan.toml").then)
    told = capsys.readouterr().out
    assert "openmpi-4.1.4, placement core-group, 4 ranks: 7 broken" in told
    assert f"'leadline guidelines {tmp_path} --json' lists all comparisons." in told
    assert click.unstyle(told) == told
