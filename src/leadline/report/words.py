"""Points and counts as the page tells them."""

from collections.abc import Iterable, Mapping

from leadline.core import units
from leadline.core.formatting import network_text
from leadline.core.record import SIMULATED
from leadline.report.subject import SIZES, UNTOLD


def way(row: Mapping[str, object]) -> str:
    """What carried a point's messages: "over shared memory", or the network model that simulated them."""
    if not row.get("transport"):
        return ""
    if row.get("source") == SIMULATED:
        return f"simulated by {network_text(str(row['transport']))}"
    return f"over {row['transport']}"


def coordinates(row: Mapping[str, object], names: Iterable[str]) -> str:
    """A point by name: "pingpong, mpich-4.0.2, 8 B, buffers reused"; nulls and defaults are left out."""
    words = []
    for name in names:
        value = row.get(name)
        if value is None or value in ("", *UNTOLD):
            continue
        if name in SIZES and isinstance(value, int):
            words.append(units.format_bytes(value))
        elif name in ("benchmark", "mpi"):
            words.append(str(value))
        else:
            words.append(f"{name} {value}")
    return ", ".join(words)
