"""Are a machine's constants recovered from what it would measure, and what is said where they cannot be?"""

import json
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

from leadline import machine
from leadline.calibrate import calibrate
from leadline.cli import main
from leadline.core.errors import UsageError
from leadline.run import store
from planted import Row, frame_of, rows

SIZES = sorted({0, *(2**k for k in range(23)), *(3 * 2**k for k in range(5, 18))})
ENDS = [size for size in SIZES if 0 < size <= 524288]
STREAM = [size for size in SIZES if size]
WINDOW = 64
LAUNCHES = 8
HERE = {
    "machine": {"cpu": "a processor", "cores": 8, "packages": 2, "threads_per_core": 2},
    "date": "2026-01-01",
}

# Within a node: 0.2 us of way, eager below 12 KiB, then a handshake and one copy by the receiver.
WAY = 0.2e-6
EAGER = {"send_overhead": 90e-9, "receive_overhead": 60e-9, "send_copy": 8e9, "receive_copy": 16e9}
RENDEZVOUS = {
    "send_overhead": 200e-9,
    "receive_overhead": 500e-9,
    "send_copy": 100e9,
    "receive_copy": 25e9,
    "handshake_overhead": 70e-9,
}
FIRST_HANDSHAKE = 12288


class Truth:
    """What the engine makes of a message with the constants above, by the equations of its own source."""

    def __init__(self, wire: float = np.inf, gap: float = 0.0) -> None:
        """`wire` and `gap` are of the network between nodes; within a node there is none."""
        self.wire, self.gap = wire, gap

    def waits(self, size: int) -> bool:
        """Whether a message takes the handshake."""
        return size >= FIRST_HANDSHAKE

    def ends(self, size: int) -> tuple[float, float]:
        """What the sending and the receiving core are charged."""
        row = RENDEZVOUS if self.waits(size) else EAGER
        send = row["send_overhead"] + size / row["send_copy"]
        return send, row["receive_overhead"] + size / row["receive_copy"]

    def whole(self, size: int) -> float:
        """One way: both ends and the way; request and grant, and their overheads, come before."""
        extra = 2 * WAY + 2 * RENDEZVOUS["handshake_overhead"] if self.waits(size) else 0
        return sum(self.ends(size)) + WAY + size / self.wire + extra

    def sending(self, size: int) -> float:
        """A lone blocking send; with a handshake it waits until the data has left."""
        if not self.waits(size):
            return self.ends(size)[0]
        return self.whole(size) - WAY - self.ends(size)[1]

    def receiving(self, size: int) -> float:
        """A late receive of what has arrived, or of what has only knocked."""
        if not self.waits(size):
            return self.ends(size)[1]
        return self.whole(size) - WAY - RENDEZVOUS["handshake_overhead"]

    def window(self, size: int) -> float:
        """A window of a stream: the slower end paces all but the first, and an empty answer comes back."""
        send, receive = self.ends(size)
        slower = max(receive, 0 if self.waits(size) else send, size / self.wire, self.gap)
        return (WINDOW - 1) * slower + self.whole(size) + self.whole(0)


def planted(truth: Truth, spread: float = 0.0, **fields: Any) -> list[Row]:
    """Records of what `truth` measures, each launch off by a factor of its own that all benchmarks share."""
    factors = np.random.default_rng(5).lognormal(0, spread, LAUNCHES) if spread else np.ones(LAUNCHES)

    def medians(of: Callable[[int], float], sizes: list[int]) -> list[list[float]]:
        return [[factor * of(size) for size in sizes] for factor in factors]

    rate = [[1 / each for each in row] for row in medians(lambda n: truth.window(n) / WINDOW, STREAM)]
    ends = {"benchmark": "overhead"} | fields
    return [
        *rows(medians(truth.whole, SIZES), SIZES, buffers="reused", **fields),
        *rows(medians(truth.sending, ENDS), ENDS, metric="send_overhead", **ends),
        *rows(medians(truth.receiving, ENDS), ENDS, metric="receive_overhead", **ends),
        *rows(
            rate,
            STREAM,
            **{"benchmark": "bandwidth", "metric": "message_rate", "unit": "1/s", "better": "higher"}
            | fields,
            window=WINDOW,
        ),
    ]


def matching(entry: float) -> list[Row]:
    """Records of a ping-pong behind queues, which pays `entry` seconds for each that waits."""
    return [
        row | {"bytes": 8, "depth": row["bytes"], "queue": queue}
        for queue in ("posted", "unexpected")
        for row in rows(
            [[0.3e-6 + entry * depth for depth in (0, 64, 1024)]] * 6, (0, 64, 1024), benchmark="matching"
        )
    ]


def noise(
    interval: float, detour: float, ranks: int = 2, length: float = 2e-3, samples: int = 400
) -> list[Row]:
    """Records of cores that random detours take away: exponential intervals and lengths, drawn."""
    rng = np.random.default_rng(11)
    made = []
    for launch in range(6):
        lost, longest = [], []
        for _ in range(samples):
            detours = [rng.exponential(detour, rng.poisson(length / interval)) for _ in range(ranks)]
            lost.append(float(np.mean([each.sum() / length for each in detours])))
            longest.append(max((float(each.max()) for each in detours if each.size), default=0.0))
        common = {"benchmark": "noise", "ranks": ranks, "placement": "default", "duration": samples * length}
        for metric, values in (("lost", lost), ("longest", longest)):
            made += [row | {"samples": values} for row in rows([[1.0]], [0], metric=metric, **common)]
            made[-1] |= {"launch": launch, "bytes": None}
    return made


def numbers(records: pl.DataFrame, **choice: Any) -> dict[str, dict[str, Any]]:
    """The numbers of a calibration by key."""
    return {row["key"]: row for row in calibrate(records, HERE, **choice).numbers()}


def test_the_constants_of_a_machine_are_recovered() -> None:
    """Exact times in, exact constants out: every number of both protocols, and the way, within 1 %."""
    found = numbers(frame_of(planted(Truth())))
    assert found["node.local_latency"]["value"] == pytest.approx(WAY, rel=0.01)
    for name, expected in (("eager", EAGER), ("rendezvous", RENDEZVOUS)):
        for key, value in expected.items():
            assert found[f"protocol.{name}.{key}"]["value"] == pytest.approx(value, rel=0.01), (name, key)
    assert {key.split(".")[1] for key in found if key.startswith("protocol")} == {"eager", "rendezvous"}


def test_the_switch_of_protocols_lies_between_the_sizes_that_show_it() -> None:
    """8 KiB is eager and 12 KiB is not: the row says so, and the interval is what was measured."""
    switch = numbers(frame_of(planted(Truth())))["protocol.eager.up_to"]
    assert (switch["low"], switch["high"]) == (8192, FIRST_HANDSHAKE)
    assert 8192 <= switch["value"] < FIRST_HANDSHAKE


def test_intervals_hold_the_constants_when_launches_differ() -> None:
    """Launches 5 % apart, all benchmarks alike: every interval has a width, and the way's holds 0.2 us."""
    found = numbers(frame_of(planted(Truth(), spread=0.05)))
    way = found["node.local_latency"]
    assert way["low"] < WAY < way["high"]
    assert 0.01 * WAY < way["high"] - way["low"] < 0.2 * WAY
    for name, expected in (("eager", EAGER), ("rendezvous", RENDEZVOUS)):
        for key, value in expected.items():
            row = found[f"protocol.{name}.{key}"]
            assert row["low"] < row["value"] < row["high"]
            assert row["low"] < value < row["high"]


def test_a_machine_without_a_handshake_has_no_rendezvous() -> None:
    """Where receives of what has arrived never wait for the sender, every row is eager."""

    class Eager(Truth):
        def waits(self, size: int) -> bool:
            return False

    found = calibrate(frame_of(planted(Eager())), HERE)
    assert [row["name"] for row in found.rows["protocol"]] == ["eager"]
    assert "handshake" not in found.rows["protocol"][0]


def test_the_network_between_nodes_is_told_apart_from_the_ends() -> None:
    """Ranks on two nodes: the link's 1 GB/s holds a stream up, small messages are 0.4 us apart."""
    truth = Truth(wire=1e9, gap=0.4e-6)
    found = numbers(frame_of(planted(truth, placement="nodes", binding="one:0 two:0")))
    assert found["links.rate"]["value"] == pytest.approx(1e9, rel=0.02)
    assert found["links.base"]["value"] == pytest.approx(WAY, rel=0.05)
    assert found["node.message_gap"]["value"] == pytest.approx(0.4e-6, rel=0.05)
    for key in ("send_overhead", "receive_overhead", "send_copy", "receive_copy"):
        assert found[f"protocol.eager.{key}"]["value"] == pytest.approx(EAGER[key], rel=0.05), key


def test_within_and_between_nodes_are_tables_of_their_own(tmp_path: Path) -> None:
    """A run of both placements describes the node's own protocol beside the network's."""
    both = frame_of(
        planted(Truth()) + planted(Truth(wire=1e9, gap=0.4e-6), placement="nodes", binding="one:0 two:0")
    )
    made = calibrate(both, HERE)
    assert set(made.rows) == {"protocol", "local_protocol"}
    assert made.tables["topology"]["kind"] == "fat-tree"
    path = tmp_path / "two.toml"
    path.write_text(made.toml())
    assert machine.load(path).max_nodes == 2
    found = {row["key"]: row["value"] for row in made.numbers()}
    assert found["node.local_latency"] == pytest.approx(WAY, rel=0.01)
    assert found["links.rate"] == pytest.approx(1e9, rel=0.02)


def test_a_queue_entry_costs_what_the_slope_says() -> None:
    """3 ns for each entry that a match passes, whichever queue it waits in."""
    found = numbers(frame_of(planted(Truth()) + matching(3e-9)))
    assert found["node.match"]["value"] == pytest.approx(3e-9, rel=1e-6)


def test_sockets_differ_by_what_small_messages_take_longer() -> None:
    """70 ns more at every size between sockets; copies are those of the core group."""

    class Far(Truth):
        def whole(self, size: int) -> float:
            return super().whole(size) + 70e-9

    records = planted(Truth()) + [
        r for r in planted(Far(), placement="sockets") if r["benchmark"] == "pingpong"
    ]
    assert numbers(frame_of(records))["node.socket_latency"]["value"] == pytest.approx(70e-9, rel=1e-6)


@pytest.mark.parametrize(("interval", "detour"), [(50e-6, 3e-6), (1e-3, 20e-6), (200e-6, 1e-6)])
def test_detours_are_recovered_from_what_was_lost_and_the_longest(interval: float, detour: float) -> None:
    """Drawn detours, 400 samples a launch: interval and length within 10 %."""
    found = numbers(frame_of(planted(Truth()) + noise(interval, detour)))
    assert found["noise.interval"]["value"] == pytest.approx(interval, rel=0.1)
    assert found["noise.detour"]["value"] == pytest.approx(detour, rel=0.1)


def test_the_file_is_a_machine_that_the_simulator_runs(tmp_path: Path) -> None:
    """What is written is read back by the reader of machines, to the digits written, with its sources."""
    made = calibrate(frame_of(planted(Truth(), spread=0.02) + matching(3e-9) + noise(50e-6, 3e-6)), HERE)
    path = tmp_path / "here.toml"
    path.write_text(made.toml())
    read = machine.load(path)
    native = read.native()
    assert native["node"]["cores"] == 8
    assert native["node"]["sockets"] == 2
    assert [row["name"] for row in native["protocol"]] == ["eager", "rendezvous"]
    assert native["protocol"][0]["send_copy"] == pytest.approx(EAGER["send_copy"], rel=0.05)
    assert all(number.source for number in read.numbers())
    assert {number.calibrated for number in read.numbers()} == {"planted", None}
    latency = tomllib.loads(made.toml())["node"]["local_latency"]
    assert latency["source"] == "calibrated on planted: pingpong, bandwidth, overhead"
    assert len(latency["interval"]) == 2


def test_a_choice_that_is_needed_is_asked_for_with_what_there_is() -> None:
    """Two MPIs in a run: a sentence names both; a family chooses, a wrong name is refused."""
    both = frame_of(planted(Truth()) + planted(Truth(), mpi="mpich-4.0.2"))
    with pytest.raises(UsageError, match=r"mpich-4.0.2, openmpi-4.1.4.*--mpi"):
        calibrate(both, HERE)
    assert "mpich-4.0.2" in calibrate(both, HERE, mpi="mpich").title
    with pytest.raises(UsageError, match=r"did you mean 'openmpi-4\.1\.4'"):
        calibrate(both, HERE, mpi="openmp-4.1.4")
    stacks = frame_of(planted(Truth()) + planted(Truth(), stack="tcp"))
    with pytest.raises(UsageError, match="there are default, tcp; choose with --stack"):
        calibrate(stacks, HERE)
    assert calibrate(stacks, HERE, stack="tcp").numbers()


@pytest.mark.parametrize("benchmark", ["pingpong", "overhead", "bandwidth"])
def test_what_no_machine_can_do_without_is_named(benchmark: str) -> None:
    """Without one of the three there is no protocol row: the sentence names it and the plan that has it."""
    rest = frame_of([row for row in planted(Truth()) if row["benchmark"] != benchmark])
    with pytest.raises(UsageError, match=rf"lacks .*{benchmark}.*; 'leadline run calibrate'"):
        calibrate(rest, HERE)


def test_what_a_machine_can_do_without_is_a_note() -> None:
    """No matching, noise or sockets: the machine goes without, and a sentence says what would tell each."""
    made = calibrate(frame_of(planted(Truth())), HERE)
    said = " ".join(made.notes)
    for benchmark in ("matching", "noise", "pingpong with placement = sockets"):
        assert f"the run lacks {benchmark}; 'leadline run calibrate'" in said
    assert "noise" not in made.tables


def test_the_verb_writes_the_file_and_replaces_none_unasked(tmp_path: Path) -> None:
    """`leadline calibrate RUN -o FILE` writes it once; a second time it is refused without --force."""
    run, path = tmp_path / "records.parquet", tmp_path / "machines" / "here.toml"
    store.write_parquet(frame_of(planted(Truth(), spread=0.02)), run, HERE)
    told = CliRunner().invoke(main, ["calibrate", str(run), "-o", str(path)])
    assert told.exit_code == 0, told.output
    assert "protocol.eager.up_to" in told.output
    assert "8 KiB to 12 KiB" in told.output
    assert machine.load(path).cores == 8
    again = CliRunner().invoke(main, ["calibrate", str(run), "-o", str(path)])
    assert again.exit_code == 2
    assert "is there already" in again.output
    forced = CliRunner().invoke(main, ["calibrate", str(run), "-o", str(path), "--force", "--json"])
    listed = json.loads(forced.stdout)
    assert {"key", "value", "unit", "low", "high", "source"} == set(listed[0])
