"""A mapping in the words of what starts ranks: Open MPI's rank file, Slurm's host file, an order of axes."""

from collections.abc import Callable, Mapping
from pathlib import Path

from leadline.core import hosts as host_names
from leadline.core.errors import LeadlineError, UsageError
from leadline.core.formatting import counted
from leadline.core.record_files import replace
from leadline.tune.mapping.candidates import ORDER
from leadline.tune.mapping.tuning import Outcome, Trial, seat_lines

RANKFILE, HOSTFILE, ORDERED, SEATS = "rankfile", "hostfile", "order", "seats"


def usual_form(trial: Trial) -> str:
    """How a mapping is written where nobody says how."""
    return ORDERED if trial.candidate.kind == ORDER else RANKFILE


def hosts(given: str | None, count: int) -> list[str]:
    """Names of so many nodes, in the order of their numbers: a file's lines, Slurm's form, else node0 on.

    Raises UsageError for fewer names than nodes.
    """
    if given is None:
        return [f"node{index}" for index in range(count)]
    try:
        found = host_names.names(given)
    except UsageError as problem:
        raise UsageError(f"--hosts: {problem}") from None
    if len(found) < count:
        raise UsageError(
            f"--hosts: the mapping is of {counted(count, 'node')}, but {given} names {len(found)}"
        )
    return found[:count]


def text(outcome: Outcome, trial: Trial, form: str, names: str | None) -> str:
    """The file's text."""
    return _TEXTS[form](outcome, trial, names)


def _rankfile(outcome: Outcome, trial: Trial, names: str | None) -> str:
    """Open MPI's rank file: a host and a slot for each rank."""
    distances = outcome.task.distances
    nodes = hosts(names, distances.nodes)
    slots = trial.candidate.slots.tolist()
    lines = [
        f"rank {rank}={nodes[slot // distances.per_node]} slot={slot % distances.per_node}"
        for rank, slot in enumerate(slots)
    ]
    if names is None:
        lines.insert(0, "# node0, node1, ... are placeholders: replace them by the names of your nodes")
    return "\n".join(lines) + "\n"


def _hostfile(outcome: Outcome, trial: Trial, names: str | None) -> str:
    """What SLURM_HOSTFILE names: the host of each rank, a line each, for srun --distribution=arbitrary."""
    distances = outcome.task.distances
    nodes = hosts(names, distances.nodes)
    return "\n".join(nodes[node] for node in trial.candidate.nodes(distances).tolist()) + "\n"


def _order(outcome: Outcome, trial: Trial, names: str | None) -> str:
    if trial.candidate.kind != ORDER:
        raise LeadlineError(f"{trial.candidate.name} is no order of axes")
    return f"{trial.candidate.name}\n"


def _seats(outcome: Outcome, trial: Trial, names: str | None) -> str:
    """A mapping's file as plans and --mapping name it."""
    return seat_lines(trial.candidate, outcome.task.distances)


_TEXTS: Mapping[str, Callable[[Outcome, Trial, str | None], str]] = {
    RANKFILE: _rankfile,
    HOSTFILE: _hostfile,
    ORDERED: _order,
    SEATS: _seats,
}


def save(content: str, path: Path) -> None:
    """Write a file whole or not at all; LeadlineError where that cannot be."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        replace(path, content.encode())
    except OSError as problem:
        raise LeadlineError(f"cannot write {path}: {problem.strerror}") from problem
