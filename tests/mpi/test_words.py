"""Every word of the vocabulary on real ranks of every MPI here: what it does, beside serial arithmetic.

The program says all collectives, with and without layouts, at once and in every form, by every type and
reduction, on World, a copy of it and each rank alone; ranks outnumber the cores in the larger launches.
"""

import os
import re

import pytest

from leadline.core.processes import run
from leadline.mpi.discover import find
from leadline.mpi.family import Start, failure, family
from leadline.mpi.launcher import starter
from leadline.mpi.library import Mpi
from leadline.native.build import WORDS, build

pytestmark = pytest.mark.mpi

LIMIT = 600.0  # s; alone on two cores five ranks take some 10 s, among other work that spins as well minutes
CHECKS = 4000  # at least, a rank
RANKS = [2, *(pytest.param(ranks, marks=pytest.mark.full) for ranks in (3, 5))]
LARGE = 6 << 30  # B of memory that two messages of 2 GiB need

# What the libraries themselves do wrong, as issues of theirs tell; not worth refusing, since only the data of
# a single rank lie in the wrong place.
FAULTS = {"mpich": {(4, 0): r"allgather of varying .* of 1 ranks"}}  # pull request 6374
# What they cannot do.
REFUSALS = {
    "openmpi": r"this MPI does not make such a window: .*",  # of one rank
    "mpich": r"the persistent (gather|allgather|scatter|long bcast) of MPICH .* fails",
}


@pytest.fixture(scope="module", params=find(), ids=lambda mpi: mpi.id)
def mpi(request: pytest.FixtureRequest) -> Mpi:
    """Each MPI of this machine."""
    found: Mpi = request.param
    return found


def say(mpi: Mpi, ranks: int, *arguments: str) -> list[str]:
    """What the program prints, line by line; fails unless it came to its end."""
    oversubscribed = ranks > len(os.sched_getaffinity(0))
    environment = family(mpi).environment(mpi)
    command = starter(mpi)(mpi, Start(ranks, env=environment, oversubscribe=oversubscribed))
    _, _, output = run([*command, str(build(mpi, WORDS)), *arguments], environment, LIMIT)
    lines = output.splitlines()
    assert any(line.startswith("checked ") for line in lines), failure(output)
    return lines


def found(lines: list[str], word: str) -> list[str]:
    """What follows a word at the beginning of a line."""
    return [line.removeprefix(f"{word}: ") for line in lines if line.startswith(f"{word}: ")]


def of_version(mpi: Mpi) -> str | None:
    """The pattern of what this version is known to do wrong."""
    numbers = tuple(int(part) for part in re.findall(r"\d+", mpi.version)[:2])
    return FAULTS.get(mpi.family, {}).get((numbers[0], numbers[1]))


@pytest.mark.parametrize("ranks", RANKS)
def test_every_word_does_what_it_says(mpi: Mpi, ranks: int) -> None:
    """Nothing is wrong but what the library is known for, and nothing is refused that it can do."""
    lines = say(mpi, ranks, "words")
    known = of_version(mpi)
    wrong = [line for line in found(lines, "wrong") if not (known and re.search(known, line))]
    assert not wrong, "\n".join(wrong)
    for reason in found(lines, "refused"):
        assert re.fullmatch(REFUSALS.get(mpi.family, ""), reason), reason
    counted = re.search(r"checked (\d+)", "\n".join(lines))
    assert counted
    assert int(counted[1]) > CHECKS * ranks


@pytest.mark.parametrize("ranks", RANKS)
def test_every_algorithm_does_what_the_library_does(mpi: Mpi, ranks: int) -> None:
    """Over the messages of each MPI, without asking for memory while it runs."""
    lines = say(mpi, ranks, "algorithms")
    assert not found(lines, "wrong")
    assert all(re.search(r" by \S+ (needs|wants) ", reason) for reason in found(lines, "refused"))


def test_what_an_int_cannot_count_is_carried_or_refused(mpi: Mpi) -> None:
    """By the calls of MPI 4 where there are any; else a sentence says how many bytes are too many."""
    if os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") < LARGE:
        pytest.skip("two messages of 2 GiB do not fit here")
    lines = say(mpi, 1, "large")
    assert not found(lines, "wrong")
    refused = found(lines, "refused")
    if mpi.family == "mpich":
        assert not refused
    elif refused:
        assert refused == [
            "2147483653 B is more than this MPI's calls can count (2147483647 elements); "
            "those of MPI 4 count further"
        ]
