"""Between two neighbouring nodes of Blue Gene/P (Balaji et al., figure 2)."""

from leadline.papers.figures._points import LINEAR, FigurePart

CAPTION = "Latency and bandwidth between two neighbouring nodes; in and out of cache are one line."
_WHERE = {"mapping": "XYZT", "partition": 2048}

PARTS = [
    FigurePart("bgp-2a", "2(a) One-way latency between nodes", "pingpong", "latency", _WHERE, "buffers"),
    FigurePart(
        *("bgp-2b", "2(b) Unidirectional bandwidth between nodes", "bandwidth", "bandwidth", _WHERE),
        how=LINEAR,
    ),
]
