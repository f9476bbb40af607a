"""What holds for the repository as a whole: which room may know which, sizes, questions, words and counts."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import click
import pytest

from leadline import fits, importers, registry, search
from leadline.cli import main
from leadline.mpi.family import families
from leadline.report import figures

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "leadline"
NATIVE = ROOT / "native"

# -------------------------------------------------------------------------------------------- Python's arrows

# Room: what it must never import. Rooms are the modules and packages of `leadline`; what is not named here is
# free, as long as no circle comes of it.
EVERYTHING = "*"
FORBIDDEN = {
    "errors": {EVERYTHING},
    "record": {EVERYTHING},  # the one noun that crosses walls leans on nothing
    "units": {"plan", "store", "fits", "report", "mpi"},
    "statistics": {"record", "store", "plan", "fits", "report", "mpi"},  # mathematics on arrays
    "plan": {"launch", "campaign", "summary", "fits", "report"},
    "mpi": {"campaign", "store", "summary", "fits", "report", "importers"},
    "launch": {"campaign", "store", "summary", "fits", "report", "importers"},
    "store": {"plan", "launch", "campaign", "summary", "fits", "report", "mpi"},
    "importers": {"launch", "campaign", "summary", "fits", "report", "mpi"},
    "summary": {"launch", "campaign", "report", "mpi", "plan"},  # from records alone, measured or not
    "noise": {"launch", "campaign", "report", "mpi", "plan"},
    "fits": {"launch", "campaign", "report", "mpi", "plan"},
    "search": {"launch", "campaign", "store", "summary", "fits", "report", "mpi", "machine"},
    "compare": {"launch", "campaign", "report", "mpi", "plan"},
    "reproduce": {"launch", "campaign", "report", "mpi"},  # it simulates, and judges records
    "report": {"launch", "campaign", "mpi"},  # a report of an imported or simulated run needs no MPI
}


def sources() -> list[Path]:
    """Every Python file of the package."""
    return sorted(PACKAGE.rglob("*.py"))


def room(path: Path) -> str:
    """The room that a file of the package belongs to: its top-level module or package."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


@cache
def tree(path: Path) -> ast.Module:
    """The syntax tree of a file."""
    return ast.parse(path.read_text(), filename=str(path))


def imported_modules(path: Path) -> Iterator[str]:
    """Full names of the modules of `leadline` that a file imports, at its top or inside a function."""
    here = ("leadline", *path.relative_to(PACKAGE).with_suffix("").parts)
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            package = here[: len(here) - node.level] if node.level else ()
            module = ".".join([*package, *([node.module] if node.module else [])])
            # `from leadline import units` names a module, `from leadline.units import parse` an attribute.
            yield from (f"{module}.{alias.name}" for alias in node.names)


def imported_rooms(path: Path) -> set[str]:
    """The other rooms of `leadline` that a file imports from."""
    names = (name.split(".") for name in imported_modules(path))
    rooms = {parts[1] for parts in names if parts[0] == "leadline" and len(parts) > 1}
    there = {name for name in rooms if (PACKAGE / name).is_dir() or (PACKAGE / f"{name}.py").is_file()}
    return there - {room(path)}


def test_the_command_line_is_imported_by_nobody() -> None:
    """Only `python -m leadline` leans on `cli`: what it can do, a program can do without it."""
    guilty = [p for p in sources() if "cli" in imported_rooms(p) and room(p) not in {"cli", "__main__"}]
    assert guilty == []


def test_every_arrow_between_rooms_goes_the_permitted_way() -> None:
    """No room imports one that its row in FORBIDDEN names: what reads records must need no MPI, and so on."""
    wrong = [
        f"{path.relative_to(ROOT)} imports {other}"
        for path in sources()
        for other in sorted(imported_rooms(path))
        if FORBIDDEN.get(room(path), set()) & {other, EVERYTHING}
    ]
    assert wrong == []


def test_rooms_import_each_other_in_no_circle() -> None:
    """The rooms can be put in an order in which each imports only those before it."""
    arrows: dict[str, set[str]] = {}
    for path in sources():
        if path.name != "__init__.py" or path.parent != PACKAGE:
            arrows.setdefault(room(path), set()).update(imported_rooms(path))
    try:
        tuple(TopologicalSorter(arrows).static_order())
    except CycleError as problem:
        pytest.fail(f"rooms that import each other: {' -> '.join(problem.args[1])}")


def test_every_way_to_write_an_import_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Plain, from-package, relative and in-function imports count: else the tests above prove nothing."""
    (tmp_path / "fits").mkdir()
    for name in ("units", "store", "plan", "errors"):
        (tmp_path / f"{name}.py").touch()
    planted = tmp_path / "fits" / "planted.py"
    planted.write_text(
        "import leadline.units\nfrom leadline import store\nfrom ..plan import Plan\n"
        "def late():\n    from leadline.errors import LeadlineError\n"
    )
    monkeypatch.setattr(sys.modules[__name__], "PACKAGE", tmp_path)
    assert imported_rooms(planted) == {"units", "store", "plan", "errors"}


def calls_of(path: Path, names: set[str]) -> Iterator[str]:
    """Where a file calls or raises one of the dotted `names`, as `file:line name`."""
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Call | ast.Raise):
            target = node.func if isinstance(node, ast.Call) else node.exc
            if target is not None and ast.unparse(target) in names:
                yield f"{path.relative_to(ROOT)}:{node.lineno} {ast.unparse(target)}"


def test_libraries_neither_exit_nor_print() -> None:
    """Outside `cli` a problem is a LeadlineError and an answer is returned: the caller decides."""
    names = {"print", "exit", "quit", "sys.exit", "os._exit", "os.abort", "SystemExit"}
    libraries = [p for p in sources() if room(p) not in {"cli", "__main__"}]
    assert [call for path in libraries for call in calls_of(path, names)] == []


# --------------------------------------------------------------------------------------- native code's arrows

# Room: the other rooms whose headers it may include. Folders of `comm` other than itself are backends.
INCLUDES = {
    "comm": set(),
    "comm/mock": {"comm"},
    "comm/mpi": {"comm"},
    "comm/sim": {"comm", "machine", "collectives"},
    "machine": {"collectives"},
    "harness": {"comm", "collectives"},
    "collectives": set(),
    "benchmarks": {"harness", "comm"},
    "applications": {"harness", "comm", "collectives"},
    "io": {"harness", "comm"},
    "bench": {"harness", "comm", "machine"},
}
# Header: the folders within which alone it may be included; the rest knows a backend by `comm/comm.hpp`, save
# the plain programs of `bench`, which are what one writes without Leadline.
CONFINED = {"mpi.h": ("comm/mpi", "bench"), "shmem.h": ("comm/mpi",), "backend.hpp": ("comm",)}


def native_sources() -> list[Path]:
    """Every file of native code, its tests too."""
    return sorted(p for p in NATIVE.rglob("*") if p.suffix in {".cpp", ".hpp", ".c", ".h"})


def native_room(name: str) -> str:
    """The room of a path under `native`: a folder, and for `comm` the backend's folder with it."""
    parts = Path(name).parts[:-1]
    return "/".join(parts[: 2 if parts[:1] == ("comm",) else 1])


def includes(path: Path) -> list[str]:
    """What a native file includes, in quotes or in angle brackets."""
    return re.findall(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', path.read_text(), flags=re.MULTILINE)


def test_native_rooms_include_only_what_they_may() -> None:
    """Benchmarks lean on the harness, the harness on the vocabulary, and nobody but itself on a backend."""
    wrong = []
    for path in native_sources():
        here = native_room(str(path.relative_to(NATIVE)))
        if here == "tests":
            continue
        for name in includes(path):
            ours = (NATIVE / name).is_file()
            if ours and native_room(name) not in INCLUDES.get(here, set()) | {here}:
                wrong.append(f"{path.relative_to(ROOT)} includes {name}")
            allowed = CONFINED.get(name, (here,))
            if not any(here == folder or here.startswith(f"{folder}/") for folder in allowed):
                wrong.append(f"{path.relative_to(ROOT)} includes {name}: only {' and '.join(allowed)} may")
    assert wrong == []


def benchmark_files() -> list[Path]:
    """The files of the rooms of benchmarks, applications and kernels, one a benchmark."""
    return sorted(
        path for room in ("benchmarks", "applications", "io") for path in (NATIVE / room).glob("*.cpp")
    )


def test_every_benchmark_asks_its_question_first() -> None:
    """The first line of a benchmark is a comment that asks one question: it is what `leadline list` shows."""
    first = {p.name: p.read_text().splitlines()[0] for p in benchmark_files()}
    assert first
    assert {name: line for name, line in first.items() if not re.fullmatch(r"// [A-Z].*\?", line)} == {}


# -------------------------------------------------------------------------------------------- files and words

LONGEST = 400  # lines; a longer file is a place to look for a second room
LONGER_WITH_REASON: dict[str, str] = {}


def project_files() -> list[Path]:
    """Every file that is, or is about to be, in the repository."""
    listing = ["git", "ls-files", "-z", "-co", "--exclude-standard"]
    names = subprocess.run(listing, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return [ROOT / name for name in names.split("\0") if name and (ROOT / name).is_file()]


def project_texts() -> Iterator[tuple[Path, str]]:
    """Every text file of the repository with its text."""
    for path in project_files():
        raw = path.read_bytes()
        if b"\0" not in raw:
            yield path, raw.decode("utf-8")


def test_no_source_file_is_over_its_length() -> None:
    """A file over LONGEST lines has a reason in LONGER_WITH_REASON, and a reason there has such a file."""
    code = {".py", ".cpp", ".hpp", ".c", ".h", ".sh", ".js", ".css", ".html"}
    long = {
        str(path.relative_to(ROOT))
        for path, text in project_texts()
        if path.suffix in code and text.count("\n") > LONGEST
    }
    assert long == set(LONGER_WITH_REASON)


# Paths of one machine and hosts of package registries: true for who wrote them, wrong for who reads them.
OF_ONE_PLACE = re.compile(
    r"(?<![\w.])/(?:root|work|farm|home)/\w"
    r"|\b(?:pypi|pythonhosted|crates|npmjs)\.(?:org|io)\b"
    r"|\b(?:deb|security)\.debian\.org\b|\b(?:repo\.maven|proxy\.golang)\b"
)


def test_nothing_speaks_of_one_machine_or_of_a_registry_host() -> None:
    """No text of the project names a path of somebody's machine or the host of a package registry."""
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()[:80]}"
        for path, text in project_texts()
        for number, line in enumerate(text.splitlines(), 1)
        if OF_ONE_PLACE.search(line)
    ]
    assert found == []


def test_the_search_for_places_finds_a_planted_one() -> None:
    """The pattern sees a home directory and a registry, and lets ordinary paths and hosts be."""
    home, registry = "/ho" + "me/someone/x", "https://py" + "pi.org/simple"
    assert OF_ONE_PLACE.search(f"see {home}")
    assert OF_ONE_PLACE.search(registry)
    assert not OF_ONE_PLACE.search("runs/quick/plan.toml /usr/include work/x https://keepachangelog.com")


# -------------------------------------------------------------------------------------------------- discovery


def members(folder: Path, pattern: str = "*.py") -> set[str]:
    """The names of the files of a room that are members of it."""
    return {path.stem for path in folder.glob(pattern) if not path.stem.startswith("_")}


def test_every_file_of_a_discovery_room_is_found() -> None:
    """Each member of a room is found by its file alone, and nothing else is."""
    assert set(fits.names()) == members(PACKAGE / "fits")
    assert set(search.names()) == members(PACKAGE / "search")
    assert set(importers.names()) == members(PACKAGE / "importers") - {"table"}  # which the importers share
    assert set(figures.members()) == members(PACKAGE / "report" / "figures")
    found = {type(family).__module__.rpartition(".")[2] for family in families().values()}
    assert found == members(PACKAGE / "mpi" / "families")
    assert isinstance(main, click.Group)
    verbs = main.list_commands(click.Context(main))
    assert verbs == sorted(name.rstrip("_") for name in members(PACKAGE / "cli"))
    assert all(main.get_command(click.Context(main), verb) for verb in verbs)


def test_every_benchmark_file_is_in_the_registry() -> None:
    """The native program describes one for each file of the two rooms that hold them, named as the file."""
    assert set(registry.benchmarks()) == {each.stem for each in benchmark_files()}


# -------------------------------------------------------------------------------------------------- the floor


def test_a_suite_that_was_cut_short_is_noticed(tmp_path: Path) -> None:
    """The floor fails when a runner left no results, or results of skipped tests only."""
    skipped = '<testsuites><testsuite><testcase name="a"><skipped/></testcase></testsuite></testsuites>'
    (tmp_path / "skipped.xml").write_text(skipped)
    for junit in (tmp_path / "absent.xml", tmp_path / "skipped.xml"):
        command = [sys.executable, str(ROOT / "tools" / "floor.py"), f"python={junit}"]
        told = subprocess.run(command, check=False, capture_output=True, text=True)
        assert told.returncode == 1
        assert "at least" in told.stdout
