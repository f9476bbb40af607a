"""Mutated files for every reader: each is read as what it is, or refused in a sentence."""

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path

import polars as pl

from faults import programs
from faults.mutations import Reader
from leadline.analysis import importers
from leadline.batch import job
from leadline.core import journal
from leadline.core.record_files import (
    JOURNAL_HEADER,
    journal_frame,
    journal_lines,
    read_parquet,
    write_parquet,
)
from leadline.machine import rank_mapping
from leadline.machine.description import load as load_machine
from leadline.native.launch import Launch
from leadline.papers.paper import Paper
from leadline.plan.model import Plan
from leadline.run import store
from leadline.tune.collectives import files as collectives
from leadline.tune.io import journal as io_journal
from leadline.tune.io import log as io_log
from leadline.tune.io import patterns as io_patterns
from leadline.tune.io import settings as io_settings
from leadline.tune.mapping import traffic
from leadline.tune.search import _read as spaces
from planted import records, table

ROOT = Path(__file__).parents[2]
DATA = ROOT / "tests" / "analysis" / "importers" / "data"


def _texts(*folders: str) -> Callable[[Path], list[bytes]]:
    def found(_: Path) -> list[bytes]:
        return [path.read_bytes() for folder in folders for path in sorted((ROOT / folder).glob("*.toml"))]

    return found


def _journals(_: Path) -> list[bytes]:
    return [journal.encode([JOURNAL_HEADER, *journal_lines(records([[1.0, 2.0]] * 4, [1, 2]))])]


def _records(place: Path) -> list[bytes]:
    write_parquet(table([[1.0, 2.0]] * 4, [1, 2]), place / "whole.parquet", {"host": "here"}, "time = '1 s'")
    return [(place / "whole.parquet").read_bytes()]


def _rows(found: pl.DataFrame) -> set[str]:
    return set(map(str, found.to_dicts()))


def _output(name: str) -> Callable[[Path], list[bytes]]:
    return lambda _: [path.read_bytes() for path in sorted(DATA.glob(f"{name}*"))]


def _imported(name: str) -> Callable[[Path], object]:
    return lambda path: importers.read(name, {path: path.read_bytes()})


def _answers(_: Path) -> list[bytes]:
    lines = [
        {"event": "launch", "library": "MPI", "ranks": 2, "places": [{"host": "n", "core": 0}]},
        {"event": "begin", "id": 0},
        {"event": "record", "id": 0, "metric": "latency", "samples": [1.0], "warmup": 0, "unit": "s"},
        {"event": "end", "id": 0},
        {"event": "done"},
    ]
    return [b"".join(journal.to_json(line) + b"\n" for line in lines)]


def _heard(path: Path) -> object:
    """What a launch makes of answers."""
    launch = Launch(["true"], {}, {"points": [{"id": 0}]}, path.parent)
    return [event for line in path.read_bytes().split(b"\n") for event in launch._understand(line)]


def _log(_: Path) -> list[bytes]:
    lines: list[dict[str, object]] = [
        {"kind": "library", "process": 1, "rank": 0, "hdf5": "1.10.8", "parallel": True},
        {"kind": "library", "process": 1, "rank": 0, "ranks": 4, "mpi": "Open MPI 4.1.4"},
        {"kind": "setting", "process": 1, "rank": 0, "name": "cb_nodes", "state": "accepted"},
        {"kind": "dataset", "process": 1, "rank": 0, "file": "a.h5", "dataset": "/x", "lengths": [8, 9]},
        {
            **{"kind": "observed", "process": 1, "rank": 0, "file": "a.h5", "writes": 9},
            **{"bytes_written": 8 << 20, "write_sizes": {"512": 1, "1048576": 8}, "stripe_count": 4},
        },
        {"kind": "message", "process": 1, "text": "settings.toml: no key 'cb'; nothing is set"},
    ]
    return [b"".join(journal.to_json(line) + b"\n" for line in lines)]


def _logged(path: Path) -> object:
    """All that is asked of the preloaded library's log."""
    if (seen := io_log.read(path)) is None:
        return None
    return seen.facts({"cb_nodes": 4}), seen.facts({}), seen.missing, seen.refused, io_patterns.read(path)


_SETTINGS = b"""[hdf5]
alignment = [0, 65536]
[mpi-io]
cb_nodes = 32
[file-system]
striping_unit = 65536
[[match]]
file = "sample*.h5"
dataset = "/x"
hdf5.chunk = [4, 4]
"""


def _xml(place: Path) -> list[bytes]:
    (place / "settings.toml").write_bytes(_SETTINGS)
    return [io_settings.xml(io_settings.read(place / "settings.toml")).encode()]


def _tunings(place: Path) -> list[bytes]:
    line = {"phase": "baseline", "label": "default", "turn": 0, "settings": {}, "seconds": 1.0, "wall": 1.0}
    with io_journal.Journal.create(place / "tuning", {"command": ["x"], "title": "x"}) as written:
        for turn in range(4):
            written.append({**line, "turn": turn})
    return [(place / "tuning" / io_journal.NAME).read_bytes()]


def _tuned(path: Path) -> object:
    from leadline.tune.io import results  # noqa: PLC0415

    directory = path.parent / "mutated"
    directory.mkdir(exist_ok=True)
    (directory / io_journal.NAME).write_bytes(path.read_bytes())
    return results.load(directory)


def _darshan(_: Path) -> list[bytes]:
    """The examples of Darshan's package that are small; none where it is not installed."""
    if (found := find_spec("darshan")) is None or found.origin is None:
        return []
    logs = sorted(Path(found.origin).parent.glob("examples/**/*.darshan"))
    return [path.read_bytes() for path in logs if path.stat().st_size < 1 << 16]


def _provenance(path: Path) -> object:
    directory = path.parent / "run"
    directory.mkdir(exist_ok=True)
    (directory / store.PROVENANCE).write_bytes(path.read_bytes())
    return store.provenance(directory)


def _provenances(_: Path) -> list[bytes]:
    return [
        json.dumps({"leadline": "1.0", "host": {"name": "n", "cores": 2}, "plan": "p"}, indent=1).encode()
    ]


def _jobs(_: Path) -> list[bytes]:
    return [json.dumps(asdict(job.BatchJob("run-1", "slurm", ["run", "x"], ["run"], None, "here"))).encode()]


def _algorithms(path: Path) -> object:
    directory = path.parent / "algorithms"
    directory.mkdir(exist_ok=True)
    (directory / "openmpi.sh").write_bytes(path.read_bytes())
    return collectives.read(directory)


_CHOSEN = (  # what `leadline tune collectives` writes
    b"# operations: allreduce, bcast\nexport OMPI_MCA_coll_tuned_use_dynamic_rules=1\nexport A='b c'\n"
)


_PLACE = rank_mapping.Place((2, 2, 2, 2), "a torus")
_SEATS = "".join(f"{i & 1} {i >> 1 & 1} {i >> 2 & 1} {i >> 3}\n" for i in range(16)).encode()

READERS: Mapping[str, Reader] = {
    reader.name: reader
    for reader in (
        Reader("plans", ".toml", _texts("plans"), Plan.load),
        Reader("machines", ".toml", _texts("machines"), load_machine),
        Reader("spaces", ".toml", _texts("spaces"), spaces.load),
        Reader("journals", ".jsonl", _journals, journal_frame, _rows),
        Reader("records", ".parquet", _records, read_parquet, _rows),
        Reader("answers", ".jsonl", _answers, _heard),
        Reader("osu", ".txt", _output("osu"), _imported("osu")),
        Reader("imb", ".txt", _output("imb"), _imported("imb")),
        Reader("preload-log", ".jsonl", _log, _logged),
        Reader("papers", ".toml", _texts("papers"), Paper.load),
        Reader("settings", ".toml", lambda _: [_SETTINGS], io_settings.read),
        Reader("settings-xml", ".xml", _xml, io_settings.read),
        Reader("mappings", ".map", lambda _: [_SEATS], lambda path: rank_mapping.read(path, _PLACE, 16)),
        Reader("traffic", ".csv", lambda _: [b"from,to,bytes\n0,1,8\n1,0,64\n2,3,1e6\n"], traffic.load),
        Reader("tunings", ".jsonl", _tunings, _tuned),
        *programs.READERS,
        Reader("provenance", ".json", _provenances, _provenance),
        Reader("jobs", ".json", _jobs, job.read),
        Reader("algorithms", ".sh", lambda _: [_CHOSEN], _algorithms),
        Reader("darshan", ".darshan", _darshan, io_patterns.read, slow=True),
    )
}
