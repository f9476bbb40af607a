"""Which runs beside one show how much runs differ."""

import os
from pathlib import Path
from typing import Any

from leadline.run.store import EARLIER, Store, earlier, load_earlier
from planted import records

PLAN = '[[measure]]\nbenchmark = "pingpong"\n'


def finished(path: Path, date: str, plan: str = PLAN, host: str = "a", **facts: Any) -> Path:
    """A finished run of one record that began on a day."""
    with Store.create(path, plan, {"date": date, "machine": {"host": host}, **facts}) as store:
        store.append(records([[1e-6]], [8]))
        store.finish()
    return path


def test_earlier_runs_are_those_of_the_same_plan_and_host_beside_a_run(tmp_path: Path) -> None:
    """Ten at most, the newest last; not other plans, hosts, simulations, later, killed or damaged ones."""
    days = [f"2026-01-{day:02}T00:00:00+00:00" for day in range(1, 29)]
    before = [finished(tmp_path / f"z{20 - k}", days[k]) for k in range(12)]
    run = finished(tmp_path / "run", days[20])
    finished(tmp_path / "plan", days[1], plan=PLAN + "# other\n")
    finished(tmp_path / "host", days[2], host="b")
    finished(tmp_path / "simulated", days[3], simulated={"machine": "bgp"})
    finished(tmp_path / "same", days[20])
    finished(tmp_path / "later", days[21])
    Store.create(tmp_path / "killed", PLAN, {"date": days[4], "machine": {"host": "a"}}).close()
    finished(tmp_path / "damaged", days[5])
    (tmp_path / "damaged" / "provenance.json").write_text("[")
    finished(tmp_path / "odd", days[6])
    (tmp_path / "odd" / "provenance.json").write_text('{"date": 7, "machine": "a"}')
    (tmp_path / "records.parquet").mkdir()
    for name in ("plan.toml", "provenance.json", "records.parquet"):  # that would be waited for
        fifo = finished(tmp_path / f"fifo {name}", days[7]) / name
        fifo.unlink()
        os.mkfifo(fifo)
    (tmp_path / "loop").symlink_to("loop")
    assert earlier(run) == before[-EARLIER:]
    assert earlier(run / "records.parquet") == []
    assert earlier(tmp_path / "simulated") == []
    assert earlier(tmp_path / "odd") == []


def test_an_earlier_run_with_damaged_records_is_passed_over(tmp_path: Path) -> None:
    """It is found by its provenance; a run beside it is shown all the same."""
    damaged = finished(tmp_path / "first", "2026-01-01")
    run = finished(tmp_path / "second", "2026-01-02")
    (damaged / "records.parquet").write_bytes(b"nothing")
    assert earlier(run) == [damaged]
    assert load_earlier(run) == []
