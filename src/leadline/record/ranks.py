"""What a rank executed, from its entries: handles become slots, communicators and windows."""

import heapq
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from leadline.program.model import FREE_SOURCE, FREE_TAG, Communicator, Form, Kind, Operation
from leadline.record import spills
from leadline.record.spills import Entry, Spill

ANY, NOBODY = -1, -3  # peers as the recorder writes them
BY_MESSAGE = 1  # mode of a receive that takes a message that was probed for


class Communicators:
    """Communicators by their members, the same for all ranks.

    Ranks make communicators of the same members in the same order, so the number of those that are alive
    tells them apart; one that is freed makes room, so that a loop which makes and frees one folds.
    """

    def __init__(self, made: list[Communicator]) -> None:
        self.made = made
        self._known: dict[tuple[object, int], int] = {}

    def index(self, communicator: Communicator, turn: int) -> int:
        """The number of the `turn`-th of its kind."""
        key = (
            (communicator.members, communicator.remote, communicator.construction, communicator.parent),
            turn,
        )
        if key not in self._known:
            self._known[key] = len(self.made)
            self.made.append(communicator)
        return self._known[key]


@dataclass
class _Group:
    """A communicator of a rank."""

    index: int
    members: tuple[int, ...]
    remote: tuple[int, ...] = ()
    sources: tuple[int, ...] = ()
    targets: tuple[int, ...] = ()
    key: object = None
    turn: int = 0


@dataclass
class _Slot:
    """A request: its number, and the receive that it completes."""

    number: int
    persistent: bool = False
    receive: int | None = None  # index of the operation
    cancelled: bool = False


@dataclass
class Rank:
    """What a rank executed, as its entries tell it."""

    spill: Spill
    communicators: Communicators
    outside: set[str]
    operations: list[Operation] = field(default_factory=list)
    times: list[tuple[int, int]] = field(default_factory=list)
    addresses: list[int] = field(default_factory=list)
    ended: bool = False
    threads: set[int] = field(default_factory=set)
    stopped: str = ""
    memory: int | None = None  # B, of its own that it took after MPI_Init, at most

    def __post_init__(self) -> None:
        """World and self are there from the start."""
        facts = self.spill.facts
        world = tuple(range(int(facts["ranks"])))
        self.comms: dict[int, _Group] = {int(facts["world"]): _Group(0, world)}
        self.alive: defaultdict[object, set[int]] = defaultdict(set)
        self.requests: defaultdict[int, deque[_Slot | None]] = defaultdict(deque)
        self.free: list[int] = []
        self.highest = 0
        self.windows: dict[int, tuple[int, int]] = {}  # number and communicator
        self.free_windows: list[int] = []
        self.messages: dict[int, tuple[int, int, int]] = {}  # communicator, source, tag
        self.regions: list[int] = []

    # ----------------------------------------------------------------------------------- requests and groups
    def slot(self, handle: int, form: int, receive: int | None = None) -> int:
        """The number of a new request."""
        if self.free:
            number = heapq.heappop(self.free)
        else:
            self.highest += 1
            number = self.highest
        self.requests[handle].append(_Slot(number, form == Form.PERSISTENT, receive))
        return number

    def nothing(self, handle: int) -> None:
        """A request that has nothing to complete."""
        self.requests[handle].append(None)

    def group(self, handle: int) -> _Group:
        """The communicator of a handle; this rank alone where it is none that was made."""
        found = self.comms.get(handle)
        if found is None:
            found = self.comms[handle] = self._made((self.spill.rank,), (), 0, 0)
        return found

    def _made(self, members: tuple[int, ...], remote: tuple[int, ...], how: int, parent: int) -> _Group:
        whole: tuple[int, ...] | range = members
        if members == tuple(range(len(members))):
            whole = range(len(members))
        communicator = Communicator(whole, how, parent, remote)
        key = (members, remote, how, parent)
        turn = next(n for n in range(len(self.alive[key]) + 1) if n not in self.alive[key])
        self.alive[key].add(turn)
        return _Group(self.communicators.index(communicator, turn), members, remote, key=key, turn=turn)

    # ----------------------------------------------------------------------------------------- what was said
    def note(self, entry: Entry, operation: Operation) -> None:
        self.operations.append(operation)
        self.times.append((entry.enter, entry.leave))
        self.addresses.append(entry.site)

    def take(self, entry: Entry) -> None:
        """The next entry."""
        self.threads.add(entry.thread)
        if reader := _READERS.get(entry.kind):
            reader(self, entry)
        elif entry.kind in _COLLECTIVE:
            self.collective(entry)
        elif entry.kind in _ACCESSES:
            self.access(entry)
        elif entry.kind in _EPOCHS:
            self.epoch(entry)

    def send(self, entry: Entry) -> None:
        comm, peer, size, tag, request = entry.values
        if peer == NOBODY:
            if entry.form:
                self.nothing(request)
            self.note(entry, Operation(int(Kind.NOP)))
            return
        number = self.slot(request, entry.form) if entry.form else 0
        index = self.group(comm).index
        self.note(
            entry,
            Operation(int(Kind.SEND), index, peer, size, tag, number, mode=entry.mode, form=entry.form),
        )

    def receive(self, entry: Entry) -> None:
        comm, peer, size, tag, request, *met = entry.values
        if entry.mode == BY_MESSAGE:
            if comm not in self.messages:  # MPI_MESSAGE_NO_PROC
                peer = NOBODY
            else:
                index, peer, tag = self.messages.pop(comm)
        else:
            index = self.group(comm).index
        if peer == NOBODY:
            if entry.form:
                self.nothing(request)
            self.note(entry, Operation(int(Kind.NOP)))
            return
        number = self.slot(request, entry.form, len(self.operations)) if entry.form else 0
        free = (FREE_SOURCE if peer == ANY else 0) | (FREE_TAG if tag == ANY else 0)
        posted = Operation(int(Kind.RECV), index, peer, size, tag, number, form=entry.form, free=free)
        self.note(entry, posted if entry.form else _met(posted, met))

    def sendrecv(self, entry: Entry) -> None:
        comm, to, size, tag, source, coming, coming_tag, *met = entry.values
        index = self.group(comm).index
        free = (FREE_SOURCE if source == ANY else 0) | (FREE_TAG if coming_tag == ANY else 0)
        receive = _met(Operation(int(Kind.RECV), index, source, coming, coming_tag, free=free), met)
        if to == NOBODY and source == NOBODY:
            self.note(entry, Operation(int(Kind.NOP)))
        elif to == NOBODY:
            self.note(entry, receive)
        elif source == NOBODY:
            self.note(entry, Operation(int(Kind.SEND), index, to, size, tag))
        else:
            both = Operation(int(Kind.SENDRECV), index, to, size, tag, free=free)
            self.note(
                entry,
                both._replace(source=receive.peer, source_bytes=receive.bytes, source_tag=receive.tag),
            )

    def probe(self, entry: Entry) -> None:
        comm, peer, _, tag, message, *met = entry.values
        index = self.group(comm).index
        free = (FREE_SOURCE if peer == ANY else 0) | (FREE_TAG if tag == ANY else 0)
        found = _met(Operation(int(Kind.PROBE), index, peer, 0, tag, free=free), met)
        if message and found.peer >= 0:
            self.messages[message] = index, found.peer, found.tag
        self.note(entry, found if found.peer >= 0 else Operation(int(Kind.NOP)))

    def start(self, entry: Entry) -> None:
        slots = [self.requests[handle][0] for handle in entry.values if self.requests[handle]]
        numbers = tuple(slot.number for slot in slots if slot)
        self.note(entry, Operation(int(Kind.START), gives=numbers) if numbers else Operation(int(Kind.NOP)))

    def wait(self, entry: Entry) -> None:
        count = entry.values[0]
        handles, done = entry.values[1 : 1 + count], entry.values[2 + count :]
        numbers = []
        for place in range(0, len(done), 4):
            handle = handles[done[place]]
            if handle == 0 or not self.requests[handle]:
                continue
            slot = self.requests[handle].popleft()
            if slot is None:
                continue
            if slot.persistent:
                self.requests[handle].appendleft(slot)
            else:
                heapq.heappush(self.free, slot.number)
            if slot.receive is not None:
                posted = self.operations[slot.receive]
                if slot.cancelled:
                    self.operations[slot.receive] = Operation(int(Kind.NOP))
                    continue
                self.operations[slot.receive] = _met(posted, done[place + 1 : place + 4])
            numbers.append(slot.number)
        if numbers:
            self.note(entry, Operation(int(Kind.WAIT), mode=entry.mode, gives=tuple(numbers)))
        else:
            self.note(entry, Operation(int(Kind.NOP)))

    def release(self, entry: Entry) -> None:
        handle = entry.values[0]
        slot = self.requests[handle].popleft() if self.requests[handle] else None
        if slot is None:
            self.note(entry, Operation(int(Kind.NOP)))
            return
        heapq.heappush(self.free, slot.number)
        self.note(entry, Operation(int(Kind.FREE), request=slot.number))

    def cancel(self, entry: Entry) -> None:
        held = self.requests[entry.values[0]]
        if held and held[0] is not None:
            held[0].cancelled = held[0].receive is not None
        self.note(entry, Operation(int(Kind.NOP)))

    def collective(self, entry: Entry) -> None:
        comm, root, size, datatype, reduction, request, varies, given, *blocks = entry.values
        group = self.group(comm)
        number = self.slot(request, entry.form) if entry.form else 0
        gives, takes = blocks[:given], blocks[given:]
        neighbours = entry.kind in (Kind.NEIGHBOR_ALLGATHER, Kind.NEIGHBOR_ALLTOALL)
        if neighbours:
            to = gives if gives else [size] * len(group.targets)
            parts = _parts(group.targets, to), _parts(group.sources, takes or [size] * len(group.sources))
        else:
            ranks = range(len(group.remote or group.members))
            parts = _parts(ranks, gives), _parts(ranks, takes)
            if entry.kind in (Kind.ALLGATHER, Kind.REDUCE_SCATTER) and varies and not group.remote:
                size = takes[group.members.index(self.spill.rank)]
        self.note(
            entry,
            Operation(
                entry.kind,
                group.index,
                max(root, 0),
                size,
                request=number,
                mode=varies,
                form=entry.form,
                type=datatype,
                reduction=reduction,
                gives=parts[0],
                takes=parts[1],
            ),
        )

    def comm(self, entry: Entry) -> None:
        parent, made, size, _, remote, sources, targets, *ranks = entry.values
        before = self.group(parent)
        if size == 0:
            self.note(entry, Operation(int(Kind.COMM), before.index, mode=entry.mode))
            return
        members, others = tuple(ranks[:size]), tuple(ranks[size : size + remote])
        near = ranks[size + remote :]
        group = self._made(members, others, entry.mode, before.index)
        group.sources, group.targets = tuple(near[:sources]), tuple(near[sources : sources + targets])
        self.comms[made] = group
        self.note(entry, Operation(int(Kind.COMM), before.index, extra=group.index + 1, mode=entry.mode))

    def comm_free(self, entry: Entry) -> None:
        group = self.comms.pop(entry.values[0], None)
        if group is None:
            return
        self.alive[group.key].discard(group.turn)
        self.note(entry, Operation(int(Kind.COMM_FREE), group.index))

    def win(self, entry: Entry) -> None:
        comm, window, size = entry.values
        number = heapq.heappop(self.free_windows) if self.free_windows else len(self.windows) + 1
        index = self.group(comm).index
        self.windows[window] = number, index
        self.note(entry, Operation(int(Kind.WIN), index, bytes=size, extra=number))

    def access(self, entry: Entry) -> None:
        window, target, size, request = entry.values
        if entry.form:
            self.nothing(request)
        number, comm = self.windows.get(window, (0, 0))
        if target == NOBODY or not number:
            self.note(entry, Operation(int(Kind.NOP)))
            return
        self.note(entry, Operation(entry.kind, comm, target, size, extra=number))

    def epoch(self, entry: Entry) -> None:
        window, target, _, *world = entry.values
        number, comm = self.windows.get(window, (0, 0))
        if not number:
            return
        members = self.communicators.made[comm].members
        ranks = tuple(members.index(rank) for rank in world)
        if entry.kind == Kind.WIN_FREE:
            del self.windows[window]
            heapq.heappush(self.free_windows, number)
            target = 0
        if entry.kind == Kind.POST:
            self.posted = ranks
        elif entry.kind == Kind.START_EPOCH:
            self.begun = ranks
        elif entry.kind == Kind.COMPLETE:
            ranks = self.begun
        elif entry.kind == Kind.WAIT_EPOCH:
            ranks = self.posted
        self.note(entry, Operation(entry.kind, comm, target, extra=number, mode=entry.mode, gives=ranks))

    posted: tuple[int, ...] = ()
    begun: tuple[int, ...] = ()

    def region(self, entry: Entry) -> None:
        level = entry.values[0]
        if level == 0:
            return
        self.regions.append(abs(level))
        kind = Kind.REGION_BEGIN if level > 0 else Kind.REGION_END
        self.note(entry, Operation(int(kind), extra=abs(level)))

    def finalize(self, entry: Entry) -> None:
        self.ended = True
        self.memory = entry.values[0] if entry.values else None
        self.note(entry, Operation(int(Kind.NOP)))

    def leave_out(self, entry: Entry) -> None:
        self.outside.add(spills.text_of(entry))

    def stop(self, entry: Entry) -> None:
        self.stopped = spills.text_of(entry)


def _met(posted: Operation, met: Sequence[int]) -> Operation:
    """A receive with the source, tag and size of the message that it took."""
    source, tag, size = met
    return posted._replace(
        peer=source if source >= 0 else posted.peer,
        tag=tag if tag >= 0 else posted.tag,
        bytes=size if size >= 0 else posted.bytes,
    )


def _parts(peers: Iterable[int], sizes: Sequence[int]) -> tuple[int, ...]:
    """Blocks that are not empty, as (peer, bytes, ...)."""
    return tuple(
        value
        for peer, size in zip(peers, sizes, strict=False)
        if size and peer >= 0
        for value in (peer, size)
    )


_READERS: dict[int, Callable[[Rank, Entry], None]] = {
    Kind.SEND: Rank.send,
    Kind.RECV: Rank.receive,
    Kind.SENDRECV: Rank.sendrecv,
    Kind.PROBE: Rank.probe,
    Kind.START: Rank.start,
    Kind.WAIT: Rank.wait,
    Kind.FREE: Rank.release,
    Kind.CANCEL: Rank.cancel,
    Kind.COMM: Rank.comm,
    Kind.COMM_FREE: Rank.comm_free,
    Kind.WIN: Rank.win,
    spills.REGION: Rank.region,
    spills.FINALIZE: Rank.finalize,
    spills.OUTSIDE: Rank.leave_out,
    spills.STOPPED: Rank.stop,
}
_COLLECTIVE = frozenset(range(Kind.BARRIER, Kind.NEIGHBOR_ALLTOALL + 1))
_ACCESSES = frozenset({Kind.PUT, Kind.GET, Kind.ACCUMULATE})
_EPOCHS = frozenset({Kind.WIN_FREE, *range(Kind.FENCE, Kind.WAIT_EPOCH + 1)})
