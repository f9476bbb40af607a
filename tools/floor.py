"""Fails where fewer tests ran than the floor says, or one was skipped that need not be.

    python tools/floor.py native=build/native.xml python=build/python.xml,build/mpi.xml

Each argument is a suite's name in `tests/floor.txt` and the JUnit files that its runners wrote. A suite that
a stray exit cut short must not look healthy, nor one that skips its tests for want of a tool.
"""

import platform
import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

MESSAGE = 2000  # characters of a failure that are printed again; the last lines of a long log are read first
FLOOR = Path(__file__).parents[1] / "tests" / "floor.txt"


class Skip(NamedTuple):
    """Tests that may be skipped: patterns of their names and of the reason, and on which system."""

    tests: str
    reason: str
    system: str


@dataclass
class Floor:
    """The fewest tests of each suite, and which may be skipped."""

    least: dict[str, int] = field(default_factory=dict)
    skips: list[Skip] = field(default_factory=list)

    @classmethod
    def read(cls, text: str) -> "Floor":
        """From lines of `suite number` and `skip[:system] tests reason`; `#` begins a comment.

        >>> Floor.read("native 20\\nskip:ubuntu tests.a::* no b").skips
        [Skip(tests='tests.a::*', reason='no b', system='ubuntu')]
        """
        floor = cls()
        for line in (line.split("#")[0].strip() for line in text.splitlines()):
            word, _, rest = line.partition(" ")
            if word == "skip" or word.startswith("skip:"):
                tests, _, reason = rest.strip().partition(" ")
                floor.skips.append(Skip(tests, reason.strip(), word.partition(":")[2]))
            elif word:
                floor.least[word] = int(rest)
        return floor

    def allows(self, name: str, reason: str, system: str) -> bool:
        """Whether a test may be skipped for a reason on a system."""
        return any(
            each.system in ("", system) and fnmatchcase(name, each.tests) and re.search(each.reason, reason)
            for each in self.skips
        )


@dataclass
class Counts:
    """How many tests passed; which failed and which were skipped, by name, for what reason."""

    passed: int = 0
    failed: list[tuple[str, str]] = field(default_factory=list)
    skipped: list[tuple[str, str]] = field(default_factory=list)


def counts(files: Iterable[Path]) -> Counts:
    """What JUnit files say; nothing of one where the runner died before it wrote it."""
    found = Counts()
    for file in files:
        try:
            cases = ElementTree.parse(file).getroot().findall(".//testcase")
        except (OSError, ElementTree.ParseError):
            continue
        for case in cases:
            name = f"{case.get('classname')}::{case.get('name')}"
            skipped = case.find("skipped")
            failure = next((each for kind in ("failure", "error") for each in case.findall(kind)), None)
            if failure is not None:
                found.failed.append((name, failure.get("message") or ""))
            elif skipped is not None:
                found.skipped.append((name, skipped.get("message") or ""))
            else:
                found.passed += 1
    return found


def main(arguments: list[str]) -> int:
    """Print what ran in each suite; 1 where one fell below its floor or skipped what it may not."""
    floor = Floor.read(FLOOR.read_text())
    system = platform.freedesktop_os_release().get("ID", "")
    status = 0
    for name, files in (argument.split("=", 1) for argument in arguments):
        ran = counts(map(Path, files.split(",")))
        unexpected = [each for each in ran.skipped if not floor.allows(*each, system)]
        allowed = len(ran.skipped) - len(unexpected)
        print(f"{name}: {ran.passed} passed, {len(ran.failed)} failed, {len(ran.skipped)} skipped")
        for test, reason in ran.failed:
            print(f"{name}: {test} failed: {reason[:MESSAGE]}")
        for test, reason in unexpected:
            status = 1
            print(
                f"{name}: {test} must not be skipped here ({reason}); tests/floor.txt has those that may be"
            )
        if ran.passed + allowed < floor.least[name]:
            status = 1
            print(
                f"{name}: at least {floor.least[name]} tests must run (tests/floor.txt); were some not run?"
            )
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
