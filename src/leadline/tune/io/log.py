"""What the preloaded library wrote down: what was asked, accepted and observed, by each process.

Lines of JSON (native/h5tuner/log.h). What is not known is passed over, so that a log that was cut, or of
another version, tells what it can.
"""

import hashlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from leadline.core.errors import UsageError
from leadline.tune.io import patterns as io_patterns
from leadline.tune.io.files import Array
from leadline.tune.io.journal import Line
from leadline.tune.search import Settings

MOST_ARRAYS = 200  # each needs a line in the settings file, which is bounded
SETTING, MESSAGE = "setting", "message"
REFUSED = "; nothing is set"  # ends what the library says of a file that it does not take
# What differs from run to run without a meaning.
UNTOLD = ("process", "seconds", "time", "file", "path", "hash", "settings", "text", "host")


@dataclass(frozen=True)
class Seen:
    """The log of one run."""

    lines: tuple[Line, ...]

    @property
    def ranks(self) -> int:
        """How many ranks it has lines of; 1 where none says which it is."""
        return max((int(line["rank"]) + 1 for line in self.lines if "rank" in line), default=1)

    @property
    def arrays(self) -> tuple[Array, ...]:
        found = [
            Array(str(line["dataset"]), tuple(map(int, line["lengths"])))
            for line in self.lines
            if line.get("lengths") and line.get("dataset")
        ]
        return tuple(dict.fromkeys(found))

    @property
    def refused(self) -> str | None:
        """Why the library took none of the settings, so that the run was one of the default; None: it did."""
        said = (str(line.get("text")) for line in self.lines if line.get("kind") == MESSAGE)
        return next((text for text in said if text.endswith(REFUSED)), None)

    @property
    def messages(self) -> list[str]:
        """What the library had to say, each sentence once."""
        said = (str(line.get("text")) for line in self.lines if line.get("kind") == MESSAGE)
        return list(dict.fromkeys(said))

    @property
    def missing(self) -> str | None:
        """A sentence where not all ranks that opened a file through MPI-IO are in the log; None: all are."""
        met = [line for line in self.lines if "mpi" in line and "rank" in line]
        there, all_ranks = (
            {line["rank"] for line in met},
            max((int(line.get("ranks", 0)) for line in met), default=0),
        )
        if len(there) >= all_ranks:
            return None
        return (
            f"{len(there)} of {all_ranks} ranks are in the log: LD_PRELOAD and LEADLINE_H5_LOG did not reach "
            "the others, or they are on another node, which has no such folder"
        )

    @property
    def fingerprint(self) -> str | None:
        """Equal for runs that did the same to their files; None where nothing was observed."""
        # Each once: a kernel may take one sample more, which does the same again.
        seen = {
            json.dumps({key: value for key, value in line.items() if key not in UNTOLD}, sort_keys=True)
            for line in self.lines
            if line.get("kind") not in (SETTING, MESSAGE)
        }
        return hashlib.sha256("\n".join(sorted(seen)).encode()).hexdigest()[:16] if seen else None

    def facts(self, settings: Settings) -> dict[str, Any]:
        """What became of the settings that were not taken, and what the library had to say."""
        states: dict[str, set[str]] = {}
        for line in self.lines:
            if line.get("kind") == SETTING:
                states.setdefault(str(line["name"]), set()).add(str(line["state"]))
        lost = {
            name: sorted(states[name])
            for name in settings
            if name in states and "accepted" not in states[name]
        }
        found: dict[str, Any] = {"not taken": lost, "said": self.messages[:5]}
        if not settings:
            arrays = [(each.name, list(each.lengths)) for each in self.arrays[:MOST_ARRAYS]]
            found |= {"arrays": arrays, "ranks": self.ranks, "motif": self.access_pattern}
        return found

    @property
    def access_pattern(self) -> dict[str, object] | None:
        """What it writes, as the database of access patterns has it; None where nothing was written."""
        try:
            return asdict(io_patterns.of_lines(self.lines))
        except UsageError:
            return None


def read(path: Path) -> Seen | None:
    """The log of a run; None where there is none: nothing that can be tuned was met."""
    try:
        lines = tuple(io_patterns.lines(path))
    except OSError:
        return None
    return Seen(lines) if lines else None
