"""A program at another number of ranks, from recordings of it at three or more.

What a rank asks for is explained by its place: in a grid that the number of ranks gives, the partners of its
messages are offsets in that grid, roots or exchanges of bits; its communicators are rows, columns or planes;
sizes are powers of the number of ranks or sums with it. An explanation must hold for every operation of every
rank of every recording; where none does, or where two that hold differ at the number of ranks that is asked
for, the program is refused with the reason.
"""

from collections.abc import Sequence

from leadline.core.errors import UsageError
from leadline.program.extend.fit import Fitted, Misfit, fit
from leadline.program.extend.grids import GROUPINGS, RULES, Rule
from leadline.program.extend.make import make
from leadline.program.model import Program

LEAST = 3  # recordings


class Extension:
    """A program at another number of ranks: the grid that explains it, and how well its sizes are known.

    `grid` is the one of the new ranks; `errors` are relative: how far a size ("bytes") may be off, in the
    recordings and among what they allow at the new number of ranks, and how far computation in all is off
    the powers of the ranks that stand for it ("computation").
    """

    def __init__(self, program: Program, fitted: Fitted, grid: tuple[int, ...]) -> None:
        """Of a program that was made from a fit."""
        self.program, self.grid, self.errors = program, grid, fitted.errors
        self.grouping = fitted.grouping


def extend(programs: Sequence[Program], ranks: int, grid: tuple[int, ...] | None = None) -> Extension:
    """The program that `programs` are at other sizes, with so many ranks.

    `grid` are the lengths of the grid of the new ranks, where they are not as near to a cube as can be.
    Raises UsageError, with the reason, where the recordings do not say what it is.
    """
    _check(programs, ranks)
    every = sorted(programs, key=lambda each: each.ranks)
    reasons: list[tuple[int, str]] = []
    for rule in RULES:
        if grid is not None and len(grid) != rule.dimensions:
            continue
        for grouping in GROUPINGS:
            explained = 0
            try:
                fitted = fit(every, rule, grouping)
                explained = sum(each.operations_in_all for each in every)
                lengths = grid or rule(ranks)
                found = Extension(make(fitted, ranks, lengths), fitted, lengths)
                if grid is None:
                    _check_alone(found, rule, every)
                return found
            except Misfit as problem:
                reasons.append((explained or problem.explained, str(problem)))
    # The explanation that came furthest tells best what is wrong.
    why = max(reasons, key=lambda each: each[0])[1]
    raise UsageError(f"the program has no regular form that can be extended: {why}")


def _check_alone(found: Extension, rule: Rule, every: Sequence[Program]) -> None:
    """That the same lengths in the other order fit worse or give the same: squares and cubes do not tell."""
    ranks, turned = found.program.ranks, Rule(rule.dimensions, not rule.longest_first)
    lengths = turned(ranks)
    if lengths == found.grid:
        return
    for grouping in GROUPINGS:
        try:
            other = make(fit(every, turned, grouping), ranks, lengths)
        except Misfit:
            continue
        if any(other.leaves(rank) != found.program.leaves(rank) for rank in range(ranks)):
            one, two = ("x".join(map(str, each)) for each in (found.grid, lengths))
            raise UsageError(
                f"{ranks} ranks may be a grid of {one} or of {two}, and the recordings fit both: "
                "name one with --grid, or add a recording whose grid is no square or cube"
            )
        return


def _check(programs: Sequence[Program], ranks: int) -> None:
    sizes = [each.ranks for each in programs]
    if len(set(sizes)) < LEAST:
        raise UsageError(
            f"extending needs recordings of {LEAST} or more different numbers of ranks, but got "
            f"{len(set(sizes))} ({', '.join(map(str, sorted(sizes)))} ranks)"
        )
    if len(set(sizes)) < len(sizes):
        told = ", ".join(map(str, sorted(sizes)))
        raise UsageError(f"two recordings have the same number of ranks: {told}")
    if ranks < 1:
        raise UsageError(f"a program has 1 or more ranks, but got {ranks}")
    for each in programs:
        if each.partial:
            raise UsageError(
                f"the recording of {each.ranks} ranks is incomplete: {len(each.partial)} ranks end early"
            )
        if any(communicator.remote for communicator in each.communicators):
            raise UsageError(f"the recording of {each.ranks} ranks has an intercommunicator")


__all__ = ["Extension", "Rule", "extend"]
