"""A submitted command followed to its end, and submitted again as long as a limit cuts it."""

import time
from collections.abc import Callable

from leadline.batch import systems
from leadline.batch.job import FILE, BatchJob, read
from leadline.core.errors import LeadlineError

INTERRUPTED = 130  # exit code of a command that was asked to end
VISIBLE = 3.0  # s until a file that a node wrote must be visible here
TICK = 0.5  # s


def follow(
    job: BatchJob,
    show: Callable[[str, str], None],
    most: int = 20,
    clock: Callable[[], float] = time.monotonic,
) -> int:
    """Wait for a submitted job's end and give its command's exit code; `show` hears state and last line.

    A job that was killed, or whose command was interrupted, is resumed in a new one, in at most `most` jobs
    altogether. Raises LeadlineError where it was cancelled, cut in the last of them, or cannot be resumed.
    """
    while True:
        watched = systems.watch(job)
        while not watched.status.state.final:
            show(systems.named(watched, job), last_line(job))
            if job.code is not None:
                break
            time.sleep(TICK)
        ended = clock()
        while job.code is None and clock() - ended < VISIBLE:
            time.sleep(TICK)
        code = job.code
        show("", last_line(job))
        if code is not None and code != INTERRUPTED:
            return code
        while not watched.status.state.final:  # cancelled or cut: the system knows, and frees its nodes
            time.sleep(TICK)
        stopped = read(job.home / FILE).stopped  # by another process
        if stopped or systems.named(watched, job) == systems.CANCELLED:
            raise LeadlineError(f"job {job.native} was cancelled; what it finished is kept")
        if not job.again:
            raise LeadlineError(
                f"job {job.native} was cut, and '{' '.join(job.command[:2])}' cannot continue: submit it "
                f"again, with more --walltime; {job.log} has what it printed"
            )
        if job.attempts >= most:
            raise LeadlineError(
                f"{job.name} was cut in each of {job.attempts} jobs; ask for more time with --walltime, or "
                f"look into {job.log}"
            )
        show(f"job {job.native} was cut; resuming in a new one", "")
        systems.submit(job)


def last_line(job: BatchJob) -> str:
    """The last line that a job has printed; "" where there is none."""
    try:
        with job.log.open("rb") as file:
            file.seek(max(0, file.seek(0, 2) - 4096))
            lines = file.read().decode(errors="replace").replace("\r", "\n").splitlines()
    except OSError:
        return ""
    return next((line.strip() for line in reversed(lines) if line.strip()), "")
