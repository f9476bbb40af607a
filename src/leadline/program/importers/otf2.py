"""OTF2, the traces of Score-P, TAU and others, through OTF2's own reader, the package `otf2`.

D. Eschweiler and others, "Open Trace Format 2: the next generation of scalable trace formats and support
libraries", ParCo 2011.

An operation is a call of MPI in which something was sent, received, completed or met; when it was entered and
left is kept, so a trace can be profiled as a recording can. Sizes of collectives are what a rank gave and
took in all, as Score-P counts it: a block is found from them, together with those of the other ranks. Where
calls in place and others count alike, a note has both sizes.
"""

import ctypes
from collections import Counter, defaultdict
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from leadline.core.errors import LeadlineError, UsageError
from leadline.core.units import format_bytes
from leadline.program.build import ProgramBuilder
from leadline.program.importers._otf2_sizes import Doubt, Met, sizes
from leadline.program.importers._slots import Slots
from leadline.program.model import Communicator, Completion, Form, Kind, Operation, Program, SendMode

TITLE = "OTF2"

# How a call of MPI completes or sends, by its name.
_COMPLETIONS = {
    "waitall": Completion.WAITALL,
    "waitany": Completion.WAITANY,
    "waitsome": Completion.WAITSOME,
    "test": Completion.TEST,
    "testall": Completion.TESTALL,
    "testany": Completion.TESTANY,
    "testsome": Completion.TESTSOME,
}
_MODES = {"ssend": SendMode.SYNCHRONOUS, "bsend": SendMode.BUFFERED, "rsend": SendMode.READY}
_COLLECTIVES = {
    "BARRIER": Kind.BARRIER,
    "BCAST": Kind.BCAST,
    "GATHER": Kind.GATHER,
    "GATHERV": Kind.GATHER,
    "SCATTER": Kind.SCATTER,
    "SCATTERV": Kind.SCATTER,
    "ALLGATHER": Kind.ALLGATHER,
    "ALLGATHERV": Kind.ALLGATHER,
    "ALLTOALL": Kind.ALLTOALL,
    "ALLTOALLV": Kind.ALLTOALL,
    "ALLTOALLW": Kind.ALLTOALL,
    "ALLREDUCE": Kind.ALLREDUCE,
    "REDUCE": Kind.REDUCE,
    "REDUCE_SCATTER": Kind.REDUCE_SCATTER,
    "REDUCE_SCATTER_BLOCK": Kind.REDUCE_SCATTER,
    "SCAN": Kind.SCAN,
    "EXSCAN": Kind.EXSCAN,
}
_POLL_GAP = 1000  # ns: between polls that are one wait, as in a recording (docs/program-format.md)


def read(path: Path, flops: float) -> tuple[Program, list[str]]:
    """The program of a trace, by its anchor file (traces.otf2); times are measured, so `flops` is unused."""
    del flops
    try:
        otf2 = import_module("otf2")
    except ImportError:
        raise LeadlineError(
            f"{path}: reading {TITLE} needs the package otf2; \"pip install 'leadline[otf2]'\" adds it"
        ) from None
    _quiet()
    foreign = (import_module("_otf2").Error, import_module("otf2.error").TraceReaderError)
    try:
        with otf2.reader.open(str(path)) as trace:
            return _Trace(path, trace).program()
    except foreign as problem:
        said = " ".join(str(problem).split())
        raise UsageError(
            f"{path} is no OTF2 trace that can be read ({said}); name its anchor file, traces.otf2"
        ) from problem
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as problem:
        raise UsageError(f"{path}: this trace is damaged: its records contradict each other") from problem


# What OTF2's library calls with an error: user data, file, line, function, code, format, arguments.
_ERRORS = ctypes.CFUNCTYPE(
    ctypes.c_int,
    *(ctypes.c_void_p, ctypes.c_char_p, ctypes.c_uint64, ctypes.c_char_p, ctypes.c_int),
    *(ctypes.c_char_p, ctypes.c_void_p),
)
_KEEP_CODE = _ERRORS(lambda data, file, line, function, code, form, arguments: code)


def _quiet() -> None:
    """OTF2's library prints each error; its exceptions say the same."""
    import_module("_otf2.Config").conf.lib.OTF2_Error_RegisterCallback(_KEEP_CODE, None)


def _named(value: Any) -> str:
    """The name of a value of one of OTF2's enumerations."""
    return str(value).rpartition(".")[2]


def _in_doubt(name: str, largest: Doubt) -> str:
    readings = ("not in place", "in place")
    taken, other = readings[largest.in_place], readings[not largest.in_place]
    return (
        f"{name} of which the trace does not say whether it is in place: the largest is taken to be of "
        f"{format_bytes(largest.taken)}, {taken}; {other} it is of {format_bytes(largest.else_)}"
    )


class _Trace:
    """A trace while it is read."""

    def __init__(self, path: Path, trace: Any) -> None:
        self.path, self.trace = path, trace
        self.notes = Counter[str]()
        self.doubts: defaultdict[str, list[Doubt]] = defaultdict(list)
        definitions = trace.definitions
        world = [
            group.members
            for group in definitions.groups
            if _named(group.group_type) == "COMM_LOCATIONS" and _named(group.paradigm) == "MPI"
        ]
        if not world:
            raise UsageError(f"{path}: this trace has no MPI ranks")
        self.places = {location: rank for rank, location in enumerate(world[0])}
        self.builder = ProgramBuilder(len(self.places), measured=True)
        self.comms: dict[Any, int | None] = {}
        self.sites: dict[str, int] = {"": 0}
        self.ticks = int(definitions.clock_properties.timer_resolution)
        self.ranks = [_Rank(self, rank) for rank in range(len(self.places))]
        outside = sum(location not in self.places for location in definitions.locations)
        if outside:
            self.notes["locations left out: threads and devices without a rank of their own"] = outside

    def program(self) -> tuple[Program, list[str]]:
        for location, event in self.trace.events(list(self.places)):
            self.ranks[self.places[location]].take(event)
        for rank in self.ranks:
            rank.finish()
        self._size_collectives()
        origin = min((rank.began for rank in self.ranks if rank.began is not None), default=0)
        for number, rank in enumerate(self.ranks):
            kept = [each for each in rank.operations if each is not None]
            times = [time for each, time in zip(rank.operations, rank.times, strict=True) if each is not None]
            table = np.array(times, np.int64).reshape(-1, 2)
            self.builder.add(number, kept, times=np.maximum(table - origin, 0))
        self.builder.sites[:] = list(self.sites)
        self.builder.partial = {number for number, rank in enumerate(self.ranks) if not rank.ended}
        for name, doubts in self.doubts.items():
            self.notes[_in_doubt(name, max(doubts))] += len(doubts)
        notes = [f"{self.path}: {times} x {what}" for what, times in sorted(self.notes.items())]
        return self.builder.build(), notes

    def time(self, event: Any) -> int:
        """When an event was, ns."""
        return int(event.time) * 1_000_000_000 // self.ticks

    def comm(self, defined: Any) -> int | None:
        """The index of a communicator; None for those that cannot be kept."""
        if defined not in self.comms:
            self.comms[defined] = self._made(defined)
        return self.comms[defined]

    def _made(self, defined: Any) -> int | None:
        group = getattr(defined, "group", None)
        if group is None or _named(group.group_type) != "COMM_GROUP":
            return None  # an intercommunicator, or a rank with itself
        members = tuple(self.places[location] for location in group.members)
        for index, each in enumerate(self.builder.communicators):
            if tuple(each.members) == members and defined.parent is None:
                return index
        self.builder.communicators.append(Communicator(members))
        return len(self.builder.communicators) - 1

    def _size_collectives(self) -> None:
        """Sizes of collectives from what all their ranks gave and took."""
        turns: defaultdict[tuple[int, int], dict[int, Met]] = defaultdict(dict)
        for number, rank in enumerate(self.ranks):
            for comm, every in rank.met.items():
                for turn, met in enumerate(sorted(every)):
                    turns[comm, turn][number] = met
        for (comm, turn), parts in turns.items():
            members = self.builder.communicators[comm].members
            names = {met.name for met in parts.values()}
            if len(parts) != len(members) or len(names) > 1:
                raise UsageError(
                    f"{self.path}: the trace is cut: collective {turn + 1} of a communicator of "
                    f"{len(members)} ranks is {', '.join(sorted(names)).lower()} on {len(parts)} of them"
                )
            name = names.pop()
            if name in ("ALLTOALLV", "ALLTOALLW"):
                self.notes["alltoallv, its blocks spread by what each rank gave and took in all"] += 1
            operations = [(self.ranks[rank].operations, parts[rank]) for rank in members]
            first = operations[0][0][operations[0][1].place]
            assert first is not None
            fields_of, doubt = sizes(name, first.peer, [met for _, met in operations])
            if doubt:
                self.doubts[name.lower()].append(doubt)
            for (every_of, met), fields in zip(operations, fields_of, strict=True):
                begun = every_of[met.place]
                assert begun is not None
                every_of[met.place] = begun._replace(**fields)


class _Rank:
    """One rank's events become operations, call by call of MPI."""

    def __init__(self, trace: _Trace, number: int) -> None:
        self.trace, self.number = trace, number
        self.operations: list[Operation | None] = []
        self.times: list[tuple[int, int]] = []
        self.met: defaultdict[int, list[Met]] = defaultdict(list)
        self.slots = Slots()
        self.requests: dict[int, int] = {}  # where the operation is that began it
        self.regions: list[tuple[str, bool]] = []  # with whether it is a call of MPI, or in one
        self.call, self.entered = "", 0
        self.first, self.completed = 0, list[int]()  # of the call: its operations, the slots it completes
        self.polled: tuple[int, int] | None = None
        self.began: int | None = None
        self.ended = False

    def take(self, event: Any) -> None:
        kind = type(event).__name__
        if kind == "Enter":
            within = bool(self.regions) and self.regions[-1][1]
            calls = _named(event.region.paradigm) == "MPI" or event.region.name.upper().startswith("MPI_")
            self.regions.append((event.region.name, within or calls))
            if calls and not within:
                self._enter(event.region.name.lower().removeprefix("mpi_"), self.trace.time(event))
        elif kind == "Leave":
            if not self.regions:
                raise UsageError(
                    f"{self.trace.path}: rank {self.number} leaves {event.region.name} without an entry"
                )
            _, within = self.regions.pop()
            if within and not (self.regions and self.regions[-1][1]):
                self._leave(self.trace.time(event))
        elif kind.startswith("Rma"):
            self.trace.notes["one-sided events left out"] += 1
        elif act := getattr(self, f"_{kind}", None):
            if not self.call:
                raise UsageError(f"{self.trace.path}: rank {self.number} has a {kind} outside of MPI's calls")
            act(event)

    def finish(self) -> None:
        """What was never completed has no other end that is known, so it goes."""
        for index in self.requests.values():
            self.operations[index] = None
            self.trace.notes["nonblocking operations left out: the trace has no completion of them"] += 1
        if not self.operations:
            self._note(Operation(int(Kind.NOP)))

    def _enter(self, call: str, time: int) -> None:
        self.call, self.entered, self.first, self.completed = call, time, len(self.operations), []
        if self.began is None and call not in ("init", "init_thread"):
            self.began = time
        if call == "finalize":
            self.ended = True
            self._note(Operation(int(Kind.NOP)))  # what is computed before the end

    def _leave(self, time: int) -> None:
        """A call of MPI is over: its operations have their times."""
        call, self.call = self.call, ""
        if self.began is None:
            self.began = time
        if self.completed:
            how = _COMPLETIONS.get(call, Completion.WAIT)
            self._note(Operation(int(Kind.WAIT), mode=int(how), gives=tuple(self.completed)))
        begun = self.entered
        if self.polled and begun - self.polled[1] < _POLL_GAP:
            begun = self.polled[0]
        polls = "test" in call or "probe" in call or "wait" in call
        self.polled = (begun, time) if polls and len(self.operations) == self.first else None
        if call != "finalize":
            for index in range(self.first, len(self.operations)):
                self.times[index] = (begun if index == self.first else time, time)

    def _note(self, operation: Operation) -> int:
        around = self.regions[-2][0] if len(self.regions) > 1 else ""
        site = self.trace.sites.setdefault(around, len(self.trace.sites))
        self.operations.append(operation._replace(site=site))
        self.times.append((self.entered, self.entered))
        return len(self.operations) - 1

    def _begin(self, request: int, operation: Operation) -> None:
        form = int(Form.NONBLOCKING)
        self.requests[request] = self._note(operation._replace(form=form, request=self.slots.take()))

    def _completes(self, request: int) -> int | None:
        """Where the operation of a request is, which ends in this call."""
        index = self.requests.pop(request, None)
        if index is None or (operation := self.operations[index]) is None:
            return None
        self.slots.give(operation.request)
        self.completed.append(operation.request)
        return index

    def _message(self, kind: Kind, peer: int, event: Any) -> Operation | None:
        comm = self.trace.comm(event.communicator)
        if comm is None:
            self.trace.notes["messages left out: of an intercommunicator, or of a rank to itself"] += 1
            return None
        return Operation(int(kind), comm, peer, event.msg_length, event.msg_tag)

    def _MpiSend(self, event: Any) -> None:
        if operation := self._message(Kind.SEND, event.receiver, event):
            self._note(operation._replace(mode=int(_MODES.get(self.call, SendMode.STANDARD))))

    def _MpiRecv(self, event: Any) -> None:
        operation = self._message(Kind.RECV, event.sender, event)
        if operation is None:
            return
        sent = self.operations[self.first] if len(self.operations) > self.first else None
        if sent and sent.kind == Kind.SEND and self.call.startswith("sendrecv"):
            self.operations[self.first] = sent._replace(
                kind=int(Kind.SENDRECV),
                source=operation.peer,
                source_bytes=operation.bytes,
                source_tag=operation.tag,
            )
            return
        self._note(operation)

    def _MpiIsend(self, event: Any) -> None:
        if operation := self._message(Kind.SEND, event.receiver, event):
            mode = int(_MODES.get(self.call.removeprefix("i"), SendMode.STANDARD))
            self._begin(event.request_id, operation._replace(mode=mode))

    def _MpiIsendComplete(self, event: Any) -> None:
        self._completes(event.request_id)

    def _MpiIrecvRequest(self, event: Any) -> None:
        self._begin(event.request_id, Operation(int(Kind.RECV)))  # its message is known where it completes

    def _MpiIrecv(self, event: Any) -> None:
        index = self._completes(event.request_id)
        if index is None:
            return
        begun, met = self.operations[index], self._message(Kind.RECV, event.sender, event)
        if met is None or begun is None:
            self._drop(index)
            return
        self.operations[index] = begun._replace(comm=met.comm, peer=met.peer, bytes=met.bytes, tag=met.tag)

    def _MpiRequestCancelled(self, event: Any) -> None:
        index = self.requests.pop(event.request_id, None)
        if index is not None and (operation := self.operations[index]):
            self.slots.give(operation.request)
            self.operations[index] = None
            self.trace.notes["cancelled operations left out"] += 1

    def _MpiCollectiveEnd(self, event: Any) -> None:
        self._collective(event, None)

    def _NonBlockingCollectiveRequest(self, event: Any) -> None:
        self._begin(event.request_id, Operation(int(Kind.BARRIER)))

    def _NonBlockingCollectiveComplete(self, event: Any) -> None:
        if (index := self._completes(event.request_id)) is not None:
            self._collective(event, index)

    _MpiMrecv, _MpiImrecvRequest, _MpiImrecv = _MpiRecv, _MpiIrecvRequest, _MpiIrecv

    def _collective(self, event: Any, index: int | None) -> None:
        """A collective that is over: its operation is noted now, or was noted where it was begun."""
        name, comm = _named(event.collective_op), self.trace.comm(event.communicator)
        if name not in _COLLECTIVES or comm is None:
            self.trace.notes[f"collectives left out: {name.lower()}"] += 1
            if index is not None:
                self._drop(index)
            return
        if index is None:
            index = self._note(Operation(int(Kind.BARRIER)))
        begun = self.operations[index]
        assert begun is not None
        root = event.root if isinstance(event.root, int) and event.root < 2**31 else 0
        self.operations[index] = begun._replace(kind=int(_COLLECTIVES[name]), comm=comm, peer=root)
        self.met[comm].append(Met(index, name, event.size_sent, event.size_received))

    def _drop(self, index: int) -> None:
        """An operation that cannot be kept goes, and its completion with it."""
        operation = self.operations[index]
        assert operation is not None
        self.completed.remove(operation.request)
        self.operations[index] = None
