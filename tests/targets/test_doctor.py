"""The doctor names what is missing and what would do, and is content only when nothing needed is missing."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from leadline.cli import main
from leadline.targets.local import doctor
from leadline.targets.local.doctor import MISSING, OK, WARNING, Finding
from mpi import fabricated

GOOD, BAD = Finding("a", OK, "there"), Finding("b", MISSING, "none", "apt install b")
DOUBT = Finding("c", WARNING, "slow", "buy another")


def test_only_what_is_needed_makes_ill() -> None:
    """A warning spoils numbers, but does not stop a run."""
    assert doctor.healthy([GOOD, DOUBT])
    assert not doctor.healthy([GOOD, BAD])


@pytest.mark.parametrize(("findings", "code"), [([GOOD, DOUBT], 0), ([GOOD, BAD], 1)])
def test_the_verb_prints_every_finding_and_its_exit_code_says_the_worst(
    monkeypatch: pytest.MonkeyPatch, findings: list[Finding], code: int
) -> None:
    """As a table and as JSON with the same keys."""
    monkeypatch.setattr(doctor, "CHECKS", {"some": lambda: findings})
    plain = CliRunner().invoke(main, ["doctor"])
    assert plain.exit_code == code
    for finding in findings:
        assert finding.found in plain.output
        assert finding.advice in plain.output
    as_json = CliRunner().invoke(main, ["doctor", "--json"])
    assert as_json.exit_code == code
    assert json.loads(as_json.output) == [vars(finding) for finding in findings]


def test_a_missing_tool_is_named_with_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every one of them, on a machine with nothing."""
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.delenv("CXX", raising=False)
    findings = doctor.tools()
    assert [finding.state for finding in findings] == [MISSING] * len(findings)
    assert all(finding.advice.startswith("apt install ") for finding in findings)


def test_an_old_tool_is_told_from_a_new_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """3.9 is older than 3.22, although "9" comes after "2"."""
    monkeypatch.setenv("PATH", str(tmp_path))
    for version, state in [("3.9.1", MISSING), ("3.22.0", OK), ("4.0", OK)]:
        fabricated.script(tmp_path / "cmake", f"cmake version {version}")
        (cmake,) = (finding for finding in doctor.tools() if finding.check == "cmake")
        assert (cmake.state, cmake.found) == (state, f"cmake {version}")
        assert ("3.22 or newer is needed" in cmake.advice) == (state == MISSING)


@pytest.mark.parametrize(
    ("troubles", "state"), [([None, "broken"], OK), (["broken", "broken"], MISSING), ([], MISSING)]
)
def test_one_mpi_that_works_is_needed(
    monkeypatch: pytest.MonkeyPatch, troubles: list[str | None], state: str
) -> None:
    """The others' troubles are told, with a package that would do."""
    mpis = [fabricated.an_mpi("intel", f"2021.{number}.0") for number in range(len(troubles))]
    answers = dict(zip((mpi.id for mpi in mpis), troubles, strict=True))
    monkeypatch.setattr(doctor, "find", lambda: mpis)
    monkeypatch.setattr(doctor, "trouble", lambda mpi: answers[mpi.id])
    findings = doctor.mpis()
    assert doctor.healthy(findings) == (state == OK)
    told = [finding for finding in findings if finding.found == "broken"]
    assert len(told) == troubles.count("broken")
    assert all(finding.advice == "leadline doctor --install impi" for finding in told)


@pytest.mark.parametrize(
    ("source", "steered", "states"),
    [
        ("tsc", "performance", [OK, OK]),
        ("tsc", None, [OK, OK]),  # a virtual machine does not steer its frequency
        ("acpi_pm", "powersave", [WARNING, WARNING]),
    ],
)
def test_a_slow_clock_and_a_wandering_frequency_are_warnings(
    monkeypatch: pytest.MonkeyPatch, source: str, steered: str | None, states: list[str]
) -> None:
    """Each with what would do."""
    monkeypatch.setattr(doctor, "read", lambda _: source)
    monkeypatch.setattr(doctor, "governor", lambda: steered)
    findings = doctor.clock()
    assert [finding.state for finding in findings] == states
    assert all(bool(finding.advice) == (finding.state == WARNING) for finding in findings)


def test_little_room_is_a_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Docker gives /dev/shm 64 MiB unless told otherwise."""
    usage: Callable[[Path], object] = lambda _: type("Usage", (), {"free": 64 << 20})  # noqa: E731
    monkeypatch.setenv("LEADLINE_STATE", str(tmp_path))
    monkeypatch.setattr("shutil.disk_usage", usage)
    shm, disk, _ = doctor.room()
    assert (shm.state, shm.found) == (WARNING, "0.1 GiB free")
    assert "docker run --shm-size" in shm.advice
    assert disk.state == WARNING


def test_a_state_directory_that_cannot_be_written_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing could be built or kept; where the benchmarks are built, as in an image, that is a warning."""
    (tmp_path / "file").touch()
    monkeypatch.setenv("LEADLINE_STATE", str(tmp_path / "file" / "below"))
    monkeypatch.chdir(tmp_path)
    _, disk, sync = doctor.room()
    assert (disk.state, sync.state) == (MISSING, OK)
    monkeypatch.setattr(doctor, "is_built", lambda _: True)
    assert doctor.room()[1].state == WARNING


def test_a_directory_that_takes_no_runs_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs are written to the current directory."""
    monkeypatch.setattr(Path, "cwd", lambda: Path("/proc/self/fd"))
    *_, sync = doctor.room()
    assert sync.state == MISSING


def test_an_unknown_mpi_is_refused() -> None:
    """Exit code 2 and the nearest name, before anything else is done."""
    refused = CliRunner().invoke(main, ["doctor", "--install", "mpihc"])
    assert refused.exit_code == 2
    assert "did you mean 'mpich'" in refused.output
