"""What UCX says of itself at `UCX_LOG_LEVEL=info`, whichever MPI uses it."""

import re


def transports(output: str) -> list[str]:
    """The transports of its end points to other ranks, e.g. ["cma", "sysv"] or ["tcp"]; [] if it said none.

    Its lines are `ep_cfg[1]: tag(sysv/memory cma/memory) ...` (1.13) or `intra-node cfg#1 tag(...)` (1.20);
    the end point of a rank to itself is left out.
    """
    found: set[str] = set()
    for line in re.findall(r"INFO.*cfg[\[#].*", output):
        # What messages go by; where a program has none, as with OpenSHMEM, what puts and gets go by.
        lanes = re.findall(r"\b(?:tag|am)\(([^)]*)\)", line) or re.findall(r"\brma(?:_am)?\(([^)]*)\)", line)
        names = {lane.split("/")[0] for each in lanes for lane in each.split()}
        if "self" not in names:
            found |= names
    return sorted(found)
