"""What the nodes are that ranks run on is asked of the first of them, where this is none of them.

hwloc takes a made-up machine from HWLOC_SYNTHETIC, so that an agent can start programs on "another" node.
"""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from leadline.core.errors import LeadlineError
from leadline.mpi.launchers import srun
from leadline.native.build import build_describe
from leadline.plan.model import Plan
from leadline.targets.local import node
from leadline.targets.local.executor import RealExecutor
from leadline.targets.local.machine import LocalMachine
from mpi import fabricated

MPICH = fabricated.an_mpi("mpich", "4.0.2")
OTHER = "pack:2 l3:2 core:4 pu:1"  # 16 cores in 4 groups
PLAN = """
hosts = ["far1", "far2"]
agent = "{agent}"
mpi = "{mpi}"
[[measure]]
benchmark = "bcast"
placement = "core-group"
ranks = 5
bytes = 0
[[measure]]
benchmark = "barrier"
ranks = "cores"
"""


@pytest.fixture
def script(tmp_path: Path) -> Callable[[str, str], Path]:
    """Makes a shell script of some name, in a directory of its own."""
    build_describe()

    def make(name: str, text: str) -> Path:
        path = tmp_path / "bin" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)
        return path

    return make


@pytest.fixture
def agent(script: Callable[[str, str], Path]) -> str:
    """Starts a command where hwloc sees another machine."""
    return str(script("agent", f'shift\nHWLOC_SYNTHETIC="{OTHER}" exec sh -c "$*"'))


def test_the_first_host_says_what_it_is(agent: str) -> None:
    """Cores, packages and groups are its own; so are its facts, of which this kernel tells the same."""
    there = node.other(["far1", "far2"], agent)
    assert there is not None
    assert (len(there.topology.cores), there.topology.packages, there.topology.largest_group) == (16, 2, 4)
    assert there.cores == len(os.sched_getaffinity(0))
    assert (there.facts["cores"], there.facts["packages"], there.facts["core_groups"]) == (
        16,
        2,
        "4 of 4 cores",
    )
    assert set(there.before) == {"others", "steal", "load"}


def test_this_node_is_not_asked() -> None:
    """Neither where no host is named nor by its own names; nothing could start the agent."""
    for hosts in ([], ["localhost"], ["127.0.0.1", "far"], [os.uname().nodename]):
        assert node.other(hosts, "/no/such/agent") is None


def test_a_host_that_does_not_answer_is_named_with_its_reason(script: Callable[[str, str], Path]) -> None:
    """The agent's last line, and the command."""
    with pytest.raises(LeadlineError, match="no route to far1"):
        node.other(["far1"], str(script("deaf", "echo no route to $1 >&2; exit 255")))
    with pytest.raises(LeadlineError, match=r"mute far1 .*exit status 0"):
        node.other(["far1"], str(script("mute", "exit 0")))


def test_what_a_plan_means_by_cores_is_the_hosts(tmp_path: Path, agent: str) -> None:
    """Five ranks do not fit into a group of four of theirs; this machine's groups do not count."""
    path = tmp_path / "plan.toml"
    path.write_text(PLAN.format(agent=agent, mpi=MPICH.id))
    target = LocalMachine([MPICH], count=77)
    points = Plan.load(path).points(target)
    assert {each.ranks for each in points if each.benchmark == "barrier"} == {len(os.sched_getaffinity(0))}
    executor = RealExecutor({}, tmp_path, lambda _: None)
    too_many = next(point for point in points if point.benchmark == "bcast")
    assert executor.refuse(too_many) == (
        "skipped",
        "5 ranks need a core each, and the largest core group has 4",
    )
    facts = target.facts(points)
    assert facts["machine"]["cores"] == 16  # type: ignore[index]


def test_an_allocation_asks_its_first_node(
    script: Callable[[str, str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """By a step, where this process is on no node of it, as under salloc; on a node nobody is asked."""
    options = 'while [ "${1#-}" != "$1" ]; do shift; done'
    step = script("srun", f'{options}\nHWLOC_SYNTHETIC="{OTHER}" exec "$@"')
    monkeypatch.setenv("PATH", f"{step.parent}:{os.environ['PATH']}")
    monkeypatch.setenv("SLURM_JOB_ID", "7")
    monkeypatch.delenv("SLURMD_NODENAME", raising=False)
    there = node.other()
    assert there is not None
    assert len(there.topology.cores) == 16
    assert "--nodelist=n2" in srun.LAUNCHER.elsewhere(os.environ, "n2")
    monkeypatch.setenv("SLURMD_NODENAME", "n1")
    assert node.other() is None
    assert node.other(["n1"]) is None
    assert "--nodelist=n2" in srun.LAUNCHER.elsewhere(os.environ, "n2")


def test_machines_alone_ask_no_host(tmp_path: Path) -> None:
    """`leadline build` on a login node needs the MPIs of a plan, not its hosts, which may be out of reach."""
    path = tmp_path / "plan.toml"
    path.write_text(PLAN.format(agent="/no/such/agent", mpi=MPICH.id))
    target = LocalMachine([MPICH], count=77)
    with pytest.raises(LeadlineError, match="/no/such/agent"):
        Plan.load(path).points(target)
    points = Plan.load(path).points(target.alone())
    assert {each.ranks for each in points if each.benchmark == "barrier"} == {77}
