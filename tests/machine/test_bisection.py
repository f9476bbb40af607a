"""No network model moves more across the middle of a machine than its links carry."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from leadline.cli import main
from leadline.run.store import load

PLAN = """
question = "How long does an alltoall take?"
time = "1 min"
launches = 1
[[measure]]
benchmark = "alltoall"
ranks = 256
bytes = "{size} B"
communicator = "world"
form = "blocking"
cadence = "back-to-back"
"""


def bisection(size: int) -> float:
    """Seconds for which the middle of 64 nodes, a mesh of 4 x 4 x 4, is busy with an alltoall of 256 ranks.

    128 ranks send to each of 128 others over 16 links of 425 MB/s; 240 B of payload are a packet of 270 B.
    """
    wire = size // 240 * 270 + (size % 240 + 30 if size % 240 else 0)
    return 128 * 128 * wire / (16 * 425e6)


def test_the_bisection_of_16_kib_is_44_milliseconds() -> None:
    """By hand: 16,384 pairs, 18,454 B each on the wire, over 6.8 GB/s."""
    assert bisection(16384) == pytest.approx(44.46e-3, rel=1e-3)


@pytest.mark.full  # several seconds a network
@pytest.mark.parametrize(
    ("network", "size"),
    [("loggp", 16384), ("packet", 16384), ("flow", 4096), ("auto", 1024)],
)
def test_an_alltoall_does_not_exceed_the_bisection(tmp_path: Path, network: str, size: int) -> None:
    """256 ranks of Blue Gene/P: no less than the bisection needs, and no more than 2.5 times that."""
    (tmp_path / "plan.toml").write_text(PLAN.format(size=size))
    where, run = ["--on", "bgp", "--ranks", "256", "--network", network], tmp_path / "run"
    told = CliRunner().invoke(main, ["run", str(tmp_path / "plan.toml"), *where, "--output", str(run)])
    assert told.exit_code == 0, told.output
    rows = [row for row in load(run).iter_rows(named=True) if row["metric"] == "time"]
    assert rows
    for row in rows:
        assert bisection(size) <= min(row["samples"]) <= max(row["samples"]) <= 2.5 * bisection(size)
