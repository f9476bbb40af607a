"""Receives wait for messages that are sent late."""

from leadline.profile.analysis import Profile
from leadline.profile.waits import SENDER, WAITS
from leadline.program.model import Kind

SPREAD = 0.05  # of the waiting; where no rank causes so much, none is to blame


def find(found: Profile) -> tuple[float, str] | None:
    """The share of waiting for senders, the rank that is waited for most, and its call site."""
    if (blamed := found.blamed(SENDER)) is None:
        return None
    share, by_rank = blamed
    waited = int(by_rank.sum())
    by_place: dict[tuple[int, int], int] = {}
    for each in found.waiting:
        of = each.why == WAITS.index(SENDER)
        for rank, index, time in zip(each.rank[of], each.index[of], each.time[of], strict=True):
            leaf = int(found.program.sequence(int(rank)).order_cached[index])
            by_place[int(rank), leaf] = by_place.get((int(rank), leaf), 0) + int(time)
    rank = int(by_rank.argmax())
    (at, leaf), _ = max(by_place.items(), key=lambda item: item[1])
    operation = found.program.leaves(at)[leaf]
    site = found.program.sites[operation.site]
    where = f", most for its {Kind(operation.kind).name.lower()} at {site}" if site and at == rank else ""
    whom = f"{100 * by_rank[rank] / waited:.0f} % of that for rank {rank}{where}"
    if by_rank[rank] < SPREAD * waited:
        whom = f"that is spread over {(by_rank > 0).sum():,} ranks, so it is how they follow one another"
    advice = "Send earlier, as soon as the data are there, or give those ranks less to do before."
    if by_rank[rank] >= SPREAD * waited and not found.is_busy(rank, int(by_rank[rank])):
        advice = f"Rank {rank} does not compute longer than the others: it may wait itself, or send late."
    return share, (
        f"Receives wait {100 * share:.1f} % of the ranks' time for messages that are sent late; {whom}. "
        + advice
    )
