"""What a program's ranks send each other, as the search of mappings takes it."""

from pathlib import Path
from typing import Any

from leadline import program
from leadline.tune.mapping.traffic import load


def ring(comm: program.Comm) -> Any:
    """Three messages and five persistent ones to the right, two in both directions at once."""
    right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    for _ in range(3):
        request = comm.irecv(left, 100)
        yield comm.send(right, 100)
        yield comm.wait(request)
    both = [comm.recv_init(left, 10), comm.send_init(right, 10)]
    for _ in range(5):
        yield comm.start(*both)
        yield comm.wait_all(both)
    for each in both:
        yield comm.free(each)
    for _ in range(2):
        yield comm.sendrecv(left, 7, right)
    yield comm.allreduce(1000)


def test_messages_of_a_program_are_summed_by_pairs(tmp_path: Path) -> None:
    """As often as loops and starts execute them; collectives are the library's own messages."""
    path = tmp_path / "ring.program"
    program.evaluate(ring, 5).write(path)
    traffic = load(path)
    found = {(s, t): b for s, t, b in zip(traffic.source, traffic.target, traffic.bytes, strict=True)}
    right = {(rank, (rank + 1) % 5): 3 * 100 + 5 * 10 for rank in range(5)}
    left = {(rank, (rank - 1) % 5): 2 * 7 for rank in range(5)}
    assert traffic.ranks == 5
    assert found == right | left


def test_ranks_that_send_nothing_are_ranks(tmp_path: Path) -> None:
    """A program knows how many ranks it has; a table only those that it names."""

    def one_message(comm: program.Comm) -> Any:
        if comm.rank == 0:
            yield comm.send(1, 8)
        elif comm.rank == 1:
            yield comm.recv(0, 8)

    path = tmp_path / "one.program"
    program.evaluate(one_message, 4).write(path)
    assert load(path).ranks == 4
