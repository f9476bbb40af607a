"""The floor under the checks: what was not run, or skipped without need, is noticed."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

TOOL = Path(__file__).parents[1] / "tools" / "floor.py"
FLOOR = "suite 3  # why\nskip *.test_a::* no Slurm\nskip:ubuntu test_b::* no browser\n"


@pytest.fixture
def floor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The tool, with a floor of its own, on Debian."""
    spec = importlib.util.spec_from_file_location("floor", TOOL)
    assert spec
    assert spec.loader
    tool = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "floor", tool)  # where dataclasses look for it
    spec.loader.exec_module(tool)
    (tmp_path / "floor.txt").write_text(FLOOR)
    monkeypatch.setattr(tool, "FLOOR", tmp_path / "floor.txt")
    monkeypatch.setattr(tool.platform, "freedesktop_os_release", lambda: {"ID": "debian"})
    return tool


def junit(path: Path, *cases: tuple[str, str]) -> Path:
    """Results of tests by class and the reason for which each was skipped, or none."""
    text = ""
    for name, reason in cases:
        inside = f'<skipped message="{reason}"/>' if reason else ""
        text += f'<testcase classname="{name}" name="t">{inside}</testcase>'
    path.write_text(f"<testsuites><testsuite>{text}</testsuite></testsuites>")
    return path


def test_a_suite_that_was_cut_short_is_noticed(tmp_path: Path, floor: ModuleType) -> None:
    """No results at all, or too few; those of several files count together."""
    few = junit(tmp_path / "few.xml", ("test_x", ""), ("test_y", ""))
    more = junit(tmp_path / "more.xml", ("test_z", ""))
    assert floor.main([f"suite={tmp_path / 'absent.xml'}"]) == 1
    assert floor.main([f"suite={few}"]) == 1
    assert floor.main([f"suite={few},{more}"]) == 0


@pytest.mark.parametrize(
    ("name", "reason", "status"),
    [
        ("tests.test_a", "no Slurm here", 0),
        ("tests.test_a", "no compiler", 1),
        ("tests.test_c", "no Slurm here", 1),
        ("test_b", "no browser", 1),  # which a set-up of Debian brings
    ],
)
def test_only_what_the_floor_names_may_be_skipped(
    tmp_path: Path, floor: ModuleType, name: str, reason: str, status: int
) -> None:
    """By test, reason and system; what may be counts as run."""
    others = [("tests.test_x", ""), ("tests.test_y", "")]
    results = junit(tmp_path / "a.xml", (name, reason), *others)
    assert floor.main([f"suite={results}"]) == status


def test_what_failed_is_named_again_with_its_message(
    tmp_path: Path, floor: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    """For whoever has only the last lines of a log."""
    results = tmp_path / "a.xml"
    case = (
        '<testcase classname="tests.test_x" name="t"><failure message="1 is not 2">...</failure></testcase>'
    )
    results.write_text(f"<testsuites><testsuite>{case}</testsuite></testsuites>")
    floor.main([f"suite={results}"])
    assert "suite: tests.test_x::t failed: 1 is not 2\n" in capsys.readouterr().out
