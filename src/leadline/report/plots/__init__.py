"""What figures are made of: axes, legends, points with intervals, curves and dots, as parts of Vega-Lite."""
