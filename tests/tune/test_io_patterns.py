"""Motifs: read from records, distances that can be done by hand, advice from what is known."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from leadline.cli import main
from leadline.core.errors import LeadlineError, UsageError
from leadline.tune.io import patterns as io_patterns
from leadline.tune.io.patterns import AccessPattern

MIB = 2**20
RECORD = [
    {"kind": "library", "process": 1, "rank": 0, "hdf5": "1.10.8", "parallel": True},
    {"kind": "library", "process": 1, "rank": 0, "mpi": "Open MPI 4.1.4"},
    {"kind": "dataset", "process": 1, "rank": 0, "file": "a.h5", "dataset": "/x", "lengths": [8]},
    {"kind": "dataset", "process": 2, "rank": 3, "file": "a.h5", "dataset": "/y", "lengths": [8]},
    {
        **{
            "kind": "observed",
            "process": 1,
            "rank": 0,
            "file": "a.h5",
            "writes": 9,
            "bytes_written": 8 * MIB,
        },
        **{"write_sizes": {"512": 1, "1048576": 8}, "stripe_count": 4, "stripe_size": MIB},
    },
]


def written(directory: Path, lines: list[dict[str, object]]) -> Path:
    """A record of the preloaded library, its last line cut."""
    path = directory / "log.jsonl"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines) + '{"kind":"obs')
    return path


def test_a_record_gives_its_access_pattern(tmp_path: Path) -> None:
    """Four ranks, of which one wrote 8 MiB of two datasets, nearly all in calls of 1 MiB, to a striped
    file."""
    found = io_patterns.read(written(tmp_path, RECORD))
    assert found == AccessPattern(
        4, 2 * MIB, MIB, MIB, True, "lustre", "1.10.8", "Open MPI 4.1.4", 1.0, True, True
    )


def test_a_directory_of_records_is_one(tmp_path: Path) -> None:
    """A file of each process, as where many ranks wrote their own."""
    for number, lines in enumerate((RECORD[:3], RECORD[3:])):
        (tmp_path / str(number)).mkdir()
        written(tmp_path / str(number), lines).rename(tmp_path / f"{number}.jsonl")
    assert io_patterns.read(tmp_path) == AccessPattern(
        4, 2 * MIB, MIB, MIB, True, "lustre", "1.10.8", "Open MPI 4.1.4", 1.0, True, True
    )


def test_distances_are_those_of_hand() -> None:
    """A factor of 16 is 1; another file system is 2; what one does not know counts nothing."""
    one = AccessPattern(16, 1e6, 1e5, 4096.0, True, "lustre")
    assert io_patterns.distance(one, one) == 0
    assert io_patterns.distance(one, replace(one, ranks=256)) == pytest.approx(1)
    assert io_patterns.distance(one, replace(one, ranks=256, file_system="gpfs")) == pytest.approx(5**0.5)
    assert io_patterns.distance(one, replace(one, collective=False)) == 1
    assert io_patterns.distance(one, AccessPattern(16)) == 0


def test_the_papers_settings_are_known(tmp_path: Path) -> None:
    """The pattern of vpic on 2,048 ranks on Lustre gets the paper's settings of vpic, at no distance."""
    first, second, *_ = io_patterns.advise(
        io_patterns.of_kernel("vpic", 2048, "lustre"), tmp_path / "none.sqlite"
    )
    assert first.distance == second.distance == 0
    assert {first.source.split()[0], second.source.split()[0]} == {"vpic"}
    assert first.confidence == pytest.approx(6 / 7)  # nobody told the size of its calls
    assert first.parts["files"] == 0
    assert first.parts["piece"] is None
    far = io_patterns.advise(io_patterns.of_kernel("gcrm", 4, "gpfs"), tmp_path / "none.sqlite")[0]
    assert far.source.startswith("gcrm on intrepid")
    assert far.confidence < 0.3


def test_settings_are_for_programs_that_they_can_reach(tmp_path: Path) -> None:
    """POSIX alone gets none, HDF5 alone none of MPI-IO's; the parts make up the distance."""
    none = tmp_path / "none.sqlite"
    own = AccessPattern(2048, 1e9, piece=MIB, file_system="lustre", files=2048.0)
    assert not io_patterns.advise(replace(own, through_mpi_io=False, through_hdf5=False), none)
    serial = io_patterns.advise(replace(own, through_mpi_io=False, through_hdf5=True), none)
    assert serial
    assert not any(name.startswith("cb_") for each in serial for name in each.settings)
    assert serial[0].parts["files"] == pytest.approx(2.75)  # 2,048 is 16 to the power of 2.75
    assert serial[0].confidence < 0.15
    for each in serial:
        known = [part for part in each.parts.values() if part is not None]
        assert each.distance == pytest.approx(sum(part**2 for part in known) ** 0.5)


def test_what_was_found_is_remembered(tmp_path: Path) -> None:
    """The next that is like it gets it first."""
    path, access_pattern = tmp_path / "new" / "motifs.sqlite", AccessPattern(8, 1e9, 1e8, MIB, True, "lustre")
    io_patterns.remember(access_pattern, {"cb_nodes": 4}, "a run", 2.5, path)
    best = io_patterns.advise(replace(access_pattern, ranks=9), path)[0]
    assert (best.settings, best.source, best.speedup) == ({"cb_nodes": 4}, "a run", 2.5)
    assert best.access_pattern == access_pattern


def test_what_cannot_be_read_is_told(tmp_path: Path) -> None:
    """No log, a program in its place, a record of nothing, a database that is none."""
    program = tmp_path / "a.out"
    program.write_bytes(b"\x7fELF")
    with pytest.raises(UsageError, match="'leadline io run -- PROGRAM'"):
        io_patterns.read(program)
    with pytest.raises(UsageError, match="there is no log of this name"):
        io_patterns.read(tmp_path / "none")
    with pytest.raises(UsageError, match="no writes"):
        io_patterns.read(written(tmp_path, RECORD[:3]))
    with pytest.raises(LeadlineError, match="no database"):
        io_patterns.advise(AccessPattern(1), program)


@pytest.mark.full
def test_a_darshan_log_is_read_by_darshans_package(tmp_path: Path) -> None:
    """Its own example; and a file that is none is refused."""
    darshan = pytest.importorskip("darshan")
    example = sorted(Path(darshan.__file__).parent.glob("examples/**/*write*.darshan"))[0]
    found = io_patterns.read(example)
    assert found.ranks >= 1
    assert found.bytes_a_rank
    wrong = tmp_path / "wrong.darshan"
    whole = example.read_bytes()
    for part in (b"no log", b"", *(whole[: len(whole) * share // 8] for share in range(1, 8))):
        wrong.write_bytes(part)
        try:
            io_patterns.read(wrong)  # what is cut behind the last record may be read
        except UsageError as problem:
            assert "cannot read this log" in str(problem) or "no writes" in str(problem)


def test_the_verb_answers_from_a_log(tmp_path: Path) -> None:
    """The nearest first, as JSON."""
    asked = [
        "io",
        "advise",
        str(written(tmp_path, RECORD)),
        "--database",
        str(tmp_path / "m.sqlite"),
        "--json",
    ]
    told = json.loads(CliRunner().invoke(main, asked, catch_exceptions=False).output)
    assert len(told) == 3
    assert told[0]["distance"] <= told[1]["distance"]
    assert told[0]["settings"]["striping_factor"]
