"""Which grids and groups of ranks explain recordings, and what each says of another number of ranks."""

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from leadline.program.extend.dealt import Shares
from leadline.program.extend.fit import Fitted, fit
from leadline.program.extend.grids import RULES, Lengths, Rule, lengths_at
from leadline.program.extend.groupings import Grouping, groupings
from leadline.program.extend.make import make
from leadline.program.extend.members import SAME, Ambiguous, Member, Misfit
from leadline.program.extend.peers import Around
from leadline.program.model import Program


@dataclass
class Explanation:
    """A grid and groups that hold for all recordings, with the program that follows or why none does."""

    fitted: Fitted
    lengths: Lengths
    program: Program | None
    problem: Misfit | None

    @property
    def grouping(self) -> Grouping:
        """Which of its ranks do the same."""
        return self.fitted.grouping

    @property
    def around(self) -> bool:
        """Whether partners are so many ranks further that are no steps in its grid."""
        return any(
            isinstance(relations[0], Around)
            for group in self.fitted.groups.values()
            for column in group.columns
            for relations in column.partners.values()
        )

    @property
    def misses(self) -> bool:
        """Whether it may well be right, but there are new ranks in places that no recording has."""
        return self.program is None and self.compared

    @property
    def compared(self) -> bool:
        """Whether each recording has ranks that do the same as others of another one."""
        shared: set[int] = set()
        for group in self.fitted.groups.values():
            sizes = {member.program.ranks for member in group.aligned.members}
            shared |= sizes if len(sizes) > 1 else set()
        return all(program.ranks in shared for program in self.fitted.programs)

    @property
    def tells(self) -> bool:
        """Whether most ranks of the largest recording do what ranks of all others do: then it says why."""
        every = len(self.fitted.programs)
        shared = 0
        for group in self.fitted.groups.values():
            counts = Counter(member.program.ranks for member in group.aligned.members)
            shared += counts[self.fitted.program.ranks] if len(counts) == every else 0
        return 2 * shared > self.fitted.program.ranks


class Search:
    """All explanations of recordings, the plainest first, and the reasons against the others."""

    def __init__(self, programs: Sequence[Program], ranks: int, grid: Lengths | None) -> None:
        """Of recordings in the order of their ranks, at a number of ranks in a grid or in any."""
        self._programs, self._ranks, self._grid = programs, ranks, grid
        self._members = [[Member(each, rank) for rank in range(each.ranks)] for each in programs]
        # Whether it held, less the level, how many operations were explained, and what was not.
        self._reasons: list[tuple[bool, int, int, str]] = []
        self._failed: dict[Hashable, Misfit] = {}
        self._held: dict[Rule, list[Grouping]] = {}

    @property
    def reason(self) -> str:
        """Why none holds: of the plainest groups of ranks, the one that explained most tells it best."""
        if self._reasons:
            return max(self._reasons, key=lambda each: each[:3])[3]
        return "no rule is known by which ranks do different things"

    def levels(self) -> Iterator[list[Explanation]]:
        """Those that hold, level by level."""
        rules = [rule for rule in RULES if self._grid is None or len(self._grid) == rule.dimensions]
        fewest = self._programs[0].ranks
        every = [(rule, grouping) for rule in rules for grouping in groupings(rule.dimensions, fewest)]
        for level in sorted({grouping.level for _, grouping in every}):
            yield [found for each in every if each[1].level == level for found in self._explained(*each)]

    def _explained(self, rule: Rule, grouping: Grouping) -> list[Explanation]:
        held = self._held.setdefault(rule, [])
        recorded = [program.ranks for program in self._programs]
        grids = [self._grid] if self._grid else lengths_at(rule, recorded, self._ranks)
        if not self._may_hold(rule, grouping):
            return []
        if any(self._refines(grouping, plain, rule, grids) for plain in held):
            return []
        try:
            fitted = fit(self._members, rule, grouping, self._shares, self._failed)
        except Misfit as problem:
            self._reasons.append((False, -grouping.level, problem.explained, str(problem)))
            return []
        held.append(grouping)
        return [self._at(fitted, lengths) for lengths in grids]

    def _at(self, fitted: Fitted, lengths: Lengths) -> Explanation:
        try:
            return Explanation(fitted, lengths, make(fitted, self._ranks, lengths), None)
        except Misfit as problem:
            found = Explanation(fitted, lengths, None, problem)
            if not isinstance(problem, Ambiguous):
                self._reasons.append((found.tells, -fitted.grouping.level, problem.explained, str(problem)))
            return found

    def _may_hold(self, rule: Rule, grouping: Grouping) -> bool:
        """Whether ranks of a group execute the same kinds of operations in each recording."""
        grids = [rule(program.ranks) for program in self._programs]
        if any(len({grid[axis] for grid in grids}) > 1 for axis in grouping.known):
            return False
        for program, codes in zip(self._programs, self._codes, strict=True):
            if not _inside([grouping.keys(rule(program.ranks))], [codes]):
                return False
        return True

    @cached_property
    def _shares(self) -> Shares:
        return Shares(self._members)

    @cached_property
    def _codes(self) -> list[list[int]]:
        """Of each recording's ranks a number for what they execute but for partners and sizes."""
        kinds: dict[Hashable, int] = {}
        found = []
        for program in self._programs:
            of_sequence: dict[int, int] = {}
            codes = []
            for rank in range(program.ranks):
                sequence = int(program.rank_sequence[rank])
                if sequence not in of_sequence:
                    of_sequence[sequence] = _code(program, rank, kinds)
                codes.append(of_sequence[sequence])
            found.append(codes)
        return found

    def _refines(self, fine: Grouping, plain: Grouping, rule: Rule, at: Sequence[Lengths]) -> bool:
        """Whether all ranks that a grouping puts together are together in a plainer one, too."""
        grids = [rule(program.ranks) for program in self._programs]
        if not _inside([fine.keys(each) for each in grids], [plain.keys(each) for each in grids]):
            return False
        new = [[(rank, each) for rank in range(self._ranks)] for each in at]
        return _inside(  # the new ranks may be many: their keys are not kept
            ((fine.key(*each) for each in ranks) for ranks in new),
            ((plain.key(*each) for each in ranks) for ranks in new),
        )


def plainer(one: Explanation, other: Explanation) -> bool:
    """Whether this one puts together the recordings' ranks that the other one does, and more of them."""
    sizes = [program.ranks for program in one.fitted.programs]
    plain, fine = ([each.grouping.keys(each.fitted.rule(ranks)) for ranks in sizes] for each in (one, other))
    return _inside(fine, plain) and not _inside(plain, fine)


def _inside(fine: Iterable[Iterable[Hashable]], plain: Iterable[Iterable[Hashable]]) -> bool:
    together: dict[Hashable, Hashable] = {}
    return all(
        together.setdefault(one, other) == other
        for ones, others in zip(fine, plain, strict=True)
        for one, other in zip(ones, others, strict=True)
    )


def _code(program: Program, rank: int, kinds: dict[Hashable, int]) -> int:
    leaves = [
        kinds.setdefault(tuple(getattr(leaf, name) for name in SAME if name != "tag"), len(kinds))
        for leaf in program.leaves(rank)
    ]
    executed = np.array(leaves, np.int64)[program.sequence(rank).order_cached]
    return kinds.setdefault(executed.tobytes(), len(kinds))
