"""What every search method keeps; a new file in the room is found and held to it."""

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from leadline.tune import search
from leadline.tune.search import Result, Search, Settings, Space

SPACE = """
[[parameter]]
name = "layout"
kind = "word"
values = ["contiguous", "chunked"]

[[parameter]]
name = "chunk"
kind = "bytes"
values = "1 MiB .. 8 MiB"
when = { layout = "chunked" }

[[parameter]]
name = "stripes"
kind = "count"
values = [1, 2, 4, "targets"]

[[parameter]]
name = "buffer"
equals = "chunk"
times = 2

[[parameter]]
name = "locks"
kind = "flag"
values = [true, false]

[[limit]]
product = ["buffer", "stripes"]
at_most = "64 MiB"
"""
POINTS = 2 * (4 + 4 * 4 - 1)  # either flag; contiguous, or chunked with all but 16 MiB x 6 at most


@pytest.fixture
def space(tmp_path: Path) -> Space:
    """A space with everything that a space can have."""
    path = tmp_path / "small.toml"
    path.write_text(SPACE)
    return search.load(path, {"targets": 6})


@pytest.fixture(params=search.names())
def name(request: pytest.FixtureRequest) -> str:
    """Each method."""
    return str(request.param)


def seconds(settings: Settings) -> float:
    """A time with one best point: chunked, 4 MiB, 6 stripes, without locks."""
    chunk = int(settings.get("chunk", 2**14))
    slow = abs(math.log2(chunk / 2**22)) + math.log2(6 / int(settings["stripes"])) + bool(settings["locks"])
    return 1 + slow


def go(method: Search, count: int, answer: Callable[[Settings], float | None] = seconds) -> list[Settings]:
    """Ask and tell so many times; what was asked."""
    asked: list[Settings] = []
    while len(asked) < count and (settings := method.ask()) is not None:
        asked.append(settings)
        method.tell(settings, answer(settings))
    return asked


def test_it_says_how_it_searches(name: str) -> None:
    """One line, a question."""
    assert search.question(name).endswith("?")


def test_it_asks_valid_points_and_none_twice(name: str, space: Space) -> None:
    """All that it asks are points of the space, and each is new."""
    asked = go(search.start(name, space, seed=3), 25)
    assert len({space.index(each) for each in asked}) == len(asked) >= 15


def test_it_is_a_function_of_its_seed(name: str, space: Space) -> None:
    """The same seed asks the same; another one does not, save where nothing is drawn."""
    first, again = (go(search.start(name, space, seed=5), 20) for _ in range(2))
    assert first == again


def test_it_goes_on_after_failures(name: str, space: Space) -> None:
    """Half of all points fail, and some that succeed are found; when all fail it goes on."""
    method = search.start(name, space, seed=1)
    asked = go(method, 25, lambda each: None if each["locks"] else seconds(each))
    assert len(asked) >= 10
    assert method.best is not None
    assert method.best.settings["locks"] is False
    hopeless = search.start(name, space, seed=1)
    assert len(go(hopeless, 12, lambda _: None)) == 12
    assert hopeless.best is None


def test_it_is_resumed_by_telling_it_again(name: str, space: Space) -> None:
    """Killed after any number of answers and told them anew, it asks what it would have asked."""
    whole = go(search.start(name, space, seed=2), 18)
    for done in (1, 4, 7, 13):
        method = search.start(name, space, seed=2)
        for settings in whole[:done]:
            method.tell(settings, seconds(settings))
        assert go(method, 18 - done) == whole[done:]


def test_what_was_asked_and_never_told_is_asked_again(name: str, space: Space) -> None:
    """A run that was killed with its point under way loses nothing."""
    whole = go(search.start(name, space, seed=4), 12)
    method = search.start(name, space, seed=4)
    for settings in whole[:6]:
        assert method.ask() is not None
        method.tell(settings, seconds(settings))
    lost = method.ask()
    resumed = search.start(name, space, seed=4)
    for settings in whole[:6]:
        resumed.tell(settings, seconds(settings))
    assert resumed.ask() == lost == whole[6]


def test_points_may_be_evaluated_side_by_side(name: str, space: Space) -> None:
    """Asked several times before it is told, it gives other points, or none until it hears."""
    method = search.start(name, space, seed=6)
    seen = set()
    for _ in range(8):
        batch: list[Settings] = []
        while len(batch) < 3 and (asked := method.ask()) is not None:
            batch.append(asked)
        assert batch or method.finished
        for settings in reversed(batch):
            index = space.index(settings)
            assert index not in seen
            seen.add(index)
            method.tell(settings, seconds(settings))


def test_what_is_known_is_not_asked_for(name: str, space: Space) -> None:
    """Results of an earlier search count as told, and the best of them is the best."""
    earlier = search.start("random", space, seed=9)
    go(earlier, 20)
    method = search.start(name, space, seed=1, known=earlier.told)
    assert method.best == earlier.best
    known = {space.index(each.settings) for each in earlier.told}
    assert known.isdisjoint(space.index(each) for each in go(method, 12))


def test_a_baseline_may_be_told_at_any_time(name: str, space: Space) -> None:
    """A point that it did not ask for is taken and not asked for afterwards."""
    baseline: Settings = {"layout": "contiguous", "stripes": 1, "locks": True}
    method = search.start(name, space, seed=0)
    go(method, 2, lambda _: 5.0)
    method.tell(baseline, 4.5)
    assert method.best == Result(baseline, 4.5)
    assert baseline not in go(method, POINTS)


def test_it_may_repeat_when_it_was_asked_to(name: str, space: Space) -> None:
    """With `repeat` it asks as before and is replayed as before, whatever it asks twice."""
    whole = go(search.start(name, space, seed=8, repeat=True), 15)
    method = search.start(name, space, seed=8, repeat=True)
    for settings in whole[:9]:
        method.tell(settings, seconds(settings))
    assert go(method, 6) == whole[9:]


def test_it_ends_when_the_space_does(name: str, space: Space) -> None:
    """No more points than there are, and `finished` says that nothing will come."""
    method = search.start(name, space, seed=1)
    asked = go(method, POINTS + 1)
    assert len(asked) <= POINTS
    assert method.finished
    assert method.ask() is None


def test_it_searches_a_space_of_one_point(name: str, tmp_path: Path) -> None:
    """It asks for the point and ends."""
    path = tmp_path / "one.toml"
    path.write_text('[[parameter]]\nname = "stripes"\nkind = "count"\nvalues = 4\n')
    assert go(search.start(name, search.load(path)), 5, lambda _: 1.0) == [{"stripes": 4}]


def test_it_searches_a_space_too_large_to_write_out(name: str, tmp_path: Path) -> None:
    """Twelve parameters of eight values: valid points, none twice."""
    path = tmp_path / "large.toml"
    path.write_text(
        "".join(f'[[parameter]]\nname = "p{i}"\nkind = "count"\nvalues = "1 .. 128"\n' for i in range(12))
    )
    space = search.load(path)
    assert not space.enumerable
    asked = go(search.start(name, space, seed=1), 12, lambda each: 1.0 + int(each["p0"]))
    assert len({space.index(each) for each in asked}) == 12


@pytest.mark.parametrize("better", [each for each in search.names() if each != "random"])
def test_it_finds_more_than_chance(better: str) -> None:
    """Forty asks on the paper's space of 13,440 points: a smooth bowl with 10 % of noise, three seeds.

    Chance reaches about the best fortieth of the points.
    """
    space = search.load("lustre", {"ranks": 2048, "nodes": 86, "targets": 156})
    top = space.coordinates([(9, 5, 10, 6)])[0]
    found: dict[str, list[float]] = {"random": [], better: []}
    for name, best in found.items():
        for seed in range(3):
            rng = np.random.default_rng(seed)

            def time(settings: Settings) -> float:
                """The time without noise."""
                away = space.coordinates([space.index(settings)])[0] - top
                return math.exp(3 * float((away**2).sum()))

            asked = go(
                search.start(name, space, seed),
                40,
                lambda each, rng=rng: time(each) * math.exp(0.1 * rng.standard_normal()),  # type: ignore[misc]
            )
            best.append(min(map(time, asked)))
    assert np.median(found[better]) < np.median(found["random"])
