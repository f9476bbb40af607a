"""What a tuning is made of, from what was asked: the evaluator, the space, and the journal."""

import hashlib
import os
import re
import shlex
import shutil
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from leadline.core import paths
from leadline.core.errors import LeadlineError, UsageError, suggest
from leadline.core.processes import end_left
from leadline.native import registry
from leadline.tune import search
from leadline.tune.io import preload as io_preload
from leadline.tune.io.evaluator import Evaluator
from leadline.tune.io.journal import Journal, read
from leadline.tune.io.measured import PREFIX, Command, Kernel
from leadline.tune.io.runner import Options, Progress, Tuning
from leadline.tune.io.spaces import allowed
from leadline.tune.search import Space

SPACE = "here"
KERNEL_RANKS = 4
KERNEL_TIME = 0.05  # s, of sampling in one run: a few samples
AUTO = "auto"


@dataclass(frozen=True)
class Request:
    """What was asked, as the command line has it."""

    command: list[str]
    kernel: str | None
    sweeps: tuple[str, ...]
    ranks: int | None
    mpi: str
    machine: Path | None
    space: str | None
    method: str
    budget: int
    seed: int
    safety: str
    time: str | None
    check: str | None
    limit: float | None
    directory: Path | None
    output: Path
    maximize: str | None = None
    numbers: tuple[str, ...] = ()  # that the space is made of, such as "targets=48"
    resumes: bool = False
    where: Path = field(default_factory=Path.cwd)  # the program is run

    @classmethod
    def again(cls, directory: Path) -> "Request":
        """That of a tuning that is gone on with. Raises UsageError where there is none."""
        facts, _ = read(directory)
        asked = dict(facts.get("request", {}))
        asked |= {name: Path(asked[name]) for name in ("machine", "directory", "where") if asked.get(name)}
        asked |= {name: tuple(asked.get(name, ())) for name in ("sweeps", "numbers")}
        try:
            return cls(**{**asked, "output": directory, "resumes": True}).settled()
        except TypeError as problem:
            raise LeadlineError(f"{directory} is a tuning of another version: {problem}") from None

    def settled(self) -> "Request":
        """With paths that mean the same from everywhere: a program may change its directory."""
        space = self.space
        if space and (self.where / space).is_file():
            space = str(self.where / space)
        return replace(
            self,
            output=self.output.resolve(),
            directory=self.where / self.directory if self.directory else None,
            machine=self.where / self.machine if self.machine else None,
            space=space,
        )

    def plain(self) -> dict[str, object]:
        """As the journal keeps it."""
        found = {name: value for name, value in asdict(self).items() if name not in ("output", "resumes")}
        return {name: str(value) if isinstance(value, Path) else value for name, value in found.items()}


def begin(request: Request, say: Callable[[str], None], show: Callable[[Progress], None]) -> Tuning:
    """Everything up to the first run; nothing is written before all of it makes sense.

    Raises UsageError for what was asked wrongly, LeadlineError for what this machine lacks.
    """
    request = request.settled()
    check = _sensible(request)
    proven = request.safety == AUTO
    options = Options(request.budget, request.method, request.seed, limit=request.limit, proven=proven)
    search.question(request.method)  # an unknown method is told before anything is run
    evaluator, space = _judged(request, check, say)
    layers = {each.name: each.layer for each in space.parameters}
    facts = {
        **evaluator.facts(),
        "layers": layers,
        "options": asdict(options),
        "request": request.plain(),
        "library": str(getattr(evaluator, "library", None) or ""),
        "storage": {} if request.machine else paths.mount(request.directory or request.where),
        "space": hashlib.sha256(repr(space).encode()).hexdigest(),
    }
    journal = _reopened(request, facts) if request.resumes else Journal.create(request.output, facts)
    return Tuning(evaluator, space, journal, options, show)


def _sensible(request: Request) -> list[str] | None:
    """The words of the command that checks the data; UsageError for what can be seen to be wrong at once."""
    if request.time and request.maximize:
        raise UsageError("--minimize and --maximize exclude each other: a tuning has one objective")
    for option, pattern in (("--minimize", request.time), ("--maximize", request.maximize)):
        try:
            re.compile(pattern or "")
        except re.error as problem:
            raise UsageError(f"{option} is a regular expression, but got {pattern!r}: {problem}") from None
    folder = request.directory
    if folder and not (folder.is_dir() and os.access(folder, os.W_OK)):
        why = "one that may be written to" if folder.is_dir() else "a directory that is there"
        raise UsageError(f"--directory is {why}, but got {folder}")
    try:
        return shlex.split(request.check or "") or None
    except ValueError as problem:
        raise UsageError(f"--check is a command, but got {request.check!r}: {problem}") from None


def _reopened(request: Request, facts: Mapping[str, object]) -> Journal:
    """The journal of a tuning that is gone on with; what it left when it was killed is ended and removed."""
    journal = Journal.reopen(request.output)
    if journal.facts.get("space", facts["space"]) != facts["space"]:
        journal.close()
        raise UsageError(
            f"the space of {request.output} is another now than when it began; put it back as it was, or "
            "tune again into another directory"
        )
    end_left(str(request.output))
    for left in request.output.glob(f"{PREFIX}*"):
        shutil.rmtree(left, ignore_errors=True)
    return journal


def _judged(request: Request, check: list[str] | None, say: Callable[[str], None]) -> tuple[Evaluator, Space]:
    """What judges settings, and the settings that there are."""
    safety = "semantics" if request.safety == AUTO else request.safety
    if request.machine is not None:
        from leadline.tune.io.simulated import simulated  # noqa: PLC0415

        model, space = simulated(request.machine, str(request.kernel), request.ranks, request.space)
        return model, allowed(space, safety)
    space = allowed(_space(request), safety)
    layers = {each.name: each.layer for each in space.parameters}
    library = io_preload.library(say)
    io_preload.check(space)
    if request.kernel:
        return _kernel(request, layers, library, say), space
    made = Command(
        request.command,
        request.where,
        request.output,
        layers,
        library,
        printed=request.maximize or request.time,
        maximize=request.maximize is not None,
        check=check,
    )
    return made, space


def _space(request: Request) -> Space:
    """The space of real runs. Raises UsageError where a number that it is made of was not given."""
    name = request.space or SPACE
    needed = search.needed(name)
    given = _numbers(request.numbers, name, needed)
    if request.kernel:
        if "ranks" in given:
            raise UsageError("--number ranks: the ranks of a kernel are given by --ranks")
        given = {"ranks": request.ranks or KERNEL_RANKS, "nodes": 1, **given}  # it is started on this machine
    if missing := [each for each in needed if each not in given]:
        options = " ".join(f"--number {each}=N" for each in missing)
        raise UsageError(
            f"space {name} needs the number of {', '.join(missing)}, which is unknown here: give {options}"
        )
    return search.load(name, given)


def _numbers(words: tuple[str, ...], space: str, needed: tuple[str, ...]) -> dict[str, int]:
    """The numbers that were given; UsageError for what is none, or none of the space."""
    found: dict[str, int] = {}
    for word in words:
        name, _, value = word.partition("=")
        if not (value.isdecimal() and int(value)):
            raise UsageError(f"--number is a name and a count of 1 or more, as targets=48, but got {word!r}")
        if name not in needed:
            known = suggest(name, needed) if needed else "; it has none"
            raise UsageError(f"--number: space {space} has no number {name!r}{known}")
        if found.setdefault(name, int(value)) != int(value):
            raise UsageError(f"--number {name} is given twice: {found[name]} and {value}")
    return found


def _kernel(request: Request, layers: Mapping[str, str], library: Path, say: Callable[[str], None]) -> Kernel:
    """A kernel's launch and job."""
    from leadline.mpi.discover import find, resolve  # noqa: PLC0415
    from leadline.mpi.family import Start, family  # noqa: PLC0415
    from leadline.mpi.launcher import starter  # noqa: PLC0415
    from leadline.native.build import build  # noqa: PLC0415
    from leadline.targets.local.topology import possible  # noqa: PLC0415

    ranks = request.ranks or KERNEL_RANKS
    mpi = resolve(request.mpi, find())
    asked = point(str(request.kernel), request.sweeps)
    say(f"building for {mpi.id}")
    program = build(mpi)
    env = family(mpi).environment(mpi)
    oversubscribed = possible("default", ranks, ()) is not None
    command = [*starter(mpi)(mpi, Start(ranks, env=env, oversubscribe=oversubscribed)), str(program)]
    question = {"id": 0, "benchmark": request.kernel, "point": asked, "time": KERNEL_TIME}
    scratch = request.directory or request.output
    made = Kernel(command, request.where, scratch, layers, library, ranks, env=env, owner=request.output)
    return replace(made, job={"points": [question], "mpi": mpi.id})


def point(kernel: str, sweeps: tuple[str, ...]) -> dict[str, int | str]:
    """The kernel's point: the first usual value of each sweep, or what was asked."""
    if kernel not in paths.kernels():
        raise UsageError(f"there is no kernel {kernel!r}{suggest(kernel, paths.kernels())}")
    declared = {each.name: each for each in registry.benchmarks()[kernel].sweeps}
    found: dict[str, int | str] = {name: each.default[0] for name, each in declared.items()}
    for text in sweeps:
        name, equals, value = text.partition("=")
        if not equals or name not in declared:
            raise UsageError(f"{kernel} has no key {name!r}{suggest(name, declared)}")
        try:
            values = declared[name].read(value)
        except UsageError as problem:
            raise UsageError(f"{name} of {kernel} is never {value!r}: {problem}") from None
        if len(values) > 1:
            raise UsageError(f"a tuning is of one point: {name} of {kernel} is one value, but got {value!r}")
        found[name] = values[0]
    return found
