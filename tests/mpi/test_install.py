"""An MPI is added whole or not at all, and what went wrong is said in a sentence."""

from pathlib import Path

import pytest

from leadline.core.errors import LeadlineError, UsageError
from leadline.mpi import install as room
from leadline.mpi.install import install

from . import fabricated


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty state directory, and no package index."""
    monkeypatch.setenv("LEADLINE_STATE", str(tmp_path))
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")  # the discard port: nobody listens
    monkeypatch.setenv("PIP_RETRIES", "0")
    monkeypatch.setenv("PIP_NO_CACHE_DIR", "1")
    return tmp_path


@pytest.mark.usefixtures("state")
def test_an_unknown_name_is_refused_with_the_nearest() -> None:
    """Before anything is made or fetched."""
    with pytest.raises(UsageError, match=r"'mpihc'.*'mpich'"):
        install("mpihc")


def test_without_a_network_nothing_is_left_behind(state: Path) -> None:
    """Half an environment would be taken for an MPI that is there."""
    with pytest.raises(LeadlineError, match=r"mpich .*\(.+\)"):
        install("mpich")
    assert not (state / "mpi" / "mpich").exists()


def test_an_interrupted_installation_leaves_nothing(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C in the middle of pip."""

    def interrupted(name: str, prefix: Path) -> None:
        (prefix / "bin").mkdir(parents=True)
        raise KeyboardInterrupt

    monkeypatch.setattr(room, "_fetch", interrupted)
    with pytest.raises(KeyboardInterrupt):
        install("openmpi")
    assert not (state / "mpi" / "openmpi").exists()


def test_what_was_fetched_must_be_an_mpi(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package of that name without wrapper and launcher is no use."""
    monkeypatch.setattr(room, "_fetch", lambda name, prefix: (prefix / "bin").mkdir(parents=True))
    with pytest.raises(LeadlineError, match=r"the package impi-rt in .* holds no MPI that works"):
        install("intel")


def test_what_is_there_is_not_fetched_again(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also under another name of the same library."""
    fabricated.plant(state / "mpi" / "impi", "intel", "2021.18.1")
    monkeypatch.setattr(room, "_fetch", lambda *_: pytest.fail("fetched again"))
    assert install("impi") == install("intel")
    assert install("impi").origin == "leadline"
