"""Recorded programs that leave messages behind: executed as they ran, and nothing else is let through."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from leadline import program
from leadline.cli import main
from leadline.program.left import left_behind

from .test_replay import MACHINE

Body = Any

# 0.5 us to send, 2 us between the ends, 1 us a link, 1 GB/s, 0.25 us to receive; a handshake from 10 kB on.
TWO_PROTOCOLS = (
    MACHINE
    + """
up_to = "10 kB"
[[protocol]]
name = "rendezvous"
source = "made up"
send_overhead = "0.5 us"
receive_overhead = "0.25 us"
handshake = true
"""
)
RECORDED = {"mpi": "made up", "memory": [None, None]}
EAGER, LONG = 1_000, 1_000_000


def executed(
    place: Path, body: Callable[..., Body], *options: str, recorded: bool = True, ranks: int = 2
) -> Result:
    """What `leadline replay` says of a program, recorded or written."""
    (place / "two.toml").write_text(TWO_PROTOCOLS)
    made = program.evaluate(body, ranks=ranks)
    made.recorded = {**RECORDED, "memory": [None] * ranks} if recorded else {}
    made.write(place / "left.program")
    return CliRunner().invoke(
        main, ["replay", str(place / "left.program"), "--on", str(place / "two.toml"), *options]
    )


def took(done: Result) -> float:
    """Its time, s."""
    assert done.exit_code == 0, done.output
    return float(json.loads(done.stdout)[0]["time"])


def unwaited(comm: program.Comm, kind: program.Kind, size: int, tag: int) -> None:
    """A nonblocking message of rank 0 and 1 for which nobody waits."""
    slot = sum(each.form > 0 for each in comm.owner.operations) + 1
    comm.owner.note(program.Operation(int(kind), 0, 1 - comm.rank, size, tag, slot, form=1))


def leaves(form: str, size: int = EAGER) -> Callable[..., Body]:
    """Three messages of rank 0 with one tag, of which rank 1 receives the first, then one of another tag."""

    def body(comm: program.Comm) -> Body:
        if comm.rank == 1:
            yield comm.recv(0, EAGER, tag=5)
            if form == "sendrecv":
                yield comm.send(0, EAGER)
                yield comm.send(0, EAGER)
            yield comm.recv(0, EAGER, tag=6)
            return
        yield comm.send(1, EAGER, tag=5)
        kept = comm.send_init(1, size, tag=5) if form == "persistent" else None
        for _ in range(2):
            if form == "send":
                yield comm.send(1, size, tag=5)
            elif form == "isend":
                unwaited(comm, program.Kind.SEND, size, 5)
            elif form == "waited":
                yield comm.wait(comm.isend(1, size, tag=5))
            elif form == "sendrecv":
                comm.owner.note(
                    program.Operation(
                        int(program.Kind.SENDRECV), 0, 1, size, 5, source=1, source_bytes=EAGER, source_tag=0
                    )
                )
            elif kept:
                yield comm.start(kept)
                yield comm.wait(kept)
        if kept:
            yield comm.free(kept)
        yield comm.send(1, EAGER, tag=6)

    return body


@pytest.mark.parametrize("size", [EAGER, LONG])
@pytest.mark.parametrize("form", ["send", "isend", "waited", "persistent", "sendrecv"])
def test_a_recording_that_left_messages_is_executed_and_says_by_whom(
    form: str, size: int, tmp_path: Path
) -> None:
    """Whatever protocol they take, and however they were sent: the next message follows."""
    done = executed(tmp_path, leaves(form, size))
    assert done.exit_code == 0, done.output
    assert "2 messages were never received in the recording (2 of rank 0)" in done.stdout
    refused = executed(tmp_path, leaves(form, size), recorded=False)
    assert refused.exit_code != 0
    assert "never received" in refused.output or "deadlock" in refused.output


@pytest.mark.parametrize(("size", "time"), [(EAGER, 7.75e-6), (LONG, 5.75e-6)])
@pytest.mark.parametrize("network", ["loggp", "packet", "auto"])
def test_who_sends_a_message_that_is_left_waits_for_nobody(
    network: str, size: int, time: float, tmp_path: Path
) -> None:
    """Of four messages at once each 1,000 B take the link 1 us; a long one never goes, so takes it no time.

    0.5 us to hand over the first, 1 us for each on the link, 3 us under way and 0.25 us to take up the last.
    """
    done = executed(tmp_path, leaves("send", size), "--json", "--network", network)
    assert took(done) == pytest.approx(time, rel=1e-9)


def test_what_follows_a_left_message_is_received(tmp_path: Path) -> None:
    """Messages of a split, left by three ranks; the ring through all of them goes on."""

    def body(comm: program.Comm) -> Body:
        part = yield comm.split(0, -comm.rank)
        if comm.rank:
            yield part.send(part.size - 1, LONG, tag=comm.rank)  # the world's rank 0
        yield comm.send((comm.rank + 1) % comm.size, 8)
        yield comm.recv((comm.rank - 1) % comm.size, 8)

    done = executed(tmp_path, body, ranks=4)
    assert "3 messages were never received in the recording (1 of rank 1, 1 of rank 2" in done.stdout
    assert left_behind(program.read(tmp_path / "left.program")) == {1: 1, 2: 1, 3: 1}


def waits(comm: program.Comm) -> Body:
    """For a message with another tag."""
    if comm.rank == 0:
        yield comm.send(1, EAGER, tag=1)
    else:
        yield comm.recv(0, EAGER, tag=2)


def too_small(comm: program.Comm) -> Body:
    """The first of two messages meets it."""
    if comm.rank == 0:
        yield comm.send(1, EAGER)
        yield comm.send(1, EAGER)
    else:
        yield comm.recv(0, EAGER - 1)


def nothing_comes(comm: program.Comm) -> Body:
    """A receive that nobody waits for, of a message that nobody sends."""
    if comm.rank == 0:
        unwaited(comm, program.Kind.RECV, EAGER, 0)
    yield comm.compute("1 us")


@pytest.mark.parametrize(
    ("body", "why"),
    [(waits, "deadlock"), (too_small, "has room for 999 B"), (nothing_comes, "met by no message")],
)
def test_what_else_is_wrong_with_a_recording_is_still_refused(
    body: Callable[..., Body], why: str, tmp_path: Path
) -> None:
    """Only messages beyond the receives are let through."""
    done = executed(tmp_path, body)
    assert done.exit_code != 0 and why in done.output, done.output
