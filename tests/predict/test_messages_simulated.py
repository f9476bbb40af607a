"""A message of a described machine by formula and as the simulator has it: the LogGOPS model, and rings."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner

from leadline import machine as machines
from leadline.cli import main
from leadline.machine import Machine
from leadline.plan.model import Plan
from leadline.predict._machine import NODES, SOCKET, way
from leadline.predict._simulated import answers
from leadline.run import session
from leadline.targets.simulated.machine import SimulatedMachine

FROM = 'source = "estimate" }'
MADE = f"""
title = "made up"
[topology]
SHAPE
[links]
rate = {{ value = "1 GB/s", {FROM}
hop = {{ value = "100 ns", {FROM}
base = {{ value = "2 us", {FROM}
[node]
cores = {{ value = RANKS, {FROM}
ranks = {{ value = RANKS, {FROM}
local_latency = {{ value = "300 ns", {FROM}
KEYS
[[protocol]]
name = "eager"
send_overhead = {{ value = "700 ns", {FROM}
receive_overhead = {{ value = "500 ns", {FROM}
"""
TREE = f'kind = "fat-tree"\narity = {{ value = [2, 4], {FROM}'
TORUS = f'kind = "torus"\nshape = {{ value = [5, 3, 2], {FROM}'


def made(
    folder: Path,
    shape: str = TREE,
    keys: str = "",
    copies: Mapping[str, str] | None = None,
    on_node: int = 2,
) -> Machine:
    """A machine that nobody has built, of nodes of so many ranks."""
    text = MADE.replace("SHAPE", shape).replace("KEYS", keys).replace("RANKS", str(on_node))
    lines = [f'{name} = {{ value = "{rate}", {FROM}\n' for name, rate in (copies or {}).items()]
    path = folder / "made.toml"
    path.write_text(text + "".join(lines))
    return machines.load(path)


def simulate(machine: Machine, measures: Sequence[Mapping[str, object]]) -> pl.DataFrame:
    """As `leadline predict --simulate` has it."""
    return session.simulate(Plan.of(*measures), SimulatedMachine.of(machine))


@pytest.mark.parametrize(
    ("copies", "slowest"),
    [
        ({}, 1e9),
        # Copies that are quicker than the wire go on beside it.
        ({"send_copy": "4 GB/s", "receive_copy": "4 GB/s"}, 1e9),
        ({"send_copy": "0.5 GB/s", "receive_copy": "0.5 GB/s"}, 0.5e9),
        ({"send_copy": "4 GB/s", "receive_copy": "0.8 GB/s"}, 0.8e9),
        # A core that copies 2 ns/B takes up the answer that late: 3 ns/B there and back.
        ({"send_copy": "0.5 GB/s"}, 1e9 / 1.5),
    ],
)
@pytest.mark.parametrize(("placement", "measured"), [(NODES, "nodes"), (SOCKET, "core-group")])
def test_a_message_of_the_loggops_model_is_the_simulated_ping_pong(
    tmp_path: Path, copies: dict[str, str], slowest: float, placement: str, measured: str
) -> None:
    """The slower of wire and copies, not all of them in turn: 1 GB/s with copies of 4 was 0.67."""
    machine = made(tmp_path, keys="loggops = true", copies=copies)
    found = way(machine, placement)
    latency = 1.2e-6 + (2e-6 + 2 * 100e-9 if placement == NODES else 300e-9)
    assert [found.latency, found.bandwidth] == pytest.approx([latency, slowest])
    point = {"placement": measured, "buffers": "reused"}
    small, large = answers(
        simulate, machine, "pingpong", "latency", [{**point, "bytes": size} for size in (1, 10_000_001)]
    )
    assert small == pytest.approx(latency)
    assert large == pytest.approx(latency + 1e7 / slowest, rel=3e-4)


@pytest.mark.parametrize(
    ("shape", "ranks", "hops"),
    [
        # Over one switch, and from the second node to the third over the top; from the last rank to the
        # first in any case.
        (TREE, 4, 2),
        (TREE, 7, 4),
        # Nodes first: a step along one axis, at its end along the next as well.
        (TORUS, 60, 3),
    ],
)
def test_a_ring_waits_for_its_farthest_neighbours(tmp_path: Path, shape: str, ranks: int, hops: int) -> None:
    """A turn of N ranks in turn: 2 N times overheads, base, and the links between the farthest two."""
    machine = made(tmp_path, shape)
    words = ["predict", "ring", "--on", str(machine.path), "--ranks", str(ranks), "--simulate", "--json"]
    told = json.loads(CliRunner().invoke(main, words).stdout)
    formula, in_turn, at_once = (row["time"] for row in told[-3:])
    assert formula == pytest.approx(2 * ranks * (3.2e-6 + hops * 100e-9))
    assert in_turn == pytest.approx(formula, rel=0.02)
    assert formula / 2 < at_once < formula
