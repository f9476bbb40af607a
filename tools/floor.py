"""Fails when fewer tests ran than the floor says: a suite that a stray exit cut short must not look healthy.

    python tools/floor.py native=build/native.xml python=build/python.xml

Each argument is a suite's name in `tests/floor.txt` and the JUnit file that its runner wrote. A test counts
when it passed: one that was skipped proved nothing. The floor is raised by hand as a suite grows.
"""

import sys
from pathlib import Path
from xml.etree import ElementTree

FLOOR = Path(__file__).parents[1] / "tests" / "floor.txt"


def floors(text: str) -> dict[str, int]:
    """Suite to the fewest tests that must pass, from lines of `name number`; `#` begins a comment.

    >>> floors("# reason\\nnative 20\\n")
    {'native': 20}
    """
    lines = (line.split("#")[0].split() for line in text.splitlines())
    return {line[0]: int(line[1]) for line in lines if line}


def counts(junit: Path) -> tuple[int, int, int]:
    """How many tests passed, failed and were skipped; none where the runner died before it wrote the file."""
    try:
        cases = ElementTree.parse(junit).getroot().findall(".//testcase")
    except (OSError, ElementTree.ParseError):
        return 0, 0, 0
    failed = sum(case.find("failure") is not None or case.find("error") is not None for case in cases)
    skipped = sum(case.find("skipped") is not None for case in cases)
    return len(cases) - failed - skipped, failed, skipped


def main(arguments: list[str]) -> int:
    """Print what ran in each suite; 1 when one of them fell below its floor."""
    floor = floors(FLOOR.read_text())
    status = 0
    for name, junit in (argument.split("=", 1) for argument in arguments):
        passed, failed, skipped = counts(Path(junit))
        print(f"{name}: {passed} passed, {failed} failed, {skipped} skipped")
        if passed < floor[name]:
            status = 1
            print(f"{name}: at least {floor[name]} tests must pass (tests/floor.txt); were some not run?")
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
