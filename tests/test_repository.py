"""What holds for the repository as a whole: which room may know which, sizes, questions, words and counts."""

import ast
import re
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import click
import pytest

from arrows import graph, modules, way
from leadline.analysis import fits, importers
from leadline.cli import main
from leadline.mpi.family import families
from leadline.native import registry
from leadline.report import figures
from leadline.tune import search

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "leadline"
NATIVE = ROOT / "native"

# -------------------------------------------------------------------------------------------- Python's arrows

# The rooms of `leadline` from the ground up: each may import those before it, and none after it.
LAYERS = [
    "core",
    "batch",
    "program",
    "mpi",
    "native",
    "machine",
    "plan",
    "targets",
    "record",
    "analysis",
    "profile",
    "run",
    "calibrate",
    "predict",
    "tune",
    "report",
    "papers",
    "api",
    "cli",
]
# Room or module: what it must not reach, through whatever number of imports. What reads records needs no MPI.
UNREACHABLE = {
    "analysis": ("mpi", "native", "machine", "plan", "targets", "run"),
    "calibrate": ("mpi", "native", "plan", "targets", "run"),
    "report": ("mpi", "native", "targets", "run.campaign"),
    "tune.search": ("mpi", "native", "targets", "run", "analysis"),
    "core.statistics": ("core.record",),  # mathematics on arrays
}


def room(name: str) -> str:
    """The room of a module: the first name below `leadline`; empty for `leadline` itself and `__main__`."""
    parts = name.split(".")
    return parts[1] if len(parts) > 1 and parts[1] != "__main__" else ""


def sources() -> list[Path]:
    """Every Python file of the package."""
    return sorted(modules().values())


def test_rooms_import_only_what_is_below_them() -> None:
    """A module imports from its own room and from those before it in LAYERS; `papers` and `cli` are last."""
    wrong = {
        (room(name), room(other)): f"{name} imports {other}"
        for name, others in graph().items()
        for other in others
        if room(name) and room(other) and LAYERS.index(room(other)) > LAYERS.index(room(name))
    }
    assert wrong == {}


@pytest.mark.parametrize("start", UNREACHABLE)
def test_what_reads_records_reaches_no_mpi(start: str) -> None:
    """No chain of imports, also of those by name at run time, leads from a room to what it must not need."""
    members = [name for name in modules() if f"{name}.".startswith(f"leadline.{start}.")]
    assert members
    for goal in UNREACHABLE[start]:
        chains = [way(name, f"leadline.{goal}") for name in members]
        found = [" -> ".join(chain) for chain in chains if chain]
        assert found == []


def test_no_module_takes_what_is_private_to_another_package() -> None:
    """A module whose name begins with `_` is imported within its own package only."""
    taken = {
        f"{name} {other}".replace("leadline.", "")
        for name, others in graph().items()
        for other in others
        if any(part.startswith("_") for part in other.split(".")[1:])
        and not name.startswith(re.split(r"\._", other, maxsplit=1)[0])
    }
    assert taken == set()


def test_every_way_to_write_an_import_is_seen(tmp_path: Path) -> None:
    """Plain, relative, in-function and run-time imports count; those that only types need do not."""
    planted = tmp_path / "leadline"
    (planted / "fits").mkdir(parents=True)
    for name in ("units", "store", "plan", "errors", "launch", "fits/__init__", "fits/asymptotic"):
        (planted / f"{name}.py").touch()
    (planted / "fits" / "all.py").write_text(
        "import leadline.units\nfrom leadline import store\nfrom ..plan import Plan\n"
        "def late():\n    from leadline.errors import LeadlineError\n"
        "    import_module(f'{__package__}.{name}')\n"
        "if TYPE_CHECKING:\n    from leadline import launch\n"
    )
    found = {name.removeprefix("leadline.") for name in graph(planted)["leadline.fits.all"]}
    assert found - {"fits"} == {"units", "store", "plan", "errors", "fits.asymptotic"}


@cache
def tree(path: Path) -> ast.Module:
    """The syntax tree of a file."""
    return ast.parse(path.read_text(), filename=str(path))


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
    libraries = [path for name, path in modules().items() if room(name) not in {"cli", ""}]
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
    "benchmarks": {"harness", "comm", "program"},
    "program": {"harness", "comm"},
    "applications": {"harness", "comm", "collectives"},
    "io": {"harness", "comm"},
    "bench": {"harness", "comm", "machine"},
}
# Header: the folders within which alone it may be included; the rest knows a backend by `comm/comm.hpp`, save
# the plain programs of `bench`, which are what one writes without Leadline.
CONFINED = {"mpi.h": ("comm/mpi", "bench", "record"), "shmem.h": ("comm/mpi",), "backend.hpp": ("comm",)}


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
    assert set(fits.names()) == members(PACKAGE / "analysis" / "fits")
    assert set(search.names()) == members(PACKAGE / "tune" / "search")
    assert set(importers.names()) == members(PACKAGE / "analysis" / "importers") - {
        "table"
    }  # which the importers share
    assert set(figures.members()) == members(PACKAGE / "report" / "figures")
    found = {type(family).__module__.rpartition(".")[2] for family in families().values()}
    assert found == members(PACKAGE / "mpi" / "families")
    assert isinstance(main, click.Group)
    verbs = main.list_commands(click.Context(main))
    folders = {path.parent.name for path in (PACKAGE / "cli").glob("*/__init__.py")}
    assert verbs == sorted(name.rstrip("_") for name in members(PACKAGE / "cli") | folders)
    assert all(main.get_command(click.Context(main), verb) for verb in verbs)


def test_every_benchmark_file_is_in_the_registry() -> None:
    """The native program describes one for each file of the two rooms that hold them, named as the file."""
    assert set(registry.benchmarks()) == {each.stem for each in benchmark_files()}
