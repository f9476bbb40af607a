"""The library that is preloaded: built when it is first wanted; what it understands."""

from collections.abc import Callable
from pathlib import Path

from leadline.build import build_h5tuner
from leadline.errors import UsageError, suggest
from leadline.search import Space
from leadline.tune import h5settings
from leadline.tune.io_files import ENVIRONMENT, TABLES

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


def check(space: Space) -> None:
    """Refuse a space with settings that nothing here could make: UsageError with the nearest word."""
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
