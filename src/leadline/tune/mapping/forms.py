"""A mapping in the words of what starts ranks: Open MPI's rank file, Slurm's host file, an order of axes."""

import re
from collections.abc import Callable, Mapping
from pathlib import Path

from leadline.core.errors import LeadlineError, UsageError
from leadline.core.record_files import replace
from leadline.tune.mapping.candidates import ORDER
from leadline.tune.mapping.tuning import Outcome, Trial, seat_lines

RANKFILE, HOSTFILE, ORDERED, SEATS = "rankfile", "hostfile", "order", "seats"

_RANGES = re.compile(r"(?P<before>[^\[\],]*)\[(?P<ranges>[\d,-]+)\](?P<after>[^\[\],]*)")
_WORDS = re.compile(r"(?:[^,\[]|\[[^\]]*\])+")


def usual_form(trial: Trial) -> str:
    """How a mapping is written where nobody says how."""
    return ORDERED if trial.candidate.kind == ORDER else RANKFILE


def hosts(given: str | None, count: int) -> list[str]:
    """Names of so many nodes, in the order of their numbers: a file's lines, Slurm's form, else node0 on.

    Raises UsageError for fewer names than nodes.
    """
    if given is None:
        return [f"node{index}" for index in range(count)]
    path = Path(given)
    if path.is_file():
        names = path.read_text(encoding="utf-8").split()
    else:
        names = [name for word in _WORDS.findall(given) for name in _expanded(word)]
    if len(names) < count:
        raise UsageError(f"--hosts: the mapping is of {count} nodes, but {given} names {len(names)}")
    if len(set(names)) != len(names):
        raise UsageError(f"--hosts: {given} names a node twice")
    return names[:count]


def _expanded(word: str) -> list[str]:
    """The names that a word such as node[00-15,20] stands for."""
    match = _RANGES.fullmatch(word)
    if match is None:
        if "[" in word:
            raise UsageError(f"--hosts: this is a file or a list such as node[00-15], but got {word!r}")
        return [word]
    names = []
    for part in match["ranges"].split(","):
        first, _, last = part.partition("-")
        last = last or first
        if not (first.isdecimal() and last.isdecimal() and int(first) <= int(last)):
            raise UsageError(f"--hosts: {part!r} in {word!r} is no range such as 00-15")
        numbers = range(int(first), int(last) + 1)
        names += [f"{match['before']}{n:0{len(first)}}{match['after']}" for n in numbers]
    return names


def text(outcome: Outcome, trial: Trial, form: str, names: str | None) -> str:
    """The file's text."""
    return _TEXTS[form](outcome, trial, names)


def _rankfile(outcome: Outcome, trial: Trial, names: str | None) -> str:
    """Open MPI's rank file: a host and a slot for each rank."""
    distances = outcome.task.distances
    nodes = hosts(names, distances.nodes)
    seats = trial.candidate.seats.tolist()
    lines = [
        f"rank {rank}={nodes[seat // distances.per_node]} slot={seat % distances.per_node}"
        for rank, seat in enumerate(seats)
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
