"""How fast can one rank receive from, and send to, several neighbours at once?"""

from leadline.report.plots.curve import Along

# Linear, since neighbours add.
FIGURES = [Along("fan", "neighbours", "{Metric} by number of neighbours", log=False)]
