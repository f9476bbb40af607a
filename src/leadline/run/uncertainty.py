"""How far the answers of a simulated machine move when its constants move within their intervals.

A number of a machine file may have an interval: that of a calibration, or of sources that differ. Each such
constant is set to both ends of its interval, the others staying as they are, and the plan is simulated
again. That gives the derivative of every answer by every constant; where an answer is linear in a constant,
as times of the LogGP network are in latencies and overheads, it is exact. The interval of an answer takes
the constants as independent: what each moves it by is added as squares, upwards and downwards apart.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import hypot

import polars as pl

from leadline.analysis.estimates import launch_estimates, series_columns
from leadline.core.errors import UsageError
from leadline.core.record import Cell
from leadline.machine import Number
from leadline.plan.model import Plan
from leadline.run.session import simulate
from leadline.targets.simulated.machine import SimulatedMachine

_Key = tuple[Cell, ...]


@dataclass(frozen=True)
class Effect:
    """What one constant does to one answer, both in SI units."""

    constant: Number
    at_low: float  # the answer with the constant at the lower end of its interval
    at_high: float

    @property
    def derivative(self) -> float:
        """The answer's change for each unit of the constant, over its interval."""
        low, high = _ends(self.constant)
        return (self.at_high - self.at_low) / (high - low)


@dataclass(frozen=True)
class Uncertainty:
    """An answer with the interval that it has from the intervals of the machine's constants, in SI units.

    `point` has the keys and coordinates of the answer; `effects` begin with the constant that moves it most.
    """

    point: Mapping[str, Cell]
    unit: str
    value: float
    effects: Sequence[Effect]

    @property
    def low(self) -> float:
        """The lower end."""
        return self.value - hypot(*(max(0.0, self.value - min(e.at_low, e.at_high)) for e in self.effects))

    @property
    def high(self) -> float:
        """The upper end."""
        return self.value + hypot(*(max(0.0, max(e.at_low, e.at_high) - self.value) for e in self.effects))


def uncertain(target: SimulatedMachine) -> list[Number]:
    """The constants that have an interval and that the simulator uses.

    Raises UsageError where there is none, and where noise would hide what they do.
    """
    if target.noise:
        raise UsageError("--uncertainty needs a simulation without noise: leave out --noise")
    native = target.machine.native()
    found = [
        number
        for number in target.machine.numbers()
        if number.interval
        and number.interval[0] < number.interval[1]
        and (number.key in native or number.key.partition(".")[0] in native)
    ]
    if not found:
        raise UsageError(
            f"no constant of {target.machine.name} that is simulated has an interval; machines that "
            "'leadline calibrate' wrote have them"
        )
    return found


def uncertainty(
    plan: Plan, target: SimulatedMachine, records: pl.DataFrame, say: Callable[[str], None] = lambda _: None
) -> list[Uncertainty]:
    """How far each answer in `records`, those of the plan at this target, moves with the machine's constants.

    Raises UsageError as `uncertain` does. An answer that one of the simulations does not have is left out.
    """
    effects: dict[_Key, list[Effect]] = {}
    names = series_columns(records)
    names.remove("run")
    for constant in uncertain(target):
        say(f"simulating the ends of {constant.key}")
        moved = [
            replace(target, machine=target.machine.with_number(constant.key, end)) for end in _ends(constant)
        ]
        at_low, at_high = (_answers(simulate(plan, each), names) for each in moved)
        for key in at_low.keys() & at_high.keys():
            effects.setdefault(key, []).append(Effect(constant, at_low[key], at_high[key]))
    units = dict(records.select("metric", "unit").unique().iter_rows())
    return [
        Uncertainty(
            point=(point := dict(zip(names, key, strict=True))),
            unit=str(units[point["metric"]]),
            value=value,
            effects=sorted(effects[key], key=_swing, reverse=True),
        )
        for key, value in _answers(records, names).items()
        if key in effects
    ]


def _answers(records: pl.DataFrame, names: Sequence[str]) -> dict[_Key, float]:
    """The value of each point."""
    rows = launch_estimates(records).sort(names).select(*names, "median").iter_rows()
    return {row[:-1]: row[-1] for row in rows}


def _swing(effect: Effect) -> float:
    """How far a constant moves an answer."""
    return abs(effect.at_high - effect.at_low)


def _ends(constant: Number) -> tuple[float, float]:
    """The interval of a constant that has one, in SI units."""
    assert constant.interval is not None
    return constant.interval
