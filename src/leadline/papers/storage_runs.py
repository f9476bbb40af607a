"""Runs of kernels on the storage of a described machine, with the settings of papers/io-tuned.csv.

Every kernel and number of ranks is written

- `default`: without settings;
- `tuned`: with the paper's settings at the 2048 ranks for which it gives them, else with the best of the
  space;
- `best`: with the best of the space, which is searched exhaustively;
- `LAYER only`: with the tuned settings of one layer (lustre, gpfs, mpi-io, hdf5), section 5.1.3;
- `buffers`: as tuned, with each size of collective buffers, which on Lustre is that of stripes (figures 9 and
  10).

The records are of the benchmark `io`: bandwidth, and the volume that was written.
"""

from collections.abc import Iterator
from pathlib import Path

from leadline import machine as machines
from leadline.core.record import OK, SIMULATED, Record
from leadline.papers.paper import Experiment
from leadline.run.store import Store
from leadline.tune import storage
from leadline.tune.search import Settings
from leadline.tune.storage import Job
from leadline.tune.storage.published import TUNED_AT, tuned


def run(experiment: Experiment, path: Path) -> None:
    """Write the run of an experiment to `path`, which must not exist yet."""
    described = machines.load(experiment.machine)
    provenance = {
        "simulated": {"machine": described.name, "title": described.title, "file": str(described.path)},
        "sources": dict(described.sources),
        "numbers": {each.key: f"{each.text} ({each.source})" for each in described.numbers()},
    }
    asked = f"# kernels {', '.join(experiment.kernels)} on {', '.join(map(str, experiment.ranks))} ranks\n"
    with Store.create(path, asked, provenance) as store:
        store.append(records(experiment))
        store.finish()


def records(experiment: Experiment) -> list[Record]:
    """The records of an experiment."""
    made = []
    for kernel in experiment.kernels:
        for ranks in experiment.ranks:
            job = storage.job(experiment.machine, kernel, ranks)
            for name, settings, buffer in _asked(job):
                made += _records(job, name, settings, buffer)
    return made


def _asked(job: Job) -> Iterator[tuple[str, Settings, int | None]]:
    """Names, settings, and the size of buffers where that is varied."""
    best = job.optimum[0]
    full = (tuned(job.machine, job.kernel) if job.ranks == TUNED_AT else {}) or best
    yield "default", {}, None
    yield "tuned", full, None
    yield "best", best, None
    layers = {each.name: each.layer for each in job.space.parameters}
    found = dict.fromkeys(layers[name] for name in full)
    if len(found) > 1:
        for layer in found:
            yield f"{layer} only", {name: full[name] for name in full if layers[name] == layer}, None
    size = next((each for each in job.space.axes if each.name in ("striping_unit", "cb_buffer_size")), None)
    for value in size.values if size and "cb_buffer_size" in full else ():
        sizes = {name: value for name in full if name in ("striping_unit", "cb_buffer_size")}
        yield "buffers", {**full, **sizes}, int(value)


def _records(job: Job, name: str, settings: Settings, buffer: int | None) -> list[Record]:
    """Bandwidth and volume of one run."""
    point = {
        **{"source": SIMULATED, "benchmark": "io", "mpi": job.machine, "stack": "storage", "launch": 0},
        **{"protocol": "default", "placement": "default", "ranks": job.ranks, "status": OK, "warmup": 0},
        **{
            "kernel": job.kernel,
            "settings": name,
            "buffer": buffer,
            "collective": int(job.pattern.collective),
        },
        "aggregators": settings.get("cb_nodes"),
    }
    bandwidth = {"metric": "bandwidth", "unit": "B/s", "better": "higher"}
    volume = {"metric": "volume", "unit": "B", "better": "lower"}
    return [
        Record.of({**point, **bandwidth, "samples": [job.volume / job.seconds(settings)]}),
        Record.of({**point, **volume, "samples": [float(job.volume)]}),
    ]
