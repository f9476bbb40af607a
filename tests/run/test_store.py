"""What was recorded stays recorded: killed at any byte, on a full disk, resumed, and read back by others."""

import json
import os
import signal
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from leadline.core.errors import LeadlineError, UsageError
from leadline.core.journal import encode
from leadline.core.record import FIELDS, FORMAT, Record, frame
from leadline.core.record_files import JOURNAL_HEADER, journal_lines
from leadline.run import store as stores
from leadline.run.store import Store, load, plan_text, provenance, write_parquet

PLAN = '[[measure]]\nbenchmark = "pingpong"\n'
ABOUT = {"host": "a", "cores": 2}
BEGUN = datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)


def row(launch: int, size: int = 8, metric: str = "latency", **more: Any) -> Record:
    """A record of a ping-pong with three samples that differ from launch to launch."""
    return Record.of(
        {
            "source": "measured",
            "benchmark": "pingpong",
            "metric": metric,
            "unit": "s",
            "better": "lower",
            "mpi": "openmpi-4.1.4",
            "stack": "default",
            "protocol": "default",
            "placement": "default",
            "ranks": 2,
            "oversubscribed": False,
            "launch": launch,
            "status": "ok",
            "samples": [launch + 0.1, launch + 1 / 3, 2],
            "warmup": 1,
            "started": BEGUN,
            "bytes": size,
            "buffers": "reused",
            **more,
        }
    )


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """Where the run of a test goes."""
    return tmp_path / "runs" / "one"


def test_records_come_back_as_they_were(run: Path) -> None:
    """Numbers to the last bit, times to the microsecond, absent values as null; before and after the end."""
    with Store.create(run, PLAN, ABOUT) as store:
        store.append([row(0), row(0, metric="other", samples=[])])
        store.append([row(1, size=16, buffers=None, reason="ö")])
        before = load(run)
        store.finish()
    after = load(run)
    assert before.equals(after)
    assert after["samples"].to_list() == [[0.1, 1 / 3, 2.0], [], [1.1, 1 + 1 / 3, 2.0]]
    assert after["started"].to_list() == [BEGUN] * 3
    assert after["buffers"].to_list() == ["reused", "reused", None]
    assert after["reason"].to_list() == [None, None, "ö"]
    assert after["run"].to_list() == ["one"] * 3
    assert after["bytes"].dtype == pl.Int64
    assert sorted(path.name for path in run.iterdir()) == ["plan.toml", "provenance.json", "records.parquet"]
    assert plan_text(run) == PLAN
    assert provenance(run) == ABOUT


def test_a_lone_parquet_file_says_where_it_comes_from(run: Path, tmp_path: Path) -> None:
    """Moved away from its directory it still has provenance and plan."""
    with Store.create(run, PLAN, ABOUT) as store:
        store.append([row(0)])
        lone = store.finish().rename(tmp_path / "lone.parquet")
    assert provenance(lone) == ABOUT
    assert plan_text(lone) == PLAN
    assert load(lone).height == 1


def test_a_run_is_never_overwritten(run: Path) -> None:
    """A second run of the same name is refused and told how to go on."""
    Store.create(run, PLAN, ABOUT).close()
    with pytest.raises(UsageError, match="--resume"):
        Store.create(run, PLAN, ABOUT)


def test_killed_at_every_byte_of_the_last_line(run: Path) -> None:
    """However much of the last line was written, all lines before it are there and the run can go on."""
    with Store.create(run, PLAN, ABOUT) as store:
        store.append([row(0)])
        kept = (run / "journal.jsonl").stat().st_size
        # Two metrics of one point: never one without the other, or the point would look done.
        store.append([row(1), row(1, metric="other")])
    whole = (run / "journal.jsonl").read_bytes()
    for length in range(kept, len(whole)):
        (run / "journal.jsonl").write_bytes(whole[:length])
        assert load(run)["launch"].to_list() == [0], length
        if length % 20:  # going on costs three waits for the disk, so not after every byte
            continue
        with Store.reopen(run) as store:
            assert store.records()["launch"].to_list() == [0]
            store.append([row(7)])
            assert store.records()["launch"].to_list() == [0, 7], length


def test_a_last_line_of_rubbish_is_dropped(run: Path) -> None:
    """A machine that lost power can leave zeros where the file's size was already written."""
    with Store.create(run, PLAN, ABOUT) as store:
        store.append([row(0)])
    with (run / "journal.jsonl").open("ab") as file:
        file.write(b"\0" * 100 + b"\n")
    with Store.reopen(run) as store:
        store.append([row(1)])
    assert load(run)["launch"].to_list() == [0, 1]


def test_killed_by_the_system_while_it_writes(run: Path) -> None:
    """SIGKILL in the middle of thousands of appends: whole launches without a gap, and the run goes on."""
    child = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import sys; sys.path.insert(0, sys.argv[2])\n"
            "from pathlib import Path; from test_store import *\n"
            "store = Store.create(Path(sys.argv[1]), PLAN, ABOUT)\n"
            "for launch in range(10**6):\n"
            "    store.append([row(launch)])\n"
            "    print(launch, flush=True)\n",
            str(run),
            str(Path(__file__).parent),
        ],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdout is not None
    confirmed = [child.stdout.readline() for _ in range(20)]
    child.send_signal(signal.SIGKILL)
    confirmed += child.stdout.readlines()
    child.wait()
    launches = load(run)["launch"].to_list()
    assert launches == list(range(len(launches)))
    assert len(launches) >= len(confirmed)  # what append returned from is there
    with Store.reopen(run) as store:
        assert store.records()["launch"].to_list() == launches


def test_damage_in_the_middle_is_told_with_its_line(run: Path) -> None:
    """A line that was whole once and is not now is no accident of writing: it is said, not skipped."""
    with Store.create(run, PLAN, ABOUT) as store:
        store.append([row(0)])
        store.append([row(1)])
    journal = run / "journal.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    for damaged in (b'[{"benchmark": "ping\n', b"[3]\n", b'[{"benchmark": "x"}]\n', b"17\n"):
        journal.write_bytes(lines[0] + damaged + lines[2])
        with pytest.raises(LeadlineError, match=r"journal.jsonl:2: "):
            load(run)
        with pytest.raises(LeadlineError, match=r"journal.jsonl:2"):
            Store.reopen(run)


def test_values_of_wrong_types_are_told(run: Path) -> None:
    """A journal that somebody edited: samples that are words are not a record."""
    with Store.create(run, PLAN, ABOUT) as store:
        store.append([row(0, samples="quick")])
    with pytest.raises(LeadlineError, match=r"journal.jsonl holds values of wrong types|journal.jsonl:2"):
        load(run)


def test_a_finished_run_can_be_resumed(run: Path) -> None:
    """Its records are there, more are added, and facts are noted in its provenance."""
    with Store.create(run, PLAN, ABOUT) as store:
        store.append([row(0), row(0, metric="other"), row(0, size=16)])
        store.append([row(1)])
        store.finish()
    with Store.reopen(run) as store:
        assert store.records().height == 4
        store.append([row(1, size=16)])
        store.note(resumed="today")
        assert load(run).height == 5  # while the old Parquet file is still beside the journal
        store.finish()
    assert load(run)["launch"].to_list() == [0, 0, 0, 1, 1]
    assert provenance(run) == {**ABOUT, "resumed": "today"}


def test_two_processes_cannot_write_one_run(run: Path) -> None:
    """The second is told; reading is always possible."""
    with Store.create(run, PLAN, ABOUT) as store:
        store.append([row(0)])
        with pytest.raises(LeadlineError, match="another process is writing"):
            Store.reopen(run)
        assert load(run).height == 1
    Store.reopen(run).close()


def limited(run: Path, limit: int, code: str) -> "subprocess.CompletedProcess[str]":
    """Run `code` with `store` open, files of this process being at most `limit` bytes long.

    The kernel then refuses to write on, as it does on a full disk, save that the error's name is another.
    """
    return subprocess.run(
        [
            sys.executable,
            "-c",
            "import sys; sys.path.insert(0, sys.argv[2])\n"
            "from pathlib import Path; from test_store import *\n"
            "store = Store.reopen(Path(sys.argv[1]))\n"
            "import resource\nsignal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
            f"resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit}))\n" + code,
            str(run),
            str(Path(__file__).parent),
        ],
        capture_output=True,
        text=True,
        check=False,
    )


def test_full_disk_while_appending(run: Path) -> None:
    """Half a line fits: it is taken away again, the error says what is kept, and the run can go on."""
    with Store.create(run, PLAN, ABOUT) as store:
        store.append([row(0)])
    size = (run / "journal.jsonl").stat().st_size
    done = limited(
        run, size + 20, "try:\n    store.append([row(1)])\nexcept LeadlineError as e:\n    print(e)\n"
    )
    assert "journal.jsonl: File too large; every record before is kept" in done.stdout, done.stderr
    assert (run / "journal.jsonl").stat().st_size == size
    with Store.reopen(run) as store:
        store.append([row(1)])
    assert load(run)["launch"].to_list() == [0, 1]


def test_full_disk_at_the_end(run: Path) -> None:
    """No room for the Parquet file: the journal stays, nothing half-written is left, and it can be read."""
    with Store.create(run, PLAN, ABOUT) as store:
        store.append([row(i) for i in range(200)])
    done = limited(run, 512, "try:\n    store.finish()\nexcept LeadlineError as e:\n    print(e)\n")
    assert "cannot write" in done.stdout, done.stderr
    assert "records.parquet: File too large" in done.stdout
    assert sorted(path.name for path in run.iterdir()) == ["journal.jsonl", "plan.toml", "provenance.json"]
    assert load(run).height == 200


def test_where_a_run_cannot_be_made(tmp_path: Path) -> None:
    """A file in the way of the directory: one sentence, nothing left behind."""
    (tmp_path / "file").write_text("")
    with pytest.raises(LeadlineError, match=r"cannot make the run .*: Not a directory"):
        Store.create(tmp_path / "file" / "run", PLAN, ABOUT)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize("kept", [0, 3, 100, -1, -9])
def test_truncated_parquet(run: Path, kept: int) -> None:
    """Cut anywhere, it is not half read but refused."""
    with Store.create(run, PLAN, ABOUT) as store:
        store.append([row(0)])
        path = store.finish()
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(LeadlineError, match=r"is (no file of records|a damaged Parquet file)"):
        load(run)


def test_damaged_parquet(run: Path) -> None:
    """With its end intact but zeros within, it is refused as damaged."""
    with Store.create(run, PLAN, ABOUT) as store:
        store.append([row(i) for i in range(50)])
        path = store.finish()
    data = path.read_bytes()
    path.write_bytes(data[:4] + bytes(2000) + data[2004:])
    with pytest.raises(LeadlineError, match=r"records.parquet is .*damaged"):
        load(run)


def test_foreign_files(tmp_path: Path) -> None:
    """Other people's Parquet, other people's JSON, a text and a directory: each is told for what it is."""
    foreign = tmp_path / "iris.parquet"
    pl.DataFrame({"petal": [1.0]}).write_parquet(foreign)
    with pytest.raises(LeadlineError, match=r"column 'run'"):
        load(foreign)
    pl.DataFrame({name: ["x"] for name in FIELDS}).write_parquet(foreign)
    with pytest.raises(LeadlineError, match=r"'difference' .*String.*Boolean"):
        load(foreign)
    (tmp_path / "log.jsonl").write_text('{"level": "info"}\n')
    with pytest.raises(LeadlineError, match=r"log.jsonl:1: this is no journal of records"):
        load(tmp_path / "log.jsonl")
    (tmp_path / "empty.jsonl").write_text("")
    with pytest.raises(LeadlineError, match=r"empty.jsonl:1: this is no journal"):
        load(tmp_path / "empty.jsonl")
    (tmp_path / "README.md").write_text("# Read me\n")
    with pytest.raises(LeadlineError, match=r"README.md is no file of records"):
        load(tmp_path / "README.md")
    with pytest.raises(UsageError, match=r"records.parquet .*journal.jsonl"):
        load(tmp_path)
    with pytest.raises(UsageError, match=r"is not a run: it has no provenance.json"):
        provenance(tmp_path)
    with pytest.raises(UsageError, match="there is no run or record file"):
        load(tmp_path / "nothing")


def test_files_of_a_later_version_are_refused(run: Path, tmp_path: Path) -> None:
    """A field may have changed its meaning: better no answer than a wrong one."""
    with Store.create(run, PLAN, ABOUT) as store:
        store.append([row(0)])
        table = store.records()
    later = tmp_path / "later.parquet"
    table.write_parquet(later, metadata={"leadline.format": str(FORMAT + 1)})
    with pytest.raises(LeadlineError, match=rf"format {FORMAT + 1}\b.* {FORMAT}$"):
        load(later)
    journal = run / "journal.jsonl"
    header, *rest = journal.read_text().splitlines(keepends=True)
    journal.write_text(
        json.dumps({**json.loads(header)["value"], "format": FORMAT + 1}) + "\n" + "".join(rest)
    )
    with pytest.raises(LeadlineError, match=f"has record format {FORMAT + 1}"):
        load(run)


def test_damaged_provenance(run: Path) -> None:
    """Provenance that is not JSON is told with its file."""
    Store.create(run, PLAN, ABOUT).close()
    (run / "provenance.json").write_text("{")
    with pytest.raises(LeadlineError, match=r"provenance.json: its provenance cannot be read"):
        provenance(run)
    (run / "provenance.json").write_text("[]")
    with pytest.raises(LeadlineError, match=r"provenance.json: its provenance is no table but '\[\]'"):
        provenance(run)


def test_export_keeps_what_was_there_when_it_fails(tmp_path: Path) -> None:
    """Writing to a device that is always full: told, and no draft left."""
    table = pl.DataFrame({"a": [1]})
    with pytest.raises(LeadlineError, match=r"cannot write .*: No such file or directory"):
        write_parquet(table, tmp_path / "missing" / "out.parquet", {})
    assert list(tmp_path.iterdir()) == []


def test_runs_are_found_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A word is a run in `runs/`, or nearly one; the newest run is the last."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match=r"'monday'; there are no runs in runs/ yet"):
        stores.find("monday")
    for number, name in enumerate(("monday", "tuesday")):
        Store.create(Path("runs") / name, PLAN, ABOUT).close()
        os.utime(Path("runs") / name / "provenance.json", (number, number))
    assert stores.find("monday") == Path("runs/monday")
    assert [path.name for path in stores.runs()] == ["monday", "tuesday"]
    with pytest.raises(UsageError, match="'mondya'; did you mean 'monday'"):
        stores.find("mondya")


def test_runs_from_before_a_field_was_added_are_read(tmp_path: Path) -> None:
    """What machines are described came later: their mapping and partition are null in older records."""
    path = tmp_path / "old.parquet"
    write_parquet(frame([row(0)]).drop("mapping", "partition"), path, {})
    read = load(path)
    assert read.columns[: len(FIELDS)] == list(FIELDS)
    assert read.select("mapping", "partition", "bytes").row(0) == (None, None, 8)
    journal = tmp_path / "old.jsonl"
    journal.write_bytes(encode([JOURNAL_HEADER, *journal_lines([row(0)])]))
    assert load(journal).select("mapping", "partition", "bytes").row(0) == (None, None, 8)


def test_an_empty_directory_is_accepted(run: Path) -> None:
    """One that somebody, or a batch system, made beforehand; not one with a file in it."""
    run.mkdir(parents=True)
    Store.create(run, PLAN, ABOUT).close()
    other = run.with_name("other")
    other.mkdir()
    (other / "notes").touch()
    with pytest.raises(UsageError):
        Store.create(other, PLAN, ABOUT)
