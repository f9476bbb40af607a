"""The nodes that ranks run on, where this is none of them: what they are, asked of the first.

As a program (`python -m leadline.targets.local.node`) it prints what its node is. Like everything that a plan
needs, it is on a file system that the nodes share.
"""

import json
import os
import platform
import shlex
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any

from leadline.core.busy import Watch
from leadline.core.errors import LeadlineError
from leadline.core.paths import state_dir
from leadline.mpi.launcher import allocation
from leadline.targets.local.topology import Core, Topology, facts, topology, usable_cores

LIMIT = 60.0  # s; as long as ranks may take to start
HERE = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True)
class Node:
    """A node: its topology, how many cores ranks may have, its facts, and how busy it was (`before`)."""

    topology: Topology
    cores: int
    facts: Mapping[str, Any]
    before: Mapping[str, float]


def other(hosts: Sequence[str] = (), agent: str | None = None) -> Node | None:
    """The first of the hosts that a plan names, or of the allocation's nodes; None where that is this node.

    The others are taken to be like it. Raises LeadlineError where it does not answer.
    """
    command = _command(hosts[0] if hosts else "", agent)
    return _asked(command) if command else None


def here() -> Node:
    """This node; raises LeadlineError as `topology` does."""
    return Node(topology(), usable_cores(), facts(), before())


def before(seconds: float = 0.25) -> dict[str, float]:
    """How busy this node was before anything was measured, watched for `seconds`.

    `others`: processors kept busy by others, mean; `steal`: processors that the hypervisor gave to other
    guests, mean; `load`: the kernel's load average over the last minute.
    """
    watch = Watch()  # not of this process: the threads of a library that it has loaded may still spin
    time.sleep(seconds)
    seen = watch.seen()
    return {"others": round(seen.others, 2), "steal": round(seen.steal, 2), "load": os.getloadavg()[0]}


def _command(host: str, agent: str | None) -> tuple[str, ...]:
    """What prints the JSON of the first node; nothing where that is this one, or nobody can say."""
    program = ["env", f"LEADLINE_STATE={state_dir()}", sys.executable, "-m", "leadline.targets.local.node"]
    batch = allocation()
    if batch and not agent:
        step = batch.elsewhere(os.environ, host)
        return (*step, *program) if step else ()
    names = (*HERE, platform.node(), platform.node().partition(".")[0])
    if not host or host in names or host.partition(".")[0] in names:
        return ()
    return (*([agent] if agent else ["ssh", "-o", "BatchMode=yes"]), host, shlex.join(program))


@cache
def _asked(command: tuple[str, ...]) -> Node:
    """What the command prints."""
    said = ""
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LIMIT, check=False
        )
        said = done.stderr or f"exit status {done.returncode}"
        told = json.loads(done.stdout.strip().splitlines()[-1])
        cores = tuple(Core(**core) for core in told["topology"].pop("cores"))
        described = Topology(cores, **{**told["topology"], "caches": tuple(told["topology"]["caches"])})
        return Node(described, told["cores"], told["facts"], told["before"])
    except FileNotFoundError as problem:
        raise LeadlineError(f"'{command[0]}', which starts programs on the hosts, is not there") from problem
    except (subprocess.SubprocessError, OSError, ValueError, KeyError, TypeError, IndexError) as problem:
        why = (said.strip().splitlines() or [str(problem)])[-1]
        raise LeadlineError(
            "the first host of this run cannot be reached, or Leadline does not run there "
            f"('{shlex.join(command[:-1])} ...'): {why}"
        ) from problem


if __name__ == "__main__":
    sys.stdout.write(json.dumps(asdict(here())))
