"""Settings in the forms that take them: the preloaded library's file, and what does without it."""

import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

from leadline.core import toml as core_toml
from leadline.core.errors import UsageError
from leadline.core.grids import even_grid
from leadline.tune.search import Settings, Value

# The tables of the preloaded library's file; what is no layer of the stack is a variable of the environment.
TABLES = {"hdf5": "hdf5", "mpi-io": "mpi-io", "lustre": "file-system", "gpfs": "file-system"}
TABLES["file-system"] = "file-system"
ENVIRONMENT = "environment"
CHUNK = "chunk"
LONGEST = 255  # B of a text in the library's file
CHUNKS = ("slabs", "rows", "blocks", "blocks-reversed")  # how arrays are cut among the ranks


@dataclass(frozen=True)
class Array:
    """An array that the program creates: its path in the file, and its lengths."""

    name: str
    lengths: tuple[int, ...]


def chunk(word: str, lengths: Sequence[int], ranks: int) -> tuple[int, ...] | None:
    """The lengths of a chunk: the part of one of so many ranks, however the word cuts an array.

    'slabs' cuts the first axis, 'rows' the last, 'blocks' all as evenly as can be with the last axis cut
    most, 'blocks-reversed' with the first cut most; '100x50' are lengths as they stand. None where the array
    cannot be cut so: it stays as it is.
    """
    axes = len(lengths)
    if not axes or not all(lengths):
        return None
    if word == "slabs":
        cut = (ranks, *(1,) * (axes - 1))
    elif word == "rows":
        cut = (*(1,) * (axes - 1), ranks)
    elif word in ("blocks", "blocks-reversed"):
        cut = even_grid(ranks, axes)
        cut = cut if word == "blocks" else cut[::-1]
    else:
        try:
            own = tuple(int(each) for each in word.split("x"))
        except ValueError:
            raise UsageError(
                f"chunk is one of {', '.join(CHUNKS)}, or lengths like 100x50, but got {word!r}"
            ) from None
        fits = len(own) == axes and all(0 < one <= all_ for one, all_ in zip(own, lengths, strict=True))
        return own if fits else None
    return tuple(max(1, ceil(length / pieces)) for length, pieces in zip(lengths, cut, strict=True))


def typed(value: Value) -> Value | list[int]:
    """A value as the file has it: pairs are arrays."""
    parts = value.split(",") if isinstance(value, str) else []
    return [int(part) for part in parts] if len(parts) > 1 and all(map(_is_count, parts)) else value


def _is_count(text: str) -> bool:
    return text.strip().isdecimal()


def pattern(name: str) -> str | None:
    """What fits an array's name alone; None where the library's file cannot hold it."""
    # Brackets, stars and backslashes of a name are no pattern's.
    text = "".join(f"[{c}]" if c in "[*?" else "\\\\" if c == "\\" else c for c in name)
    return text if text.isprintable() and len(text.encode()) <= LONGEST else None


def toml(settings: Settings, layers: Mapping[str, str], arrays: Iterable[Array], ranks: int) -> str:
    """The file of the preloaded library for some settings; those of the environment are not in it.

    `layers` has each setting's layer. Raises UsageError for a chunk that means nothing.
    """
    tables: dict[str, Any] = {}
    for name, value in settings.items():
        layer = layers.get(name, "hdf5")
        if layer in TABLES and name != CHUNK:
            tables.setdefault(TABLES[layer], {})[name] = typed(value)
    tables["match"] = []
    for each in dict.fromkeys(arrays) if CHUNK in settings else ():
        lengths = chunk(str(settings[CHUNK]), each.lengths, ranks)
        known = pattern(each.name)
        if lengths and known:
            tables["match"].append({"dataset": known, "hdf5.chunk": lengths})
    return core_toml.dump({name: table for name, table in tables.items() if table})


def environment(settings: Settings, layers: Mapping[str, str]) -> dict[str, str]:
    """The variables among some settings."""
    return {name: str(value) for name, value in settings.items() if layers.get(name) == ENVIRONMENT}


def romio_hints(settings: Settings, layers: Mapping[str, str]) -> str:
    """The file that the variable ROMIO_HINTS names: a hint and its value a line; empty without hints."""
    hints = [
        f"{name} {_hint(value)}"
        for name, value in settings.items()
        if TABLES.get(layers.get(name, "")) in ("mpi-io", "file-system")
    ]
    return "\n".join([*hints, ""]) if hints else ""


def _hint(value: Value) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def openmpi_parameters(settings: Settings) -> dict[str, str]:
    """What of the settings OMPIO, Open MPI's own MPI-IO, has parameters for."""
    known = {
        "cb_nodes": "io_ompio_num_aggregators",
        "cb_buffer_size": "io_ompio_bytes_per_agg",
        "striping_factor": "fs_lustre_stripe_width",
        "striping_unit": "fs_lustre_stripe_size",
    }
    found = {f"OMPI_MCA_{known[name]}": str(value) for name, value in settings.items() if name in known}
    return found


def lustre_line(settings: Settings, directory: str = "OUTPUT_DIRECTORY") -> str | None:
    """The command that stripes a directory so, before the program writes there; None without stripes."""
    words = [
        f"{option} {shlex.quote(str(settings[name]))}"
        for name, option in (("striping_factor", "-c"), ("striping_unit", "-S"))
        if name in settings
    ]
    return f"lfs setstripe {' '.join(words)} {directory}" if words else None


def prolog(settings: Settings, layers: Mapping[str, str], library: str, directory: str) -> str:
    """Lines for a job's script, before it starts the program: with the preloaded library, and without it."""

    def exported(name: str, value: str) -> str:
        return f"export {name}={shlex.quote(value)}"

    lines = [
        "# With the preloaded library: every setting.",
        exported("LEADLINE_H5_SETTINGS", f"{directory}/settings.toml"),
    ]
    lines += [exported(name, value) for name, value in environment(settings, layers).items()]
    lines += [
        f'{exported("LD_PRELOAD", library)}"${{LD_PRELOAD:+:$LD_PRELOAD}}"'
        "  # before the program alone where you can"
    ]
    lines += [
        "",
        "# Without it: what the MPI takes from its environment; HDF5's settings are then the program's own.",
    ]
    if romio_hints(settings, layers):
        lines.append(f"# {exported('ROMIO_HINTS', f'{directory}/romio_hints')}")
    lines += [f"# {exported(name, value)}" for name, value in openmpi_parameters(settings).items()]
    if line := lustre_line(settings):
        lines.append(f"# {line}")
    return "\n".join([*lines, ""])


def shown(settings: Settings) -> str:
    """Settings on one line, for a person."""
    return ", ".join(f"{name} = {_hint(value)}" for name, value in settings.items()) or "nothing set"


def arrays_of(facts: Mapping[str, Any]) -> tuple[Array, ...]:
    """The arrays that the facts of a run tell of."""
    return tuple(Array(name, tuple(lengths)) for name, lengths in facts.get("arrays") or ())
