"""Tags that are not the same for all: numbers of turns, or of the ranks at either end of a message."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from leadline.program.extend.peers import Place

# The number that a tag counts, of a place and the other end of the message.
_COUNTED: dict[str, Callable[[Place, int], int]] = {
    "turns": lambda place, peer: place.turn,
    "turns to come": lambda place, peer: place.turns - 1 - place.turn,
    "the own rank": lambda place, peer: place.rank,
    "the partner": lambda place, peer: peer,
    "both ranks": lambda place, peer: place.rank + peer,
}


class Tag(NamedTuple):
    """A tag that counts something, from a first number on."""

    counted: str
    first: int

    def __call__(self, place: Place, peer: int) -> int:
        """The tag of a message with a partner."""
        return self.first + _COUNTED[self.counted](place, peer)


def tags_of(known: Sequence[tuple[Place, int, int]]) -> list[Tag]:
    """All that hold for places, partners and tags."""
    place, peer, last = known[-1]
    found = (Tag(counted, last - of(place, peer)) for counted, of in _COUNTED.items())
    return [tag for tag in found if all(tag(at, other) == value for at, other, value in known)]
