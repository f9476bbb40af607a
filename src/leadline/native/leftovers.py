"""What Leadline built, cached or left behind, and can make again: which of it nobody uses now."""

import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil

from leadline.core.paths import state_dir

PREFIX = "leadline-"  # of every directory and report that Leadline makes among temporary files
IDLE = 3600.0  # s; scratch of a run that lives is younger, or named by one of its processes


def leftovers() -> list[Path]:
    """Builds and caches, then scratch directories of killed runs and reports of defects.

    Left out is what a living process names in its command, or runs from, and scratch younger than IDLE.
    """
    used = list(_used())
    found = sorted((state_dir() / "build").glob("*")) if (state_dir() / "build").is_dir() else []
    found += [path for path in [state_dir() / "cache"] if path.exists()]
    limit = time.time() - IDLE
    scratch = sorted(Path(tempfile.gettempdir()).glob(f"{PREFIX}*"))
    found += [path for path in scratch if _newest(path) < limit]
    return [path for path in found if not any(str(path) in words for words in used)]


def size(path: Path) -> int:
    """The bytes below a path."""
    total = 0
    for each in [path, *path.rglob("*")] if path.is_dir() else [path]:
        with suppress(OSError):
            total += each.lstat().st_size
    return total


def remove(path: Path) -> None:
    """Remove a file or a directory with all that is in it. Raises OSError where that cannot be."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _used() -> Iterator[str]:
    """The commands, programs and directories of the processes that live."""
    for process in psutil.process_iter():
        with suppress(psutil.Error, OSError):
            yield " ".join([process.exe(), process.cwd(), *process.cmdline()])


def _newest(path: Path) -> float:
    """When a path, or anything in it, was last written, s since the epoch."""
    newest = 0.0
    for each in [path, *path.rglob("*")] if path.is_dir() else [path]:
        with suppress(OSError):
            newest = max(newest, each.lstat().st_mtime)
    return newest
