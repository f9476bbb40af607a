"""The preloaded library and HDF5's subfiling driver, in the HDF5 that `make hdf5` builds."""

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from h5programs import MANY, Run, needs
from leadline.core.errors import UsageError
from leadline.core.paths import checkout
from leadline.mpi import hdf5
from leadline.mpi.library import Mpi

PROGRAMS = Path(__file__).parent / "programs"
RANKS = 4
SETTINGS = "[hdf5]\nsubfiling_stripe_size = 65536\nsubfiling_ioc_per_node = 3\n"


@pytest.fixture(scope="session")
def build(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Compiles a program for that HDF5."""
    needs("mpirun.openmpi", "mpicc.openmpi")
    own = sorted((checkout() or Path()).glob(".state/hdf5-*-openmpi-*"))
    if not own:
        pytest.skip("HDF5 with subfiling is not built (make hdf5)")
    place, folder = own[-1], tmp_path_factory.mktemp("subfiles")
    link = [f"-I{place / 'include'}", f"-L{place / 'lib'}", f"-Wl,-rpath,{place / 'lib'}", "-lhdf5"]

    def compile_it(name: str) -> Path:
        made = folder / Path(name).stem
        subprocess.run(["mpicc.openmpi", PROGRAMS / name, "-o", made, *link], check=True)
        return made

    return compile_it


@pytest.fixture(scope="session")
def program(build: Callable[[str], Path]) -> Path:
    """A program that opens its file by the driver."""
    return build("subfiles.c")


def run(program: Path, folder: Path, settings: str | None, *preload: Path, **env: str) -> Run:
    """The program on its ranks, in a folder of its own."""
    set_ = [word for name, value in env.items() for word in ("-x", f"{name}={value}")]
    command: list[str | Path] = [
        "mpirun.openmpi",
        "--oversubscribe",
        "-n",
        str(RANKS),
        *set_,
        "{env}",
        program,
        "f.h5",
    ]
    return Run(command, folder, settings, *preload)


def config(folder: Path) -> dict[str, str]:
    """What the driver wrote beside the file."""
    (path,) = folder.glob("f.h5.subfile_*.config")
    return dict(re.findall(r"(\w+)=(\S+)", path.read_text()))


@pytest.mark.full
@pytest.mark.mpi
def test_subfiles(program: Path, library: Path, tmp_path: Path) -> None:
    """Their number and the size of a stripe are as asked, the data as without, and the record says so."""
    plain = run(program, tmp_path / "plain", None)
    tuned = run(program, tmp_path / "tuned", SETTINGS, library)
    assert (plain.code, plain.out) == (tuned.code, tuned.out) == (0, "wrong: 0\n"), tuned.err
    assert config(plain.folder)["subfile_count"] == "1"
    assert config(tuned.folder)["subfile_count"] == "3"
    assert config(tuned.folder)["stripe_size"] == "65536"
    subfiles = [each for each in tuned.folder.glob("f.h5.subfile_*_of_3") if each.stat().st_size]
    assert len(subfiles) == 3
    assert tuned.states() == {"subfiling_stripe_size": "accepted", "subfiling_ioc_per_node": "accepted"}
    assert {each["rank"] for each in tuned.lines("setting")} == set(range(RANKS))


@pytest.mark.full
@pytest.mark.mpi
def test_what_the_environment_says_stays(program: Path, library: Path, tmp_path: Path) -> None:
    """Unless told to override it; and no file has more subfiles than there are ranks."""
    kept = run(program, tmp_path / "kept", SETTINGS, library, H5FD_SUBFILING_IOC_PER_NODE="2")
    assert (kept.code, kept.out) == (0, "wrong: 0\n"), kept.err
    assert kept.states() == {"subfiling_stripe_size": "accepted", "subfiling_ioc_per_node": "kept"}
    assert config(kept.folder)["subfile_count"] == "2"
    many = run(program, tmp_path / "many", "[hdf5]\nsubfiling_ioc_per_node = 64\n", library)
    assert (many.code, many.out) == (0, "wrong: 0\n"), many.err
    assert many.states() == {"subfiling_ioc_per_node": "changed"}
    assert config(many.folder)["subfile_count"] == str(RANKS)


@pytest.mark.full
@pytest.mark.mpi
def test_ranks_that_disagree(program: Path, library: Path, tmp_path: Path) -> None:
    """Nothing is set then: a file whose ranks have stripes of other sizes would be lost."""
    (tmp_path / "other").write_text("[hdf5]\nsubfiling_stripe_size = 4096\n")
    other: list[str | Path]
    other = ["env", f"LEADLINE_H5_SETTINGS={tmp_path / 'other'}", f"LD_PRELOAD={library}", program, "f.h5"]
    first: list[str | Path]
    first = ["mpirun.openmpi", "--oversubscribe", "-n", "1", "{env}", program, "f.h5"]
    command: list[str | Path] = [*first, ":", "-n", "1", *other]
    ran = Run(command, tmp_path / "run", SETTINGS, library)
    assert (ran.code, ran.out) == (0, "wrong: 0\n"), ran.err
    assert ran.states() == {}
    assert config(ran.folder)["subfile_count"] == "1"
    # Whichever rank finds out first says so: in the log, or, where it has none, on its error stream.
    assert "1 of 2 ranks" in ran.err + str(ran.lines("message"))


@pytest.mark.full
@pytest.mark.mpi
def test_other_settings(build: Callable[[str], Path], library: Path, tmp_path: Path) -> None:
    """Those of files that are opened by MPI-IO are made in this HDF5 too; they have no subfiles."""
    asked = MANY.replace("[5, 20, 100]", "[64, 64]").replace('file_space_strategy = "page"\n', "")
    asked = asked.replace("[hdf5]\n", SETTINGS)
    command: list[str | Path] = ["mpirun.openmpi", "-n", "2", "{env}", build("parallel.c"), "f.h5"]
    ran = Run(command, tmp_path / "run", asked, library)
    assert (ran.code, ran.out) == (0, "done\n"), ran.err
    states = ran.states()
    assert states["alignment"] == states["coll_metadata_ops"] == states["cb_buffer_size"] == "accepted"
    assert states["subfiling_ioc_per_node"] == states["subfiling_stripe_size"] == "not applicable"
    assert ran.states("/x")["chunk"] == "accepted"


def test_hdf5_is_chosen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By a folder or by 'current', for the MPI that a folder's name tells; a folder without it is refused."""
    mpi = Mpi("openmpi-1.2.3", "openmpi", "Open MPI", "1.2.3", "Debian", tmp_path, None, None, None)
    other = Mpi("mpich-4.5.6", "mpich", "MPICH", "4.5.6", "Debian", tmp_path, None, None, None)
    monkeypatch.setenv("LEADLINE_STATE", str(tmp_path))
    monkeypatch.setenv("LEADLINE_HDF5", "current")
    assert hdf5.parallel_hdf5(mpi) is None
    for version in ("2.9.0", "2.10.0"):
        place = tmp_path / f"hdf5-{version}-{mpi.id}"
        (place / "include").mkdir(parents=True)
        (place / "lib").mkdir()
        (place / "include" / "H5public.h").touch()
        (place / "lib" / "libhdf5.so").touch()
    found = hdf5.parallel_hdf5(mpi)
    assert found is not None
    assert found.include == (str(tmp_path / f"hdf5-2.10.0-{mpi.id}" / "include"),)
    assert hdf5.parallel_hdf5(other) is None
    monkeypatch.setenv("LEADLINE_HDF5", str(tmp_path / f"hdf5-2.9.0-{mpi.id}"))
    found = hdf5.parallel_hdf5(mpi)
    assert found is not None
    assert "2.9.0" in found.include[0]
    assert hdf5.parallel_hdf5(other) is None
    monkeypatch.setenv("LEADLINE_HDF5", str(tmp_path / "nothing"))
    with pytest.raises(UsageError, match="LEADLINE_HDF5 is 'current' or a folder with include"):
        hdf5.parallel_hdf5(mpi)
