"""Programs from other tools' files, one form a file, named as on the command line.

Each has `TITLE`, and `read(path, flops)`, which gives the program and notes of what it could not keep.
"""

import gc
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

from leadline.core.errors import LeadlineError
from leadline.program.model import Program


def names() -> list[str]:
    """The forms that can be read."""
    return sorted(name for _, name, _ in iter_modules(__path__) if not name.startswith("_"))


def read(form: str, path: Path, flops: float = 1e9) -> tuple[Program, list[str]]:
    """The program of another tool's file, and what it could not keep, in sentences.

    `flops`: the operations that count as a second of computation, for forms that give operations, not time.
    Raises UsageError, with file and line, where the file is something else, is cut, has messages without
    a partner, or never ends.
    """
    collects = gc.isenabled()
    gc.disable()  # millions of objects, of which none is garbage: it would look at all of them over and over
    try:
        program, notes = import_module(f"leadline.program.importers.{form}").read(path, flops)
    finally:
        if collects:
            gc.enable()
    if not isinstance(program, Program):
        raise LeadlineError(f"{path}: the importer {form} gave no program")
    program.recorded |= {"imported": form, "file": path.name}
    return program, notes
