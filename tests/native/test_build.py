"""Programs are built once for each MPI and state of the sources, and a failure is one sentence with its log.

The native sources are small ones of the test's own, which the real CMake and compiler build in a second.
"""

import re
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from leadline.core.errors import LeadlineError
from leadline.mpi.library import Mpi
from leadline.native import build as room
from leadline.native.build import build, build_describe, build_sim, is_built

# Defines what the build was told, so that the program can be asked.
CMAKE = """\
cmake_minimum_required(VERSION 3.22)
project(small LANGUAGES CXX)
if(LEADLINE_BACKEND STREQUAL "mpi")
  set(programs leadline-bench)
else()
  set(programs leadline-describe leadline-sim)
endif()
foreach(program IN LISTS programs)
  add_executable(${program} main.cpp)
  target_compile_definitions(${program} PRIVATE TOLD="${LEADLINE_BACKEND} ${LEADLINE_SHMEM_LINK}")
  target_include_directories(${program} PRIVATE ${LEADLINE_MPI_INCLUDE})
  target_link_libraries(${program} PRIVATE ${LEADLINE_MPI_LINK})
endforeach()
"""
MAIN = '#include <cstdio>\nint main() { std::puts("one " TOLD); }\n'


@pytest.fixture
def native(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory of native sources that are quick to build, and an empty state directory."""
    native = tmp_path / "native"
    native.mkdir()
    (native / "CMakeLists.txt").write_text(CMAKE)
    (native / "main.cpp").write_text(MAIN)
    monkeypatch.setattr(room, "native_dir", lambda: native)
    monkeypatch.setenv("LEADLINE_STATE", str(tmp_path / "state"))
    return native


@pytest.fixture
def mpi(tmp_path: Path) -> Mpi:
    """An MPI whose header and library need nothing."""
    include = tmp_path / "include"
    include.mkdir()
    return Mpi(
        id="some-1.2.3",
        family="openmpi",
        library="Some MPI",
        version="1.2.3",
        origin="PATH",
        prefix=tmp_path,
        compiler=tmp_path / "mpicc",
        cxx_compiler=None,
        launcher=None,
        include=(str(include),),
        link=(f"-Wl,-rpath,{tmp_path}/there", "-lm"),
        has_shmem=True,
        shmem_link=("-lm",),
    )


def said(program: Path) -> str:
    """What a program prints."""
    return subprocess.run([program], check=True, capture_output=True, text=True).stdout.strip()


def never(*_: Any, **__: Any) -> None:
    """In place of what must not be called."""
    pytest.fail("something was started although nothing had changed")


@pytest.mark.usefixtures("native")
def test_a_second_build_starts_nothing(mpi: Mpi, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is found by its identity, and the library's words reached the compiler."""
    assert not is_built(mpi)
    program = build(mpi)
    assert program.name == "leadline-bench"
    assert said(program) == "one mpi -lm"
    monkeypatch.setattr(subprocess, "run", never)
    assert build(mpi) == program
    assert is_built(mpi)
    assert not is_built(None)  # what describes is a build of its own


@pytest.mark.usefixtures("native")
def test_a_program_finds_its_library_by_itself(mpi: Mpi) -> None:
    """The run-time path is in the program: ranks need no LD_LIBRARY_PATH."""
    program = build(mpi)
    dynamic = subprocess.run(["readelf", "-d", program], check=True, capture_output=True, text=True).stdout
    assert re.search(rf"R(UN)?PATH.*\[{re.escape(str(mpi.prefix))}/there\]", dynamic)


def test_a_changed_source_is_a_new_program_beside_the_old(native: Path, mpi: Mpi) -> None:
    """A run that uses the old one goes on with it; going back to the old sources finds it again."""
    first = build(mpi)
    (native / "main.cpp").write_text(MAIN.replace("one", "two"))
    second = build(mpi)
    assert (said(first), said(second)) == ("one mpi -lm", "two mpi -lm")
    (native / "main.cpp").write_text(MAIN)
    assert build(mpi) == first


def test_the_programs_own_tests_are_no_part_of_them(native: Path) -> None:
    """Writing a native test must not rebuild every MPI's program."""
    first = build_describe()
    (native / "tests").mkdir()
    (native / "tests" / "some_test.cpp").write_text("int x;")
    assert build_describe() == first


def test_python_beside_the_sources_is_no_part_of_them(native: Path) -> None:
    """In a wheel the sources lie where this package's modules do, and what Python compiles of them."""
    before = room._sources()
    (native / "registry.py").write_text("# a module\n")
    (native / "record").mkdir(exist_ok=True)
    (native / "record" / "__pycache__").mkdir()
    (native / "record" / "__pycache__" / "wrappers.pyc").write_bytes(b"compiled")
    assert room._sources() == before
    (native / "record" / "wrappers.py").write_text("# writes sources\n")
    assert room._sources() != before


@pytest.mark.usefixtures("native")
def test_the_simulator_lies_beside_what_describes() -> None:
    """One build without an MPI has both programs, each made when it is first asked for."""
    describe = build_describe()
    assert not (describe.parent / "leadline-sim").exists()
    simulator = build_sim()
    assert simulator == describe.parent / "leadline-sim"
    assert said(simulator) == "one local"


@pytest.mark.usefixtures("native")
def test_each_mpi_and_each_choice_of_flags_has_its_own(mpi: Mpi, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also two MPIs that differ only in their libraries' place."""
    programs = {build(mpi), build(Mpi(**{**vars(mpi), "link": ("-lm",)}))}
    monkeypatch.setenv("CXXFLAGS", "-DANYTHING")
    programs.add(build(mpi))
    assert len(programs) == 3


def test_a_mistake_in_the_sources_is_told_with_its_line_and_log(native: Path, mpi: Mpi) -> None:
    """The first error of the compiler; when it is mended the next build succeeds."""
    (native / "main.cpp").write_text("int main() { return nothing; }\n")
    with pytest.raises(LeadlineError) as failure:
        build(mpi)
    sentence = str(failure.value)
    assert "building leadline-bench for some-1.2.3 failed: " in sentence
    assert "main.cpp:1:21: error: " in sentence
    assert "\n" not in sentence
    log = Path(sentence.rpartition("see ")[2])
    assert "nothing" in log.read_text()
    (native / "main.cpp").write_text(MAIN)
    assert said(build(mpi)) == "one mpi -lm"


@pytest.mark.usefixtures("native")
def test_a_library_that_is_not_there_is_told(mpi: Mpi) -> None:
    """A linker's failure is named as well as a compiler's."""
    with pytest.raises(LeadlineError, match="cannot find -lno-such-library"):
        build(Mpi(**{**vars(mpi), "link": ("-lno-such-library",)}))


@pytest.mark.usefixtures("native")
def test_builders_at_the_same_time_build_once(mpi: Mpi, monkeypatch: pytest.MonkeyPatch) -> None:
    """The others say that they wait for the lock, and find what the first has built."""
    made: list[Any] = []
    said: list[str] = []
    monkeypatch.setattr(room, "announce", lambda words, **_: said.append(words))
    real = room._configure_and_build

    def counted(*arguments: Any) -> None:
        made.append(arguments)
        real(*arguments)

    monkeypatch.setattr(room, "_configure_and_build", counted)
    with ThreadPoolExecutor(3) as pool:
        programs = set(pool.map(lambda _: build(mpi), range(3)))
    assert len(programs) == len(made) == 1
    assert sum("another process builds" in words for words in said) == 2


def test_sources_that_change_during_a_build_are_built_again(
    native: Path, mpi: Mpi, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else what was compiled from the new sources would be kept under the old ones' name."""
    real = room._configure_and_build
    edits = [MAIN.replace("one", "two")]

    def edited(*arguments: Any) -> None:
        if edits:
            (native / "main.cpp").write_text(edits.pop())
        real(*arguments)

    monkeypatch.setattr(room, "_configure_and_build", edited)
    program = build(mpi)
    assert said(program) == "two mpi -lm"
    assert build(mpi) == program


@pytest.mark.usefixtures("native")
def test_without_a_compiler_or_cmake_the_package_is_named(mpi: Mpi, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not a trace of CMake's own troubles."""
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(LeadlineError, match="cmake is not installed"):
        build(mpi)


def test_an_mpi_without_a_wrapper_is_refused(mpi: Mpi) -> None:
    """A runtime alone can start programs, but nothing can be built for it."""
    with pytest.raises(LeadlineError, match=r"has no compiler wrapper or header .*libopenmpi-dev"):
        build(Mpi(**{**vars(mpi), "compiler": None}))


@pytest.mark.usefixtures("native")
def test_a_state_directory_that_cannot_be_written_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full or read-only disk is a sentence, not a trace."""
    (tmp_path / "state").touch()  # a file where the directory should be
    with pytest.raises(LeadlineError, match=r"cannot build leadline-describe: .*state"):
        build_describe()
