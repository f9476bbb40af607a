"""Sends wait for receives that are asked for late."""

from leadline.profile.analysis import Profile

LEAST = 0.02  # of the ranks' time


def find(found: Profile) -> tuple[float, str] | None:
    """The share of waiting for receivers."""
    total, waited = int(found.end.sum()), int(found.waits[:, 1].sum())
    if not total or waited < LEAST * total:
        return None
    share = waited / total
    return share, (
        f"Sends wait {100 * share:.1f} % of the ranks' time for their receives. Ask for receives before the "
        "sends (MPI_Irecv), or raise the library's eager limit above these messages' size."
    )
