"""Sends wait for receives that are asked for late."""

import numpy as np

from leadline.profile.analysis import RECEIVER, WAITS, Profile

LEAST = 0.02  # of the ranks' time
BUSY = 0.5  # of the waiting for a rank: by so much longer it computes than the others where that explains it


def find(found: Profile) -> tuple[float, str] | None:
    """The share of waiting for receivers, and whether the one waited for most computes longer."""
    why = WAITS.index(RECEIVER)
    total, waited = int(found.end.sum()), int(found.waits[:, why].sum())
    if not total or waited < LEAST * total:
        return None
    by_rank = found.caused(why)
    rank = int(by_rank.argmax())
    more = int(found.computing[rank] - np.median(np.delete(found.computing, rank)))
    advice = (
        "Ask for receives before the sends (MPI_Irecv), or raise the library's eager limit above their size"
    )
    if more > BUSY * by_rank[rank]:
        advice = (
            f"{100 * by_rank[rank] / waited:.0f} % of that is for rank {rank}, which computes "
            f"{more / 1e6:.3g} ms longer than the others: give it less to do; earlier receives do not "
            "change that"
        )
    share = waited / total
    return share, f"Sends wait {100 * share:.1f} % of the ranks' time for their receives. {advice}."
