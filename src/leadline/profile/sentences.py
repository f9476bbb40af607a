"""What a profile says in sentences that hold of every program; what to do is in `findings`."""

import numpy as np
import numpy.typing as npt

from leadline.core.busy import BUSY
from leadline.core.formatting import counted
from leadline.core.units import format_quantity
from leadline.profile.analysis import WORTH, Profile
from leadline.profile.waits import WAITS
from leadline.program.threads import in_order

RANKS = 3  # that are named
LEAST = 0.05  # of the whole; ranks with less are not named


def shares(found: Profile) -> str:
    """How much of the ranks' time is what."""
    total = int(found.end.sum()) or 1
    said = [f"computation {100 * found.computing.sum() / total:.1f} %"]
    if found.files.any():
        said.append(f"files by MPI {100 * found.files.sum() / total:.1f} %")
    said += [f"{name} {100 * found.waits[:, n].sum() / total:.1f} %" for n, name in enumerate(WAITS)]
    said.append(f"transfer and overhead {100 * found.transfer.sum() / total:.1f} %")
    return ", ".join(said)


def waited_for(found: Profile) -> str | None:
    """The ranks that others wait for; None where nobody waits."""
    caused = found.caused()
    if not caused.sum():
        return None
    said = _named(caused / caused.sum(), "rank {0} ({1:.0f} %)")
    if not said:
        return f"Others wait for {(caused > 0).sum():,} ranks, for none of them much."
    share = 100 * caused.sum() / (int(found.end.sum()) or 1)
    return f"Others wait for: {said} of all waiting, which is {share:.1f} % of the time."


def critical_path(found: Profile) -> str:
    """How much of the critical path is in MPI, and whose computation the rest is."""
    computing, inside = found.path_by_rank()
    whole = int(computing.sum() + inside.sum()) or 1
    said = _named(computing / whole, "rank {0} {1:.0f} %")
    return f"Critical path: {100 * inside.sum() / whole:.0f} % in MPI" + (
        f"; computation of {said}." if said else "."
    )


def crowded(found: Profile) -> str | None:
    """Whether ranks shared processors while they were recorded; None where not, or where nobody knows."""
    known, ranks = found.program.recorded, found.program.ranks
    cores = known.get("cores")
    hosts = known.get("hosts")
    if not isinstance(cores, int) or not isinstance(hosts, list) or len(hosts) != 1 or ranks <= cores:
        return None
    processors = "one processor" if cores == 1 else f"{cores} processors"
    if known.get("simulated_on"):
        return (
            f"{ranks:,} ranks were recorded on {processors}: their computation, which is replayed as it was "
            "recorded, includes waits for a processor, so that waits for it say little of the program."
        )
    return (
        f"{ranks:,} ranks were recorded on {processors}: much of the waiting is for a processor, so that "
        "shares of time, and who waits for whom, say little of the program."
    )


def unseen(found: Profile) -> str | None:
    """How much of the time is in calls whose waits are not looked at; None where that is little."""
    share = int(found.unseen.sum()) / (int(found.end.sum()) or 1)
    if share < WORTH:
        return None
    return (
        f"{100 * share:.1f} % of the time is in locks, other epochs of windows, what they move, and waits "
        "for copies of communicators (MPI_Comm_idup): how much of that is waiting, and for whom, is not "
        "looked at; it is called transfer and overhead."
    )


def of_any(found: Profile) -> str | None:
    """Whether waits of receives of any source are missing; None where not."""
    if not found.of_any:
        return None
    return (
        "Receives of any source do not say whose message they met: how long ranks waited in them, and for "
        "whom, is not looked at; it is called transfer and overhead."
    )


def threads(found: Profile) -> str | None:
    """Whether several threads of a rank called MPI; None where not."""
    most = found.program.recorded.get("threads", 1)
    if not isinstance(most, int) or most < 2:
        return None
    if not in_order(found.program):
        return (
            f"Up to {most} threads of a rank called MPI. Their calls count as if they came one after "
            "another: of calls at the same time only a part counts, and waits in them are too short."
        )
    ranks = found.program.recorded["at_once"]
    if not ranks:
        return (
            f"Up to {most} threads of a rank called MPI, but never during blocking calls of each other. What "
            "a thread computed while another one was in MPI counts as computation."
        )
    return (
        f"Up to {most} threads of a rank called MPI, on {counted(ranks, 'rank')} during blocking calls of "
        "other threads: such calls are shown as nonblocking ones and a wait. Time counts once for all "
        "threads of a rank: as computation until a thread begins a call, as time in MPI until a wait is over."
    )


def outside(found: Profile) -> str | None:
    """How much of the time is in calls that are recorded by name only; None where there are none."""
    names = found.program.recorded.get("outside")
    if not isinstance(names, list) or not names:
        return None
    share = int(found.by_name_only.sum()) / (int(found.end.sum()) or 1)
    return (
        f"What {', '.join(map(str, names))} do is not recorded: {100 * share:.1f} % of the time, in calls "
        "that are none of a known operation, is called transfer and overhead, and has no row below."
    )


def partial(found: Profile) -> str | None:
    """Whether the record is cut; None where not."""
    cut = len(found.program.partial)
    if not cut:
        return None
    return (
        f"The records of {cut:,} of {found.program.ranks:,} ranks end before the program did: what it did "
        "later, and waits for messages that are missing, are not in these numbers."
    )


def beside(found: Profile) -> str | None:
    """Whether other work kept processors busy meanwhile; None where not, or where nobody knows."""
    others, hosts = found.program.recorded.get("others"), found.program.recorded.get("hosts")
    if not isinstance(others, float) or others < BUSY or not isinstance(hosts, list) or len(hosts) != 1:
        return None
    return (
        f"Others kept {others:.1f} processors busy while it was recorded: some of the times, and of the "
        "waiting, are theirs."
    )


def clocks(found: Profile) -> str | None:
    """How well the clocks of a recording's hosts agree; None where there is one host."""
    known = found.program.recorded.get("clocks")
    if not isinstance(known, dict):
        return None
    lost = [str(host) for host in known.get("unaligned", [])]
    within = format_quantity(float(known["within_s"]), "s")
    said = (
        f"The clocks of hosts were aligned by the program's own messages to within {within}: shorter "
        "waits for ranks of other hosts are uncertain."
    )
    if lost:
        names = ", ".join(lost[:8])
        said += (
            f" No messages in both directions bind {names} to the others: there the time of day was "
            "taken, and waits may be wrong by its error."
        )
    return said


_WARNINGS = (partial, threads, crowded, beside, unseen, outside, of_any)


def warnings(found: Profile) -> list[str]:
    """What a reader must know before the numbers."""
    return list(filter(None, (each(found) for each in _WARNINGS)))


def _named(shares: npt.NDArray[np.float64], form: str) -> str:
    """The ranks that have most, with their share in per cent; empty where none has much."""
    most = [rank for rank in shares.argsort()[::-1][:RANKS].tolist() if shares[rank] >= LEAST]
    return ", ".join(form.format(rank, 100 * shares[rank]) for rank in most)


def excess(found: Profile, expected: Profile, machine: str) -> str:
    """What the messages cost beside what they should cost, by a machine on which the program was replayed.

    Compared is time in MPI that is no waiting: waits have other causes than the network.
    """
    measured, ought = float(found.transfer.sum()) * 1e-9, float(expected.transfer.sum()) * 1e-9
    total = float(found.end.sum()) * 1e-9 or 1.0
    more = measured - ought
    told = f"{format_quantity(abs(more), 's')}, {100 * abs(more) / total:.1f} % of the ranks' time"
    return (
        f"By {machine} transfer and overhead would take {format_quantity(ought, 's')} of all ranks together "
        f"(simulated); they took {format_quantity(measured, 's')}: {told}, "
        + ("more than expected." if more >= 0 else "less than expected.")
    )
