"""Calls of several threads of a rank as one sequence that can be executed again.

Where a thread blocks while others begin or end calls, what it does becomes nonblocking: begun when the thread
entered the call, and waited for when it left. In the order of these moments everything really happened, so
that a replay in that order waits for nothing that comes later. All other calls stay as they are.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from leadline.program.build import ProgramBuilder
from leadline.program.events import messages
from leadline.program.model import COLLECTIVES, Construction, Form, Kind, Program, SendMode
from leadline.record.ranks import BY_MESSAGE, Rank
from leadline.record.requests import renamed
from leadline.record.spills import Entry

# Calls that wait for nobody: they count from when they were entered.
_AT_ONCE = frozenset(
    {Kind.SEND, Kind.START, Kind.COMM_FREE, Kind.UNLOCK, Kind.FLUSH, Kind.POST, Kind.COMPLETE}
)
_ACCESSES = frozenset({Kind.PUT, Kind.GET, Kind.ACCUMULATE})
# Its ranks are not those of the communicator that it is made of.
_OF_THE_NEW = frozenset({Construction.CREATE_GROUP, Construction.INTER, Construction.MERGE})
_WORD = 8  # B that ranks exchange where a communicator is made
_UNKNOWN = (-2, -2, -2)  # source, tag and bytes of what was met


class Piece(NamedTuple):
    """A call or a part of one: `call` is the number of its entry; `quiet` where it is no operation."""

    entry: Entry
    call: int
    ends: bool  # it counts when the call was left
    at: int  # the time at which it is over, ns
    before: int  # when its thread left the call before
    quiet: bool = False


class Threads:
    """The calls of a rank's threads: which of them are begun and waited for."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        """Of its record, in which calls stand in the order in which they were left."""
        self.entries, made = renamed(entries)
        self._requests = made
        points = sorted({time for entry in self.entries for time in _moments(entry)})
        places = {time: place for place, time in enumerate(points)}
        self.split = {
            number
            for number, entry in enumerate(self.entries)
            if can_be_split(entry) and places[entry.enter] + 1 < places[entry.leave]
        }
        self.at_once = bool(self.split)
        self.several = len({entry.thread for entry in entries}) > 1
        self._begun_as: dict[int, int] = {}
        self._match_receives()

    def _match_receives(self) -> None:
        """Of receives of like messages at the same time the one that ended first took the first message."""
        like: defaultdict[tuple[int, ...], list[int]] = defaultdict(list)
        for number, entry in enumerate(self.entries):
            if entry.kind == Kind.RECV and entry.form == Form.BLOCKING and entry.mode != BY_MESSAGE:
                like[entry.values[0], entry.values[5], entry.values[6]].append(number)
        for numbers in like.values():
            entered = sorted(numbers, key=lambda number: self.entries[number].enter)
            left = sorted(numbers, key=lambda number: self.entries[number].leave)
            for one, other in zip(entered, left, strict=True):
                if one != other:
                    self._begun_as[one] = other
                    self.split |= {one, other}

    def pieces(self) -> Iterator[Piece]:
        """What the rank did, in order; the times of each follow those of the one before."""
        ordered = self._ordered()
        until = 0
        for piece, after in zip(ordered, [*ordered[1:], None], strict=True):
            came = max(piece.entry.enter, until)
            until = max(piece.at, came)
            if after is not None and not piece.quiet:
                own = until if piece.ends else piece.entry.leave
                until = max(until, min(max(own, after.before), after.entry.enter))
            yield piece._replace(entry=piece.entry._replace(enter=came, leave=until))

    def _ordered(self) -> list[Piece]:
        """By time; those of one thread in their own order."""
        keyed: list[tuple[tuple[int, int], Piece]] = []
        last: dict[int, tuple[int, int]] = {}
        before: dict[int, int] = {}
        for number, entry in enumerate(self.entries):
            for piece in self._parts(number, entry, before.get(entry.thread, 0)):
                key = (entry.leave, 0) if piece.ends else (entry.enter, 1)
                last[entry.thread] = key = max(key, last.get(entry.thread, key))
                keyed.append((key, piece))
            before[entry.thread] = entry.leave
        keyed.sort(key=lambda each: each[0])
        return [piece for _, piece in keyed]

    def _parts(self, number: int, entry: Entry, before: int) -> Iterator[Piece]:
        """The pieces of a call."""
        if number not in self.split:
            whole, ends = can_be_split(entry), not _counts_from_begin(entry)
            yield Piece(
                entry, number, ends and not whole, entry.leave if whole or ends else entry.enter, before
            )
            return
        begun = self._begun_as.get(number, number)
        for part in _begin(self.entries[begun], self._handles(begun)):
            times = part._replace(enter=entry.enter, leave=entry.enter)
            yield Piece(times, number, False, entry.enter, before)
        if entry.kind == Kind.COMM:
            yield Piece(entry, number, True, entry.enter, before, quiet=True)
        yield Piece(_wait(entry, self._handles(number)), number, True, entry.leave, before)

    def _handles(self, number: int) -> list[int]:
        """The requests of a call that is begun and waited for."""
        first = self._requests + 2 * number
        return [first, first + 1] if self.entries[number].kind == Kind.SENDRECV else [first]


def can_be_split(entry: Entry) -> bool:
    """Whether a call blocks, and can be begun and waited for instead."""
    if entry.form != Form.BLOCKING:
        return False
    if entry.kind == Kind.SEND:
        return entry.mode != SendMode.BUFFERED
    if entry.kind == Kind.COMM:
        return entry.mode not in _OF_THE_NEW
    return entry.kind in COLLECTIVES or entry.kind in (Kind.RECV, Kind.SENDRECV)


def _counts_from_begin(entry: Entry) -> bool:
    return entry.form != Form.BLOCKING or entry.kind in _AT_ONCE or entry.kind in _ACCESSES


def _moments(entry: Entry) -> tuple[int, ...]:
    """When a call can matter to another thread's."""
    if can_be_split(entry):
        return entry.enter, entry.leave
    return (entry.enter,) if _counts_from_begin(entry) else (entry.leave,)


def _begin(entry: Entry, handles: Sequence[int]) -> Iterator[Entry]:
    """What a call began."""
    values = entry.values
    made = entry._replace(form=int(Form.NONBLOCKING))
    if entry.kind == Kind.SENDRECV:
        comm, to, size, tag, source, coming, coming_tag, *met = values
        receive = [comm, source, coming, coming_tag, handles[0], *met]
        yield made._replace(kind=int(Kind.RECV), values=receive)
        yield made._replace(kind=int(Kind.SEND), values=[comm, to, size, tag, handles[1]])
    elif entry.kind == Kind.COMM:
        exchange = [values[0], 0, _WORD, 0, 0, handles[0], 0, 0]
        yield made._replace(kind=int(Kind.ALLGATHER), mode=0, values=exchange)
    else:
        place = 5 if entry.kind in COLLECTIVES else 4
        yield made._replace(values=[*values[:place], handles[0], *values[place + 1 :]])


def _wait(entry: Entry, handles: Sequence[int]) -> Entry:
    """The wait for all that a call began."""
    met = {Kind.RECV: entry.values[5:8], Kind.SENDRECV: entry.values[7:10]}.get(Kind(entry.kind), _UNKNOWN)
    done = [value for place in range(len(handles)) for value in (place, *(_UNKNOWN if place else met))]
    values = [len(handles), *handles, len(handles), *done]
    return entry._replace(kind=int(Kind.WAIT), form=0, mode=int(len(handles) > 1), values=values)


def settle(ranks: Sequence[Rank], every: Sequence[Threads]) -> None:
    """Collectives that one rank begins and waits for, so do all: the two forms do not match in MPI.

    And sends that waited for nobody do not wait.

    `ranks` are empty; they are spoilt.
    """
    turns: list[dict[tuple[int, int], int]] = []
    calls: list[list[int]] = []  # of each operation the number of its entry
    for rank, threads in zip(ranks, every, strict=True):
        counts = Counter[int]()
        found: dict[tuple[int, int], int] = {}
        of: list[int] = []
        for piece in threads.pieces():
            entry = piece.entry
            if not piece.quiet and (entry.kind in COLLECTIVES or entry.kind == Kind.COMM):
                comm = rank.group(entry.values[0]).index
                if entry.kind != Kind.COMM or entry.mode not in _OF_THE_NEW:
                    found[comm, counts[comm]] = piece.call
                    counts[comm] += 1
            try:
                take(rank, piece)
            except (ValueError, IndexError, KeyError, OverflowError):
                break  # damaged: its record ends here, which is found out again
            of += [piece.call] * (len(rank.operations) - len(of))
        turns.append(found)
        calls.append(of)
    split = {
        turn
        for found, threads in zip(turns, every, strict=True)
        for turn, call in found.items()
        if call in threads.split
    }
    for found, threads in zip(turns, every, strict=True):
        alike = {found[turn] for turn in split & found.keys()}
        threads.split |= {call for call in alike if can_be_split(threads.entries[call])}
    _free_early_sends(ranks, every, calls)


def _free_early_sends(
    ranks: Sequence[Rank], every: Sequence[Threads], calls: Sequence[Sequence[int]]
) -> None:
    """Of ranks with several threads a send that ended before its receive began waits for nobody.

    Elsewhere it may wait for the receive, as only its thread did then: others went on.
    """
    made = ProgramBuilder(len(ranks))
    made.communicators = ranks[0].communicators.made
    for number, rank in enumerate(ranks):
        made.add(number, rank.operations)
    for message in messages(made.build()):
        sent, taken = message.sent, message.taken
        threads = every[sent.rank]
        call = calls[sent.rank][sent.posted]
        send, receive = threads.entries[call], every[taken.rank].entries[calls[taken.rank][taken.posted]]
        left = send.leave + int(ranks[sent.rank].spill.facts["shift"])
        came = receive.enter + int(ranks[taken.rank].spill.facts["shift"])
        blocks = send.kind == Kind.SEND and send.form == Form.BLOCKING and send.mode != SendMode.SYNCHRONOUS
        if threads.several and blocks and left < came:
            threads.entries[call] = send._replace(mode=int(SendMode.BUFFERED))
            threads.split.discard(call)


def take(rank: Rank, piece: Piece) -> None:
    """The next piece of a rank."""
    noted = len(rank.operations)
    rank.take(piece.entry)
    if piece.quiet and len(rank.operations) > noted:
        rank.operations.pop(), rank.addresses.pop(), rank.times.pop(), rank.times.pop()
    if piece.entry.kind in (Kind.WAIT, Kind.FREE):  # each request has a number of its own here
        for handle in piece.entry.values:
            if handle in rank.requests and not rank.requests[handle]:
                del rank.requests[handle]


def sizes_as_sent(program: Program, ranks: Sequence[Rank]) -> set[int]:
    """Gives receives the sizes of their messages; the ranks of which some had others.

    Which thread's receive takes which of several like messages is not known; that messages from one rank
    do not overtake each other is.
    """
    changed = set[int]()
    for message in messages(program):
        sent, taken = message.sent.bytes, message.taken
        operations = ranks[taken.rank].operations
        receive = operations[taken.posted]
        if sent == taken.bytes or receive.form == Form.PERSISTENT:
            continue
        if receive.kind == Kind.SENDRECV:
            operations[taken.posted] = receive._replace(source_bytes=sent)
        elif receive.kind == Kind.RECV:
            operations[taken.posted] = receive._replace(bytes=sent)
        changed.add(taken.rank)
    return changed
