"""Settings files and programs before a run: what is read, converted, refused, and said of a program."""

import os
import shutil
import stat
import subprocess
import tomllib
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner, Result

from leadline.cli import main
from leadline.core.errors import UsageError
from leadline.tune.io import doctor as h5doctor
from leadline.tune.io import settings as h5settings
from leadline.tune.search import SAFETY

# Figure 5 of the paper, with what else the form has.
FIGURE = """<?xml version="1.0" encoding="utf-8"?>
<Parameters>
  <High_Level_IO_Library>
    <alignment> 0, 65536 </alignment>
    <chunk FileName="a&amp;b" VariableName="/x*" override="true">4, 8</chunk>
    <fill_time>never</fill_time>
  </High_Level_IO_Library>
  <Middleware_Layer> <cb_buffer_size>1048576</cb_buffer_size> <cb_nodes>32</cb_nodes> </Middleware_Layer>
  <Parallel_File_System>
    <striping_factor FileName="sample_dataset.h5part">4</striping_factor>
    <striping_factor>16</striping_factor>
    <striping_unit>65536</striping_unit>
  </Parallel_File_System>
</Parameters>
"""


def tune(*words: str | Path) -> Result:
    """What `leadline tune` says."""
    return CliRunner().invoke(main, ["tune", *map(str, words)])


@pytest.fixture
def figure(tmp_path: Path) -> Path:
    """The paper's file."""
    (tmp_path / "figure.xml").write_text(FIGURE)
    return tmp_path / "figure.xml"


def test_check_prints_what_was_read(figure: Path) -> None:
    """Every setting, what must hold of the program, and that the file is good."""
    result = tune("check", figure)
    assert result.exit_code == 0, result.output
    assert "8 settings" in result.output
    assert "fill_time is right only if every element of the dataset is written" in result.output


def test_classes_of_safety_have_one_word_each(tmp_path: Path) -> None:
    """The library says the words of --safety and of the documents; of a vendor's own hint it says none."""
    path = tmp_path / "settings.toml"
    path.write_text('[hdf5]\nchunk = [8]\n[mpi-io]\ncb_nodes = 1\ncray_x = "1"\nromio_no_indep_rw = true\n')
    found = {each.name: each.safety for each in h5settings.read(path)}
    assert found == {"chunk": "layout", "cb_nodes": "hint", "cray_x": "", "romio_no_indep_rw": "semantics"}
    assert {*found.values()} - {""} == set(SAFETY)


def test_forms_are_converted(figure: Path, tmp_path: Path) -> None:
    """XML to TOML to XML says the same; each is of its language, by other readers than ours."""
    first = h5settings.read(figure)
    (tmp_path / "one.toml").write_text(h5settings.toml(first))
    assert tomllib.loads(h5settings.toml(first))["hdf5"]["alignment"] == [0, 65536]
    second = h5settings.read(tmp_path / "one.toml")
    (tmp_path / "two.xml").write_text(h5settings.xml(second))
    assert ElementTree.fromstring(h5settings.xml(second)).tag == "Parameters"
    third = h5settings.read(tmp_path / "two.xml")

    def said(settings: list[h5settings.Setting]) -> set[tuple[str, ...]]:
        return {(s.layer, s.name, s.value, s.file, s.dataset, str(s.override)) for s in settings}

    assert said(first) == said(second) == said(third)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (
            "[hdf5]\nalignmant = [1, 2]\n",
            "line 2: unknown setting 'alignmant' of hdf5; did you mean 'alignment'?",
        ),
        (
            "[mpi-io]\nalignment = [1, 2]\n",
            "line 2: unknown setting 'alignment' of mpi-io; it is one of hdf5",
        ),
        ("[hdf5]\nchunk_cache_slots = 2305843009213693953\n", "chunk_cache_slots must be 1 to 16777216, got"),
        ("[mpi-io]\ncb_nodes = -1\n", "line 2: cb_nodes must be 1 to 2147483647, got -1"),
        ("<Parameters", "does not end with '>'"),
    ],
)
def test_what_is_wrong_is_one_sentence(tmp_path: Path, text: str, why: str) -> None:
    """With its line and the nearest word."""
    (tmp_path / "wrong").write_text(text)
    with pytest.raises(UsageError) as raised:
        h5settings.read(tmp_path / "wrong")
    assert why in str(raised.value)
    assert "\n" not in str(raised.value)
    assert tune("check", tmp_path / "wrong").exit_code == 2
    assert tune("check", tmp_path / "absent").exit_code == 2


def test_every_word_is_described() -> None:
    """The vocabulary has no word twice in a layer, and says what each is."""
    words = h5settings.words()
    assert len({(each.layer, each.name) for each in words}) == len(words)
    assert all(each.meaning for each in words)
    assert set(h5settings.CONDITIONS) <= {each.name for each in words}


def built(folder: Path, *options: str) -> Path:
    """A program that does nothing."""
    if not shutil.which("gcc"):
        pytest.skip("gcc is not installed")
    (folder / "p.c").write_text("int main(void) { return 0; }\n")
    done = subprocess.run(["gcc", folder / "p.c", "-o", folder / "p", *options], check=False)
    if done.returncode != 0:
        pytest.skip(f"gcc {' '.join(options)} does not link here")
    return folder / "p"


def test_the_doctor_on_programs(tmp_path: Path) -> None:
    """Without HDF5, static, set-user-ID, a script, and what is no program."""
    plain = h5doctor.diagnose(str(built(tmp_path)))
    assert (plain.verdict, len(plain.findings)) == (h5doctor.BAD, 1)
    assert "neither HDF5 nor MPI" in plain.findings[0]
    (tmp_path / "p").chmod(0o755 | stat.S_ISUID)
    assert "set-user-ID" in h5doctor.diagnose(str(tmp_path / "p")).findings[0]
    assert "statically" in h5doctor.diagnose(str(built(tmp_path, "-static"))).findings[0]
    (tmp_path / "s").write_text("#!/bin/sh\n")
    assert "shell's script" in h5doctor.diagnose(str(tmp_path / "s")).findings[0]
    (tmp_path / "t").write_text("text")
    assert tune("doctor", tmp_path / "t").exit_code == 1
    assert tune("doctor", tmp_path / "absent").exit_code == 2
    (tmp_path / "d").write_bytes(b"\x7fELF" + os.urandom(200))
    assert tune("doctor", tmp_path / "d").exit_code == 1


def test_the_doctor_on_hdf5s_tools() -> None:
    """A program of HDF5's shared library can be given settings, and its version is told."""
    tool = shutil.which("h5dump")
    if tool is None:
        pytest.skip("h5dump is not installed (setup.sh --test installs it)")
    found = h5doctor.diagnose(tool)
    assert found.verdict == h5doctor.GOOD
    assert "is the shared library" in found.findings[0]
