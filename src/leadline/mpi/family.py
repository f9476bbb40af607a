"""What one kind of MPI library must be able to tell Leadline, and the kinds that there are.

A kind is a file in `families/` that holds `FAMILY`, an instance of a subclass of `Family`. Plans name
transports by what they mean; a family translates them into its library's own settings, or says that the
library cannot do it (`Unsupported`, whose sentence becomes the reason of the record).
"""

import os
import re
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import takewhile
from pathlib import Path

from leadline.core.axes import DEFAULT, PLACEMENTS, PROGRESS, UNBOUND
from leadline.core.errors import LeadlineError, UsageError, suggest
from leadline.core.plugins import Plugins
from leadline.mpi.library import Mpi
from leadline.mpi.tuned import Choice, Tuned

TRANSPORTS = {
    "shared-memory": "memory that ranks of one node share",
    "tcp": "sockets",
    "ucx": "the UCX library, on the transports named beside it or else those it chooses",
    "ofi": "the libfabric library, on the transports named beside it or else those it chooses",
    "self": "a rank to itself",
}
EACH = "each"  # the word for every algorithm that a library has for an operation
# What ssh, sshd and launchers print where nothing can be started on another node; no help text has it.
REMOTE = (
    r"Host key verification failed|Could not resolve hostname|Name or service not known|No route to host"
    r"|Connection (refused|timed out|closed|reset)|Permission denied \(|kex_exchange_identification"
    r"|^srun: error: (?!.*(task|Exited))|command not found$"
)
# What names a cause in the output of launchers and libraries, the plainest first.
TELLING = (
    r"not enough slots|[Uu]nable to (launch|resolve|find)|[Nn]o such file|command not found|has lost com",
    r"Permission denied|unable to reach each other|cannot be selected|unreachable|No components were able",
    r"exited on signal|KILLED BY SIGNAL|[Ss]egmentation fault|No data available",
    r"[Ss]ignal \d+|(?i:exit code)",
    r"(?i)\b(fatal|abort|cannot|could not|refus|fail)",
    r"(?i)error",
)
LINE = 200  # characters, of a reason


class Unsupported(LeadlineError):
    """What was asked for exists, but this library (or its build) does not offer it; the text says why."""


def transports(stack: str) -> frozenset[str]:
    """The transports that a plan's word names: {} for the library's own choice.

    >>> sorted(transports("shared-memory+tcp"))
    ['shared-memory', 'tcp']
    """
    if stack == "default":
        return frozenset()
    names = stack.split("+")
    for name in names:
        if name not in TRANSPORTS:
            raise UsageError(f"unknown transport '{name}' in stack '{stack}'{suggest(name, TRANSPORTS)}")
    if {"ucx", "ofi"} <= set(names):
        raise UsageError(f"stack '{stack}' names both ucx and ofi; a run uses one of them")
    return frozenset(names)


def algorithm(word: str) -> str:
    """A plan's word for an algorithm of a library, or "default", or "each"; UsageError for an unknown one."""
    known = {DEFAULT, EACH, *(name for each in families().values() for name in each.algorithm_names())}
    if word not in known:
        near = suggest(word, known) or f"; known are: {', '.join(sorted(known))}"
        raise UsageError(f"unknown algorithm '{word}'{near}")
    return word


def check(word: str, known: Sequence[str] | Mapping[str, str], what: str) -> None:
    """Raise UsageError unless `word` is one of `known`."""
    if word not in known:
        raise UsageError(f"unknown {what} '{word}'{suggest(word, known)}")


@dataclass(frozen=True)
class Start:
    """What is to be started: how many ranks, where, with what; UsageError for an unknown placement."""

    ranks: int
    placement: str = "default"
    hosts: Sequence[str] = ()  # names of nodes, empty for this one
    env: Mapping[str, str] = field(default_factory=dict)  # must reach every rank, also on other nodes
    oversubscribe: bool = False  # more ranks than cores: nothing is bound, and ranks that wait yield
    agent: str | None = None  # program used in place of ssh to start something on another node
    cores: int | None = None  # of each of the hosts; None: unknown

    def __post_init__(self) -> None:
        """Refuse a placement that no launcher knows."""
        check(self.placement, PLACEMENTS, "placement")

    @property
    def binds(self) -> bool:
        """Whether each rank is bound to a core."""
        return not self.oversubscribe and self.placement != UNBOUND

    @property
    def per_host(self) -> int:
        """Ranks on each of the named hosts: one in turn, else a host is filled before the next."""
        spread = -(-self.ranks // max(1, len(self.hosts)))
        if self.placement == "nodes" or self.oversubscribe:
            return spread
        return max(spread, min(self.ranks, self.cores or spread))


def is_root() -> bool:
    """Whether ranks would run as root, which some launchers refuse unless told twice."""
    return os.geteuid() == 0


class Family(ABC):
    """One kind of MPI library: how to recognise, set, start and question it."""

    name: str  # as in `Mpi.family`
    title: str  # as its makers write it
    aliases: tuple[str, ...] = ()  # other words that a person may use for it

    @abstractmethod
    def version_in_header(self, header: str) -> str | None:
        """The version that the text of an `mpi.h` states; None when it is not this library's header."""

    @abstractmethod
    def version_in_launcher(self, output: str) -> str | None:
        """The version in what `launcher --version` prints; None when it is not this library's launcher."""

    def prefix_environment(self, prefix: Path, bundled: bool) -> dict[str, str]:
        """What must always be set to use the library under `prefix`.

        `bundled`: it lies in a Python environment, where its compiled-in paths are wrong.
        """
        return {}

    @abstractmethod
    def environment(
        self, mpi: Mpi, stack: str = "default", protocol: str = "default", shmem: bool = False
    ) -> dict[str, str]:
        """Every variable to set for a run over the transports of `stack` with `protocol` forced.

        `shmem`: the program uses OpenSHMEM. Raises Unsupported, or UsageError for unknown words.
        """

    @abstractmethod
    def force(self, mpi: Mpi, protocol: str, stack: str = "default") -> dict[str, str]:
        """Settings that make every message eager, or every message use rendezvous; raises Unsupported."""

    def algorithms(self, mpi: Mpi, operation: str, ranks: int, size: int) -> Mapping[str, Mapping[str, str]]:
        """The library's own algorithms of a collective operation by name, with the settings that force each.

        Only those that can do it with so many ranks and bytes (of the message, or of each rank's block).
        """
        return {}

    def algorithm_names(self) -> set[str]:
        """The names of all algorithms of all versions, which a plan may use."""
        return set()

    def tuned(self, mpi: Mpi, choices: Sequence[Choice], directory: Path) -> Tuned:
        """Choices in the library's own form; its files will lie in `directory`. Raises Unsupported."""
        raise Unsupported(f"{mpi.id} has no settings for its algorithms that Leadline knows")

    def progressing(self, mpi: Mpi, progress: str) -> dict[str, str]:
        """What switches asynchronous progress "on" or "off"; raises Unsupported where there is none."""
        check(progress, PROGRESS, "progress")
        if progress == "on":
            raise Unsupported(f"{mpi.id} has no asynchronous progress")
        return {}

    @abstractmethod
    def launch(self, mpi: Mpi, start: Start) -> list[str]:
        """The command before the program: the library's own launcher with its own options."""

    def notes(self, mpi: Mpi, stack: str = "default", protocol: str = "default") -> list[str]:
        """What must be said beside results: what was set to run here at all, and where a setting ends."""
        return []

    @abstractmethod
    def probe_environment(self, mpi: Mpi) -> dict[str, str]:
        """Settings that make the library tell which transports it uses; they may slow it down."""

    @abstractmethod
    def read_probe(self, output: str) -> str:
        """What the library really used, from its output under `probe_environment`; "" if it did not say."""


@cache
def families() -> dict[str, Family]:
    """Every kind of library by name."""
    found = [module.FAMILY for module in Plugins("leadline.mpi.families", "unknown kind of MPI {}").all()]
    return {each.name: each for each in found}


def family(mpi: Mpi) -> Family:
    """The kind that `mpi` is of."""
    return families()[mpi.family]


def failure(output: str, speakers: Collection[str] = ()) -> str:
    """The line that says why ranks did not start or did not live, out of what launcher and library printed.

    `speakers` are the programs that start ranks: a line that begins with the name of one is its own word.

    >>> failure("-----\\nThere are not enough slots in the\\nsystem.\\n\\nEither request fewer ...")
    'There are not enough slots in the system.'
    """
    lines = [line.strip() for line in output.splitlines()]
    own = "|".join(map(re.escape, speakers))
    for pattern in (REMOTE, *([rf"^({own}): \S"] if own else [])):
        if said := next((line for line in lines if re.search(pattern, line)), None):
            return said[:LINE]
    for pattern in TELLING:
        for number, line in enumerate(lines):
            if re.search(pattern, line):
                return " ".join([line, *takewhile(_goes_on, lines[number + 1 :])])[:LINE]
    words = [line for line in lines if re.search(r"\w", line)]
    return words[-1][:LINE] if words else "nothing was printed"


def _goes_on(line: str) -> bool:
    """Whether a line may belong to the sentence before it: no rule, no blank, no new report."""
    return re.match(r"[\w\"/(*]", line) is not None


def launcher_of(mpi: Mpi) -> str:
    """Path of the library's own launcher; raises LeadlineError where it has none."""
    if mpi.launcher is None:
        raise LeadlineError(f"{mpi.id} in {mpi.prefix} has no launcher (mpirun or mpiexec) beside it")
    return str(mpi.launcher)
