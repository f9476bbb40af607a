"""What hops cost on an idle Blue Gene/P (Balaji et al., figure 4)."""

from leadline.core.record import Row
from leadline.papers.figures._points import FigurePart, Points
from leadline.report.plots.axes import counts
from leadline.report.theme import Spec

CAPTION = (
    "By how much the latency between the two farthest nodes exceeds that of neighbours, along the hops "
    "between them; named by the cores of the system that is so large."
)
# Hops between the farthest nodes of a partition: the cores that it has.
SYSTEMS = {1: 4, 12: 2048, 16: 4096, 20: 8192, 24: 16384, 32: 32768, 40: 65536, 48: 131072}


def _degradation(points: Points) -> Points:
    """By how many per cent each latency exceeds that of neighbours of the same size."""
    nearest = {row["bytes"]: row["value"] for row in points.rows if row["distance"] == 3}

    def worth(row: Row) -> float | None:
        if row["bytes"] not in nearest or row["distance"] - 2 not in SYSTEMS:
            return None
        return float(100 * (row["value"] / nearest[row["bytes"]] - 1))

    found = points.become("degradation", "%", worth)
    return Points([{**row, "hops": row["distance"] - 2} for row in found.rows])


def _axis() -> Spec:
    axis = counts(SYSTEMS, "cores of the system (in steps of hops)")
    names = " : ".join(f"datum.value == {hops} ? '{cores:,}'" for hops, cores in SYSTEMS.items())
    axis["axis"] = {**axis["axis"], "values": list(SYSTEMS), "labelExpr": f"{names} : ''"}
    axis["axis"] |= {"labelOverlap": False, "labelAngle": -30}  # the large systems stand close together
    return axis


PARTS = [
    FigurePart(
        *("bgp-4", "4 Degradation of the latency by hops", "distance", "latency", {"mapping": "bgp-hops"}),
        prepare=_degradation,
        line="bytes",
        without=["distance"],
        how={"x": "hops", "axis": _axis(), "log": False},
    )
]
