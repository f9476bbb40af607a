"""Rows of a machine file: protocols in the order of their sizes, collectives with known algorithms."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from leadline import machine
from leadline.cli import main
from leadline.core.errors import UsageError
from leadline.native.registry import algorithms

from .test_machine import SMALL, refusal, write


def test_rows_stand_in_the_order_of_their_sizes(tmp_path: Path) -> None:
    """A protocol for sizes that the row before has taken would never be used."""
    text = SMALL.replace("handshake = true", 'handshake = true\nup_to = "1 KiB"')
    assert "[[protocol]] stand in the order of up_to, but got 1024 B" in refusal(write(tmp_path, text))


@pytest.mark.parametrize("name", ["protocol", "local_protocol", "own_protocol"])
def test_a_last_protocol_that_ends_is_refused(tmp_path: Path, name: str) -> None:
    """It served all larger messages as well, although the file says that it does not."""
    last = f'[[{name}]]\nname = "x"\nsource = "made up"\nsend_overhead = "1 us"\nreceive_overhead = "1 us"\n'
    text = f'{SMALL[: SMALL.index("[[protocol]]")] if name == "protocol" else SMALL}{last}up_to = "4 KiB"\n'
    line = len(text.splitlines())
    said = refusal(write(tmp_path, text))
    assert said == (
        f"small.toml:{line}: up_to: the last [[{name}]] has all larger messages, so it has no 'up_to'; "
        f"leave it out, or add a [[{name}]] for messages above 4 KiB"
    )


@pytest.mark.parametrize(
    "command", ["show machine {}", "run latency --on {}", "tune mapping halo.toml --on {}"]
)
def test_an_algorithm_that_its_operation_does_not_have_is_refused(tmp_path: Path, command: str) -> None:
    """It was found out by the simulator, when a point first called the operation."""
    (tmp_path / "halo.toml").write_text('[[measure]]\nbenchmark = "halo"\n')
    for operation, algorithm, end in (
        ("allreduce", "rnig", "did you mean 'ring'?"),
        ("barrier", "zzz", "known are: binomial, dissemination"),
    ):
        path = write(tmp_path, f"{SMALL}\n{row(operation, algorithm)}")
        words = command.replace("halo.toml", str(tmp_path / "halo.toml")).format(path).split()
        told = CliRunner().invoke(main, words)
        assert told.exit_code == 2
        assert f"small.toml:37: algorithm: {operation} has no algorithm '{algorithm}'; {end}" in told.output
        assert "library" not in told.output


def test_an_algorithm_of_its_operation_is_taken(tmp_path: Path) -> None:
    """Also one from a file that is extended, whose rows are checked with their own lines."""
    write(tmp_path, SMALL + row("allreduce", "ring"))
    above = write(tmp_path, 'extends = "small"\ntitle = "another"\n', "above")
    machine.load(above).check_algorithms(algorithms)
    write(tmp_path, SMALL + row("allreduce", "binary"))
    with pytest.raises(UsageError, match=r"small.toml:36: algorithm: allreduce has no"):
        machine.load(above).check_algorithms(algorithms)


def row(operation: str, algorithm: str) -> str:
    """A [[collective]]."""
    return f'[[collective]]\noperation = "{operation}"\nalgorithm = "{algorithm}"\n'


def test_an_algorithm_of_no_collective_is_refused(tmp_path: Path) -> None:
    """A misspelt operation matched nothing, and the row was ignored."""
    said = refusal(write(tmp_path, SMALL + row("allreduc", "ring")))
    assert "operation: unknown word 'allreduc'; did you mean 'allreduce'?" in said


def test_messages_within_a_node_without_a_rate_are_noted(tmp_path: Path) -> None:
    """A mebibyte took as long as a byte, and nothing said so."""
    path = write(tmp_path, SMALL)
    said = (
        f"{path} gives no rate for messages within a node above 1 KiB: their time does not depend on "
        "their size; a [[local_protocol]] with receive_copy gives one"
    )
    assert machine.load(path).caveat == said
    told = CliRunner().invoke(main, ["show", "machine", str(path)])
    assert "gives no rate for messages within a node" in told.output
    (tmp_path / "plan.toml").write_text('[[measure]]\nbenchmark = "pingpong"\nbytes = "8 B"\n')
    words = [
        "run",
        str(tmp_path / "plan.toml"),
        "--on",
        str(path),
        "--ranks",
        "4",
        "-o",
        str(tmp_path / "run"),
    ]
    assert f"leadline: note: {said}\n" in CliRunner().invoke(main, words).stderr
    local = SMALL[SMALL.index("[[protocol]]") :].replace("[[protocol]]", "[[local_protocol]]")
    for copies in ("ranks = 1", 'local = "1 GB/s"\nranks = 4', "loggops = true\nranks = 4"):
        assert not machine.load(write(tmp_path, SMALL.replace("ranks = 4", copies))).caveat
    assert not machine.load(write(tmp_path, f'{SMALL}{local}send_copy = "1 GB/s"\n')).caveat


def test_a_rate_that_nothing_uses_is_refused(tmp_path: Path) -> None:
    """The rate of the engine within a node was ignored where cores copy."""
    text = SMALL.replace("local_by_network = true", 'local = "1 GB/s"')
    assert "small.toml:14: node.local: this is the rate of messages within a node that" in refusal(
        write(tmp_path, text)
    )


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            "handshake = true",
            'handshake_overhead = "1 us"',
            "small.toml:33: handshake_overhead: no message uses this without handshake = true",
        ),
        ('"rendezvous"', '"eager"', "small.toml:29: name: the [[protocol]] on line 21 is 'eager' already"),
        (
            "local_by_network",
            "contend = 2\nlocal_by_network",
            "small.toml:19: node.contend: this is a share, 0 to 1, but got 2",
        ),
        (
            "[topology]",
            "reduce_streams = true\n[topology]",
            "reduce_streams: nothing uses this without reduce",
        ),
        (
            "[topology]",
            'lines_from = { value = "1 KiB", source = "made up" }\n[topology]',
            "lines_from: nothing uses this without line_broadcast or line_reduce",
        ),
        (
            SMALL[SMALL.index("[topology]") : SMALL.index("[links]")],
            'line_broadcast = true\n[topology]\nkind = "fat-tree"\n'
            'arity = { value = [4, 4], source = "made up" }\n',
            "line_broadcast: lines are those of a torus or a mesh, and this machine is a fat-tree",
        ),
    ],
)
def test_what_nothing_on_the_machine_uses_is_refused(tmp_path: Path, old: str, new: str, said: str) -> None:
    """Each of these was read and ignored."""
    assert said in refusal(write(tmp_path, SMALL.replace(old, new)))


def test_a_row_of_a_collective_that_is_never_taken_is_refused(tmp_path: Path) -> None:
    """The first that matches holds, so that the algorithm of one behind it was ignored."""
    few = f'{row("barrier", "linear")}ranks_up_to = {{ value = 8, source = "made up" }}\n'
    small = f'{row("barrier", "linear")}up_to = {{ value = "8 B", source = "made up" }}\n'
    every = row("barrier", "dissemination")
    for text in (few + every, few + small + every, small + row("bcast", "binomial") + every):
        assert machine.load(write(tmp_path, SMALL + text))
    for text in (every + few, few + few, small + every + row("bcast", "binomial") + small):
        said = refusal(write(tmp_path, SMALL + text))
        assert "this [[collective]] is never taken: the one of barrier on line 3" in said


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("cores = 4", "cores = 4\nsockets = 9", "node.sockets is at most cores, 4, but got 9"),
        ("threads = 2", "threads = 2\nthread_gain = 3", "node.thread_gain is more than nothing"),
        ("handshake = true", "one_way = true", "protocol.one_way is for a protocol with handshake"),
    ],
)
def test_what_the_simulator_refuses_is_refused_before_a_run(
    tmp_path: Path, old: str, new: str, said: str
) -> None:
    """Each point failed with the same reason, and the exit code was that of a measurement that failed."""
    path = write(tmp_path, SMALL.replace(old, new))
    (tmp_path / "plan.toml").write_text('[[measure]]\nbenchmark = "pingpong"\nbytes = "8 B"\n')
    words = ["run", str(tmp_path / "plan.toml"), "--on", str(path), "-o", str(tmp_path / "run")]
    told = CliRunner().invoke(main, words)
    assert told.exit_code == 2
    assert f"leadline: {path}: {said}" in told.stderr
    assert not (tmp_path / "run").exists()
