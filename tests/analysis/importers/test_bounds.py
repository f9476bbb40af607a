"""Whole numbers of other suites' output that no run can have: refused with their line, not passed on."""

from pathlib import Path

import pytest

from leadline.analysis import importers
from leadline.core.errors import LeadlineError

IMB = """#    Intel(R) MPI Benchmarks 2021.9, MPI-1 part
# Benchmarking PingPong
# #processes = {ranks}
       #bytes #repetitions      t[usec]   Mbytes/sec
            {size}         1000         0.20         0.00
"""
GROUPS = """#    Intel(R) MPI Benchmarks 2021.9, MPI-1 part
# Benchmarking Multi-PingPong
# ( {groups} groups of {ranks} processes each running simultaneous )
# Group 0:
       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]  Mbytes/sec
            0         1000         0.20         0.20         0.20         0.00
"""
OSU = """# OSU MPI Multiple Bandwidth / Message Rate Test v7.4
# [ pairs: {pairs} ] [ window size: {window} ]
# Size                  MB/s        Messages/s
1                       3.10        3100000.00
"""
HUGE = "409699999999999999999999999"


def read(suite: str, text: str) -> None:
    """Read a text as the output of a suite."""
    importers.read(suite, {Path("some.out"): text.encode()})


@pytest.mark.parametrize(
    ("suite", "text", "given", "line"),
    [
        ("imb", IMB, {"ranks": "2", "size": "8"}, 5),
        ("imb", IMB, {"ranks": "2", "size": "8"}, 3),
        ("imb", GROUPS, {"groups": "2", "ranks": "2"}, 3),
        ("osu", OSU, {"pairs": "2", "window": "64"}, 2),
    ],
)
def test_whole_numbers_beyond_what_can_be_are_refused(
    suite: str, text: str, given: dict[str, str], line: int
) -> None:
    """27 digits, and products of two numbers that each fit 64 bits, in every place of a number."""
    read(suite, text.format(**given))
    for name in (name for name in given if f"{{{name}}}" in text.splitlines()[line - 1]):
        for huge in (HUGE, str(2**62)):
            with pytest.raises(LeadlineError, match=f"some.out:{line}: .* where a whole number"):
                read(suite, text.format(**{**given, name: huge}))


def test_products_of_numbers_that_fit_are_refused_where_they_do_not() -> None:
    """2^40 groups of 2^40 processes."""
    with pytest.raises(LeadlineError, match=r"some\.out:3: '1208925819614629174706176' stands"):
        read("imb", GROUPS.format(groups=2**40, ranks=2**40))
