"""Stripes of new files on CephFS, by a library that stands for one: attributes kept in a file beside each."""

from collections.abc import Callable
from pathlib import Path

import pytest

from h5programs import Run, needs, preloaded

# As the metadata server: a whole layout at once, for an empty file, in units of 64 KiB.
CEPHFS = r"""
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>

static const char *layout = "ceph.file.layout",
                  *first = "stripe_unit=4194304 stripe_count=1 object_size=4194304";

static ssize_t get(const char* path, const char* name, char* value, size_t size) {
    char where[4096], text[256] = "";
    if (strcmp(name, layout) != 0 || strstr(path, "f.h5") == NULL) return errno = ENODATA, -1;
    snprintf(where, sizeof where, "%s.layout", path);
    FILE* kept = fopen(where, "r");
    if (kept == NULL || fgets(text, sizeof text, kept) == NULL) strcpy(text, first);
    if (kept != NULL) fclose(kept);
    strcat(text, " pool=data");
    if (strlen(text) > size) return errno = ERANGE, -1;
    memcpy(value, text, strlen(text));
    return (ssize_t)strlen(text);
}
static char* named(int file) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    return realpath(link, NULL);
}
ssize_t getxattr(const char* path, const char* name, void* value, size_t size) {
    char* whole = realpath(path, NULL);
    return whole == NULL ? -1 : get(whole, name, value, size);
}
ssize_t fgetxattr(int file, const char* name, void* value, size_t size) {
    return get(named(file), name, value, size);
}
int fsetxattr(int file, const char* name, const void* value, size_t size, int flags) {
    unsigned long unit = 0, count = 0, object = 0;
    char text[256] = "", where[4096];
    struct stat status;
    memcpy(text, value, size);
    if (strcmp(name, layout) != 0 || flags != 0) return errno = ENOTSUP, -1;
    if (fstat(file, &status) != 0 || status.st_size > 0) return errno = ENOTEMPTY, -1;
    if (sscanf(text, "stripe_unit=%lu stripe_count=%lu object_size=%lu", &unit, &count, &object) != 3 ||
        unit == 0 || unit % 65536 != 0 || object % unit != 0 || count == 0)
        return errno = EINVAL, -1;
    snprintf(where, sizeof where, "%s.layout", named(file));
    FILE* kept = fopen(where, "w");
    fputs(text, kept);
    fclose(kept);
    return 0;
}
"""
FOUR = "[file-system]\nstriping_factor = 4\nstriping_unit = 1048576\n"
LAYOUT = "stripe_unit=1048576 stripe_count=4 object_size=4194304"


def fates(run: Run) -> dict[str, tuple[str, str]]:
    """What became of each setting, and what the file has."""
    return {each["name"]: (each["state"], each["accepted"]) for each in run.lines("setting")}


def test_one_process(library: Path, compiled: Callable[..., Path], tmp_path: Path) -> None:
    """A file of HDF5's has its stripes before the first byte is written; the record tells what it has."""
    run = Run([compiled("serial.c"), "f.h5"], tmp_path / "run", FOUR, library, preloaded(tmp_path, CEPHFS))
    assert run.code == 0
    assert (run.folder / "f.h5.layout").read_text() == LAYOUT
    assert fates(run) == {"striping_factor": ("accepted", "4"), "striping_unit": ("accepted", "1048576")}


def test_what_cephfs_does_not_take(library: Path, compiled: Callable[..., Path], tmp_path: Path) -> None:
    """An odd unit, all targets, and a file that holds something already: the file stays, and it is told."""
    planted, program = preloaded(tmp_path, CEPHFS), compiled("serial.c")
    odd = Run([program, "f.h5"], tmp_path / "odd", "[file-system]\nstriping_unit = 1000\n", library, planted)
    assert fates(odd) == {"striping_unit": ("changed", "4194304")}
    every = "[file-system]\nstriping_factor = -1\nstriping_unit = 65536\n"
    all_ = Run([program, "f.h5"], tmp_path / "all", every, library, planted)
    assert fates(all_) == {"striping_factor": ("changed", "1"), "striping_unit": ("accepted", "65536")}
    none = Run([program, "f.h5"], tmp_path / "none", FOUR, library)
    assert none.lines("setting") == []  # this is no CephFS
    assert odd.told() == all_.told() == none.told()


@pytest.mark.mpi
@pytest.mark.parametrize("flavour", ["openmpi", "mpich"])
def test_ranks(library: Path, compiled: Callable[..., Path], tmp_path: Path, flavour: str) -> None:
    """Of a file of several ranks as well, whichever makes it: HDF5's, and MPI-IO's by itself."""
    needs(f"mpirun.{flavour}")
    planted = preloaded(tmp_path, CEPHFS)
    for name, more in (("parallel.c", ["f.h5"]), ("opens.c", ["./f.h5"])):
        program = compiled(name, flavour)
        command: list[str | Path] = [f"mpirun.{flavour}", "-n", "2", "{env}", program, *more]
        run = Run(command, tmp_path / name, FOUR, library, planted)
        assert run.code == 0, run.err
        assert (run.folder / "f.h5.layout").read_text() == LAYOUT
        assert fates(run) == {"striping_factor": ("accepted", "4"), "striping_unit": ("accepted", "1048576")}
        if name == "parallel.c":
            seen = run.lines("observed")
            assert {(each["stripe_count"], each["stripe_size"]) for each in seen} == {(4, 1048576)}
