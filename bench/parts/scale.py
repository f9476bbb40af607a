"""How long do the papers' whole experiments take, at the sizes of the largest machines?

Each is one command as a user says it, once: wall time on this machine's cores, processor time and the peak
memory of its largest process beside it.
"""

import sys
import time
from collections.abc import Iterator
from itertools import permutations
from pathlib import Path
from tempfile import TemporaryDirectory

from found import Found, at_most
from leadline.native.build import SIM, build_sim
from processes import Taken, taken
from programs import OPTION

LEADLINE = Path(sys.executable).with_name("leadline")
GIB = 1 << 30
ORDERS = ["".join(each) for each in permutations("XYZT")]
HALO = f"""
question = "What does the order of axes do to a halo?"
time = "5 min"
launches = 1
ranks = "cores"

[[measure]]
benchmark = "halo"
edge = 256
way = "nonblocking"
mapping = {ORDERS}
"""


def measure() -> Iterator[Found]:
    """All rows."""
    build_sim(SIM, OPTION)  # building is nobody's time
    with TemporaryDirectory(prefix="leadline-bench-") as directory:
        here = Path(directory)
        yield from _rows("reproduce bgp", 120, 8, "reproduce", "bgp", "-o", here / "bgp.html")
        plan = here / "halo.toml"
        plan.write_text(HALO)
        halo = ("run", plan, "--on", "bgp", "--ranks", "131072", "-o", here / "halo")
        yield next(_rows(f"halo of 131,072 ranks, {len(ORDERS)} orders of axes", 10, 8, *halo))
        million = ("run", "million", "--on", "bgp", "--ranks", "1048576", "-o", here / "million")
        yield from _rows("the million's plan", 1200, 16, *million)


def _rows(what: str, seconds: float, gibibytes: float, *command: str | Path) -> Iterator[Found]:
    """Wall time and memory of a command."""
    begin = time.monotonic()
    took: Taken = taken([LEADLINE, *command])
    wall = time.monotonic() - begin
    note = f"once; {took.seconds:.0f} s of processors"
    yield Found(what, wall, "s", None, f"under {seconds:g} s", at_most(seconds), note)
    note = "once; of its largest process"
    limit = gibibytes * GIB
    yield Found(f"{what}, memory", took.memory, "B", None, f"under {gibibytes:g} GiB", at_most(limit), note)
