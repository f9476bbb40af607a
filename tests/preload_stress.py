"""Programs that do much at once, with the preloaded library and without: tried, held, lost.

    .venv/bin/python tests/preload_stress.py --runs 1000

Each run is a process of programs/stress.c, or two ranks of which only one has the library; what it prints,
its exit code and the bytes of its own files are compared with those of the same process without the library.
"""

import argparse
import hashlib
import itertools
import os
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from h5programs import LAUNCHER_QUIET, MANY, TRACER, compile_program, installed, preloaded, sanitizer
from leadline.native.build import build_h5tuner

PATIENCE = 300.0  # s, for what takes well under one
RANKS_EVERY = 20  # runs: starting ranks takes long
JEMALLOC = ("/usr/lib/x86_64-linux-gnu/libjemalloc.so.2", "/usr/lib/aarch64-linux-gnu/libjemalloc.so.2")
SETTINGS = {"nothing set": None, "many settings": MANY, "a wrong file": "nonsense"}
OURS = (
    "file",
    "child",
    "f.h5",
)  # HDF5's files, of which settings may change the layout: the program checks them


@dataclass(frozen=True)
class Outcome:
    """What a run left behind."""

    code: int
    out: str
    err: str
    files: str


@dataclass(frozen=True)
class Kind:
    """A command, and the environment of it without our library and with it; PLACE is the folder of a run."""

    label: str
    before: tuple[str, ...]  # words of the command before ours are put into the environment
    after: tuple[str, ...]
    environ: dict[str, str] = field(default_factory=dict)
    ours: dict[str, str] = field(default_factory=dict)

    def run(self, number: int, place: Path, ours: bool) -> Outcome:
        """Run it in folder `d` of `place`, which the program may write into its files."""
        added = self.environ | (self.ours if ours else {})
        words = [*self.before, "env", *(f"{k}={v}" for k, v in added.items()), *self.after]
        folder = place / "d"
        folder.mkdir(parents=True)
        words = [word.replace("NUMBER", str(number)).replace("PLACE", str(place)) for word in words]
        environ = {**os.environ, **LAUNCHER_QUIET}
        try:
            done = subprocess.run(
                words, cwd=folder, env=environ, capture_output=True, timeout=PATIENCE, check=False
            )
        except subprocess.TimeoutExpired:
            return Outcome(-1, "", "hangs", _digest(folder))
        err = [line for line in done.stderr.splitlines() if not line.startswith(b"libleadline_h5: ")]
        return Outcome(done.returncode, done.stdout.decode(), b"\n".join(err).decode(), _digest(folder))


def _digest(folder: Path) -> str:
    digest = hashlib.sha256()
    for each in sorted(folder.iterdir()):
        digest.update(each.name.encode() + (b"" if each.name.startswith(OURS) else each.read_bytes()))
    folder.rename(folder.with_name(f"done{len(list(folder.parent.iterdir()))}"))
    return digest.hexdigest()


def companies(folder: Path) -> dict[str, tuple[list[Path], list[Path]]]:
    """Other libraries that are here, preloaded before ours and after it."""
    tracer = preloaded(folder, TRACER)
    found: dict[str, tuple[list[Path], list[Path]]] = {
        "alone": ([], []),
        "tracer before": ([tracer], []),
        "tracer after": ([], [tracer]),
    }
    for each in map(Path, JEMALLOC):
        if each.exists():
            found |= {"jemalloc before": ([each], []), "jemalloc after": ([], [each])}
    asan = sanitizer("asan")
    return found | ({"libasan before": ([asan], [])} if asan else {})  # it must be the first


def kinds(library: Path, folder: Path) -> tuple[list[Kind], list[Kind]]:
    """Processes, and pairs of ranks of which one has the library."""
    program = compile_program(folder, "stress.c", "serial", "-lhdf5", "-lpthread")
    made: list[Kind] = []
    combined = itertools.product(companies(folder).items(), SETTINGS.items(), (True, False))
    for i, ((name, (before, after)), (wanted, text), logs) in enumerate(combined):
        ours = {"LD_PRELOAD": ":".join(map(str, [*before, library, *after]))}
        if text:
            (folder / f"settings{i}").write_text(text)
            ours["LEADLINE_H5_SETTINGS"] = str(folder / f"settings{i}")
        if logs:
            ours["LEADLINE_H5_LOG"] = "PLACE/log.jsonl"
        environ = {"LD_PRELOAD": ":".join(map(str, [*before, *after]))} if before or after else {}
        if "asan" in name:
            # Leaks are the program's; the exit handlers of a library beneath Debian's HDF5 hang under it.
            environ |= {"ASAN_OPTIONS": "detect_leaks=0", "ENDS_AT_ONCE": "1"}
        label = f"{name}, {wanted}, {'log' if logs else 'no log'}"
        made.append(Kind(label, (), (str(program), "NUMBER", "PLACE/d"), environ, ours))
    return made, _ranks(library, folder)


def _ranks(library: Path, folder: Path) -> list[Kind]:
    made: list[Kind] = []
    (folder / "ranks").write_text(MANY)
    ours = {"LD_PRELOAD": str(library), "LEADLINE_H5_SETTINGS": str(folder / "ranks")}
    for flavour in ("openmpi", "mpich"):
        if not installed(f"mpirun.{flavour}", f"mpicc.{flavour}"):
            continue
        program = str(compile_program(folder, "parallel.c", flavour))
        one, launcher = ("-n", "1", program, "f.h5"), f"mpirun.{flavour}"
        made += [
            Kind(
                f"{flavour}, first rank alone", (launcher, "-n", "1"), (program, "f.h5", ":", *one), {}, ours
            ),
            Kind(f"{flavour}, second rank alone", (launcher, *one, ":", "-n", "1"), one[2:], {}, ours),
            Kind(f"{flavour}, all ranks", (launcher, "-n", "2"), one[2:], {}, ours),
        ]
    return made


def stress(runs: int, library: Path) -> tuple[Counter[str], Counter[str], list[str]]:
    """How often each kind was tried and held, and what was lost."""
    tried, held, lost = Counter[str](), Counter[str](), list[str]()
    with tempfile.TemporaryDirectory(prefix="leadline-stress-") as name:
        folder = Path(name)
        alone, together = kinds(library, folder)
        several, single = itertools.cycle(together), itertools.cycle(alone)
        for run in range(runs):
            number = run // len(alone)
            kind = next(several) if together and run % RANKS_EVERY == 0 else next(single)
            place = folder / f"run{run}"
            plain, tuned = kind.run(number, place, ours=False), kind.run(number, place, ours=True)
            tried[kind.label] += 1
            held[kind.label] += plain == tuned
            if plain != tuned:
                lost.append(f"{kind.label}, number {number}:\n  without {plain}\n  with    {tuned}")
            subprocess.run(["rm", "-rf", place], check=True)
    return tried, held, lost


def main() -> int:
    """Print a line for each kind; 1 where anything was lost."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--library", type=Path, help="Another build of it. Default: this one's.")
    options = parser.parse_args()
    tried, held, lost = stress(options.runs, options.library or build_h5tuner())
    for label in tried:
        print(f"{label:45} tried {tried[label]:4}  held {held[label]:4}  lost {tried[label] - held[label]:4}")
    print(f"{'all':45} tried {sum(tried.values()):4}  held {sum(held.values()):4}  lost {len(lost):4}")
    print("\n".join(lost[:10]))
    return len(lost) > 0


if __name__ == "__main__":
    sys.exit(main())
