"""Files that a command writes: never over one of another kind."""

from pathlib import Path

import click


class OutputFile(click.Path):
    """A file to write: a new one, or in place of one of the same kind, which is told by its first bytes."""

    def __init__(self, kind: str, begins: bytes, *, dir_okay: bool = False) -> None:
        super().__init__(dir_okay=dir_okay, path_type=Path)
        self.kind, self.begins = kind, begins

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        """The path; UsageError where a file of another kind is there."""
        from leadline.core.errors import UsageError  # noqa: PLC0415

        path = Path(super().convert(value, param, ctx))  # type: ignore[arg-type]
        if path.is_file() and path.stat().st_size:
            with path.open("rb") as there:
                if not there.read(len(self.begins)).lower().startswith(self.begins):
                    raise UsageError(f"{path} is there already and is no {self.kind}; name another file")
        return path


def program_file() -> OutputFile:
    """The file of a program."""
    return OutputFile("program file", b"leadline-program ")


def page_file() -> OutputFile:
    """A page for a browser, or a directory for it."""
    return OutputFile("page of Leadline's", b"<!doctype html", dir_okay=True)


def parquet_file() -> OutputFile:
    """A Parquet file."""
    return OutputFile("Parquet file", b"par1")
