"""Every public function refuses what it cannot use in a sentence, and no error of Python's or a library's."""

import math
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from inspect import Parameter, isfunction, signature
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import leadline
from leadline import program
from leadline.core.errors import LeadlineError, UsageError
from leadline.program.grid import Grid
from leadline.program.window import Window

PINGPONG = {"benchmark": "pingpong", "bytes": "8 B", "buffers": "reused"}
# Nothing of these is a function: what a caller's own function raises is the caller's.
HOSTILE = (
    *(None, True, -1, 3, 10**30, 1.5, math.nan, math.inf, np.int64(3), np.array([1, 2]), object()),
    *([], [3], [None], ["a"], (), {}, {"a": 1}, {3: 4}, {0: 1, "a": 2}, b"x"),
    *("", " ", "nosuch", "a\0b", "x" * 5000, "\ud800", "two\nlines", "5 %"),
    *("folder", "binary", "binary.toml", "missing/file", "binary/file"),
    *map(Path, ("", ".", "folder", "binary", "binary.toml", "missing", "missing/file", "binary/file")),
)
METHODS: dict[type, list[str]] = {
    each: [name for name, method in vars(each).items() if isfunction(method) and name[0] != "_"]
    for each in (program.Comm, Window, Grid)
}
# What would do for those arguments that have no default.
USUAL = {
    **dict.fromkeys(("to", "source", "target", "color", "axis", "peer"), 0),
    **dict.fromkeys(("bytes", "size"), 8),
    **{name: {0: 8} for name in ("blocks", "gives", "takes")},
    **dict.fromkeys(("origins", "targets", "requests", "request"), ()),
    **{name: [0] for name in ("coordinates", "offset")},
    **{"time": 0, "lengths": 1, "name": "part", "what": "sends to"},
}


def halo(comm: program.Comm, turns: Any = 1) -> Iterator[Any]:
    """A program whose argument may be anything."""
    yield comm.barrier()


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with a run and what is no run, no plan and no program."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    for name in ("binary", "binary.toml"):
        (tmp_path / name).write_bytes(bytes(range(256)))
    return tmp_path


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> leadline.Run:
    """One size of a ping-pong on a described machine."""
    place = tmp_path_factory.mktemp("arguments") / "run"
    return leadline.run(leadline.Plan.of(PINGPONG, name="one", time="10 s"), "bgp", place, ranks=2)


def public(run: leadline.Run, here: Path) -> dict[str, tuple[Callable[..., Any], dict[str, Any]]]:
    """What is public by name: the function, and arguments that would do."""
    made = program.evaluate(halo, 2)
    made.write("good.program")
    plan = {"path": run.path / "plan.toml"}
    return {
        "load": (leadline.load, {"run": run}),
        "run": (leadline.run, {"plan": run.plan, "on": "bgp", "path": here / "new", "ranks": 2}),
        "summary": (leadline.summary, {"runs": run}),
        "fit": (leadline.fit, {"runs": run}),
        "compare": (leadline.compare, {"a": run, "b": run}),
        "report": (leadline.report, {"runs": run, "path": here / "page.html"}),
        "machines": (leadline.machines, {}),
        "Plan.load": (leadline.Plan.load, plan),
        "Plan.parse": (leadline.Plan.parse, {**plan, "text": '[[measure]]\nbenchmark = "pingpong"'}),
        "Plan.of": (leadline.Plan.of, {"measures": PINGPONG}),
        "evaluate": (program.evaluate, {"code": halo, "ranks": 2}),
        "read": (program.read, {"path": "good.program"}),
        "Program.write": (made.write, {"path": "made.program"}),
        "Program.table": (made.table, {}),
        "Program.before": (made.before, {"rank": 0}),
        "Program.stats": (made.stats, {"rank": 0}),
        "Program.leaves": (made.leaves, {"rank": 0}),
    }


def called(function: Callable[..., Any], arguments: dict[str, Any]) -> None:
    """Call with arguments by name, those of `*runs` in their place, and pass over what Leadline refuses."""
    parameters = signature(function).parameters
    placed = [arguments[name] for name in arguments if parameters[name].kind is Parameter.VAR_POSITIONAL]
    named = {
        name: each
        for name, each in arguments.items()
        if parameters[name].kind is not Parameter.VAR_POSITIONAL
    }
    try:
        function(*placed, **named)
    except LeadlineError as problem:
        assert "Errno" not in str(problem)


def test_no_public_function_lets_an_error_of_python_through(run: leadline.Run, here: Path) -> None:
    """Each argument in turn is each of HOSTILE; a public name that is new is to be added to `public`."""
    known = public(run, here)
    functions = {
        *(name for name in leadline.__all__ if isfunction(getattr(leadline, name))),
        *(name for name in program.__all__ if isfunction(getattr(program, name))),
    }
    assert functions <= set(known)
    assert len(HOSTILE) > 20
    for name, (function, usual) in known.items():
        if name == "run":
            continue
        for parameter in signature(function).parameters.values():
            if parameter.kind is not Parameter.VAR_KEYWORD:
                for value in HOSTILE:
                    called(function, {**usual, parameter.name: value})


def test_run_refuses_before_it_begins(run: leadline.Run, here: Path) -> None:
    """What is of no type that an argument has makes no directory."""
    function, usual = public(run, here)["run"]
    refused: dict[str, tuple[Any, ...]] = {
        "plan": (None, 3, [], "", {}, "nosuch", here),
        "on": (3, True, [], "", {}, b"x", "nosuch", here / "binary.toml"),
        "path": (3, [], "", "a\0b", "x" * 5000, True),
        "ranks": (-1, 0, 1.5, True, "4", [4]),
        "mapping": (3, [], "", "nosuch", "x" * 5000, here / "binary"),
        "network": (None, 3, [], "", "nosuch"),
        "noise": (None, 0, 3, "yes", np.array([1, 2])),
        "seed": (None, 1.5, "a", True, []),
        "point_limit": (None, -1, 0, math.nan, "1 s", True),
        "show": (0, 3, "", "a", [], True),
    }
    assert set(refused) == set(signature(function).parameters)
    for name, values in refused.items():
        for value in values:
            with pytest.raises(LeadlineError):
                function(**{**usual, name: value})
    assert not (here / "new").exists()


@pytest.mark.parametrize("kind", METHODS)
def test_no_call_of_a_ranks_code_lets_an_error_of_python_through(kind: type, here: Path) -> None:
    """Of a communicator, a window and a grid; what was asked for is written, and read again."""

    def code(comm: program.Comm, name: str, arguments: dict[str, Any]) -> Iterator[Any]:
        on: Any = comm if kind is program.Comm else comm.window(8) if kind is Window else comm.grid(1)
        if name == "region":
            with comm.region(**arguments):
                yield comm.barrier()
        else:
            called(getattr(on, name), arguments)

    written = set()
    for name in METHODS[kind]:
        parameters = [each for each in signature(getattr(kind, name)).parameters if each != "self"]
        needed = {each: USUAL[each] for each in parameters if each in USUAL}
        for asked in parameters:
            for value in HOSTILE:
                try:
                    made = program.evaluate(code, 1, name=name, arguments={**needed, asked: value})
                except LeadlineError:
                    continue
                if (made.leaves(0), *made.regions) in written:
                    continue
                written.add((made.leaves(0), *made.regions))
                made.write(here / "any.program")
                assert program.read(here / "any.program").operations_in_all == made.operations_in_all


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda comm: comm.split("a"), "rank 0: a colour is a whole number or None, but got 'a'"),
        (lambda comm: comm.split(0, "a"), "rank 0: the key of a split is a whole number, but got 'a'"),
        (lambda comm: comm.barrier(nonblocking=3), "nonblocking is True or False, but got 3"),
        (lambda comm: comm.scan(8, in_place=0), "in_place is True or False, but got 0"),
        (
            lambda comm: comm.gather(8, 1, in_place=True),
            "rank 0: the root alone has its data in place, which is 1",
        ),
        (lambda comm: comm.window(8).lock(0, exclusive=3), "exclusive is True or False, but got 3"),
        (lambda comm: comm.alltoallv(None, None), "blocks are sizes by ranks, such as {0: 8}, but got None"),
        (lambda comm: comm.send(True, 8), "sends to rank True, but the communicator has ranks 0 to 1"),
        (lambda comm: (comm.size_of(1), comm.bcast(True)), "a size is written like '4 MiB', but got true"),
        (lambda comm: comm.grid(1).shift(0, 1.5), "has a whole number for each axis, but got [1.5]"),
        (lambda comm: comm.window(8).post(0), "an epoch is with a list of ranks such as [0, 1], but got 0"),
        (lambda comm: comm.region(3).__enter__(), "a region's name is a text on one line, but got 3"),
    ],
)
def test_what_was_taken_as_it_was_is_refused(call: Callable[[program.Comm], object], said: str) -> None:
    """A colour that is a text made a communicator, a size that is True was 1, and a lock had the mode 3."""

    def code(comm: program.Comm) -> None:
        call(comm)

    with pytest.raises(UsageError) as problem:
        program.evaluate(code, ranks=2)
    assert said in str(problem.value)


def test_measurements_by_name_are_not_lost() -> None:
    """`measure=` was taken and left out without a word."""
    with pytest.raises(UsageError, match="measurements are arguments without a name"):
        leadline.Plan.of(PINGPONG, measure=[PINGPONG])


def test_numbers_of_arrays_are_numbers(run: leadline.Run, here: Path) -> None:
    """What is computed with numpy is a whole number, too, and a set of names names them."""
    ranks, seed = np.int64(2), np.int32(5)
    again = leadline.run(run.plan, "bgp", here / "again", ranks=ranks, seed=seed)  # type: ignore[arg-type]
    assert again.provenance["simulated"]["partition"] == 2
    assert leadline.compare(run, run, threshold=np.float64(0.25)).frame.height == 1
    assert program.evaluate(halo, 2).table(np.array([1]))["rank"].to_list() == [1]  # type: ignore[arg-type]


def test_a_program_takes_no_other_place_than_a_files(here: Path) -> None:
    """Written by root to /dev/null it took the place of the device; here a pipe stays one and is read."""
    written = program.evaluate(halo, 2)
    written.write(here / "file")
    os.mkfifo(here / "pipe")
    with ThreadPoolExecutor() as beside:
        reader = beside.submit((here / "pipe").read_bytes)
        written.write(here / "pipe")
        assert reader.result(timeout=60) == (here / "file").read_bytes()
    assert (here / "pipe").is_fifo()
    assert not list(here.glob(".pipe*"))
    for name, said in ((".", "Is a directory"), ("missing/file", "No such file or directory")):
        with pytest.raises(LeadlineError, match=f"cannot read or write .*: {said}"):
            written.write(here / name)
