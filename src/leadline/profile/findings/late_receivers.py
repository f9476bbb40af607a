"""Sends wait for receives that are asked for late."""

import numpy as np

from leadline.profile.analysis import RECEIVER, Profile

BUSY = 0.5  # of the waiting for a rank: by so much longer it computes than the others where that explains it


def find(found: Profile) -> tuple[float, str] | None:
    """The share of waiting for receivers, and whether the one waited for most computes longer."""
    if (blamed := found.blamed(RECEIVER)) is None:
        return None
    share, by_rank = blamed
    rank = int(by_rank.argmax())
    others = np.delete(found.computing, rank)
    more = int(found.computing[rank] - np.median(others)) if others.size else 0
    advice = (
        "Ask for receives before the sends (MPI_Irecv), or raise the library's eager limit above their size"
    )
    if more > BUSY * by_rank[rank]:
        advice = (
            f"{100 * by_rank[rank] / by_rank.sum():.0f} % of that is for rank {rank}, which computes "
            f"{more / 1e6:.3g} ms longer than the others: give it less to do; earlier receives do not "
            "change that"
        )
    return share, f"Sends wait {100 * share:.1f} % of the ranks' time for their receives. {advice}."
