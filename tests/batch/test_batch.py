"""Submitted commands, with a Slurm of scripts that ends jobs as tests want; tests/slurm has the real one."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from click.testing import CliRunner

from leadline import batch
from leadline.batch.job import create, load
from leadline.cli import main
from leadline.core.errors import LeadlineError, UsageError

SBATCH = """
n=$(($(cat {here}/count 2>/dev/null || echo 0) + 1)); echo $n >{here}/count
cp "$1" {here}/script.$n
echo "Submitted batch job $n"
fate=$(sed -n "${{n}}p" {here}/fates)
if [ "${{fate:-CD}}" = CD ]; then
    echo R >{here}/state.$n
    (SLURM_JOB_ID=$n bash "$1"; echo CD >{here}/state.$n) >/dev/null 2>&1 &
else
    echo "$fate" >{here}/state.$n
fi
"""
SQUEUE = """
echo "JOBARRAYID ST REASON"
for file in {here}/state.*; do echo "${{file##*.}} $(cat $file) TimeLimit"; done
"""
SCANCEL = "for last; do :; done; echo CA >{here}/state.$last\n"


@pytest.fixture
def slurm(commands: Callable[[Mapping[str, str]], None], tmp_path: Path) -> Callable[..., None]:
    """Commands of a Slurm on PATH; what is returned says how the first jobs end: CD, TO, CA or PD."""
    commands({"sbatch": SBATCH, "squeue": SQUEUE, "scancel": SCANCEL, "scontrol": "echo here\n"})

    def fates(*words: str) -> None:
        (tmp_path / "fates").write_text("".join(f"{word}\n" for word in words))

    fates()
    return fates


def submitted(**resources: object) -> batch.BatchJob:
    """A job that lists the plans."""
    asked = batch.Resources(**resources)  # type: ignore[arg-type]
    job = create("slurm", ["list", "plans"], ["list", "machines"], None, asked)
    batch.submit(job)
    return job


def follow(job: batch.BatchJob, most: int = 3) -> int:
    """Followed without a word."""
    return batch.follow(job, lambda state, line: None, most)


def test_a_job_prints_to_its_log_and_gives_its_exit_code(slurm: Callable[..., None], tmp_path: Path) -> None:
    """The script asks for what was asked for, in sbatch's words."""
    job = submitted(nodes=2, time=5400.0, queue="batch", account="abc")
    assert follow(job) == 0
    assert "quick" in job.log.read_text()
    assert batch.state(load(job.name)) == "done"
    script = (tmp_path / "script.1").read_text()
    for line in ("--nodes=2", "--exclusive", "--time=1:30:0", '--partition="batch"', '--account="abc"'):
        assert f"#SBATCH {line}" in script


def test_what_a_limit_cut_is_resumed_in_a_new_job(slurm: Callable[..., None]) -> None:
    """A job without an exit code was killed."""
    slurm("TO", "CD")
    job = submitted()
    assert follow(job) == 0
    assert (job.attempts, job.native) == (2, "2")


def test_what_every_job_cuts_is_given_up(slurm: Callable[..., None]) -> None:
    """After so many jobs, with what to do."""
    slurm("TO", "TO")
    with pytest.raises(LeadlineError, match="was cut in each of 2 jobs; ask for more time"):
        follow(submitted(), most=2)


def test_what_cannot_continue_is_not_begun_twenty_times(slurm: Callable[..., None]) -> None:
    """A replay would be cut again and again; a tuning has its directory from the beginning."""
    slurm("TO", "PD")
    job = create("slurm", ["replay", "a.program"], [], None, batch.Resources())
    batch.submit(job)
    with pytest.raises(LeadlineError, match=r"job 1 was cut, and 'replay a\.program' cannot continue"):
        follow(job)
    words = ["io", "tune", "--submit", "slurm", "--detach", "--", "mpirun", "-n", "2", "./app", "--time", "3"]
    done = CliRunner().invoke(main, words)
    assert done.exit_code == 0, done.output
    tuning = batch.jobs()[-1]
    assert tuning.command == ["io", "tune", "--output", tuning.again[-1], *words[5:]]
    assert tuning.again[:3] == ["io", "tune", "--resume"]


def test_a_cancelled_job_is_not_resumed(slurm: Callable[..., None]) -> None:
    """By the system's own command, and by Leadline's."""
    slurm("CA", "PD")
    job = submitted()
    with pytest.raises(LeadlineError, match="job 1 was cancelled; what it finished is kept"):
        follow(job)
    other = submitted()
    assert batch.state(other) == "queued"
    batch.cancel(load("2"))
    with pytest.raises(LeadlineError, match="job 2 was cancelled"):
        follow(other)


def test_a_system_that_is_not_here_or_unknown_is_refused(slurm: Callable[..., None]) -> None:
    """Before anything is written."""
    with pytest.raises(LeadlineError, match="bsub is not on PATH, so nothing can be submitted to lsf"):
        batch.submit(create("lsf", ["list"], ["list"], None, batch.Resources()))
    assert batch.jobs() == []
    with pytest.raises(UsageError, match="there is no job 'x'; nothing was submitted yet"):
        load("x")


def test_the_command_line_of_a_job_is_that_of_the_user(slurm: Callable[..., None]) -> None:
    """Without the submission's own words; a run has its directory from the beginning."""
    slurm("PD")  # the run itself is of no interest, and would go on after the test
    words = ["run", "quick", "--submit=slurm", "--nodes", "2", "--time", "0:30:00", "--detach", "--seed", "7"]
    done = CliRunner().invoke(main, words)
    assert done.exit_code == 0, done.output
    [job] = batch.jobs()
    assert job.command[:5] == ["run", "quick", "--seed", "7", "--output"]
    assert job.again == ["run", "--resume", job.command[5]]
    assert job.resources == batch.Resources(2, 1800.0, None, None)


def test_options_of_a_submission_need_one(slurm: Callable[..., None]) -> None:
    """Else nodes would be asked for that nobody gives."""
    done = CliRunner().invoke(main, ["run", "quick", "--nodes", "2"])
    assert done.exit_code == 2
    assert "--nodes needs --submit SYSTEM" in done.output
