"""Ranks of recordings, and why an explanation of what they do does not hold."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from leadline.program.extend.forms import LEAST
from leadline.program.model import Kind, Operation, Program

# What must be the same wherever the code is the same.
SAME = ("kind", "tag", "request", "mode", "form", "type", "reduction", "free")
# Of what only the larger recordings have, such as ranks in the middle of a grid.
TOO_FEW = f"what changes is known from {LEAST} recordings or more only; record more ranks"


class Misfit(Exception):
    """An explanation that does not hold. `explained` says how far it came: operations that it did explain."""

    def __init__(self, reason: str, explained: int = 0) -> None:
        """With a reason for people."""
        super().__init__(reason)
        self.explained = explained


class Ambiguous(Misfit):
    """An explanation that holds, and allows several programs at the new number of ranks."""


@dataclass(frozen=True)
class Member:
    """A rank of a recording."""

    program: Program
    rank: int

    @cached_property
    def leaves(self) -> tuple[Operation, ...]:
        """Its operations."""
        return self.program.leaves(self.rank)

    @cached_property
    def counts(self) -> list[int]:
        """How often it executes each of them."""
        return self.program.sequence(self.rank).counts

    @cached_property
    def remembered(self) -> dict[object, Any]:
        """What was found out about it, by whoever looked."""
        return {}

    @cached_property
    def made(self) -> Mapping[int, int]:
        """Of its communicators: which one it is of those that the rank came to; 0 is the world."""
        found = {0: 0}
        sequence = self.program.sequence(self.rank)
        leaves, first = np.unique(sequence.order_cached, return_index=True)
        for leaf in leaves[np.argsort(first)].tolist():
            operation = self.leaves[leaf]
            if operation.kind == Kind.COMM and operation.extra:
                found.setdefault(operation.extra - 1, len(found))
        return found

    def place(self, operation: Operation) -> str:
        """Where in the program it was called, for people."""
        site = self.program.sites[operation.site]
        name = Kind(operation.kind).name.lower()
        return f"the {name} at {site}" if site else f"a {name}"
