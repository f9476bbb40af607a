"""Arguments that a shell can complete: runs and plans.

Completion must be quick, so the directories are listed here, and nothing heavy is imported before a value is
used.
"""

from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

RUNS = "runs"


class Word(click.Choice):  # type: ignore[type-arg]
    """One of some words; for an unknown one the nearest is suggested."""

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> object:
        """The word; UsageError for another."""
        from leadline.core.errors import UsageError, suggest  # noqa: PLC0415

        if value in self.choices:
            return value
        near = suggest(str(value), self.choices)
        if isinstance(param, click.Argument) and ctx:
            raise UsageError(f"'{ctx.command_path}' takes no {value!r}{near}")
        raise UsageError(f"{param.opts[0] if param else 'value'} cannot be {value!r}{near}")


class Existing(click.Path):
    """A file, or a directory, to be read; a missing one is told as by those who read it."""

    def __init__(self, *, directory: bool = False) -> None:
        super().__init__(dir_okay=directory, file_okay=not directory, path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The path; UsageError where there is none."""
        from leadline.core.errors import UsageError  # noqa: PLC0415

        try:
            Path(value).stat()
        except OSError as problem:
            raise UsageError(f"cannot read {value}: {problem.strerror}") from None
        return super().convert(value, param, ctx)


class AtLeast(click.IntRange):
    """A whole number from a least one on."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """The number; BadParameter, which says what would do, for anything else."""
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter:
            self.fail(f"this is a whole number, {self.min} or more, but got {value!r}", param, ctx)


class Run(click.ParamType):  # type: ignore[type-arg]  # generic only since click 8.2
    """A run, by path or by its name in runs/; also a .parquet or .jsonl file of records."""

    name = "run"

    def convert(self, value: str | Path, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        """The path of the run; UsageError where there is none."""
        from leadline.run import store  # noqa: PLC0415  (loads polars)

        return value if isinstance(value, Path) else store.find(value)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """The runs in runs/, and files."""
        names = sorted(path.parent.name for path in Path(RUNS).glob("[!.]*/provenance.json"))
        items = [CompletionItem(name) for name in names if name.startswith(incomplete)]
        return items or [CompletionItem(incomplete, type="file")]


class RunOrProgram(Run):
    """A run as `Run` has it, or the file of a program."""

    def convert(self, value: str | Path, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        """The path; UsageError where there is neither."""
        path = Path(value)
        if path.suffix == ".program" and not path.is_dir():
            return path
        return super().convert(value, param, ctx)


class PlanFile(click.ParamType):  # type: ignore[type-arg]
    """A plan, by path or by the name of one that is shipped."""

    name = "plan"

    def convert(self, value: str | Path, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        """The path of the plan; UsageError where there is none."""
        from leadline.plan import files as plan_files  # noqa: PLC0415

        return value if isinstance(value, Path) else plan_files.find(value)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """The shipped plans, and files."""
        from leadline.plan import files as plan_files  # noqa: PLC0415

        items = [
            CompletionItem(name, help=plan_files.about(path)["question"])
            for name, path in plan_files.shipped().items()
            if name.startswith(incomplete)
        ]
        return items or [CompletionItem(incomplete, type="file")]


def newest_run() -> Path:
    """The run that was begun last; UsageError where there is none."""
    from leadline.core.errors import UsageError  # noqa: PLC0415
    from leadline.run import store  # noqa: PLC0415

    if not (found := store.runs()):
        raise UsageError(f"there are no runs in {store.RUNS}/ yet; 'leadline run quick' makes one")
    return found[-1]


class MachineFile(click.ParamType):  # type: ignore[type-arg]
    """A described machine, by path or by the name of one that is shipped."""

    name = "machine"

    def convert(self, value: str | Path, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        """The path of the machine's file; UsageError where there is none."""
        from leadline.machine import find  # noqa: PLC0415

        return value if isinstance(value, Path) else find(value)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """The shipped machines, and files."""
        from leadline.machine import names  # noqa: PLC0415

        items = [CompletionItem(name) for name in names() if name.startswith(incomplete)]
        return items or [CompletionItem(incomplete, type="file")]
