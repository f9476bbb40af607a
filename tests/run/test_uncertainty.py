"""Derivatives and intervals of a ping-pong on a machine whose times are known in closed form.

Between neighbours of the ring a message of n bytes takes `send_overhead + base + hop + n / rate +
receive_overhead`, so that its derivatives by base and hop are 1, and by the rate -n / rate^2.
"""

import json
from math import sqrt
from pathlib import Path

import pytest
from click.testing import CliRunner

from leadline.cli import main
from leadline.core.errors import UsageError
from leadline.machine import load
from leadline.plan.model import Plan
from leadline.run import session
from leadline.run.uncertainty import Uncertainty, uncertain, uncertainty
from leadline.targets.simulated.machine import SimulatedMachine

MACHINE = """
title = "A ring"
[topology]
kind = "torus"
source = "made up"
shape = [8]
[links]
source = "made up"
rate = { value = "1 GB/s", interval = ["0.8 GB/s", "1 GB/s"] }
hop = { value = "50 ns", interval = ["40 ns", "70 ns"] }
base = { value = "500 ns", interval = ["450 ns", "550 ns"] }
[node]
source = "made up"
cores = 1
ranks = 1
[[protocol]]
name = "eager"
source = "made up"
send_overhead = "1 us"
receive_overhead = { value = "1 us", interval = ["1 us", "1 us"] }
"""
PLAN = '[[measure]]\nbenchmark = "pingpong"\nbytes = ["0 B", "1000 B"]\nbuffers = "reused"\nranks = 2\n'


def site(directory: Path, text: str = MACHINE, *, noise: bool = False) -> SimulatedMachine:
    """The ring, or what else the text describes."""
    (directory / "ring.toml").write_text(text)
    return SimulatedMachine.of(load(directory / "ring.toml"), network="loggp", noise=noise)


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[object, Uncertainty]:
    """The latency's sensitivity by the size of the message."""
    directory = tmp_path_factory.mktemp("ring")
    target, plan = site(directory), Plan.parse(PLAN, directory / "plan.toml")
    answers = uncertainty(plan, target, session.simulate(plan, target))
    return {each.point["bytes"]: each for each in answers if each.point["metric"] == "latency"}


def test_only_constants_with_an_interval_are_varied(found: dict[object, Uncertainty]) -> None:
    """An interval of no length is none."""
    assert {each.constant.key for each in found[0].effects} == {"links.rate", "links.hop", "links.base"}


def test_derivatives_are_those_of_the_closed_form(found: dict[object, Uncertainty]) -> None:
    """One by each latency; by the rate the difference quotient of n / rate over the interval."""
    for size, answer in found.items():
        derivatives = {each.constant.key: each.derivative for each in answer.effects}
        assert derivatives["links.base"] == pytest.approx(1, rel=1e-6)
        assert derivatives["links.hop"] == pytest.approx(1, rel=1e-6)
        assert isinstance(size, int)
        assert derivatives["links.rate"] == pytest.approx(size * (1 / 1e9 - 1 / 0.8e9) / 0.2e9, abs=1e-18)


def test_effects_are_added_as_squares_upwards_and_downwards_apart(found: dict[object, Uncertainty]) -> None:
    """A constant at the end of its interval moves the answer one way only."""
    empty, full = found[0], found[1000]
    assert empty.value - empty.low == pytest.approx(sqrt(50**2 + 10**2) * 1e-9, rel=1e-6)
    assert empty.high - empty.value == pytest.approx(sqrt(50**2 + 20**2) * 1e-9, rel=1e-6)
    assert full.value - full.low == pytest.approx(sqrt(50**2 + 10**2) * 1e-9, rel=1e-6)
    assert full.high - full.value == pytest.approx(sqrt(50**2 + 20**2 + 250**2) * 1e-9, rel=1e-6)
    assert [each.constant.key for each in full.effects] == ["links.rate", "links.base", "links.hop"]


def test_a_machine_without_intervals_or_with_noise_is_refused(tmp_path: Path) -> None:
    """Before anything is simulated."""
    plain = MACHINE.replace("interval", "claim").replace('["0.8 GB/s", "1 GB/s"]', '"c"')
    for pair in ('["40 ns", "70 ns"]', '["450 ns", "550 ns"]', '["1 us", "1 us"]'):
        plain = plain.replace(pair, '"c"')
    with pytest.raises(UsageError, match="no constant of ring that is simulated has an interval"):
        uncertain(site(tmp_path, plain))
    with pytest.raises(UsageError, match="--noise"):
        uncertain(site(tmp_path, noise=True))


def test_the_command_prints_derivatives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In words for people, in SI units as JSON; the sentence about the run is on the standard error."""
    monkeypatch.chdir(tmp_path)
    site(tmp_path)
    Path("plan.toml").write_text(PLAN)
    asked = ["run", "plan.toml", "--on", "ring.toml", "--network", "loggp", "--uncertainty"]
    told = CliRunner().invoke(main, [*asked, "-o", "one"])
    assert told.exit_code == 0, told.output
    assert "2.55 µs [2.50, 2.60]" in told.stdout
    assert "links.base -2 to +2 %; links.hop -0.39 to +0.78 %" in told.stdout
    rows = json.loads(CliRunner().invoke(main, [*asked, "-o", "two", "--json"]).stdout)
    by_base = [row for row in rows if row["constant"] == "links.base" and row["metric"] == "latency"]
    assert [row["derivative"] for row in by_base] == pytest.approx([1, 1], rel=1e-6)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["quick", "--uncertainty"], "--uncertainty needs a simulated machine"),
        (["quick", "--on", "bgp", "--uncertainty", "--against", "."], "exclude each other"),
    ],
)
def test_it_needs_a_described_machine(words: list[str], says: str, tmp_path: Path) -> None:
    """And has the standard output for itself."""
    told = CliRunner().invoke(main, ["run", *words])
    assert told.exit_code == 2
    assert says in told.output.replace("\n", " ")
