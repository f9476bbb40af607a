"""How long does one message take as it grows, and where does the protocol change?"""

from leadline.report.plots.curve import Along

FIGURES = [
    Along(
        *("pingpong", "bytes", "One-way latency by message size"),
        metrics=("latency",),
        name="latency-by-size",
        reading="Lines are fits; a dashed rule marks a protocol switch that the piecewise fit found.",
        fits=True,
    )
]
