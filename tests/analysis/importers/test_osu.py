"""Output of the OSU micro-benchmarks is read to the digit, whatever stands around it, or refused."""

from pathlib import Path
from typing import Any

import pytest

from leadline.analysis import importers
from leadline.core.errors import LeadlineError

DATA = Path(__file__).parent / "data"


def read(*names: str, **given: Any) -> list[dict[str, Any]]:
    """The records of those data files, in order."""
    records, _ = importers.read("osu", {DATA / name: (DATA / name).read_bytes() for name in names}, given)
    return records.to_dicts()


def read_text(text: str) -> list[dict[str, Any]]:
    """The records of a text."""
    return importers.read("osu", {Path("some.out"): text.encode()})[0].to_dicts()


def values(rows: list[dict[str, Any]], benchmark: str, metric: str) -> dict[Any, list[list[float]]]:
    """Samples by size, one list a launch."""
    found: dict[Any, list[list[float]]] = {}
    for row in rows:
        if row["benchmark"] == benchmark and row["metric"] == metric:
            found.setdefault(row["bytes"], []).append(row["samples"])
    return found


def test_latency_is_one_way_in_seconds() -> None:
    """osu_latency asks what pingpong asks: microseconds become seconds, its buffers are reused."""
    rows = read("osu-5.txt")
    assert values(rows, "pingpong", "latency") == {
        0: [[pytest.approx(0.25e-6)]],
        1: [[pytest.approx(0.27e-6)]],
        8: [[pytest.approx(0.28e-6)]],
        1024: [[pytest.approx(0.61e-6)]],
        4194304: [[pytest.approx(1204.5e-6)]],
    }
    first = rows[0]
    assert (first["unit"], first["better"], first["source"]) == ("s", "lower", "imported")
    assert (first["ranks"], first["buffers"], first["status"], first["warmup"]) == (2, "reused", "ok", 0)


def test_bandwidths_are_bytes_a_second() -> None:
    """OSU's MB/s is 1e6 B/s; both directions together in bibandwidth; the default window is noted."""
    records, about = importers.read("osu", {DATA / "osu-5.txt": (DATA / "osu-5.txt").read_bytes()})
    rows = records.to_dicts()
    assert values(rows, "bandwidth", "bandwidth") == {1: [[3.5e6]], 4194304: [[11250.25e6]]}
    assert values(rows, "bibandwidth", "bandwidth") == {1: [[5.25e6]], 4194304: [[13e9]]}
    assert {r["window"] for r in rows if r["benchmark"] in {"bandwidth", "bibandwidth"}} == {64}
    assert "window of bandwidth taken as the suite's default, 64" in about["notes"]


def test_many_pairs_have_bandwidth_and_rate() -> None:
    """osu_mbw_mr with 4 pairs is multistream of 8 ranks; 4096 B x 2e6 messages/s are its 8192 MB/s."""
    rows = read("osu-5.txt")
    assert values(rows, "multistream", "bandwidth") == {1: [[12.5e6]], 4096: [[8192e6]]}
    assert values(rows, "multistream", "message_rate") == {1: [[12.5e6]], 4096: [[2e6]]}
    assert {(r["pairs"], r["ranks"]) for r in rows if r["benchmark"] == "multistream"} == {(4, 8)}


def test_what_has_no_counterpart_keeps_its_name() -> None:
    """Collectives are ours with the suite's cadence; a put whose window is not told stays what it is."""
    rows = read("osu-5.txt")
    assert values(rows, "allreduce", "mean") == {
        4: [[pytest.approx(2.1e-6)]],
        1048576: [[pytest.approx(980e-6)]],
    }
    assert [r["batch"] for r in rows if (r["benchmark"], r["metric"]) == ("allreduce", "mean")] == [1000, 100]
    assert values(rows, "barrier", "mean") == {None: [[pytest.approx(1.5e-6)]]}
    ours = [r for r in rows if r["benchmark"] in {"allreduce", "barrier"}]
    assert {r["cadence"] for r in ours} == {"osu"}
    assert values(rows, "osu_mpi_put_latency", "latency") == {1: [[pytest.approx(0.75e-6)]]}


def test_each_table_of_a_kind_is_a_launch() -> None:
    """Latency stands in two files and twice in one of them: three launches, told apart by their ordinal."""
    rows = read("osu-5.txt", "osu-7.txt")
    assert values(rows, "pingpong", "latency")[8] == [
        [pytest.approx(0.28e-6)],
        [pytest.approx(1.75e-6)],
        [pytest.approx(1.74e-6)],
    ]
    assert [r["launch"] for r in rows if r["benchmark"] == "pingpong" and r["bytes"] == 8] == [0, 1, 2]
    # 4 pairs and 2 pairs are different points, each in its first launch.
    assert {r["launch"] for r in rows if r["benchmark"] == "multistream"} == {0}


def test_a_failed_validation_is_a_failure() -> None:
    """A number that comes with wrong data is not a measurement: the record says so in its place."""
    failed = [row for row in read("osu-7.txt") if row["status"] != "ok"]
    assert [(r["status"], r["bytes"], r["samples"]) for r in failed] == [("failed", 1024, None)]
    assert failed[0]["reason"].endswith("osu-7.txt:8: the suite's own validation of the data failed")


def test_launchers_tags_are_taken_off() -> None:
    """What `mpirun --tag-output` and `srun --label` put before every line; headers of version 3."""
    rows = read("osu-3-tagged.txt")
    assert values(rows, "bibandwidth", "bandwidth") == {
        1: [[pytest.approx(3.1e6)]],
        2: [[pytest.approx(6.2e6)]],
    }
    assert values(rows, "pingpong", "latency") == {0: [[pytest.approx(19.2e-6)]]}


def test_what_the_files_do_not_tell_can_be_given() -> None:
    """The MPI is unknown unless somebody says it; what is said stands in every record."""
    assert {row["mpi"] for row in read("osu-7.txt")} == {"unknown"}
    rows = read("osu-7.txt", mpi="openmpi-4.1.4", placement="nodes", window=16)
    assert {(r["mpi"], r["placement"], r["window"]) for r in rows} == {("openmpi-4.1.4", "nodes", 16)}


def test_provenance_names_files_and_versions() -> None:
    """Files with their checksums, the suite and the versions that their titles name."""
    _, about = importers.read("osu", {DATA / "osu-7.txt": (DATA / "osu-7.txt").read_bytes()})
    assert about["versions"] == ["7.1", "7.4", "7.5.2"]
    assert about["suite"] == "OSU micro-benchmarks"
    assert len(about["files"][0]["sha256"]) == 64


HEAD = "# OSU MPI Latency Test v7.4\n# Size       Avg Latency(us)\n"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "some.out:1: this is no output of the OSU micro-benchmarks; it has a line like"),
        ("#bytes #repetitions t[usec]\n0 1000 0.25\n", "some.out:1: this is no output of the OSU"),
        (HEAD + "1   0.25\n8\n", "some.out:4: this row has 1 of 2 columns; mend or cut the line"),
        (HEAD + "1   0.25  7\n", "some.out:3: this row has 3 of 2 columns"),
        (HEAD + "1   nan\n", "some.out:3: 'nan' stands where a number of a table should"),
        (HEAD + "1   -3.0\n", "some.out:3: '-3.0' stands where a number"),
        (HEAD + "1   0.2x\n", "some.out:3: '0.2x' stands where a number"),
        (HEAD, "some.out: nothing was measured: some.out:1: no row of numbers follows this title"),
        (
            "# OSU MPI Latency Test v9\n# Size   Furlongs\n1  2\n",
            "some.out:2: none of the columns size, furlongs",
        ),
        (
            "# OSU MPI Multiple Bandwidth / Message Rate Test v5\n# [ pairs: 1 ] [ window size: varied ]\n",
            "some.out:2: a table with one window size is read",
        ),
    ],
)
def test_what_cannot_be_read_is_told_with_its_line(text: str, says: str) -> None:
    """Foreign text, rows cut short, what is no number: one sentence."""
    with pytest.raises(LeadlineError) as caught:
        read_text(text)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


SUM = "# OSU MPI Allreduce Latency Test v7.4\n# Datatype: MPI_INT.\n# Size       Avg Latency(us)\n4   {}\n"
GET = "# OSU MPI_Get latency Test v7.4\n# Size       Latency (us)\n4   {}\n"


def two_files(text: str, **given: Any) -> list[dict[str, Any]]:
    """The records of a program's output in two files, of 2.5 and of 9.5 us."""
    texts = {Path(name): text.format(time).encode() for name, time in (("4.out", 2.5), ("64.out", 9.5))}
    return importers.read("osu", texts, given)[0].to_dicts()


def test_files_of_perhaps_other_numbers_of_ranks_are_not_pooled() -> None:
    """An allreduce of 4 and one of 64 ranks became launches of one point, of 6 us; OSU prints neither."""
    with pytest.raises(LeadlineError) as caught:
        two_files(SUM)
    assert str(caught.value) == (
        "4.out:1 and 64.out:1: both are allreduce, and neither says of how many ranks: give --ranks N if "
        "they are of equally many, and import those of other numbers apart"
    )
    rows = two_files(SUM, ranks=4)
    assert [(row["ranks"], row["launch"], row["samples"]) for row in rows] == [
        (4, 0, [pytest.approx(2.5e-6)]),
        (4, 1, [pytest.approx(9.5e-6)]),
    ]
    # Programs that refuse more than two ranks, and those of one file, are as they were.
    assert [row["launch"] for row in two_files(GET)] == [0, 1]
    assert [row["launch"] for row in read_text(SUM.format(2.5) + SUM.format(9.5))] == [0, 1]


def test_bytes_that_are_no_text_are_refused() -> None:
    """A picture given by mistake."""
    with pytest.raises(LeadlineError, match="is no output of the OSU"):
        importers.read("osu", {Path("picture.png"): bytes(range(256)) * 4})


def test_a_program_that_printed_no_row_is_a_failed_point() -> None:
    """One program of several died: the others are read, and its absence is a record."""
    rows = read_text(
        "# OSU MPI Bandwidth Test v7.4\nmpirun: killed\n" + HEAD + "2 nodes are used\n1   0.25\n"
    )
    assert [(r["benchmark"], r["status"]) for r in rows] == [("bandwidth", "failed"), ("pingpong", "ok")]
