"""Where do packets end and protocols change: the time of a fixed amount of data sent in messages of each
size?
"""

from leadline.report.plots.axes import linear_sizes
from leadline.report.plots.curve import Along

SMALL = 2000  # B; up to here the sweep is dense enough to show single packets
_READING = "Steps that come back every so many bytes are packets; a jump that stays is a switch of protocol."

FIGURES = [
    Along(
        *("protocol", "bytes", "{Metric} of 1 MB by the size of the messages that carry it"),
        reading=_READING,
        fits=True,
    ),
    Along(
        *("protocol", "bytes", f"{{Metric}} of 1 MB in messages up to {SMALL} B"),
        reading=_READING,
        name="protocol-{metric}-small",
        axis=lambda rows: linear_sizes(),
        fewest=13,
        keep=lambda row: 0 < row["bytes"] <= SMALL,
    ),
]
