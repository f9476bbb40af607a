"""Who sends how much to whom: the exchange of a halo, or what a program was seen to send."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leadline.core.errors import UsageError
from leadline.core.grids import even_grid
from leadline.program.model import COLLECTIVES, Kind, Program
from leadline.program.traffic import messages

HALOS = {"halo": 2, "halo3d": 3}  # benchmarks that swap the sides of a grid's parts, and its dimensions
COLUMNS = ("from", "to", "bytes")
NUMBER = 8  # B


@dataclass(frozen=True)
class Traffic:
    """Messages between ranks, at most one from one to another; none of a rank to itself."""

    ranks: int
    source: NDArray[np.int64]
    target: NDArray[np.int64]
    bytes: NDArray[np.float64]
    grid: tuple[int, ...] = ()  # in which the ranks stand, the last dimension fastest; empty where in none

    @classmethod
    def of(
        cls,
        ranks: int,
        source: NDArray[np.int64],
        target: NDArray[np.int64],
        size: NDArray[np.float64],
        grid: tuple[int, ...] = (),
    ) -> "Traffic":
        """Those messages, summed up by pairs."""
        other = (source != target) & (size > 0)
        pair, at = np.unique(source[other] * ranks + target[other], return_inverse=True)
        sums = np.bincount(at, size[other], len(pair)).astype(float)
        return cls(ranks, pair // ranks, pair % ranks, sums, grid)


def halo(ranks: int, dimensions: int, edges: Sequence[int]) -> Traffic:
    """Every rank to its neighbours in a periodic grid, sides of parts with so many numbers an edge."""
    grid = even_grid(ranks, dimensions)
    size = NUMBER * sum(edge ** (dimensions - 1) for edge in edges)
    rank = np.arange(ranks, dtype=np.int64)
    at = np.stack(np.unravel_index(rank, grid))
    targets = []
    for dimension in range(dimensions):
        for step in (-1, 1):
            there = at.copy()
            there[dimension] = (there[dimension] + step) % grid[dimension]
            targets.append(np.ravel_multi_index(tuple(there), grid))
    count = len(targets)
    weights = np.full(count * ranks, float(size))
    return Traffic.of(ranks, np.tile(rank, count), np.concatenate(targets), weights, grid)


def load(path: Path, ranks: int | None = None) -> Traffic:
    """A table of messages with the columns from, to and bytes: .csv, .parquet, arrays in .npz; or a .program.

    `ranks` is how many there are; by default as many as the table names. Raises UsageError, with the row, for
    what is no message between them.
    """
    if path.suffix == ".program":
        from leadline.program.files import read  # noqa: PLC0415  (only for programs)

        program = read(path)
        columns, ranks = _of_program(program), ranks or program.ranks
    else:
        columns = _columns(path)
    if not all(len(columns[name]) for name in COLUMNS):
        raise UsageError(f"{path} has no messages")
    source, target, size = (_numbers(path, name, columns[name]) for name in COLUMNS)
    if not len(source) == len(target) == len(size):
        raise UsageError(
            f"{path}: from, to and bytes are of the same length, but got {len(source)}, "
            f"{len(target)} and {len(size)}"
        )
    there = int(max(source.max(), target.max())) + 1 if ranks is None else ranks
    wrong = np.flatnonzero((source >= there) | (target >= there))
    if len(wrong):
        row = int(wrong[0])
        raise UsageError(
            f"{path}, row {row + 1}: there are ranks 0 to {there - 1}, but got a message from {source[row]} "
            f"to {target[row]}: the table is of another number of ranks"
        )
    traffic = Traffic.of(there, source, target, size.astype(float))
    if len(traffic.source) == 0:
        raise UsageError(f"{path} has no bytes from one rank to another")
    return traffic


def write(traffic: Traffic, path: Path) -> None:
    """Write the messages as the benchmark `traffic` reads them."""
    rows = zip(traffic.source.tolist(), traffic.target.tolist(), traffic.bytes.tolist(), strict=True)
    lines = [",".join(COLUMNS), *(f"{source},{target},{round(size)}" for source, target, size in rows)]
    path.write_text("\n".join(lines) + "\n", encoding="ascii")


def left_out(path: Path) -> str:
    """What else than messages moves data in a program file, in words; nothing of a table."""
    if path.suffix != ".program":
        return ""
    from leadline.program.files import read  # noqa: PLC0415  (only for programs)

    kinds = {kind for kind, _ in read(path).calls}
    others = {
        "collectives": COLLECTIVES - {Kind.BARRIER},
        "one-sided operations": {Kind.PUT, Kind.GET, Kind.ACCUMULATE},
    }
    return " and ".join(name for name, of in others.items() if kinds & of)


def _of_program(program: Program) -> Mapping[str, Any]:
    """What a program's ranks send each other, as such a table."""
    source, target, size, count = messages(program).T
    return dict(zip(COLUMNS, (source, target, size * count), strict=True))


def _columns(path: Path) -> Mapping[str, Any]:
    """The columns of a table; UsageError for a file that is none, or lacks one."""
    import polars as pl  # noqa: PLC0415  (only for tables)

    kinds: dict[str, Callable[[Path], pl.DataFrame]] = {".csv": pl.read_csv, ".parquet": pl.read_parquet}
    if path.suffix not in (*kinds, ".npz"):
        raise UsageError(f"{path}: a table of messages is a .csv, .parquet or .npz file, or a .program")
    try:
        if path.suffix == ".npz":
            with np.load(path, allow_pickle=False) as arrays:
                columns: dict[str, object] = {name: arrays[name] for name in arrays.files}
        else:
            columns = {each.name: each.to_numpy() for each in kinds[path.suffix](path)}
    except (OSError, ValueError, pl.exceptions.PolarsError) as problem:
        raise UsageError(f"cannot read the table {path}: {str(problem).splitlines()[0]}") from None
    if missing := [name for name in COLUMNS if name not in columns]:
        raise UsageError(
            f"{path}: a table of messages has the columns from, to and bytes, but {missing[0]} is missing"
        )
    return columns


def _numbers(path: Path, name: str, values: object) -> NDArray[np.int64]:
    """A column of whole numbers, none below 0."""
    column = np.asarray(values)
    if column.ndim != 1 or not np.issubdtype(column.dtype, np.number):
        raise UsageError(f"{path}: the column {name} is of whole numbers")
    wrong = np.flatnonzero(~(np.isfinite(column) & (column >= 0) & (column == np.floor(column))))
    if len(wrong):
        row = int(wrong[0])
        raise UsageError(f"{path}, row {row + 1}: {name} is a whole number, 0 or more, but got {column[row]}")
    return column.astype(np.int64)


def volume(traffic: Traffic) -> float:
    """All bytes that are sent."""
    return float(traffic.bytes.sum())


def fits(traffic: Traffic) -> bool:
    """Whether the grid of the ranks is all of them."""
    return bool(traffic.grid) and prod(traffic.grid) == traffic.ranks
