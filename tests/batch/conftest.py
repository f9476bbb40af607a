"""A batch system made of scripts."""

import os
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path

import pytest

from leadline.batch import systems


@pytest.fixture
def commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[Mapping[str, str]], None]:
    """Puts scripts on PATH, by the names of a system's commands; `{here}` in them is an empty directory."""

    def put(texts: Mapping[str, str]) -> None:
        (tmp_path / "bin").mkdir()
        for name, text in texts.items():
            path = tmp_path / "bin" / name
            path.write_text("#!/bin/bash\n" + text.format(here=tmp_path))
            path.chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
        monkeypatch.setenv("LEADLINE_STATE", str(tmp_path / "state"))
        monkeypatch.setattr(systems, "POLL", 1)
        monkeypatch.setattr(import_module("leadline.batch.follow"), "VISIBLE", 0.2)
        monkeypatch.chdir(tmp_path)
        systems._executor.cache_clear()

    return put
