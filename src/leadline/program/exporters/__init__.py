"""Programs in other tools' forms, one form a file, named as on the command line.

Each has `TITLE`, and `lines(program, flops, ask, say)`, which gives the text line by line: `ask` knows the
messages of collectives, `say` takes sentences about what is written otherwise than the program has it.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

from leadline.core.errors import UsageError
from leadline.program.messages import Answer, Ask, Question
from leadline.program.model import Program


def names() -> list[str]:
    """The forms that can be written."""
    return sorted(name for _, name, _ in iter_modules(__path__))


def _nobody(program: Program, questions: Sequence[Question]) -> Iterator[Answer]:
    """Knows no algorithm."""
    if questions:
        raise UsageError("the program has collectives, and nobody was named who knows their messages")
    return iter(())


def write(form: str, program: Program, path: Path, flops: float = 1e9, ask: Ask = _nobody) -> list[str]:
    """Writes the program in another tool's form; sentences about what is otherwise there.

    `flops`: the operations that a second of computation counts as, for forms that give operations, not time.
    `ask`: who knows the messages of collectives, for forms that have messages alone
    (`targets.simulated.collectives`). Raises UsageError where the program has what the form has not; nothing
    is written then.
    """
    partial = path.with_name(f"{path.name}.partial")
    said: list[str] = []
    try:
        with partial.open("w") as file:
            exporter = import_module(f"leadline.program.exporters.{form}")
            for line in exporter.lines(program, flops, ask, said.append):
                file.write(f"{line}\n")
        partial.replace(path)
    except OSError as problem:
        raise OSError(problem.errno, problem.strerror, str(path)) from problem
    finally:
        with suppress(OSError):
            partial.unlink(missing_ok=True)
    return said
