"""The page in a real browser, opened from disk: it draws, answers, fits, and can be read in any light."""

import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.chrome.webdriver import WebDriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import WebDriverWait

pytestmark = pytest.mark.browser

BROWSERS = ("chromium", "google-chrome", "google-chrome-stable", "chrome", "chromium-browser")
QUIET = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-default-apps",
    "--hide-scrollbars",
)
WINDOWS = {"desk": (1400, 900), "phone": (400, 800)}
PATIENCE = 60  # s; drawing takes two on a quiet machine, and tests may share theirs

# WCAG 2: relative luminance and contrast of two computed colours.
CONTRAST = """
    const luminance = (colour) => {
        const channels = colour.match(/[\\d.]+/g).slice(0, 3).map((c) => c / 255);
        const [r, g, b] = channels.map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const contrast = (one, other) => {
        const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b);
        return (high + 0.05) / (low + 0.05);
    };
"""
MARKS = "g[class*='role-mark'] path, g[class*='role-mark'] line, g[class*='role-mark'] text"


EVERY_BUTTON = """
    const done = arguments[0], idle = [];
    (async () => {
        for (const button of document.querySelectorAll(".legend button")) {
            const plot = button.closest("figure").querySelector(".plot");
            const view = leadline.views[plot.dataset.figure];
            const shown = button.parentElement.querySelector("[aria-pressed=true]");
            const choice = button.dataset.kind === "choice";
            if (choice && shown === button) continue;
            const before = plot.innerHTML;
            button.click();
            await view.runAsync();
            if (plot.innerHTML === before) idle.push([plot.dataset.figure, button.dataset.name]);
            (choice ? shown : button).click();
            await view.runAsync();
        }
        done(idle);
    })();
"""


def find_browser() -> tuple[str, str]:
    """A Chromium and its driver; the test is skipped where this machine lacks one."""
    browser = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    driver = shutil.which("chromedriver")
    if browser is None or driver is None:
        pytest.skip(f"needs Chromium and chromedriver; found {browser or 'none'} and {driver or 'none'}")
    return browser, driver


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WebDriver]:
    """A headless browser with an empty profile that writes down every request."""
    binary, driver = find_browser()
    os.environ["SE_OFFLINE"] = "true"  # selenium must not look for drivers elsewhere
    options = Options()
    options.binary_location = binary
    for argument in (*QUIET, f"--user-data-dir={tmp_path_factory.mktemp('profile')}", "data:,"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    with webdriver.Chrome(options=options, service=Service(driver)) as opened:
        yield opened


Open = Callable[..., None]


@pytest.fixture
def open_page(browser: WebDriver, page: Path) -> Open:
    """Open the page from disk in a window and a colour scheme, and wait until it has drawn."""

    def opened(window: str = "desk", scheme: str = "light") -> None:
        browser.get("data:,")
        resize(browser, window)
        emulate(browser, scheme)
        log(browser, "browser")
        log(browser, "performance")
        browser.get(page.as_uri())
        WebDriverWait(browser, PATIENCE).until(lambda b: b.execute_script("return window.leadline?.ready"))

    return opened


def log(browser: WebDriver, kind: str) -> list[dict[str, Any]]:
    """The entries of a log since it was last asked for."""
    entries: list[dict[str, Any]] = browser.get_log(kind)  # type: ignore[no-untyped-call]
    return entries


def resize(browser: WebDriver, window: str) -> None:
    """Give the page a window of that size."""
    width, height = WINDOWS[window]
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": window == "phone"}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)


def emulate(browser: WebDriver, scheme: str, media: str = "") -> None:
    """Let the reader prefer a colour scheme, or print."""
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": media, "features": features})


def run(browser: WebDriver, script: str, *arguments: Any) -> Any:
    """What a script returns on the page."""
    return browser.execute_script(script, *arguments)


def button(browser: WebDriver, figure: str, name: str) -> WebElement:
    """A button of a figure's legend, in view."""
    found = browser.find_element(By.CSS_SELECTOR, f'#figure-{figure} .legend button[data-name="{name}"]')
    run(browser, "arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", found)
    return found


def settled(browser: WebDriver, figure: str) -> None:
    """Wait until a figure has been drawn again."""
    browser.execute_async_script(
        "const done = arguments[1]; leadline.views[arguments[0]].runAsync().then(() => done())", figure
    )


def marks_in(browser: WebDriver, figure: str, colour: str) -> int:
    """How many marks of a figure have that colour token."""
    wanted = f"#figure-{figure} .plot g[class*='role-mark'] path"
    script = (
        "return [...document.querySelectorAll(arguments[0])].filter((mark) => "
        "[mark.getAttribute('fill'), mark.getAttribute('stroke')].includes(arguments[1])).length"
    )
    return int(run(browser, script, wanted, f"var(--{colour})"))


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("window", list(WINDOWS))
def test_every_figure_draws(browser: WebDriver, open_page: Open, window: str, scheme: str) -> None:
    """Each figure has an SVG with marks in it; the console is empty."""
    open_page(window, scheme)
    counts = run(
        browser,
        "return [...document.querySelectorAll('.plot')].map((plot) => "
        "[plot.dataset.figure, plot.querySelectorAll(arguments[0]).length])",
        MARKS,
    )
    assert len(counts) > 20
    assert [name for name, count in counts if count < 2] == []
    assert run(browser, "return leadline.failed") == {}
    assert log(browser, "browser") == []


def test_nothing_is_asked_of_the_network(browser: WebDriver, open_page: Open, page: Path) -> None:
    """The page is the only file that is opened, also after its figures were used."""
    open_page()
    button(browser, "latency-by-size", "mpich-4.0.2").click()
    settled(browser, "latency-by-size")
    messages = [json.loads(entry["message"])["message"] for entry in log(browser, "performance")]
    sent = [m["params"]["request"]["url"] for m in messages if m["method"] == "Network.requestWillBeSent"]
    assert page.as_uri() in sent
    assert [url for url in sent if not url.startswith("data:") and url != page.as_uri()] == []


def test_a_series_is_switched_off_and_on(browser: WebDriver, open_page: Open) -> None:
    """A click in the legend removes a series' marks and leaves the others; the next brings them back."""
    open_page()
    figure, first, second = "latency-by-size", "s0", "s1"
    before = marks_in(browser, figure, first), marks_in(browser, figure, second)
    assert min(before) > 20
    chip = button(browser, figure, "mpich-4.0.2")
    for pressed, expected in (("false", (0, before[1])), ("true", before)):
        chip.click()
        settled(browser, figure)
        assert chip.get_attribute("aria-pressed") == pressed
        assert (marks_in(browser, figure, first), marks_in(browser, figure, second)) == expected


def test_every_button_of_every_legend_changes_its_figure(browser: WebDriver, open_page: Open) -> None:
    """No legend names something that the figure does not know how to hide or show."""
    open_page()
    idle = browser.execute_async_script(EVERY_BUTTON)
    assert idle == []


def test_the_legend_works_from_the_keyboard(browser: WebDriver, open_page: Open) -> None:
    """Space on a focused entry does what a click does."""
    open_page()
    chip = button(browser, "launches", "mpich-4.0.2")
    chip.send_keys(Keys.SPACE)
    settled(browser, "launches")
    assert marks_in(browser, "launches", "s0") == 0
    chip.send_keys(Keys.ENTER)
    settled(browser, "launches")
    assert marks_in(browser, "launches", "s0") > 0


def test_a_double_click_shows_a_series_alone(browser: WebDriver, open_page: Open) -> None:
    """And another shows all of them again."""
    open_page()
    chip = button(browser, "launches", "mpich-4.0.2")
    ActionChains(browser).double_click(chip).perform()
    settled(browser, "launches")
    assert marks_in(browser, "launches", "s1") == 0
    assert marks_in(browser, "launches", "s0") > 0
    ActionChains(browser).double_click(chip).perform()
    settled(browser, "launches")
    assert marks_in(browser, "launches", "s1") > 0


def test_a_table_sorts_by_number(browser: WebDriver, open_page: Open) -> None:
    """Sizes sort as sizes, not as words: 4 MiB last upward, first downward."""
    open_page()
    table = "#benchmark-pingpong table.sortable"
    run(browser, "document.querySelector('#benchmark-pingpong details.numbers').open = true")
    column = run(
        browser,
        "return [...document.querySelector(arguments[0]).rows[0].cells]"
        ".findIndex((cell) => cell.innerText.trim() === 'bytes')",
        table,
    )
    heading = browser.find_element(By.CSS_SELECTOR, f"{table} th:nth-child({column + 1}) button")
    run(browser, "arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", heading)
    ends = (
        "const rows = [...document.querySelector(arguments[0]).tBodies[0].rows];"
        "return [rows.at(0), rows.at(-1)].map((row) => row.cells[arguments[1]].textContent)"
    )
    heading.click()
    assert run(browser, ends, table, column) == ["0 B", "4 MiB"]
    heading.click()
    assert run(browser, ends, table, column) == ["4 MiB", "0 B"]


@pytest.mark.parametrize("window", list(WINDOWS))
def test_nothing_reaches_beyond_the_window(browser: WebDriver, open_page: Open, window: str) -> None:
    """The page does not scroll sideways, also with all details open; no figure is wider than its card."""
    open_page(window)
    run(browser, "document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    assert run(browser, "return document.documentElement.scrollWidth <= window.innerWidth")
    wide = run(
        browser,
        "return [...document.querySelectorAll('.plot')].filter((plot) => "
        "plot.querySelector('svg').getBoundingClientRect().width > plot.clientWidth + 1)"
        ".map((plot) => plot.dataset.figure)",
    )
    assert wide == []


def test_figures_follow_the_window(browser: WebDriver, open_page: Open) -> None:
    """A window that becomes narrower makes the figures narrower; nothing has to be loaded again."""
    open_page("desk")
    width = "return document.querySelector('.plot svg').getBoundingClientRect().width"
    wide = run(browser, width)
    resize(browser, "phone")
    WebDriverWait(browser, PATIENCE).until(lambda b: run(b, width) < WINDOWS["phone"][0])
    assert run(browser, width) < wide / 2


@pytest.mark.smoke
def test_the_first_screen_answers(browser: WebDriver, open_page: Open) -> None:
    """At a desk, latencies of both libraries and how quiet it was are seen without scrolling."""
    open_page("desk")
    below = run(
        browser,
        "return [...document.querySelectorAll('.verdicts li, div.quiet, .card .lead')].map((each) => "
        "each.getBoundingClientRect().bottom).filter((bottom) => bottom > window.innerHeight)",
    )
    assert below == []


READABLE = (
    CONTRAST
    + """
    const paper = (element) => {
        for (let each = element; each; each = each.parentElement) {
            const colour = getComputedStyle(each).backgroundColor;
            if (!/, 0\\)$|transparent/.test(colour)) return colour;
        }
        return "rgb(255, 255, 255)";
    };
    const faint = [];
    const check = (selector, property, least) => {
        const found = [...document.querySelectorAll(selector)];
        if (!found.length) faint.push([selector, "not there"]);
        for (const each of found) {
            const ratio = contrast(getComputedStyle(each)[property], paper(each));
            if (!(ratio >= least)) faint.push([selector, each.textContent.slice(0, 30), ratio]);
        }
    };
    check("h1, h2, p, li, dt, dd, td, th, .badge, figcaption, .legend button", "color", 4.5);
    check(".plot .role-axis-label text, .plot .role-axis-title text", "fill", 4.5);
    check(".plot .mark-symbol.role-mark path[fill^='var(--s']", "fill", 3);
    return faint.slice(0, 10);
"""
)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("media", ["", "print"], ids=["screen", "print"])
def test_everything_can_be_read(browser: WebDriver, open_page: Open, scheme: str, media: str) -> None:
    """Text has a contrast of 4.5 with what it stands on, marks of 3 (WCAG 2.1 AA), printed too."""
    open_page("desk", "light")
    emulate(browser, scheme, media)  # without loading again: what was drawn must follow
    assert run(browser, READABLE) == []


def test_dark_is_dark_and_paper_is_white(browser: WebDriver, open_page: Open) -> None:
    """The page follows the reader's preference, and ignores it when printed."""
    open_page("desk", "dark")
    light = CONTRAST + "return luminance(getComputedStyle(document.querySelector('figure')).backgroundColor)"
    assert run(browser, light) < 0.05
    emulate(browser, "dark", "print")
    assert run(browser, light) > 0.95
