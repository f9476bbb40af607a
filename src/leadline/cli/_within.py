"""What runs on the first node of a job: the command, or what continues it, its output in the job's log.

Usage: python -m leadline.cli._within DIRECTORY ATTEMPT. The exit code of the command is left in a file: a
job without one was killed. A job that the batch system starts again by itself continues as well.
"""

import signal
import subprocess
import sys
from pathlib import Path
from types import FrameType

from leadline.batch.job import EXIT, FILE, LOG, read


def main() -> int:
    """Run the job's command and give its exit code."""
    directory, attempt = Path(sys.argv[1]), sys.argv[2]
    job = read(directory / FILE)
    begun = job.begun is not None and Path(job.begun).exists()
    leadline = [sys.executable, "-c", "from leadline.cli import main; main()"]
    command = [*leadline, *(job.again if begun else job.command)]
    with (directory / LOG).open("ab") as log:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)

        def pass_on(number: int, _: FrameType | None) -> None:
            process.send_signal(number)

        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1):
            signal.signal(number, pass_on)
        code = process.wait()
    draft = directory / f".{EXIT}"
    draft.write_text(f"{attempt} {code if code >= 0 else 128 - code}\n")
    draft.replace(directory / EXIT)
    return code


if __name__ == "__main__":
    sys.exit(main())
