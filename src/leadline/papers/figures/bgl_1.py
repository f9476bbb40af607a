"""Messages between two nodes of Blue Gene/L (Hofmann and Rünger, figure 1)."""

from leadline.papers.figures._points import Points
from leadline.report.figures import Figure
from leadline.report.plots.axes import linear_sizes

CAPTION = (
    "1 MB sent in messages of each size, the protocol forced above 120 B: its time and its bandwidth; and "
    "the bandwidth of one message of 1 MB by the way that it has."
)
_MEGABYTE = 1e6
_ZIGZAG = (121, 1000)  # B, where every further packet shows


def describe(points: Points) -> list[Figure]:
    """Left: time and bandwidth by size of the messages, a line a protocol; right: bandwidth by hops."""
    time = points.of("protocol", "time", protocol=("eager", "rendezvous"))
    bandwidth = time.become("bandwidth", "B/s", lambda row: _MEGABYTE / row["value"])
    ways = {"bgl-axis": "along an axis", "bgl-offaxis": "off the axes"}
    far = points.of("distance", "bandwidth", mapping=tuple(ways))
    far = Points([{**row, "hops": row["distance"] - 2, "way": ways[row["mapping"]]} for row in far.rows])
    far = far.without("distance", "mapping", "ranks")  # there are as many ranks as the way has nodes
    packets = Points([row for row in time.rows if _ZIGZAG[0] <= row["bytes"] <= _ZIGZAG[1]])
    return [
        *time.draw("bgl-1-time", "1 (left) Time of 1 MB by size of its messages", "protocol"),
        *packets.draw(
            "bgl-1-packets",
            "1 (left), first packets: time of 1 MB by size of its messages",
            "protocol",
            axis=linear_sizes(),
            log=False,
        ),
        *bandwidth.draw("bgl-1-bandwidth", "1 (left) Bandwidth by size of the messages", "protocol"),
        *far.draw("bgl-1-distance", "1 (right) Bandwidth of 1 MB by hops", "way", x="hops", log=False),
    ]
