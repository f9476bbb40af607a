"""What a run does not tell apart is not calibrated: a gap below what an end takes, a way of no time."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from leadline import machine
from leadline.calibrate import Calibration, calibrate
from leadline.plan import files as plan_files
from leadline.plan.model import Plan
from leadline.run import session, store
from leadline.targets.simulated.machine import SimulatedMachine

MADE_UP = """
title = "Two nodes of two ranks"
[topology]
kind = "fat-tree"
arity = {{ value = [4], source = "made up" }}
[links]
source = "made up"
rate = "{rate}"
hop = "150 ns"
base = "0.7 us"
[node]
source = "made up"
cores = 2
ranks = 2
message_gap = "{gap}"
{local}
[[protocol]]
name = "eager"
source = "made up"
up_to = "{limit}"
send_overhead = "0.4 us"
receive_overhead = "0.6 us"
receive_copy = "5 GB/s"
[[protocol]]
name = "rendezvous"
source = "made up"
send_overhead = "0.45 us"
receive_overhead = "0.35 us"
handshake = true
handshake_overhead = "0.2 us"
{within}"""
EAGER = """[[local_protocol]]
name = "eager"
source = "made up"
send_overhead = "0.1 us"
receive_overhead = "0.15 us"
receive_copy = "4 GB/s"
"""
SLOWER_END = 600.0  # ns


def ran(place: Path, **constants: str) -> tuple[pl.DataFrame, dict[str, object]]:
    """The shipped plan on the machine with these constants, and where it comes from."""
    known = {"rate": "0.9 GB/s", "gap": "90 ns", "local": "", "limit": "5 kB", "within": EAGER} | constants
    (place / "known.toml").write_text(MADE_UP.format(**known))
    described = SimulatedMachine.of(machine.load(place / "known.toml"))
    records = session.run(Plan.load(plan_files.find("calibrate")), described, place / "run")
    return records, store.provenance(place / "run")


def gap_of(made: Calibration) -> float:
    """The calibrated gap, ns."""
    return 1e9 * next((float(row["value"]) for row in made.numbers() if row["key"] == "node.message_gap"), 0)


@pytest.mark.parametrize("limit", ["1000 B", "5 kB"])
def test_a_gap_that_an_end_hides_is_not_made_of_the_links_time(limit: str, tmp_path: Path) -> None:
    """Short messages are held up by the receiver, those of 768 B by a link of 0.9 GB/s: neither is a gap."""
    assert gap_of(calibrate(*ran(tmp_path, limit=limit))) <= 1.02 * SLOWER_END


def test_a_gap_that_holds_streams_up_is_found(tmp_path: Path) -> None:
    """Four times what the slower end takes."""
    assert gap_of(calibrate(*ran(tmp_path, gap="2.5 us"))) == pytest.approx(2500, rel=0.01)


@pytest.mark.parametrize("latency", ["", 'local_latency = "0.2 us"'])
def test_no_handshake_is_found_where_none_is(latency: str, tmp_path: Path) -> None:
    """Within a node the two ends take as long as the message, or nearly: exactly, and with 1 % of noise."""
    records, provenance = ran(tmp_path, local=latency)
    assert not handshakes(calibrate(records, provenance))
    drawn = np.random.default_rng(11)
    launches = []
    for launch in range(8):
        noisy = [
            None if samples is None else [float(each) * np.exp(drawn.normal(0, 0.01)) for each in samples]
            for samples in records["samples"]
        ]
        launches.append(
            records.with_columns(
                launch=pl.lit(launch, dtype=records.schema["launch"]),
                samples=pl.Series(noisy, dtype=records.schema["samples"]),
            )
        )
    assert not handshakes(calibrate(pl.concat(launches), provenance))


def handshakes(made: Calibration) -> list[str]:
    """The rows within a node that have one."""
    return [str(row["name"]) for row in made.rows["local_protocol"] if "handshake" in row]


def test_cores_that_hold_up_both_ways_are_no_slow_link(tmp_path: Path) -> None:
    """On a link of 2 GB/s cores need 1 us for a message there and one back, and 0.6 us for one way alone."""
    made = calibrate(*ran(tmp_path, rate="2 GB/s"))
    assert "times as much both ways" not in " ".join(made.notes)
    assert next(row["value"] for row in made.numbers() if row["key"] == "node.local_latency") == 0


def test_the_slower_end_may_change_within_a_row(tmp_path: Path) -> None:
    """Up to 4.3 kB the sender is the slower one, beyond it the receiver, whose bytes cost more."""
    protocol = EAGER.replace("0.1 us", "0.436 us").replace("0.15 us", "0.25 us").replace("4 GB/s", "7.7 GB/s")
    within = f'{protocol}send_copy = "11.2 GB/s"\nup_to = "8 KiB"\n'
    within += protocol + 'handshake = true\nhandshake_overhead = "0.2 us"\n'.replace("eager", "rendezvous")
    local = 'local_latency = "0.3 us"'
    made = calibrate(*ran(tmp_path, local=local, within=within.replace('"eager"', '"short"', 1)))
    for row in made.numbers():
        if str(row["key"]).startswith("local_protocol.") and "send_overhead" in str(row["key"]):
            assert row["value"] == pytest.approx(436e-9, rel=0.02), row["key"]
        if str(row["key"]).startswith("local_protocol.") and "receive_overhead" in str(row["key"]):
            assert row["value"] == pytest.approx(250e-9, rel=0.02), row["key"]
