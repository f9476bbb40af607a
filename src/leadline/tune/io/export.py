"""Settings as source code in C, Fortran and Python, for programs that can be changed.

Each language gets one procedure for each kind of HDF5 property list, and one for the MPI-IO hints. A setting
of some files or datasets is set under a condition on their names. A setting without a call in a language is a
comment. Shell commands and environment variables are in `leadline.tune.io.files`.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from leadline.tune.io.settings import Setting

LISTS = {
    "file_access": "file access list (FAPL), before the file is created or opened",
    "file_creation": "file creation list (FCPL), before the file is created",
    "dataset_creation": "dataset creation list (DCPL), before the dataset is created",
    "transfer": "transfer list (DXPL), for reads and writes",
}
HINTS = "hints"


@dataclass(frozen=True)
class SettingCalls:
    """How one setting is made: its property list, and a call in each language.

    In the calls `{a[0]}` is the setting's first value, `{u[0]}` the same in capitals, as constants have it;
    None where the binding has none. `parallel`: only an HDF5 that is built with MPI has it.
    """

    of: str
    c: str
    fortran: str | None = None
    python: str | None = None
    parallel: bool = False


CALLS = {
    "alignment": SettingCalls(
        "file_access",
        "H5Pset_alignment(list, {a[0]}, {a[1]})",
        "h5pset_alignment_f(list, {a[0]}_hsize_t, {a[1]}_hsize_t, error)",
        "plist.set_alignment({a[0]}, {a[1]})",
    ),
    "meta_block_size": SettingCalls(
        "file_access",
        "H5Pset_meta_block_size(list, {a[0]})",
        "h5pset_meta_block_size_f(list, {a[0]}_hsize_t, error)",
        "plist.set_meta_block_size({a[0]})",
    ),
    "small_data_block_size": SettingCalls(
        "file_access",
        "H5Pset_small_data_block_size(list, {a[0]})",
        "h5pset_small_data_block_size_f(list, {a[0]}_hsize_t, error)",
    ),
    "sieve_buf_size": SettingCalls(
        "file_access",
        "H5Pset_sieve_buf_size(list, {a[0]})",
        "h5pset_sieve_buf_size_f(list, {a[0]}_size_t, error)",
        "plist.set_sieve_buf_size({a[0]})",
    ),
    "chunk_cache": SettingCalls(  # slots, bytes, w0: see _merged
        "file_access",
        "H5Pset_cache(list, 0, {a[0]}, {a[1]}, {a[2]})",
        "h5pset_cache_f(list, 0, {a[0]}_size_t, {a[1]}_size_t, {a[2]}, error)",
        "plist.set_cache(0, {a[0]}, {a[1]}, {a[2]})",
    ),
    "libver_bounds": SettingCalls(
        "file_access",
        "H5Pset_libver_bounds(list, H5F_LIBVER_{u[0]}, H5F_LIBVER_{u[1]})",
        "h5pset_libver_bounds_f(list, H5F_LIBVER_{u[0]}_F, H5F_LIBVER_{u[1]}_F, error)",
        "plist.set_libver_bounds(h5py.h5f.LIBVER_{u[0]}, h5py.h5f.LIBVER_{u[1]})",
    ),
    "coll_metadata_ops": SettingCalls(
        "file_access",
        "H5Pset_all_coll_metadata_ops(list, {a[0]})",
        "h5pset_all_coll_metadata_ops_f(list, .{a[0]}., error)",
        parallel=True,
    ),
    "coll_metadata_write": SettingCalls(
        "file_access",
        "H5Pset_coll_metadata_write(list, {a[0]})",
        "h5pset_coll_metadata_write_f(list, .{a[0]}., error)",
        parallel=True,
    ),
    "page_buffer_size": SettingCalls(
        "file_access",
        "H5Pset_page_buffer_size(list, {a[0]}, 0, 0)",
        None,
        "plist.set_page_buffer_size({a[0]}, 0, 0)",
    ),
    "file_space_strategy": SettingCalls(
        "file_creation",
        "H5Pset_file_space_strategy(list, H5F_FSPACE_STRATEGY_{u[0]}, 0, 1)",
        None,
        "plist.set_file_space_strategy(h5py.h5f.FSPACE_STRATEGY_{u[0]}, False, 1)",
    ),
    "file_space_page_size": SettingCalls(
        "file_creation",
        "H5Pset_file_space_page_size(list, {a[0]})",
        None,
        "plist.set_file_space_page_size({a[0]})",
    ),
    "chunk": SettingCalls(
        "dataset_creation",
        "H5Pset_chunk(list, {n}, (const hsize_t[]){{{all}}})",
        "h5pset_chunk_f(list, {n}, [{back}], error)",
        "plist.set_chunk(({all},))",
    ),
    "fill_time": SettingCalls(
        "dataset_creation",
        "H5Pset_fill_time(list, H5D_FILL_TIME_{u[0]})",
        "h5pset_fill_time_f(list, H5D_FILL_TIME_{u[0]}_F, error)",
        "plist.set_fill_time(h5py.h5d.FILL_TIME_{u[0]})",
    ),
    "alloc_time": SettingCalls(
        "dataset_creation",
        "H5Pset_alloc_time(list, H5D_ALLOC_TIME_{u[0]})",
        "h5pset_alloc_time_f(list, H5D_ALLOC_TIME_{u[0]}_F, error)",
        "plist.set_alloc_time(h5py.h5d.ALLOC_TIME_{u[0]})",
    ),
    "transfer": SettingCalls(
        "transfer",
        "H5Pset_dxpl_mpio(list, H5FD_MPIO_{u[0]})",
        "h5pset_dxpl_mpio_f(list, H5FD_MPIO_{u[0]}_F, error)",
        parallel=True,
    ),
    "collective_opt": SettingCalls(
        "transfer", "H5Pset_dxpl_mpio_collective_opt(list, H5FD_MPIO_{u[0]}_IO)", parallel=True
    ),
}
CACHE = {
    "chunk_cache_slots": "521",
    "chunk_cache_bytes": "1048576",
    "chunk_cache_w0": "0.75",
}  # HDF5's defaults


def _merged(settings: Iterable[Setting]) -> list[Setting]:
    """The settings with the three of the chunk cache as one, which is how HDF5 takes them."""
    kept: list[Setting] = []
    caches: dict[tuple[str, str], dict[str, str]] = {}
    for each in settings:
        if each.name in CACHE:
            where = (each.file, each.dataset)
            caches.setdefault(where, dict(CACHE))[each.name] = each.value
        else:
            kept.append(each)
    return kept + [
        Setting("hdf5", "chunk_cache", ",".join(values.values()), file, dataset)
        for (file, dataset), values in caches.items()
    ]


def _filled(template: str, setting: Setting) -> str:
    """A call with the setting's values."""
    values = [value.strip() for value in setting.value.split(",")]
    kinds = ", ".join(f"{value}_hsize_t" for value in reversed(values))
    return template.format(
        a=values, u=[value.upper() for value in values], n=len(values), all=", ".join(values), back=kinds
    )


@dataclass(frozen=True)
class Language:
    """How a language writes it down.

    `head` and `foot` frame the file, `list_` and `hints` a procedure (opening and closing; `{kind}` and
    `{what}` are a property list's name and use). `call` chooses its template. `statement` writes
    one call under a condition: patterns of file and dataset (empty for all), whether it needs MPI.
    `comment` writes what has no call.
    """

    head: str
    foot: str
    list_: tuple[str, str]
    hints: tuple[str, str]
    hint: str  # a call, of `{name}` and `{value}`
    text: Callable[[str], str]  # as it stands between the quotes of a literal
    call: Callable[[SettingCalls], str | None]
    statement: Callable[[str, str, str, bool], str]
    comment: Callable[[str], str]


def source(language: str, settings: Iterable[Setting]) -> str:
    """The settings as a file of a language: 'c', 'fortran' or 'h5py'."""
    own = LANGUAGES[language]
    # A setting of some files or datasets overrides one for all: what comes last, holds.
    merged = sorted(_merged(settings), key=lambda each: bool(each.file or each.dataset))
    lines = [own.head]
    for kind, what in LISTS.items():
        body = [_statement(own, each) for each in merged if each.layer == "hdf5" and _of(each) == kind]
        if body:
            opening, closing = (text.replace("{kind}", kind).replace("{what}", what) for text in own.list_)
            lines += [opening, *body, closing]
    hints = [
        own.statement(
            own.hint.format(name=own.text(each.name), value=own.text(each.value)), each.file, "", False
        )
        for each in merged
        if each.layer != "hdf5"
    ]
    if hints:
        lines += [own.hints[0], *hints, own.hints[1]]
    return "\n".join([*lines, own.foot]).rstrip("\n") + "\n"


def _of(setting: Setting) -> str:
    """The property list of a setting; a setting without a call is named at the file's."""
    return CALLS[setting.name].of if setting.name in CALLS else "file_access"


def _statement(own: Language, setting: Setting) -> str:
    call = CALLS.get(setting.name)
    template = own.call(call) if call else None
    if call is None or template is None:
        return own.comment(f"{setting.name} = {setting.value}: no call here; the preloaded library sets it")
    return own.statement(_filled(template, setting), setting.file, setting.dataset, call.parallel)


# ------------------------------------------------------------------------------------------ the languages

C_HEAD = """/* Settings of HDF5 and MPI-IO as calls. Include after hdf5.h, and after mpi.h if MPI is used. */
#include <fnmatch.h>
#include <string.h>

/* A dataset's pattern fits its whole path; a file's fits its whole name or the last part of it. */
static inline int leadline_fits_dataset(const char* pattern, const char* path) {
    return path != NULL && fnmatch(pattern, path, 0) == 0;
}
static inline int leadline_fits_file(const char* pattern, const char* name) {
    const char* last = name == NULL ? NULL : strrchr(name, '/');
    return leadline_fits_dataset(pattern, name) || leadline_fits_dataset(pattern, last ? last + 1 : NULL);
}
"""
C_LIST = """/* For the {what}. */
static inline herr_t leadline_{kind}(hid_t list, const char* file, const char* dataset) {
    (void)list, (void)file, (void)dataset;
    herr_t status = 0;"""
C_HINTS = """#ifdef MPI_VERSION
/* MPI-IO hints, for MPI_File_open or H5Pset_fapl_mpio. */
static inline int leadline_hints(MPI_Info info, const char* file) {
    (void)file;
    int status = 0;"""


def _c_statement(call: str, file: str, dataset: str, parallel: bool) -> str:
    tests = [
        f'leadline_fits_{name}("{_escaped(pattern)}", {name})'
        for pattern, name in ((file, "file"), (dataset, "dataset"))
        if pattern
    ]
    condition = f"if ({' && '.join(tests)}) " if tests else ""
    line = f"    {condition}status |= {call};"
    return f"#ifdef H5_HAVE_PARALLEL\n{line}\n#endif" if parallel else line


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


FORTRAN_HEAD = """! Settings of HDF5 and MPI-IO as calls.
module leadline_settings
  use hdf5
  implicit none
contains
"""
FORTRAN_LIST = """  ! For the {what}.
  subroutine leadline_{kind}(list, file, dataset, error)
    integer(hid_t), intent(in) :: list
    character(*), intent(in) :: file, dataset
    integer, intent(out) :: error
    error = 0"""
FORTRAN_HINTS = """  ! MPI-IO hints, for mpi_file_open or h5pset_fapl_mpio_f.
  subroutine leadline_hints(info, file, error)
    integer, intent(in) :: info
    character(*), intent(in) :: file
    integer, intent(out) :: error
    error = 0"""


def _fortran_statement(call: str, file: str, dataset: str, _: bool) -> str:
    tests = []
    for pattern, name in ((file, "file"), (dataset, "dataset")):
        if any(each in pattern for each in "*?["):
            return f"    ! where {name} matches {pattern}: call {call}"
        if pattern:
            tests.append(f"{name} == '{pattern.replace(chr(39), chr(39) * 2)}'")
    condition = f"if ({' .and. '.join(tests)}) " if tests else ""
    return f"    {condition}call {call}"


PYTHON_HEAD = '''"""Settings of HDF5 and MPI-IO as calls of h5py's low-level interface, and of mpi4py."""

from fnmatch import fnmatchcase

import h5py


def fits_file(pattern, name):
    """Whether a file's name, or its last part, fits a shell pattern."""
    return fnmatchcase(name, pattern) or fnmatchcase(name.rpartition("/")[2], pattern)'''
PYTHON_LIST = '''
def {kind}(plist, file="", dataset=""):
    """Set the {what}."""'''
PYTHON_HINTS = '''
def hints(info, file=""):
    """Set MPI-IO hints on an mpi4py.MPI.Info, for h5py.File(..., driver="mpio", info=info)."""'''


def _python_statement(call: str, file: str, dataset: str, _: bool) -> str:
    tests = [
        test
        for test, pattern in (
            (f"fits_file({file!r}, file)", file),
            (f"fnmatchcase(dataset, {dataset!r})", dataset),
        )
        if pattern
    ]
    condition = f"if {' and '.join(tests)}:\n        " if tests else ""
    return f"    {condition}{call}"


LANGUAGES = {
    "c": Language(
        head=C_HEAD,
        foot="",
        list_=(C_LIST, "    return status;\n}\n"),
        hints=(C_HINTS, "    return status;\n}\n#endif\n"),
        hint='MPI_Info_set(info, "{name}", "{value}")',
        text=_escaped,
        call=lambda call: call.c,
        statement=_c_statement,
        comment=lambda text: f"    /* {text} */",
    ),
    "fortran": Language(
        head=FORTRAN_HEAD,
        foot="end module leadline_settings",
        list_=(FORTRAN_LIST, "  end subroutine leadline_{kind}\n"),
        hints=(FORTRAN_HINTS, "  end subroutine leadline_hints\n"),
        hint="mpi_info_set(info, '{name}', '{value}', error)",
        text=lambda text: text.replace("'", "''"),
        call=lambda call: call.fortran,
        statement=_fortran_statement,
        comment=lambda text: f"    ! {text}",
    ),
    "h5py": Language(
        head=PYTHON_HEAD,
        foot="",
        list_=(PYTHON_LIST, ""),
        hints=(PYTHON_HINTS, ""),
        hint='info.Set("{name}", "{value}")',
        text=_escaped,
        call=lambda call: call.python,
        statement=_python_statement,
        comment=lambda text: f"    # {text}",
    ),
}
