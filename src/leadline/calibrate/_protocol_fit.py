"""Where the protocol changes, and what a message costs its two ends under each.

The rows are pieces of straight lines by size, as in `leadline.analysis.fits.piecewise`, through ping-pong
and stream alike, cut where messages begin to wait for their receiver. What the simulator makes of a row
(`native/machine/engine.cpp`) is, with e_s = o_s + n c_s for the sending core, e_r = o_r + n c_r for the
receiving one, L the way and o_h a handshake's overhead:

    eager       T = e_s + L + e_r             send e_s   receive e_r           stream max(e_s, e_r)
    rendezvous  T = e_s + 3 L + 2 o_h + e_r   send T - L - e_r
                                                         receive T - L - o_h   stream e_r

A window both ways at once takes e_s + e_r of each core for each pair of eager messages, which tells the ends
from the way. One message each way takes T and, of each row, what is measured beyond it: data that cross on
their way are the later for it (`crossing_latency`). Between nodes there is n / R more in T, and the stream is
no faster than n / R and the least gap between two messages. Which end or what else is the slowest is read
from the data; then these are linear, so one weighted least-squares fit without negative parameters (C. L.
Lawson and R. J. Hanson, Solving Least Squares Problems, 1974) has them all, L common to all rows. A real
machine does not follow them to the digit: the weights say what must be right first.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from leadline.analysis.criterion import criterion
from leadline.analysis.fits.piecewise import FEWEST_TO_BREAK
from leadline.analysis.segments import partitions
from leadline.calibrate._evidence import BOTH, EXCHANGE, LINK, RECEIVE, SEND, STREAM, WHOLE, Evidence
from leadline.calibrate._handshake import KNOWN, beside_wire, cuts

Array = NDArray[np.float64]

MOST = 4  # pieces on either side of the handshake: caches and copies change the pace within a protocol too
# What comes first where equations and machine disagree: a message as a whole, then how many go in a second;
# how that falls to the two ends is told by single messages with the ends' caches cold, and comes last.
# A link that was seen filled has the rate that was seen: nothing weighs against it.
WEIGHTS = {WHOLE: 10.0, STREAM: 3.0, BOTH: 3.0, LINK: 1000.0, SEND: 1.0, RECEIVE: 1.0}
ROUNDING = 1e-9  # of the least value
FILLED = 0.1  # times the weight, of a value between two sizes that were measured
# The same of a send with a handshake: a real one also waits for the word that its receiver has the data, the
# simulator's does not, so it only settles what nothing else tells.
LATE = 0.1
SLOWER = 1.1  # times both ends, from which the way between two nodes is what holds a stream up
EARLY = 0.5  # times the shortest message beyond its time on the link, which every message takes at least
SHORT = 1.5  # times the least, up to which a stream's time a message is the gap and not its bytes
GAP, UNKNOWN = "message_gap", ""
ENDS = (SEND, RECEIVE)
HANDSHAKE_WAYS, HANDSHAKE_OVERHEADS = 3, 2  # request, grant and data; of the sender and of the receiver


@dataclass(frozen=True)
class Row:
    """One row of the protocol table: sizes from the `first` up to before the `end` of the ping-pong's."""

    first: int
    end: int
    handshake: bool


@dataclass(frozen=True)
class Fitted:
    """A number: its value, and its value in each draw of launches."""

    value: float
    draws: Array


@dataclass(frozen=True)
class Path:
    """A way between two ranks: its rows with the numbers of each (`_PARAMETERS`), and what all share."""

    rows: list[Row]
    shared: dict[str, Fitted]  # of `_BETWEEN`; a request and a grant cost the same whatever follows them
    numbers: list[dict[str, Fitted]]
    misses: dict[str, float]  # of each series, the median relative distance from the equations
    early: list[float]  # sizes of messages that came sooner than the link allows, and were left out

    def asks(self, evidence: Evidence, sizes: Array) -> NDArray[np.bool_]:
        """Which sizes are in rows with a handshake."""
        return np.array([row.handshake for row in self.rows], dtype=np.bool_)[self._at(evidence, sizes)]

    def of_cores(self, evidence: Evidence, sizes: Array) -> Array:
        """What a core needs to send a message of each size and to receive one, s."""
        overheads, copies = (
            np.array([row[f"send_{name}"].value + row[f"receive_{name}"].value for row in self.numbers])
            for name in ("overhead", "copy")
        )
        at = self._at(evidence, sizes)
        return np.asarray(overheads[at] + sizes * copies[at], dtype=np.float64)

    def _at(self, evidence: Evidence, sizes: Array) -> NDArray[np.int64]:
        """In which row each size is."""
        first = [evidence.sizes[WHOLE][row.first] for row in self.rows]
        return np.maximum(0, np.searchsorted(first, sizes, side="right") - 1)


_WITHIN = ("latency", "handshake_overhead")
_BETWEEN = (*_WITHIN, "wire", GAP)  # wire as s/B
_PARAMETERS = ("send_overhead", "receive_overhead", "send_copy", "receive_copy")  # copies as s/B


def fit(evidence: Evidence, between_nodes: bool = False) -> Path:
    """Rows and numbers of a way within a node or between two."""
    rows = rows_of(evidence)
    equations = _Equations(evidence, rows, between_nodes)
    solved = equations.solve(equations.typical)
    drawn = np.stack([equations.solve(draw) for draw in equations.draws])
    columns = equations.columns
    fitted = [Fitted(float(solved[i]), drawn[:, i]) for i in range(len(columns))]
    shared: dict[str, Fitted] = {}
    numbers: list[dict[str, Fitted]] = [{} for _ in rows]
    for (row, name), one in zip(columns, fitted, strict=True):
        (shared if row < 0 else numbers[row])[name] = one
    for index, one in equations.crossing(solved, drawn).items():
        numbers[index]["crossing_latency"] = one
    return Path(rows, shared, numbers, equations.misses(solved), sorted(equations.early))


def rows_of(evidence: Evidence) -> list[Row]:
    """The rows of the protocol table by the ping-pong's sizes."""
    x, shared = evidence.sizes[WHOLE], _lines_of(evidence)
    best: tuple[float, list[Row]] | None = None
    for cut in cuts(evidence):
        rows = []
        for begin, end, handshake in ((0, cut, False), (cut, x.size, True)):
            if begin < end:
                starts = [begin + int(each) for each in _pieces([each[begin:end] for each in shared])]
                ends = [*starts[1:], end]
                rows += [Row(a, b, handshake) for a, b in zip(starts, ends, strict=True)]
        squares = sum(_squares([each[row.first : row.end] for each in shared]) for row in rows)
        judged = criterion(squares, len(shared) * x.size, len(rows))
        if best is None or judged < best[0]:
            best = judged, rows
    assert best is not None
    return best[1]


def _lines_of(evidence: Evidence) -> list[Array]:
    """What lines are laid through, at the ping-pong's sizes: weighted (1, n, T) of it and of the stream."""
    x = evidence.sizes[WHOLE]
    found = []
    for name in (WHOLE, STREAM):
        near = np.clip(np.searchsorted(evidence.sizes[name], x), 0, evidence.sizes[name].size - 1)
        weight = _trust(evidence.spread(name))[near] * WEIGHTS[name] / WEIGHTS[WHOLE]
        if name == STREAM:  # only where it was measured
            weight = weight * np.isin(x, evidence.sizes[name])
        found.append(np.stack([np.ones_like(x), x, evidence.at(name, x)], axis=1) * weight[:, None])
        found[-1] /= evidence.at(name, x)[:, None]
    return found


def _trust(spread: Array) -> Array:
    """The weight of values so uncertain, against those that are as good as the equations."""
    return np.asarray(KNOWN / np.hypot(KNOWN, spread), dtype=np.float64)


def _pieces(series: list[Array]) -> Array:
    """First sizes of the pieces of one side of the handshake, as `leadline.analysis.fits.piecewise`
    chooses them.

    A piece neither begins below nothing nor falls with size, for the rows of a machine do not: where copies
    leave a cache the pace changes from size to size, and a line through that would begin far below zero.
    """
    count = len(series[0])
    cost = np.full((1, count, count), np.inf)
    for i in range(count):
        for j in range(i + 1, count):
            cost[0, j, i] = _squares([each[i : j + 1] for each in series])

    def judged(squares: float, pieces: int) -> float:
        """The criterion of so many pieces; every size counts once in each series."""
        return criterion(squares, len(series) * count, pieces)

    most = MOST if count >= FEWEST_TO_BREAK else 1
    found = partitions(cost, most)
    best = min(range(len(found)), key=lambda k: judged(float(found[k][0][0]), k + 1))
    return np.asarray(found[best][1][0] if count > 1 else [0])


def _squares(series: list[Array]) -> float:
    """Squared weighted residuals of the lines through a piece that neither begin below nothing nor fall."""
    total = 0.0
    for lines in series:
        sides, right = lines[:, :2], lines[:, 2]
        found, *_ = np.linalg.lstsq(sides, right, rcond=None)
        if found.min() >= 0 and len(right) > 2:
            total += float(((sides @ found - right) ** 2).sum())
        else:
            # One of the two is nothing; two sizes alone are not trusted with both.
            alone = [each * (each @ right) / (each @ each) - right for each in sides.T if each.any()]
            total += min((float(off @ off) for off in alone), default=0.0)
    return total


class _Equations:
    """The linear equations of all rows: a matrix, weighted, and right-hand sides for the draws."""

    def __init__(self, evidence: Evidence, rows: list[Row], between_nodes: bool) -> None:
        """One line for each value measured; lines of one series stand together."""
        self.columns = [(-1, name) for name in (_BETWEEN if between_nodes else _WITHIN)]
        self.columns += [(index, name) for index in range(len(rows)) for name in _PARAMETERS]
        self._between_nodes = between_nodes
        self._place = {column: i for i, column in enumerate(self.columns)}
        self._evidence, self._rows = evidence, rows
        whole = evidence.sizes[WHOLE]
        self._from = [float(whole[row.first]) for row in rows]
        lines: list[Array] = []
        values, draws, weights = [], [], []
        self._series: list[str] = []
        self.early: set[float] = set()  # sizes of messages that were sooner there than the link allows
        for name, series_weight in WEIGHTS.items():
            for size, value, drawn, filled in self._values(name) if name in evidence.sizes else ():
                if self._early(name, size, value):
                    self.early.add(size)
                    continue
                if value <= 0 or (name == BOTH and (between_nodes or self._rows[self._row(size)].handshake)):
                    continue
                if name == STREAM and self._holds(size) == UNKNOWN:
                    continue
                line = self._line(name, size)
                late = name == SEND and self._rows[self._row(size)].handshake
                lines.append(line)
                values.append(value)
                draws.append(drawn)
                trust = float(_trust(drawn.std() / value))
                share = (FILLED if filled else 1) * (LATE if late else 1)
                # An end is judged by what a message costs in a stream: as a share of its own little cost
                # an end would rather be nothing than twice what it is.
                scale = max(value, float(evidence.at(STREAM, np.array([size]))[0])) if name in ENDS else value
                weights.append(series_weight * trust * share / scale)
                self._series.append("" if filled or late else name)
        weight = np.array(weights)
        matrix = np.stack(lines) * weight[:, None]
        self._lines, self._values_ = np.stack(lines), np.array(values)
        # Seconds and bytes differ by nine powers of ten: columns of equal length keep the digits.
        self._scale = np.linalg.norm(matrix, axis=0)
        self._scale[self._scale == 0] = 1
        self._q, self._r = np.linalg.qr(matrix / self._scale)
        self.typical = self._values_ * weight
        self.draws = np.stack(draws, axis=1) * weight

    def solve(self, right: Array) -> Array:
        """The parameters, none negative, that come nearest to a right-hand side."""
        from scipy.optimize import nnls  # noqa: PLC0415  (slow to import)

        found = nnls(self._r, self._q.T @ right)[0] / self._scale
        # What counts nowhere is what rounding leaves of nothing.
        return np.where(found * self._lines.max(axis=0) < ROUNDING * self._values_.min(), 0.0, found)

    def crossing(self, solved: Array, drawn: Array) -> dict[int, Fitted]:
        """What messages both ways at once take beyond one, by row: the middle of its sizes.

        None where that is within what the equations are good for.
        """
        evidence = self._evidence
        if EXCHANGE not in evidence.sizes:
            return {}
        sizes, took = evidence.sizes[EXCHANGE], evidence.typical[EXCHANGE]
        lines = np.stack([self._line(WHOLE, float(size)) for size in sizes])
        more, many = took - lines @ solved, evidence.draws[EXCHANGE] - drawn @ lines.T
        rows = np.array([self._row(float(size)) for size in sizes])
        found = {}
        for row in np.unique(rows):
            those = rows == row
            if np.median(more[those] / took[those]) > KNOWN:
                draws = np.maximum(0.0, np.median(many[:, those], axis=1))
                found[int(row)] = Fitted(float(np.median(more[those])), draws)
        return found

    def misses(self, solved: Array) -> dict[str, float]:
        """Median relative distance of each series from the equations."""
        off = np.abs(self._lines @ solved / self._values_ - 1)
        names = np.array(self._series)
        return {name: float(np.median(off[names == name])) for name in WEIGHTS if (names == name).any()}

    def _values(self, name: str) -> list[tuple[float, float, Array, bool]]:
        """Size, value, draws, and whether it stands between measured sizes, of everything in a series."""
        evidence = self._evidence
        x, typical, draws = evidence.sizes[name], evidence.typical[name], evidence.draws[name]
        if name in ENDS:
            # No end of an eager message costs more than the stream's slower end, nor a send more than the
            # message off the link: what a lone one takes beyond is cold caches, or waiting for the link.
            most, beside = evidence.at(STREAM, x), beside_wire(evidence, x, evidence.at(WHOLE, x))
            # Only a send waits for the link: what is received late is there, unless it had to be asked for.
            most = np.minimum(most, beside) if name == SEND else most
            most = np.where(self._waits(x), np.inf, most)
            typical, draws = np.minimum(typical, most), np.minimum(draws, most)
        found = [(float(n), float(typical[i]), draws[:, i], False) for i, n in enumerate(x)]
        if name in (WHOLE, BOTH, LINK):
            return found
        gaps = np.setdiff1d(evidence.sizes[WHOLE], x)
        for n in gaps[(gaps >= x.min()) & (gaps <= x.max())]:
            alike = self._waits(x) == self._waits(np.array([n]))[0]
            if alike.any():
                value = float(np.interp(n, x[alike], typical[alike]))
                nearest = int(np.flatnonzero(alike)[np.argmin(np.abs(x[alike] - n))])
                scaled = draws[:, nearest] * (value / typical[nearest] if typical[nearest] > 0 else 0)
                found.append((float(n), value, scaled, True))
        return found

    def _early(self, name: str, size: float, value: float) -> bool:
        """Whether a message alone is sooner there than the link that holds streams up allows.

        A limited rate is often let go for a burst (a token bucket), which the simulator's links do not have.
        """
        wire = (self._evidence.wire or 0.0) * size
        if name == RECEIVE and self._rows[self._row(size)].handshake:
            return value < wire
        return name == WHOLE and value < wire + EARLY * float(self._evidence.typical[WHOLE][0])

    def _row(self, size: float) -> int:
        return max(0, int(np.searchsorted(self._from, size, side="right")) - 1)

    def _waits(self, sizes: Array) -> NDArray[np.bool_]:
        """Which sizes are in rows with a handshake."""
        return np.array([self._rows[self._row(float(n))].handshake for n in sizes], dtype=np.bool_)

    def _holds(self, size: float) -> str:
        """What holds up a stream of messages of a size: an end, the link, or the least gap between two.

        The gap only where neither the link nor, at most of the row's sizes like it, an end takes as long.
        """
        row, wire = self._row(size), self._evidence.wire
        handshake = self._rows[row].handshake
        if not self._between_nodes:
            return RECEIVE if handshake else self._slower(size)
        x, stream, send, receive = self._ends(row)
        free = stream > SLOWER * x * (wire or 0.0)
        slow = stream > SLOWER * np.maximum(send, receive)
        each = self._stream(size)
        paced = each < SHORT * self._evidence.typical[STREAM][0]
        if each > SLOWER * size * (wire or 0.0) and paced:
            if handshake:
                return UNKNOWN  # single messages wait for each other, and tell no end apart
            if free.any() and slow[free].mean() > 0.5:
                return GAP
        elif wire != 0 and (handshake or slow.mean() > 0.5 or self._linked(size)):
            return LINK
        return RECEIVE if handshake else self._slower(size)

    def _linked(self, size: float) -> bool:
        """Whether the link takes this message longer than either end does."""
        x, _, send, receive = self._ends(self._row(size))
        return size * (self._evidence.wire or 0.0) > float(np.interp(size, x, np.maximum(send, receive)))

    def _stream(self, size: float) -> float:
        return float(self._evidence.at(STREAM, np.array([size]))[0])

    def _ends(self, row: int) -> tuple[Array, Array, Array, Array]:
        """The row's sizes (all where it has none), their times in a stream, and a lone one's at its ends."""
        x = self._evidence.sizes[SEND]
        inside = np.array([self._row(float(n)) == row for n in x])
        if inside.any():
            x = x[inside]
        stream = self._evidence.at(STREAM, x)
        most = stream
        if self._between_nodes and not self._rows[row].handshake:
            most = np.minimum(stream, beside_wire(self._evidence, x, self._evidence.at(WHOLE, x)))
        send = np.minimum(self._evidence.at(SEND, x), most)
        return x, stream, send, np.minimum(self._evidence.at(RECEIVE, x), most)

    def _slower(self, size: float) -> str:
        """The end that takes longer, by straight lines through what single messages of its row take."""
        x, stream, send, receive = self._ends(self._row(size))
        line = np.polyfit(x, receive - send, 1 if x.size > 2 else 0, w=1 / stream)
        return SEND if np.polyval(line, size) < 0 else RECEIVE

    def _line(self, name: str, size: float) -> Array:
        """What each parameter counts in a value of a series."""
        row = self._row(size)
        handshake = self._rows[row].handshake
        ways, overheads = (HANDSHAKE_WAYS, HANDSHAKE_OVERHEADS) if handshake else (1, 0)
        sends = {"send_overhead": 1.0, "send_copy": size}
        receives = {"receive_overhead": 1.0, "receive_copy": size}
        both = sends | receives
        if name in (WHOLE, BOTH, LINK):
            own = {} if name == LINK else both
            way = {"latency": ways, "handshake_overhead": overheads, "wire": size}
            return self._counts(row, own, {WHOLE: way, BOTH: {}, LINK: {"wire": size}}[name])
        if handshake and name == RECEIVE:
            waited = {"latency": ways - 1, "handshake_overhead": overheads - 1, "wire": size}
            return self._counts(row, both, waited)
        if handshake and name == SEND:
            way = {"latency": ways - 1, "handshake_overhead": overheads, "wire": size}
            return self._counts(row, sends, way)
        if name == STREAM:
            name = self._holds(size)
            if name in (GAP, LINK):
                return self._counts(row, {}, {GAP: 1.0} if name == GAP else {"wire": size})
        return self._counts(row, sends if name == SEND else receives, {})

    def _counts(self, row: int, own: dict[str, float], shared: dict[str, float]) -> Array:
        """A line of the matrix; what is no parameter here is left out."""
        line = np.zeros(len(self.columns))
        for at, counts in ((row, own), (-1, shared)):
            for parameter, count in counts.items():
                if (place := self._place.get((at, parameter))) is not None:
                    line[place] = count
        return line
