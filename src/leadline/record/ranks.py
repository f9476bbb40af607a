"""What a rank executed, from its entries: handles become slots, communicators and windows."""

import heapq
from array import array
from collections import defaultdict, deque
from collections.abc import Callable
from dataclasses import dataclass, field

from leadline.program.events import TAKES
from leadline.program.model import (
    FREE_SOURCE,
    FREE_TAG,
    NOBODY,
    WAITED,
    Communicator,
    Construction,
    FileCall,
    Form,
    Kind,
    Operation,
)
from leadline.record import spills
from leadline.record.handles import Communicators, Group, Slot, blocks_of_neighbours, parts_of
from leadline.record.receives import ANY, exchange, met_by, receive_is_over, without
from leadline.record.spills import Entry, Spill
from leadline.record.windows import Windows

OF_A_FILE = -1  # instead of the number of a slot
NO_REQUEST = 0  # a handle that waits for nothing
BY_MESSAGE = 1  # mode of a receive that takes a message that was probed for
OTHER_HALF = 8  # mode of a send that the request of the receive before it completes
UNKNOWN = "a communicator from a call that is not known"
ELSEWHERE = "what goes to processes outside MPI_COMM_WORLD"


@dataclass
class Rank:
    """What a rank executed, as its entries tell it."""

    spill: Spill
    communicators: Communicators
    outside: set[str]
    operations: list[Operation] = field(default_factory=list)
    times: "array[int]" = field(default_factory=lambda: array("q"))  # entered and left, in turn, ns
    addresses: "array[int]" = field(default_factory=lambda: array("q"))
    ended: bool = False
    threads: set[int] = field(default_factory=set)
    stopped: str = ""
    unmet: int = 0  # receives that met no message
    memory: int | None = None  # B, of its own that it took after MPI_Init, at most

    def __post_init__(self) -> None:
        """World and self are there from the start."""
        facts = self.spill.facts
        world = tuple(range(int(facts["ranks"])))
        self.comms: dict[int, Group] = {int(facts["world"]): Group(0, world)}
        self.alive: defaultdict[object, set[int]] = defaultdict(set)
        self.requests: defaultdict[int, deque[Slot | None]] = defaultdict(deque)
        self.free: list[int] = []
        self.highest = 0
        self.windows = Windows(self.outside)
        self.given_back: list[Slot] = []  # receives that were not over
        self.messages: dict[int, tuple[int, int, int]] = {}  # communicator, source, tag
        self.regions: list[int] = []
        self.same: dict[Operation, Operation] = {}  # there are millions, most like one before

    # ----------------------------------------------------------------------------------- requests and groups
    def slot(self, handle: int, form: int, receive: int | None = None) -> int:
        """The number of a new request."""
        if self.free:
            number = heapq.heappop(self.free)
        else:
            self.highest += 1
            number = self.highest
        persistent = form == Form.PERSISTENT
        self.requests[handle].append(Slot(number, persistent, receive, active=not persistent))
        return number

    def file(self, entry: Entry) -> None:
        size, request = entry.values
        if entry.form:
            self.requests[request].append(Slot(OF_A_FILE))
        self.note(entry, Operation(int(Kind.FILE), bytes=size, mode=entry.mode, form=entry.form))

    def nothing(self, handle: int) -> None:
        """A request that has nothing to complete."""
        self.requests[handle].append(None)

    def group(self, handle: int) -> Group:
        """The communicator of a handle; elsewhere where it is none that was made."""
        found = self.comms.get(handle)
        if found is None and handle == int(self.spill.facts["self"]):
            found = self._made((self.spill.rank,), (), 0, 0)
        elif found is None:
            self.outside.add(UNKNOWN)
            found = Group(-1, (), elsewhere=True)
        return self.comms.setdefault(handle, found)

    def _made(self, members: tuple[int, ...], remote: tuple[int, ...], how: int, parent: int) -> Group:
        whole: tuple[int, ...] | range = members
        if members == tuple(range(len(members))):
            whole = range(len(members))
        communicator = Communicator(whole, how, parent, remote)
        key = (members, remote, how, parent)
        turn = next(n for n in range(len(self.alive[key]) + 1) if n not in self.alive[key])
        self.alive[key].add(turn)
        return Group(self.communicators.index(communicator, turn), members, remote, key=key, turn=turn)

    # ----------------------------------------------------------------------------------------- what was said
    def note(self, entry: Entry, operation: Operation) -> None:
        self.operations.append(self.same.setdefault(operation, operation))
        self.times.append(entry.enter)
        self.times.append(entry.leave)
        self.addresses.append(entry.site)

    def take(self, entry: Entry) -> None:
        """The next entry."""
        self.threads.add(entry.thread)
        if entry.kind in _REQUESTS and self.goes_elsewhere(entry):
            self.leave_out_elsewhere(entry)
        elif reader := _READERS.get(entry.kind):
            reader(self, entry)
        elif entry.kind in _COLLECTIVE:
            self.collective(entry)
        elif entry.kind in _ACCESSES:
            self.access(entry)
        elif entry.kind in _EPOCHS:
            self.epoch(entry)

    def goes_elsewhere(self, entry: Entry) -> bool:
        """Whether a message or a collective is with processes that are not recorded."""
        by_message = entry.kind == Kind.RECV and entry.mode == BY_MESSAGE  # has no communicator
        return not by_message and self.group(entry.values[0]).elsewhere

    def leave_out_elsewhere(self, entry: Entry) -> None:
        if entry.form and not (entry.kind == Kind.SEND and entry.mode == OTHER_HALF):
            self.nothing(entry.values[_REQUESTS[entry.kind]])
        self.note(entry, Operation(int(Kind.NOP)))

    def send(self, entry: Entry) -> None:
        comm, peer, size, tag, request = entry.values
        half = entry.mode == OTHER_HALF
        if half and (receive := self.requests[request][-1]):
            receive.both = True
        if peer == NOBODY:
            if entry.form and not half:
                self.nothing(request)
            self.note(entry, Operation(int(Kind.NOP)))
            return
        number = self.slot(request, entry.form) if entry.form else 0
        if half:
            self.requests[request].pop()
            if (receive := self.requests[request][-1]) is None:
                self.requests[request][-1] = Slot(number)
            else:
                receive.half = number
        index = self.group(comm).index
        mode = 0 if half else entry.mode
        self.note(
            entry, Operation(int(Kind.SEND), index, peer, size, tag, number, mode=mode, form=entry.form)
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
        self.note(entry, posted if entry.form else met_by(posted, met))

    def sendrecv(self, entry: Entry) -> None:
        comm, to, size, tag, source, coming, coming_tag, *met = entry.values
        index = self.group(comm).index
        free = (FREE_SOURCE if source == ANY else 0) | (FREE_TAG if coming_tag == ANY else 0)
        receive = met_by(Operation(int(Kind.RECV), index, source, coming, coming_tag, free=free), met)
        self.note(entry, exchange(Operation(int(Kind.SEND), index, to, size, tag), receive))

    def probe(self, entry: Entry) -> None:
        comm, peer, _, tag, message, *met = entry.values
        index = self.group(comm).index
        free = (FREE_SOURCE if peer == ANY else 0) | (FREE_TAG if tag == ANY else 0)
        taken = TAKES if message else 0
        found = met_by(Operation(int(Kind.PROBE), index, peer, 0, tag, mode=taken, free=free), met)
        if message and found.peer >= 0:
            self.messages[message] = index, found.peer, found.tag
        self.note(entry, found if found.peer >= 0 else Operation(int(Kind.NOP)))

    def start(self, entry: Entry) -> None:
        slots = [self.requests[handle][0] for handle in entry.values if self.requests[handle]]
        for slot in slots:
            if slot:
                slot.active, slot.started = True, len(self.operations)
        numbers = tuple(slot.number for slot in slots if slot)
        self.note(entry, Operation(int(Kind.START), gives=numbers) if numbers else Operation(int(Kind.NOP)))

    def wait(self, entry: Entry) -> None:
        count = entry.values[0]
        handles, done = entry.values[1 : 1 + count], entry.values[2 + count :]
        files = other = False
        numbers: list[int] = []
        several: list[int] = []  # slot, source and tag of what persistent receives of any source met
        for place in range(0, len(done), 4):
            if not 0 <= done[place] < count:
                raise IndexError("a completed request is none of those that were waited for")
            handle = handles[done[place]]
            if handle == 0 or not self.requests[handle]:
                continue
            slot = self.requests[handle].popleft()
            if slot is None:
                other = True
                continue
            if slot.number == OF_A_FILE:
                files = True
                continue
            if slot.persistent:
                self.requests[handle].appendleft(slot)
                if not slot.active:
                    continue  # it is over at once, and says nothing of a message
                slot.active = False
            else:
                for number in filter(None, (slot.number, slot.half)):
                    heapq.heappush(self.free, number)
            if slot.receive is not None and not receive_is_over(
                slot, done[place + 1 : place + 4], self.operations, self.outside
            ):
                self.leave_out_receive(slot)
                numbers += [slot.half] if slot.half else []
                continue
            several += [slot.number, *slot.met[-1][1:]] if slot.several else []
            numbers += [slot.number, slot.half] if slot.half else [slot.number]
        if numbers:
            self.note(
                entry, Operation(int(Kind.WAIT), mode=entry.mode, gives=tuple(numbers), takes=tuple(several))
            )
        else:
            nothing = Operation(int(Kind.NOP), mode=WAITED if other else 0)
            self.note(entry, Operation(int(Kind.FILE), mode=int(FileCall.WAIT)) if files else nothing)

    def release(self, entry: Entry) -> None:
        handle = entry.values[0]
        slot = self.requests[handle].popleft() if self.requests[handle] else None
        if under_way := slot is not None and slot.collective and slot.active:
            self.requests[NO_REQUEST].append(slot)  # which is waited for at the end
        if slot is None or slot.number == OF_A_FILE or under_way:
            self.note(entry, Operation(int(Kind.NOP)))
            return
        heapq.heappush(self.free, slot.number)
        if slot.receive is not None and slot.active:
            slot.given_back = len(self.operations)
            self.given_back.append(slot)
        self.note(entry, Operation(int(Kind.FREE), request=slot.number))

    def leave_out_receive(self, slot: Slot) -> None:
        """A receive that met no message."""
        self.unmet += 1
        without(slot, self.operations)

    def cancel(self, entry: Entry) -> None:
        """Whether it came in time is known when the request is over."""
        self.note(entry, Operation(int(Kind.NOP)))

    def collective(self, entry: Entry) -> None:
        comm, root, size, datatype, reduction, request, varies, given, *blocks = entry.values
        group = self.group(comm)
        number = self.slot(request, entry.form) if entry.form else 0
        gives, takes = blocks[:given], blocks[given:]
        if slot := self.requests[request][-1] if number else None:
            slot.collective = True
        if entry.kind in (Kind.NEIGHBOR_ALLGATHER, Kind.NEIGHBOR_ALLTOALL):
            parts = blocks_of_neighbours(group, size, gives, takes)
        else:
            ranks = range(len(group.remote or group.members))
            parts = parts_of(ranks, gives), parts_of(ranks, takes)
            if entry.kind in (Kind.ALLGATHER, Kind.REDUCE_SCATTER) and varies and not group.remote:
                size = takes[group.members.index(self.spill.rank)]
        self.note(
            entry,
            Operation(
                entry.kind,
                group.index,
                root if group.remote else max(root, 0),
                size,
                request=number,
                mode=varies,
                form=entry.form,
                type=datatype,
                reduction=reduction,
                free=entry.in_place,
                gives=parts[0],
                takes=parts[1],
            ),
        )

    def comm(self, entry: Entry) -> None:
        parent, made, size, _, remote, sources, targets, *ranks = entry.values
        before, how = self.group(parent), entry.mode
        if entry.form:  # its request has nothing to complete: the operation is executed as a whole
            self.nothing(ranks.pop())
        members, others = tuple(ranks[:size]), tuple(ranks[size : size + remote])
        if elsewhere := min(members + others, default=0) < 0:  # not all are of the world
            self.outside.add(ELSEWHERE)
            self.comms[made] = Group(-1, (), elsewhere=True)
        if elsewhere or (before.elsewhere and size == 0):
            return self.note(entry, Operation(int(Kind.NOP)))
        if size == 0:
            return self.note(entry, Operation(int(Kind.COMM), before.index, mode=how))
        if before.elsewhere:  # its own ranks make it, without the others
            before, how = self.comms[int(self.spill.facts["world"])], int(Construction.CREATE_GROUP)
        near = ranks[size + remote :]
        # The two groups have numbers of their own for what is between them, of which the merged one is made.
        of = 0 if entry.mode == Construction.MERGE else before.index
        group = self._made(members, others, how, of)
        group.sources, group.targets = tuple(near[:sources]), tuple(near[sources : sources + targets])
        if entry.form:  # which has not been asked for them
            group.sources, group.targets = before.sources, before.targets
        copied = entry.mode == Construction.DUP and before.cartesian
        # A grid's part (MPI_Cart_sub) is a split that has neighbours.
        group.cartesian = copied or (entry.mode in (Construction.CART, Construction.SPLIT) and bool(near))
        self.comms[made] = group
        self.note(entry, Operation(int(Kind.COMM), before.index, extra=group.index + 1, mode=how))

    def comm_free(self, entry: Entry) -> None:
        group = self.comms.pop(entry.values[0], None)
        if group is None:
            return
        self.alive[group.key].discard(group.turn)
        kind = Kind.NOP if group.elsewhere else Kind.COMM_FREE
        self.note(entry, Operation(int(kind), max(group.index, 0)))

    def win(self, entry: Entry) -> None:
        comm, window, size = entry.values
        group = self.group(comm)
        if group.elsewhere:
            self.windows.elsewhere(window)
        made = None if group.elsewhere else self.windows.made(window, group.index, size)
        self.note(entry, made or Operation(int(Kind.NOP)))

    def access(self, entry: Entry) -> None:
        if entry.form:
            self.nothing(entry.values[3])
        self.note(entry, self.windows.access(entry))

    def epoch(self, entry: Entry) -> None:
        if operation := self.windows.epoch(entry, self.communicators.made):
            self.note(entry, operation)

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
    Kind.FILE: Rank.file,
    spills.REGION: Rank.region,
    spills.FINALIZE: Rank.finalize,
    spills.OUTSIDE: Rank.leave_out,
    spills.STOPPED: Rank.stop,
}
_COLLECTIVE = frozenset(range(Kind.BARRIER, Kind.NEIGHBOR_ALLTOALL + 1))
# What goes through a communicator, its first number, and which number is its request.
_REQUESTS = dict.fromkeys(_COLLECTIVE, 5) | {Kind.SEND: 4, Kind.RECV: 4, Kind.SENDRECV: -1, Kind.PROBE: -1}
_ACCESSES = frozenset({Kind.PUT, Kind.GET, Kind.ACCUMULATE})
_EPOCHS = frozenset({Kind.WIN_FREE, *range(Kind.FENCE, Kind.WAIT_EPOCH + 1)})
