"""`leadline tune mapping`: what is simulated, what is chosen, how it is written, what is refused."""

import json
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result

from leadline import program
from leadline.cli import main
from leadline.core.errors import UsageError
from leadline.machine.rank_mapping import Place, read
from leadline.tune.mapping import tuning as mapping
from leadline.tune.mapping.candidates import Candidate
from leadline.tune.mapping.costs import PartitionDistances, cost
from leadline.tune.mapping.forms import hosts
from leadline.tune.mapping.traffic import Traffic, halo, write

HALO = 'ranks = 64\n[[measure]]\nbenchmark = "halo"\nedge = 64\nway = "nonblocking"\n'
PINGPONG = '[[measure]]\nbenchmark = "pingpong"\nbytes = "8 B"\n'
BGP = PartitionDistances({"kind": "mesh", "shape": [2, 2, 4]}, 4)  # 64 ranks of it


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A simulator on which an exchange takes 1 us, and 1 ns for each byte that makes a hop."""

    def times(self: Any, candidates: Sequence[Candidate]) -> list[tuple[float, ...] | None]:
        distances, traffic = self.task.distances, self.task.traffic
        found = [cost(distances, traffic, each.nodes(distances)).hop_bytes for each in candidates]
        return [tuple(1e-6 + 1e-9 * each for _ in self.task.cases) for each in found]

    monkeypatch.setattr(mapping._Simulator, "times", times)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "halo.toml").write_text(HALO)
    (tmp_path / "other.toml").write_text(PINGPONG)
    number = np.random.default_rng(3).permutation(64)
    grid = halo(64, 2, [64])
    write(Traffic.of(64, number[grid.source], number[grid.target], grid.bytes), tmp_path / "m.csv")
    return tmp_path


def tune(*words: str) -> Result:
    """What `leadline tune mapping` says."""
    return CliRunner().invoke(main, ["tune", "mapping", *words])


def best(result: Result) -> dict[str, Any]:
    """The best mapping of a table in JSON."""
    assert result.exit_code == 0, result.output
    (found,) = (each for each in json.loads(result.stdout) if each["best"])
    return dict(found)


def test_a_program_is_one_that_says_what_is_left_out(toy: Path) -> None:
    """By itself or as a matrix; the answer says where it leaves collectives out."""

    def code(comm: program.Comm, collective: bool) -> Generator[Any, Any, None]:
        yield comm.sendrecv((comm.rank + 1) % comm.size, 100, (comm.rank - 1) % comm.size, 100)
        yield comm.barrier()
        if collective:
            yield comm.allreduce(8)

    left_out = "What the program's collectives move is left out"
    for collective in (False, True):
        program.evaluate(code, ranks=8, collective=collective).write(toy / "ring.program")
        for words in (["ring.program"], ["--matrix", "ring.program"]):
            told = tune(*words, "--on", "bgp", "--within", "1 s")
            assert told.exit_code == 0, told.output
            assert "8 pairs that exchange 800 B" in told.output
            assert (left_out in " ".join(told.output.split())) == collective


def test_a_halo_is_laid_over_the_machine(toy: Path) -> None:
    """The best mapping is found by simulation, told beside the usual one, and written as seats."""
    told = tune("halo.toml", "--on", "bgp", "--within", "3 s", "-o", "seats.txt", "--form", "seats", "--json")
    found = best(told)
    assert found["time"] < 1
    rows = json.loads(told.stdout)
    assert [row["mapping"] for row in rows if row["usual"]] == ["XYZT"]
    assert found["time"] == min(row["time"] for row in rows)
    place = Place.of({"kind": "mesh", "shape": [2, 2, 4]}, 4, "here")
    assert len(read(Path("seats.txt"), place, 64)) == 64


def test_a_scrambled_matrix_is_unscrambled(toy: Path) -> None:
    """As good as the halo whose ranks have their own numbers."""
    plain = best(tune("halo.toml", "--on", "bgp", "--within", "3 s", "--json"))
    found = best(tune("--matrix", "m.csv", "--on", "bgp", "--within", "3 s", "--json"))

    def hop_bytes(row: dict[str, Any]) -> float:
        return float(next(iter(row["times"].values())) - 1e-6)

    assert hop_bytes(found) <= hop_bytes(plain) * 1.001


def test_a_rank_file_names_a_host_and_a_slot_for_each_rank(toy: Path) -> None:
    """Four ranks on each of 16 nodes."""
    words = ["--within", "2 s", "--hosts", "n[00-15]", "--form", "rankfile", "-o", "out/ranks"]
    told = tune("halo.toml", "--on", "bgp", *words)
    assert told.exit_code == 0, told.output
    assert "mpirun --rankfile out/ranks" in told.output
    lines = Path("out/ranks").read_text().splitlines()
    assert [line.partition("=")[0] for line in lines] == [f"rank {rank}" for rank in range(64)]
    places = {line.partition("=")[2] for line in lines}
    assert places == {f"n{node:02d} slot={slot}" for node in range(16) for slot in range(4)}


def test_a_host_file_has_a_line_a_rank(toy: Path) -> None:
    """Each node as often as it has cores."""
    told = tune("halo.toml", "--on", "bgp", "--within", "2 s", "--form", "hostfile", "-o", "hosts")
    assert "SLURM_HOSTFILE=hosts" in told.output
    lines = Path("hosts").read_text().split()
    assert {line: lines.count(line) for line in lines} == {f"node{node}": 4 for node in range(16)}


def test_an_order_is_sought_among_orders(toy: Path) -> None:
    """Nothing else is simulated where an order is asked for."""
    told = tune("halo.toml", "--on", "bgp", "--within", "2 s", "--form", "order", "-o", "o.txt", "--json")
    assert {row["kind"] for row in json.loads(told.stdout)} == {"order"}
    assert sorted(Path("o.txt").read_text().strip()) == sorted("XYZT")


def test_the_method_is_said(toy: Path) -> None:
    """What was held against what, what was simulated, and the gain."""
    told = tune("halo.toml", "--on", "bgp", "--within", "2 s").output
    assert "a gain of" in told
    assert "compared with XYZT by bytes times hops and by the busiest link" in told
    assert "edge=64" in told


def test_what_was_cut_is_said(toy: Path) -> None:
    """No time for a tiling, and one order to count: singular and plural, a sentence each."""
    told = tune("halo.toml", "--on", "bgp", "--within", "1 us").output
    assert "\n0 tilings tried, then a fifth of --within was over; more time tries more.\n" in told
    assert "Left out" not in told


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["other.toml", "--on", "bgp"], "has no [[measure]] of halo or halo3d"),
        (["--on", "bgp"], "--matrix"),
        (["halo.toml", "--on", "bgq"], "no machine 'bgq'"),
        (["--matrix", "m.csv", "--ranks", "32", "--on", "bgp"], "there are ranks 0 to 31, but got"),
        (["halo.toml", "--on", "bgp", "--within", "soon"], "--within: "),
        (["halo.toml", "--on", "bgp", "--hosts", "a,b"], "of 16 nodes, but a,b names 2"),
        (["halo.toml", "--on", "bgp", "--ranks", "9999999"], "has 1 to 1,048,576 ranks"),
    ],
)
def test_what_cannot_be_meant_is_refused(toy: Path, words: list[str], says: str) -> None:
    """Exit code 2 and one sentence."""
    told = tune(*words)
    assert told.exit_code == 2
    assert says in told.output
    assert told.output.count("\n") == 1


def test_halos_of_several_sizes_must_be_told_apart(toy: Path) -> None:
    """Or all are asked of the ranks that are named."""
    Path("two.toml").write_text(HALO.replace("ranks = 64", "ranks = [16, 64]"))
    told = tune("two.toml", "--on", "bgp")
    assert told.exit_code == 2
    assert "its halos are of 16, 64 ranks; choose one with --ranks" in told.output
    assert tune("two.toml", "--on", "bgp", "--ranks", "64", "--within", "1 s").exit_code == 0


@pytest.mark.parametrize(
    ("given", "names"),
    [
        (None, ["node0", "node1", "node2"]),
        ("a,b,c,d", ["a", "b", "c"]),
        ("n[08-10]x", ["n08x", "n09x", "n10x"]),
        ("a[1,3],b", ["a1", "a3", "b"]),
    ],
)
def test_hosts(given: str | None, names: list[str]) -> None:
    """Slurm's words for lists of nodes."""
    assert hosts(given, 3) == names


@pytest.mark.parametrize("given", ["n[1-", "n[3-1]", "n[a-b]", "a,a,b"])
def test_wrong_hosts_are_told(given: str) -> None:
    """In a sentence."""
    with pytest.raises(UsageError, match="--hosts"):
        hosts(given, 3)


def test_hosts_may_be_a_file(tmp_path: Path) -> None:
    """A name a line."""
    path = tmp_path / "hosts"
    path.write_text("x\ny\nz\n")
    assert hosts(str(path), 2) == ["x", "y"]


def test_a_file_of_too_few_places_counts_lines_and_ranks_in_words(tmp_path: Path) -> None:
    """A job of one rank is not one of "1 ranks"."""
    place = Place.of({"kind": "mesh", "shape": [2, 2, 4]}, 4, "a partition of bgp")
    path = tmp_path / "seats.txt"
    few = [("", 1, "0 lines, one a rank, but the job has 1 rank")]
    few.append(("0 0 0 0\n", 1024, "1 line, one a rank, but the job has 1,024 ranks"))
    for text, ranks, said in few:
        path.write_text(text)
        with pytest.raises(UsageError) as problem:
            read(path, place, ranks)
        assert str(problem.value) == f"mapping: {path} has {said}"
