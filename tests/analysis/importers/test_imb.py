"""Output of the Intel MPI Benchmarks, as its programs really print it, is read to the digit."""

from pathlib import Path
from typing import Any

import pytest

from leadline.analysis import importers
from leadline.core.errors import LeadlineError

DATA = Path(__file__).parent / "data"


def read(name: str) -> list[dict[str, Any]]:
    """The records of a data file, in order."""
    return importers.read("imb", {DATA / name: (DATA / name).read_bytes()})[0].to_dicts()


def read_text(text: str) -> list[dict[str, Any]]:
    """The records of a text."""
    return importers.read("imb", {Path("some.out"): text.encode()})[0].to_dicts()


def at(rows: list[dict[str, Any]], benchmark: str, **where: Any) -> dict[str, list[float]]:
    """Samples by metric of the one point that fits."""
    fits = [r for r in rows if r["benchmark"] == benchmark and all(r[k] == v for k, v in where.items())]
    assert len({r["metric"] for r in fits}) == len(fits), fits
    return {r["metric"]: r["samples"] for r in fits}


def test_pingpong_and_bandwidths_are_ours() -> None:
    """PingPong's time is half a round trip; Uniband and Biband of two ranks have a window of 64."""
    rows = read("imb-2021.txt")
    assert at(rows, "pingpong", bytes=4096) == {"latency": [pytest.approx(0.65e-6)]}
    assert at(rows, "bandwidth", bytes=4096) == {"bandwidth": [1258.28e6], "message_rate": [307197]}
    assert at(rows, "bandwidth", bytes=0) == {"message_rate": [1707170]}  # nothing a second is no bandwidth
    assert at(rows, "bibandwidth", bytes=1024)["message_rate"] == [1037966]
    ours = [r for r in rows if r["benchmark"] in {"pingpong", "bandwidth", "bibandwidth"}]
    assert {(r["ranks"], r["batch"], r["window"], r["buffers"]) for r in ours} == {
        (2, 100, None, "reused"),
        (2, 100, 64, None),
    }


def test_others_keep_their_names() -> None:
    """PingPing and other parts keep their names; collectives are ours with the suite's cadence."""
    rows = read("imb-2021.txt") + read("imb-2021-parts.txt")
    assert at(rows, "imb_pingping", bytes=8)["latency"] == [pytest.approx(0.26e-6)]
    assert at(rows, "barrier", ranks=2, cadence="back-to-back")["mean"] == [pytest.approx(0.35e-6)]
    assert at(rows, "allreduce", ranks=4, bytes=8, cadence="imb")["mean"] == [pytest.approx(15.90e-6)]
    assert at(rows, "imb_nbc_ibcast", bytes=8)["latency"] == [pytest.approx(0.88e-6)]  # t_pure
    assert at(rows, "imb_p2p_pingpong", bytes=16)["latency"] == [pytest.approx(3.12e-6)]
    assert at(rows, "imb_rma_unidir_put", bytes=8, mode="aggregate")["latency"] == [pytest.approx(195.45e-6)]


def test_options_are_coordinates() -> None:
    """-window_size and -off_cache in the calling sequence change what was measured; 4 ranks are 2 pairs."""
    rows = read("imb-2021-parts.txt")
    assert at(rows, "bandwidth", bytes=16, window=16) == {
        "bandwidth": [pytest.approx(60.59e6)],
        "message_rate": [3786815],
    }
    assert at(rows, "multistream", bytes=8, pairs=2, window=16, ranks=4)["bandwidth"] == [39.18e6]
    assert at(rows, "pingpong", bytes=8, buffers="rotated")["latency"] == [pytest.approx(3.07e-6)]


def test_groups_at_once_are_not_one_pair_alone() -> None:
    """-multi runs several pairs together: not pingpong, and each group's row has its number."""
    rows = read("imb-2021-parts.txt")
    assert at(rows, "imb_multi_pingpong", bytes=32, groups=2, group=None)["latency"] == [
        pytest.approx(3.91e-6)
    ]
    assert at(rows, "imb_multi_pingpong", bytes=8, group=1)["latency"] == [pytest.approx(4.94e-6)]
    assert {r["ranks"] for r in rows if r["benchmark"] == "imb_multi_pingpong"} == {4}


def test_what_did_not_fit_in_memory_is_a_skipped_point() -> None:
    """The suite's own sentence is the reason."""
    skipped = [r for r in read("imb-2021-parts.txt") if r["status"] == "skipped"]
    assert [(r["benchmark"], r["bytes"]) for r in skipped] == [("allgather", 67108864)]
    assert skipped[0]["reason"].startswith("out-of-mem.; needed X=")


def table(mbytes: str, rate: str) -> str:
    """A Uniband of two ranks with one row of 1 MiB messages."""
    return (
        "#    Intel (R) MPI Benchmark Suite V4.0.0, MPI-1 part\n# Benchmarking Uniband\n# #processes = 2\n"
        f"       #bytes #repetitions   Mbytes/sec      Msg/sec\n      1048576   40  {mbytes}   {rate}\n"
    )


@pytest.mark.parametrize(("mbytes", "mega"), [("1000.00", 2**20), ("1048.58", 10**6)])
def test_the_table_tells_what_an_mbyte_is(mbytes: str, mega: int) -> None:
    """1000 messages of 1 MiB a second are 1000 Mbytes of 2**20 or 1048.58 of 1e6: the same bandwidth."""
    rows = read_text(table(mbytes, "1000"))
    assert at(rows, "bandwidth")["bandwidth"] == [pytest.approx(float(mbytes) * mega)]
    assert at(rows, "bandwidth")["bandwidth"] == [pytest.approx(1000 * 2**20, rel=1e-5)]


HEAD = "# Benchmarking PingPong\n# #processes = 2\n   #bytes #repetitions  t[usec]  Mbytes/sec\n"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("# OSU MPI Latency Test v7.4\n", "some.out:1: this is no output of the Intel MPI Benchmarks"),
        (HEAD + "0 1000 0.25\n", "some.out:4: this row has 3 of 4 columns; mend or cut the line"),
        (HEAD + "0 1000 inf 0.00\n", "some.out:4: 'inf' stands where a number"),
        (HEAD, "nothing was measured: some.out:1: no row of numbers follows this name"),
        (table("5.00", "1000").replace("5.00", "50.00"), "some.out:5: Mbytes and messages a second of this"),
        (HEAD.replace("t[usec]  Mbytes/sec", "parsecs") + "0 1000 1\n", "some.out:4: none of the columns"),
    ],
)
def test_what_cannot_be_read_is_told_with_its_line(text: str, says: str) -> None:
    """Foreign text, rows cut short, what is no number, numbers that contradict each other: one sentence."""
    with pytest.raises(LeadlineError) as caught:
        read_text(text)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def test_words_of_the_launcher_between_rows_are_passed_over() -> None:
    """A warning in the middle of a table is no row."""
    rows = read_text(
        HEAD + "0 1000 0.25 0.00\n[node1] 2 more processes have sent a warning\n8 1000 0.26 30.77\n"
    )
    assert [row["bytes"] for row in rows] == [0, 8]
