"""How far a run is, on lines of every width; and the steps of a build."""

import math
from pathlib import Path

import pytest

from leadline.cli._progress import line, shown
from leadline.cli._working import working
from leadline.core.progress import announce, heard_by
from leadline.native import build
from leadline.run.campaign import Progress

LONG = "pingpong bytes=8 B buffers=reused, openmpi-4.1.4, sockets, 2 ranks"


@pytest.mark.parametrize("width", [12, 20, 40, 79, 160])
@pytest.mark.parametrize("time", [180.0, math.inf])
def test_the_line_fits_and_the_time_left_goes_last(width: int, time: float) -> None:
    """A third of 180 s is over: two minutes are left; without a time, only what has passed is known."""
    drawn = line(Progress(elapsed=60.0, time=time, launches=7, open=20, points=30, doing=LONG), width)
    assert len(drawn) <= width
    assert drawn.endswith("2:00 left" if math.isfinite(time) else "1:00 so far")
    assert ("10 of 30 points" in drawn) == (width >= 40)
    assert ("pingpong" in drawn) == (width >= 40 + 2 * math.isinf(time))


def test_no_time_is_left_where_the_plans_is_over() -> None:
    """The last launch goes on after it."""
    assert line(Progress(61.0, 60.0, 1, 3, 30, ""), 80).endswith("1:01 so far")


@pytest.mark.parametrize("block", [shown, lambda: working("preparing")])
def test_a_build_is_announced_once_where_nobody_watches(
    block: object, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its steps go to the log; a line says at the start that it takes minutes, once."""
    script = "for i in 1 2 3; do echo \"[$i/3] Building\"; done; echo '[ 50%] Linking'; exit 3"
    said: list[str] = []
    with (tmp_path / "log").open("w") as log, heard_by(lambda words, _: said.append(words)):
        assert build._tell(["sh", "-c", script], log, "building it") == 3
    assert said == [*(f"building it: step {i} of 3" for i in (1, 2, 3)), "building it: 50 %"]
    assert (tmp_path / "log").read_text().count("Building") == 3
    with block():  # type: ignore[operator]
        announce("building it", lasting=True)
        announce("building it: step 1 of 3")
    assert capsys.readouterr().err == "leadline: building it\n"
