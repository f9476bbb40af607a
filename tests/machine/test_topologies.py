"""Distances between nodes are those that the simulator has."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from leadline import machine
from leadline.core.record import OK
from leadline.machine.topologies import kind_of
from leadline.plan.model import Plan
from leadline.run import session
from leadline.targets.simulated.machine import SimulatedMachine

MACHINE = """
title = "A network on which a hop takes a microsecond and nothing else takes any time"
[topology]
{}
[links]
source = "made up"
rate = "1 TB/s"
hop = "1 us"
base = "0 s"
[node]
source = "made up"
cores = 1
ranks = 1
[[protocol]]
name = "eager"
source = "made up"
send_overhead = "0 s"
receive_overhead = "0 s"
"""
DRAGONFLY = 'kind = "dragonfly"\nsource = "x"\ngroups = 5\nrouters = 4\nnodes = 3\n'
KINDS = {
    "torus": 'kind = "torus"\nsource = "x"\nshape = [5, 4, 3]',
    "mesh": 'kind = "mesh"\nsource = "x"\nshape = [5, 4, 3]',
    "fat-tree": 'kind = "fat-tree"\nsource = "x"\narity = [4, 3, 5]',
    "dragonfly": f"{DRAGONFLY}links = 1",
    "dragonfly with a cable at every router": f"{DRAGONFLY}links = 5",
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_message_makes_as_many_hops_as_python_counts(kind: str, tmp_path: Path) -> None:
    """From the first node to several others, one of them among the farthest: the diameter."""
    path = tmp_path / "made.toml"
    path.write_text(MACHINE.format(KINDS[kind]))
    made = machine.load(path)
    topology = made.partition(60)
    axes = kind_of(topology).axes(topology)
    assert np.prod(axes) == 60
    nodes = np.arange(60)
    hops = kind_of(topology).hops(topology, np.zeros(60, dtype=np.int64), nodes)
    assert hops.max() == kind_of(topology).diameter(topology)
    asked = [1, 2, 3, 7, 13, 30, int(hops.argmax()), 59]
    points = []
    for node in dict.fromkeys(asked):
        seats = tmp_path / f"{node}.txt"
        seats.write_text("".join(f"{' '.join(map(str, np.unravel_index(n, axes)))} 0\n" for n in (0, node)))
        point = {
            "benchmark": "pingpong",
            "ranks": 2,
            "partition": 60,
            "mapping": str(seats),
            "bytes": 1,
            "buffers": "reused",
        }
        points.append(point)
    table = session.simulate(Plan.of(*points), SimulatedMachine.of(made))
    latency = table.filter((pl.col("metric") == "latency") & (pl.col("status") == OK))
    found = {Path(row["mapping"]).stem: row["samples"][-1] for row in latency.iter_rows(named=True)}
    assert {int(node): round(each / 1e-6) for node, each in found.items()} == {
        node: int(hops[node]) for node in asked
    }
