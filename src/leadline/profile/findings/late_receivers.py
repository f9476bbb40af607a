"""Sends wait for receives that are asked for late."""

from leadline.profile.analysis import Profile
from leadline.profile.waits import RECEIVER


def find(found: Profile) -> tuple[float, str] | None:
    """The share of waiting for receivers, and whether the one waited for most computes longer."""
    if (blamed := found.blamed(RECEIVER)) is None:
        return None
    share, by_rank = blamed
    rank = int(by_rank.argmax())
    advice = (
        "Ask for receives before the sends (MPI_Irecv), or raise the library's eager limit above their size"
    )
    if found.is_busy(rank, int(by_rank[rank])):
        more = found.computes_longer(rank) / 1e6
        advice = (
            f"{100 * by_rank[rank] / by_rank.sum():.0f} % of that is for rank {rank}, which computes "
            f"{more:.3g} ms longer than the others: give it less to do; earlier receives do not change that"
        )
    return share, f"Sends wait {100 * share:.1f} % of the ranks' time for their receives. {advice}."
