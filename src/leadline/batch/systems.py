"""Batch systems through PSI/J (https://exaworks.org/psij): one way to submit, ask and cancel for all.

PSI/J watches jobs in a thread of its own, so each call here makes an executor and leaves it to that thread.
"""

import json
import logging
import shutil
import sys
from collections.abc import Mapping
from datetime import datetime, timedelta
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from leadline.batch.job import BatchJob, home
from leadline.core.errors import LeadlineError, UsageError

# What a user calls a system: PSI/J's name for it, and the command without which it is not here.
SYSTEMS: Mapping[str, tuple[str, str]] = {
    "slurm": ("slurm", "sbatch"),
    "flux": ("flux", "flux"),
    "pbs": ("pbs", "qsub"),
    "lsf": ("lsf", "bsub"),
}
POLL = 2  # s between questions to the batch system
LOST_POLLS = 300  # questions without an answer, such as while the controller is restarted, that are forgiven
NEW, QUEUED, RUNNING, DONE, FAILED, CANCELLED = "new", "queued", "running", "done", "failed", "cancelled"


def submit(job: BatchJob) -> Any:
    """Submit a job's command, or what continues it; LeadlineError where the system refuses it.

    The job is saved with its new identity.
    """
    executor = _executor(job.system)
    psij = import_module("psij")
    asked = job.resources
    spec = psij.JobSpec(
        executable=sys.executable,
        arguments=["-m", "leadline.cli._within", str(job.home), str(job.attempts + 1)],
        directory=Path(job.directory),
        inherit_environment=True,
        name=job.name,
        resources=psij.ResourceSpecV1(node_count=asked.nodes, processes_per_node=1, exclusive_node_use=True),
        attributes=psij.JobAttributes(queue_name=asked.queue, account=asked.account),
    )
    if asked.time is not None:
        spec.attributes.duration = timedelta(seconds=asked.time)
    submitted: Any = psij.Job(spec)
    job.attempts += 1
    job.submitted = job.submitted or datetime.now().astimezone().isoformat(timespec="seconds")
    job.save()
    try:
        executor.submit(submitted)
    except psij.SubmitException as problem:
        said = " ".join(str(problem).split())
        raise LeadlineError(
            f"{job.system} does not accept the job: {said or 'no reason was given'}"
        ) from None
    except OSError as problem:
        raise LeadlineError(f"cannot submit to {job.system}: {problem}") from problem
    job.native = submitted.native_id
    job.save()
    return submitted


def watch(job: BatchJob) -> Any:
    """The last job of a command, whose `status` PSI/J keeps up to date from now on."""
    psij = import_module("psij")
    watched: Any = psij.Job()
    _executor(job.system).attach(watched, job.native)
    return watched


def state(job: BatchJob, limit: float = 10.0) -> str:
    """How a job is, by its batch system, asked for `limit` s at most, and by what its command left."""
    if job.native is None:
        return NEW
    if job.code is not None:
        return DONE if job.code == 0 else f"{FAILED} ({job.code})"
    psij = import_module("psij")
    watched = watch(job)
    states = psij.JobState
    watched.wait(
        timedelta(seconds=limit),
        [states.QUEUED, states.ACTIVE, states.COMPLETED, states.FAILED, states.CANCELED],
    )
    return named(watched, job)


def named(watched: Any, job: BatchJob) -> str:
    """A job's state in a word; one that ended without its command's exit code was killed."""
    word = watched.status.state.name
    ended = {"COMPLETED": FAILED, "FAILED": FAILED, "CANCELED": CANCELLED}
    if word in ended and job.stopped:
        return CANCELLED
    return {"NEW": "submitted", "QUEUED": QUEUED, "ACTIVE": RUNNING, **ended}[word]


def cancel(job: BatchJob) -> None:
    """End a job and do not resume it; LeadlineError where the system does not do it."""
    job.stopped = True
    job.save()
    if job.native is None or job.code is not None:
        return
    psij = import_module("psij")
    watched = watch(job)
    try:
        watched.cancel()
    except psij.SubmitException as problem:
        raise LeadlineError(f"{job.system} does not cancel job {job.native}: {problem}") from None


@cache
def _executor(system: str) -> Any:
    """PSI/J's executor for a system; raises UsageError, or LeadlineError where the system is not here."""
    if system not in SYSTEMS:
        raise UsageError(f"unknown batch system '{system}'; known are: {', '.join(SYSTEMS)}")
    name, program = SYSTEMS[system]
    if not shutil.which(program):
        raise LeadlineError(
            f"{program} is not on PATH, so nothing can be submitted to {system}; "
            "use a login node of the cluster, or load its module"
        )
    try:
        psij = import_module("psij")
    except ImportError:
        raise LeadlineError("PSI/J is not installed; 'pip install psij-python' adds it") from None
    logging.getLogger("psij").setLevel(logging.CRITICAL)  # its messages reach the user as Leadline's
    batch = import_module("psij.executors.batch.batch_scheduler_executor")
    try:
        made = psij.JobExecutor.get_instance(name)
    except ValueError as problem:
        raise LeadlineError(f"PSI/J cannot use {system} here: {problem}") from None
    if isinstance(made, batch.BatchSchedulerExecutor):
        made = psij.JobExecutor.get_instance(
            name,
            config=type(made.config)(
                work_directory=home() / "psij",
                queue_polling_interval=POLL,
                initial_queue_polling_delay=POLL,
                queue_polling_error_threshold=LOST_POLLS,
            ),
        )
    if system == "lsf":
        _with_reasons(made)
    return made


def _with_reasons(executor: Any) -> None:
    """Has PSI/J understand jobs of LSF that ended for a reason, such as their limit.

    PSI/J 0.9.11 looks for it under a name that bjobs does not print, and would never learn that they ended.
    """
    understand = executor.parse_status_output

    def parse(exit_code: int, out: str) -> Any:
        if exit_code == 0:
            said = json.loads(out)
            for each in said["RECORDS"]:
                reasons = (each.get(f"{kind}_REASON") for kind in ("EXIT", "KILL", "SUSPEND"))
                each["reason"] = next(filter(None, reasons), "")
            out = json.dumps(said)
        return understand(exit_code, out)

    executor.parse_status_output = parse
