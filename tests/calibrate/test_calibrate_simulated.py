"""Are a known machine's constants recovered from simulated runs, whether its links or its cores are slow?"""

from pathlib import Path

import pytest

from leadline import machine
from leadline.calibrate import Calibration, calibrate
from leadline.core.record import SKIPPED
from leadline.plan import files as plan_files
from leadline.plan.model import Plan
from leadline.run import session, store
from leadline.targets.simulated.machine import SimulatedMachine

KNOWN = """
title = "A machine whose constants are known"
reduce = { value = "5 GB/s", source = "chosen" }
copy = { value = "120 GB/s", source = "chosen" }
collective_overhead = { value = "80 ns", source = "chosen" }
[topology]
kind = "fat-tree"
arity = { value = [2], source = "chosen" }
[links]
source = "chosen"
rate = "2 GB/s"
hop = "0 ns"
base = "700 ns"
[node]
source = "chosen"
cores = 4
sockets = 2
ranks = 4
local_latency = "210 ns"
socket_latency = "90 ns"
match = "4 ns"
memory = "80 GB/s"
[[protocol]]
name = "eager"
source = "chosen"
up_to = "8 KiB"
send_overhead = "150 ns"
receive_overhead = "250 ns"
send_copy = "9 GB/s"
receive_copy = "7 GB/s"
[[protocol]]
name = "rendezvous"
source = "chosen"
send_overhead = "150 ns"
receive_overhead = "250 ns"
handshake = true
handshake_overhead = "120 ns"
[[local_protocol]]
name = "short"
source = "chosen"
up_to = "128 B"
send_overhead = "70 ns"
receive_overhead = "50 ns"
crossing_latency = "45 ns"
[[local_protocol]]
name = "eager"
source = "chosen"
up_to = "6 KiB"
send_overhead = "130 ns"
receive_overhead = "90 ns"
send_copy = "8 GB/s"
receive_copy = "11 GB/s"
crossing_latency = "85 ns"
[[local_protocol]]
name = "rendezvous"
source = "chosen"
send_overhead = "40 ns"
receive_overhead = "300 ns"
receive_copy = "20 GB/s"
handshake = true
handshake_overhead = "60 ns"
"""
# A walk takes as long as four ranks at once leave of the memory.
for _walked, _cost in {1: 1, 4: 2, 8: 3, 16: 8, 32: 15, 64: 25}.items():
    KNOWN += f"""
[[cold]]
source = "chosen"
walked = "{_walked} MiB"
time = "{_walked * 2**20 * 4 / 80e9 * 1e6:.6g} us"
overhead = "{100 * _cost} ns"
copy = "{20 / _cost:.6g} GB/s"
handshake_overhead = "{400 * _cost} ns"
handshake_copy = "{200 / _cost:.6g} GB/s"
"""


# Links and what the cores copy of an eager message: links that hold a stream up, a little and by far, and one
# that has to give more than two ranks of a node can ask for.
REGIMES = {
    "link": {},
    "slow link": {'rate = "2 GB/s"': 'rate = "12.5 MB/s"', 'base = "700 ns"': 'base = "20 us"'},
    "cores": {
        'rate = "2 GB/s"': 'rate = "24 GB/s"',
        'send_copy = "9 GB/s"': 'send_copy = "3 GB/s"',
        'receive_copy = "7 GB/s"': 'receive_copy = "4 GB/s"',
    },
    "cores, and the link with two": {
        'rate = "2 GB/s"': 'rate = "4 GB/s"',
        'send_copy = "9 GB/s"': 'send_copy = "3 GB/s"',
        'receive_copy = "7 GB/s"': 'receive_copy = "4 GB/s"',
    },
}
COPIED_BY_RECEIVER = ("handshake = true", 'receive_copy = "2.5 GB/s"\nhandshake = true')


def described(directory: Path, changes: dict[str, str]) -> machine.Machine:
    """The known machine with other constants between nodes."""
    text = KNOWN
    for old, new in changes.items():
        assert old in text
        text = text.replace(old, new, 1)
    if "send_copy" in " ".join(changes):
        text = text.replace(*COPIED_BY_RECEIVER, 1)
    path = directory / "known.toml"
    path.write_text(text)
    return machine.load(path)


def calibrated(directory: Path, known: machine.Machine, without: str = "") -> Calibration:
    """What the shipped plan makes of it."""
    plan = Plan.load(plan_files.find("calibrate"))
    records = session.run(plan, SimulatedMachine.of(known), directory / "run")
    records = records.filter(records["benchmark"] != without)
    return calibrate(records, store.provenance(directory / "run"))


@pytest.mark.parametrize("regime", REGIMES)
def test_what_is_simulated_is_calibrated_to_the_same_machine(tmp_path: Path, regime: str) -> None:
    """The shipped plan on a known machine, calibrated: every constant again, within 5 %, by real benchmarks.

    A switch of protocols lies between two sizes of the plan.
    """
    known = described(tmp_path, REGIMES[regime])
    made = calibrated(tmp_path, known)
    (tmp_path / "again.toml").write_text(made.toml())
    again = {number.key: number for number in machine.load(tmp_path / "again.toml").numbers()}
    for number in known.numbers():
        if number.key.endswith("up_to"):
            low, high = again[number.key].interval or (0, 0)
            assert low <= number.value <= high, number.key
        elif number.value and number.key != "node.memory":  # which real computations tell
            # A message that takes a millisecond does not tell a core's times to the nanosecond.
            close = 20e-9 if regime == "slow link" and number.unit == "s" else 0
            assert again[number.key].value == pytest.approx(number.value, rel=0.05, abs=close), number.key
    crossing = {key for key in again if key.endswith("crossing_latency")}
    assert crossing == {f"local_protocol.{row}.crossing_latency" for row in ("short", "eager")}
    said = " ".join(made.notes)
    assert ("the cores hold a stream up" in said) == (regime == "cores")
    assert "does not tell whether" not in said


ASKS = "handshake = true"


@pytest.mark.parametrize("regime", ["link", "slow link"])
def test_long_messages_that_move_one_way_at_a_time_are_found_and_no_others(
    tmp_path: Path, regime: str
) -> None:
    """A known machine with `one_way` gets it back, where there is a handshake; without it gets none."""
    for which, changes in (("both", {}), ("one", {ASKS: f"{ASKS}\none_way = true"})):
        (tmp_path / which).mkdir()
        made = calibrated(tmp_path / which, described(tmp_path / which, REGIMES[regime] | changes))
        found = {str(row["name"]): "one_way" in row for row in made.rows["protocol"]}
        asks = {str(row["name"]): "handshake" in row for row in made.rows["protocol"]}
        assert any(asks.values())
        assert found == (asks if which == "one" else dict.fromkeys(asks, False))
        assert ("times as much both ways" in " ".join(made.notes)) == (which == "one")


def test_a_link_slower_than_the_copies_within_is_taken_for_the_link_and_said(tmp_path: Path) -> None:
    """Without several pairs nothing tells a slow link from cores that copy as slowly: a note says so."""
    known = described(tmp_path, REGIMES["slow link"])
    made = calibrated(tmp_path, known, without="multistream")
    found = {row["key"]: row["value"] for row in made.numbers()}
    assert found["links.rate"] == pytest.approx(12.5e6, rel=0.02)
    assert found["protocol.eager.send_copy"] == pytest.approx(9e9, rel=0.1)
    said = " ".join(made.notes)
    assert "whether the link or the cores at its ends hold it up: taken is the link" in said
    assert "the run lacks multistream of 1 and 2 pairs with placement = nodes" in said


def test_a_machine_without_a_rate_of_sums_is_not_asked_for_it(tmp_path: Path) -> None:
    """Its sums would take no time, which no core does: the point is skipped, with the key that is missing."""
    known = described(tmp_path, {'reduce = { value = "5 GB/s", source = "chosen" }': ""})
    (tmp_path / "sums.toml").write_text('question = "How fast?"\n[[measure]]\nbenchmark = "combine"\n')
    records = session.run(Plan.load(tmp_path / "sums.toml"), SimulatedMachine.of(known), tmp_path / "run")
    assert set(records["status"]) == {SKIPPED}
    assert all("has no reduce" in reason for reason in records["reason"])
