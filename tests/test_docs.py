"""README and docs say what is true: links and files are there, commands and plans accepted, recipes work."""

import math
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import click
import nbclient
import nbformat
import numpy as np
import pytest

from analysis.fits.known import hockney, pingpong
from anywhere import Anywhere
from leadline import machine
from leadline.analysis import fits, importers
from leadline.cli import main
from leadline.core import record
from leadline.core.errors import LeadlineError
from leadline.mpi.family import Family
from leadline.native import registry
from leadline.plan import files as plan_files
from leadline.plan.model import Plan
from leadline.report import figures
from leadline.targets.simulated.machine import SimulatedMachine
from leadline.tune import search
from planted import frame_of
from report.conftest import found

ROOT = Path(__file__).parents[1]
DOCS = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
INDENTED = re.compile(r"^    \$ (.*)$", re.MULTILINE)
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
CODE = re.compile(r"`([^`\n]+)`")
ENDINGS = ("py", "cpp", "hpp", "toml", "sh", "md", "txt", "html", "json", "jsonl", "parquet", "png")

# Paths that a reader makes, rather than ones that the repository holds: examples, and what runs leave.
MADE = re.compile(
    r"^(runs|report|tuned|DIR|\.state|\.venv)/|^MPI(-node)?\.(sh|json)$"
    r"|^(settings|space)\.(toml|h|f90)$|^settings_h5py\.py$|^(prolog|stripes)\.sh$|^report\.html$"
    r"|^(plan|my|matching|sizes)\.toml$|^(provenance|job)\.json$|^(journal|answers)\.jsonl$|^records\.parquet$|^mpi\.h$"
)
# Files of the recipes: made by whoever follows them, and made and tried by the tests below.
EXAMPLES = {"relative.py", "annealing.py", "netpipe.py", "src/leadline/report/figures/matching.py"}


def named(path: Path) -> str:
    """A document by its name in the repository."""
    return str(path.relative_to(ROOT))


def blocks(path: Path, language: str) -> list[str]:
    """The fenced blocks of a document in a language ("" for those that name none)."""
    return [text for name, text in FENCE.findall(path.read_text()) if name == language]


def prose(path: Path) -> str:
    """A document without its fenced blocks."""
    return FENCE.sub("", path.read_text())


def commands(path: Path) -> Iterator[str]:
    """Every command of a document: lines of scripts, lines after a $, and code within the prose."""
    fenced = FENCE.findall(path.read_text())
    lines = [line for name, body in fenced if name == "sh" for line in body.splitlines()]
    lines += [line[2:] for _, body in fenced for line in body.splitlines() if line.startswith("$ ")]
    lines += INDENTED.findall(prose(path)) + CODE.findall(prose(path))
    for line in lines:
        for part in re.split(r"&&|\||;", line.partition(" #")[0]):
            yield re.sub(r"^(\w+=\S* +)+", "", part.strip())  # without the variables that are set for it


def of(program: str) -> list[tuple[str, str]]:
    """(document, command) for every command of a program in the documents that has words after it."""
    found_ = [(named(path), line) for path in DOCS for line in commands(path)]
    return [(doc, line) for doc, line in found_ if re.match(rf"(\S*/)?{program} \S", line)]


def test_links_resolve() -> None:
    """A relative link names a file that is there; one with a fragment, a heading of it."""
    broken = []
    for path in DOCS:
        for target in LINK.findall(prose(path)):
            if re.match(r"[a-z]+:", target):
                continue
            name, _, fragment = target.partition("#")
            file = (path.parent / name).resolve() if name else path
            if not file.exists() or (fragment and fragment not in anchors(file)):
                broken.append(f"{named(path)}: {target}")
    assert broken == []


def anchors(path: Path) -> set[str]:
    """The anchors that a renderer makes of a document's headings."""
    headings = re.findall(r"^#+ (.*)$", prose(path), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_documents_are_reached() -> None:
    """Every document of docs/ is linked from another one: what nobody finds, nobody reads."""
    linked = {
        (path.parent / target.partition("#")[0]).resolve()
        for path in DOCS
        for target in LINK.findall(prose(path))
        if not re.match(r"[a-z]+:", target)
    }
    assert [named(path) for path in DOCS if path not in linked and path != ROOT / "README.md"] == []


def tracked() -> set[str]:
    """The files of the repository, and its folders with a slash at their end."""
    listing = ["git", "ls-files", "-co", "--exclude-standard"]
    names = subprocess.run(listing, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\n")
    there = {name for name in names if name and (ROOT / name).is_file()}
    return there | {f"{parent}/" for name in there for parent in Path(name).parents if str(parent) != "."}


def mentioned(path: Path) -> Iterator[str]:
    """What a document names as a folder (a slash at the end) or as a file (an ending of files)."""
    for words in CODE.findall(prose(path)):
        if re.fullmatch(rf"[\w./-]+\.({'|'.join(ENDINGS)})|[\w./-]+/", words) and not MADE.search(words):
            yield words


def test_files_that_are_named_are_there() -> None:
    """A file or folder in a document exists: in full, or by the end of its path (`fits/_line.py`)."""
    there = tracked()
    missing = [
        f"{named(path)}: {name}"
        for path in DOCS
        for name in mentioned(path)
        if not any(f"/{each}".endswith(f"/{name}") for each in there) and not example(name)
    ]
    assert missing == []


def example(name: str) -> bool:
    """Whether a file is one that a recipe makes."""
    return any(f"/{name}".endswith(f"/{each}") for each in EXAMPLES)


def test_a_planted_mistake_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A dead link, a missing file, an unknown verb and a wrong option are seen: else this proves little."""
    page = tmp_path / "page.md"
    page.write_text(
        "[a](gone.md) [b](#no-such-heading) `src/leadline/gone.py` `leadline measure quick` "
        "`leadline list benches` `leadline show --cvs` `make tea`\n"
    )
    monkeypatch.setattr(sys.modules[__name__], "ROOT", tmp_path)
    monkeypatch.setattr(sys.modules[__name__], "DOCS", [page])
    monkeypatch.setattr(sys.modules[__name__], "tracked", lambda: {"README.md"})
    for check in (test_links_resolve, test_files_that_are_named_are_there):
        with pytest.raises(AssertionError):
            check()
    for _, line in of("leadline"):
        with pytest.raises((click.UsageError, LeadlineError, AssertionError)):
            understand(line)
    assert [line for _, line in of("make")] == ["make tea"]


def understand(line: str) -> None:
    """Parse a command line as `leadline` would, without running it; raises what click raises."""
    verb, *words = [word for word in shlex.split(line.replace("...", ""))[1:] if word != "\\"]
    if verb.startswith("-"):
        main.make_parser(click.Context(main)).parse_args([verb])
        return
    assert isinstance(main, click.Group)
    command = main.get_command(click.Context(main), verb)
    assert command is not None, f"there is no verb {verb}"
    if isinstance(command, click.Group) and words:
        within = command.get_command(click.Context(command), words.pop(0))
        assert within is not None, f"{verb} has no such command"
        command = within
    context = click.Context(command)
    given, rest, _ = command.make_parser(context).parse_args(words)
    assert not rest, f"too many words: {rest}"
    for parameter in command.params:
        value = given.get(parameter.name or "")
        if isinstance(parameter.type, click.Choice) and isinstance(value, str) and not placeholder(value):
            parameter.type.convert(value, parameter, context)
    plan = given.get("plan")
    if isinstance(plan, str) and not placeholder(plan) and not plan.endswith(".toml"):
        assert plan in plan_files.shipped(), f"no plan {plan} is shipped"


def placeholder(word: str) -> bool:
    """Whether a word stands for others (PLAN), or for what a recipe makes."""
    return word.isupper() or example(f"{word}.py")


@pytest.mark.parametrize(("document", "line"), of("leadline"))
def test_commands_are_understood(document: str, line: str) -> None:
    """Each `leadline VERB ...` of the documents is a verb with options, choices and plans that there are."""
    understand(line)


def test_targets_of_make_are_there() -> None:
    """Each `make TARGET` of the documents is a target of the Makefile."""
    targets = set(re.findall(r"^([a-z0-9-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    asked = {(doc, word) for doc, line in of("make") for word in line.split()[1:] if "=" not in word}
    assert asked
    assert {(doc, word) for doc, word in asked if word not in targets} == set()


def test_no_document_keeps_a_list_of_the_benchmarks() -> None:
    """`leadline list benchmarks` has it: a copy would be forgotten when a file is added. None names half."""
    known = set(registry.benchmarks())
    copies = {}
    for path in DOCS:
        told = known & set(re.findall(r"[a-z]+", " ".join(CODE.findall(prose(path)))))
        if len(told) > len(known) / 2:
            copies[named(path)] = sorted(told)
    assert copies == {}


def plans() -> list[tuple[str, str]]:
    """(document, text) of every plan in the documents."""
    return [(named(path), text) for path in DOCS for text in blocks(path, "toml") if "[[measure]]" in text]


@pytest.mark.parametrize(("document", "text"), plans())
def test_plans_are_accepted(document: str, text: str, tmp_path: Path) -> None:
    """Each plan of the documents is read without complaint, and asks for points."""
    path = tmp_path / "plan.toml"
    path.write_text(text)
    plan = Plan.load(path)
    described = any(measure.settings.axes["partition"] for measure in plan.measures)
    assert plan.points(SimulatedMachine.of(machine.load("bgp"), path) if described else Anywhere())


# ------------------------------------------------------------------------------------------------ the recipes


def recipe(document: str, marker: str) -> str:
    """The block of Python in a recipe that holds `marker`."""
    [text] = [text for text in blocks(ROOT / "docs" / document, "python") if marker in text]
    return text


@pytest.fixture
def add(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[ModuleType, str, str], None]]:
    """Puts a file into a discovery room for one test: the room, the file's name, its text."""
    made: list[str] = []

    def put(room: ModuleType, name: str, text: str) -> None:
        (tmp_path / f"{name}.py").write_text(text)
        monkeypatch.setattr(room, "__path__", [*room.__path__, str(tmp_path)])
        made.append(f"{room.__name__}.{name}")

    figures.members.cache_clear()
    yield put
    for module in made:
        sys.modules.pop(module, None)
    figures.members.cache_clear()


def test_the_recipe_of_a_benchmark_shows_its_file() -> None:
    """The block is the file of the project to the byte, so that what is built and tested is what is shown."""
    [text] = blocks(ROOT / "docs" / "add-a-benchmark.md", "cpp")
    assert text == (ROOT / "native" / "benchmarks" / "matching.cpp").read_text()


def test_the_recipe_of_an_algorithm_shows_its_file() -> None:
    """As that of a benchmark does."""
    [text, counted] = blocks(ROOT / "docs" / "add-an-algorithm.md", "cpp")
    assert text == (ROOT / "native" / "collectives" / "neighbor_exchange.cpp").read_text()
    literature = ROOT / "native" / "tests" / "collectives" / "literature_test.cpp"
    assert counted.strip() in literature.read_text()


def test_the_recipe_of_a_fit_works(add: Callable[[ModuleType, str, str], None]) -> None:
    """T(n) = 1 us + n / 10 GB/s, without scatter: any weights give its two numbers back."""
    add(fits, "relative", recipe("add-a-fit.md", "QUESTION"))
    [fit] = fits.fit_all(pingpong(hockney(1e-6, 10e9)), ["relative"])
    assert [each.value for each in fit.parameters[:2]] == pytest.approx([1e-6, 10e9])
    assert fit.residuals == pytest.approx(np.zeros(fit.x.size), abs=1e-15)


def test_the_recipe_of_a_search_method_works(add: Callable[[ModuleType, str, str], None]) -> None:
    """On a valley of one parameter the walk ends where it is lowest, and it is resumed as every method is."""
    add(search, "annealing", recipe("add-a-search-method.md", "QUESTION"))
    space = search.load("gpfs-chunked")
    middle = int(space.axes[0].values[12])
    method = search.start("annealing", space, seed=1)
    while (settings := method.ask()) is not None:
        method.tell(settings, 1 + abs(math.log2(int(settings["chunk_size"]) / middle)))
    assert method.best is not None
    assert method.best.settings["chunk_size"] == middle
    again = search.start("annealing", space, seed=1)
    for each in method.told:
        again.tell(each.settings, each.seconds)
    assert again.finished


def test_the_recipe_of_a_figure_works(add: Callable[[ModuleType, str, str], None]) -> None:
    """It draws the latency of its benchmark along the depth, and leaves the fallback nothing to draw."""
    add(figures, "matching", recipe("add-a-figure.md", "FIGURES = "))
    common = {"run": "r", "source": record.MEASURED, "mpi": "mpich-4.0.2", "ranks": 2, "status": record.OK}
    common |= {"benchmark": "matching", "metric": "latency", "unit": "s", "better": "lower", "bytes": 8}
    rows = [
        {**common, "queue": queue, "depth": depth, "launch": launch, "samples": [1e-7 * (depth + 3 + launch)]}
        for queue in ("posted", "unexpected")
        for depth in (0, 64, 1024)
        for launch in range(6)
    ]
    [figure] = figures.draw(found(frame_of(rows)).subject("matching"))
    assert figure.name == "matching-latency"
    assert [entry.name for entry in figure.legend if entry.kind == "variant"] == ["posted", "unexpected"]


def test_the_recipe_of_an_importer_works(add: Callable[[ModuleType, str, str], None], tmp_path: Path) -> None:
    """1 MiB at 8 Mbps of 2**20 bits takes one second; a line of something else is refused with its number."""
    add(importers, "netpipe", recipe("add-an-importer.md", "def tables"))
    path = tmp_path / "np.out"
    records, about = importers.read("netpipe", {path: b"   1048576 8.000000   1.00000000\n"})
    assert records["samples"].to_list() == [[pytest.approx(1.0)]]
    assert records["bytes"].to_list() == [1 << 20]
    assert about["suite"] == "NetPIPE"
    with pytest.raises(LeadlineError, match=r"np\.out:2: this is no output of NetPIPE"):
        importers.read("netpipe", {path: b"1 19.07 0.0000004\nNow starting main loop\n"})


def test_the_recipe_of_an_mpi_names_what_a_family_must_tell() -> None:
    """Every method and name of `Family` is in its table, and nothing else is."""
    rows = re.findall(r"^\| (`.*?) \|", (ROOT / "docs" / "add-an-mpi.md").read_text(), re.MULTILINE)
    told = {word for row in rows for word in re.findall(r"`(\w+)`", row)}
    methods = {name for name in vars(Family) if not name.startswith("_") and callable(getattr(Family, name))}
    assert told == methods | set(Family.__annotations__)


# ---------------------------------------------------------------------------------------------------- Python


def test_the_page_on_python_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its blocks one after the other, in an empty directory, end with a page that is there."""
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for text in blocks(ROOT / "docs" / "python.md", "python"):
        exec(text, names)
    assert names["page"] == Path("report/first.html")
    assert Path("report/first.html").stat().st_size > 0


def test_the_notebook_runs(tmp_path: Path) -> None:
    """Every cell without an error; runs, summary, fits and comparison are shown as HTML with units."""
    notebook = nbformat.read(ROOT / "docs" / "notebook.ipynb", as_version=4)  # type: ignore[no-untyped-call]
    resources = {"metadata": {"path": str(tmp_path)}}
    done = nbclient.NotebookClient(notebook, timeout=600, resources=resources).execute()
    shown = [
        output["data"]["text/html"]
        for cell in done.cells
        for output in cell.get("outputs", ())
        if "text/html" in output.get("data", {})
    ]
    assert len(shown) == 4
    assert all("µs" in each for each in shown[1:])
    assert (tmp_path / "report" / "notebook.html").is_file()
