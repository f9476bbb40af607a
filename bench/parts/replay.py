"""How far off is a recorded program, replayed on a description of this machine that was calibrated on it?

Programs of different kinds run on two ranks of Open MPI, without the recorder and with it in turns. Each
recording is replayed on the calibrated machine; its time and its time in MPI are divided by the recorded ones
of the same run. BENCH_MACHINE is a machine file; without it this machine is measured and calibrated first.
BENCH_CASES names programs, such as "hpcc master".
"""

import os
import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import numpy as np
import numpy.typing as npt

import replayed
from found import Found, at_most, within
from leadline.core.errors import LeadlineError
from leadline.core.statistics import median_interval, ratio_interval
from leadline.machine import load
from leadline.mpi.family import Start, family
from leadline.mpi.launcher import starter
from leadline.mpi.library import Mpi
from leadline.program.model import Program
from leadline.record import session
from leadline.run.replay import recorded_communication, recorded_time, replay
from leadline.targets.simulated.machine import SimulatedMachine
from programs import mpis

TURNS = int(os.environ.get("BENCH_TURNS", "4"))
LEADLINE = Path(__file__).parents[2] / ".venv" / "bin" / "leadline"
TIME, MESSAGES = 0.05, 0.15  # how far from 1 a ratio may be


@dataclass
class Turn:
    """A recording of a program or of a part of it beside its replay: seconds as a whole and in MPI."""

    recorded: float
    inside: float
    replayed: float
    replayed_inside: float


@dataclass
class Case:
    """What the turns of a program gave, by part; "" is all of it."""

    without: list[float] = field(default_factory=list)  # s, wall time
    with_recorder: list[float] = field(default_factory=list)
    parts: dict[str, list[Turn]] = field(default_factory=dict)


def measure() -> Iterator[Found]:
    """Rows of each program and of HPCC's parts; at last the medians over all of them."""
    mpi = next((each for each in mpis() if each.family == "openmpi"), None)
    if mpi is None:
        raise LeadlineError("Open MPI is not installed")
    every: dict[str, list[Turn]] = {}
    with TemporaryDirectory(prefix="leadline-bench-") as directory:
        machine = _machine(mpi, Path(directory))
        for name, command in replayed.commands(mpi, Path(directory)).items():
            if command is None:
                yield Found(
                    f"{name}: replayed", float("nan"), "1", None, "", lambda _: False, "not installed"
                )
                continue
            case = _case(mpi, command, Path(directory), machine)
            for part, turns in case.parts.items():
                every[f"{name} {part}".strip()] = turns
                yield from _rows(f"{name} {part}".strip(), turns, case)
    yield from _overall(every)


def _overall(every: Mapping[str, Sequence[Turn]]) -> Iterator[Found]:
    """The median over programs of how far each one's median is from its recording."""
    off, messages = [], []
    for turns in every.values():
        off.append(abs(median(turn.replayed / turn.recorded for turn in turns) - 1))
        messages.append(abs(median(turn.replayed_inside / turn.inside for turn in turns) - 1))
    note = f"{len(every)} programs and parts"
    for what, values, limit in (("time", off, TIME), ("time in MPI", messages, MESSAGES)):
        interval = median_interval(values) if len(values) > 1 else None
        yield Found(
            f"error of the replayed {what}, median over programs",
            median(values),
            "1",
            interval,
            f"{limit:g}",
            at_most(limit),
            note,
        )


def _rows(name: str, turns: Sequence[Turn], case: Case) -> Iterator[Found]:
    """The two ratios of a program or part."""
    cost = ratio_interval(case.without, case.with_recorder).value
    notes = (
        f"{median(turn.recorded for turn in turns):.3g} s recorded; recording cost {cost:.3f}",
        f"{median(turn.inside for turn in turns):.3g} s recorded",
    )
    ratios = (
        ("time", [turn.replayed / turn.recorded for turn in turns], TIME),
        ("time in MPI", [turn.replayed_inside / turn.inside for turn in turns], MESSAGES),
    )
    for note, (what, values, limit) in zip(notes, ratios, strict=True):
        interval = median_interval(values) if len(values) > 1 else None
        target = f"1 ± {limit:g}"
        yield Found(
            f"{name}: replayed {what} over recorded",
            median(values),
            "1",
            interval,
            target,
            within(limit),
            note,
        )


def _machine(mpi: Mpi, place: Path) -> Path:
    """The machine file to replay on."""
    if given := os.environ.get("BENCH_MACHINE"):
        return Path(given)
    made = place / "here.toml"
    for command in (
        ["run", "calibrate", "-o", str(place / "calibrate")],
        ["calibrate", str(place / "calibrate"), "--mpi", mpi.id, "-o", str(made)],
    ):
        subprocess.run([str(LEADLINE), *command], check=True, stdout=subprocess.DEVNULL)
    return made


def _case(mpi: Mpi, command: Sequence[str], place: Path, machine: Path) -> Case:
    """The turns of one program."""
    env = family(mpi).environment(mpi)
    whole = [*starter(mpi)(mpi, Start(2, env=env)), *command]
    library = session.prepare(mpi, whole)
    case = Case()
    for _ in range(TURNS):
        case.without.append(_run(whole, env, place))
        with TemporaryDirectory(prefix="record-", dir=place) as spills:
            added = session.environment(library, Path(spills))
            case.with_recorder.append(_run(whole, {**env, **added}, place))
            program = session.program(Path(spills), whole)
        path = place / "recorded.program"
        program.write(path)
        _replayed(program, path, machine, case)
    return case


def _run(command: Sequence[str], env: Mapping[str, str], place: Path) -> float:
    """Wall time of a command, s."""
    begin = time.perf_counter()
    done = subprocess.run(command, env={**os.environ, **env}, cwd=place, capture_output=True, check=False)
    if done.returncode:
        raise LeadlineError(f"{command[-1]} ended with {done.returncode}: {done.stderr.decode()[-300:]}")
    return time.perf_counter() - begin


def _replayed(program: Program, path: Path, machine: Path, case: Case) -> None:
    """Replays a recording and keeps its turns."""
    target = SimulatedMachine.of(load(machine), None, program.ranks)
    found = replay(path, target, ranks=program.ranks, detailed=True)
    recorded, inside = recorded_time(program), recorded_communication(program)
    assert recorded and inside and found.times is not None and program.times_of is not None
    case.parts.setdefault("", []).append(Turn(recorded, inside, found.time.value, found.communication.value))
    if keep := os.environ.get("BENCH_KEEP"):
        shutil.copy(path, keep)
        shutil.copy(path.with_name(path.name + ".times"), keep)
    for name, ends in replayed.parts(program).items():
        one, other = (_between(times, ends) for times in (program.times_of, found.times))
        case.parts.setdefault(name, []).append(Turn(*one, *other))


def _between(
    times: Mapping[int, npt.NDArray[np.int64]], ends: Sequence[tuple[int, int]]
) -> tuple[float, float]:
    """Seconds from the first operation's end to the last one's, and in operations, mean of the ranks."""
    spans, inside = [], []
    for rank, (first, last) in enumerate(ends):
        pairs = times[rank]
        spans.append(float(pairs[last, 1] - pairs[first, 1]) * 1e-9)
        part = pairs[first + 1 : last + 1]
        inside.append(float((part[:, 1] - part[:, 0]).sum()) * 1e-9)
    return sum(spans) / len(spans), sum(inside) / len(inside)
