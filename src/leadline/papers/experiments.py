"""The experiments of a paper: its plans, simulated on its machines as `leadline run --on` does it."""

from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from leadline import machine
from leadline.papers import storage_runs
from leadline.papers.paper import Experiment, Paper
from leadline.papers.results import Constant, Machines
from leadline.plan import files as plan_files
from leadline.plan.model import Plan
from leadline.run import session
from leadline.targets.simulated.machine import SimulatedMachine


def run(paper: Paper, network: str, runs: Path, say: Callable[[str], None] = lambda _: None) -> list[Path]:
    """Simulate every plan of a paper on its machine; the runs, in the directory `runs`.

    `network` is the tier to simulate with; `say` hears what is being done.
    """
    paths = []
    for each in paper.experiments:
        path = runs / f"{named(paper, each)}-{datetime.now():%Y%m%d-%H%M%S}"
        paths.append(path)
        if not each.plan:
            say(f"the storage of {each.machine}")
            storage_runs.run(each, path)
            continue
        plan = plan_files.find(each.plan)
        target = SimulatedMachine.of(machine.load(each.machine), plan, network=network)
        try:
            session.run(Plan.load(plan), target, path, say=say, show=lambda progress: say(progress.told()))
        except KeyboardInterrupt as interrupt:
            way_on = f"go on with 'leadline run --resume {path}' and judge it with --from {path}"
            raise KeyboardInterrupt(f"every finished point is kept, {way_on}") from interrupt
    return paths


def named(paper: Paper, experiment: Experiment) -> str:
    """The beginning of the name of an experiment's run: its plan, and the machine where several have that."""
    if not experiment.plan:
        return f"{paper.name}-{experiment.machine}"
    alone = sum(each.plan == experiment.plan for each in paper.experiments) == 1
    return experiment.plan if alone else f"{experiment.plan}-{experiment.machine}"


def machines(paper: Paper) -> Machines:
    """What the claims must know of the paper's machines."""
    loaded = {each.machine: machine.load(each.machine) for each in paper.experiments}
    numbers = [(name, number) for name, each in loaded.items() for number in each.numbers()]
    constants: dict[str, Constant] = {}
    for name, number in numbers:
        if number.claim:
            value = number.value if number.stated is None else number.stated
            constants.setdefault(number.claim, Constant(float(value), name, number.key))
    calibrated = frozenset(number.calibrated for _, number in numbers if number.calibrated)
    return Machines(constants, calibrated, {name: each.native() for name, each in loaded.items()})
