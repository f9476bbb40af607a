"""Where messages begin to wait for their receiver, as far as lone ends and whole messages tell."""

import numpy as np
from numpy.typing import NDArray

from leadline.calibrate._evidence import RECEIVE, SEND, STREAM, WHOLE, Evidence

Array = NDArray[np.float64]

KNOWN = 0.02  # relative deviation from which a value counts less: the equations are no better than that
SURE = 4.0  # deviations of draws, from which sizes together tell of a handshake
TIE = 1e-6  # of two places where the handshake may begin, in sizes: they are as good as each other


def cuts(evidence: Evidence) -> range:
    """Where among the ping-pong's sizes the handshake may begin, as far as the overheads tell."""
    x, whole = evidence.sizes[SEND], evidence.sizes[WHOLE]
    cut = _cut(*handshakes(evidence), KNOWN * float(evidence.typical[WHOLE][0]))
    first = int(np.searchsorted(whole, x[cut - 1], side="right")) if cut else 0
    last = int(np.searchsorted(whole, x[cut])) if cut < x.size else whole.size
    return range(last if cut == x.size else min(first, last), last + 1)


def handshakes(evidence: Evidence) -> tuple[Array, Array]:
    """By how much the two ends of a message together take longer than the whole, at the overheads' sizes, s.

    Typical (S,), and in each draw (draws, S). Without a handshake the two ends and the way between take
    turns, so that it is the way, below nothing. With one, sending waits for the receiver and a late receive
    for the sender: it is what the sender's core and the words before the data take.
    """
    x = evidence.sizes[SEND]
    found = []
    for times in ({name: one[None] for name, one in evidence.typical.items()}, evidence.draws):
        whole, stream, receive = (
            np.stack([np.interp(x, evidence.sizes[name], one) for one in times[name]])
            for name in (WHOLE, STREAM, RECEIVE)
        )
        # A lone eager send that takes longer than the whole message had its own troubles (a cold cache, a
        # full queue); what it takes in a stream is then nearer.
        send = np.where(times[SEND] > whole, stream, times[SEND])
        found.append(np.minimum(send, beside_wire(evidence, x, whole)) + receive - whole)
    return found[0][0], found[1]


def beside_wire(evidence: Evidence, sizes: Array, whole: Array) -> Array:
    """What an end takes at most where the link holds streams up: a message without its time on the link.

    A send that blocks until the link has taken the message would else seem to cost the core as much.
    """
    return np.asarray(np.maximum(0.0, whole - sizes * (evidence.wire or 0.0)), dtype=np.float64)


def _cut(more: Array, draws: Array, least: float) -> int:
    """The first size with a handshake, from what the ends take beyond the whole; as many as there are: none.

    It sets the fewest sizes on the wrong side, where a size counts less that is not sure. All with a
    handshake together must be surely so: where the way takes no time, the ends take as long as the whole.
    """
    unsure = np.hypot(draws.std(axis=0), least)
    told = np.clip((more / unsure - 1) / 2, -1, 1)  # who is as unsure as that has no handshake
    # Of the sizes from each on: what they tell for a handshake, less what the others do.
    right = np.array([told[i:].sum() - told[:i].sum() for i in range(more.size + 1)])
    cut = int(np.flatnonzero(right > right.max() - TIE)[-1])
    together = (draws[:, cut:] / unsure[cut:]).sum(axis=1)
    sure = (more[cut:] / unsure[cut:]).sum() > SURE * float(together.std())
    return cut if sure else int(more.size)
