"""Whatever a wrapper prints, the flags are those that a C program needs, each once."""

from pathlib import Path

import pytest

from leadline.mpi.wrapper import Flags, fallback, parse


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A prefix with include and lib."""
    (tmp_path / "include").mkdir()
    (tmp_path / "lib").mkdir()
    return tmp_path


def test_every_way_to_write_a_run_time_path_becomes_one(place: Path) -> None:
    """Joined and split, `-Wl` and `-Xlinker` (Intel): the linker hears it once."""
    lib = place / "lib"
    ways = [
        f"-Wl,-rpath,{lib}",
        f"-Wl,-rpath -Wl,{lib}",
        f"-Wl,-rpath={lib}",
        f"-Xlinker -rpath -Xlinker {lib}",
        f"-Wl,--rpath,{lib}",
    ]
    for way in ways:
        assert parse([f"-L{lib}", *way.split(), "-lmpi"]).link == (f"-L{lib}", f"-Wl,-rpath,{lib}", "-lmpi")


def test_bindings_of_other_languages_are_left_out(place: Path) -> None:
    """They need their own compilers' run-time libraries, and nothing here uses them."""
    words = "-lmpifort -lmpi_cxx -lmpichcxx -lmpi_usempif08 -lmpi_mpifh -lmpich -lmpi -lrt"
    assert parse(words.split()).link == ("-lmpich", "-lmpi", "-lrt")


def test_places_that_are_not_there_are_left_out(place: Path) -> None:
    """Intel's wrappers name lib/release, which its Python packages do not have."""
    flags = parse([f"-I{place}/include", f"-I{place}/gone", f"-L{place}/gone", f"-L{place}/lib", "-lmpi"])
    assert flags == Flags((f"{place}/include",), (f"-L{place}/lib", f"-Wl,-rpath,{place}/lib", "-lmpi"))


def test_the_loader_s_own_places_need_no_run_time_path() -> None:
    """A path to /usr/lib in a program would come before those that a user sets."""
    assert parse(["-L/usr/lib", "-lmpi"]).link == ("-L/usr/lib", "-lmpi")


def test_a_library_named_by_its_file_and_separate_words_count(place: Path) -> None:
    """CMake-built libraries name files; some wrappers put a blank after -I."""
    flags = parse(["-I", f"{place}/include", "-L", f"{place}/lib", "/opt/libmpi.so.40", "-pthread", "-O2"])
    assert flags.include == (f"{place}/include",)
    assert flags.link[-2:] == ("/opt/libmpi.so.40", "-pthread")


def test_the_usual_places_serve_where_there_is_no_wrapper(place: Path) -> None:
    """A header and a library are enough; either alone is not."""
    assert fallback(place) is None
    (place / "include" / "mpi.h").touch()
    assert fallback(place) is None
    (place / "lib" / "libmpi.so.12").touch()
    assert fallback(place) == Flags(
        (f"{place}/include",), (f"-L{place}/lib", f"-Wl,-rpath,{place}/lib", "-lmpi")
    )
