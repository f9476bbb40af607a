"""Which operations a profile brings together: probes, receives of any source, two groups, trees."""

from dataclasses import replace
from pathlib import Path
from profile.test_profile import MS, receive, send, timed

import numpy as np
import pytest
from click.testing import CliRunner

from leadline.cli import main
from leadline.profile import profile
from leadline.profile.analysis import Profile
from leadline.profile.findings import findings
from leadline.profile.sentences import of_any, partial, shares
from leadline.profile.shares import FILES, by_state
from leadline.program.build import ProgramBuilder
from leadline.program.events import TAKES, messages
from leadline.program.model import (
    ANY_PEER,
    NOBODY,
    ROOT,
    Communicator,
    Construction,
    FileCall,
    Form,
    Kind,
    Operation,
)

SENDER, IMBALANCE = 0, 2
Row = tuple[Operation, int, int]


def op(kind: Kind, **fields: int | tuple[int, ...]) -> Operation:
    """An operation."""
    return Operation(int(kind), **fields)  # type: ignore[arg-type]


def waited(found: Profile, why: int) -> list[int]:
    """How long each rank waits for a reason, ms."""
    return [int(time) // MS for time in found.waits[:, why]]


@pytest.mark.parametrize("mode", [0, TAKES])
def test_a_probe_waits_for_the_message_that_it_meets(mode: int) -> None:
    """Rank 0 sends at 5 and at 9 ms; rank 1 probes for each, and receives what is there already."""
    probe = op(Kind.PROBE, peer=0, bytes=8, mode=mode)
    late = [(send(1), 5 * MS, 5 * MS), (send(1), 9 * MS, 9 * MS)]
    met = [
        (probe, 0, 5 * MS),
        (receive(0), 5 * MS, 5 * MS),
        (probe, 6 * MS, 9 * MS),
        (receive(0), 9 * MS, 9 * MS),
    ]
    found = profile(timed(late, met))
    assert waited(found, SENDER) == [0, 8]
    assert found.caused().tolist() == [8 * MS, 0]
    assert len(list(messages(found.program))) == 2  # a probe receives nothing


def test_messages_that_were_taken_by_probes_are_met_once() -> None:
    """Two are taken before either is received: the second probe waits for the second message."""
    probe = op(Kind.PROBE, peer=0, bytes=8, mode=TAKES)
    late = [(send(1), 5 * MS, 5 * MS), (send(1), 9 * MS, 9 * MS)]
    met = [(probe, 0, 5 * MS), (probe, 5 * MS, 9 * MS)] + [(receive(0), 9 * MS, 9 * MS)] * 2
    assert waited(profile(timed(late, met)), SENDER) == [0, 9]
    looks = [(probe._replace(mode=0), *row[1:]) for row in met[:2]] + met[2:]
    assert waited(profile(timed(late, looks)), SENDER) == [0, 5]  # both look at the first


READY = op(Kind.RECV, peer=ANY_PEER, bytes=8, form=int(Form.PERSISTENT), request=1, free=1)
START = op(Kind.START, gives=(1,))


def several(*sources: int) -> list[Row]:
    """Rank 0 receives from these in turn by one receive that was made ready, 5 ms each."""
    rows = [(READY, 0, 0)]
    for turn, source in enumerate(sources):
        begin, end = turn * 5 * MS, (turn + 1) * 5 * MS
        rows += [(START, begin, begin), (op(Kind.WAIT, gives=(1,), takes=(1, source, 0)), begin, end)]
    return rows


def test_a_receive_made_ready_for_any_source_says_whom_it_met() -> None:
    """Ranks 2 and 1 send at 5 and 10 ms, and rank 1 once more at 20 ms, which a plain receive takes."""
    first = [*several(2, 1), (receive(1), 10 * MS, 20 * MS)]
    found = profile(
        timed(first, [(send(0), 10 * MS, 10 * MS), (send(0), 20 * MS, 20 * MS)], [(send(0), 5 * MS, 5 * MS)])
    )
    assert waited(found, SENDER) == [20, 0, 0]
    assert (found.caused() // MS).tolist() == [0, 15, 5]
    assert of_any(found) is None


def test_messages_go_to_receives_in_the_order_in_which_these_were_asked_for() -> None:
    """The one that was made ready was started first, though the other is over before it."""
    over = op(Kind.WAIT, gives=(1,), takes=(1, 1, 0))
    first = [(READY, 0, 0), (START, 0, 0), (receive(1), 0, 10 * MS), (over, 10 * MS, 10 * MS)]
    sends = [(send(0), 5 * MS, 5 * MS), (send(0), 10 * MS, 10 * MS)]
    assert waited(profile(timed(first, sends)), SENDER) == [10, 0]
    never = [*first[:2], (receive(1), 0, 10 * MS)]  # it may have met the first message, or none
    assert waited(profile(timed(never, sends)), SENDER) == [0, 0]


def test_receives_of_which_nothing_is_known_shift_no_others() -> None:
    """What a receive of any source met is not guessed, nor whom later ones met; that is said."""
    first = [(receive(ANY_PEER), 0, 5 * MS), (receive(1), 5 * MS, 20 * MS)]
    found = profile(timed(first, [(send(0), 5 * MS, 5 * MS), (send(0), 20 * MS, 20 * MS)]))
    assert not found.waits.any()
    assert "any source" in str(of_any(found))
    other = [(op(Kind.RECV, peer=1, bytes=8, tag=7), 0, 5 * MS), *first]
    tagged = [(op(Kind.SEND, peer=0, bytes=8, tag=7), 5 * MS, 5 * MS)]
    assert waited(profile(timed(other, tagged)), SENDER) == [5, 0]  # another tag is known


def two_groups(*ranks: list[Row]) -> Profile:
    """Rank 0 in one group, the others in another; both sides number the communicator by themselves."""
    builder = ProgramBuilder(len(ranks), measured=True)
    one, other = (0,), tuple(range(1, len(ranks)))
    builder.communicators += [
        Communicator(one, int(Construction.INTER), 0, other),
        Communicator(other, int(Construction.INTER), 0, one),
    ]
    for rank, rows in enumerate(ranks):
        mine = [row[0]._replace(comm=1 + (rank > 0)) for row in rows]
        builder.add(rank, mine, times=np.array([row[1:] for row in rows]))
    return profile(builder.build())


def test_messages_between_two_groups_meet() -> None:
    """Peers are ranks of the other group."""
    found = two_groups([(send(1), 5 * MS, 5 * MS)], [], [(receive(0), 0, 5 * MS)])
    assert waited(found, SENDER) == [0, 0, 5]
    assert found.caused().tolist() == [5 * MS, 0, 0]


def test_an_operation_of_two_groups_waits_for_the_other_group() -> None:
    """Rank 0 is late to a broadcast from it; then rank 2 is late to a sum and a barrier."""
    gather = op(Kind.ALLREDUCE, bytes=8)
    bcast = op(Kind.BCAST, peer=0, bytes=8)
    found = two_groups([(bcast._replace(peer=ROOT), 5 * MS, 5 * MS)], *[[(bcast, 0, 5 * MS)]] * 2)
    assert waited(found, IMBALANCE) == [0, 5, 5]
    assert found.caused().tolist() == [10 * MS, 0, 0]
    # Rank 1 needs what rank 0 has, which is there; rank 0 needs all of the other group's.
    found = two_groups([(gather, 0, 5 * MS)], [(gather, 0, MS)], [(gather, 5 * MS, 5 * MS)])
    assert waited(found, IMBALANCE) == [5, 0, 0]
    barrier = op(Kind.BARRIER)
    found = two_groups([(barrier, 0, 5 * MS)], [(barrier, 0, 5 * MS)], [(barrier, 5 * MS, 5 * MS)])
    assert waited(found, IMBALANCE) == [5, 5, 0]


def test_who_takes_no_part_waits_for_nobody() -> None:
    """In the root's group others come, and leave."""
    builder = ProgramBuilder(3, measured=True)
    builder.communicators += [Communicator((0, 1), 6, 0, (2,)), Communicator((2,), 6, 0, (0, 1))]
    for rank, (comm, peer, begin) in enumerate([(1, NOBODY, 0), (1, ROOT, 5 * MS), (2, 1, 0)]):
        bcast = op(Kind.BCAST, comm=comm, peer=peer, bytes=8)
        builder.add(rank, [bcast], times=np.array([[begin, 5 * MS if rank else MS]]))
    found = profile(builder.build())
    assert waited(found, IMBALANCE) == [0, 0, 5]
    assert found.caused().tolist() == [0, 5 * MS, 0]


def test_a_root_that_nobody_names_is_no_cause() -> None:
    """A damaged record, in which both groups of an intercommunicator leave the root to the other."""
    bcast = op(Kind.BCAST, peer=ROOT, bytes=8)
    assert not two_groups([(bcast, 5 * MS, 5 * MS)], [(bcast, 0, 5 * MS)]).waits.any()


@pytest.mark.parametrize("kind", [Kind.BCAST, Kind.GATHER])
def test_a_rank_waits_for_the_one_that_hands_on_to_it(kind: Kind) -> None:
    """Rank 2, which is in between, comes 5 ms late; rank 3 is in the call until then, the others are not."""
    rows = [
        [(op(kind, peer=0, bytes=8), begin, end)]
        for begin, end in ((0, 10), (0, 20), (5 * MS, 5 * MS + 10), (0, 5 * MS + 20))
    ]
    if kind == Kind.GATHER:
        rows[0] = [(rows[0][0][0], 0, 5 * MS + 30)]  # the root has to wait for all
    found = profile(timed(*rows))
    assert waited(found, IMBALANCE) == [5 if kind == Kind.GATHER else 0, 0, 0, 5]
    assert found.caused()[[0, 1, 3]].tolist() == [0, 0, 0]


def test_the_root_is_the_cause_though_another_comes_just_before_the_data() -> None:
    """Rank 2 comes 0.1 ms after the root, which all waited for; and who comes after 2 us is not looked at."""
    bcast = op(Kind.BCAST, peer=0, bytes=8)
    late = 4 * MS + MS // 10
    found = profile(timed([(bcast, 4 * MS, late)], [(bcast, 0, late + 10)], [(bcast, late, late + 5)]))
    assert found.caused()[0] == 4 * MS
    found = profile(timed([(bcast, 0, 1)], [(bcast, 0, 2100)], [(bcast, 2000, 2005)]))
    assert not found.waits.any()


def test_who_comes_while_data_move_is_no_cause() -> None:
    """Rank 1 takes 5 ms for its data; that rank 2 comes in the last of them says nothing."""
    bcast = op(Kind.BCAST, peer=0, bytes=1 << 20)
    found = profile(timed([(bcast, 0, 5 * MS)], [(bcast, 0, 5 * MS)], [(bcast, 4 * MS, 9 * MS)]))
    assert waited(found, IMBALANCE)[1] == 0


def test_a_record_that_is_cut_says_so(tmp_path: Path) -> None:
    """Before its numbers."""
    made = timed([(send(1), 0, 1)], [(receive(0), 0, 2)])
    assert partial(profile(made)) is None
    replace(made, partial=frozenset({1})).write(tmp_path / "cut.program")
    done = CliRunner().invoke(main, ["profile", str(tmp_path / "cut.program")])
    assert "1 of 2 ranks end before the program did" in " ".join(done.output.split())


def test_time_in_files_is_told_apart() -> None:
    """Of 10 ms 6 in two writes of 1 MB: neither computation nor messages, and a finding."""
    write = op(Kind.FILE, bytes=1_000_000, mode=int(FileCall.WRITE))
    found = profile(timed([(write, 1 * MS, 4 * MS), (write, 5 * MS, 8 * MS), (send(0), 10 * MS, 10 * MS)]))
    assert (found.computing[0], found.files[0], found.communication[0]) == (4 * MS, 6 * MS, 0)
    assert "files by MPI 60.0 %" in shares(found)
    assert "60.0 % of their time in files by MPI: 1.91 MiB in all" in findings(found)[0]
    spent = by_state(found, 0, np.array([0.0, 0.01]))
    assert spent[FILES].tolist() == pytest.approx([6e-3])
    assert sum(float(each[0]) for each in spent.values()) == pytest.approx(10e-3)
