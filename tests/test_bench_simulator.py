"""What the simulator's part of `make bench` makes of given runs: arithmetic, no figures of this machine."""

import sys
from pathlib import Path
from typing import Any

import pytest

import peer
from found import MISSED, REACHED
from leadline.core.errors import LeadlineError
from parts import simulator
from processes import Taken, taken


def ran(took: float, memory: int = 0, **answer: Any) -> Taken:
    """A run that took so many seconds of the processor, with the line of its answers."""
    return Taken(took, memory, [{"event": "ran", **answer}])


def given(*, peers: bool = False) -> dict[str, list[Taken]]:
    """Runs of two turns for each case, with round numbers."""
    runs = {
        "allreduce": [ran(0.9, seconds=0.08)] * 2,
        "barrier": [ran(0.8, seconds=0.2)] * 2,
        "messages": [ran(1.0, seconds=0.5, messages=6_000_000)] * 2,
        "random": [ran(1.0, seconds=0.5, hops=5_000_000)] * 2,
        "neighbours": [ran(1.0, seconds=0.5, hops=12_000_000)] * 2,
    }
    for benchmark, each in (("allreduce", 500), ("halo", 1_800)):
        for ranks in (simulator.SMALL, simulator.LARGE):
            # The program itself is 5 MB.
            runs[f"{benchmark} {ranks}"] = [ran(ranks * 2e-6, 5_000_000 + each * ranks)] * 2
            runs[f"{benchmark} {ranks}, some"] = [ran(ranks * 1e-6)] * 2
    for pattern in simulator.POINTS if peers else ():
        for ranks in simulator.PEERS:
            point = {"event": "record", "duration": 0.001}
            runs[f"ours {pattern} {ranks}"] = [Taken(0.002, 0, [point])] * 2
            runs[f"peer {pattern} {ranks}"] = [ran(ranks / 1024)] * 2
    return runs


def test_every_target_has_its_row() -> None:
    """Allreduce, barrier and start take too long; halos of 1 and 2 µs a rank; 12 M messages/s of 10 ..."""
    found = list(simulator.rows(given()))
    outcomes = [each.outcome for each in found]
    assert [each.value for each in found[:2]] == [0.08, 0.2]
    assert outcomes[:3] == [MISSED] * 3
    assert outcomes[3:8] == [REACHED, MISSED, REACHED, MISSED, REACHED]
    assert [each.value for each in found[-2:]] == [10e6, 24e6]
    assert outcomes[-2:] == [MISSED, REACHED]


def test_the_start_is_what_the_operation_leaves_of_the_process() -> None:
    """0.9 - 0.08 and 0.8 - 0.2 s, two turns each: the median is 0.71 s."""
    start = list(simulator.rows(given()))[2]
    assert start.value == pytest.approx(0.71)


def test_memory_is_that_of_a_further_rank() -> None:
    """500 and 1,800 B a rank beside the 5 MB of the program, of 600 and 1,000 B."""
    small, large = list(simulator.rows(given()))[8:10]
    assert (small.value, large.value) == (500, 1_800)
    assert (small.outcome, large.outcome) == (REACHED, MISSED)


def test_the_peer_is_held_against_at_the_largest_size() -> None:
    """4 s over 2 and 1 ms, the smaller sizes are in the note; without it there are no rows."""
    found = list(simulator.rows(given(peers=True)))
    assert len(found) == len(list(simulator.rows(given()))) + 6
    assert [each.value for each in found[-2:]] == pytest.approx([2000, 4000])
    assert found[-2].note.startswith("512: 0.5 s, ours 0.002 s; 2,048: 2 s")


@pytest.mark.parametrize(("ranks", "shape"), [(512, [32, 16]), (131_072, [512, 256]), (4_096, [64, 64])])
def test_the_torus_has_the_shape_of_the_grid(ranks: int, shape: list[int]) -> None:
    """As halo lays its ranks out: rows are the largest divisor not beyond the root."""
    assert simulator.grid(ranks) == shape


def test_the_platform_of_the_peer_has_a_host_a_rank() -> None:
    """Hosts 0 to 511 of a torus 32 x 16, with the links of ours: 1 GB/s and 64 ns."""
    text = peer.platform([32, 16], 1e9, 64e-9)
    for said in ('radical="0-511"', 'topo_parameters="32,16"', 'bw="1000000000Bps"', 'lat="64ns"'):
        assert said in text


def test_a_process_is_told_by_what_it_took() -> None:
    """50 MB that are touched are at its peak; a failure is told with what it said."""
    took = taken([sys.executable, "-c", "x = bytearray(b'1') * 50_000_000"])
    assert took.memory > 50_000_000
    assert took.seconds > 0
    with pytest.raises(LeadlineError, match="status 3: too bad"):
        taken([sys.executable, "-c", "import sys; sys.stderr.write('too bad'); sys.exit(3)"])


def test_what_a_program_did_not_answer_is_told() -> None:
    """Its name is in the sentence."""
    with pytest.raises(LeadlineError, match="no 'ran'"):
        Taken(1.0, 1).answer("ran")


def test_there_is_a_program_for_each_pattern_of_the_peer() -> None:
    """One file each, as the benchmarks have."""
    native = Path(__file__).parents[1] / "native" / "bench" / "smpi"
    assert {file.stem for file in native.glob("*.c")} == set(simulator.POINTS)
