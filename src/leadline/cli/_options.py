"""Options that several commands have, and values that a reader of Leadline parses."""

from collections.abc import Callable
from typing import Any

import click

from leadline.cli._types import MachineFile, Word
from leadline.core.paths import network_tiers

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


class Parsed(click.ParamType):  # type: ignore[type-arg]  # generic only since click 8.2
    """A value that `read` parses, such as "5 %"; its UsageError gets the option's name in front."""

    def __init__(self, read: Callable[[str], object], name: str = "value") -> None:
        """Parsed by `read`, which raises UsageError."""
        self.name = name
        self.read = read

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> object:
        """The parsed value; a default that is none of a person's words is as it is."""
        from leadline.core.errors import UsageError  # noqa: PLC0415

        if not isinstance(value, str):
            return value
        try:
            return self.read(value)
        except UsageError as problem:
            raise UsageError(f"{param.opts[0]}: {problem}" if param else str(problem)) from None


def positive_time(text: str) -> float:
    """A time above 0, in s."""
    from leadline.plan import settings  # noqa: PLC0415

    return settings.positive_time(text)


def where_option(help: str = "Use only points with this value, such as mpi=openmpi or bytes=8.") -> Decorator:
    """The option --where KEY=VALUE, given any number of times: the parameter `where`."""
    more = " Repeat it for other keys; the same key twice means either value."
    return click.option("--where", "-w", multiple=True, metavar="KEY=VALUE", help=help + more)


def network_option(help: str = "Network model.", default: str | None = "auto") -> Decorator:
    """The option --network: the parameter `network`."""
    return click.option(
        "--network",
        type=Word(["auto", *network_tiers()]),
        default=default,
        show_default=default is not None,
        help=f"{help} loggp: no contention for links; flow: messages share links' rates; packet: packet "
        "by packet; auto: the fastest that is accurate for each point.",
    )


def mapping_option() -> Decorator:
    """The option --mapping: the parameter `mapping`."""
    return click.option(
        "--mapping",
        metavar="XYZT|WORD|FILE",
        help="With --on: mapping of ranks to nodes. An order of the axes, the first counting up fastest: "
        "X, Y, Z of the node, T of the core; or blocked, tiled:4x4x2, sockets or random:SEED; or a FILE. "
        "Default: XYZT on a torus or mesh, else TX, node by node.",
    )


def machine_option(help: str, required: bool = False) -> Decorator:
    """The option --on MACHINE: the parameter `machine`, the path of a machine file."""
    return click.option(
        "--on",
        "machine",
        type=MachineFile(),
        required=required,
        metavar="MACHINE",
        help=f"{help} A name from 'leadline list machines' or a TOML file.",
    )


def hosts_option(help: str) -> Decorator:
    """The option --hosts NAMES: the parameter `hosts`, a tuple of names."""
    return click.option("--hosts", type=Parsed(_hosts, "names"), metavar="a,b|node[00-15]|FILE", help=help)


def agent_option(help: str) -> Decorator:
    """The option --agent: the parameter `agent`, a program that starts processes on other hosts."""
    return click.option("--agent", metavar="PROGRAM", help=help)


def _hosts(value: str) -> tuple[str, ...]:
    from leadline.core.hosts import names  # noqa: PLC0415

    return tuple(names(value))
