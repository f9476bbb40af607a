"""Ranks wait in collectives for those that come last."""

from leadline.profile.analysis import Profile
from leadline.profile.waits import IMBALANCE

SPREAD = 0.05  # of the waiting; where no rank causes so much, none is to blame


def find(found: Profile) -> tuple[float, str] | None:
    """The share of waiting in collectives, and who comes last."""
    if (blamed := found.blamed(IMBALANCE)) is None:
        return None
    share, by_rank = blamed
    rank, waited = int(by_rank.argmax()), int(by_rank.sum())
    most = int(by_rank[rank])
    whom = f"{100 * most / waited:.0f} % of that for rank {rank}"
    if found.is_busy(rank, most):
        whom += f". Give rank {rank} less to do before them,"
    else:
        whom += ", which does not compute longer than the others. Look for what it waits for before them,"
    if most < SPREAD * waited:
        causes = int((by_rank > 0).sum())
        whom = f"now one, now another of {causes:,} is the last. Let fewer collectives wait for all,"
    return share, (
        f"Ranks spend {100 * share:.1f} % of their time in collectives before the last one has come; {whom} "
        "or use nonblocking collectives where there is other work."
    )
