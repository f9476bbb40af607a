"""A few attacks of every kind; tools/attack.py makes as many as there is time for."""

import random
from pathlib import Path

import pytest

from faults.corpus import READERS
from faults.faults import FAULTS
from faults.mutations import attack

TIMES = 60
FAULT_TIMES = 3


@pytest.mark.parametrize("name", [name for name in READERS if name != "plans"])
def test_mutated_files_are_read_or_refused(name: str) -> None:
    """No traceback; a file with a checksum is never read as something else."""
    assert attack(READERS[name], 2 if READERS[name].slow else TIMES, 1).lost == []


@pytest.mark.parametrize("name", FAULTS)
def test_faults_lose_nothing(name: str, tmp_path: Path) -> None:
    """What was called written is there, what was started is ended."""
    chosen = random.Random(name)
    for number in range(FAULT_TIMES):
        (place := tmp_path / str(number)).mkdir()
        assert FAULTS[name](place, chosen) is None
