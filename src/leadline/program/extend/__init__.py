"""A program at another number of ranks, from recordings of it at three or more.

What a rank asks for is explained by its place: in a grid that the number of ranks gives, the partners of its
messages are offsets in that grid, roots or exchanges of bits; its communicators are rows, columns or planes;
sizes are powers of the number of ranks or sums with it. An explanation must hold for every operation of every
rank of every recording; where none does, or where two that hold differ at the number of ranks that is asked
for, the program is refused with the reason.
"""

from collections.abc import Sequence

from leadline.core.errors import UsageError
from leadline.program.extend.align import Ambiguous, Misfit
from leadline.program.extend.fit import Fitted, fit
from leadline.program.extend.grids import GROUPINGS, RULES, Grouping, Lengths, Rule
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
    undecided: list[tuple[int, str]] = []  # explanations that hold and allow several programs: their groups
    for rule in RULES:
        if grid is not None and len(grid) != rule.dimensions:
            continue
        for number, grouping in enumerate(GROUPINGS):
            explained = 0
            try:
                fitted = fit(every, rule, grouping)
                explained = sum(each.operations_in_all for each in every)
                lengths = grid or rule(ranks)
                found = Extension(make(fitted, ranks, lengths), fitted, lengths)
            except Ambiguous as problem:
                undecided.append((number, str(problem)))
                continue
            except Misfit as problem:
                reasons.append((explained or problem.explained, str(problem)))
                continue
            _check_decided(undecided, number, "" if grid else ", or name the grid with --grid")
            _check_alone(found, rule, every, grid)
            return found
    _check_decided(undecided, len(GROUPINGS))
    # The explanation that came furthest tells best what is wrong.
    why = max(reasons, key=lambda each: each[0])[1]
    raise UsageError(f"the program has no regular form that can be extended: {why}")


def _check_decided(undecided: Sequence[tuple[int, str]], number: int, otherwise: str = "") -> None:
    """That no explanation by groups as plain leaves open what another one gives: that would be chance."""
    for other, why in sorted(undecided, key=lambda each: each[0]):
        if other <= number:
            raise UsageError(f"the recordings do not decide what the program is: {why}{otherwise}")


def _check_alone(found: Extension, rule: Rule, every: Sequence[Program], grid: Lengths | None) -> None:
    """That grids of other dimensions, or in the other order, do not fit or give the same program.

    Squares and cubes do not tell how a grid is turned, and a step of four ranks is one along the first axis
    of grids of 2x4, 3x4 and 4x4. Of other dimensions only groups as plain as those found count: the more
    groups, the more holds by chance.
    """
    as_plain = GROUPINGS[: GROUPINGS.index(found.grouping) + 1]
    turned = [other for other in RULES if other != rule and other.dimensions == rule.dimensions]
    for other in [*turned, *(other for other in RULES if other.dimensions != rule.dimensions)]:
        if grid is not None and len(grid) != other.dimensions:
            continue
        lengths = grid or other(found.program.ranks)
        if lengths == found.grid and all(other(each.ranks) == rule(each.ranks) for each in every):
            continue
        groupings = GROUPINGS if other in turned else as_plain
        if _differs(found.program, other, every, lengths, groupings):
            one, two = ("x".join(map(str, each)) for each in (found.grid, lengths))
            ways = f"a grid of {one} or of {two}" if one != two else f"a grid of {one} in two ways"
            raise UsageError(
                f"{found.program.ranks} ranks may be {ways}, and the recordings fit both: "
                + ("" if grid else "name one with --grid, or ")
                + "add a recording whose grid is no square or cube"
            )


def _differs(
    found: Program, rule: Rule, every: Sequence[Program], lengths: Lengths, groupings: Sequence[Grouping]
) -> bool:
    """Whether the recordings fit such grids as well, and another program follows, or several may."""
    for grouping in groupings:
        try:
            other = make(fit(every, rule, grouping), found.ranks, lengths)
        except Ambiguous:
            return True
        except Misfit:
            continue
        return any(other.leaves(rank) != found.leaves(rank) for rank in range(found.ranks))
    return False


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
