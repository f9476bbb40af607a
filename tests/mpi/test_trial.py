"""Two ranks that know each other are what makes an MPI work; everything else is named."""

import re
import time
from pathlib import Path

import pytest

from leadline.core.processes import run
from leadline.mpi.discover import find
from leadline.mpi.library import Mpi
from leadline.mpi.trial import judge, trouble

from . import fabricated

PATIENCE = 10.0  # s: a killed process dies when it next gets a processor
GOOD = "leadline rank 1 of 2 sum 1\nsome banner\nleadline rank 0 of 2 sum 1\n"


def ends(pid: int) -> bool:
    """Whether a killed process is gone soon; one that only waits for its parent to notice has ended."""
    stat = Path(f"/proc/{pid}/stat")
    by = time.monotonic() + PATIENCE
    while time.monotonic() < by:
        try:
            if stat.read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        except (FileNotFoundError, ProcessLookupError):
            return True
        time.sleep(0.01)
    return False


def test_two_ranks_that_know_each_other_are_fine() -> None:
    """Whatever else is printed."""
    assert judge(0, GOOD) is None


@pytest.mark.parametrize(
    ("code", "output", "reason"),
    [
        (0, "leadline rank 0 of 1 sum 0\n" * 2, "two worlds of one rank"),  # as Ubuntu 24.04's MPICH
        (None, GOOD, "did not end within 20 s"),  # a library that hangs in MPI_Finalize
        (139, GOOD + "KILLED BY SIGNAL: 11", r"failed \(exit code 139\): KILLED BY SIGNAL: 11"),
        (0, "hello\n", "printed something else than what they are: hello"),
        (0, GOOD.replace("sum 1", "sum 7"), "printed something else"),  # what was sent is not what came
        (1, "", "nothing was printed"),
    ],
)
def test_what_is_wrong_is_named(code: int | None, output: str, reason: str) -> None:
    """In words that tell an installer's mistake from a crash."""
    assert re.search(reason, judge(code, output) or "")


def test_a_launch_that_hangs_is_ended_with_its_ranks(tmp_path: Path) -> None:
    """Also those that do not listen to a polite signal."""
    script = tmp_path / "launcher"
    script.write_text("#!/bin/bash\ntrap '' TERM\nsleep 60 &\necho $! $$; wait\nsleep 60\n")
    script.chmod(0o755)
    _, code, output = run([str(script)], {}, 0.3)
    assert code is None
    pids = output.split()
    assert len(pids) == 2
    assert all(ends(int(pid)) for pid in pids)


def test_an_mpi_without_its_parts_is_not_started() -> None:
    """Each missing part has its sentence."""
    whole = fabricated.an_mpi()
    assert "no compiler wrapper" in (trouble(Mpi(**{**vars(whole), "compiler": None})) or "")
    assert "no launcher" in (trouble(Mpi(**{**vars(whole), "launcher": None})) or "")


def test_flags_that_build_nothing_are_named(tmp_path: Path) -> None:
    """With the compiler's first error."""
    fabricated.plant(tmp_path, "openmpi", "4.1.4")
    mpi = fabricated.an_mpi(prefix=str(tmp_path))
    assert "a program does not build with its flags: " in (trouble(mpi) or "")


@pytest.mark.mpi
@pytest.mark.parametrize("mpi", find(), ids=lambda mpi: mpi.id)
def test_an_mpi_of_this_machine_starts_two_ranks_or_says_why(mpi: Mpi) -> None:
    """None of the machine's MPIs may be silent about itself."""
    reason = trouble(mpi)
    if reason:
        pytest.skip(f"{mpi.id} does not work here: {reason}")
