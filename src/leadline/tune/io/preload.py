"""The library that is preloaded: built when it is first wanted; what it understands."""

import os
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from leadline.core.errors import UsageError, suggest
from leadline.native.build import build_h5tuner
from leadline.tune.io import files as io_files
from leadline.tune.io import settings as h5settings
from leadline.tune.io.evaluator import DEFAULT
from leadline.tune.io.files import CHUNK, ENVIRONMENT, TABLES
from leadline.tune.search import Parameter, Space

VENDORS = (
    "cray_",
    "mpich_",
    "IBM_",
    "bgl_",
    "panfs_",
    "pvfs2_",
    "nfs_",
    "intel_",
    "e10_",
)  # passed on as they are


def library(say: Callable[[str], None]) -> Path:
    """The path of the library; LeadlineError, naming the log, where it cannot be built."""
    say("building the preloaded library")
    return build_h5tuner()


def environment(library: Path, settings: Path | None, log: Path) -> dict[str, str]:
    """What has the library stand before a program: its own variables, and LD_PRELOAD before what is there."""
    before = os.environ.get("LD_PRELOAD", "")
    found = {
        "LD_PRELOAD": f"{library}:{before}" if before else str(library),
        "LEADLINE_H5_LOG": str(log),
    }
    return found | ({"LEADLINE_H5_SETTINGS": str(settings)} if settings else {})


def check(space: Space) -> None:
    """Refuse a space with settings that nothing here could make: UsageError with the nearest word.

    Every value is read as the library reads it: with one that it refuses it would set nothing at all.
    """
    known = {each.name for each in h5settings.words()}
    for each in space.parameters:
        if each.layer == ENVIRONMENT:
            continue
        if each.layer not in TABLES:
            layers = [*dict.fromkeys(TABLES), ENVIRONMENT]
            raise UsageError(
                f"{each.name} of space {space.name} is of layer {each.layer!r}{suggest(each.layer, layers)}"
            )
        if each.name not in known and not each.name.startswith(VENDORS):
            raise UsageError(
                f"{each.name!r} of space {space.name} is no setting that is known{suggest(each.name, known)}"
            )
        if each.name == CHUNK and TABLES[each.layer] != "hdf5":
            raise UsageError(f"{CHUNK} of space {space.name} is of layer hdf5, but got {each.layer!r}")
    with TemporaryDirectory() as place:
        for each in space.parameters:
            if each.layer != ENVIRONMENT:
                _check_values(each, space, Path(place) / "settings.toml")


def _check_values(each: Parameter, space: Space, path: Path) -> None:
    """UsageError for a value that the library refuses."""
    source = next((one for one in space.parameters if one.name == each.equals), each)
    for value in source.values:
        if value == DEFAULT:
            continue
        taken = value * each.times if each.equals and isinstance(value, int) else value
        try:
            if each.name == CHUNK:
                io_files.chunk(str(taken), (1,), 1)
            text = io_files.toml({each.name: taken}, {each.name: each.layer}, (), 1)
            path.write_text(text, encoding="utf-8")
            h5settings.read(path)
        except UsageError as problem:
            why = str(problem).removeprefix(f"{path}: ")
            raise UsageError(f"{each.name} of space {space.name} is never {taken!r}: {why}") from None
