"""The preloaded library in programs of several ranks: both MPIs' hints, and what ranks must do alike."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from h5programs import BOTH, LAUNCHER_QUIET, MANY, Run, needs, preloaded, same


@pytest.mark.mpi
@pytest.mark.parametrize("flavour", ["openmpi", "mpich"])
def test_ranks(library: Path, compiled: Callable[..., Path], tmp_path: Path, flavour: str) -> None:
    """Hints of both MPIs, what they took of them, and collective properties of HDF5."""
    needs(f"mpirun.{flavour}")
    command: list[str | Path] = [
        f"mpirun.{flavour}",
        "-n",
        "2",
        "{env}",
        compiled("parallel.c", flavour),
        "f.h5",
    ]
    asked = MANY.replace("[5, 20, 100]", "[64, 64]").replace('file_space_strategy = "page"\n', "")
    plain = Run(command, tmp_path / "plain", None)
    tuned = Run(
        command, tmp_path / "tuned", asked.replace("[hdf5]\n", '[hdf5]\ntransfer = "independent"\n'), library
    )
    assert (plain.code, plain.out) == (tuned.code, tuned.out) == (0, "done\n")
    same(plain.folder / "f.h5", tuned.folder / "f.h5")
    states = tuned.states()
    assert {name: states[name] for name in ("cb_nodes", "cb_buffer_size", "coll_metadata_ops")} == {
        "cb_nodes": "kept",
        "cb_buffer_size": "accepted",
        "coll_metadata_ops": "accepted",
    }
    assert states["cray_cb_nodes_multiplier"] == "ignored"
    assert states["striping_factor"] == states["striping_unit"] == "ignored"  # there are no stripes here
    assert states["page_buffer_size"] == "not applicable"
    assert tuned.states("/x")["chunk"] == tuned.states("/x")["transfer"] == "accepted"
    assert {each["rank"] for each in tuned.lines("observed")} == {0, 1}
    assert {Path(each["file"]).name for each in tuned.lines("observed")} == {"f.h5"}


@pytest.mark.mpi
@pytest.mark.parametrize("flavour", ["openmpi", "mpich"])
@pytest.mark.parametrize("settings", [None, BOTH])
def test_data_that_the_program_copies(
    library: Path, compiled: Callable[..., Path], tmp_path: Path, flavour: str, settings: str | None
) -> None:
    """MPI's and HDF5's constants that the linker copied into the program: no hints, no settings, or both."""
    needs(f"mpirun.{flavour}")
    program = compiled("parallel.c", flavour)
    command: list[str | Path] = [f"mpirun.{flavour}", "-n", "2", "{env}", program, "f.h5", "bare"]
    run = Run(command, tmp_path / "run", settings, library)
    assert (run.code, run.out, run.err) == (0, "done\n", "")
    made = {"alignment": "accepted", "cb_buffer_size": "accepted"}
    assert run.states() == ({} if settings is None else made)


@pytest.mark.mpi
@pytest.mark.parametrize("flavour", ["openmpi", "mpich"])
def test_transfers_made_collective(
    library: Path, compiled: Callable[..., Path], tmp_path: Path, flavour: str
) -> None:
    """Of a file of several ranks they are; in one that was not opened through MPI-IO they stay."""
    needs(f"mpirun.{flavour}")
    forced = '[[match]]\noverride = true\nhdf5.transfer = "collective"\n'
    program = compiled("parallel.c", flavour)
    command: list[str | Path] = [f"mpirun.{flavour}", "-n", "2", "{env}", program, "f.h5", "bare"]
    ranks = Run(command, tmp_path / "ranks", forced, library)
    assert (ranks.code, ranks.out, ranks.err) == (0, "done\n", "")
    assert ranks.states("/x") == {"transfer": "accepted"}
    plain = Run([compiled("serial.c", flavour), "f.h5"], tmp_path / "plain", None)
    alone = Run([compiled("serial.c", flavour), "f.h5"], tmp_path / "alone", forced, library)
    assert "wrong: 0\nwrong: 0" in alone.out
    assert alone.told() == plain.told()
    assert alone.states("/x") == {"transfer": "not applicable"}


@pytest.mark.mpi
def test_names_that_open_mpi_does_not_take(
    library: Path, compiled: Callable[..., Path], tmp_path: Path
) -> None:
    """A hint with a name longer than its greatest is refused; it would end the program."""
    needs("mpirun.openmpi")
    name, short = "cray_" + "n" * 31, "cray_" + "n" * 30
    command: list[str | Path] = [
        "mpirun.openmpi",
        "-n",
        "2",
        "{env}",
        compiled("parallel.c", "openmpi"),
        "f.h5",
    ]
    run = Run(command, tmp_path / "run", f"[mpi-io]\n{name} = 1\n{short} = 1\n", library)
    assert (run.code, run.out, run.err) == (0, "done\n", "")
    assert run.states() == {name: "refused", short: "ignored"}


@pytest.mark.mpi
@pytest.mark.parametrize("flavour", ["openmpi", "mpich"])
def test_ranks_that_disagree(
    library: Path, compiled: Callable[..., Path], tmp_path: Path, flavour: str
) -> None:
    """Where one rank has other settings than another, nothing is set, and nobody waits for ever."""
    needs(f"mpirun.{flavour}")
    program = compiled("parallel.c", flavour)
    (tmp_path / "other").write_text("[hdf5]\nchunk = [32, 32]\n")
    second = ["env", f"LEADLINE_H5_SETTINGS={tmp_path / 'other'}", f"LD_PRELOAD={library}"]
    command: list[str | Path] = [
        f"mpirun.{flavour}",
        "-n",
        "1",
        "{env}",
        program,
        "f.h5",
        ":",
        "-n",
        "1",
        *second,
        program,
        "f.h5",
    ]
    run = Run(command, tmp_path / "run", "[hdf5]\nchunk = [64, 64]\n", library)
    assert (run.code, run.out) == (0, "done\n")
    assert run.states("/x") == {}
    # One line, by the rank that looked first: the second has no log.
    assert run.err.count("libleadline_h5: ") + len(run.lines("message")) == 1


# The second rank is told of a failure, whatever became of its call.
FAILS = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
int MPI_File_open(void* group, const char* name, int mode, void* info, void* file) {
    int (*open)(void*, const char*, int, void*, void*) = dlsym(RTLD_NEXT, "MPI_File_open");
    const char *rank = getenv("OMPI_COMM_WORLD_RANK"), *other = getenv("PMI_RANK");
    int result = open(group, name, mode, info, file);
    return strcmp(rank != NULL ? rank : other, "1") == 0 ? 16 : result;
}
"""


@pytest.mark.mpi
@pytest.mark.parametrize("flavour", ["openmpi", "mpich"])
def test_opening_fails_on_one_rank(
    library: Path, compiled: Callable[..., Path], tmp_path: Path, flavour: str
) -> None:
    """It is not made again there, where it would wait for the other rank for ever."""
    needs(f"mpirun.{flavour}")
    planted = preloaded(tmp_path, FAILS)
    program = compiled("opens.c", flavour)
    command: list[str | Path] = [f"mpirun.{flavour}", "-n", "2", "{env}", program, "./f"]
    run = Run(command, tmp_path / "run", BOTH, library, planted)
    assert (run.code, run.out) == (0, "failed: 0 1\n")


@pytest.mark.mpi
def test_static_hdf5(library: Path, compiled: Callable[..., Path], tmp_path: Path) -> None:
    """HDF5 linked statically: hints are set all the same, and what could not be reached is told."""
    needs("mpirun.openmpi")
    try:
        more = ["{lib}/libhdf5.a", "-lcrypto", "-lcurl", "-lz", "-lsz", "-lm", "-ldl"]
        program = compiled("parallel.c", "openmpi", *more)
    except subprocess.CalledProcessError:
        pytest.skip("what a static HDF5 is linked with is not installed")
    run = Run(["mpirun.openmpi", "-n", "2", "{env}", program, "f.h5"], tmp_path / "run", MANY, library)
    assert (run.code, run.out) == (0, "done\n")
    assert run.states()["cb_buffer_size"] == "accepted"
    assert run.states()["alignment"] == "not reached"


@pytest.mark.mpi
@pytest.mark.parametrize("settings", ["none", "file"])
def test_a_command_of_which_a_rank_lacks_the_library(
    compiled: Callable[..., Path], tmp_path: Path, settings: str
) -> None:
    """`io run` says how many of its ranks have it; the program is as ever."""
    needs("mpirun.openmpi")
    program = str(compiled("parallel.c", "openmpi"))
    (tmp_path / "s.toml").write_text(BOTH)
    chosen = str(tmp_path / "s.toml") if settings == "file" else settings
    ranks = ["-n", "1", program, "f.h5", ":", "-n", "1", "env", "-u", "LD_PRELOAD", program, "f.h5"]
    done = subprocess.run(
        [
            str(Path(sys.executable).parent / "leadline"),
            "io",
            "run",
            "--settings",
            chosen,
            "--",
            "mpirun.openmpi",
            *ranks,
        ],
        cwd=tmp_path,
        env={**os.environ, **LAUNCHER_QUIET, "LEADLINE_DATA": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "done\n")
    assert "1 of 2 ranks" in done.stderr
