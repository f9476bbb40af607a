"""Ranks spend their time in files by MPI."""

import numpy as np

from leadline.core.units import format_quantity, rounded_bytes
from leadline.profile.analysis import WORTH, Profile
from leadline.program.model import FileCall, Kind

MOVING = {FileCall.READ, FileCall.WRITE}


def find(found: Profile) -> tuple[float, str] | None:
    """The share of time in calls of MPI's files, how many bytes they asked for, and the longest time."""
    share = int(found.files.sum()) / (int(found.end.sum()) or 1)
    if share < WORTH:
        return None
    moved = 0
    for rank in range(found.program.ranks):
        leaves, order = found.program.leaves(rank), found.program.sequence(rank).order()
        sizes = np.array(
            [leaf.bytes if leaf.kind == Kind.FILE and leaf.mode in MOVING else 0 for leaf in leaves], np.int64
        )
        moved += int(sizes[order].sum())
    longest = float(found.files.max(initial=0)) * 1e-9
    amount, time = rounded_bytes(moved), format_quantity(longest, "s")
    return share, (
        f"Ranks spend {100 * share:.1f} % of their time in files by MPI: {amount} in all, and {time} of the "
        "rank that was there longest. Let ranks write together and few of them collect (MPI_File_write_all, "
        "hints such as cb_nodes); 'leadline io tune' searches such settings for programs that use HDF5."
    )
