"""The page of a recorded program: its numbers are those of the profile, for few ranks and for thousands."""

import json
import random
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from selenium.webdriver.chrome.webdriver import WebDriver
from selenium.webdriver.support.ui import WebDriverWait

from leadline import program
from leadline.cli import main
from leadline.profile import profile
from leadline.profile.analysis import Profile
from leadline.profile.shares import STATES, bars, by_state, inside, worst
from leadline.program.build import ProgramBuilder
from leadline.program.model import Kind, Operation, Program
from leadline.program.traffic import messages
from leadline.report import program_figures, write_program
from leadline.report.program import Subject, compose

from .test_browser import MARKS, PATIENCE, WINDOWS, browser, resize, run

__all__ = ["browser"]  # a fixture, which pytest finds by its name

OVERFLOW = "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
MS = 1_000_000  # ns


def ring(ranks: int, turns: int = 3) -> Program:
    """Each rank sends to the next one, then all meet; rank 1 comes 5 ms late in every turn."""
    builder = ProgramBuilder(ranks, measured=True)
    builder.sites.append("ring.c:7 main")
    for rank in range(ranks):
        rows, times = [], []
        for turn in range(turns):
            begin = 10 * MS * turn + (5 * MS if rank == 1 else 0)
            posted = Operation(int(Kind.RECV), peer=(rank - 1) % ranks, bytes=100, form=1, request=1)
            sent = Operation(int(Kind.SEND), peer=(rank + 1) % ranks, bytes=100, site=1)
            rows += [posted, sent, Operation(int(Kind.WAIT), gives=(1,)), Operation(int(Kind.BARRIER))]
            times += [(begin, begin + 10), (begin + 10, begin + 1000)]
            after = 10 * MS * turn + 5 * MS + 2000
            times += [
                (begin + 1000, after if rank == 2 else max(begin + 1500, after - 900)),
                (after, after + 500),
            ]
        builder.add(rank, rows, times=np.array(times))
    return builder.build()


def test_bins_hold_exactly_what_lies_in_them() -> None:
    """Beside a sum over nanoseconds, for intervals and edges by chance."""
    chance = random.Random(3)
    moments = sorted(chance.sample(range(1000), 60))
    begins, ends = np.array(moments[::2], float), np.array(moments[1::2], float)
    edges = np.array([0, 1, 17, 400, 401, 999, 2000], float)
    covered = np.zeros(2000)
    for begin, end in zip(moments[::2], moments[1::2], strict=True):
        covered[begin:end] = 1
    told = [covered[int(a) : int(b)].sum() for a, b in pairwise(edges)]
    assert inside(begins, ends, edges).tolist() == pytest.approx(told)


def test_states_add_up_to_each_rank_s_time() -> None:
    """In every bin, and over all of them to what the profile says."""
    found = profile(ring(5))
    edges = np.linspace(0, float(found.end.max()) * 1e-9, 38)
    for rank in range(5):
        spent = by_state(found, rank, edges)
        assert sum(float(spent[state].sum()) for state in STATES) == pytest.approx(found.end[rank] * 1e-9)
        assert float(spent["computation"].sum()) == pytest.approx(found.computing[rank] * 1e-9, abs=1e-12)
        assert float(spent["late sender"].sum()) == pytest.approx(found.waits[rank, 0] * 1e-9, abs=1e-12)


def test_bars_are_the_operations_of_the_window() -> None:
    """None is left out, none is from another time; wait and rest make up the operation."""
    found = profile(ring(4))
    shown = list(bars(found, [0, 1, 2], 0.0, 1.0))
    assert sum(bar.end - bar.begin for bar in shown) == pytest.approx(found.communication[:3].sum() * 1e-9)
    few = list(bars(found, [2], 0.0, 0.008))
    assert {bar.operation for bar in few} == {"recv", "send", "wait", "barrier"}
    assert all(bar.begin < 0.008 for bar in few)


def test_the_window_shows_the_longest_wait() -> None:
    """The rank that waits, the one it waits for, and the moment."""
    found = profile(ring(40))
    ranks, begin, end = worst(found, 4, 50)
    assert len(ranks) == 4
    assert 1 in ranks
    assert any(bar.end - bar.begin > 0.004 for bar in bars(found, ranks, begin, end))


def text_of(page: object) -> str:
    """All words of a page, without figures."""
    return json.dumps(page, default=lambda each: getattr(each, "__dict__", str(each)))


def test_the_first_screen_says_who_is_late() -> None:
    """With numbers, and what to do."""
    found = profile(ring(4))
    page = compose(Subject("ring.program", found.program, found))
    assert any("rank 1" in sentence for sentence in page.verdict)
    assert [count.value for count in page.counts][:2] == ["4", "48"]
    assert "ring.c:7 main" in text_of(page)


def test_without_times_the_page_tells_what_is_asked_for() -> None:
    """Sizes and partners need no times; nothing is said of time."""
    untimed = ring(4)
    untimed.times_of = None
    page = compose(Subject("ring.program", untimed))
    assert [section.anchor for section in page.sections] == ["matrix", "sizes", "collectives"]
    assert "not known" in page.verdict[0]


def test_what_has_no_one_size_is_said() -> None:
    """Blocks that differ were listed as 0 B, and accesses to windows were left out without a word."""

    async def code(comm: program.Comm) -> None:
        """Rank 1 gives rank 0 more than the others do."""
        blocks = {peer: 100 * (1 + max(comm.rank, peer)) for peer in range(comm.size)}
        await comm.alltoallv(blocks, blocks)
        await comm.alltoall(100)
        window = comm.window(100)
        await window.fence()
        await window.put(0, 7)
        await window.fence()
        await window.free()
        await comm.sendrecv((comm.rank + 1) % comm.size, 5, (comm.rank - 1) % comm.size)

    page = compose(Subject("v.program", program.evaluate(code, 3)))
    (collectives,) = [section for section in page.sections if section.anchor == "collectives"]
    assert collectives.table is not None
    assert sorted(row[:4] for row in collectives.table.rows) == [
        ["alltoall", "3", "100 B", "3"],
        ["alltoallv", "3", "differ by rank", "3"],
    ]
    (matrix,) = [section for section in page.sections if section.anchor == "matrix"]
    assert matrix.says == "3 messages, 15 B; those of collectives and accesses to windows are not counted."


def test_the_matrix_keeps_every_byte(tmp_path: Path) -> None:
    """Of 3 ranks and of 200, which share rows."""
    for ranks in (3, 200):
        rows = messages(ring(ranks))
        figure = program_figures.matrix(rows, ranks)
        cells = [cell for cell in figure.spec["data"]["values"] if cell["c"] == "bytes"]
        assert sum(cell["y"] for cell in cells) == 3 * 100 * ranks
        assert len({cell["a"] for cell in cells}) == min(ranks, 64)


def many(ranks: int) -> Profile:
    """A profile of many ranks."""
    return profile(ring(ranks, 2))


def test_a_page_of_many_ranks_is_small(tmp_path: Path) -> None:
    """Pictures are gathered by ranks and moments: twice the ranks are no larger page."""
    sizes = []
    for ranks in (300, 600):
        found = many(ranks)
        page = write_program(Subject("ring.program", found.program, found), tmp_path / f"{ranks}.html")
        sizes.append(page.stat().st_size)
    assert sizes[1] < 1.1 * sizes[0]


def test_options_of_a_program_s_page(tmp_path: Path) -> None:
    """Those of another page, and what cannot be shown, are refused in a sentence."""
    timed, plain = tmp_path / "t.program", tmp_path / "p.program"
    ring(3).write(timed)

    def lone(comm: program.Comm) -> Any:
        yield comm.barrier()

    program.evaluate(lone, 2).write(plain)

    def said(*words: str) -> tuple[int, str]:
        done = CliRunner().invoke(main, ["report", *words, "-o", str(tmp_path / "x.html")])
        return done.exit_code, done.output

    assert said(str(timed), "--window", "1ms:6ms")[0] == 0
    assert said(str(timed), "--window", "6ms:1ms") == (2, said(str(timed), "--window", "6ms:1ms")[1])
    assert "later one last" in said(str(timed), "--window", "6ms:1ms")[1]
    assert "begins after the end of the program" in said(str(timed), "--window", "5s:6s")[1]
    assert "needs a program's times" in said(str(plain), "--window", "1ms:6ms")[1]
    assert "name it alone" in said(str(timed), str(plain))[1]
    assert "leave it out" in said(str(timed), "--figures", str(tmp_path / "figures"))[1]
    assert said(str(plain))[0] == 0


@pytest.mark.browser
@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("ranks", [2, 300])
def test_every_figure_draws(browser: WebDriver, tmp_path: Path, ranks: int, window: str) -> None:
    """Each has marks in it, none failed, and the page is no wider than its window."""
    found = many(ranks)
    made = write_program(Subject("ring.program", found.program, found), tmp_path / "p.html")
    resize(browser, window)
    browser.get(made.as_uri())
    WebDriverWait(browser, PATIENCE).until(lambda b: b.execute_script("return window.leadline?.ready"))
    script = (
        "return [...document.querySelectorAll('.plot')].map((plot) => "
        "[plot.dataset.figure, plot.querySelectorAll(arguments[0]).length])"
    )
    counts = dict(run(browser, script, MARKS))
    assert len(counts) == 7
    assert [figure for figure, marks in counts.items() if not marks] == []
    assert run(browser, "return leadline.failed") == {}
    assert run(browser, OVERFLOW) <= 0
