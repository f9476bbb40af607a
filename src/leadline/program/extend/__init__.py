"""A program at another number of ranks, from recordings of it at three or more.

What a rank asks for is explained by its place: in a grid that the number of ranks gives, the partners of its
messages are offsets in that grid, roots or exchanges of bits; its communicators are rows, columns, planes or
blocks; sizes are powers of the number of ranks or sums with it. An explanation must hold for every operation
of every rank of every recording. Of those that hold, the plainest are compared at the number of ranks that is
asked for: where they differ, one of them leaves the program open, or none holds, the program is refused with
the reason.
"""

from collections.abc import Sequence
from math import prod

import numpy as np

from leadline.core.errors import UsageError
from leadline.core.formatting import counted
from leadline.program.extend.fit import Fitted
from leadline.program.extend.grids import Lengths, Rule
from leadline.program.extend.members import Ambiguous
from leadline.program.extend.search import Explanation, Search, plainer
from leadline.program.extend.settled import settled
from leadline.program.folded import Folded
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
    if grid and prod(grid) != ranks:
        raise UsageError(f"a grid of {'x'.join(map(str, grid))} has {prod(grid)} ranks, but got {ranks}")
    search = Search(settled(sorted(programs, key=lambda each: each.ranks)), ranks, grid)
    held: list[Explanation] = []
    for found in search.levels():
        held += found
        if any(each.program is not None for each in found):
            break
    if grid and not all(each.around for each in held):
        held = [each for each in held if not each.around]
    for each in sorted(held, key=lambda each: not each.grouping.sure):
        if each.program is not None:
            _check_alone(each, held, grid)
            if not _is_sure(each, programs):
                raise UsageError(
                    f"the recordings do not decide what the program is: by {_told(each)} it may be "
                    "one by chance; record more ranks, and other numbers of them"
                )
            return Extension(each.program, each.fitted, each.lengths)
    for each in held:
        if isinstance(each.problem, Ambiguous):
            raise UsageError(f"the recordings do not decide what the program is: {each.problem}")
    raise UsageError(f"the program has no regular form that can be extended: {search.reason}")


def _is_sure(one: Explanation, programs: Sequence[Program]) -> bool:
    """Whether its groups are no chance: usual ones, or such as many ranks of all recordings are in."""
    fewest = min(program.ranks for program in programs)
    return one.grouping.sure or 0 < one.grouping.sure_from <= fewest


def _check_alone(chosen: Explanation, held: Sequence[Explanation], grid: Lengths | None) -> None:
    """That no explanation as plain says something else, or leaves it open.

    Squares and cubes do not tell how a grid is turned, a step of four ranks is one along the first axis of
    grids of 2x4, 3x4 and 4x4, and the first place of three is the first half.
    """
    assert chosen.program is not None
    dimensions = chosen.fitted.rule.dimensions
    for other in sorted(held, key=lambda each: each.fitted.rule.dimensions != dimensions):
        if other.program is not None and not _same(chosen.program, other.program):
            _refuse(chosen, other, grid)
    for other in held:
        if isinstance(other.problem, Ambiguous) or (other.misses and not plainer(chosen, other)):
            otherwise = "" if grid else ", or name the grid with --grid"
            raise UsageError(
                "the recordings do not decide what the program is: "
                f"by {_told(other)} {other.problem}{otherwise}"
            )


def _told(one: Explanation) -> str:
    return f"a grid of {'x'.join(map(str, one.lengths))} ({one.grouping.name})"


def _same(one: Program, other: Program) -> bool:
    """Whether all ranks of two programs that `make` made execute the same."""
    if one.communicators == other.communicators:  # then peers as differences are the same where peers are
        pairs = np.unique(np.stack([one.rank_sequence, other.rank_sequence]), axis=1).T
        return all(_alike(one.sequences[a], other.sequences[b]) for a, b in pairs)
    return all(
        one.leaves(rank) == other.leaves(rank) and _repeated_alike(one.sequence(rank), other.sequence(rank))
        for rank in range(one.ranks)
    )


def _alike(one: Folded, other: Folded) -> bool:
    return one.leaves == other.leaves and _repeated_alike(one, other)


def _repeated_alike(one: Folded, other: Folded) -> bool:
    return one.nodes == other.nodes or np.array_equal(one.order(), other.order())


def _refuse(chosen: Explanation, other: Explanation, grid: Lengths | None) -> None:
    ranks = f"{np.prod(chosen.lengths):,} ranks"
    one, two = ("x".join(map(str, each.lengths)) for each in (chosen, other))
    if chosen.fitted.rule != other.fitted.rule or chosen.lengths != other.lengths:
        ways = f"a grid of {one} or of {two}" if one != two else f"a grid of {one} in two ways"
        raise UsageError(
            f"{ranks} may be {ways}, and the recordings fit both: "
            + ("" if grid else "name one with --grid, or ")
            + "add a recording whose grid is no square or cube"
        )
    raise UsageError(
        f"in a grid of {one} {ranks} may do the same by {chosen.grouping.name} or by {other.grouping.name}, "
        "and the recordings fit both: record another number of ranks, with longer axes"
    )


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
                f"the recording of {counted(each.ranks, 'rank')} is incomplete: "
                f"{counted(len(each.partial), 'rank')} of it end{'s' if len(each.partial) == 1 else ''} early"
            )
        if any(communicator.remote for communicator in each.communicators):
            raise UsageError(f"the recording of {counted(each.ranks, 'rank')} has an intercommunicator")


__all__ = ["Extension", "Rule", "extend"]
