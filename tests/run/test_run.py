"""Whole runs on real ranks: what a person gets, and what is left when something is killed or full."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import polars as pl
import psutil
import pytest

from leadline.core.record import FAILED, OK
from leadline.mpi.discover import find
from leadline.run.store import JOURNAL, RECORDS, load, provenance

pytestmark = pytest.mark.mpi

LEADLINE = [str(Path(sys.executable).parent / "leadline")]
PLAN = """
question = "Does a run survive?"
mpi = "{mpi}"
time = "60 s"
point_time = "{point_time}"
point_limit = "{limit}"
launches = {{ at_least = {launches}, at_most = {launches} }}

[[measure]]
{measure}
"""
PINGPONG = 'benchmark = "pingpong"\nbuffers = "reused"\nbytes = {}'
# Takes its whole time, so that there is somebody to kill: a latency is tight after a few milliseconds.
PATIENT = 'benchmark = "noise"\nranks = 2\nsteps = [20000, 50000]'


@pytest.fixture(scope="module")
def mpi() -> str:
    """An MPI that starts quickly: a launch of MPICH takes a fifth of one of Open MPI."""
    found = find()
    if not found:
        pytest.fail("no MPI on this machine; setup.sh --test installs two")
    return next((each.id for each in found if each.family == "mpich"), found[0].id)


def write_plan(directory: Path, mpi: str, **settings: object) -> Path:
    """The plan above; by default two short launches of one size."""
    filled = {
        "point_time": "2 ms",
        "limit": "20 s",
        "launches": 2,
        "measure": PINGPONG.format('"8 B"'),
    } | settings
    path = directory / "plan.toml"
    path.write_text(PLAN.format(mpi=mpi, **filled))
    return path


def leadline(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run the command to its end."""
    command = [*LEADLINE, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)


@contextmanager
def started(*arguments: str | Path) -> Iterator[subprocess.Popen[str]]:
    """The command while it runs; its process group is ended with the block."""
    command = [*LEADLINE, *map(str, arguments)]
    # Under nohup the tests ignore a closed terminal, and who is started would inherit that.
    command = ["env", "--default-signal=HUP,INT,TERM", *command]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def until(what: Callable[[], object], seconds: float = 60.0) -> object:
    """Wait until `what` gives something true, and give it."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if found := what():
            return found
        time.sleep(0.01)
    raise AssertionError("it never came")


def ranks_of(process: subprocess.Popen[str]) -> list[psutil.Process]:
    """The benchmark processes that a run has started."""
    try:
        children = psutil.Process(process.pid).children(recursive=True)
        return [each for each in children if each.name() == "leadline-bench"]
    except psutil.Error:
        return []


def lines(run: Path) -> int:
    """How many points the journal holds."""
    journal = run / JOURNAL
    return journal.read_bytes().count(b"\n") - 1 if journal.exists() else 0


def test_a_run_measures_and_says_where(tmp_path: Path, mpi: str) -> None:
    """A latency that any machine has (between 10 ns and 10 ms), from two bound ranks of the MPI asked for."""
    run = tmp_path / "run"
    done = leadline("run", write_plan(tmp_path, mpi), "-o", run)
    assert done.returncode == 0, done.stderr
    assert f"{run}: 1 point measured in 2 launches, 0 skipped, 0 failed" in done.stdout
    records = load(run)
    assert records["status"].to_list() == [OK, OK]
    row = records.row(0, named=True)
    measured = row["samples"][row["warmup"] :]
    assert all(1e-8 < value < 1e-2 for value in measured)
    cores = row["binding"].split()
    assert len(set(cores)) == 2
    assert not any(core.endswith("*") for core in cores)
    assert row["transport"]
    kind = provenance(run)["kinds"][0]
    assert kind["mpi"] == mpi
    assert kind["library"]


def test_a_killed_run_keeps_its_points_and_goes_on(tmp_path: Path, mpi: str) -> None:
    """Killed after three points: at least those three are shown, and going on adds without touching them."""
    plan = write_plan(tmp_path, mpi, launches=3, measure=PINGPONG.format('["1 B", "8 B", "64 B", "512 B"]'))
    run = tmp_path / "run"
    with started("run", plan, "-o", run) as process:
        until(lambda: lines(run) >= 3)
        process.kill()
        process.wait()
    kept = load(run)
    assert kept.height >= 3
    assert not (run / RECORDS).exists()
    assert "--resume" in leadline("show", run).stderr
    again = leadline("run", "--resume", run)
    assert again.returncode == 0, again.stderr
    whole = load(run)
    assert (
        whole.head(kept.height)
        .select("bytes", "launch", "samples")
        .equals(kept.select("bytes", "launch", "samples"))
    )
    counted = whole.filter(pl.col("status") == OK).group_by("bytes").len()
    assert counted.height == 4
    assert counted["len"].min() == counted["len"].max() == 3


def test_a_killed_rank_costs_its_point_only(tmp_path: Path, mpi: str) -> None:
    """One of two ranks is killed in a launch: that point failed in it, and every point has its launches."""
    plan = write_plan(tmp_path, mpi, launches=3, point_time="300 ms", measure=PATIENT)
    run = tmp_path / "run"
    with started("run", plan, "-o", run) as process:
        until(lambda: lines(run) >= 1)
        victims = until(lambda: ranks_of(process))
        assert isinstance(victims, list)
        victims[-1].kill()
        _, said = process.communicate(timeout=120)
        assert process.returncode == 1
    records = load(run)
    failed = records.filter(pl.col("status") == FAILED)
    assert failed.height == 1
    assert failed["reason"][0]
    assert f"failed: {failed['benchmark'][0]}: {failed['reason'][0]}" in said
    good = records.filter((pl.col("status") == OK) & (pl.col("metric") == "lost")).group_by("steps").len()
    assert good["len"].to_list() == [3, 3]


def test_a_hanging_rank_is_ended_at_the_limit(tmp_path: Path, mpi: str) -> None:
    """One of two ranks is stopped for good: its point fails with the limit, the others do not."""
    plan = write_plan(tmp_path, mpi, launches=2, point_time="300 ms", limit="1 s", measure=PATIENT)
    run = tmp_path / "run"
    with started("run", plan, "-o", run) as process:
        until(lambda: lines(run) >= 1)
        victims = until(lambda: ranks_of(process))
        assert isinstance(victims, list)
        victims[-1].suspend()
        process.communicate(timeout=120)
        assert process.returncode == 1
    reasons = load(run).filter(pl.col("status") == FAILED)["reason"].to_list()
    assert len(reasons) == 1
    assert reasons[0].startswith("no answer within 1 s")
    assert not any(each.is_running() and each.status() != psutil.STATUS_ZOMBIE for each in victims)


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP], ids=lambda how: how.name)
def test_an_interrupted_run_says_how_to_go_on(tmp_path: Path, mpi: str, how: signal.Signals) -> None:
    """Ctrl-C, a cancelled job, a closed terminal: 130, one line with the way on, and no rank left behind."""
    plan = write_plan(tmp_path, mpi, launches=20, point_time="100 ms", measure=PATIENT)
    run = tmp_path / "run"
    with started("run", plan, "-o", run) as process:
        until(lambda: lines(run) >= 1)
        ranks = until(lambda: ranks_of(process))
        assert isinstance(ranks, list)
        process.send_signal(how)
        _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert f"--resume {run}" in said.splitlines()[-1]
    assert "Traceback" not in said
    assert not any(each.is_running() and each.status() != psutil.STATUS_ZOMBIE for each in ranks)


@pytest.mark.parametrize("pause", [0.0, 0.1, 0.5])
def test_a_second_interruption_leaves_no_process_and_no_damage(
    tmp_path: Path, mpi: str, pause: float
) -> None:
    """Impatient Ctrl-C while the first one is being cleaned up: no traceback, no rank, a run that is read."""
    plan = write_plan(tmp_path, mpi, launches=20, point_time="100 ms", measure=PATIENT)
    run = tmp_path / "run"
    with started("run", plan, "-o", run) as process:
        until(lambda: lines(run) >= 1)
        ranks = until(lambda: ranks_of(process))
        assert isinstance(ranks, list)
        for _ in range(3):
            process.send_signal(signal.SIGINT)
            time.sleep(pause)
        _, said = process.communicate(timeout=60)
    assert process.returncode in (130, -signal.SIGINT)  # the second when it arrives while Python ends
    assert "Traceback" not in said
    until(lambda: not any(each.is_running() and each.status() != psutil.STATUS_ZOMBIE for each in ranks), 5)
    assert load(run).height >= 1


def test_a_tiny_shared_memory_is_a_failed_point(tmp_path: Path, mpi: str) -> None:
    """64 KiB of /dev/shm, in a mount namespace: a reason and the exit code 1, or a result, but no hang."""
    alone = ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs -o size=64k none /dev/shm && exec "$@"', "sh"]
    if subprocess.run([*alone, "true"], check=False, capture_output=True).returncode:
        pytest.skip("no file system can be mounted here: unshare --mount needs the rights of root")
    plan, run = write_plan(tmp_path, mpi), tmp_path / "run"
    command = [*alone, *LEADLINE, "run", str(plan), "-o", str(run)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    records = load(run)
    failed = records.filter(pl.col("status") == FAILED)
    assert ended.returncode == (1 if failed.height else 0), ended.stderr
    assert "Traceback" not in ended.stderr
    assert all(reason for reason in failed["reason"])
    assert records.filter(pl.col("status") == OK).height or failed.height


def test_a_full_disk_keeps_what_was_measured(tmp_path: Path, mpi: str) -> None:
    """A file system of 64 KiB fills up in the middle: exit code 1, the reason, and readable records."""
    small = tmp_path / "small"
    small.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(small)], capture_output=True, check=False
    )
    if mounted.returncode != 0:
        pytest.skip("a small file system can be mounted only as root")
    try:
        plan = write_plan(
            tmp_path, mpi, launches=60, point_time="20 ms", measure=PINGPONG.format('"1 B .. 64 KiB"')
        )
        done = leadline("run", plan, "-o", small / "run")
        assert done.returncode == 1
        assert "No space left on device" in done.stderr
        assert "every record before is kept" in done.stderr
        assert load(small / "run").height > 1
    finally:
        subprocess.run(["umount", str(small)], check=True)
