"""What a Darshan log tells of writing, printed as JSON: `python -m leadline.tune.io.darshan_log LOG`.

A program of its own, because the library below Darshan's package ends the process by an assertion where a log
is cut. Exits with NO_PACKAGE where the package is not installed, and with 1 and one line for a log that it
cannot read.
"""

import json
import sys
from typing import Any

NO_PACKAGE = 3
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


def seen(path: str) -> dict[str, Any]:
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


def main() -> int:
    """Print what the log of the command line tells; the exit code."""
    try:
        print(json.dumps(seen(sys.argv[1])))
    except ImportError:
        return NO_PACKAGE
    except Exception as problem:  # whatever its package raises, it is about this file
        print(f"{type(problem).__name__}: {problem}".splitlines()[0], file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
