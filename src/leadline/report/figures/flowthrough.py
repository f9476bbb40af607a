"""What does a pair lose while the traffic of others passes through its node?"""

from leadline.report.plots.curve import Along

FIGURES = [
    Along(
        *("flowthrough", "traffic", "A pair's {metric} while others stream across"),
        reading="Level: passing traffic costs the pair nothing.",
        x_title="pairs that stream across",
        log=False,
    )
]
