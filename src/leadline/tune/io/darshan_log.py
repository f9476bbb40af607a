"""What a Darshan log tells of writing, read by Darshan's own package in a process of its own.

The library below that package ends its process by an assertion where a log is cut.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from leadline.core.errors import LeadlineError, UsageError

_NO_PACKAGE = 3
_LIMIT = 600.0  # s, for a log of any size
_PROGRAM = f"""
import json, sys
from {__name__} import seen
try:
    sys.stdout.write(json.dumps(seen(sys.argv[1])))
except ImportError:
    sys.exit({_NO_PACKAGE})
"""
# Darshan's bins of write sizes: the counter's end, and the middle of the bin on a logarithmic scale, B.
_BINS = {"0_100": 10, "100_1K": 320, "1K_10K": 3200, "10K_100K": 32_000, "100K_1M": 320_000}
_BINS |= {
    "1M_4M": 2_000_000,
    "4M_10M": 6_300_000,
    "10M_100M": 32_000_000,
    "100M_1G": 320_000_000,
    "1G_PLUS": 2**31,
}
_SYSTEMS = ("lustre", "gpfs")  # mounts whose settings are known


def seen(path: str) -> dict[str, object]:
    """Ranks, bytes written, calls by size, files, layers, and the file system; what the package raises."""
    import darshan  # noqa: PLC0415  (optional, and slow to import)

    report = darshan.DarshanReport(path, read_all=False)
    counters = {}
    for module in ("POSIX", "MPI-IO", "H5F", "H5D"):
        if module in report.modules:
            report.mod_read_all_records(module)
            counters[module] = report.records[module].to_df()["counters"]
    posix, mpi_io, datasets = counters.get("POSIX"), counters.get("MPI-IO"), counters.get("H5D")
    mounted = {str(kind) for _, kind in report.mounts}
    return {
        "ranks": int(report.metadata["job"]["nprocs"]),
        "written": 0.0 if posix is None else float(posix["POSIX_BYTES_WRITTEN"].sum()),
        "files": 0.0 if posix is None else float(posix.loc[posix["POSIX_BYTES_WRITTEN"] > 0, "id"].nunique()),
        "sizes": {size: float(posix[f"POSIX_SIZE_WRITE_{name}"].sum()) * size for name, size in _BINS.items()}
        if posix is not None
        else {},
        "datasets": 0 if datasets is None else len(datasets),
        "collective": None if mpi_io is None else bool(mpi_io["MPIIO_COLL_WRITES"].sum() > 0),
        "mpi_io": mpi_io is not None,
        "hdf5": datasets is not None or "H5F" in counters,
        "file_system": next((each for each in _SYSTEMS if each in mounted), None),
    }


def read(path: Path) -> dict[str, Any]:
    """`seen` of a log. UsageError: it cannot be read; LeadlineError: Darshan's package is missing."""
    command = [sys.executable, "-c", _PROGRAM, str(path)]
    ended = subprocess.run(
        command, capture_output=True, encoding="utf-8", errors="replace", check=False, timeout=_LIMIT
    )
    if ended.returncode == _NO_PACKAGE:
        raise LeadlineError(f"{path}: Darshan's package reads such logs; install it by 'pip install darshan'")
    if ended.returncode:
        why = (ended.stderr.strip().splitlines() or [f"its reader ended with {ended.returncode}"])[-1]
        raise UsageError(f"{path}: Darshan's package cannot read this log, cut or damaged perhaps: {why}")
    found: dict[str, Any] = json.loads(ended.stdout)
    return found
