"""How much do latency and bandwidth suffer as the ends move apart?"""

from leadline.core.record import Row
from leadline.report.plots.axes import Channel, counts
from leadline.report.plots.curve import Along

# The benchmark counts 0, 1, 2 within a node and 2 + hops between nodes.
_NAMES = (
    "datum.value == 0 ? 'core group' : datum.value == 1 ? 'package' : datum.value == 2 ? 'node' : "
    "datum.value == 3 ? '1 hop' : (datum.value - 2) + ' hops'"
)


def _axis(rows: list[Row]) -> Channel:
    axis = counts([row["distance"] for row in rows], "what both ends share, or hops between them")
    axis["axis"] = {**axis["axis"], "labelExpr": _NAMES}
    return axis


FIGURES = [Along("distance", "distance", "{Metric} by distance between the ends", axis=_axis)]
