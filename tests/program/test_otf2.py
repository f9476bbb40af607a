"""Traces in OTF2, written here with OTF2's own writer as Score-P writes them."""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from leadline.core.errors import LeadlineError
from leadline.profile.analysis import profile
from leadline.program import Program, importers
from leadline.program.importers._otf2_sizes import Doubt, Met, sizes
from leadline.program.model import Completion, Form, Kind, Operation

otf2 = pytest.importorskip("otf2", reason="otf2 is not here")
RANKS = 3
US = 1000  # the clock of these traces counts ns


class Writer:
    """A trace of three ranks; `rank` writes a call of MPI at a time."""

    def __init__(self, path: Path) -> None:
        self.events = import_module("otf2.events")
        enums = import_module("otf2.enums")
        self.ops = enums.CollectiveOp
        self.archive = otf2.writer.open(str(path), timer_resolution=1_000_000_000)
        self.trace = self.archive.__enter__()
        made = self.trace.definitions
        node = made.system_tree_node("node")
        self.regions: dict[str, Any] = {}
        self.locations = [
            made.location(f"Master {r}", group=made.location_group(f"Rank {r}", system_tree_parent=node))
            for r in range(RANKS)
        ]
        locations = made.group(
            "", group_type=enums.GroupType.COMM_LOCATIONS, paradigm=enums.Paradigm.MPI, members=self.locations
        )
        del locations
        kind = {"group_type": enums.GroupType.COMM_GROUP, "paradigm": enums.Paradigm.MPI}
        self.world = made.comm("MPI_COMM_WORLD", group=made.group("world", **kind, members=range(RANKS)))
        self.ends = made.comm("ends", group=made.group("ends", **kind, members=[0, 2]), parent=self.world)
        self.times = [0] * RANKS
        for rank in range(RANKS):
            self.call(rank, "MPI_Init", 10 * US)

    def region(self, name: str) -> Any:
        if name not in self.regions:
            self.regions[name] = self.trace.definitions.region(name)
        return self.regions[name]

    def compute(self, rank: int, time: int) -> None:
        self.times[rank] += time

    def put(self, rank: int, event: str, *values: Any) -> None:
        writer = self.trace.event_writer_from_location(self.locations[rank])
        writer(getattr(self.events, event)(self.times[rank], *values))

    def call(self, rank: int, name: str, time: int, *events: tuple[Any, ...]) -> None:
        """A call of MPI of `time` ns, its events in the middle."""
        self.put(rank, "Enter", self.region(name))
        self.times[rank] += time // 2
        for event, *values in events:
            self.put(rank, event, *values)
        self.times[rank] += time - time // 2
        self.put(rank, "Leave", self.region(name))

    def close(self, *, finalize: bool = True) -> None:
        for rank in range(RANKS if finalize else 0):
            self.call(rank, "MPI_Finalize", 10)
        self.archive.__exit__(None, None, None)


def program(
    tmp_path: Path, write: Callable[[Writer], None], finalize: bool = True
) -> tuple[Program, list[str]]:
    """What is read of a trace."""
    writer = Writer(tmp_path / "trace")
    write(writer)
    writer.close(finalize=finalize)
    return importers.read("otf2", tmp_path / "trace" / "traces.otf2")


def of(found: Program, rank: int) -> list[Operation]:
    """A rank's operations without their sites."""
    return [each._replace(site=0) for _, each in found.operations(rank)]


def test_messages_of_every_form(tmp_path: Path) -> None:
    """Blocking, both ways at once, nonblocking; receives learn their messages where they complete."""

    def write(to: Writer) -> None:
        to.put(0, "Enter", to.region("exchange"))
        to.call(0, "MPI_Ssend", 4 * US, ("MpiSend", 1, to.world, 7, 100))
        to.put(0, "Leave", to.region("exchange"))
        to.compute(1, 2 * US)
        to.call(1, "MPI_Recv", 3 * US, ("MpiRecv", 0, to.world, 7, 100))
        for rank in range(RANKS):
            after, before = (rank + 1) % RANKS, (rank - 1) % RANKS
            both = ("MpiSend", after, to.world, 1, 8), ("MpiRecv", before, to.world, 1, 8)
            to.call(rank, "MPI_Sendrecv", US, *both)
        for rank, other in ((0, 1), (2, 0)):  # the ends, each the other's rank in their own communicator
            to.call(rank, "MPI_Irecv", 10, ("MpiIrecvRequest", 50))
            to.call(rank, "MPI_Isend", 10, ("MpiIsend", other, to.ends, 2, 64, 51))
            done = ("MpiIrecv", other, to.ends, 2, 64, 50), ("MpiIsendComplete", 51)
            to.call(rank, "MPI_Waitall", 20, *done)

    found, notes = program(tmp_path, write)
    assert notes == []
    assert [tuple(each.members) for each in found.communicators] == [(0, 1, 2), (0, 2)]
    sendrecv = Operation(int(Kind.SENDRECV), 0, 1, 8, 1, source=2, source_bytes=8, source_tag=1)
    nonblocking = int(Form.NONBLOCKING)
    assert of(found, 0) == [
        Operation(int(Kind.SEND), 0, 1, 100, 7, mode=1),
        sendrecv,
        Operation(int(Kind.RECV), 1, 1, 64, 2, request=1, form=nonblocking),
        Operation(int(Kind.SEND), 1, 1, 64, 2, request=2, form=nonblocking),
        Operation(int(Kind.WAIT), mode=int(Completion.WAITALL), gives=(1, 2)),
        Operation(int(Kind.NOP)),
    ]
    assert of(found, 1)[0] == Operation(int(Kind.RECV), 0, 0, 100, 7)
    assert found.sites[next(each.site for _, each in found.operations(0))] == "exchange"
    times = found.times(1)
    assert times is not None and times[0].tolist() == [2 * US, 5 * US]
    assert not found.partial


def test_sizes_of_collectives_are_one_ranks(tmp_path: Path) -> None:
    """From what a rank gives and takes by Score-P's counting: blocks of 8 B, or of 8, 16, 24 B."""
    every = RANKS * 8
    own = [8, 16, 24]

    def write(to: Writer) -> None:
        for rank in range(RANKS):
            root = rank == 1

            def call(op: Any, sent: int, received: int, where: int = 1, rank: int = rank) -> None:
                end = ("MpiCollectiveEnd", op, to.world, where, sent, received)
                to.call(rank, "MPI_Collective", US, ("MpiCollectiveBegin",), end)

            call(to.ops.BARRIER, 0, 0, 2**32 - 1)
            call(to.ops.BCAST, every if root else 0, 8)
            call(to.ops.REDUCE, 8, every if root else 0)
            call(to.ops.ALLREDUCE, every, every, 2**32 - 1)
            call(to.ops.ALLREDUCE, 2 * 7, 2 * 7, 2**32 - 1)  # in place: no block to itself
            call(to.ops.ALLTOALL, every, every)
            call(to.ops.SCAN, (RANKS - rank) * 8, (rank + 1) * 8)
            call(to.ops.EXSCAN, (RANKS - rank - 1) * 8, rank * 8)
            call(to.ops.GATHERV, own[rank], sum(own) if root else 0)
            call(to.ops.ALLGATHERV, RANKS * own[rank], sum(own))
            call(to.ops.ALLTOALLV, [6, 12, 0][rank], [12, 0, 6][rank])

    found, notes = program(tmp_path, write)
    operations = of(found, 1)
    assert [each.bytes for each in operations[:8]] == [0, 8, 8, 8, 7, 8, 8, 8]
    assert [each.peer for each in operations[:3]] == [0, 1, 1]
    gathered, collected, exchanged = operations[8:11]
    assert (gathered.bytes, gathered.takes) == (16, (0, 8, 1, 16, 2, 24))
    assert (collected.bytes, collected.takes) == (16, (0, 8, 1, 16, 2, 24))
    assert of(found, 0)[8].takes == ()
    assert exchanged.gives == (0, 8, 1, 0, 2, 4) and exchanged.takes == (0, 0, 1, 0, 2, 0)
    open_ = " of which the trace does not say whether it is in place: the largest is taken to be of 8 B, "
    assert [note.split(": ", 1)[1] for note in notes] == [
        f"1 x allreduce{open_}not in place; in place it is of 12 B",
        f"1 x alltoall{open_}not in place; in place it is of 12 B",
        "1 x alltoallv, its blocks spread by what each rank gave and took in all",
    ]


SPREAD = [12, 24, 36, 48]


@pytest.mark.parametrize(
    ("name", "sent", "received", "own", "doubt"),
    [
        # 8 B: three blocks are not a whole number of four.
        ("ALLREDUCE", [32] * 4, [32] * 4, [8] * 4, None),
        # 8 B in place: else they would be 6 B, which no numbers are.
        ("ALLREDUCE", [24] * 4, [24] * 4, [8] * 4, Doubt(8, True, 6)),
        # 1000 B in place: else 750.
        ("ALLGATHER", [3000] * 4, [3000] * 4, [1000] * 4, Doubt(1000, True, 750)),
        # 4096 B in place, or 3072 B: nobody can say.
        ("ALLREDUCE", [12288] * 4, [12288] * 4, [3072] * 4, Doubt(3072, False, 4096)),
        ("REDUCE_SCATTER_BLOCK", [192] * 4, [192] * 4, [48] * 4, Doubt(48, False, 64)),
        # 8 B, in place on one of them.
        ("ALLREDUCE", [32, 32, 24, 32], [32, 32, 24, 32], [8] * 4, None),
        # What others took says it, where blocks differ.
        ("ALLGATHERV", [3 * b for b in SPREAD], [120 - b for b in SPREAD], SPREAD, None),
        ("ALLGATHERV", [4 * b for b in SPREAD], [120] * 4, SPREAD, None),
        # Score-P leaves an element out of what is given in place, not a block.
        ("REDUCE_SCATTER", [120 - 4] * 4, [3 * b for b in SPREAD], SPREAD, None),
        ("REDUCE_SCATTER", [120] * 4, [4 * b for b in SPREAD], SPREAD, None),
        # One number for each: these, too, may be three in place.
        ("REDUCE_SCATTER", [12] * 4, [12] * 4, [4] * 4, Doubt(4, True, 3)),
        ("ALLTOALL", [0] * 4, [0] * 4, [0] * 4, None),
    ],
)
def test_blocks_of_four_ranks_in_place_and_not(
    name: str, sent: list[int], received: list[int], own: list[int], doubt: Doubt | None
) -> None:
    """Four blocks or, in place, three: what tells them apart is used, and what does not is told."""
    met = [Met(0, name, *counts) for counts in zip(sent, received, strict=True)]
    fields, found = sizes(name, 0, met)
    assert ([each["bytes"] for each in fields], found) == (own, doubt)


def test_no_byte_of_blocks_that_vary_is_lost(tmp_path: Path) -> None:
    """Of 10, 0 and 5 B to ranks that take 5 B each 3 B were lost, as every block was rounded down."""

    def write(to: Writer) -> None:
        for rank in range(RANKS):
            end = ("MpiCollectiveEnd", to.ops.ALLTOALLV, to.world, 0, [10, 0, 5][rank], 5)
            to.call(rank, "MPI_Alltoallv", US, ("MpiCollectiveBegin",), end)

    found, _ = program(tmp_path, write)
    calls = [of(found, rank)[0] for rank in range(RANKS)]
    assert [sum(each.gives[1::2]) for each in calls] == [10, 0, 5]
    assert sum(sum(each.takes[1::2]) for each in calls) == 15
    assert all(calls[a].gives[2 * b + 1] == calls[b].takes[2 * a + 1] for a in range(3) for b in range(3))


def test_polls_before_a_completion_are_part_of_it(tmp_path: Path) -> None:
    """Tests that fail, one after another, are time in the one that succeeds."""

    def write(to: Writer) -> None:
        to.call(0, "MPI_Irecv", 10, ("MpiIrecvRequest", 9))
        for _ in range(3):
            to.call(0, "MPI_Test", 100, ("MpiRequestTest", 9))
            to.compute(0, 50)
        to.call(0, "MPI_Test", 100, ("MpiIrecv", 1, to.world, 0, 8, 9))
        to.call(1, "MPI_Send", 10, ("MpiSend", 0, to.world, 0, 8))

    found, _ = program(tmp_path, write)
    times = found.times(0)
    assert times is not None
    assert [each.kind for each in of(found, 0)] == [Kind.RECV, Kind.WAIT, Kind.NOP]
    assert times[1].tolist() == [10, 10 + 4 * 100 + 3 * 50]


def test_a_late_sender_of_5_ms_is_found_in_a_trace(tmp_path: Path) -> None:
    """Rank 1 waits for rank 0, which computes 5 ms longer."""

    def write(to: Writer) -> None:
        to.compute(0, 5000 * US)
        to.call(0, "MPI_Send", 2 * US, ("MpiSend", 1, to.world, 0, 8))
        to.call(1, "MPI_Recv", 5002 * US, ("MpiRecv", 0, to.world, 0, 8))

    found, _ = program(tmp_path, write)
    waited = profile(found).waits[1]
    assert waited.tolist() == [5000 * US, 0, 0, 0]


def test_what_cannot_be_kept_is_said(tmp_path: Path) -> None:
    """Operations without completion, communicators' construction, a trace without its end."""

    def write(to: Writer) -> None:
        to.call(0, "MPI_Isend", 10, ("MpiIsend", 1, to.world, 0, 8, 3))
        for rank in range(RANKS):
            to.call(rank, "MPI_Comm_split", 10, ("MpiCollectiveEnd", to.ops.CREATE_HANDLE, to.world, 0, 0, 0))

    found, notes = program(tmp_path, write, finalize=False)
    assert found.partial == {0, 1, 2}
    assert [note.split(": ", 1)[1][:40] for note in notes] == [
        "3 x collectives left out: create_handle",
        "1 x nonblocking operations left out: the",
    ]
    assert all(each.kind == Kind.NOP for each in of(found, 0))


def test_a_bad_trace_is_refused(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """No trace, and a collective that a rank lacks; OTF2's library prints nothing of its own."""
    path = tmp_path / "traces.otf2"
    path.write_text("something else")
    with pytest.raises(LeadlineError, match="no OTF2 trace that can be read"):
        importers.read("otf2", path)
    assert capfd.readouterr().err == ""

    def write(to: Writer) -> None:
        for rank in (0, 1):
            end = ("MpiCollectiveEnd", to.ops.BARRIER, to.world, 0, 0, 0)
            to.call(rank, "MPI_Barrier", 10, end)

    with pytest.raises(LeadlineError, match="collective 1 of a communicator of 3 ranks is barrier on 2"):
        program(tmp_path, write)
