"""What happens to whole processes: kills, full disks, two writers, launchers that lie."""

import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from leadline.core import journal
from leadline.core.errors import LeadlineError
from leadline.core.record_files import JOURNAL_HEADER, journal_lines, read_journal
from leadline.programs.launch import Launch
from leadline.run.store import Store
from planted import records

# Adds records for ever, and says after each how many are on the disk.
_WRITER = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from planted import records
from leadline.run.store import Store
with Store.create(Path(sys.argv[1]), "", {}) as store:
    for launch in range(100000):
        store.append(records([[1.0]], [1], launch=launch))
        print(launch + 1, flush=True)
"""
_LIMITED = """
import resource, signal, sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from planted import records
from leadline.core.errors import LeadlineError
from leadline.run.store import Store
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
store = Store.create(Path(sys.argv[1]), "", {})
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[3]), -1))
try:
    for launch in range(100000):
        store.append(records([[1.0]], [1], launch=launch))
        print(launch + 1, flush=True)
except LeadlineError:
    sys.exit(1)
"""
_MAIN = """
from leadline.core import processes
processes.run(["sh", "-c", "setsid sleep 41 & exec sleep 41"], {}, 40.0)
"""
TESTS = str(Path(__file__).parents[1])


def killed_writer(place: Path, chosen: random.Random) -> str | None:
    """A writer is killed: no record is lost that it called written."""
    writer = subprocess.Popen(
        [sys.executable, "-c", _WRITER, place / "run", TESTS], stdout=subprocess.PIPE, text=True
    )
    assert writer.stdout is not None
    for _ in range(chosen.randrange(1, 30)):
        writer.stdout.readline()
    writer.kill()
    said = [line for line in writer.stdout.read().splitlines() if line.isdecimal()]
    writer.wait()
    kept = len(read_journal(place / "run" / "journal.jsonl")[0])
    least = int(said[-1]) if said else 0
    return None if kept >= least else f"{kept} of {least} records"


def full_disk(place: Path, chosen: random.Random) -> str | None:
    """The disk is full in the middle of a line: a sentence, and every record before is kept."""
    command = [sys.executable, "-c", _LIMITED, str(place / "run"), TESTS, str(chosen.randrange(2000, 9000))]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    least = len(ended.stdout.split())
    kept = len(read_journal(place / "run" / "journal.jsonl")[0])
    if ended.returncode != 1:
        return f"exit code {ended.returncode}: {ended.stderr[-200:]}"
    return None if kept == least else f"{kept} of {least} records"


def two_writers(place: Path, chosen: random.Random) -> str | None:
    """A second writer is refused, and the first goes on."""
    with Store.create(place / "run", "", {}) as first:
        first.append(records([[1.0]] * chosen.randrange(1, 9), [1]))
        before = first.records().height
        try:
            Store.reopen(place / "run").close()
        except LeadlineError:
            first.append(records([[1.0]], [1], launch=99))
            return None if first.records().height == before + 1 else "a record was lost"
    return "two processes wrote one run"


def cut_journal(place: Path, chosen: random.Random) -> str | None:
    """A journal that was cut anywhere gives its whole lines, or a sentence where its first is gone."""
    path = place / "journal.jsonl"
    data = journal.encode([JOURNAL_HEADER, *journal_lines(records([[1.0]] * 9, [1]))])
    cut = chosen.randrange(len(data))
    path.write_bytes(data[:cut])
    whole = data[:cut].count(b"\n") - 1
    try:
        kept = len(read_journal(path)[0])
    except LeadlineError:
        return None if whole < 0 else "refused"
    return None if kept == whole else f"{kept} of {whole} lines"


def killed_main(place: Path, chosen: random.Random) -> str | None:
    """The main process is killed: what it started is gone within 5 s, whatever session it is in."""
    main = subprocess.Popen([sys.executable, "-c", _MAIN], cwd=place)
    _wait(lambda: len(_at(place, "sleep")) >= 2, 20.0)
    time.sleep(chosen.random() * 0.05)
    main.kill()
    main.wait()
    return None if _wait(lambda: not _at(place, "sleep"), 5.0) else "processes are left"


def lying_launcher(place: Path, chosen: random.Random) -> str | None:
    """A launcher that answers rubbish, too much or nothing: events and an end, no traceback."""
    answers = chosen.choice(
        (
            '{"event":"begin"}',
            '{"event":"record","id":7,"metric":3}',
            "[[[[",
            "\\377\\376",
            '{"event":"launch","ranks":"two"}',
            '{"event":"end","id":null}',
            '{"event":"done"}',
            "",
        )
    )
    script = f"for i in 1 2 3; do printf '{answers}\\n' >> $2; done; exit {chosen.randrange(3)}"
    launch = Launch(["sh", "-c", script, "launcher"], {}, {"points": [{"id": 0}]}, place, start_limit=5.0)
    last = [event["event"] for event in launch.events()][-1:]
    return None if last and last[0] in ("done", "lost", "late") else f"it ended with {last}"


FAULTS: Mapping[str, Callable[[Path, random.Random], str | None]] = {
    "kill a writer": killed_writer,
    "full disk": full_disk,
    "two writers": two_writers,
    "cut a journal": cut_journal,
    "kill the main process": killed_main,
    "lying launcher": lying_launcher,
}


def _at(place: Path, name: str) -> list[int]:
    """The processes of a name whose directory is `place`."""
    found = []
    for each in os.listdir("/proc"):  # noqa: PTH208  (many, and often)
        try:
            is_here = each.isdecimal() and Path(f"/proc/{each}/cwd").readlink() == place
            if is_here and Path(f"/proc/{each}/comm").read_text().strip() == name:
                found.append(int(each))
        except OSError:
            continue
    return found


def _wait(done: Callable[[], bool], limit: float) -> bool:
    end = time.monotonic() + limit
    while not done():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True
