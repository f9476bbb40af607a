"""SimGrid's SMPI, where it is installed: the same patterns on the same machine, as far as its model goes.

The programs are `native/bench/smpi`, three lines of MPI each; the platform is a torus whose shape is the grid
of the ranks, with the latency and the bandwidth of the links that ours gets. The settings are those with
which SMPI was quickest: nothing is privatised, small stacks, no traffic of acknowledgements, no time for
what ranks compute, and the algorithms that ours uses.
"""

import shutil
from collections.abc import Sequence
from pathlib import Path

from leadline.core.paths import native_dir
from processes import Taken, taken

SETTINGS = (
    "smpi/privatization:no",
    "contexts/stack-size:64",
    "network/crosstraffic:0",
    "smpi/simulate-computation:no",
    "smpi/allreduce:rdb",
    "smpi/barrier:ompi_recursivedoubling",
    "smpi/bcast:binomial_tree",
)
ABSENT = (
    "smpirun is not installed, so nothing is held against SMPI; install it, e.g. 'apt install libsimgrid-dev'"
)


def installed() -> bool:
    """Whether programs can be built and run."""
    return shutil.which("smpicc") is not None and shutil.which("smpirun") is not None


def platform(shape: Sequence[int], rate: float, hop: float) -> str:
    """The platform file of a torus; rate in B/s, hop in s."""
    nodes = 1
    for length in shape:
        nodes *= length
    return f"""<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1"><zone id="world" routing="Full">
<cluster id="torus" prefix="n" suffix="" radical="0-{nodes - 1}" speed="1Gf" bw="{rate:.0f}Bps"
 lat="{hop * 1e9:g}ns" topology="TORUS" topo_parameters="{",".join(map(str, shape))}"/>
</zone></platform>
"""


def run(pattern: str, shape: Sequence[int], rate: float, hop: float, place: Path) -> Taken:
    """One run of a pattern on a torus full of ranks; `place` keeps the program and the platform."""
    program, tag = place / pattern, "x".join(map(str, shape))
    if not program.exists():
        taken(["smpicc", "-O2", str(native_dir() / "bench" / "smpi" / f"{pattern}.c"), "-o", str(program)])
    described, hosts = place / f"{tag}.xml", place / f"{tag}.hosts"
    text = platform(shape, rate, hop)
    described.write_text(text)
    ranks = int(text.split('radical="0-')[1].split('"')[0]) + 1
    hosts.write_text("".join(f"n{node}\n" for node in range(ranks)))
    options = [f"--cfg={each}" for each in SETTINGS] + ["--log=root.thres:error"]
    where = ["-platform", str(described), "-hostfile", str(hosts)]
    return taken(["smpirun", "-np", str(ranks), *where, *options, str(program)])
