"""How many bytes and messages a second go through as messages grow?"""

from leadline.report.plots.curve import Along

FIGURES = [
    Along(
        *(benchmark, "bytes", f"{{Metric}} in {directions} by message size"),
        metrics=("bandwidth", "message_rate"),
        name=f"{benchmark}-{{metric}}-by-size",
        fits=True,
    )
    for benchmark, directions in (("bandwidth", "one direction"), ("bibandwidth", "both directions"))
]
