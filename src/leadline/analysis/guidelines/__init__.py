"""Does a library break its own promises? Guidelines that it can be held to without another machine.

A guideline says that an operation is not slower than something else that does the same for a program: two
other operations of the library, the same on another communicator, one of Leadline's own algorithms. What is
slower could be made faster without a new idea. The guidelines are a table (`rules.py`); which points of a
run say something about them is found in `terms.py`, and what they say is judged in `judge.py`.
"""

from leadline.analysis.guidelines.judge import Finding, Verdict, judge
from leadline.analysis.guidelines.rules import FLOOR, GUIDELINES, Guideline

__all__ = ["FLOOR", "GUIDELINES", "Finding", "Guideline", "Verdict", "judge"]
