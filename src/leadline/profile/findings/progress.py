"""Messages wait for ranks that compute, where a library moves them only inside its calls."""

from leadline.profile.analysis import PROGRESS, WAITS, Profile

LEAST = 0.02  # of the ranks' time


def find(found: Profile) -> tuple[float, str] | None:
    """The share of waiting for progress, and the rank that is waited for most."""
    why = WAITS.index(PROGRESS)
    total, waited = int(found.end.sum()), int(found.waits[:, why].sum())
    if not total or waited < LEAST * total:
        return None
    by_rank = found.caused(why)
    rank = int(by_rank.argmax())
    share = waited / total
    return share, (
        f"Messages that both ranks have asked for wait {100 * share:.1f} % of the ranks' time until the "
        f"other one calls MPI again, {100 * by_rank[rank] / waited:.0f} % of that for rank {rank}: the "
        f"library moves them in calls only. Give rank {rank} less to compute, or let it call MPI_Test "
        "meanwhile."
    )
