"""Does an MPI work here? Build the smallest program for it and see that two ranks know each other."""

import os
import re
import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

from leadline.core.errors import LeadlineError
from leadline.core.processes import run
from leadline.mpi.family import Start, failure, family
from leadline.mpi.launcher import starter
from leadline.mpi.library import Mpi

START_LIMIT = 20.0  # s, for two ranks to start, speak once and end; the slowest library here takes 1.5 s

# Each rank sends its number around, so that a transport is really used, and prints what it knows.
PROGRAM = """
#define OMPI_SKIP_MPICXX
#define MPICH_SKIP_MPICXX
#include <mpi.h>
#include <stdio.h>
int main(int argc, char** argv) {
    int rank, size, sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    printf("leadline rank %d of %d sum %d\\n", rank, size, sum);
    MPI_Finalize();
}
"""


def trouble(mpi: Mpi) -> str | None:
    """Why two ranks of `mpi` cannot be built or started here, in a sentence; None when they can."""
    if mpi.compiler is None:
        return "no compiler wrapper or header; install its development package"
    if mpi.launcher is None:
        return "no launcher beside its compiler wrapper"
    with TemporaryDirectory(prefix="leadline-trial-") as directory:
        program = Path(directory) / "trial"
        problem = build(mpi, program)
        if problem:
            return problem
        start = starter(mpi)(mpi, Start(2, oversubscribe=_cores() < 2))
        try:
            ended = run([*start, str(program)], family(mpi).environment(mpi), START_LIMIT)
        except LeadlineError as problem:
            return str(problem)
    return judge(ended.status, ended.output)


def build(mpi: Mpi, program: Path) -> str | None:
    """Build the trial at `program`; why that does not work, or None."""
    compiler = shutil.which(os.environ.get("CXX") or "c++")
    if compiler is None:
        return "no C++ compiler to try it with"
    source = program.with_suffix(".cpp")
    source.write_text(PROGRAM)
    include = [f"-I{place}" for place in mpi.include]
    command = [compiler, str(source), "-o", str(program), *include, *mpi.link]
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    if built.returncode == 0:
        return None
    said = re.search(r"^.*(?:error:|undefined reference|cannot find).*$", built.stderr, re.MULTILINE)
    return f"a program does not build with its flags: {said[0] if said else failure(built.stderr)}"


def judge(code: int | None, output: str) -> str | None:
    """What is wrong with two ranks that printed `output` and ended with `code` (None: they did not end)."""
    sizes = re.findall(r"leadline rank \d+ of (\d+) sum (\d+)", output)
    if sizes == [("1", "0")] * 2:
        return "its ranks start as two worlds of one rank: launcher and library do not speak to each other"
    if code is None:
        return f"two ranks did not end within {START_LIMIT:.0f} s"
    if code != 0:
        return f"two ranks failed (exit code {code}): {failure(output)}"
    if sizes != [("2", "1")] * 2:
        return f"two ranks printed something else than what they are: {failure(output)}"
    return None


def _cores() -> int:
    """Processors that this process may use."""
    return len(os.sched_getaffinity(0))
