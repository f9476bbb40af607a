"""Programs from and to other tools' forms: the same after both ways, bad files refused with their line."""

import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from leadline import program
from leadline.core.errors import LeadlineError, UsageError
from leadline.program import exporters, importers
from leadline.program.build import ProgramBuilder
from leadline.program.model import FREE_SOURCE, FREE_TAG, Communicator, Form, Kind, Operation


def halo(comm: program.Comm, collective: bool = False) -> Any:
    """A ring with messages in both directions, and computation; the last step computes more."""
    around = [(comm.rank + by) % comm.size for by in (-1, 1)]
    for step in range(5):
        requests = [comm.irecv(peer, 4096, tag=step) for peer in around]
        requests += [comm.isend(peer, 4096, tag=step) for peer in around]
        yield comm.compute("2 us")
        yield comm.wait_all(requests)
        yield comm.compute("3 us")
        if collective:
            yield comm.allreduce(8)
            yield comm.bcast(100, root=1)
    yield comm.compute("1 ms")


def chain(comm: program.Comm) -> Any:
    """A message through all ranks, blocking."""
    if comm.rank:
        yield comm.recv(comm.rank - 1, 10)
    yield comm.compute("1 us")
    if comm.rank < comm.size - 1:
        yield comm.send(comm.rank + 1, 10)


def executed(found: program.Program) -> list[list[tuple[Any, ...]]]:
    """Each rank's operations and the computation before each in ns, however they are folded."""
    every = []
    for rank in range(found.ranks):
        before = found.stats(rank)["before_mean"]
        every.append(
            [
                (each._replace(type=0, mode=0), round(float(before[leaf]) * 1e9))
                for leaf, each in found.operations(rank)
            ]
        )
    return every


def read(form: str, text: str, tmp_path: Path) -> program.Program:
    """The program of a text."""
    path = tmp_path / "schedule"
    path.write_text(text)
    return importers.read(form, path)[0]


@pytest.mark.parametrize("ranks", [2, 3, 8])
@pytest.mark.parametrize("code", [halo, chain])
@pytest.mark.parametrize("form", ["goal", "smpi"])
def test_a_program_is_the_same_after_export_and_import(
    form: str, code: Any, ranks: int, tmp_path: Path
) -> None:
    """Operation for operation with its computation; SMPI's waits are one by one, so they are left out."""
    first = program.evaluate(code, ranks)
    exporters.write(form, first, tmp_path / "out")
    again, notes = importers.read(form, tmp_path / "out")
    assert not notes
    if form == "goal":
        # Tags are kept apart by communicator; there is only one.
        assert executed(again) == executed(first)
        return
    for mine, theirs in zip(executed(first), executed(again), strict=True):
        assert [e for e in mine if e[0].kind != Kind.WAIT] == [e for e in theirs if e[0].kind != Kind.WAIT]
        assert sum(b for _, b in mine) == sum(b for _, b in theirs)
        slots = [sum((e[0].gives for e in each if e[0].kind == Kind.WAIT), ()) for each in (mine, theirs)]
        assert sorted(slots[0]) == sorted(slots[1])


def test_each_turn_keeps_its_own_computation(tmp_path: Path) -> None:
    """1 ms before the first message of a loop and 1 us before others, not the mean before all."""
    builder = ProgramBuilder(2, measured=True)
    enters = 1_000_000 + 1000 * np.arange(10)
    for rank, kind in enumerate((Kind.SEND, Kind.RECV)):
        messages = [Operation(int(kind), peer=1 - rank, bytes=8)] * 10
        builder.add(rank, messages, times=np.stack([enters, enters], axis=1))
    made = builder.build()
    for form in ("goal", "smpi"):
        path = tmp_path / f"turns.{form}"
        exporters.write(form, made, path, flops=1e9)
        words = [line.split() for line in path.read_text().splitlines()]
        found = [float(each[-1]) for each in words if {"calc", "compute"} & set(each)]
        assert [each for each in found if each] == pytest.approx([1e6, *[1e3] * 9] * 2)


def test_the_receive_of_a_sendrecv_comes_after_those_before(tmp_path: Path) -> None:
    """Both may take the same messages, so their order is one of GOAL's edges; the order of lines is none."""

    def code(comm: program.Comm) -> Any:
        """Messages of 1 and 2 B to and fro."""
        first = comm.irecv(1 - comm.rank, 1)
        sent = comm.isend(1 - comm.rank, 1)
        yield comm.sendrecv(1 - comm.rank, 2, 1 - comm.rank)
        yield comm.wait_all([first, sent])

    exporters.write("goal", program.evaluate(code, 2), tmp_path / "both.goal")
    lines = (tmp_path / "both.goal").read_text().splitlines()
    assert lines[2] == "l1: recv 1b from 1 tag 0"
    both = lines.index("l3: recv 2b from 1 tag 0")
    assert "l3 irequires l1" in lines[both:]


def test_large_tags_of_several_communicators_pass_through_goal(tmp_path: Path) -> None:
    """A tag of GOAL says communicator and tag, and is no larger than what can be read back."""
    builder = ProgramBuilder(2)
    builder.communicators += [Communicator(range(2)), Communicator(range(2))]
    for rank, kind in enumerate((Kind.SEND, Kind.RECV)):
        pairs = [(0, 1 << 30), (2, 1 << 30), (2, 7), (0, 7)]
        calls = [Operation(int(kind), comm, 1 - rank, n, tag) for n, (comm, tag) in enumerate(pairs)]
        builder.add(rank, calls if rank else calls[::-1])
    exporters.write("goal", builder.build(), tmp_path / "tags.goal")
    lines = (tmp_path / "tags.goal").read_text().splitlines()
    tags = {line.rpartition(" ")[2] for line in lines if "tag" in line}
    assert tags == {"0", "1", "2", "3"}
    found, _ = importers.read("goal", tmp_path / "tags.goal")
    assert [each.bytes for _, each in found.operations(1) if each.kind == Kind.RECV] == [0, 1, 2, 3]


def test_a_call_that_a_form_lacks_is_named_as_it_was_called(tmp_path: Path) -> None:
    """Blocks that vary are another call."""
    builder = ProgramBuilder(1)
    builder.add(0, [Operation(int(Kind.ALLGATHER), bytes=8, mode=1, takes=(0, 8))])
    with pytest.raises(UsageError, match="MPI_Allgatherv"):
        exporters.write("smpi", builder.build(), tmp_path / "varies.smpi")


def test_collectives_pass_through_smpi_and_goal_asks_for_their_messages(tmp_path: Path) -> None:
    """With their sizes and roots; goal writes nothing where nobody knows them (test_export_goal.py)."""
    first = program.evaluate(halo, 4, collective=True)
    exporters.write("smpi", first, tmp_path / "out")
    again, _ = importers.read("smpi", tmp_path / "out")
    kinds = (Kind.ALLREDUCE, Kind.BCAST)
    for mine, theirs in zip(executed(first), executed(again), strict=True):
        assert [e for e in mine if e[0].kind in kinds] == [e for e in theirs if e[0].kind in kinds]
    with pytest.raises(UsageError, match="nobody was named who knows their messages"):
        exporters.write("goal", first, tmp_path / "no.goal")
    assert not list(tmp_path.glob("no.goal*"))


def test_independent_operations_of_goal_go_on_while_another_waits(tmp_path: Path) -> None:
    """Two chains on rank 0; rank 1 answers the second before it serves the first."""
    found = read(
        "goal",
        "num_ranks 2\nrank 0 {\na: recv 8b from 1 tag 1\nb: send 8b to 1 tag 2\nb requires a\n"
        "c: recv 8b from 1 tag 3\nd: send 8b to 1 tag 4\nd requires c\n}\n"
        "rank 1 {\na: send 8b to 0 tag 3\nb: recv 8b from 0 tag 4\nb requires a\n"
        "c: send 8b to 0 tag 1\nc requires b\nd: recv 8b from 0 tag 2\nd requires c\n}\n",
        tmp_path,
    )
    tags = [each.tag for _, each in found.operations(0) if each.kind == Kind.SEND]
    assert tags == [4, 2]
    first = [each for _, each in found.operations(0)][:2]
    assert [(each.tag, each.form) for each in first] == [(1, Form.NONBLOCKING), (3, Form.BLOCKING)]


GOOD = "num_ranks 2\nrank 0 {\nl1: send 8b to 1 tag 1\n}\nrank 1 {\nl1: recv 8b from 0 tag 1\n}\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (GOOD.replace("l1: send 8b to 1 tag 1\n", ""), r":5: a receive .* no matching send"),
        (GOOD.replace("l1: recv 8b from 0 tag 1\n", ""), r":3: a message .* no matching receive"),
        (GOOD.replace("from 0 tag 1", "from 0 tag 2"), r":3: a message of 8 bytes with tag 1"),
        (GOOD.replace("recv 8b", "recv 4b"), r":6: a receive of 4 bytes meets a message of 8"),
        (GOOD[:-2], r":5: the file is cut: rank 1 has no '}'"),
        (GOOD[: GOOD.index("rank 1 {")], "1 of 2 ranks are missing, first 1"),
        (GOOD.replace("to 1", "to 2"), r":3: a rank is a whole number, 0 to 1, but got '2'"),
        (GOOD.replace("l1: send", "l1: sned"), ":3: a line is calc, send"),
        (
            GOOD.replace("tag 1\n}\nrank 1", "tag 1\nl2: calc 5\nl2 requires l1\nl1 requires l2\n}\nrank 1"),
            ":3: a cycle: rank 0",
        ),
        (GOOD.replace("tag 1\n}\nrank 1", "tag 1\nl9 requires l1\n}\nrank 1"), ":4: no operation of rank 0"),
        ("", "this file is empty"),
        ("\0\0\1", "is binary"),
    ],
)
def test_a_bad_goal_file_is_refused_with_its_line(text: str, said: str, tmp_path: Path) -> None:
    """One sentence each."""
    assert read("goal", GOOD, tmp_path).operations_in_all == 2
    with pytest.raises(LeadlineError, match=said):
        read("goal", text, tmp_path)


def packed(ranks: Sequence[Sequence[tuple[int, int, int, int, int, Sequence[int], Sequence[int]]]]) -> bytes:
    """The binary form: type, peer, bytes, tag, cpu, and what begins after each operation ended or begun."""
    table = 4 + 2 + 16 * len(ranks)
    jumps, data = b"", b""
    for operations in ranks:
        later = [each for *_, ended, begun in operations for each in (*ended, *begun)]
        roots = [each for each in range(len(operations)) if each not in later]
        one = struct.pack(f"<II{len(roots)}I", len(operations), len(roots), *roots)
        at = 0
        for index, (kind, peer, size, tag, cpu, ended, begun) in enumerate(operations):
            one += struct.pack("<IBIQIBB", later.count(index), kind, peer, size, tag, cpu, 0)
            one += struct.pack("<IIII", len(ended), at, len(begun), at + len(ended))
            at += len(ended) + len(begun)
        one += struct.pack(f"<{len(later)}I", *later)
        jumps += struct.pack("<QQ", table + len(data), table + len(data) + len(one))
        data += one
    return struct.pack("<QIBB", 4223, len(ranks), 1, 1) + jumps + data


SENDS, RECEIVES, COMPUTES = 1, 2, 3
BINARY = packed(
    [
        [(COMPUTES, 0, 100, 0, 0, [1], []), (SENDS, 2, 8, 3, 0, [], [2]), (COMPUTES, 0, 50, 0, 0, [], [])],
        [],
        [(RECEIVES, 0, 8, 3, 0, [1], []), (COMPUTES, 0, 7, 0, 0, [], [])],
    ]
)


def test_the_binary_form_of_goal_is_the_text_form(tmp_path: Path) -> None:
    """Both sorts of edges, computation and messages; a rank without operations."""
    text = (
        "num_ranks 3\nrank 0 {\na: calc 100\nb: send 8b to 2 tag 3\nb requires a\nc: calc 50\n"
        "c irequires b\n}\nrank 1 {\n}\nrank 2 {\na: recv 8b from 0 tag 3\nb: calc 7\nb requires a\n}\n"
    )
    path = tmp_path / "schedule.bin"
    path.write_bytes(BINARY)
    assert executed(importers.read("goal", path)[0]) == executed(read("goal", text, tmp_path))


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (BINARY[:20], "the file is cut: 20 bytes"),
        (BINARY[:-1], "the file is cut: 300 bytes"),
        (BINARY[:-4] + bytes(4), "rank 2 is damaged: its edges"),
        (packed([[(SENDS, 4, 8, 3, 0, [], [])], []]), "operation 1: there is no rank 4; the schedule has 2"),
        (packed([[(9, 0, 8, 3, 0, [], [])]]), "operation 1: 9 is no type of operation"),
        (packed([[(SENDS, 0, 8, 3, 0, [7], [])]]), "rank 0 is damaged: it has 1 operation"),
        (
            packed([[(SENDS, 1, 8, 3, 0, [], [])], [(COMPUTES, 0, 8, 3, 0, [], [])]]),
            "operation 1: a message of 8",
        ),
        (
            packed([[(COMPUTES, 0, 1, 0, 0, [1], []), (COMPUTES, 0, 1, 0, 0, [0], [])]]),
            "operation 1: a cycle",
        ),
    ],
)
def test_a_bad_binary_goal_file_is_refused(data: bytes, said: str, tmp_path: Path) -> None:
    """One sentence each, with the operation as it is numbered through the file."""
    path = tmp_path / "schedule.bin"
    path.write_bytes(data)
    with pytest.raises(LeadlineError, match=said):
        importers.read("goal", path)


def test_free_receives_of_goal_take_what_comes_first(tmp_path: Path) -> None:
    """A receive of any rank and tag posted before an exact one takes the message; both say what they were.

    Of any rank alone it stays free: what it takes is decided where the program is executed.
    """
    found = read(
        "goal",
        "num_ranks 3\n/* a master\n and workers */ rank 0 {\na: recv 64b from -1 tag -1\n"
        "b: recv 64b from 1 tag 5 /* exact */\nc: recv 64b from -1 tag 6\nb requires a\nc requires b\n}\n"
        "rank 1 {\na: send 8b to 0 tag 5\nb: send 16b to 0 tag 5\nb requires a\n}\n"
        "rank 2 {\na: send 32b to 0 tag 6\n}\n",
        tmp_path,
    )
    met = [(e.peer, e.tag, e.free) for _, e in found.operations(0) if e.kind == Kind.RECV]
    assert met == [(1, 5, FREE_SOURCE | FREE_TAG), (1, 5, 0), (-1, 6, FREE_SOURCE)]
    exporters.write("goal", found, tmp_path / "again.goal")
    assert executed(importers.read("goal", tmp_path / "again.goal")[0])[0][2][0].peer == -1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("calc 5\ncalc 5 cpu 1", "rank 0 computes on 2 cpus at once, but here on one after another"),
        (
            "send 8b to 0\nrecv 8b from 0 nic 1",
            "rank 0 sends and receives through 2 nics at once, but here through one after another",
        ),
        ("send 8b to 0 nic 1\nrecv 8b from 0 nic 1\ncalc 5", None),
    ],
)
def test_what_goal_does_at_once_and_a_program_does_not_is_said(
    text: str, said: str | None, tmp_path: Path
) -> None:
    """A note for each rank with several cpus, or several network interfaces."""
    path = tmp_path / "schedule"
    path.write_text(f"num_ranks 1\nrank 0 {{\n{text}\n}}\n")
    assert importers.read("goal", path)[1] == ([f"{path}: {said}"] if said else [])


TRACE = "0 init\n0 compute 5e8\n0 isend 1 3 10 0\n0 wait 0 1 3\n1 init 1\n1 recv 0 3 10\n1 sleep 0.25\n"


def test_sizes_and_computation_of_a_trace(tmp_path: Path) -> None:
    """Ten doubles, by their code and by the default of `init 1`; operations by the rate, sleep in seconds."""
    found = read("smpi", TRACE, tmp_path)
    assert [(e.kind, e.bytes) for _, e in found.operations(0)] == [(Kind.SEND, 80), (Kind.WAIT, 0)]
    assert [(e.kind, e.bytes) for _, e in found.operations(1)] == [(Kind.RECV, 80), (Kind.NOP, 0)]
    assert found.stats(0)["before_mean"].tolist() == [0.5, 0]
    assert found.stats(1)["before_mean"].tolist() == [0, 0.25]


def test_a_list_of_traces_is_read(tmp_path: Path) -> None:
    """As smpirun writes it: a file a rank."""
    for rank in "01":
        text = "".join(f"{line}\n" for line in TRACE.splitlines() if line.startswith(rank))
        (tmp_path / f"rank{rank}").write_text(text)
    assert executed(read("smpi", "rank0\nrank1\n", tmp_path)) == executed(read("smpi", TRACE, tmp_path))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            TRACE.replace("1 recv 0 3 10\n", ""),
            r":3: a message from rank 0 to rank 1 with tag 3 has no matching",
        ),
        (TRACE.replace("0 wait 0 1 3\n", ""), "rank 0 ends with 1 operation that it never waited for"),
        (TRACE.replace("0 wait 0 1 3", "0 wait 0 1 4"), r":4: rank 0 waits for a message that was not begun"),
        (TRACE.replace("recv 0 3 10", "recv 0"), r":6: the line is cut"),
        (TRACE.replace("recv 0 3 10", "rcv 0 3 10"), r":6: 'rcv' is no action"),
        (TRACE.replace("isend 1 3", "send 5 3").replace("0 wait 0 1 3\n", ""), r":3: there is no rank 5"),
        ("# Title\nwords.txt\n", r"is no time-independent trace of SMPI: 'words.txt' on line 2 is neither"),
        (TRACE.replace("1 sleep", "3 sleep"), "of ranks 0 to 3, 1 have no line, first 2"),
    ],
)
def test_a_bad_trace_is_refused_with_its_line(text: str, said: str, tmp_path: Path) -> None:
    """One sentence each."""
    with pytest.raises(LeadlineError, match=said):
        read("smpi", text, tmp_path)


def test_a_receive_of_any_tag_keeps_the_tag_that_it_met(tmp_path: Path) -> None:
    """In a trace as the recorder knows it; where a trace says -1, the tag of the message it takes."""
    builder = ProgramBuilder(2)
    builder.add(0, [Operation(int(Kind.SEND), peer=1, bytes=8, tag=tag) for tag in (7, 9)])
    any_tag = Operation(int(Kind.RECV), peer=0, bytes=8, free=FREE_TAG)
    builder.add(1, [any_tag._replace(tag=9), any_tag._replace(tag=7)])
    exporters.write("smpi", builder.build(), tmp_path / "out")
    again, _ = importers.read("smpi", tmp_path / "out")
    assert [each.tag for _, each in again.operations(1)] == [9, 7]
    given = "".join(f"0 send 1 {tag} 1\n" for tag in (7, 8, 9))
    given += "1 recv 0 8 1\n1 irecv 0 -1 1\n1 recv 0 -1 1\n1 wait 0 1 -1\n"
    met = [each for _, each in read("smpi", given, tmp_path).operations(1) if each.kind == Kind.RECV]
    assert [(each.tag, each.free) for each in met] == [(8, 0), (7, FREE_TAG), (9, FREE_TAG)]


def test_a_tag_that_time_decides_is_refused(tmp_path: Path) -> None:
    """Beside receives of any source; not where all messages have one tag, or none is left for it."""
    given = "0 send 1 7 1\n0 send 1 {} 1\n1 recv -1 7 1\n1 recv 0 -1 1\n"
    found = read("smpi", given.format(7), tmp_path)
    assert [each.tag for _, each in found.operations(1)] == [7, 7]
    with pytest.raises(LeadlineError, match=":4: which message a receive of any tag takes"):
        read("smpi", given.format(8), tmp_path)
    with pytest.raises(LeadlineError, match=":2: a receive of any tag from rank 0 has no matching send"):
        read("smpi", "0 compute 1\n1 recv 0 -1 1\n", tmp_path)


def test_a_wait_for_all_passes_through_smpi_as_one(tmp_path: Path) -> None:
    """Who waits for all takes them as they come; one wait after another made programs up to 8 % longer."""

    def waits(comm: program.Comm) -> Any:
        """For a part of what is under way, and for all of it."""
        other = 1 - comm.rank
        first, second = comm.irecv(other, 8, 1), comm.irecv(other, 9, 2)
        sent = [comm.isend(other, 8, 1), comm.isend(other, 9, 2)]
        yield comm.wait_all([second, *sent])
        more = [comm.isend(other, 10, 3), comm.irecv(other, 10, 3)]
        yield comm.wait_all([*more, first])

    exporters.write("smpi", program.evaluate(waits, ranks=2), tmp_path / "out")
    again, _ = importers.read("smpi", tmp_path / "out")
    given = [len(each.gives) for _, each in again.operations(0) if each.kind == Kind.WAIT]
    assert given == [1, 1, 1, 3]
