"""Settings as source code: compiled and run against HDF5, the property lists say what was set."""

import importlib.util
import shutil
import subprocess
from pathlib import Path

import h5py
import pytest

from leadline.tune.io.export import source
from leadline.tune.io.settings import Setting

SETTINGS = [
    Setting("hdf5", "alignment", "65536,4096"),
    Setting("hdf5", "alignment", "1,8192", file="*.special"),
    Setting("hdf5", "meta_block_size", "65536"),
    Setting("hdf5", "small_data_block_size", "4096"),
    Setting("hdf5", "sieve_buf_size", "262144"),
    Setting("hdf5", "chunk_cache_bytes", "4194304"),
    Setting("hdf5", "libver_bounds", "v18,latest"),
    Setting("hdf5", "file_space_strategy", "page"),
    Setting("hdf5", "file_space_page_size", "8192"),
    Setting("hdf5", "page_buffer_size", "65536"),
    Setting("hdf5", "chunk", "4,8", dataset="/x"),
    Setting("hdf5", "fill_time", "never"),
    Setting("hdf5", "alloc_time", "early"),
    Setting("hdf5", "coll_metadata_write", "true"),
    Setting("hdf5", "transfer", "collective"),
    Setting("mpi-io", "cb_nodes", "2"),
]
C_PROGRAM = r"""
#include <hdf5.h>
#include <stdio.h>
#include "settings.h"
int main(void) {
    hid_t access = H5Pcreate(H5P_FILE_ACCESS), create = H5Pcreate(H5P_FILE_CREATE);
    hid_t set = H5Pcreate(H5P_DATASET_CREATE);
    if (leadline_file_access(access, "a/b.h5", NULL) < 0 ||
        leadline_file_creation(create, "a/b.h5", NULL) < 0 ||
        leadline_dataset_creation(set, "a/b.h5", "/x") < 0)
        return 1;
    hsize_t threshold, boundary, dims[2], page;
    size_t slots, bytes;
    double w0;
    int none;
    H5D_fill_time_t fill;
    H5Pget_alignment(access, &threshold, &boundary);
    H5Pget_cache(access, &none, &slots, &bytes, &w0);
    H5Pget_file_space_page_size(create, &page);
    H5Pget_fill_time(set, &fill);
    int axes = H5Pget_chunk(set, 2, dims);
    printf("%d %d %d %d %g %d %d %d %d %d\n", (int)threshold, (int)boundary, (int)slots, (int)bytes, w0,
           (int)page, fill == H5D_FILL_TIME_NEVER, axes, (int)dims[0], (int)dims[1]);
    H5Pset_alignment(access, 1, 1);
    leadline_file_access(access, "b.special", NULL);
    H5Pget_alignment(access, &threshold, &boundary);
    printf("%d %d\n", (int)threshold, (int)boundary);
    return 0;
}
"""
FORTRAN_PROGRAM = """
program check
  use hdf5
  use leadline_settings
  implicit none
  integer :: error, axes
  integer(hid_t) :: access, set
  integer(hsize_t) :: threshold, boundary, dims(2)
  call h5open_f(error)
  call h5pcreate_f(H5P_FILE_ACCESS_F, access, error)
  call h5pcreate_f(H5P_DATASET_CREATE_F, set, error)
  call leadline_file_access(access, 'b.h5', '', error)
  call h5pget_alignment_f(access, threshold, boundary, error)
  call leadline_dataset_creation(set, 'b.h5', '/x', error)
  call h5pget_chunk_f(set, 2, dims, axes)
  print '(5(i0,1x))', threshold, boundary, axes, dims
end program
"""
SERIAL = ("-I/usr/include/hdf5/serial", "-L/usr/lib/x86_64-linux-gnu/hdf5/serial")


def run(*command: str | Path, where: Path) -> str:
    """What a command prints; it must end well."""
    done = subprocess.run(list(map(str, command)), cwd=where, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_c_sets_what_the_file_says(tmp_path: Path) -> None:
    """Compiled without warnings; each list has its setting, and a file's own overrides the general one."""
    (tmp_path / "settings.h").write_text(source("c", SETTINGS))
    (tmp_path / "check.c").write_text(C_PROGRAM)
    run(
        "cc",
        "-std=c11",
        "-Wall",
        "-Wextra",
        "-Werror",
        *SERIAL,
        "check.c",
        "-lhdf5",
        "-o",
        "check",
        where=tmp_path,
    )
    assert run("./check", where=tmp_path).splitlines() == [
        "65536 4096 521 4194304 0.75 8192 1 2 4 8",
        "1 8192",
    ]


@pytest.mark.skipif(shutil.which("mpicc.mpich") is None, reason="no MPICH with a compiler here")
def test_hints_of_c_reach_an_info(tmp_path: Path) -> None:
    """With mpi.h before it, the hints are set on an MPI_Info."""
    (tmp_path / "settings.h").write_text(source("c", SETTINGS))
    (tmp_path / "check.c").write_text(
        '#include <mpi.h>\n#include <hdf5.h>\n#include <stdio.h>\n#include "settings.h"\n'
        "int main(void) { MPI_Init(NULL, NULL); MPI_Info info; MPI_Info_create(&info); char value[8];\n"
        'int flag; leadline_hints(info, "f"); MPI_Info_get(info, "cb_nodes", 7, value, &flag);\n'
        'puts(flag ? value : "none");\n'
        "MPI_Finalize(); return 0; }\n"
    )
    run("mpicc.mpich", *SERIAL, "check.c", "-lhdf5", "-o", "check", where=tmp_path)
    assert run("./check", where=tmp_path) == "2\n"


def test_fortran_sets_what_the_file_says(tmp_path: Path) -> None:
    """As C; lengths of a chunk are turned round, since Fortran's first axis is HDF5's last."""
    serial = [
        each
        for each in SETTINGS
        if each.layer == "hdf5" and each.name not in ("coll_metadata_write", "transfer")
    ]
    (tmp_path / "settings.f90").write_text(source("fortran", serial))
    (tmp_path / "check.f90").write_text(FORTRAN_PROGRAM)
    run(
        "gfortran",
        "-ffree-line-length-none",
        *SERIAL,
        "settings.f90",
        "check.f90",
        "-lhdf5_fortran",
        "-lhdf5",
        "-o",
        "check",
        where=tmp_path,
    )
    assert run("./check", where=tmp_path).split() == ["65536", "4096", "2", "8", "4"]


def test_python_sets_what_the_file_says(tmp_path: Path) -> None:
    """By h5py's low-level interface; what it has no call for is named in a comment."""
    text = source("h5py", SETTINGS)
    assert "small_data_block_size" in text
    (tmp_path / "exported.py").write_text(text)
    spec = importlib.util.spec_from_file_location("exported", tmp_path / "exported.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    access = h5py.h5p.create(h5py.h5p.FILE_ACCESS)
    module.file_access(access, "b.h5")
    assert access.get_alignment() == (65536, 4096)
    assert access.get_cache()[1:] == (521, 4194304, 0.75)
    creation = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    module.dataset_creation(creation, "b.h5", "/x")
    assert creation.get_chunk() == (4, 8)
    assert creation.get_fill_time() == h5py.h5d.FILL_TIME_NEVER


def test_quotes_in_values_stay_in_their_literals() -> None:
    """A hint with both kinds of quotes and a backslash is data in every language."""
    setting = Setting("mpi-io", "cb_config_list", "a'b\"c\\d")
    compile(source("h5py", [setting]), "exported", "exec")
    assert "a'b\\\"c\\\\d" in source("c", [setting])
    assert "a''b" in source("fortran", [setting])
