"""Forms of other suites' output that must not be mistaken for one another, or for a measurement.

The lines are those that the programs' sources print (OSU 5 to 7: util/osu_util_mpi.c and each program).
"""

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from leadline.analysis.importers import read
from leadline.core.errors import LeadlineError

PUT = """# OSU MPI_Put Latency Test v7.4
# Window creation: {window}
# Synchronization: {how}
# Size          Latency (us)
1                       {time}
"""
TYPES = """# OSU MPI Allreduce Latency Test v7.4
# Datatype: MPI_CHAR.
# Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations
4                       1.00              0.90              1.10        1000
# Datatype: MPI_INT.
# Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations
4                       2.00              1.90              2.10        1000
"""
LATENCY = "# OSU MPI Latency Test v7.4\n# Size          Latency (us)\n8                       {}\n"


def imported(text: str, suite: str = "osu", **given: Any) -> tuple[pl.DataFrame, dict[str, Any]]:
    """The records of a text, and their provenance."""
    return read(suite, {Path("out.txt"): text.encode()}, given)


def test_windows_and_synchronisation_are_part_of_the_point() -> None:
    """Fence and flush, allocate and create: four points, each of one launch."""
    text = "".join(
        PUT.format(window=window, how=how, time=time)
        for window, how, time in (
            ("MPI_Win_allocate", "MPI_Win_flush", 0.6),
            ("MPI_Win_allocate", "MPI_Win_fence", 1.2),
            ("MPI_Win_create", "MPI_Win_flush", 0.7),
        )
    )
    found, _ = imported(text)
    assert found.height == 3
    assert found["launch"].to_list() == [0, 0, 0]
    assert found.select("window_creation", "synchronization").unique().height == 3


def test_data_types_are_part_of_the_point() -> None:
    """One title has a table for each type, whose line stands before or after the columns."""
    found, about = imported(TYPES)
    assert dict(found.filter(metric="mean").select("type", pl.col("samples").list.first()).iter_rows()) == {
        "mpi_char": pytest.approx(1e-6),  # what programs from version 7 on reduce by default, and say
        "int32": pytest.approx(2e-6),
    }
    assert set(found["launch"]) == {0}
    assert "minlatency(us)" in about["notes"][0]


def test_buffers_of_devices_are_part_of_the_point() -> None:
    """Where memory is, is told in words."""
    there = "# Send Buffer on {} (D) and Receive Buffer on HOST (H)\n# Size"
    text = "".join(
        LATENCY.format(1.0).replace("# Size", there.format(place)) for place in ("DEVICE", "MANAGED")
    )
    found, _ = imported(text)
    assert found["form"].n_unique() == 2
    assert found["launch"].to_list() == [0, 0]


@pytest.mark.parametrize(
    "text",
    [
        LATENCY.format("1.0")
        .replace("# Size          Latency (us)", "# Size  Latency (us)  Validation")
        .replace("1.0", "1.0  Fail")
        + "16  2.0  Pass\n",
        LATENCY.format("1.0")
        + "DATA VALIDATION ERROR: osu_latency exited with status 1 on message size 8.\n16  2.0\n",
    ],
)
def test_failed_validation_is_no_measurement(text: str) -> None:
    """The size is failed, the others are measured."""
    found, _ = imported(text)
    assert dict(found.select("bytes", "status").iter_rows()) == {8: "failed", 16: "ok"}


@pytest.mark.parametrize(
    "text",
    [
        "# Size          Latency (us)\n8  1.0\n" + LATENCY.format("2.0"),
        LATENCY.format("2.0") + "# Size          Latency (us)\n16  1.0\n",
        LATENCY.format("2.0") + "8  1.0\n",
        LATENCY.format("1_0.0"),
        LATENCY.format("٣"),
        LATENCY.format("1.0").replace("\n8 ", "\n8.5 "),
        LATENCY.format("-1.0"),
        LATENCY.format("nan"),
    ],
)
def test_what_is_not_certain_is_refused_with_its_line(text: str) -> None:
    """A table without a title, a size twice, numbers that are none or are rounded."""
    with pytest.raises(LeadlineError, match=r"out\.txt:\d"):
        imported(text)


def test_what_is_stated_is_not_taken_for_granted() -> None:
    """The window of osu_bw is not printed: a note says what was assumed, unless it was given."""
    text = "# OSU MPI Bandwidth Test v7.4\n# Size      Bandwidth (MB/s)\n8  1.0\n"
    found, about = imported(text)
    assert found["window"].to_list() == [64]
    assert "window" in about["notes"][0]
    found, about = imported(text, window=32)
    assert found["window"].to_list() == [32]
    assert about["notes"] == []


IMB = """#    Intel(R) MPI Benchmarks 2021.11, MPI-1 part
# MPI_Datatype                   :   MPI_BYTE
# MPI_Datatype for reductions    :   {type}
# MPI_Op                         :   {operation}
# Benchmarking Allreduce
# #processes = 2
       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]      defects
            8          100         1.00         3.00         2.00      {defects}
"""


def test_imb_reductions_of_other_types_are_other_points() -> None:
    """Two runs in one text, of floats and of doubles."""
    text = "".join(
        IMB.format(type=kind, operation="MPI_SUM", defects="0.00") for kind in ("MPI_FLOAT", "MPI_DOUBLE")
    )
    found, about = imported(text, "imb")
    assert found.filter(metric="mean")["type"].to_list() == ["float", "double"]
    assert set(found["launch"]) == {0}
    assert about["notes"][0].endswith("not read: t_min[usec]")


def test_imb_defects_are_no_measurement() -> None:
    """A check that failed."""
    text = IMB.format(type="MPI_FLOAT", operation="MPI_SUM", defects="0.00").replace(
        "0.00\n", "0.00\n           16          100         1.00         3.00         2.00      1.00\n"
    )
    found, _ = imported(text, "imb")
    assert dict(found.select("bytes", "status").iter_rows()) == {8: "ok", 16: "failed"}


@pytest.mark.parametrize("version", ["2019 Update 6", "2017 update 2", "2021.3"])
def test_the_heading_of_a_run_may_name_an_update(version: str) -> None:
    """Its own options and part belong to it, whatever was said by the run before in the same text."""
    run = (
        "#    Intel(R) MPI Benchmarks {version}, {part} part\n# {command}\n"
        "#---\n# Benchmarking PingPong\n# #processes = 2\n"
        "#---\n       #bytes #repetitions      t[usec]   Mbytes/sec\n        8   1000   1.00   8.00\n"
    )
    text = run.format(version=version, part="MPI-1", command="IMB-MPI1 PingPong")
    text += run.format(version=version, part="IMB-P2P", command="IMB-P2P PingPong")
    found, about = imported(text, "imb")
    assert found["benchmark"].n_unique() == 2
    assert version in str(about)
