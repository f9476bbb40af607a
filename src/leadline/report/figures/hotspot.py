"""How long does a master take to serve its workers, directly and through a tree?"""

from leadline.report.plots.curve import Along

FIGURES = [
    Along(
        *("hotspot", "workers", "{Metric} of one master with many workers"),
        reading="Where the tree's curve falls below the flat one, the tree pays.",
    )
]
