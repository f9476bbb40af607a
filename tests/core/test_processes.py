"""A command is ended with everything that it started, also by a command around it."""

import subprocess
import sys
import time
from pathlib import Path

import psutil

from leadline.core.processes import MARKS, Tree, carrying, run


def alive(mark: str) -> list[int]:
    """Processes that carry a mark, once the system has had its time to end them."""
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        left = [each for each in carrying(mark.__eq__) if each.status() != psutil.STATUS_ZOMBIE]
        if not left:
            break
        time.sleep(0.05)
    return [each.pid for each in left]


def test_the_outer_command_ends_what_the_inner_one_started(tmp_path: Path) -> None:
    """The inner one's child is in a session of its own and carries the marks of both."""
    inner = (
        "from leadline.core.processes import Tree; import time;"
        "Tree(['setsid', 'sleep', '300'], {}, -3); open('started', 'w').close(); time.sleep(300)"
    )
    tree = Tree([sys.executable, "-c", inner], {}, subprocess.DEVNULL, tmp_path)
    while not (tmp_path / "started").exists():
        time.sleep(0.02)
        assert tree.process.poll() is None
    assert len(carrying(tree.mark.__eq__)) >= 2
    tree.end()
    assert alive(tree.mark) == []


def test_how_a_command_ended_is_told(tmp_path: Path) -> None:
    """By its status, by a signal, or by its time."""
    assert run(["sh", "-c", "echo out; echo err >&2; exit 3"], {}, 20)[1:] == (3, "out\nerr\n")
    assert run(["sh", "-c", "kill -9 $$"], {}, 20).status == -9
    late = run(["sleep", "60"], {}, 0.1, tmp_path)
    assert late.status is None
    assert late.seconds < 20


def test_the_mark_is_in_the_environment() -> None:
    """With an owner whose path has a space and a comma."""
    said = run(["sh", "-c", f'echo "${MARKS}"'], {}, 20, owner="/a b,c").output
    assert said.split("\x1f")[-1].startswith("/a b,c:")
