"""Every MPI is found once, is what it says that it is, and keeps to its own programs."""

from pathlib import Path

import pytest

from leadline.core.errors import UsageError
from leadline.mpi import wrapper
from leadline.mpi.discover import find, resolve, rows
from leadline.mpi.library import Mpi

from . import fabricated

MAKES = [("openmpi", "4.1.4"), ("mpich", "4.0.2"), ("intel", "2021.18.1")]


@pytest.fixture(autouse=True)
def own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """MPIs that Leadline installed on this machine are not part of these trees."""
    monkeypatch.setenv("LEADLINE_STATE", str(tmp_path / "state"))


def found_in(*places: Path, **environ: str) -> list[Mpi]:
    """What is found with these directories as PATH."""
    return find({"PATH": ":".join(map(str, places)), **environ}, usual=())


@pytest.mark.parametrize(("family", "version"), MAKES)
def test_a_library_is_told_by_its_header_and_launcher(tmp_path: Path, family: str, version: str) -> None:
    """Intel's header names MPICH's version too: still it is Intel's."""
    fabricated.plant(tmp_path, family, version)
    (mpi,) = found_in(tmp_path / "bin")
    assert (mpi.id, mpi.family, mpi.version) == (f"{family}-{version}", family, version)
    assert (mpi.compiler, mpi.launcher) == (tmp_path / "bin" / "mpicc", tmp_path / "bin" / "mpirun")
    assert mpi.include == (str(tmp_path / "include"),)
    assert mpi.link == (f"-L{tmp_path}/lib", f"-Wl,-rpath,{tmp_path}/lib", "-lmpi")
    assert mpi.origin == "PATH"


def test_suffixes_keep_two_libraries_in_one_directory_apart(tmp_path: Path) -> None:
    """As Debian has them: mpicc.openmpi goes with mpirun.openmpi, never with mpirun.mpich."""
    fabricated.plant(tmp_path, "openmpi", "4.1.4", ".openmpi")
    fabricated.plant(tmp_path, "mpich", "4.0.2", ".mpich")
    pairs = {
        (m.id, m.compiler.name, m.launcher.name)
        for m in found_in(tmp_path / "bin")
        if m.compiler and m.launcher
    }
    assert pairs == {
        ("openmpi-4.1.4", "mpicc.openmpi", "mpirun.openmpi"),
        ("mpich-4.0.2", "mpicc.mpich", "mpirun.mpich"),
    }


def test_an_alternative_is_the_same_mpi_under_the_name_that_does_not_change(tmp_path: Path) -> None:
    """`mpicc` may point elsewhere tomorrow; `mpicc.openmpi` will not, so builds are kept under that."""
    fabricated.plant(tmp_path, "openmpi", "4.1.4", ".openmpi")
    (tmp_path / "bin" / "mpicc").symlink_to("mpicc.openmpi")
    (tmp_path / "bin" / "mpirun").symlink_to("mpirun.openmpi")
    (mpi,) = found_in(tmp_path / "bin")
    assert mpi.compiler == tmp_path / "bin" / "mpicc.openmpi"
    assert mpi.launcher == tmp_path / "bin" / "mpirun.openmpi"


def test_a_directory_that_is_on_path_twice_is_looked_at_once(tmp_path: Path) -> None:
    """By a symbolic link too, as /bin is /usr/bin today."""
    fabricated.plant(tmp_path / "real", "mpich", "4.0.2")
    (tmp_path / "link").symlink_to("real")
    assert len(found_in(tmp_path / "real" / "bin", tmp_path / "link" / "bin", tmp_path / "real" / "bin")) == 1


def test_equal_versions_get_different_ids(tmp_path: Path) -> None:
    """The first keeps the plain id; records of the others must not be taken for its own."""
    places = [fabricated.plant(tmp_path / name, "mpich", "4.0.2") / "bin" for name in ("a", "b", "c")]
    assert [mpi.id for mpi in found_in(*places)] == ["mpich-4.0.2", "mpich-4.0.2-path", "mpich-4.0.2-path-2"]


def test_the_first_on_path_comes_first(tmp_path: Path) -> None:
    """It is what a person who types `mpicc` gets, hence the default."""
    places = [fabricated.plant(tmp_path / f, f, v) / "bin" for f, v in reversed(MAKES)]
    assert [mpi.family for mpi in found_in(*places)] == ["intel", "mpich", "openmpi"]


@pytest.mark.parametrize("variable", ["EBROOTOPENMPI", "MPI_HOME", "MPI_ROOT"])
def test_what_a_module_names_is_found_off_path(tmp_path: Path, variable: str) -> None:
    """EasyBuild's modules set EBROOT..., others MPI_HOME or MPI_ROOT."""
    fabricated.plant(tmp_path, "openmpi", "4.1.4")
    (mpi,) = found_in(**{variable: str(tmp_path)})
    assert mpi.origin == "module"


def test_a_loaded_module_on_path_is_called_one(tmp_path: Path) -> None:
    """Lmod sets LOADEDMODULES and PATH; the module's name and version are in the path."""
    prefix = fabricated.plant(tmp_path / "software" / "OpenMPI" / "4.1.4-GCC", "openmpi", "4.1.4")
    (mpi,) = found_in(prefix / "bin", LOADEDMODULES="GCC/12.2.0:OpenMPI/4.1.4-GCC")
    assert mpi.origin == "module"


def test_what_leadline_installed_is_found(tmp_path: Path) -> None:
    """In its own environments, without PATH; a Python environment's paths are set for the library."""
    prefix = fabricated.plant(tmp_path / "state" / "mpi" / "openmpi", "openmpi", "5.0.11")
    (prefix / "pyvenv.cfg").touch()
    (mpi,) = found_in()
    assert mpi.origin == "leadline"
    assert mpi.environment == {"OPAL_PREFIX": str(prefix)}


def test_a_launcher_of_another_library_is_not_taken(tmp_path: Path) -> None:
    """An Open MPI beside MPICH's mpirun would start every rank as a world of its own."""
    include = fabricated.library(tmp_path, "openmpi", "4.1.4")
    fabricated.wrapper(tmp_path, include)
    fabricated.launcher(tmp_path, "mpich", "4.0.2")
    mpi = next(mpi for mpi in found_in(tmp_path / "bin") if mpi.family == "openmpi")
    assert mpi.launcher is None


def test_a_launcher_of_another_version_is_not_taken(tmp_path: Path) -> None:
    """Runtime and library speak a protocol that changes with the version."""
    include = fabricated.library(tmp_path, "openmpi", "5.0.11")
    fabricated.wrapper(tmp_path, include)
    fabricated.launcher(tmp_path, "openmpi", "4.1.4")
    mpi = next(mpi for mpi in found_in(tmp_path / "bin") if mpi.compiler)
    assert (mpi.version, mpi.launcher) == ("5.0.11", None)


def test_a_broken_wrapper_is_made_up_for_by_the_usual_places(tmp_path: Path) -> None:
    """As with Intel's mpiicc, which ends with "command not found" where there is no Intel compiler."""
    fabricated.plant(tmp_path, "intel", "2021.18.1")
    fabricated.script(tmp_path / "bin" / "mpicc", "mpicc: line 41: mpiicx: command not found")
    (mpi,) = found_in(tmp_path / "bin")
    assert mpi.include == (str(tmp_path / "include"),)
    assert "-lmpi" in mpi.link


def test_a_launcher_alone_is_listed_without_a_compiler(tmp_path: Path) -> None:
    """openmpi-bin without libopenmpi-dev: it is there, and a person should see what it lacks."""
    fabricated.launcher(tmp_path, "openmpi", "4.1.4")
    (mpi,) = found_in(tmp_path / "bin")
    assert (mpi.id, mpi.compiler, mpi.include) == ("openmpi-4.1.4", None, ())


@pytest.mark.parametrize("text", ["", "\\x00\\xff rubbish (", "usage: mpirun"])
def test_what_says_nothing_known_is_no_mpi(tmp_path: Path, text: str) -> None:
    """Nor is it an error: PATH may hold anything."""
    fabricated.script(tmp_path / "bin" / "mpirun", text)
    fabricated.script(tmp_path / "bin" / "mpicc", text)
    assert found_in(tmp_path / "bin") == []


def test_a_program_that_does_not_answer_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A launcher that waits for its batch system must not stop everything else from being found."""
    monkeypatch.setattr(wrapper, "ASK_LIMIT", 0.2)
    fabricated.plant(tmp_path / "good", "mpich", "4.0.2")
    hanging = fabricated.script(tmp_path / "bad" / "bin" / "mpirun", "")
    hanging.write_text("#!/bin/sh\nexec /bin/sleep 30\n")
    assert [mpi.id for mpi in found_in(tmp_path / "bad" / "bin", tmp_path / "good" / "bin")] == [
        "mpich-4.0.2"
    ]


def test_a_name_means_an_id_a_family_or_a_prefix(tmp_path: Path) -> None:
    """And `default` the first that programs can be built for and started with."""
    fabricated.launcher(tmp_path / "runtime", "openmpi", "4.1.2")
    places = [tmp_path / "runtime" / "bin"]
    places += [fabricated.plant(tmp_path / f, f, v) / "bin" for f, v in MAKES]
    known = found_in(*places)
    assert resolve("default", known).id == "openmpi-4.1.4"
    assert resolve("openmpi", known).id == "openmpi-4.1.4"
    assert resolve("openmpi-4.1.2", known).compiler is None
    assert resolve("mpich-4", known).id == "mpich-4.0.2"
    assert resolve("impi", known).id == "intel-2021.18.1"
    assert resolve(str(tmp_path / "mpich"), known).id == "mpich-4.0.2"


def test_an_unknown_name_is_refused_with_the_nearest_and_how_to_add_one() -> None:
    """A typing error is shown the id that was meant."""
    known = [fabricated.an_mpi("openmpi", "4.1.4"), fabricated.an_mpi("mpich", "4.0.2")]
    with pytest.raises(
        UsageError, match=r"'mpihc-4\.0'; did you mean 'mpich-4\.0\.2'\? 'leadline doctor --install"
    ):
        resolve("mpihc-4.0", known)
    with pytest.raises(UsageError, match="leadline doctor --install mpich"):
        resolve("mpich", [])


def test_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is really here has an id of its own, and a header where it says."""
    monkeypatch.delenv("LEADLINE_STATE")
    mpis = find()
    if not mpis:
        pytest.skip("no MPI on this machine")
    assert len({mpi.id for mpi in mpis}) == len(mpis)
    for mpi in mpis:
        if mpi.compiler:
            assert any((Path(place) / "mpi.h").is_file() for place in mpi.include)
    assert [row["id"] for row in rows()] == [mpi.id for mpi in mpis]
