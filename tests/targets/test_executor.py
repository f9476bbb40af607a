"""Where launches put their files: cleared away after each, and a place that is full is one sentence."""

import os
import tempfile
from pathlib import Path
from typing import Any

import pytest

from leadline.core.errors import LeadlineError
from leadline.mpi import Mpi
from leadline.mpi.families import mpich
from leadline.plan.model import Launches, Point
from leadline.targets.local.executor import LaunchConfig, RealExecutor, scratch

POINT = Point(
    benchmark="pingpong",
    values={"bytes": 8},
    mpi="mpich-4.0",
    stack="default",
    protocol="default",
    placement="default",
    ranks=2,
    oversubscribe=False,
    hosts=(),
    agent=None,
    launcher="auto",
    tolerance=0.05,
    launches=Launches(1, 1),
    point_time=0.01,
    point_limit=5.0,
    time=None,
    measure=0,
    headline=False,
)


def executor(directory: Path, script: str) -> RealExecutor:
    """An executor whose every launch is a shell script: `$1` is the job, `$2` the answers."""
    made = RealExecutor({}, directory, lambda _: None)
    made.kinds[POINT.launch_key] = LaunchConfig(command=["/bin/sh", "-c", script, "sh"])
    return made


@pytest.mark.parametrize("end", ['echo \'{"event":"done"}\' >> $2', "exit 1"])
def test_a_launch_leaves_nothing_behind(tmp_path: Path, end: str) -> None:
    """A campaign launches hundreds of times; while one runs, its files are there."""
    places = []
    script = f"""echo '{{"event":"launch","ranks":2,"places":[]}}' >> $2; {end}"""
    for _ in executor(tmp_path, script).launch([POINT], lambda: None):
        places += list(tmp_path.glob("*/job.json"))
    assert places
    assert list(tmp_path.iterdir()) == []


def test_a_launch_that_is_given_up_leaves_nothing_behind(tmp_path: Path) -> None:
    """Its listener may leave after the first event, as at an interruption."""
    script = """echo '{"event":"launch","ranks":2,"places":[]}' >> $2; sleep 300"""
    heard = executor(tmp_path, script).launch([POINT], lambda: None)
    assert next(heard)["event"] == "launch"
    heard.close()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("starts", [True, False])
def test_a_probe_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, starts: bool) -> None:
    """Whether the library starts or not."""
    said = """echo '{"event":"launch","ranks":2}' >> $2; echo '{"event":"done"}' >> $2"""
    script = said if starts else "exit 1"
    monkeypatch.setattr(
        "leadline.targets.local.executor._command", lambda *_: ["/bin/sh", "-c", script, "sh"]
    )
    library = Mpi("mpich-4.0", "mpich", "MPICH", "4.0", "PATH", tmp_path, None, None, None)
    assert mpich.FAMILY.name == library.family
    one = RealExecutor({}, tmp_path, lambda _: None)
    if starts:
        assert one._probe(LaunchConfig(), library, POINT)[0]["ranks"] == 2
    else:
        with pytest.raises(LeadlineError, match=r"mpich-4\.0 cannot start: .*exit status 1"):
            one._probe(LaunchConfig(), library, POINT)
    assert list(tmp_path.iterdir()) == []


def test_no_place_for_a_launch_is_one_sentence(tmp_path: Path) -> None:
    """The directory of the run's launches was removed meanwhile, say."""
    gone = tmp_path / "gone"
    with pytest.raises(LeadlineError, match=r"gone: No such file or directory"):
        list(executor(gone, "exit 0").launch([POINT], lambda: None))


def test_no_place_for_temporary_files_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """TMPDIR, by which it can be mended, is named."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "absent"))
    with pytest.raises(LeadlineError, match="No such file or directory; the variable TMPDIR"), scratch():
        pass


def test_scratch_of_killed_processes_is_deleted_by_the_next(tmp_path: Path) -> None:
    """That of a process that is no more; not that of one that lives, nor anything else."""
    with scratch(tmp_path) as mine:
        begin = mine.name.rpartition(f"{os.getpid()}-")[0]
        names = (f"{begin}4194304-gone", f"{begin}{os.getppid()}-lives", "leadline-mine", f"{begin}x")
        for name in names:
            (tmp_path / name / "within").mkdir(parents=True)
        with scratch(tmp_path):
            assert [name for name in names if (tmp_path / name).exists()] == list(names[1:])
            assert mine.exists()


def test_a_probe_that_fails_once_is_tried_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """On a busy machine the ranks of one launch may start too late; the next may not."""
    executor = RealExecutor({}, tmp_path, lambda _: None)
    answers: list[Any] = [LeadlineError("the ranks did not start"), ({}, "shared memory")]

    def once(*_: Any) -> Any:
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    monkeypatch.setattr(executor, "_probe_once", once)
    nothing: Any = None
    assert executor._probe(nothing, nothing, nothing) == ({}, "shared memory")
