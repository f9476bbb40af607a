"""A stand-in for the simulator: answers a job as `native/harness/job.cpp` does, with times by arithmetic.

Its machine passes B bytes in 1 us + B ns; a point of 13 B is a deadlock, and of 17 B it is skipped.
"""

import json
import sys
from pathlib import Path


def answer(job: Path, answers: Path) -> None:
    """Write the answers to a job, a line each."""
    asked = json.loads(job.read_text())
    lines = [{"event": "launch", "ranks": asked["simulate"]["ranks"]}]
    for point in asked["points"]:
        size = point["point"]["bytes"]
        lines.append({"event": "begin", "id": point["id"]})
        if size == 13:
            write(answers, lines)
            sys.exit("leadline-sim: deadlock: rank 0 waits for a message from rank 1")
        if size == 17:
            lines.append({"event": "skip", "id": point["id"], "reason": "no rank is at this distance"})
        else:
            lines.append(
                {
                    "event": "record",
                    "id": point["id"],
                    "metric": "latency",
                    "unit": "s",
                    "better": "lower",
                    "samples": [1e-6 + size * 1e-9],
                    "warmup": 0,
                    "batch": 1,
                    "stopped_by": "exact",
                    "duration": 0.001,
                    "network": "loggp",
                }
            )
        lines.append({"event": "end", "id": point["id"]})
    write(answers, [*lines, {"event": "done"}])


def write(answers: Path, lines: list[dict[str, object]]) -> None:
    """Append lines of JSON."""
    with answers.open("a") as file:
        file.writelines(json.dumps(line) + "\n" for line in lines)


if __name__ == "__main__":
    answer(Path(sys.argv[1]), Path(sys.argv[2]))
