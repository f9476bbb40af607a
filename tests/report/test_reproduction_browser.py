"""The page of a reproduced paper in a real browser: every figure draws, on a desk and on a telephone."""

from pathlib import Path

import pytest
from selenium.webdriver.chrome.webdriver import WebDriver
from selenium.webdriver.support.ui import WebDriverWait

from leadline.papers import page, paper
from leadline.papers.outcome import judge
from papers import toy

from .test_browser import MARKS, PATIENCE, browser, resize, run

__all__ = ["browser"]  # a fixture, which pytest finds by its name

pytestmark = pytest.mark.browser

OVERFLOW = "return document.documentElement.scrollWidth - document.documentElement.clientWidth"


@pytest.mark.parametrize("window", ["desk", "phone"])
@pytest.mark.parametrize("name", sorted(paper.shipped()))
def test_every_figure_draws(browser: WebDriver, tmp_path: Path, name: str, window: str) -> None:
    """Each has marks in it, none failed, and the page is no wider than its window."""
    read, results = paper.find(name), toy.results(toy.POINTS[name]())
    made = page.write(read, results, judge(read, results), [{"run": "toy"}], tmp_path / "p.html")
    resize(browser, window)
    browser.get(made.as_uri())
    WebDriverWait(browser, PATIENCE).until(lambda b: b.execute_script("return window.leadline?.ready"))
    script = (
        "return [...document.querySelectorAll('.plot')].map((plot) => "
        "[plot.dataset.figure, plot.querySelectorAll(arguments[0]).length])"
    )
    counts = dict(run(browser, script, MARKS))
    assert counts
    assert [figure for figure, marks in counts.items() if not marks] == []
    assert run(browser, "return leadline.failed") == {}
    assert run(browser, OVERFLOW) <= 0
