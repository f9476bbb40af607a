"""Time-independent traces of SMPI (SimGrid): a line an action, `RANK ACTION ARGUMENTS`.

One file for all ranks, or a file that lists a file a rank, as `smpirun -trace-ti` writes. Computation is in
floating-point operations (`compute`) or seconds (`sleep`). Sizes are numbers of elements of a datatype, whose
code is the last argument and, where there is none, byte (`init`) or double (`init 1`). What
follows an action is as SimGrid's own replay reads it.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path

from leadline.core.errors import UsageError
from leadline.core.formatting import counted
from leadline.program.build import ProgramBuilder
from leadline.program.importers._lines import lines_of, seconds, whole
from leadline.program.importers._slots import Slots
from leadline.program.model import (
    ANY_PEER,
    FREE_SOURCE,
    FREE_TAG,
    Completion,
    Datatype,
    Form,
    Kind,
    Operation,
    Program,
)

TITLE = "SMPI's time-independent trace"

# Bytes of an element by the code of its datatype, on a 64-bit machine.
SIZES = dict(enumerate((8, 4, 1, 2, 8, 4, 1, 8, 1, 1, 2, 4, 8, 8, 16, 4, 1, 1, 2, 4, 8, 1, 2, 4, 8)))
DOUBLE, BYTE = 0, 6
_TYPES = {0: Datatype.FLOAT64, 1: Datatype.INT32, 4: Datatype.INT64, 5: Datatype.FLOAT32, 7: Datatype.INT64}

_MESSAGES = {"send": Kind.SEND, "isend": Kind.SEND, "recv": Kind.RECV, "irecv": Kind.RECV}
# Of each collective: where its size is, where the operations that it computes are, its root, its datatype.
_COLLECTIVES: dict[str, tuple[Kind, int | None, int | None, int | None, int | None]] = {
    "barrier": (Kind.BARRIER, None, None, None, None),
    "bcast": (Kind.BCAST, 0, None, 1, 2),
    "reduce": (Kind.REDUCE, 0, 1, 2, 3),
    "allreduce": (Kind.ALLREDUCE, 0, 1, None, 2),
    "scan": (Kind.SCAN, 0, 1, None, 2),
    "exscan": (Kind.EXSCAN, 0, 1, None, 2),
    "alltoall": (Kind.ALLTOALL, 0, None, None, 2),
    "allgather": (Kind.ALLGATHER, 0, None, None, 2),
    "gather": (Kind.GATHER, 0, None, 2, 3),
    "scatter": (Kind.SCATTER, 0, None, 2, 3),
}
_WITHOUT_TIME = {"finalize", "comm_size", "location"}
_NOT_KEPT = {
    "test": "a test that failed is no operation",
    "comm_dup": "the trace does not use its communicators",
}
_NOT_KEPT["comm_split"] = _NOT_KEPT["comm_dup"]


def read(path: Path, flops: float) -> tuple[Program, list[str]]:
    """The program of a trace; `flops` operations are a second (`importers.read`)."""
    ranks: dict[int, _Rank] = {}
    skipped: Counter[str] = Counter()
    for place, words in _actions(path):
        number = whole(words[0], place, "the rank that a line begins with")
        rank = ranks.setdefault(number, _Rank(number, flops))
        if words[1] in _NOT_KEPT:
            skipped[words[1]] += 1
        elif words[1] not in _WITHOUT_TIME:
            rank.act(words[1], words[2:], place)
    count = max(ranks, default=-1) + 1
    if not count:
        raise UsageError(f"{path}: this file is empty")
    if missing := count - len(ranks):
        first = next(each for each in range(count) if each not in ranks)
        raise UsageError(f"{path}: of ranks 0 to {count - 1}, {missing} have no line, first {first}")
    _find_tags(ranks)
    _refuse_lonely(ranks, count)
    builder = ProgramBuilder(count)
    for number in range(count):
        rank = ranks[number]
        rank.finish()
        builder.add(number, rank.operations, before=rank.before)
    return builder.build(), [
        f"{path}: {times} x {name} left out: {_NOT_KEPT[name]}" for name, times in sorted(skipped.items())
    ]


def _actions(path: Path) -> list[tuple[str, list[str]]]:
    """Each action with its place; of a list of files those of each file."""
    found: list[tuple[str, list[str]]] = []
    for number, line in enumerate(lines_of(path, TITLE), 1):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        if len(words) == 1:
            if words[0].lstrip("-").isdigit():
                raise UsageError(f"{path}:{number}: the line is cut: a rank without an action")
            each = path.parent / words[0]
            if each.resolve() == path.resolve():
                raise UsageError(f"{path}:{number}: the list of traces names itself")
            if not each.is_file():
                raise UsageError(
                    f"{path} is no time-independent trace of SMPI: {words[0]!r} on line {number} is neither "
                    "an action of a rank nor the file of one"
                )
            found += _actions(each)
        else:
            found.append((f"{path}:{number}", words))
    return found


class _Rank:
    """What a rank's lines ask for."""

    def __init__(self, number: int, flops: float) -> None:
        self.number, self.flops = number, flops
        self.operations: list[Operation] = []
        self.before: list[float] = []
        self.computed = 0.0
        self.type = BYTE
        self.slots = Slots()
        self.pending: dict[int, tuple[int, int, int]] = {}  # sender, receiver and tag of each slot
        self._messages: list[tuple[int, str]] = []  # where each is among the operations
        self.place = ""

    def note(self, operation: Operation) -> None:
        self.operations.append(operation)
        self.before.append(self.computed)
        self.computed = 0.0

    def messages(self) -> list[tuple[int, Operation, str]]:
        """Sends and receives: their places among the operations, and in the trace."""
        return [(index, self.operations[index], place) for index, place in self._messages]

    def act(self, name: str, words: Sequence[str], place: str) -> None:
        self.place = place
        if name == "init":
            self.type = DOUBLE if words else BYTE
        elif name in ("compute", "sleep"):
            value = seconds(self._word(words, 0, name), place, f"the amount of {name}")
            self.computed += value / self.flops if name == "compute" else value
        elif name in _MESSAGES:
            self._message(name, words)
        elif name == "wait":
            self._wait(words)
        elif name == "waitall":
            self._complete(list(self.pending), Completion.WAITALL)
        elif name in _COLLECTIVES:
            self._collective(name, words)
        else:
            raise UsageError(f"{place}: {name!r} is no action that can be read from {TITLE}")

    def finish(self) -> None:
        if self.pending:
            raise UsageError(
                f"{self.place}: rank {self.number} ends with {counted(len(self.pending), 'operation')} "
                "that it never waited for"
            )
        if self.computed or not self.operations:
            self.note(Operation(int(Kind.NOP)))

    def _word(self, words: Sequence[str], index: int, name: str) -> str:
        if index >= len(words):
            raise UsageError(
                f"{self.place}: the line is cut: {name} has {len(words)} arguments, needs {index + 1}"
            )
        return words[index]

    def _element(self, words: Sequence[str], index: int | None) -> int:
        if index is None or index >= len(words):
            return self.type
        return whole(words[index], self.place, "the code of a datatype", below=len(SIZES))

    def _message(self, name: str, words: Sequence[str]) -> None:
        kind, nonblocking = _MESSAGES[name], name[0] == "i"
        receives = kind == Kind.RECV
        peer = whole(self._word(words, 0, name), self.place, "a rank", least=-1 if receives else 0)
        tag = whole(self._word(words, 1, name), self.place, "a tag", least=-1 if receives else 0)
        count = whole(self._word(words, 2, name), self.place, "a size")
        operation = Operation(
            int(kind),
            0,
            peer if peer >= 0 else ANY_PEER,
            count * SIZES[self._element(words, 3)],
            max(tag, 0),
            self.slots.take() if nonblocking else 0,
            form=int(Form.NONBLOCKING if nonblocking else Form.BLOCKING),
            free=(FREE_SOURCE if peer < 0 else 0) | (FREE_TAG if tag < 0 else 0),
        )
        if nonblocking:
            ends = (peer, self.number) if receives else (self.number, peer)
            self.pending[operation.request] = (*ends, tag)
        self._messages.append((len(self.operations), self.place))
        self.note(operation)

    def _wait(self, words: Sequence[str]) -> None:
        if not words:  # of the newest
            slots = list(self.pending)[-1:]
        else:
            key = tuple(
                whole(self._word(words, i, "wait"), self.place, "a rank or tag", least=-1) for i in range(3)
            )
            slots = [slot for slot, each in self.pending.items() if each == key][:1]
        if not slots:
            raise UsageError(
                f"{self.place}: rank {self.number} waits for a message that was not begun: {' '.join(words)}"
            )
        self._complete(slots, Completion.WAIT)

    def _complete(self, slots: list[int], how: Completion) -> None:
        if not slots:
            return
        self.note(Operation(int(Kind.WAIT), mode=int(how), gives=tuple(slots)))
        for slot in slots:
            del self.pending[slot]
            self.slots.give(slot)

    def _collective(self, name: str, words: Sequence[str]) -> None:
        kind, size, computes, root, type_ = _COLLECTIVES[name]
        code = self._element(words, type_)
        count = 0 if size is None else whole(self._word(words, size, name), self.place, "a size")
        reduces = computes is not None
        self.note(
            Operation(
                int(kind),
                0,
                0 if root is None or root >= len(words) else whole(words[root], self.place, "a root"),
                count * SIZES[code],
                type=int(_TYPES.get(code, Datatype.OTHER)) if reduces else 0,
            )
        )
        if computes is not None:
            self.computed += (
                seconds(self._word(words, computes, name), self.place, "computation") / self.flops
            )


def _find_tags(ranks: dict[int, _Rank]) -> None:
    """Receives of any tag get the tag of the message that they take.

    A rank's messages are taken in order, the first that fits. Where other receives of their target are of any
    source, time decides who takes which: then the tag is known where there is one alone.
    """
    if not any(each.free & FREE_TAG for rank in ranks.values() for each in rank.operations):
        return
    sent: defaultdict[int, dict[int, list[int]]] = defaultdict(dict)  # tags, by target and source
    for number, rank in ranks.items():
        for _, operation, _ in rank.messages():
            if operation.kind == Kind.SEND:
                sent[operation.peer].setdefault(number, []).append(operation.tag)
    for number, rank in ranks.items():
        receives = [each for each in rank.messages() if each[1].kind == Kind.RECV]
        of_any = any(operation.peer == ANY_PEER for _, operation, _ in receives)
        for index, operation, place in receives:
            if of_any and operation.free & FREE_TAG:
                tag = _only_tag(sent[number], operation.peer, place)
                rank.operations[index] = operation._replace(tag=tag)
        if not of_any:
            _take_in_order(rank, receives, sent[number])


def _only_tag(sent: dict[int, list[int]], source: int, place: str) -> int:
    """The tag of all that a source, or any, sends to a rank."""
    of = sent.values() if source == ANY_PEER else [sent.get(source, [])]
    tags = {tag for each in of for tag in each}
    if len(tags) > 1:
        raise UsageError(
            f"{place}: which message a receive of any tag takes is decided by time where the rank receives "
            f"from any source, too; {TITLE} does not say it"
        )
    return tags.pop() if tags else 0


def _take_in_order(
    rank: _Rank, receives: Sequence[tuple[int, Operation, str]], sent: dict[int, list[int]]
) -> None:
    for index, operation, place in receives:
        tags = sent.get(operation.peer, [])
        if not operation.free & FREE_TAG:
            if operation.tag in tags:
                tags.remove(operation.tag)
            continue
        if not tags:
            raise UsageError(f"{place}: a receive of any tag from rank {operation.peer} has no matching send")
        rank.operations[index] = operation._replace(tag=tags.pop(0))


def _refuse_lonely(ranks: dict[int, _Rank], count: int) -> None:
    """Messages and receives without a partner; where receives are of any source only numbers are compared."""
    surplus: Counter[tuple[int, int, int]] = Counter()
    last: dict[tuple[int, int, int], str] = {}
    free = set()
    for number, rank in ranks.items():
        for _, operation, place in rank.messages():
            if operation.peer >= count:
                raise UsageError(
                    f"{place}: there is no rank {operation.peer}; the trace has {counted(count, 'rank')}"
                )
            sends = operation.kind == Kind.SEND
            if operation.peer == ANY_PEER:
                free.add(number)
            key = (number, operation.peer) if sends else (operation.peer, number)
            surplus[(*key, operation.tag)] += 1 if sends else -1
            last[(*key, operation.tag)] = place
    in_all: Counter[int] = Counter()
    for (source, target, tag), number in surplus.items():
        in_all[target] += number
        if number and target not in free:
            what, other = ("a message", "receive") if number > 0 else ("a receive", "send")
            raise UsageError(
                f"{last[source, target, tag]}: {what} from rank {source} to rank {target} with tag {tag} "
                f"has no matching {other} (the last of this kind; {abs(number)} too many)"
            )
    for target in free:
        if in_all[target]:
            raise UsageError(f"rank {target} is sent {in_all[target]:+d} messages against what it receives")
