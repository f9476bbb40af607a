"""Runs under a real Slurm of two nodes on this machine (tools/slurm.sh): limits, drains, restarts, cancels.

What a test plants is what happens on clusters; no finished point may be lost, none counted twice, and no
process may be left.
"""

import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars as pl
import psutil
import pytest

from h5programs import compile_program
from leadline.batch import jobs
from leadline.mpi.discover import find
from leadline.mpi.library import Mpi
from leadline.native.build import build, build_describe, build_h5tuner
from leadline.run.store import load, provenance

pytestmark = [pytest.mark.mpi, pytest.mark.full]

ROOT = Path(__file__).parents[2]
TOOL = ROOT / "tools" / "slurm.sh"
LEADLINE = [sys.executable, "-c", "from leadline.cli import main; main()"]
LIMIT = 240.0  # s, for whatever a test starts
PLAN = """
mpi = "{mpi}"
time = "{seconds} s"
tolerance = "0.01 %"
launches = {{ at_least = 6, at_most = 100000 }}
[[measure]]
benchmark = "pingpong"
ranks = 2
bytes = ["8 B", "64 B"]
{more}
"""


class Cluster:
    """A Slurm, and Leadline on its login node."""

    def __init__(self, place: Path, mpi: str, **settings: str) -> None:
        """Started with settings of tools/slurm.sh."""
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = min(free.getsockname()[1], 65000)
        self.mpi = mpi
        self.place = place
        self.env = {
            **os.environ,
            "SLURM_HERE": str(place / "slurm"),
            "SLURM_PORT": str(port),
            "SETUP_APT": "no",
            "SLURM_CONF": str(place / "slurm" / "slurm.conf"),
            "OMPI_ALLOW_RUN_AS_ROOT": "1",
            "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
            **settings,
        }
        self.call(str(TOOL), "start")

    def call(self, *words: str, fails: bool = False) -> str:
        """Both streams of a command; it must succeed, or with `fails` may end as it likes."""
        done = subprocess.run(
            words, env=self.env, cwd=self.place, capture_output=True, text=True, timeout=LIMIT, check=False
        )
        assert fails or done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"
        return done.stdout + done.stderr

    def start(self, *words: str) -> "subprocess.Popen[str]":
        """A command of Leadline that goes on beside the test."""
        return subprocess.Popen(
            [*LEADLINE, *words],
            env=self.env,
            cwd=self.place,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def plan(self, seconds: int, more: str = "", mpi: str = "") -> str:
        """A plan of two points that takes so long, with MPICH unless said."""
        path = self.place / "plan.toml"
        path.write_text(PLAN.format(mpi=mpi or self.mpi, seconds=seconds, more=more))
        return str(path)

    def jobs(self) -> list[dict[str, Any]]:
        """What `leadline jobs` lists."""
        found: list[dict[str, Any]] = json.loads(self.call(*LEADLINE, "jobs", "--json"))
        return found

    def left(self) -> list[str]:
        """Processes that ranks or steps of this Slurm left."""
        found = []
        for each in psutil.process_iter():
            try:
                if (
                    each.environ().get("SLURM_CONF") == self.env["SLURM_CONF"]
                    and "SLURM_JOB_ID" in each.environ()
                ):
                    found.append(" ".join(each.cmdline()) or each.name())
            except psutil.Error:
                continue
        return found


def cluster(tmp_path_factory: pytest.TempPathFactory, **settings: str) -> Iterator[Cluster]:
    """A Slurm that is removed afterwards; skips, with the reason, where none can be started."""
    if os.geteuid() != 0 or not all(map(shutil.which, ["slurmctld", "slurmd", "munged"])):
        pytest.skip("a Slurm needs root, and the packages slurmctld, slurmd and munge")
    mpi = next((each for each in find() if each.family == "mpich" and each.compiler), None)
    if mpi is None:
        pytest.skip("there is no MPICH")
    build_describe()
    build_h5tuner()
    build(mpi)
    here = Cluster(tmp_path_factory.mktemp("cluster"), mpi.id, **settings)
    try:
        yield here
    finally:
        here.call(str(TOOL), "stop")
        for each in jobs():
            if each.directory == str(here.place):
                shutil.rmtree(each.home)
    assert not Path(here.env["SLURM_HERE"]).exists()


@pytest.fixture(scope="module")
def slurm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """As most sites have it: task/affinity."""
    yield from cluster(tmp_path_factory)


@pytest.fixture(scope="module")
def unbinding(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A site whose Slurm binds nothing."""
    yield from cluster(tmp_path_factory, SLURM_TASK="task/none")


def until(holds: Callable[[], bool], limit: float = LIMIT) -> None:
    """Wait until something holds."""
    end = time.monotonic() + limit
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.2)


def measured(run: Path) -> pl.DataFrame:
    """The measured records, none of which may be there twice."""
    records = load(run).filter(pl.col("status") == "ok")
    keys = ["launch", "benchmark", "metric", "bytes", "buffers"]
    assert not records.select(keys).is_duplicated().any()
    return records


def launches(run: Path) -> int:
    """Launches that a run has so far; 0 before it begins."""
    try:
        return load(run)["launch"].n_unique()
    except Exception:
        return 0


ALLOCATION = ("salloc", "-Q", "-N2", "--exclusive")


@pytest.mark.parametrize("mpi", [mpi for mpi in find() if mpi.compiler], ids=lambda mpi: mpi.id)
def test_default_stays_on_one_node(slurm: Cluster, mpi: Mpi) -> None:
    """Salloc does not set SLURM_CPUS_ON_NODE: two ranks were put on two nodes, and 4 ms called a latency.

    PMIx for Open MPI, PMI-2 for MPICH and Intel MPI: with another, each rank would be a world of its own.
    """
    build(mpi)
    run = slurm.place / f"default-{mpi.id}"
    slurm.call(*ALLOCATION, *LEADLINE, "run", slurm.plan(2, mpi=mpi.id), "-o", str(run))
    assert set(measured(run)["binding"]) <= {"node1:0 node1:1", "node2:0 node2:1"}
    assert provenance(run)["machine"]["host"] in {"node1", "node2"}  # not where salloc ran
    assert measured(run)["samples"].explode().median() < 1e-3  # type: ignore[operator]


def test_two_nodes_of_one_machine_give_no_number(slurm: Cluster) -> None:
    """What is called the network would be shared memory."""
    run = slurm.place / "nodes"
    said = slurm.call(
        *ALLOCATION, *LEADLINE, "run", slurm.plan(2, 'placement = "nodes"'), "-o", str(run), fails=True
    )
    assert "went over shared memory" in said or "are one machine" in said
    assert measured(run).is_empty()


@pytest.mark.parametrize(("flavour", "pmi"), [("openmpi", "pmix"), ("mpich", "pmi2")])
def test_settings_reach_the_ranks_of_a_step(slurm: Cluster, flavour: str, pmi: str) -> None:
    """The same data with settings on two nodes; nothing is set where one rank lacks the library."""
    (slurm.place / flavour).mkdir()
    program = compile_program(slurm.place / flavour, "parallel.c", flavour)
    (slurm.place / "settings.toml").write_text("[hdf5]\nalignment = [0, 65536]\n")
    bare = 'test "$SLURM_PROCID" = 0 || unset LD_PRELOAD; exec "$0" "$@"'
    said, files = list[str](), list[Path]()
    for settings, words in (("none", ()), ("settings.toml", ()), ("settings.toml", ("sh", "-c", bare))):
        files.append(slurm.place / f"{flavour}{len(files)}.h5")
        step = ["srun", f"--mpi={pmi}", "-N2", "-n2", *words, str(program), str(files[-1])]
        said.append(slurm.call(*LEADLINE, "io", "run", "--settings", settings, "--", *step))
    assert said[:2] == ["done\n"] * 2
    assert "1 of 2 ranks" in said[2]
    sizes = [each.stat().st_size for each in files]
    assert sizes[1] > sizes[0] == sizes[2]
    for other in files[1:]:
        subprocess.run(["h5diff", files[0], other], check=True)


def test_one_processor_a_node_is_told_with_its_remedy(slurm: Cluster) -> None:
    """The allocation gives a processor on each of two nodes, so that neighbours are not on one."""
    run = slurm.place / "narrow"
    said = slurm.call(
        *("salloc", "-Q", "-N2", "-n2", "--ntasks-per-node=1"),
        *(*LEADLINE, "run", slurm.plan(2), "-o", str(run)),
        fails=True,
    )
    assert "allocate whole nodes (--exclusive)" in said
    assert measured(run).is_empty()


def test_a_limit_is_resumed_in_a_new_job(slurm: Cluster) -> None:
    """The plan takes longer than the job may: two jobs, one run, exit code 0, no failed point."""
    run = slurm.place / "limited"
    said = slurm.call(
        *LEADLINE, "run", slurm.plan(85), "-o", str(run), "--submit", "slurm", "--walltime", "1 min"
    )
    assert "0 failed" in said
    assert slurm.jobs()[-1]["attempts"] >= 2
    assert set(load(run)["status"]) == {"ok"}
    assert measured(run)["launch"].n_unique() == load(run)["launch"].max() + 1  # type: ignore[operator]
    assert slurm.left() == []


def test_a_node_drained_amid_a_run_costs_nothing(slurm: Cluster) -> None:
    """The allocation lasts; only new jobs are kept from the node."""
    run = slurm.place / "drained"
    going = slurm.start("run", slurm.plan(8), "-o", str(run), "--submit", "slurm")
    until(lambda: launches(run) > 3)
    slurm.call("scontrol", "update", "nodename=node1,node2", "state=drain", "reason=test")
    try:
        said, _ = going.communicate(timeout=LIMIT)
    finally:
        slurm.call("scontrol", "update", "nodename=node1,node2", "state=resume")
    assert going.returncode == 0, said
    assert set(load(run)["status"]) == {"ok"}
    assert measured(run).height > 6


def test_a_restart_of_the_controller_costs_nothing(slurm: Cluster) -> None:
    """No step can be started meanwhile; the launch is tried again."""
    run = slurm.place / "restarted"
    going = slurm.start("run", slurm.plan(12), "-o", str(run), "--submit", "slurm")
    until(lambda: launches(run) > 3)
    before = measured(run).height
    slurm.call(str(TOOL), "restart-controller")
    said, _ = going.communicate(timeout=LIMIT)
    assert going.returncode == 0, said
    assert measured(run).height > before
    assert set(load(run)["status"]) == {"ok"}


@pytest.mark.parametrize("by", ["scancel", "leadline jobs cancel"])
def test_a_cancelled_job_is_kept_and_not_resumed(slurm: Cluster, by: str) -> None:
    """What was measured is there, no process is left, and --resume finishes the run."""
    run = slurm.place / f"cancelled-{by.split(maxsplit=1)[0]}"
    going = slurm.start("run", slurm.plan(30), "-o", str(run), "--submit", "slurm")
    until(lambda: launches(run) > 3)
    job = slurm.jobs()[-1]
    before = measured(run)
    slurm.call(*(["scancel"] if by == "scancel" else [*LEADLINE, "jobs", "cancel"]), str(job["native"]))
    said, _ = going.communicate(timeout=LIMIT)
    assert going.returncode == 1
    assert "was cancelled; what it finished is kept" in said
    assert slurm.jobs()[-1]["attempts"] == 1
    until(lambda: slurm.left() == [])
    kept = measured(run)
    assert kept.height >= before.height
    assert set(load(run)["status"]) == {"ok"}


def test_a_full_queue_is_waited_for(slurm: Cluster) -> None:
    """The job is queued as long as others have the nodes."""
    run = slurm.place / "queued"
    filler = slurm.call("sbatch", "-N2", "--exclusive", "--wrap", "sleep 600").split()[-1]
    going = slurm.start("run", slurm.plan(2), "-o", str(run), "--submit", "slurm")
    until(lambda: bool(slurm.jobs()) and slurm.jobs()[-1]["state"] == "queued")
    assert not run.exists()
    slurm.call("scancel", filler)
    said, _ = going.communicate(timeout=LIMIT)
    assert going.returncode == 0, said
    assert measured(run).height >= 2


def test_a_site_that_binds_nothing_is_told_with_its_remedies(unbinding: Cluster) -> None:
    """And placement `unbound` measures there, marked as such."""
    run = unbinding.place / "unbound"
    said = unbinding.call(*ALLOCATION, *LEADLINE, "run", unbinding.plan(2), "-o", str(run), fails=True)
    assert "TaskPlugin=task/none" in said
    assert "placement = 'unbound'" in said
    assert measured(run).is_empty()
    marked = unbinding.place / "marked"
    plan = unbinding.plan(2, 'placement = "unbound"')
    unbinding.call(*ALLOCATION, *LEADLINE, "run", plan, "-o", str(marked))
    assert set(measured(marked)["placement"]) == {"unbound"}


SWEEP = """
time = "10 min"
[[measure]]
benchmark = "pingpong"
ranks = 2
bytes = "8 B .. 800 B step 8 B"
"""


def test_a_simulated_sweep_is_spread_over_nodes_and_a_lost_step_taken_again(slurm: Cluster) -> None:
    """The answers are those of one node, none is missing or there twice, and both nodes simulated."""
    plan = slurm.place / "sweep.toml"
    plan.write_text(SWEEP)
    alone, spread = slurm.place / "alone", slurm.place / "spread"
    slurm.call(*LEADLINE, "run", str(plan), "--on", "bgp", "-o", str(alone))
    going = slurm.start(
        "run", str(plan), "--on", "bgp", "-o", str(spread), "--submit", "slurm", "--nodes", "2"
    )
    until(lambda: "RUNNING" in slurm.call("squeue", "-h", "-s", "-o", "%i RUNNING"))
    step = next((s for s in slurm.call("squeue", "-h", "-s", "-o", "%i").split() if s[-1].isdigit()), None)
    if step:
        slurm.call("scancel", step, fails=True)  # it may have ended by itself
    said, _ = going.communicate(timeout=LIMIT)
    assert going.returncode == 0, said
    values = [
        load(run).select("bytes", "metric", "buffers", "samples", "status").sort("bytes", "metric", "buffers")
        for run in (alone, spread)
    ]
    assert values[0].equals(values[1])
    for node in ("node1", "node2"):
        log = (Path(slurm.env["SLURM_HERE"]) / f"{node}.log").read_text()
        assert "launch task StepId" in log
