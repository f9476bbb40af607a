"""A plan says which points are measured; a wrong one is refused with the file, the line and what would do."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from anywhere import Anywhere
from leadline import machine
from leadline.core.errors import UsageError
from leadline.core.record import Record
from leadline.core.record_files import key_of
from leadline.native.registry import Benchmark, Metric, Sweep, SweepContext
from leadline.plan import files as plan_files
from leadline.plan.model import Launches, Plan, Point
from leadline.targets import Target
from leadline.targets.simulated.machine import SimulatedMachine
from planted import frame_of

LATENCY = Metric("latency", "s", "lower", "half of one round trip")


def registry(sweep_context: SweepContext) -> Mapping[str, Benchmark]:
    """Two benchmarks: one of two ranks, and one whose default values are its pairs of ranks."""
    size = Sweep("bytes", "B", "bytes", (0, 8), "message size")
    return {
        "pingpong": Benchmark(
            "pingpong",
            "How long does a message take?",
            2,
            2,
            (size, Sweep("buffers", "1", "choice", ("reused", "rotated"), "", ("reused", "rotated"))),
            (LATENCY,),
        ),
        "multistream": Benchmark(
            "multistream",
            "How much do pairs get?",
            2,
            None,
            (Sweep("pairs", "1", "count", tuple(range(1, sweep_context.ranks // 2 + 1)), "pairs"), size),
            (LATENCY,),
        ),
    }


def load(tmp_path: Path, text: str) -> Plan:
    """The plan with that text."""
    path = tmp_path / "some.toml"
    path.write_text(text)
    return Plan.load(path, registry)


def expand(tmp_path: Path, text: str, cores: int = 2) -> list[Point]:
    """The points of the plan with that text, on a machine with one Open MPI and one MPICH."""
    found = {"found": ["openmpi-4.1.4", "mpich-4.0.2"], "openmpi": ["openmpi-4.1.4"]}
    return load(tmp_path, text).points(Anywhere(count=cores, words=found))


def test_a_small_plan_takes_every_default(tmp_path: Path) -> None:
    """One benchmark without keys: all values of its sweeps, on every MPI, with its least number of ranks."""
    points = expand(tmp_path, '[[measure]]\nbenchmark = "pingpong"\n')
    assert len(points) == 2 * 2 * 2  # MPIs, sizes, buffers
    assert {point.mpi for point in points} == {"openmpi-4.1.4", "mpich-4.0.2"}
    first = points[0]
    assert first.values == {"bytes": 0, "buffers": "reused"}
    assert (first.ranks, first.stack, first.protocol, first.placement) == (2, "default", "default", "default")
    assert (first.tolerance, first.launches) == (0.02, Launches(6, 60))
    assert first.time is None


def test_measures_override_the_plan(tmp_path: Path) -> None:
    """What a [[measure]] says holds for it; what it does not say is as the plan says."""
    points = expand(
        tmp_path,
        """
        mpi = "openmpi"
        tolerance = "5 %"
        launches = 10
        point_time = "2 ms"
        placement = "sockets"
        [[measure]]
        benchmark = "pingpong"
        bytes = "8 B"
        buffers = "reused"
        tolerance = 0.01
        time = "1 min"
        hosts = ["a", "b"]
        [[measure]]
        benchmark = "multistream"
        """,
    )
    one, other = points[0], points[1]
    assert (one.tolerance, one.time, one.hosts) == (0.01, 60, ("a", "b"))
    assert (other.tolerance, other.time, other.hosts) == (0.05, None, ())
    assert {p.launches for p in points} == {Launches(10, 10)}
    assert {p.point_time for p in points} == {0.002}
    assert {p.placement for p in points} == {"sockets"}


@pytest.mark.parametrize(
    ("written", "sizes"),
    [
        ('"0 B .. 16 B"', [0, 1, 2, 4, 8, 16]),
        ('"1 .. 3"', [1, 2]),
        ('"1 KiB..4KiB"', [1024, 2048, 4096]),
        ('"1 B .. 50 B step 16 B"', [1, 17, 33, 49]),
        ('["8 B", 1024, "0 .. 2"]', [8, 1024, 0, 1, 2]),
        ("64", [64]),
    ],
)
def test_sizes_and_ranges(tmp_path: Path, written: str, sizes: list[int]) -> None:
    """A range doubles, or goes by its step, and never passes its end."""
    points = expand(
        tmp_path, f'mpi = "x"\n[[measure]]\nbenchmark = "pingpong"\nbuffers = "reused"\nbytes = {written}\n'
    )
    assert sizes == [point.values["bytes"] for point in points]


def test_axes_multiply(tmp_path: Path) -> None:
    """Every launch axis that is a list gives its own points: 2 stacks, 3 protocols, 2 placements."""
    points = expand(
        tmp_path,
        """
        [[measure]]
        benchmark = "pingpong"
        mpi = ["openmpi"]
        bytes = 8
        buffers = "reused"
        stack = ["shared-memory", "tcp+self"]
        protocol = ["default", "eager", "rendezvous"]
        placement = ["core-group", "nodes"]
        """,
    )
    assert len(points) == 2 * 3 * 2
    assert len({point.launch_key for point in points}) == len(points)


def test_points_of_one_launch_share_its_key(tmp_path: Path) -> None:
    """Sizes, buffers and benchmarks with equal ranks go into one launch; more ranks need another."""
    points = expand(
        tmp_path,
        'mpi = "x"\n[[measure]]\nbenchmark = "pingpong"\n'
        '[[measure]]\nbenchmark = "multistream"\nranks = [2, 4]\n',
    )
    assert {point.ranks for point in points} == {2, 4}
    assert len({point.launch_key for point in points}) == 2


def test_default_values_follow_the_number_of_ranks(tmp_path: Path) -> None:
    """With r ranks there are r / 2 pairs; "cores" is as many ranks as the machine has cores, where it may."""
    points = expand(
        tmp_path,
        'mpi = "x"\n[[measure]]\nbenchmark = "multistream"\nbytes = 8\nranks = "cores"\n'
        '[[measure]]\nbenchmark = "pingpong"\nbytes = 8\nbuffers = "reused"\nranks = "cores"\n',
        cores=6,
    )
    assert [(p.benchmark, p.ranks) for p in points] == [("multistream", 6)] * 3 + [("pingpong", 2)]
    assert [p.values["pairs"] for p in points[:3]] == [1, 2, 3]


@pytest.mark.parametrize(
    ("ranks", "benchmark", "taken"), [(1, "barrier", "2 ranks or more"), (3, "pingpong", "2 ranks")]
)
def test_ranks_of_the_plan_that_nothing_can_use_are_refused(
    tmp_path: Path, ranks: int, benchmark: str, taken: str
) -> None:
    """They were left out, and the benchmark ran on as many ranks as it takes."""
    path = tmp_path / "plan.toml"
    path.write_text(f'ranks = [2, {ranks}]\n[[measure]]\nbenchmark = "{benchmark}"\n')
    with pytest.raises(UsageError) as problem:
        Plan.load(path)
    assert str(problem.value) == f"{path}:1: ranks: no measurement can use {ranks}: {benchmark} takes {taken}"


def test_ranks_of_the_plan_stand_where_they_can(tmp_path: Path) -> None:
    """Ranks set above all measures are taken by those benchmarks that can use them."""
    points = expand(
        tmp_path,
        'mpi = "x"\nranks = 4\n[[measure]]\nbenchmark = "multistream"\n[[measure]]\nbenchmark = "pingpong"\n',
    )
    assert {(p.benchmark, p.ranks) for p in points} == {("multistream", 4), ("pingpong", 2)}


def test_one_mpi_named_twice_is_measured_once(tmp_path: Path) -> None:
    """ "found" contains "openmpi": the identities are what is told apart, not the words."""
    points = expand(
        tmp_path,
        'mpi = ["found", "openmpi"]\n[[measure]]\nbenchmark = "pingpong"\nbytes = 8\nbuffers = "reused"\n',
    )
    assert [point.mpi for point in points] == ["openmpi-4.1.4", "mpich-4.0.2"]


def test_headline_marks_the_points_it_names(tmp_path: Path) -> None:
    """All points with the named values are headlines, whatever their other coordinates."""
    points = expand(
        tmp_path,
        '[headline]\nbenchmark = "pingpong"\nbytes = "8 B"\nshare = "30 %"\n'
        '[[measure]]\nbenchmark = "pingpong"\n',
    )
    assert {(p.values["bytes"], p.values["buffers"]) for p in points if p.headline} == {
        (8, "reused"),
        (8, "rotated"),
    }
    assert sum(point.headline for point in points) == 4  # on each of two MPIs


def test_a_point_and_its_records_have_the_same_key(tmp_path: Path) -> None:
    """A killed run knows its points again by their records, also after a round through a table."""
    point = expand(tmp_path, 'mpi = "x"\n[[measure]]\nbenchmark = "pingpong"\nbytes = 8\n')[0]
    row = {
        "benchmark": "pingpong",
        "metric": "latency",
        "mpi": "x",
        "stack": "default",
        "protocol": "default",
        "placement": "default",
        "ranks": 2,
        "launch": 3,
        **point.values,
        "pairs": None,  # a coordinate of another benchmark in the same table
    }
    assert point.key == key_of(Record.of(row))
    assert point.key == key_of(Record.of(frame_of([row, {**row, "bytes": "a word"}]).to_dicts()[0]))


GOOD = '[[measure]]\nbenchmark = "pingpong"\n'


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ('mpi = ["openmpi"\n', 1, "this is not TOML"),
        ("a = 1\na = 2\n", 2, "a key occurs twice in its table"),
        ("a = 1\nb = \n", 2, "this is not TOML, column 5: invalid value"),
        ("", 1, "at least one [[measure]]"),
        ('tolerence = "2 %"\n' + GOOD, 1, "unknown key 'tolerence' in a plan; did you mean 'tolerance'?"),
        (
            GOOD + 'bites = "8 B"\n',
            3,
            "unknown key 'bites' in a [[measure]] of pingpong; did you mean 'bytes'?",
        ),
        (
            '[[measure]]\nbenchmark = "pingpnog"\n',
            2,
            "unknown benchmark 'pingpnog'; did you mean 'pingpong'?",
        ),
        (
            '[[measure]]\nbenchmrk = "pingpong"\n',
            2,
            "unknown key 'benchmrk' in a [[measure]]; did you mean 'benchmark'?",
        ),
        ("[[measure]]\nbytes = 8\n", 1, "a [[measure]] needs the key 'benchmark'"),
        ("[[measure]]\nbenchmark = 8\n", 2, "benchmark: this is a word in quotes, but got 8"),
        (GOOD + 'bytes = "8 KB"\n', 3, "bytes: unknown unit 'KB' in '8 KB'; units for a size are B, KiB"),
        (GOOD + "bytes = -8\n", 3, "bytes: a size is a whole number of bytes, 0 or more, but got -8"),
        (GOOD + 'bytes = "99999999999999999999 B"\n', 3, "bytes: a size is less than 2^63 bytes, but got"),
        (GOOD + f"ranks = {2**63}\n", 3, "ranks: a count is less than 2^63, but got"),
        (GOOD + "bytes = []\n", 3, "bytes: the list is empty"),
        (GOOD + 'bytes = ["8 B", 8]\n', 3, "bytes: 8 is listed twice"),
        (GOOD + 'bytes = "8 B .. 1 B"\n', 3, "bytes: a range goes upwards, but got '8 B .. 1 B'"),
        (GOOD + 'bytes = "1 .. 8 step 0"\n', 3, "bytes: the step of a range is 1 or more"),
        (GOOD + 'bytes = "0 B .. 1 GiB step 1 B"\n', 3, "more than 100000 values"),
        (GOOD + 'buffers = "rotatd"\n', 3, "buffers: unknown word 'rotatd'; did you mean 'rotated'?"),
        (GOOD + "buffers = 3\n", 3, "buffers: this is a word in quotes, but got 3"),
        (GOOD + 'stack = "shm"\n', 3, "stack: unknown transport 'shm' in stack 'shm'"),
        (GOOD + 'placement = "socket"\n', 3, "placement: unknown word 'socket'; did you mean 'sockets'?"),
        (GOOD + 'protocol = ["eager", "lazy"]\n', 3, "protocol: unknown word 'lazy'"),
        (GOOD + "mpi = 4\n", 3, "mpi: this is a word in quotes, but got 4"),
        (GOOD + "ranks = 3\n", 3, "ranks: pingpong takes 2 ranks, but got 3"),
        (GOOD + "ranks = 0\n", 3, "ranks: there is at least one rank"),
        (GOOD + 'ranks = "many"\n', 3, "ranks: unknown word 'many'; known are: cores"),
        (GOOD + 'time = "-3 s"\n', 3, "time: a time is 0 or more, but got '-3 s'"),
        (GOOD + "time = 10\n", 3, "time: a time needs its unit"),
        (GOOD + 'tolerance = "0 %"\n', 3, "tolerance: this must be positive"),
        (GOOD + 'tolerance = "2 s"\n', 3, "tolerance: unknown unit 's' in '2 s'; units for a fraction are %"),
        (GOOD + "launches = {at_least = 9}\n", 3, "launches: this is a number or a table with at_least"),
        (GOOD + "launches = {at_least = 9, at_most = 3}\n", 3, "at_most no less, but got 9 and 3"),
        (GOOD + "launches = 0\n", 3, "at_least is 1 or more"),
        (GOOD + 'point_limit = "1 ms"\n', 3, "point_limit, 0.001 s, is less than point_time, 0.01 s"),
        (GOOD + "oversubscribe = 1\n", 3, "oversubscribe: this is true or false, but got 1"),
        (GOOD + "question = 'what?'\n", 3, "unknown key 'question' in a [[measure]]"),
        ("measure = 3\n", 1, "measure is written [[measure]]"),
        ('time = "0 s"\n' + GOOD, 1, "time: time must be positive"),
        ("question = 3\n" + GOOD, 1, "question: this is a text in quotes"),
        ('[headline]\nbenchmark = "pong"\n' + GOOD, 2, "unknown benchmark 'pong'"),
        (
            '[headline]\nbenchmark = "pingpong"\nbytes = [1, 2]\n' + GOOD,
            3,
            "bytes: a headline is one point, but got 2 values",
        ),
        ('[headline]\nbenchmark = "pingpong"\nshare = 1\n' + GOOD, 3, "share: this lies between 0 and 1"),
        ('[[headline]]\nbenchmark = "pingpong"\n' + GOOD, 1, "headline is written [headline], once"),
        ('[headlines]\nbenchmark = "pingpong"\n' + GOOD, 1, "unknown key 'headlines' in a plan"),
        (GOOD + "\n# a comment\n" + GOOD + "rank = 2\n", 7, "unknown key 'rank'"),
    ],
)
def test_mistakes_are_named_with_file_and_line(tmp_path: Path, text: str, line: int, says: str) -> None:
    """One sentence: where, what was got, what would do."""
    with pytest.raises(UsageError) as caught:
        load(tmp_path, text)
    assert says in str(caught.value)
    assert str(caught.value).startswith(f"{tmp_path / 'some.toml'}:{line}: ")
    assert "\n" not in str(caught.value)


def test_the_same_point_twice_is_refused(tmp_path: Path) -> None:
    """Two measures with a point in common name it and the line of the first."""
    with pytest.raises(UsageError, match=r":4: pingpong bytes=8 B buffers=reused, .* on line 1"):
        expand(tmp_path, GOOD + 'bytes = [8, 16]\n[[measure]]\nbenchmark = "pingpong"\nbytes = 8\n')


def test_a_headline_outside_the_plan_is_refused(tmp_path: Path) -> None:
    """A headline is one of the plan's points: nothing else would have its other sizes beside it."""
    with pytest.raises(UsageError, match=r":1: \[headline\] names pingpong bytes=9, which no"):
        expand(tmp_path, '[headline]\nbenchmark = "pingpong"\nbytes = 9\n' + GOOD)


def test_no_mpi_here_is_no_mistake_in_the_plan(tmp_path: Path) -> None:
    """Where no MPI is found there are no points, and the headline is not to blame."""
    text = '[headline]\nbenchmark = "pingpong"\nbytes = 8\n' + GOOD
    assert load(tmp_path, text).points(Anywhere(words={"found": []})) == []


def test_files_that_are_no_plan(tmp_path: Path) -> None:
    """Nothing, a directory, and bytes that are no text."""
    with pytest.raises(UsageError, match=r"cannot read the plan .*missing.toml: No such file"):
        Plan.load(tmp_path / "missing.toml", registry)
    with pytest.raises(UsageError, match=r"cannot read the plan .*: Is a directory"):
        Plan.load(tmp_path, registry)
    (tmp_path / "binary.toml").write_bytes(b"a = 1\nb = '\xff'\n")
    with pytest.raises(UsageError, match=r"binary.toml:2: a plan is UTF-8 text"):
        Plan.load(tmp_path / "binary.toml", registry)


def test_plans_are_found_by_path_and_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A path stays a path; a word is a shipped plan, or nearly one."""
    monkeypatch.setattr(plan_files, "shipped", lambda: {"quick": tmp_path / "quick.toml"})
    assert tmp_path / "quick.toml" == plan_files.find("quick")
    assert Path("my/own.toml") == plan_files.find("my/own.toml")
    with pytest.raises(UsageError, match=r"'quik'.*'quick'"):
        plan_files.find("quik")


def test_what_is_not_a_table_array_is_still_placed(tmp_path: Path) -> None:
    """Inline tables have no header: the complaint points at the line of their key."""
    with pytest.raises(UsageError, match=r":2: unknown benchmark 'pingpnog'"):
        load(tmp_path, '# plan\nmeasure = [{benchmark = "pingpnog"}]\n')


def test_a_rank_on_every_node(tmp_path: Path) -> None:
    """The hosts that the plan names, each once, else those that the target was given."""
    measure = '[[measure]]\nbenchmark = "pingpong"\nbytes = 8\nbuffers = "reused"\nranks = "nodes"\n'
    named = load(tmp_path, 'hosts = ["a", "b"]\n' + measure)
    assert [point.hosts for point in named.points(Anywhere())] == [("a", "b")]
    several = '[[measure]]\nbenchmark = "multistream"\nranks = "nodes"\n'
    points = load(tmp_path, 'hosts = ["a", "b", "c"]\n' + several).points(Anywhere())
    assert {point.ranks for point in points} == {3}
    given = replace(Anywhere(), hosts=("x", "y", "z", "w"), agent="/bin/enter")
    points = load(tmp_path, several).points(given)
    assert {(point.ranks, point.hosts, point.agent) for point in points} == {
        (4, ("x", "y", "z", "w"), "/bin/enter")
    }


@pytest.mark.parametrize("name", sorted(plan_files.shipped()))
def test_shipped_plans_are_sound(name: str) -> None:
    """Each asks a question, fits the benchmarks that there are, and has points on small and large nodes.

    A plan that names mappings or partitions is for a described machine: that of its name, or Blue Gene/P.
    """
    path = plan_files.shipped()[name]
    plan = Plan.load(path)
    assert plan.question.endswith("?")
    targets: list[Target] = [Anywhere(count=cores) for cores in (2, 64)]
    if any(
        measure.settings.axes["mapping"] or measure.settings.axes["partition"] for measure in plan.measures
    ):
        targets = [SimulatedMachine.of(machine.load(name if name in machine.names() else "bgp"), path)]
    for target in targets:
        assert plan.points(target)


def test_the_plans_that_make_needs_are_shipped() -> None:
    """`make report` measures with quick; full is its longer kin."""
    assert {"quick", "full"} <= set(plan_files.shipped())
