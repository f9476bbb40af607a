"""What happens to whole processes: kills, full disks, two writers, launchers that lie."""

import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

from leadline.cli._guard import DEFECT
from leadline.core import journal
from leadline.core.errors import LeadlineError
from leadline.core.record_files import JOURNAL_HEADER, journal_lines, read_journal
from leadline.native.launch import Launch
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
# The clock of the day jumps up to a day to either side whenever it is read.
_JUMPING = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
static long jump(void) { return random() % 172800 - 86400; }
int clock_gettime(clockid_t which, struct timespec *now) {
    static int (*real)(clockid_t, struct timespec *);
    if (!real) real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    int answer = real(which, now);
    if (which == CLOCK_REALTIME) now->tv_sec += jump();
    return answer;
}
time_t time(time_t *to) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (to) *to = now.tv_sec;
    return now.tv_sec;
}
int gettimeofday(struct timeval *restrict to, void *restrict zone) {
    struct timespec now;
    (void)zone;
    clock_gettime(CLOCK_REALTIME, &now);
    to->tv_sec = now.tv_sec;
    to->tv_usec = now.tv_nsec / 1000;
    return 0;
}
"""
# A run on a described machine, whose simulator is that of the tests, resumed at its end.
_RUN = """
import sys, time
from pathlib import Path
directory = Path(sys.argv[1])
sys.path.insert(0, sys.argv[2])
import simulator
from leadline.machine import load as load_machine
from leadline.plan.model import Plan
from leadline.run import session
from leadline.targets.simulated import machine
from targets.test_simulate import MACHINE, PINGPONG, registry
program = directory / "leadline-sim"
program.write_text(f'#!/bin/sh\\nexec "{sys.executable}" "{simulator.__file__}" "$@"\\n')
program.chmod(0o755)
machine.build_sim = lambda: program
(directory / "small.toml").write_text(MACHINE)
plan = Plan.parse(PINGPONG + "bytes = [8, 16, 32]\\n", directory / "plan.toml", registry)
target = machine.SimulatedMachine.of(load_machine(directory / "small.toml"))
session.run(plan, target, directory / "run", seed=3)
records = session.resume(directory / "run", plan)
print(records.drop("started", "seconds", strict=False).sort("bytes").to_dicts())
"""
LEADLINE = Path(sys.executable).parent / "leadline"
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
    return None if _wait(lambda: not _at(place, "sleep"), 60.0) else "processes are left"


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
    launch = Launch(["sh", "-c", script, "launcher"], {}, {"points": [{"id": 0}]}, place, start_limit=60.0)
    last = [event["event"] for event in launch.events()][-1:]
    return None if last and last[0] in ("done", "died", "hung_at_exit") else f"it ended with {last}"


def clock_steps(place: Path, chosen: random.Random) -> str | None:
    """The clock of the day jumps by hours while a run is made: it ends, and its records are the same."""
    source, library = place / "jumping.c", place / "jumping.so"
    source.write_text(_JUMPING)
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", library, source, "-ldl"], check=True)
    said = []
    for name, preloaded in (("still", ""), ("jumping", str(library))):
        (place / name).mkdir()
        command = [sys.executable, "-c", _RUN, str(place / name), TESTS]
        env = {**os.environ, "LD_PRELOAD": preloaded, "TMPDIR": str(place)}
        ended = subprocess.run(command, capture_output=True, text=True, check=False, env=env, timeout=120)
        if ended.returncode:
            return f"{name}: exit code {ended.returncode}: {ended.stderr[-200:]}"
        said.append(ended.stdout.replace(str(place / name), "RUN"))
    return None if said[0] == said[1] else "other records"


def low_limits(place: Path, chosen: random.Random) -> str | None:
    """Few descriptors, little memory, short files: a sentence and an exit code, no traceback."""
    with Store.create(place / "run", "time = '1 s'", {}) as store:
        store.append(records([[1.0]] * 4, [1]))
        store.finish()
    _built()
    # Below these the interpreter itself does not start.
    limit = chosen.choice(
        (
            f"-n {chosen.randrange(8, 32)}",
            f"-v {chosen.randrange(200, 900) << 10}",
            f"-f {chosen.randrange(0, 8)}",
        )
    )
    words = chosen.choice(("show run", "compare run run", "report run -o page.html", "list benchmarks"))
    script = f'ulimit {limit}; exec "{LEADLINE}" {words}'
    ended = subprocess.run(
        ["bash", "-c", script], capture_output=True, text=True, check=False, cwd=place, timeout=120
    )
    if "Traceback" in ended.stderr or ended.returncode == DEFECT:
        return f"ulimit {limit}, {words}: exit code {ended.returncode}: {ended.stderr[-300:]}"
    return None


FAULTS: Mapping[str, Callable[[Path, random.Random], str | None]] = {
    "kill a writer": killed_writer,
    "full disk": full_disk,
    "two writers": two_writers,
    "cut a journal": cut_journal,
    "kill the main process": killed_main,
    "lying launcher": lying_launcher,
    "clock steps": clock_steps,
    "low limits": low_limits,
}


@cache
def _built() -> None:
    """What `list` asks for the benchmarks: a compiler under limits is not what is tried."""
    subprocess.run([LEADLINE, "list", "benchmarks"], capture_output=True, check=True)


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
