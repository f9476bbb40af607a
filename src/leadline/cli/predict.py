"""`leadline predict`: predicts an application on a machine from its model."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import click

from leadline.cli._group import LazyGroup, summary
from leadline.cli._options import Parsed
from leadline.cli._table import json_option, print_table, tell
from leadline.cli._types import Word
from leadline.cli._working import working

if TYPE_CHECKING:
    import polars as pl

    from leadline.machine import Machine
    from leadline.predict import Option, Predictor


class Models(LazyGroup):
    """A group with a command for each model of `leadline.predict`."""

    def names(self) -> list[str]:
        """The applications that have a model."""
        from leadline import predict  # noqa: PLC0415  (only when the command is used)

        return predict.names()

    def load(self, name: str) -> click.Command:
        """The command of one of them."""
        from leadline import predict  # noqa: PLC0415

        return _command(predict.find(name))

    def line(self, name: str) -> str:
        """Its line of help."""
        from leadline import predict  # noqa: PLC0415

        return summary(predict.path(name))


def _command(model: "Predictor") -> click.Command:
    """The command of a model: its options, and a table or JSON of its prediction."""

    def run(*, as_json: bool, **values: object) -> None:
        from leadline.core.formatting import texts  # noqa: PLC0415

        if values.get("from") is not None:
            _check_alone(click.get_current_context(), values)
        prediction = model.predict(values, _simulate)
        if as_json:
            print_table(prediction.rows, {}, as_json=True)
            return
        headings = {key: column.heading for key, column in prediction.columns.items()}
        print_table(texts(prediction.rows, prediction.columns), headings)
        for note in prediction.notes:
            tell(note)

    command = click.Command(model.name, callback=run, help=model.about)
    command.params = [_option(each) for each in model.options]
    return json_option(command)


def _check_alone(context: click.Context, values: Mapping[str, object]) -> None:
    """UsageError for what --from would ignore: a run has its own machine, ranks and sizes."""
    from leadline.core.errors import UsageError  # noqa: PLC0415

    source = click.core.ParameterSource.COMMANDLINE
    given = [name for name in values if name != "from" and context.get_parameter_source(name) == source]
    if given:
        words = " and ".join(f"--{name.replace('_', '-')}" for name in given)
        raise UsageError(f"--from takes everything from the run: leave out {words}")


def _simulate(machine: "Machine", measures: Sequence[Mapping[str, object]]) -> "pl.DataFrame":
    """The records of measurements on a described machine."""
    from leadline.plan.model import Plan  # noqa: PLC0415
    from leadline.run import session  # noqa: PLC0415
    from leadline.targets.simulated.machine import SimulatedMachine  # noqa: PLC0415

    with working(f"simulating {machine.name}") as say:
        return session.simulate(
            Plan.of(*measures),
            SimulatedMachine.of(machine),
            show=lambda progress: say(f"simulating {machine.name}: {progress.told()}"),
        )


def _option(option: "Option") -> click.Option:
    """A model's option as an option of click."""
    if option.read is None:
        return click.Option([f"--{option.name}"], is_flag=True, help=option.help)
    kind: object = Word(option.words) if option.words else Parsed(option.read)
    return click.Option(
        [f"--{option.name}"],
        type=kind,
        help=option.help,
        default=option.default,
        required=option.needed,
        show_default=option.default is not None,
        metavar=option.metavar or None,
    )


@click.group(cls=Models)
def command() -> None:
    """Predict how fast an application runs on a machine, from a model.

    'leadline predict NAME --help' lists the options of a model; docs/applications.md says what each model
    leaves out.
    """
