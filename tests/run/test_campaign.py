"""The campaign: exact, since its executor is a script and its clock moves only when a point is asked."""

from collections.abc import Callable, Generator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from anywhere import Anywhere
from leadline.core.record import FAILED, INVALID, MEASURED, OK, SKIPPED
from leadline.native.launch import Event
from leadline.native.registry import Benchmark, Metric, Sweep, SweepContext
from leadline.plan.model import Plan, Point
from leadline.run.campaign import TRIES, Campaign
from leadline.run.store import Store, load
from leadline.targets.local.placement import misplaced

PLAN = """
mpi = ["scripted"]
time = "{time}"
tolerance = "2 %"
launches = {{ at_least = 6, at_most = {most} }}
{headline}
[[measure]]
benchmark = "steps"
bytes = {sizes}
"""
HEADLINE = '[headline]\nbenchmark = "steps"\nbytes = 8\nshare = 0.4\n'


def registry(_: SweepContext) -> dict[str, Benchmark]:
    """One benchmark with one sweep."""
    sweep = Sweep("bytes", "B", "bytes", (8,), "size")
    metric = Metric("latency", "s", "lower", "time")
    return {"steps": Benchmark("steps", "How long?", 1, None, (sweep,), (metric,))}


class Script:
    """An executor whose points take 1 s each and give the values that the test hands out."""

    source = MEASURED

    def __init__(self, values: Callable[[int, int], float] = lambda size, launch: 1e-6) -> None:
        """`values` gives a point's value from its size and the ordinal of its launch."""
        self.values = values
        self.now = 0.0
        self.launches: list[list[int]] = []
        self.crash: int | None = None  # size at which a rank dies
        self.wrong: dict[int, int] = {}  # of each size, launches after which its result is wrong
        self.refused: dict[int, tuple[str, str]] = {}
        self.ranks = 1
        self.core = 0
        self.never_starts = False
        self.late = False

    def refuse(self, point: Point) -> tuple[str, str] | None:
        """What the test refuses."""
        return self.refused.get(int(point.values["bytes"]))

    def facts(self) -> list[dict[str, Any]]:
        """Nothing that a provenance would keep."""
        return []

    def oversubscribed(self, point: Point) -> bool:
        """Every rank has a core."""
        return False

    def misplaced(self, point: Point, places: Sequence[Mapping[str, Any]]) -> str | None:
        """As on a machine of any size."""
        return misplaced(point.placement, places)

    def transport(self, point: Point) -> str | None:
        """A name, since nothing is sent."""
        return "script"

    def launch(self, points: Sequence[Point], tick: Callable[[], None]) -> Generator[Event, None, None]:
        """Answer each point in its turn."""
        sizes = [int(point.values["bytes"]) for point in points]
        self.launches.append(sizes)
        if self.never_starts:
            yield {"event": "died", "id": None, "reason": "no library"}
            return
        place = {"host": "a", "package": 0, "group": 0, "core": self.core, "cores": 1}
        yield {"event": "launch", "ranks": self.ranks, "places": [place]}
        for index, size in enumerate(sizes):
            yield {"event": "begin", "id": index}
            self.now += 1.0
            tick()
            if size == self.crash:
                yield {"event": "died", "id": index, "reason": "killed by SIGSEGV"}
                return
            if len(self.launches) > self.wrong.get(size, 1000):
                yield {"event": "invalid", "id": index, "reason": "two and two are 5"}
            else:
                yield self._record(index, size)
            yield {"event": "end", "id": index}
        yield {"event": "done"}
        if self.late:
            yield {"event": "hung_at_exit", "reason": "did not end by itself"}

    def _record(self, index: int, size: int) -> Event:
        value = self.values(size, len(self.launches))
        return {
            "event": "record",
            "id": index,
            "metric": "latency",
            "unit": "s",
            "better": "lower",
            "samples": [9.0, value, value, value],
            "warmup": 1,
            "batch": 10,
            "stopped_by": "tolerance",
            "duration": 1.0,
            "run_delay": 0.0,
            "switches": 0,
        }


def campaign(directory: Path, script: Script, **settings: Any) -> Campaign:
    """A campaign of the plan above in a fresh store."""
    filled = {"time": "1000 s", "most": 60, "headline": "", "sizes": "[8]"} | settings
    path = directory / "plan.toml"
    path.write_text(PLAN.format(**filled))
    plan = Plan.load(path, registry)
    run = directory / "run"
    store = Store.reopen(run) if run.exists() else Store.create(run, plan.text, {})
    return Campaign(plan, plan.points(Anywhere()), script, store, clock=lambda: script.now)


def close(taken: Campaign) -> None:
    """Let another campaign have its store."""
    assert isinstance(taken.store, Store)
    taken.store.close()


def run(taken: Campaign) -> None:
    """All of a campaign."""
    taken.prepare()
    taken.run()


def test_equal_launches_end_at_the_least_count(tmp_path: Path) -> None:
    """Six equal medians have an interval of no width, and fewer have none at 95 %."""
    script = Script()
    run(campaign(tmp_path, script))
    assert len(script.launches) == 6


def test_launches_that_disagree_go_on_to_the_most(tmp_path: Path) -> None:
    """Values that alternate by 40 % never come within 2 %."""
    script = Script(lambda size, launch: 1e-6 * (1 + 0.4 * (launch % 2)))
    run(campaign(tmp_path, script, most=20))
    assert len(script.launches) == 20


def test_the_time_ends_it(tmp_path: Path) -> None:
    """Three points of 1 s in 10 s: three whole rounds, and no fourth, since it could not be finished."""
    script = Script(lambda size, launch: 1e-6 * launch)
    run(campaign(tmp_path, script, time="10 s", sizes="[8, 16, 32]"))
    assert script.now <= 12
    assert len(script.launches) == 3


def test_a_tight_point_makes_room_for_others(tmp_path: Path) -> None:
    """8 B is tight after six launches; only 16 B, which never is, is launched from then on."""
    script = Script(lambda size, launch: 1e-6 * (1 if size == 8 else launch))
    run(campaign(tmp_path, script, most=10, sizes="[8, 16]"))
    assert [sorted(sizes) for sizes in script.launches] == [[8, 16]] * 6 + [[16]] * 4


def test_the_headline_gets_launches_of_its_own(tmp_path: Path) -> None:
    """It gets about its share of the time in launches that hold nothing else, and is in whole rounds too."""
    script = Script(lambda size, launch: 1e-6 * launch)
    sizes = "[8, 16, 32, 64]"
    run(campaign(tmp_path, script, time="100 s", headline=HEADLINE, sizes=sizes))
    alone = sum(launch == [8] for launch in script.launches)
    assert 0.3 <= alone / script.now <= 0.5
    assert all(8 in launch for launch in script.launches)


def test_every_finished_point_is_stored_before_the_next(tmp_path: Path) -> None:
    """A campaign that dies between two points has lost none that was finished."""

    class Fatal(Exception):
        """Stands for anything that may end the process."""

    script = Script()
    taken = campaign(tmp_path, script, sizes="[8, 16]")
    seen = []

    def die(_: object) -> None:
        seen.append(script.now)
        if len(seen) == 2:
            raise Fatal

    taken.show = die
    with pytest.raises(Fatal):
        run(taken)
    close(taken)
    assert load(tmp_path / "run").height == 1


def test_resuming_asks_only_for_what_is_missing(tmp_path: Path) -> None:
    """Two launches are there, six are wanted: four more, whose ordinals go on."""
    script = Script(lambda size, launch: 1e-6)
    first = campaign(tmp_path, script, time="2 s")
    run(first)
    close(first)
    had = len(script.launches)
    again = Script()
    second = campaign(tmp_path, again, time="1000 s")
    second.resume()
    run(second)
    assert had == 2
    assert len(again.launches) == 4
    assert second.store.records()["launch"].to_list() == [0, 1, 2, 3, 4, 5]


def test_a_point_that_kills_its_rank_is_recorded_and_the_rest_go_on(tmp_path: Path) -> None:
    """16 B crashes: it fails with the reason, in as many launches as it has tries; 8 B and 32 B are whole."""
    script = Script()
    script.crash = 16
    taken = campaign(tmp_path, script, sizes="[8, 16, 32]")
    run(taken)
    records = taken.store.records()
    failed = records.filter(records["status"] == FAILED)
    assert failed["bytes"].to_list() == [16] * TRIES
    assert failed["reason"].to_list() == ["killed by SIGSEGV"] * TRIES
    good = records.filter(records["status"] == OK)
    assert sorted(good["bytes"].to_list()) == [8] * 6 + [32] * 6


def test_a_point_whose_result_is_wrong_is_invalid_in_every_launch(tmp_path: Path) -> None:
    """16 B is right twice, then wrong: nothing of it is ok, it is not asked again, the rest goes on."""
    script = Script()
    script.wrong[16] = 2
    taken = campaign(tmp_path, script, sizes="[8, 16, 32]")
    run(taken)
    records = taken.store.records()
    invalid = records.filter(records["status"] == INVALID)
    assert invalid["bytes"].to_list() == [16] * 3
    assert set(invalid["reason"]) == {"two and two are 5"}
    assert sorted(records.filter(records["status"] == OK)["bytes"].to_list()) == [8] * 6 + [32] * 6
    assert [size for sizes in script.launches for size in sizes].count(16) == 3
    close(taken)
    again = Script()
    second = campaign(tmp_path, again, sizes="[8, 16, 32]")
    second.resume()
    run(second)
    assert again.launches == []


def test_a_library_that_cannot_start_fails_each_point_once(tmp_path: Path) -> None:
    """It is tried twice, since a loaded machine may be slow once, and not for ever; each point says why."""
    script = Script()
    script.never_starts = True
    taken = campaign(tmp_path, script, sizes="[8, 16]")
    run(taken)
    records = taken.store.records()
    assert records["status"].to_list() == [FAILED, FAILED]
    assert set(records["reason"]) == {"no library"}
    assert len(script.launches) == TRIES


def test_what_is_refused_is_a_record_with_its_reason(tmp_path: Path) -> None:
    """A placement that the machine lacks is not launched, and not forgotten."""
    script = Script()
    script.refused[8] = (SKIPPED, "one package only")
    taken = campaign(tmp_path, script)
    run(taken)
    assert script.launches == []
    assert taken.store.records().select("status", "reason").row(0) == (SKIPPED, "one package only")


def test_a_launcher_that_starts_single_ranks_is_caught(tmp_path: Path) -> None:
    """A launcher of another library starts ranks that each think they are alone: that is not believed."""
    script = Script()
    script.ranks = 7
    taken = campaign(tmp_path, script)
    run(taken)
    records = taken.store.records()
    assert records["status"].to_list() == [FAILED]
    assert "started 7" in records["reason"][0]


def test_ranks_that_are_not_bound_are_not_believed(tmp_path: Path) -> None:
    """The launcher was told to bind and did not."""
    script = Script()
    script.core = -1
    taken = campaign(tmp_path, script)
    run(taken)
    assert "did not bind" in taken.store.records()["reason"][0]


def test_points_that_the_time_never_came_to_say_so(tmp_path: Path) -> None:
    """No gap: with no time at all, the first part of the first round is all that is asked."""
    script = Script()
    taken = campaign(tmp_path, script, time="1 ms", sizes='"1 B .. 64 B step 1 B"')
    run(taken)
    records = taken.store.records()
    unreached = records.filter(records["status"] == SKIPPED)
    assert records.filter(records["status"] == OK).height + unreached.height == 64
    assert all("time was spent" in reason for reason in unreached["reason"])


def test_a_measurement_s_own_time_ends_it_and_nothing_waits(tmp_path: Path) -> None:
    """3 s of a point that is never tight, in a plan of 1000 s: three launches, and the run is over."""
    script = Script(lambda size, launch: 1e-6 * launch)
    path = tmp_path / "plan.toml"
    path.write_text(PLAN.format(time="1000 s", most=60, headline="", sizes="[8]") + 'time = "3 s"\n')
    plan = Plan.load(path, registry)
    store = Store.create(tmp_path / "run", plan.text, {})
    run(Campaign(plan, plan.points(Anywhere()), script, store, clock=lambda: script.now))
    assert len(script.launches) == 3


def test_points_that_were_not_reached_are_asked_when_resumed(tmp_path: Path) -> None:
    """They were skipped for want of time only; with more time they are measured."""
    sizes = '"1 B .. 64 B step 1 B"'
    first = campaign(tmp_path, Script(), time="1 ms", sizes=sizes)
    run(first)
    close(first)
    second = campaign(tmp_path, Script(), time="1000 s", sizes=sizes)
    second.resume()
    run(second)
    records = second.store.records()
    assert records.filter(records["status"] == OK)["bytes"].n_unique() == 64


def test_a_launch_that_does_not_end_by_itself_is_remarked_once(tmp_path: Path) -> None:
    """Its answers are whole, so nothing failed; but each such launch costs time, and somebody should know."""
    script = Script()
    script.late = True
    taken = campaign(tmp_path, script)
    run(taken)
    assert taken.remarks == {"scripted: did not end by itself"}
    assert set(taken.store.records()["status"]) == {OK}


def test_warm_up_does_not_count(tmp_path: Path) -> None:
    """The warm-up sample of 9 s is stored and marked, but the medians that decide are those of the others."""
    script = Script()
    taken = campaign(tmp_path, script)
    run(taken)
    row = taken.store.records().row(0, named=True)
    assert row["samples"] == [9.0, 1e-6, 1e-6, 1e-6]
    assert row["warmup"] == 1
    assert next(iter(taken.states.values())).medians == [1e-6] * 6
