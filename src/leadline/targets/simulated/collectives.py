"""The messages of collectives, asked of the simulator: the algorithms that it takes are native."""

import json
import os
import subprocess
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np

from leadline.core.errors import LeadlineError, UsageError
from leadline.native.build import build_sim, memory_of_sim
from leadline.program.messages import Answer, Ask, Question
from leadline.program.model import COLLECTIVES, Kind, Program, called

if TYPE_CHECKING:
    from leadline.targets.simulated.machine import SimulatedMachine

_FIELDS = 5  # of a step (Answer.moves)


def asking(target: "SimulatedMachine | None", algorithms: Mapping[str, str]) -> Ask:
    """Answers by the algorithms that a described machine takes, with its costs of copying and combining.

    None: by those of no machine in particular, a rank on each node, at no cost. `algorithms` are taken
    instead, by the operation: {"allreduce": "ring"}. Answering raises UsageError for an operation without
    such an algorithm, or that the program does not call.
    """

    def ask(program: Program, questions: Sequence[Question]) -> Iterator[Answer]:
        called_here = {_name(Kind(kind)) for kind, _ in program.calls if kind in COLLECTIVES}
        for operation in algorithms:
            if operation not in called_here:
                raise UsageError(
                    f"an algorithm for {operation} changes nothing: the program's collectives are "
                    f"{', '.join(sorted(called_here)) or 'none'}"
                )
        if not questions:
            return
        job = _job(target, program, questions, algorithms)
        with TemporaryDirectory() as place:
            path = Path(place) / "questions.json"
            path.write_text(json.dumps(job))
            command = [str(build_sim()), "--collectives", str(path)]
            done = subprocess.run(
                command, check=False, capture_output=True, text=True, env={**os.environ, **memory_of_sim()}
            )
        if done.returncode:
            raise LeadlineError(f"the simulator lists no messages: {done.stderr.strip()}")
        lines = iter(done.stdout.splitlines())
        for question in questions:
            yield _answer(question, lines)

    return ask


def _name(kind: Kind) -> str:
    """The operation whose algorithms do it."""
    return (Kind.SCAN if kind == Kind.EXSCAN else kind).name.lower()


def _job(
    target: "SimulatedMachine | None",
    program: Program,
    questions: Sequence[Question],
    algorithms: Mapping[str, str],
) -> dict[str, Any]:
    """What the simulator is asked (native/comm/sim/listing.cpp)."""
    if target is None:
        machine: dict[str, Any] = {"name": "none", "node": {"ranks": 1}, "protocol": [{"name": "eager"}]}
        topology: dict[str, Any] = {"kind": "torus", "shape": [program.ranks]}
        mapping = "blocked"
    else:
        machine, topology = target.native(), target.machine.partition(target.partition)
        mapping = target.native_mapping(target.mapping)
    comms = list(Counter(each.comm for each in questions))
    return {
        "simulate": {
            "machine": machine,
            "topology": topology,
            "ranks": program.ranks,
            "mapping": mapping,
            "network": "loggp",
        },
        "communicators": [_runs(program.communicators[comm].members) for comm in comms],
        "collectives": [_asked(each, comms.index(each.comm), algorithms) for each in questions],
    }


def _asked(question: Question, communicator: int, algorithms: Mapping[str, str]) -> dict[str, Any]:
    operation = _name(question.kind)
    asked = {
        "communicator": communicator,
        "operation": operation,
        "root": question.root,
        "bytes": question.bytes,
        "algorithm": algorithms.get(operation, ""),
    }
    if question.blocks:
        asked["blocks"] = question.blocks
    if question.in_place:
        asked["in_place"] = True
    if question.rank >= 0:
        asked["rank"] = question.rank
    return asked


def _runs(members: Sequence[int]) -> list[list[int]]:
    """[first, count, step] of world ranks."""
    if isinstance(members, range):
        return [[members.start, len(members), members.step]]
    return [[rank, 1, 1] for rank in members]


def _answer(question: Question, lines: Iterator[str]) -> Answer:
    said = json.loads(next(lines))
    if "refused" in said:
        raise UsageError(f"{called(question.kind)} cannot be told as messages: {said['refused']}")
    rows = [np.array(next(lines).split(), np.int64).reshape(-1, _FIELDS) for _ in range(int(said["lines"]))]
    return Answer(str(said["algorithm"]), bool(said["hardware"]), rows)
