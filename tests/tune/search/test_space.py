"""Spaces of settings: the paper's, what a file may say, and what it must not."""

from pathlib import Path

import numpy as np
import pytest

from leadline.core.errors import UsageError
from leadline.tune import search
from leadline.tune.search import Settings, Space

from .test_contract import POINTS, SPACE

NUMBERS = {"ranks": 2048, "targets": 156, "nodes": 86}

# Table 3's numbers of values, multiplied.
SIZES = {
    "lustre": 10 * 8 * 12 * 14,
    "lustre-chunked": 10 * 8 * 25 * 14,
    "gpfs": 12 * 8 * 2 * 2 * 14,
    "gpfs-chunked": 25 * 14,
}

# Table 5: the tuned settings at 2048 cores are points of the spaces. HDF5's chunks are in elements there; a
# chunk of 1 x 26 x 327680 floats is "32 MB", one of 1 x 26 x 1048760 "1 GB" as the paper says.
TUNED = [
    (
        "lustre",
        {
            "striping_factor": 156,
            "striping_unit": 2**25,
            "cb_nodes": 512,
            "cb_buffer_size": 2**25,
            "alignment": "1024,65536",
        },
    ),
    (
        "lustre",
        {
            "striping_factor": 156,
            "striping_unit": 2**25,
            "cb_nodes": 128,
            "cb_buffer_size": 2**25,
            "alignment": "4096,262144",
        },
    ),
    (
        "lustre",
        {
            "striping_factor": 128,
            "striping_unit": 2**23,
            "cb_nodes": 512,
            "cb_buffer_size": 2**23,
            "alignment": "8192,2097152",
        },
    ),
    (
        "gpfs",
        {
            "cb_nodes": 512,
            "cb_buffer_size": 2**27,
            "bglockless": True,
            "IBM_largeblock_io": False,
            "alignment": "8192,1048576",
        },
    ),
    (
        "gpfs",
        {
            "cb_nodes": 128,
            "cb_buffer_size": 2**27,
            "bglockless": True,
            "IBM_largeblock_io": True,
            "alignment": "8192,8388608",
        },
    ),
    (
        "lustre-chunked",
        {
            "striping_factor": 156,
            "striping_unit": 2**25,
            "chunk_size": 104 * 327_680,
            "alignment": "2048,65536",
        },
    ),
    ("gpfs-chunked", {"chunk_size": 104 * 10_485_760, "alignment": "1048576,4194304"}),
]


@pytest.mark.parametrize(("name", "size"), SIZES.items())
def test_the_papers_space_ships(name: str, size: int) -> None:
    """As many points as table 3's numbers of values make."""
    assert set(search.spaces()) >= set(SIZES)
    assert len(search.load(name, NUMBERS).points) == size


@pytest.mark.parametrize(("name", "settings"), TUNED)
def test_the_papers_tuned_settings_are_points(name: str, settings: dict[str, int | str | bool]) -> None:
    """Table 5 can be found."""
    space = search.load(name, NUMBERS)
    assert space.settings(space.index(settings)) == settings


def test_no_more_aggregators_than_ranks() -> None:
    """A limit that is a number of the job: with 128 ranks the two largest of 12 values are out."""
    assert len(search.load("lustre", {"ranks": 128, "nodes": 6, "targets": 156}).points) == 10 * 8 * 10 * 14


@pytest.fixture
def space(tmp_path: Path) -> Space:
    """The small space of the contract."""
    path = tmp_path / "small.toml"
    path.write_text(SPACE)
    return search.load(path, {"targets": 6})


def test_settings_and_indices_are_two_names_of_a_point(space: Space) -> None:
    """There and back for every point; conditions, dependent values and limits hold."""
    assert len(space.points) == len(space.members) == POINTS
    for index in space.members:
        settings = space.settings(index)
        assert space.index(settings) == index
        assert ("chunk" in settings) == ("buffer" in settings) == (settings["layout"] == "chunked")
        if "chunk" in settings:
            assert settings["buffer"] == 2 * int(settings["chunk"])
            assert int(settings["buffer"]) * int(settings["stripes"]) <= 2**26


def test_neighbours_are_points_one_parameter_away(space: Space) -> None:
    """One step of what is ordered, any other word of what is not."""
    near = {
        tuple(space.settings(each).items())
        for each in space.neighbours(space.index({"layout": "contiguous", "stripes": 2, "locks": True}))
    }
    assert (("layout", "contiguous"), ("stripes", 4), ("locks", True)) in near
    assert (("layout", "contiguous"), ("stripes", 2), ("locks", False)) in near
    assert len(near) == 5  # and one stripe, and chunked with the first chunk


def test_coordinates_tell_points_apart(space: Space) -> None:
    """Between 0 and 1, different for different points."""
    at = space.coordinates(space.points)
    assert at.min() == 0
    assert at.max() == 1
    assert len(np.unique(at, axis=0)) == len(at)


WRONG = [
    ("", "1 to 64 tables"),
    ("[[parameter]]\n", "needs the key 'name'"),
    ("[parameter]\n", r"written \[\[parameter\]\]"),
    ("[[parameter]]\nname = 'a'\nkind = 'count'\n", "either the key 'values'"),
    ("[[parameter]]\nname = 'a'\nkind = 'sizes'\nvalues = 1\n", "unknown word 'sizes'"),
    ("[[parameter]]\nname = 'a'\nkind = 'bytes'\nvalues = '1 MIB'\n", "unknown unit"),
    ("[[parameter]]\nname = 'a'\nkind = 'count'\nvalues = [1, 'osts']\n", "the number of 'osts' is unknown"),
    ("[[parameter]]\nname = 'a'\nkind = 'flag'\nvalues = [true, true]\n", "different ones"),
    ("[[parameter]]\nname = 'a'\nkind = 'pair'\nvalues = ['1 KiB']\n", "two sizes"),
    ("[[parameter]]\nname = 'a'\nequals = 'b'\n", "no parameter 'b' before"),
    ("[[parameter]]\nname = 'a'\nkind = 'count'\nvalues = 1\nwhen = { b = 1 }\n", "no parameter 'b'"),
    (
        "[[parameter]]\nname = 'a'\nkind = 'count'\nvalues = 8\n[[limit]]\nproduct = ['a']\nat_most = 4\n",
        "no valid point",
    ),
    ("[[parameter]]\nname = 'a'\nkind = 'count'\nvalues = 8\nvalue = 3\n", "unknown key 'value'"),
    ("[[limit\n", "not TOML"),
]


@pytest.mark.parametrize(("text", "sentence"), WRONG)
def test_what_is_wrong_is_told_in_one_sentence(tmp_path: Path, text: str, sentence: str) -> None:
    """With the file, before anything is run."""
    path = tmp_path / "wrong.toml"
    path.write_text(text)
    with pytest.raises(UsageError, match=sentence) as told:
        search.load(path)
    assert str(path) in str(told.value)
    assert "\n" not in str(told.value)


def test_settings_that_are_no_point_are_refused(space: Space) -> None:
    """A wrong value, a setting that is off, a dependent value that does not follow, an unknown name."""
    right: Settings = {"layout": "contiguous", "stripes": 2, "locks": True}
    for wrong in (
        {"stripes": 3},
        {"chunk": 2**20},
        {"buffer": 1},
        {"stripe": 1},
        {"locks": 1},
    ):
        with pytest.raises(UsageError):
            space.index({**right, **wrong})


def test_unknown_names_get_a_suggestion() -> None:
    """Of a space and of a method."""
    with pytest.raises(UsageError, match="did you mean 'lustre'"):
        search.load("lustr")
    with pytest.raises(UsageError, match="did you mean 'coordinate_search'"):
        search.start("coordinate", search.load("gpfs-chunked"))


def test_the_previous_name_of_a_method_is_read() -> None:
    """`layers` is `coordinate_search`."""
    assert search.question("layers") == search.question("coordinate_search")
