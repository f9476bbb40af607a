"""Programs in other tools' forms, one form a file, named as on the command line.

Each has `TITLE`, and `lines(program, flops)`, which gives the text line by line.
"""

from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

from leadline.program.model import Program


def names() -> list[str]:
    """The forms that can be written."""
    return sorted(name for _, name, _ in iter_modules(__path__))


def write(form: str, program: Program, path: Path, flops: float = 1e9) -> None:
    """Writes the program in another tool's form.

    `flops`: the operations that a second of computation counts as, for forms that give operations, not time.
    Raises UsageError where the program has what the form has not; nothing is written then.
    """
    partial = path.with_name(f"{path.name}.partial")
    try:
        with partial.open("w") as file:
            for line in import_module(f"leadline.program.exporters.{form}").lines(program, flops):
                file.write(f"{line}\n")
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
