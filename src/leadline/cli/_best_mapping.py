"""`--what-if mapping=best` of `leadline replay`: the best mapping that `leadline tune mapping` finds."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from leadline.run.replay import Change
    from leadline.targets.simulated.machine import SimulatedMachine

BEST = "best"
SEARCH = 20.0  # s


def with_best_mapping(
    changes: "Sequence[Change]",
    program: Path,
    target: "SimulatedMachine",
    place: Path,
    say: Callable[[str], None],
) -> "list[Change]":
    """The changes with the name of a mapping in place of "best"; its file, where it needs one, is in `place`.

    Raises UsageError where the program has no messages between ranks.
    """
    from leadline.tune.mapping import tuning  # noqa: PLC0415
    from leadline.tune.mapping.candidates import ORDER, PERMUTATION, TILING  # noqa: PLC0415
    from leadline.tune.mapping.forms import save, text, usual_form  # noqa: PLC0415

    if not any(change.what == "mapping" and change.value == BEST for change in changes):
        return list(changes)
    task = tuning.of_matrix(program, target.machine, None, target.network)
    outcome = tuning.tune(task, SEARCH, [ORDER, TILING, PERMUTATION], say)
    best = outcome.best()
    name = best.candidate.name
    if usual_form(best) == "order":
        value = name
    else:
        path = place / "best-mapping.txt"
        save(text(outcome, best, "seats", None), path)
        value = str(path)
    return [
        replace(change, value=value, words=f"mapping={BEST} ({name})") if change.value == BEST else change
        for change in changes
    ]
