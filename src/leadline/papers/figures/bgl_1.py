"""Messages between two nodes of Blue Gene/L (Hofmann and Rünger, figure 1)."""

from leadline.papers.figures._points import LINEAR, FigurePart, Points
from leadline.report.plots.axes import linear_sizes

CAPTION = (
    "1 MB sent in messages of each size, the protocol forced above 120 B: its time and its bandwidth; and "
    "the bandwidth of one message of 1 MB by the way that it has."
)
_MEGABYTE = 1e6
_ZIGZAG = (121, 1000)  # B, where every further packet shows
_WAYS = {"bgl-axis": "along an axis", "bgl-offaxis": "off the axes"}
_FORCED = {"protocol": ("eager", "rendezvous")}


def _bandwidth(points: Points) -> Points:
    return points.become("bandwidth", "B/s", lambda row: _MEGABYTE / row["value"])


def _packets(points: Points) -> Points:
    return Points([row for row in points.rows if _ZIGZAG[0] <= row["bytes"] <= _ZIGZAG[1]])


def _hops(points: Points) -> Points:
    return Points([{**row, "hops": row["distance"] - 2} for row in points.rows])


PARTS = [
    FigurePart(
        *("bgl-1-time", "1 (left) Time of 1 MB by size of its messages", "protocol", "time", _FORCED),
        line="protocol",
    ),
    FigurePart(
        *("bgl-1-packets", "1 (left), first packets: time of 1 MB by size of its messages"),
        *("protocol", "time"),
        where=_FORCED,
        prepare=_packets,
        line="protocol",
        how={"axis": linear_sizes(), "log": False},
    ),
    FigurePart(
        *("bgl-1-bandwidth", "1 (left) Bandwidth by size of the messages", "protocol", "time", _FORCED),
        prepare=_bandwidth,
        line="protocol",
    ),
    FigurePart(
        *("bgl-1-distance", "1 (right) Bandwidth of 1 MB by hops", "distance", "bandwidth"),
        where={"mapping": tuple(_WAYS)},
        prepare=_hops,
        line=lambda row: _WAYS[row["mapping"]],
        without=["distance", "mapping", "ranks"],  # there are as many ranks as the way has nodes
        how={"x": "hops", **LINEAR},
    ),
]
