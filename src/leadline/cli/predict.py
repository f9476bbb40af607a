"""The verb that predicts an application on a machine from its model."""

from typing import TYPE_CHECKING, Any

import click

from leadline.cli import summary
from leadline.cli._table import json_option, print_table

if TYPE_CHECKING:
    from leadline.predict import Option, Predictor


class Predicted(click.Group):
    """A group whose commands are made of the files of `leadline.predict`, imported when they are used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """What can be predicted."""
        from leadline import predict  # noqa: PLC0415  (only when the verb is used)

        return predict.names()

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of one of them."""
        from leadline import predict  # noqa: PLC0415

        return _command(predict.find(cmd_name)) if cmd_name in predict.names() else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that the arguments begin with; an unknown one is refused with the nearest."""
        if args and not args[0].startswith("-") and args[0] not in self.list_commands(ctx):
            from leadline import predict  # noqa: PLC0415

            predict.find(args[0])
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Each with its line of help, read from the files without importing them."""
        from leadline import predict  # noqa: PLC0415

        with formatter.section("What can be predicted"):
            formatter.write_dl([(name, summary(predict.path(name))) for name in predict.names()])


def _command(model: "Predictor") -> click.Command:
    """The command of a model: its options, and a table or JSON of what it gives."""

    def run(*, as_json: bool, **asked: Any) -> None:
        prediction = model.predict(asked)
        print_table(prediction.rows, prediction.columns, as_json)
        if not as_json:
            for note in prediction.notes:
                click.echo(note)

    command = click.Command(model.name, callback=run, help=model.about)
    command.params = [_option(each) for each in model.options]
    return json_option(command)


def _option(option: "Option") -> click.Option:
    """An option as click has it; what is wrong with its value is told with its name."""
    if option.read is None:
        return click.Option([f"--{option.name}"], is_flag=True, help=option.help)
    kind: Any = click.Choice(option.words) if option.words else _Read(option)
    return click.Option(
        [f"--{option.name}"],
        type=kind,
        help=option.help,
        default=option.default,
        required=option.needed,
        show_default=option.default is not None,
        metavar=option.metavar or None,
    )


class _Read(click.ParamType):  # type: ignore[type-arg]  # generic only since click 8.2
    """A value as the model's option reads it."""

    def __init__(self, option: "Option") -> None:
        self.name = option.metavar or option.name
        self.option = option

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The value read; a usage error in one sentence where it cannot be."""
        from leadline.core.errors import UsageError  # noqa: PLC0415

        if not isinstance(value, str) or self.option.read is None:
            return value
        try:
            return self.option.read(value)
        except UsageError as problem:
            raise UsageError(f"--{self.option.name}: {problem}") from None


@click.group(cls=Predicted)
def command() -> None:
    """Predict how fast an application runs on a machine, from its model.

    'leadline predict NAME --help' has what can be asked of each; docs/applications.md what the models leave
    out.
    """
