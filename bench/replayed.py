"""The programs that the part `replay` records: their commands after the launcher, and the parts of HPCC."""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from leadline.core.errors import LeadlineError
from leadline.mpi.library import Mpi
from leadline.native.build import build
from leadline.program.model import Kind, Program

SOURCES = Path(__file__).parents[1] / "native" / "bench" / "replayed"
# The input that Debian's HPCC comes with, here for a matrix of ROWS rows.
HPCC_INPUT = Path("/usr/share/doc/hpcc/examples/_hpccinf.txt")
ROWS = 3000

# Programs beside this file, with their arguments: a second or a few on two cores.
COMPILED = {"stencil": ("64", "400"), "conjugate": ("768", "2000"), "master": ("4000", "150000")}

# Applications of Leadline's, each as a point.
APPLICATIONS: Mapping[str, Mapping[str, Any]] = {
    "ft": {"class": "W", "pieces": "exchange", "by": "messages", "kernel": "fftw", "result": "kept",
           "depth": 96, "padding": 0, "polls": 0, "iterations": 0},
    "jacobi": {"edge": 160, "scaling": "weak", "grid": "1d", "ends": "fixed", "kernel": "streaming",
               "depth": 1, "halo": "blocking"},
    "sum3d": {"array": "240x100x100", "grid": "2x1x1", "split": "even"},
    "halo3d": {"way": "nonblocking", "edge": 64},
}  # fmt: skip
SECONDS = 2.0  # of an application

# Lennard-Jones atoms, and a wave in a dielectric guide: the short examples of the programs' own manuals.
LAMMPS = """\
units lj
atom_style atomic
lattice fcc 0.8442
region box block 0 20 0 20 0 20
create_box 1 box
create_atoms 1 box
mass 1 1.0
velocity all create 1.44 87287 loop geom
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0 2.5
neighbor 0.3 bin
neigh_modify delay 0 every 20 check no
fix 1 all nve
thermo 50
"""
MEEP = """\
(set! geometry-lattice (make lattice (size 32 16 no-size)))
(set! geometry (list (make block (center 0 0) (size infinity 1 infinity)
                       (material (make medium (epsilon 12))))))
(set! sources (list (make source (src (make continuous-src (frequency 0.15))) (component Ez)
                      (center -14 0))))
(set! pml-layers (list (make pml (thickness 1.0))))
(set! resolution 16)
(run-until 200)
"""


def commands(mpi: Mpi, place: Path) -> dict[str, list[str] | None]:
    """By name, of the programs that BENCH_CASES names or of all; None for what is not installed.

    Inputs are written to `place`, where the commands are to be run.
    """
    asked = os.environ.get("BENCH_CASES", "").split()
    made: dict[str, list[str] | None] = {"hpcc": hpcc(place)}
    for name, point in APPLICATIONS.items():
        made[name] = _application(mpi, name, point, place)
    for name, arguments in COMPILED.items():
        program = place / name
        source = str(SOURCES / f"{name}.c")
        subprocess.run([str(mpi.compiler), "-O2", source, "-o", str(program)], check=True)
        made[name] = [str(program), *arguments]
    made["lammps"] = lammps(place, 200)
    (place / "guide.ctl").write_text(MEEP)
    made["meep"] = ["meep", "guide.ctl"] if shutil.which("meep") else None
    if unknown := [name for name in asked if name not in made]:
        raise LeadlineError(f"BENCH_CASES names {', '.join(made)}, but got {' '.join(unknown)}")
    return {name: command for name, command in made.items() if not asked or name in asked}


def lammps(place: Path, steps: int) -> list[str] | None:
    """The command of LAMMPS, whose input is written to `place`; None where it is not installed."""
    (place / "melt.in").write_text(f"{LAMMPS}run {steps}\n")
    return ["lmp", "-in", "melt.in", "-log", "none"] if shutil.which("lmp") else None


def hpcc(place: Path) -> list[str] | None:
    """The same of HPCC."""
    if not shutil.which("hpcc") or not HPCC_INPUT.exists():
        return None
    given = re.sub(r"(?m)^\d+(\s+Ps)$", r"1\1", HPCC_INPUT.read_text())  # two ranks side by side
    (place / "hpccinf.txt").write_text(re.sub(r"(?m)^1000(\s+Ns)$", rf"{ROWS}\1", given))
    return ["hpcc"]


def _application(mpi: Mpi, name: str, point: Mapping[str, Any], place: Path) -> list[str]:
    """One point of the benchmark, sampled for SECONDS."""
    job = place / f"{name}.json"
    given = {"id": 0, "benchmark": name, "point": point, "tolerance": 1e-9, "time": SECONDS}
    job.write_text(json.dumps({"points": [given]}))
    return [str(build(mpi, "leadline-bench")), str(job), str(place / f"{name}.answers")]


# HPCC's barriers before each of its parts, in the order of its main program; here those that send messages.
HPCC = {"RandomAccess": (0, 1), "PTRANS": (6, 7), "MPIFFT": (11, 12)}
BARRIERS = 15
MAIN = 1024  # B of code between the first and the last of them
SITE = re.compile(r"hpcc\+0x([0-9a-f]+)")


def parts(program: Program) -> dict[str, list[tuple[int, int]]]:
    """Parts of HPCC: of each rank the operations before the first one of the part, and the last one.

    Nothing for other programs. Debian's HPCC has no symbols: barriers of its main program are those that
    are executed once, near one another in the code. HPL, at the end, begins with its communicators.
    """
    every = [_moments(program, rank) for rank in range(program.ranks)]
    if any(len(moments) != BARRIERS for moments in every):
        return {}
    found = {
        name: [(moments[first], moments[last]) for moments in every] for name, (first, last) in HPCC.items()
    }
    found["HPL"] = [_hpl(program, rank) for rank in range(program.ranks)]
    return found


def _kinds(program: Program, rank: int) -> tuple[Sequence[int], Sequence[int]]:
    """The kind and the call site of each operation."""
    leaves = program.leaves(rank)
    order = program.sequence(rank).order()
    return [leaves[leaf].kind for leaf in order], [leaves[leaf].site for leaf in order]


def _moments(program: Program, rank: int) -> list[int]:
    """The barriers of HPCC's main program."""
    kinds, sites = _kinds(program, rank)
    places: dict[int, list[int]] = {}
    for index, (kind, site) in enumerate(zip(kinds, sites, strict=True)):
        if kind == Kind.BARRIER:
            places.setdefault(site, []).append(index)
    once = [(int(match[1], 16), indices[0]) for site, indices in places.items()
            if len(indices) == 1 and (match := SITE.fullmatch(program.sites[site]))]  # fmt: skip
    return [index for address, index in once if address - once[0][0] < MAIN]


def _hpl(program: Program, rank: int) -> tuple[int, int]:
    """From the last communicator that was made to the end."""
    kinds, _ = _kinds(program, rank)
    made = max(index for index, kind in enumerate(kinds) if kind == Kind.COMM)
    return made, len(kinds) - 1
