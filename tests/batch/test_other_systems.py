"""PBS and LSF, as scripts that answer as their manuals say: PBS Professional 2022 Reference Guide, chapter 2
(qsub, qstat, qdel); IBM Spectrum LSF 10.1 command reference (bsub, bjobs, bkill). No real one was at hand.
"""

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from leadline import batch
from leadline.batch.job import create
from leadline.core.errors import LeadlineError

# A job's number, and how it ends: by itself (CD), by its limit (TO), by an operator (CA), or not at all (PD).
BEGIN = """
n=$(($(cat {here}/count 2>/dev/null || echo 0) + 1)); echo $n >{here}/count
cp "${{!#}}" {here}/script.$n
fate=$(sed -n "${{n}}p" {here}/fates)
if [ "${{fate:-CD}}" = CD ]; then
    echo RUN >{here}/state.$n
    (PBS_JOBID=$n.server LSB_JOBID=$n bash {here}/script.$n; echo CD >{here}/state.$n) >/dev/null 2>&1 &
else
    echo "$fate" >{here}/state.$n
fi
"""
PBS = {
    "qsub": BEGIN + "echo $n.server\n",
    "qdel": "n=${{!#}}; echo CA >{here}/state.${{n%%.*}}\n",
    "qstat": """
echo '{{"timestamp": 1, "pbs_version": "22.05", "pbs_server": "server", "Jobs": {{'
for file in {here}/state.*; do
    n=${{file##*.}}
    case $(cat $file) in
        RUN) said='"job_state": "R"' ;;
        CD) said='"job_state": "F", "Exit_status": 0' ;;
        TO) said='"job_state": "F", "Exit_status": -29, "comment": "Job exceeded walltime"' ;;
        CA) said='"job_state": "F", "Exit_status": 265, "comment": "Job was deleted"' ;;
        *) said='"job_state": "Q", "comment": "Not Running: Insufficient amount of resource"' ;;
    esac
    [ $n = 1 ] || echo ,
    echo "\\"$n.server\\": {{$said}}"
done
echo '}}}}'
""",
}
LSF = {
    "bsub": BEGIN + 'echo "Job <$n> is submitted to queue <normal>."\n',
    "bkill": 'echo CA >{here}/state.$1; echo "Job <$1> is being terminated"\n',
    "bjobs": """
echo '{{"COMMAND": "bjobs", "JOBS": 1, "RECORDS": ['
for file in {here}/state.*; do
    n=${{file##*.}} exit= kill=
    case $(cat $file) in
        RUN) stat=RUN ;;
        CD) stat=DONE ;;
        TO) stat=EXIT exit='TERM_RUNLIMIT: job killed after reaching LSF run time limit' ;;
        CA) stat=EXIT exit='TERM_OWNER: job killed by owner' kill='killed' ;;
        *) stat=PEND ;;
    esac
    [ $n = 1 ] || echo ,
    form='{{"JOBID": "%s", "STAT": "%s", "EXIT_REASON": "%s", "KILL_REASON": "%s", "SUSPEND_REASON": ""}}\\n'
    printf "$form" $n $stat "$exit" "$kill"
done
echo ']}}'
""",
}
SYSTEMS = {"pbs": PBS, "lsf": LSF}


@pytest.fixture(params=SYSTEMS)
def system(
    request: pytest.FixtureRequest, commands: Callable[[Mapping[str, str]], None], tmp_path: Path
) -> Callable[..., batch.BatchJob]:
    """Commands of a system on PATH; submits a job that lists the plans, where jobs end as the words say."""
    commands(SYSTEMS[request.param])

    def submit(*fates: str, **resources: object) -> batch.BatchJob:
        (tmp_path / "fates").write_text("".join(f"{word}\n" for word in fates))
        asked = batch.Resources(**resources)  # type: ignore[arg-type]
        job = create(request.param, ["list", "plans"], ["list", "machines"], None, asked)
        batch.submit(job)
        return job

    return submit


def follow(job: batch.BatchJob) -> int:
    """Followed without a word."""
    return batch.follow(job, lambda state, line: None, 3)


def test_a_job_runs_to_its_end(system: Callable[..., batch.BatchJob], tmp_path: Path) -> None:
    """Its script asks for what was asked for, in the system's words; its exit code and output are there."""
    job = system(nodes=2, time=5400.0, queue="batch", account="abc")
    assert follow(job) == 0
    assert "quick" in job.log.read_text()
    script = (tmp_path / "script.1").read_text()
    wanted = {
        "pbs": [
            "-l select=2:ncpus=1:mpiprocs=1",
            "-l place=scatter:excl",
            "-l walltime=1:30:0",
            "-q batch",
            "-A abc",
        ],
        "lsf": ["-nnodes 2", "-W 1:30", '-q "batch"', '-P "abc"'],
    }[job.system]
    for line in wanted:
        assert line in script


def test_what_a_limit_cut_is_resumed(system: Callable[..., batch.BatchJob]) -> None:
    """In a new job."""
    job = system("TO", "CD")
    assert follow(job) == 0
    assert job.attempts == 2


def test_a_cancelled_job_is_not_resumed(system: Callable[..., batch.BatchJob]) -> None:
    """By Leadline's own command, while it waits."""
    job = system("PD")
    assert batch.state(job) == "queued"
    batch.cancel(job)
    with pytest.raises(LeadlineError, match="was cancelled"):
        follow(job)
