"""The library that is preloaded: built when it is first wanted."""

from collections.abc import Callable
from pathlib import Path

from leadline.build import build_h5tuner


def library(say: Callable[[str], None]) -> Path:
    """The path of the library; LeadlineError, naming the log, where it cannot be built."""
    say("building the preloaded library")
    return build_h5tuner()
