"""Where the records of a run come from: program, compiler, date, plan; its target adds what it knows."""

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from leadline import __version__
from leadline.core.axes import AXES
from leadline.core.paths import checkout
from leadline.native.registry import SweepContext
from leadline.plan.model import Plan
from leadline.plan.points import Point


def common(plan: Plan, points: Sequence[Point]) -> dict[str, object]:
    """What the runs of all targets have."""
    asked = {point.benchmark for point in points}
    benchmarks = [each for name, each in plan.registry(SweepContext()).items() if name in asked]
    return {
        "leadline": __version__,
        "commit": commit(),
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "command": [Path(sys.argv[0]).name, *sys.argv[1:]],
        "plan": plan.path.name,
        "benchmarks": [{"name": each.name, "question": each.question} for each in benchmarks],
        "compiler": compiler(),
    }


def commit() -> str | None:
    """The checkout's commit, with "+" where files differ from it; None outside a checkout."""
    root = checkout()
    if root is None:
        return None
    try:
        named = _said(["git", "-C", str(root), "rev-parse", "--short=12", "HEAD"])
        changed = _said(["git", "-C", str(root), "status", "--porcelain", "--untracked-files=no"])
    except (OSError, subprocess.SubprocessError):
        return None
    return f"{named}+" if changed else named


def compiler() -> dict[str, str | None]:
    """The C++ compiler that the native programs are built with, and the flags from the environment."""
    program = os.environ.get("CXX", "c++")
    try:
        version = _said([program, "--version"]).splitlines()[0]
    except (OSError, subprocess.SubprocessError, IndexError):
        version = None
    return {
        "program": program,
        "version": version,
        "flags": f"-O3 -DNDEBUG {os.environ.get('CXXFLAGS', '')}".strip(),
    }


def _said(command: list[str]) -> str:
    """What a command prints, without the blank around it."""
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=10).stdout.strip()


def merged(before: Mapping[str, Any], kinds: list[dict[str, Any]]) -> dict[str, Any]:
    """The provenance of a run with what its launches told about each kind; kinds of before stay."""
    keys = [*AXES, "operation"]
    held = {tuple(kind.get(key) for key in keys): kind for kind in [*before.get("kinds", []), *kinds]}
    return {**before, "kinds": list(held.values())}
