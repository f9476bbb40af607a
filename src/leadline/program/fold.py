"""Repetitions in a sequence become loops, as they come: one pass, no window to be chosen.

What stands at the end is held against two places: a loop that ended just before it, which then has one more
turn, and the nearest earlier places where its last item stood, which make a loop of two.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from leadline.program.folded import Loop, Node

# How many earlier places of the last item are tried: bodies may contain an item this often.
TRIED = 64


class Folder:
    """Takes items (ints from 0) one by one and folds their repetitions.

    An item of `out` is a given one, or below 0 a loop: `_loops` has its count and body.
    """

    def __init__(self) -> None:
        self._out: list[int] = []
        self._places: defaultdict[int, list[int]] = defaultdict(list)  # of each item in `out`
        self._loops: list[tuple[int, int]] = []  # count, body
        self._loop_names: dict[tuple[int, int], int] = {}
        self._bodies: list[tuple[int, ...]] = []
        self._body_names: dict[tuple[int, ...], int] = {}
        # Where the loop at a place would count one more: the length of `out` then.
        self._due: defaultdict[int, set[int]] = defaultdict(set)

    def add(self, item: int) -> None:
        """The next item."""
        self._push(item)
        while self._count_up() or self._make_loop():
            pass

    def _push(self, item: int) -> None:
        place = len(self._out)
        self._places[item].append(place)
        self._out.append(item)
        if item < 0:
            self._due[place + 1 + len(self._bodies[self._loops[-1 - item][1]])].add(place)

    def _cut(self, length: int) -> None:
        for item in reversed(self._out[length:]):
            self._places[item].pop()
        del self._out[length:]

    def _loop(self, count: int, body: int) -> int:
        name = self._loop_names.setdefault((count, body), len(self._loops))
        if name == len(self._loops):
            self._loops.append((count, body))
        return -1 - name

    def _count_up(self) -> bool:
        """What stands at the end is once more the body of the loop before it."""
        out, length = self._out, len(self._out)
        for place in self._due.get(length, ()):
            if place >= length or out[place] >= 0:
                continue  # that loop is gone
            count, body = self._loops[-1 - out[place]]
            items = self._bodies[body]
            if place + 1 + len(items) == length and self._same(items, 0, place + 1, len(items)):
                self._cut(place)
                self._push(self._loop(count + 1, body))
                return True
        return False

    def _make_loop(self) -> bool:
        """What stands at the end stood just before it too."""
        out, length = self._out, len(self._out)
        places = self._places[out[-1]]
        last = out[-4:-1]
        for earlier in places[-2 : -2 - TRIED : -1]:
            size = length - 1 - earlier
            if 2 * size > length:
                return False
            if size > 3 and out[earlier - 3 : earlier] != last:
                continue
            if self._same(out, length - 2 * size, length - size, size):
                items = tuple(out[length - size :])
                body = self._body_names.setdefault(items, len(self._bodies))
                if body == len(self._bodies):
                    self._bodies.append(items)
                self._cut(length - 2 * size)
                self._push(self._loop(2, body))
                return True
        return False

    def _same(self, items: Sequence[int], begin: int, place: int, size: int) -> bool:
        """Whether so many items stand at a place of `out`.

        Long ones that differ do so soon, seen from their ends: no more of them is copied than is compared.
        """
        piece = 8
        while size > 0:
            rest = max(size - piece, 0)
            if tuple(items[begin + rest : begin + size]) != tuple(self._out[place + rest : place + size]):
                return False
            size, piece = rest, 8 * piece
        return True

    def nodes(self) -> tuple[tuple[Node, ...], list[int]]:
        """The folded sequence with its leaves numbered as they stand, and the item of each leaf."""
        items: list[int] = []

        def number(item: int) -> Node:
            if item >= 0:
                items.append(item)
                return len(items) - 1
            count, body = self._loops[-1 - item]
            return Loop(count, tuple(number(each) for each in self._bodies[body]))

        return tuple(number(item) for item in self._out), items


def fold(items: Iterable[int]) -> tuple[tuple[Node, ...], list[int]]:
    """The sequence (ints from 0) with its repetitions as loops, and the item of each leaf in its order.

    Unfolded again it is what was given, whatever that was.
    """
    folder = Folder()
    for item in items:
        folder.add(item)
    return folder.nodes()
