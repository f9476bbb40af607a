"""How the simulator asks for its memory."""

import os
import subprocess
from pathlib import Path

import pytest

from leadline.native.build import LARGE_PAGES, memory_of_sim


def _loader() -> Path:
    """glibc's, which tells what it makes of its keys."""
    return next(each for place in ("/lib64", "/lib") for each in Path(place).glob("ld-linux-*.so.?"))


def test_what_the_user_set_for_the_allocator_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside what the simulator wants, behind it: of two values of a key glibc takes the last."""
    monkeypatch.setenv("GLIBC_TUNABLES", "glibc.malloc.hugetlb=0")
    assert memory_of_sim() == {"GLIBC_TUNABLES": f"{LARGE_PAGES}:glibc.malloc.hugetlb=0"}


def test_glibc_knows_the_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """It passes over one that it does not know, without a word."""
    monkeypatch.delenv("GLIBC_TUNABLES", raising=False)
    command = [str(_loader()), "--list-tunables"]
    said = subprocess.run(
        command, env={**os.environ, **memory_of_sim()}, capture_output=True, text=True, check=True
    ).stdout
    assert "glibc.malloc.hugetlb: 0x1 " in said
    assert "glibc.malloc.top_pad: 0x1000000 " in said
