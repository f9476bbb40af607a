"""Collectives that a network of their own does, where the messages of other collectives are played."""

from pathlib import Path

import pytest

from leadline import machine
from leadline.plan.model import Plan
from leadline.run import session
from leadline.targets.simulated.machine import SimulatedMachine

NOISE = '\n[noise]\nsource = "made up"\ninterval = "1 ms"\ndetour = "1 us"\n'


@pytest.mark.parametrize("benchmark", ["barrier", "bcast", "allreduce"])
def test_a_noisy_machine_has_its_networks(tmp_path: Path, benchmark: str) -> None:
    """With noise all messages are played; a network of Blue Gene/P's has none to play."""
    described = Path(machine.load("bgp").path)
    noisy = tmp_path / "noisy.toml"
    noisy.write_text(described.read_text() + NOISE)
    plan = tmp_path / "plan.toml"
    plan.write_text(f'[[measure]]\nbenchmark = "{benchmark}"\nranks = "cores"\ncommunicator = "world"\n')

    def least(noise: bool) -> float:
        target = SimulatedMachine.of(machine.load(noisy), ranks=64, noise=noise)
        records = session.simulate(Plan.load(plan), target)
        assert set(records["status"]) == {"ok"}, records["reason"].to_list()
        return float(records.filter(records["metric"] == "time")["samples"].explode().min())  # type: ignore[arg-type]

    assert least(noise=True) >= least(noise=False) * (1 - 1e-9) > 0
