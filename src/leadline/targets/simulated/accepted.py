"""Whether the simulator takes the numbers of a machine together, asked of it before anything runs."""

import json
import os
import subprocess
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory

from leadline.core.errors import UsageError
from leadline.machine import Machine
from leadline.machine.files import is_shipped
from leadline.native.build import memory_of_sim

_MARK = "machine description: "  # before what the simulator says of it


def check(machine: Machine, simulator: Path) -> None:
    """Raise UsageError, naming file and key, for a machine that the program `simulator` refuses.

    Shipped machines are tested. Each description is asked for once.
    """
    if is_shipped(machine.path):
        return
    job = {
        "simulate": {
            "machine": machine.native(),
            "topology": machine.partition(1),
            "ranks": 1,
            "mapping": "blocked",
            "network": "loggp",
        },
        "communicators": [],
        "collectives": [],
    }
    if problem := _problem(str(simulator), json.dumps(job)):
        raise UsageError(f"{machine.path}: {problem}")


@lru_cache(maxsize=64)
def _problem(simulator: str, job: str) -> str:
    """What the simulator has against a machine of one rank that does nothing; empty where it takes it."""
    with TemporaryDirectory() as place:
        path = Path(place) / "machine.json"
        path.write_text(job, encoding="utf-8")
        done = subprocess.run(
            [simulator, "--collectives", str(path)],
            check=False,
            capture_output=True,
            text=True,
            env={**os.environ, **memory_of_sim()},
        )
    refused = done.returncode != 0 and _MARK in done.stderr
    return done.stderr.partition(_MARK)[2].strip() if refused else ""
