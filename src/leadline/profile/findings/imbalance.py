"""Ranks wait in collectives for those that come last."""

from leadline.profile.analysis import WAITS, Profile

LEAST = 0.02  # of the ranks' time
SPREAD = 0.05  # of the waiting; where no rank causes so much, none is to blame


def find(found: Profile) -> tuple[float, str] | None:
    """The share of waiting in collectives, and who comes last."""
    total = int(found.end.sum())
    waited = int(found.waits[:, WAITS.index("imbalance in a collective")].sum())
    if not total or waited < LEAST * total:
        return None
    causes: dict[int, int] = {}
    for each in found.waiting:
        for rank, time in zip(each.rank[each.why == 2], each.time[each.why == 2], strict=True):
            causes[int(rank)] = causes.get(int(rank), 0) + int(time)
    rank, most = max(causes.items(), key=lambda item: item[1])
    share = waited / total
    whom = f"{100 * most / waited:.0f} % of that for rank {rank}. Give rank {rank} less to do before them,"
    if most < SPREAD * waited:
        whom = f"now one, now another of {len(causes):,} is the last. Let fewer collectives wait for all,"
    return share, (
        f"Ranks spend {100 * share:.1f} % of their time in collectives before the last one has come; {whom} "
        "or use nonblocking collectives where there is other work."
    )
