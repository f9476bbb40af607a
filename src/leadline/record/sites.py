"""Names of the places in the program that called MPI: function, file and line where symbols allow."""

import shutil
import subprocess
from bisect import bisect_right
from collections.abc import Iterable
from pathlib import Path


class Maps:
    """Where the code of a process lay: /proc/PID/maps as it was at its end."""

    def __init__(self, text: str) -> None:
        """From its text; lines that are none of a file are left out."""
        self._parts: list[tuple[int, int, str]] = []
        self._bases: dict[str, int] = {}
        for line in text.splitlines():
            fields = line.split(None, 5)
            if len(fields) < 6 or not fields[5].startswith("/"):
                continue
            first, last = (int(each, 16) for each in fields[0].split("-"))
            self._parts.append((first, last, fields[5]))
            base = first - int(fields[2], 16)
            self._bases[fields[5]] = min(base, self._bases.get(fields[5], base))
        self._parts.sort()

    def find(self, address: int) -> tuple[str, int] | None:
        """The file that an address lies in, and the address within it; None outside of all."""
        place = bisect_right(self._parts, (address, 1 << 64, "")) - 1
        if place < 0 or not self._parts[place][0] <= address < self._parts[place][1]:
            return None
        module = self._parts[place][2]
        return module, address if _fixed(module) else address - self._bases[module]


def _fixed(module: str) -> bool:
    """Whether the file's code lies where the file says, which ELF calls ET_EXEC."""
    try:
        with Path(module).open("rb") as file:
            return file.read(18)[16:18] == b"\x02\x00"
    except OSError:
        return False


def names(places: Iterable[tuple[str, int]]) -> dict[tuple[str, int], str]:
    """ "file:line function" of each place, or "module+0x..." where nothing more is known."""
    modules: dict[str, list[int]] = {}
    for module, address in places:
        modules.setdefault(module, []).append(address)
    return {
        (module, address): name
        for module, addresses in modules.items()
        for address, name in zip(addresses, _lines(module, addresses), strict=True)
    }


def _lines(module: str, addresses: list[int]) -> list[str]:
    plain = [f"{Path(module).name}+{address:#x}" for address in addresses]
    if not shutil.which("addr2line") or not Path(module).is_file():
        return plain
    # An address that is returned to may belong to the next line already.
    asked = "\n".join(f"{address - 1:#x}" for address in addresses)
    done = subprocess.run(
        ["addr2line", "-f", "-C", "-e", module],
        input=asked,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    lines = done.stdout.splitlines()
    if len(lines) != 2 * len(addresses):
        return plain
    found = []
    functions: _Functions | None = None
    for index, address in enumerate(addresses):
        function, where = lines[2 * index], lines[2 * index + 1].split(" (")[0]
        file, _, line = where.rpartition(":")
        if file not in {"", "??"}:
            found.append(f"{Path(file).name}:{line} {function}")
            continue
        functions = functions or _Functions(module)
        found.append(" ".join(filter(None, [plain[index], functions.at(address - 1)])))
    return found


class _Functions:
    """The functions that a file's symbols name, with where each begins and ends.

    Without debugging information addr2line takes the last symbol before an address, whether or not its
    function reaches so far: in a library that names only what it exports that is somebody else's.
    """

    def __init__(self, module: str) -> None:
        """Of an ELF file; none where nm is not there or finds none."""
        self._known: list[tuple[int, int, str]] = []
        for table in ("--dynamic", "--debug-syms"):
            command = ["nm", table, "--demangle", "--defined-only", "--print-size", module]
            try:
                done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
            except OSError:
                return
            for line in done.stdout.splitlines():
                fields = line.split(None, 3)
                if len(fields) == 4 and fields[2] in "TtWwiVvu":
                    first = int(fields[0], 16)
                    self._known.append((first, first + int(fields[1], 16), fields[3].split("@@")[0]))
        self._known.sort()

    def at(self, address: int) -> str:
        """The function that has an address; nothing where no symbol says."""
        place = bisect_right(self._known, (address, 1 << 64, "")) - 1
        # Functions of the same place, or one within another, are few.
        for first, last, name in reversed(self._known[max(0, place - 3) : place + 1]):
            if first <= address < last:
                return name
        return ""
