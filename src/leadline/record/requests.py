"""Requests of several threads, told apart: MPI may give one thread a handle that another one's call frees."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from leadline.program.model import COLLECTIVES, Form, Kind
from leadline.record.ranks import OTHER_HALF
from leadline.record.spills import Entry

# Where an entry that begins something has its request.
_PLACES = {
    **dict.fromkeys(COLLECTIVES, 5),
    **{Kind.SEND: 4, Kind.RECV: 4, Kind.PUT: 3, Kind.GET: 3, Kind.ACCUMULATE: 3, Kind.FILE: 1, Kind.COMM: -1},
}


@dataclass(frozen=True)
class _Made:
    number: int
    thread: int
    persistent: bool


def renamed(entries: Sequence[Entry]) -> tuple[list[Entry], int]:
    """Entries in which no two requests have the same handle, and the first number that none has.

    A thread that completes a handle means its own request of that name, else the oldest one.
    """
    alive: defaultdict[int, list[_Made]] = defaultdict(list)
    last = 0

    def find(handle: int, thread: int, over: bool) -> int:
        made = alive[handle]
        found = next((each for each in made if each.thread == thread), made[0] if made else None)
        if found is None:
            return 0
        if over and not found.persistent:
            made.remove(found)
        return found.number

    def read(entry: Entry) -> Entry:
        nonlocal last
        values = list(entry.values)
        if entry.kind == Kind.WAIT:
            count = values[0]
            numbers = [0] * count
            for place in values[2 + count :: 4]:
                if 0 <= place < count:
                    numbers[place] = find(values[1 + place], entry.thread, True)
            values[1 : 1 + count] = numbers
        elif entry.kind in (Kind.START, Kind.CANCEL):
            values = [find(handle, entry.thread, False) for handle in values]
        elif entry.kind == Kind.FREE:
            handle = values[0]
            values = [find(handle, entry.thread, True)]
            alive[handle] = [each for each in alive[handle] if each.number != values[0]]
        elif entry.form != Form.BLOCKING and entry.kind in _PLACES:
            place = _PLACES[Kind(entry.kind)]
            made = alive[values[place]]
            if entry.kind == Kind.SEND and entry.mode == OTHER_HALF:
                values[place] = next((e.number for e in reversed(made) if e.thread == entry.thread), 0)
            elif values[place]:
                last += 1
                made.append(_Made(last, entry.thread, entry.form == Form.PERSISTENT))
                values[place] = last
        return entry._replace(values=values)

    return [read(entry) for entry in entries], last + 1
