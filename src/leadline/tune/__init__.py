"""What results say that a library or a job should be told: which algorithms, and which rank where.

Collectives (`collectives*.py`) go by what a run measured; mappings (`mapping*.py`) by what the simulator
finds.
"""
