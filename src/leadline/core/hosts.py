"""Names of hosts as people write them: a,b,c, Slurm's node[00-15,20], or a file with a name a line."""

import re
from pathlib import Path

from leadline.core.errors import UsageError

_RANGES = re.compile(r"(?P<before>[^\[\],]*)\[(?P<ranges>[\d,-]+)\](?P<after>[^\[\],]*)")
_WORDS = re.compile(r"(?:[^,\[]|\[[^\]]*\])+")


def names(given: str) -> list[str]:
    """The names in their order. Raises UsageError for what is no list, and for a name that comes twice."""
    path = Path(given)
    if path.is_file():
        found = path.read_text(encoding="utf-8").split()
    else:
        found = [name for word in _WORDS.findall(given) for name in _expanded(word.strip())]
    if not found or "" in found or given.rstrip().endswith(",") or ",," in given:
        raise UsageError(
            f"names of hosts are a file, or a list such as a,b or node[00-15], but got {given!r}"
        )
    if twice := next((name for name in found if found.count(name) > 1), None):
        raise UsageError(f"each host is named once, but {given} names {twice} twice")
    return found


def _expanded(word: str) -> list[str]:
    """The names that a word such as node[00-15,20] stands for."""
    match = _RANGES.fullmatch(word)
    if match is None:
        if "[" in word:
            raise UsageError(f"ranges of hosts are written as node[00-15,20], but got {word!r}")
        return [word]
    found = []
    for part in match["ranges"].split(","):
        first, _, last = part.partition("-")
        last = last or first
        if not (first.isdecimal() and last.isdecimal() and int(first) <= int(last)):
            raise UsageError(f"{part!r} in {word!r} is no range such as 00-15")
        numbers = range(int(first), int(last) + 1)
        found += [f"{match['before']}{n:0{len(first)}}{match['after']}" for n in numbers]
    return found
