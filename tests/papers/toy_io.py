"""Records of toy file systems on which the claims on tuning parallel I/O hold: table 4, and simple laws."""

from collections.abc import Iterator
from typing import Any

from leadline.core import record
from leadline.papers.claims.io import VOLUMES
from leadline.tune.storage.published import speedups

Row = dict[str, Any]

SCALES = (128, 2048, 4096)
LAYERS = {"hopper": "lustre", "stampede": "lustre", "intrepid": "gpfs"}


def _record(key: tuple[str, str, int], settings: str, metric: str, value: float, **more: Any) -> Row:
    """One run on a machine, of a kernel, on so many ranks."""
    machine, kernel, ranks = key
    return {
        **{"run": "toy", "source": record.SIMULATED, "mpi": machine, "stack": "storage", "launch": 0},
        **{"protocol": "default", "placement": "default", "ranks": ranks, "status": record.OK, "warmup": 0},
        **{"benchmark": "io", "metric": metric, "unit": "B" if metric == "volume" else "B/s"},
        **{"better": "higher", "samples": [value], "kernel": kernel, "settings": settings, "buffer": None},
        **{"collective": int(kernel != "gcrm"), "aggregators": None, **more},
    }


def _of_a_row(machine: str, kernel: str, ranks: int, default: float, tuned: float) -> Iterator[Row]:
    """Default and tuned as published; on 2048 ranks half of that by one layer, a third by others."""
    yield _record((machine, kernel, ranks), "default", "bandwidth", default)
    yield _record((machine, kernel, ranks), "tuned", "bandwidth", tuned)
    yield _record((machine, kernel, ranks), "best", "bandwidth", tuned, aggregators=512)
    if ranks == 2048:
        for part, layer in zip((2, 3, 3), (LAYERS[machine], "mpi-io", "hdf5"), strict=True):
            yield _record((machine, kernel, ranks), f"{layer} only", "bandwidth", tuned / part)


def io() -> list[Row]:
    """The 22 rows of table 4, defaults that it lacks, volumes, and buffers with one best size."""
    made = [
        each
        for row in speedups()
        for each in _of_a_row(
            *(row["platform"], row["kernel"], int(row["cores"])),
            *(1e6 * float(row["default_MBps"]), 1e6 * float(row["tuned_MBps"])),
        )
    ]
    for kernel in ("vpic", "vorpal"):
        made.append(_record(("stampede", kernel, 4096), "default", "bandwidth", 380e6))
    for (kernel, ranks), within in VOLUMES.items():
        made.append(_record(("hopper", kernel, ranks), "default", "volume", sum(within) / 2))
    for machine, best in (("hopper", 5), ("intrepid", 7)):
        for power in range(8):
            value = 9e9 - 1e8 * abs(power - best)
            size = 2 ** (20 + power)
            made.append(_record((machine, "vpic", 2048), "buffers", "bandwidth", value, buffer=size))
    return made


# Constants of Leadline itself, no machine's; tests/tune/search holds them to the paper.
OURS = {"io.space", "io.ga"}

# Points that are planted wrong, as those of test_claims.py.
PLANTED: list[tuple[str, dict[str, object], float, set[str]]] = [
    ("io", {"metric": "volume", "kernel": "gcrm", "ranks": 2048}, 1.03, {"volume"}),
    (
        "io",
        {"metric": "bandwidth", "settings": "default", "mpi": "stampede", "ranks": 4096},
        0.7,
        {"default.lustre"},
    ),
    ("io", {"settings": "tuned", "metric": "bandwidth"}, 3, {"tuned"}),
    ("io", {"settings": "tuned", "mpi": "stampede"}, 0.8, {"speedup.scale"}),
    ("io", {"settings": "mpi-io only", "mpi": "hopper"}, 1.6, {"partial"}),
    ("io", {"settings": "hdf5 only", "mpi": "intrepid", "kernel": "vpic"}, 3.1, {"partial"}),
    ("io", {"settings": "buffers", "mpi": "hopper", "buffer": 64 << 20}, 1.1, {"vpic.hopper.stripe"}),
    ("io", {"settings": "buffers", "mpi": "intrepid", "buffer": 64 << 20}, 1.1, {"vpic.intrepid.buffer"}),
]
