"""Simulated runs end to end, with a stand-in for the simulator whose every answer is arithmetic."""

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from click.testing import CliRunner

import simulator
from leadline.cli import main
from leadline.core.errors import LeadlineError, UsageError
from leadline.core.record import FAILED, OK, SIMULATED, SKIPPED
from leadline.machine import load as load_machine
from leadline.native.registry import Benchmark, Metric, Sweep, SweepContext
from leadline.plan.model import Plan, Point
from leadline.run import session
from leadline.run.store import load, provenance
from leadline.targets.local.machine import LocalMachine
from leadline.targets.simulated import machine as simulated
from leadline.targets.simulated.executor import SimExecutor
from leadline.targets.simulated.limits import check_memory
from leadline.targets.simulated.machine import SimulatedMachine

MACHINE = """
title = "A small torus"
[topology]
kind = "torus"
source = "made up"
shape = [2, 2, 4]
[links]
source = "made up"
rate = "1 GB/s"
hop = "50 ns"
base = "500 ns"
[node]
source = "made up"
cores = 4
ranks = 4
[[protocol]]
name = "eager"
source = "made up"
send_overhead = "1 us"
receive_overhead = "1 us"
"""
PAIR = SweepContext()
PINGPONG = '[[measure]]\nbenchmark = "pingpong"\n'


def registry(sweep_context: SweepContext = PAIR) -> dict[str, Benchmark]:
    """A benchmark of two ranks, and one of as many as there are whose default is how many."""
    size = Sweep("bytes", "B", "bytes", (8,), "message size")
    metric = Metric("latency", "s", "lower", "half of one round trip")
    ranks = Sweep("among", "1", "count", (sweep_context.ranks,), "ranks")
    hops = Sweep("hops", "1", "count", (sweep_context.hops,), "hops")
    return {
        "pingpong": Benchmark("pingpong", "How long?", 2, 2, (size,), (metric,)),
        "crowd": Benchmark("crowd", "How many?", 4, None, (size, ranks, hops), (metric,)),
    }


@pytest.fixture
def site(tmp_path: Path) -> SimulatedMachine:
    """A torus of 16 nodes of 4 ranks."""
    path = tmp_path / "small.toml"
    path.write_text(MACHINE)
    return SimulatedMachine.of(load_machine(path), tmp_path / "plan.toml")


@pytest.fixture(autouse=True)
def _stand_in(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The stand-in for the simulator, and its benchmarks."""
    program = tmp_path / "leadline-sim"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{simulator.__file__}" "$@"\n')
    program.chmod(0o755)
    monkeypatch.setattr(simulated, "build_sim", lambda: program)


def run(tmp_path: Path, site: SimulatedMachine, text: str, **named: Any) -> pl.DataFrame:
    """The records of a plan with that text."""
    plan = tmp_path / "plan.toml"
    plan.write_text(text)
    return session.run(Plan.load(plan, registry), site, tmp_path / "run", **named)


def points(tmp_path: Path, site: SimulatedMachine, text: str) -> list[Point]:
    """The points of a plan with that text."""
    plan = tmp_path / "plan.toml"
    plan.write_text(text)
    return Plan.load(plan, registry).points(site)


def test_a_simulated_record_says_what_answered(tmp_path: Path, site: SimulatedMachine) -> None:
    """Its source, machine, network asked and used, mapping and partition; one sample, launch 0."""
    run(tmp_path, site, PINGPONG + 'bytes = ["8 B", "1 KiB"]\n')
    records = load(tmp_path / "run").sort("bytes")
    assert records["samples"].to_list() == [[1.008e-6], [2.024e-6]]
    row = records.row(0, named=True)
    assert (row["source"], row["status"], row["mpi"], row["stack"]) == (SIMULATED, OK, "small", "auto")
    assert (row["transport"], row["mapping"]) == ("loggp", "XYZT")
    assert (row["ranks"], row["partition"], row["launch"]) == (2, 64, 0)
    assert row["oversubscribed"] is False
    assert row["binding"] is None


def test_a_plan_for_real_machines_runs_unchanged(tmp_path: Path, site: SimulatedMachine) -> None:
    """Two MPIs, three stacks and 60 launches are one machine, network and launch; time is no limit."""
    found = points(
        tmp_path,
        site,
        'mpi = ["found", "openmpi"]\nstack = ["tcp", "ucx", "default"]\ntime = "1 ms"\noversubscribe = true\n'
        + PINGPONG
        + PINGPONG.replace("]]\n", ']]\nmpi = "mpich"\n'),
    )
    assert [(p.mpi, p.stack, p.launches.at_most, p.oversubscribe) for p in found] == [
        ("small", "auto", 1, False)
    ]


def test_cores_are_the_partition(tmp_path: Path, site: SimulatedMachine) -> None:
    """By default the whole machine: 16 nodes of 4; 2 ranks stay 2. The way across is 1 + 1 + 2 hops."""
    text = 'ranks = "cores"\n[[measure]]\nbenchmark = "crowd"\n' + PINGPONG
    crowd, pair = points(tmp_path, site, text)
    assert (crowd.ranks, crowd.partition) == (64, 64)
    assert (crowd.values["among"], crowd.values["hops"]) == (64, 4)
    assert (pair.ranks, pair.partition) == (2, 64)


def test_a_plan_may_name_mappings_and_partitions(tmp_path: Path, site: SimulatedMachine) -> None:
    """Lists multiply, and each is a launch of its own; a mapping may be a file beside the plan."""
    (tmp_path / "seats.txt").write_text("0 0 0 0\n0 0 0 1\n")
    text = 'partition = [4, 32]\nmapping = ["XYZT", "blocked", "random:7", "seats.txt"]\n' + PINGPONG
    found = points(tmp_path, site, text)
    assert len(found) == len({p.launch_key for p in found}) == 8
    assert {p.partition for p in found} == {4, 32}
    executor = SimExecutor(site, tmp_path, [])
    jobs = [executor._job(p) for p in found]
    assert {job["mapping"] for job in jobs} == {
        "XYZT",
        "blocked",
        "random:7",
        f"file:{tmp_path / 'seats.txt'}",
    }
    assert {job["partition"]: job["topology"]["shape"] for job in jobs} == {4: [1, 1, 1], 32: [2, 2, 2]}


def test_a_plan_may_name_the_network_of_an_experiment(tmp_path: Path, site: SimulatedMachine) -> None:
    """Where none is asked for; one that is asked for is that of all points."""
    text = PINGPONG + PINGPONG.replace("]]\n", ']]\nnetwork = "flow"\n')
    assert [point.stack for point in points(tmp_path, site, text)] == ["auto", "flow"]
    assert [point.stack for point in points(tmp_path, replace(site, network="packet"), text)] == ["packet"]


@pytest.mark.parametrize(
    ("seats", "says"),
    [
        ("0 0 0 0\n2 0 0 0\n", "line 2: X is of 0 to 1 on a partition of 64 ranks of small, but got 2"),
        ("0 0 0 0\n0 0 0 4\n", "line 2: T is of 0 to 3 on"),
        ("0 0 0\n1 0 0\n", "line 1: a place on .* is 4 whole numbers"),
        ("0 0 0 0\n0 0 x 0\n", "line 2: a place on .* is 4 whole numbers .*, but got '0 0 x 0'"),
        ("0 0 0 0\n" * 65, "has 65 lines, .* but got a partition of 64 ranks of small"),
        ("0 0 0 0\n1 0 0 0\n0 0 0 0\n", "line 3: line 1 has this place already"),
    ],
)
def test_a_mapping_for_another_machine_is_refused(
    tmp_path: Path, site: SimulatedMachine, seats: str, says: str
) -> None:
    """When the plan is read, before anything is simulated; with file, line and the plan's line."""
    (tmp_path / "seats.txt").write_text(seats)
    with pytest.raises(UsageError, match=says) as told:
        points(tmp_path, site, 'mapping = "seats.txt"\n' + PINGPONG)
    assert "plan.toml:2: mapping: " in str(told.value)


def test_a_mapping_has_a_seat_for_every_rank(tmp_path: Path, site: SimulatedMachine) -> None:
    """A file of fewer lines than ranks is for another size."""
    (tmp_path / "seats.txt").write_text("0 0 0 0\n0 0 0 1\n")
    text = 'ranks = "cores"\nmapping = "seats.txt"\n[[measure]]\nbenchmark = "crowd"\n'
    with pytest.raises(UsageError, match=r"has 2 lines, .* but the job has 64 ranks"):
        points(tmp_path, site, text)


@pytest.mark.parametrize(
    ("key", "says"),
    [
        ('mapping = "XYQT"', "has each of X, Y, Z, T once .* but got 'XYQT'"),
        ('mapping = "XYZ"', "has each of X, Y, Z, T once .* but got 'XYZ'"),
        ('mapping = "tiled:2x3x2"', "which divides the .* nodes of 64 ranks of small, but got 'tiled:2x3x2'"),
        ('mapping = "tiled:2x2"', "a tile has a length for each axis"),
        ('mapping = "seats.txt"', "there is no file 'seats.txt'"),
        ("partition = 65", "small has 1 to 64 ranks .* but got 65"),
        ("partition = 0", "a partition has at least one rank"),
    ],
)
def test_what_the_machine_has_not_is_refused_with_its_line(
    tmp_path: Path, site: SimulatedMachine, key: str, says: str
) -> None:
    """Before anything is simulated, and the run is not begun."""
    with pytest.raises(LeadlineError, match=says) as caught:
        run(tmp_path, site, PINGPONG + key)
    assert str(caught.value).startswith(f"{tmp_path / 'plan.toml'}:3: ") or "partition" in key
    assert not (tmp_path / "run").exists()


def test_a_real_machine_has_no_mapping(tmp_path: Path) -> None:
    """Nor a partition: the sentence says how to get to a described one."""
    plan = tmp_path / "plan.toml"
    for line in ('mapping = "XYZT"', "partition = 8"):
        plan.write_text(PINGPONG + line)
        with pytest.raises(LeadlineError, match=r":3: (mapping|partition): only a described machine"):
            Plan.load(plan, registry).points(LocalMachine())


def test_a_deadlock_costs_its_point_only(tmp_path: Path, site: SimulatedMachine) -> None:
    """The simulator's own sentence is the reason; the point is not tried again, and the others are there."""
    records = run(tmp_path, site, PINGPONG + "bytes = [1, 2, 13, 4, 8, 16]\n")
    lost = records.filter(pl.col("status") == FAILED)
    assert lost["bytes"].to_list() == [13]
    assert lost["reason"].to_list() == ["deadlock: rank 0 waits for a message from rank 1"]
    assert sorted(records.filter(pl.col("status") == OK)["bytes"]) == [1, 2, 4, 8, 16]


def test_a_simulator_that_cannot_start_fails_each_point(tmp_path: Path, site: SimulatedMachine) -> None:
    """Once each, with what it said."""
    (tmp_path / "leadline-sim").write_text("#!/bin/sh\necho leadline-bench: rank 0: no torus\nexit 1\n")
    records = run(tmp_path, site, PINGPONG + "bytes = [1, 2, 4]\n")
    assert records["status"].to_list() == [FAILED] * 3
    assert set(records["reason"]) == {"no torus"}


def test_a_simulator_that_cannot_be_built_begins_nothing(
    tmp_path: Path, site: SimulatedMachine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is one sentence and no run, rather than a run of failures."""

    def fail() -> Path:
        raise LeadlineError("building leadline-sim failed")

    monkeypatch.setattr(simulated, "build_sim", fail)
    with pytest.raises(LeadlineError, match="building leadline-sim failed"):
        run(tmp_path, site, PINGPONG)
    assert not (tmp_path / "run").exists()


def test_what_the_simulator_skips_is_a_record(tmp_path: Path, site: SimulatedMachine) -> None:
    """With the reason that it gave."""
    records = run(tmp_path, site, PINGPONG + "bytes = 17\n")
    assert records.select("status", "reason").row(0) == (SKIPPED, "no rank is at this distance")


def test_placements_that_a_machine_has_not_are_skipped(tmp_path: Path, site: SimulatedMachine) -> None:
    """Two ranks sit on cores of a node or on two nodes; one socket is not two, and 64 ranks have cores."""
    text = 'placement = ["core-group", "sockets", "nodes"]\n' + PINGPONG
    text += '[[measure]]\nbenchmark = "crowd"\nranks = "cores"\n'
    records = run(tmp_path, site, text)
    told = {(r["benchmark"], r["placement"]): r["reason"] for r in records.to_dicts()}
    assert told["pingpong", "core-group"] is None
    assert told["pingpong", "nodes"] is None
    assert told["pingpong", "sockets"] == "a node of small has one socket"
    assert told["crowd", "nodes"] is None
    assert "is for two ranks, not 64" in told["crowd", "core-group"]


def test_a_rank_a_node_is_as_many_ranks_as_nodes(tmp_path: Path, site: SimulatedMachine) -> None:
    """16 nodes of 4 ranks."""
    text = 'placement = "nodes"\n[[measure]]\nbenchmark = "crowd"\nranks = "nodes"\n'
    assert run(tmp_path, site, text).select("ranks", "status").row(0) == (16, OK)


def test_more_ranks_than_the_partition_has_are_skipped(tmp_path: Path, site: SimulatedMachine) -> None:
    """A benchmark of four ranks at least does not end a plan for a partition of two."""
    text = 'partition = 2\n[[measure]]\nbenchmark = "crowd"\n' + PINGPONG
    records = run(tmp_path, site, text).sort("benchmark")
    assert records["status"].to_list() == [SKIPPED, OK]
    assert records["reason"][0] == "4 ranks need a larger partition than 2"


def test_more_memory_than_there_is_is_refused(tmp_path: Path, site: SimulatedMachine) -> None:
    """With the estimate: a milliard ranks of 2200 B and a quarter as many nodes of 600 B are 2350 GB."""
    found = points(tmp_path, site, '[[measure]]\nbenchmark = "crowd"\nranks = "cores"\n')
    many = replace(found[0], ranks=10**9, partition=10**9)
    check_memory([*found, many], site.machine, available=2350 * 10**9)
    with pytest.raises(LeadlineError, match=r"2350.0 GB.* 2349.0 GB"):
        check_memory([*found, many], site.machine, available=2349 * 10**9)


def test_a_simulated_run_can_be_gone_on_with(tmp_path: Path, site: SimulatedMachine) -> None:
    """What is there is not simulated again; what failed is tried anew, and the machine is as it was."""
    run(tmp_path, site, PINGPONG + "bytes = [1, 13]\n")
    again = session.target_of(provenance(tmp_path / "run"))
    assert isinstance(again, SimulatedMachine)
    assert (again.partition, again.mapping, again.network) == (64, "XYZT", "auto")
    records = session.resume(tmp_path / "run", session.plan_of(tmp_path / "run", registry))
    assert sorted(zip(records["bytes"], records["status"], strict=True)) == [
        (1, OK),
        (13, FAILED),
        (13, FAILED),
    ]


def test_a_machine_that_changed_cannot_be_gone_on_with(tmp_path: Path, site: SimulatedMachine) -> None:
    """Else one run would hold answers of two machines."""
    run(tmp_path, site, PINGPONG)
    (tmp_path / "small.toml").write_text(MACHINE.replace("1 GB/s", "2 GB/s"))
    with pytest.raises(LeadlineError, match="has changed since the run was begun"):
        session.target_of(provenance(tmp_path / "run"))


def test_the_provenance_holds_the_whole_machine(tmp_path: Path, site: SimulatedMachine) -> None:
    """As read, with where each number is from, and what was asked of it; this host's noise is no matter."""
    run(tmp_path, site, PINGPONG)
    facts = provenance(tmp_path / "run")
    assert facts["described"]["links"]["rate"] == 1e9
    assert facts["numbers"]["links.rate"] == "1 GB/s (made up)"
    assert facts["simulated"]["file"] == str(tmp_path / "small.toml")
    assert facts["simulated"]["mapping"] == "XYZT"
    assert [kind["topology"]["shape"] for kind in facts["kinds"]] == [[2, 2, 4]]
    assert "before" not in facts
    assert json.dumps(facts)


def test_leaving_early_ends_the_processes(tmp_path: Path, site: SimulatedMachine) -> None:
    """Whoever stops listening, as an interruption does, waits for no answer."""
    script = """echo '{"event":"launch","ranks":2}' >> $1; sleep 300"""
    executor = SimExecutor(site, tmp_path, ["/bin/sh", "-c", script])
    heard = executor.launch(points(tmp_path, site, PINGPONG), lambda: None)
    assert next(heard)["event"] == "launch"
    heard.close()
    assert [path for path in tmp_path.glob("leadline-*") if path.is_dir()] == []


def test_a_point_that_takes_too_long_is_skipped(tmp_path: Path, site: SimulatedMachine) -> None:
    """With the way to have it, and those after it are simulated."""
    late = """echo '{"event":"launch","ranks":2}' >> $1; echo '{"event":"begin","id":0}' >> $1; sleep 300"""
    site = replace(site, point_limit=0.5)
    executor = SimExecutor(site, tmp_path, ["/bin/sh", "-c", late])
    executor._processes = lambda points: 1  # type: ignore[method-assign]
    heard = [each for each in executor.launch(points(tmp_path, site, PINGPONG)[:1], lambda: None)]
    told = {each["event"]: each for each in heard}
    assert told["skip"]["id"] == 0
    assert told["skip"]["reason"].startswith("not simulated within 0.5 s")
    assert "--point-limit" in told["skip"]["reason"]
    assert told["end"]["id"] == 0
    assert "fail" not in told


def test_a_point_that_hangs_where_nobody_chose_a_limit_fails(
    tmp_path: Path, site: SimulatedMachine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A claim or a prediction must not lack its value and end well."""
    monkeypatch.setattr("leadline.targets.simulated.executor.LIMIT", 0.5)
    late = """echo '{"event":"launch","ranks":2}' >> $1; echo '{"event":"begin","id":0}' >> $1; sleep 300"""
    executor = SimExecutor(replace(site, point_limit=0.5), tmp_path, ["/bin/sh", "-c", late])
    heard = list(executor.launch(points(tmp_path, site, PINGPONG)[:1], lambda: None))
    assert {"fail"} == {each["event"] for each in heard} & {"fail", "skip"}


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["quick", "--point-limit", "1 h"], "--point-limit needs a simulated machine"),
        (["quick", "--on", "bgp", "--point-limit", "0"], "--point-limit: "),
        (["quick", "--ranks", "4"], "--ranks needs a simulated machine"),
        (["latency", "--mpi", "openmpi"], "mpi is a key of plans"),
        (["quick", "--noise"], "--noise needs a simulated machine"),
        (["quick", "--on", "bgpp"], "no machine 'bgpp' here and none shipped; did you mean 'bgp'?"),
        (["quick", "--on", "bgp", "--ranks", "2000000"], "bgp has 1 to 1,048,576 ranks"),
        (["bgp", "--on", "bgp", "--ranks", "7"], "--ranks would change nothing: each measurement"),
        (["quick", "--on", "bgp", "--network", "exact"], "--network cannot be 'exact'"),
        (["quick", "--on", "bgp", "--mapping", "random:x"], "random takes a whole number, as random:1"),
        (["--resume", "x", "--on", "bgp"], "--resume takes plan, machine, hosts and settings from the run"),
    ],
)
def test_what_cannot_be_simulated_is_one_sentence(words: list[str], says: str) -> None:
    """Before anything is built or begun."""
    done = CliRunner().invoke(main, ["run", *words])
    assert done.exit_code == 2 or isinstance(done.exception, UsageError)
    assert says in f"{done.output} {done.exception}"


def test_the_command_simulates_and_goes_on(tmp_path: Path) -> None:
    """`run --on` says how many points it simulated; `--resume` needs no other word."""
    (tmp_path / "small.toml").write_text(MACHINE)
    (tmp_path / "plan.toml").write_text(PINGPONG + 'bytes = [8, 13]\nbuffers = "reused"\n')
    words = ["run", str(tmp_path / "plan.toml"), "--on", str(tmp_path / "small.toml"), "--ranks", "8"]
    done = CliRunner().invoke(main, [*words, "-o", str(tmp_path / "run")])
    assert done.exit_code == 1
    assert f"{tmp_path / 'run'}: 1 point simulated, 0 skipped, 1 failed" in done.stdout
    again = CliRunner().invoke(main, ["run", "--resume", str(tmp_path / "run")])
    assert again.stdout == done.stdout
    assert "nothing was left to measure" not in again.stderr  # the failed point was tried again
    (tmp_path / "plan.toml").write_text(PINGPONG + 'bytes = 8\nbuffers = "reused"\n')
    whole = CliRunner().invoke(main, [*words, "-o", str(tmp_path / "whole")])
    again = CliRunner().invoke(main, ["run", "--resume", str(tmp_path / "whole")])
    assert (whole.exit_code, again.exit_code) == (0, 0)
    assert "nothing was left to measure" in again.stderr
    assert load(tmp_path / "run")["partition"].unique().to_list() == [8]
