"""A command is ended with everything that it started, also by a command around it."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pytest

from leadline.core.processes import MARKS, Tree, carrying, run


def alive(mark: str) -> list[int]:
    """Processes that carry a mark, once the system has had its time to end them."""
    deadline = time.monotonic() + 60
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


def test_a_killed_process_leaves_nothing_behind(tmp_path: Path) -> None:
    """Not even what moved to a session of its own: the guard ends all that carries the mark."""
    body = (
        "import sys\n"
        "from leadline.core import processes\n"
        "processes.run(['sh', '-c', 'setsid sleep 97 & setsid sleep 97; wait'], {}, 90.0)\n"
    )
    main = subprocess.Popen([sys.executable, "-c", body], cwd=tmp_path)
    try:
        assert _until(lambda: _sleepers(tmp_path), 20.0)
    finally:
        main.kill()
        main.wait()
    assert _until(lambda: not _sleepers(tmp_path), 20.0)


def _sleepers(place: Path) -> list[int]:
    """The sleeping commands that were started in a directory."""
    found = []
    for each in psutil.process_iter():
        with suppress(psutil.Error):
            if each.cmdline()[:2] == ["sleep", "97"] and each.cwd() == str(place):
                found.append(each.pid)
    return found


def _until(found: Callable[[], Any], limit: float) -> Any:
    """What is found as soon as it is something, or after `limit` s."""
    end = time.monotonic() + limit
    while not (last := found()) and time.monotonic() < end:
        time.sleep(0.05)
    return last


@pytest.mark.parametrize("seen", [False, True])
def test_a_command_is_ended_whatever_a_signal_interrupted(tmp_path: Path, seen: bool) -> None:
    """Where an exception came while Popen held its lock: it waited for that lock for ever.

    The second signal of a cancelled batch job came there; `seen`: after the command had been waited for.
    """
    with (tmp_path / "output").open("wb") as output:
        tree = Tree(["sleep", "60"], {}, output)
    tree.process._waitpid_lock.acquire()  # type: ignore[attr-defined]
    if seen:
        tree.process.kill()
        os.waitpid(tree.process.pid, 0)
    ending = threading.Thread(target=tree.end, daemon=True)
    ending.start()
    ending.join(60)
    assert not ending.is_alive()
    assert tree.process.returncode in {-signal.SIGTERM, -signal.SIGKILL}
    assert alive(tree.mark) == []
