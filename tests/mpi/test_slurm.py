"""Real ranks by `srun`, where this machine can give an allocation of two processors at once."""

import shutil
from pathlib import Path

import pytest

from leadline.core.processes import run
from leadline.mpi import trial
from leadline.mpi.discover import find
from leadline.mpi.family import Start, failure, family
from leadline.mpi.launcher import launchers
from leadline.mpi.library import Mpi

pytestmark = pytest.mark.mpi

LIMIT = 60.0  # s, for an allocation and a launch in it
ALLOCATION = ["salloc", "--quiet", "--nodes=1", "--ntasks=2", "--immediate=10"]


@pytest.fixture(scope="module", autouse=True)
def slurm() -> None:
    """Skips, with the reason, where no allocation can be had."""
    if not (shutil.which("salloc") and shutil.which("srun")):
        pytest.skip("Slurm is not installed here")
    _, code, output = run([*ALLOCATION, "true"], {}, LIMIT)
    if code != 0:
        pytest.skip(f"Slurm gives no allocation of two processors: {failure(output)}")


@pytest.mark.parametrize("mpi", find(), ids=lambda mpi: mpi.id)
def test_two_ranks_started_by_srun_know_each_other(mpi: Mpi, tmp_path: Path) -> None:
    """PMIx for Open MPI, PMI-2 for MPICH and Intel MPI: with another, each would be a world of its own."""
    slurm = launchers()["srun"]
    obstacle = slurm.obstacle(mpi)
    if obstacle or mpi.compiler is None:
        pytest.skip(obstacle or f"{mpi.id} has no compiler wrapper")
    assert trial.build(mpi, tmp_path / "trial") is None
    env = family(mpi).environment(mpi)
    command = [*ALLOCATION, *slurm.launch(mpi, Start(2, env=env)), str(tmp_path / "trial")]
    _, code, output = run(command, env, LIMIT)
    assert trial.judge(code, output) is None
