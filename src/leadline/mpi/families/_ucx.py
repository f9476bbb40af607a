"""What UCX says of itself at `UCX_LOG_LEVEL=info`, whichever MPI uses it."""

import re


def transports(output: str) -> list[str]:
    """The transports of its end points to other ranks, e.g. ["cma", "sysv"] or ["tcp"]; [] if it said none.

    Its lines are `ep_cfg[1]: tag(sysv/memory cma/memory) ...` (1.13) or `intra-node cfg#1 tag(...)` (1.20);
    the end point of a rank to itself is left out.
    """
    found: set[str] = set()
    for line in re.findall(r"INFO.*cfg[\[#].*", output):
        lanes = [lane for lanes in re.findall(r"\b(?:tag|am)\(([^)]*)\)", line) for lane in lanes.split()]
        names = {lane.split("/")[0] for lane in lanes}
        if "self" not in names:
            found |= names
    return sorted(found)
