"""Messages wait for ranks that compute, where a library moves them only inside its calls."""

from leadline.profile.analysis import Profile
from leadline.profile.waits import PROGRESS


def find(found: Profile) -> tuple[float, str] | None:
    """The share of waiting for progress, and the rank that is waited for most."""
    if (blamed := found.blamed(PROGRESS)) is None:
        return None
    share, by_rank = blamed
    rank = int(by_rank.argmax())
    return share, (
        f"Messages that both ranks have asked for wait {100 * share:.1f} % of the ranks' time until the "
        f"other one calls MPI again, {100 * by_rank[rank] / by_rank.sum():.0f} % of that for rank {rank}: "
        f"the library moves them in calls only. Give rank {rank} less to compute, or let it call MPI_Test "
        "meanwhile."
    )
