"""Every claim of every paper: its facts are the paper's, it is computed or says why not, it can be missed."""

import hashlib
import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from leadline.papers import paper
from leadline.papers.checks import checks, how
from leadline.papers.outcome import CALIBRATED, MISSED, REACHED, UNCOVERED, judge
from leadline.papers.results import Constant, Machines
from leadline.plan.files import shipped as plans
from leadline.predict import jacobi

from . import toy, toy_io
from .toy import Row

PAPERS = sorted(paper.shipped())

# Of the facts of all claims of a paper, as `facts` writes them: a claim that is edited, dropped or added
# changes it. The papers do not change.
DIGESTS = {
    "bgp": "bf8b6e28ed65fd06",
    "bgl": "fef9248fc593c0c5",
    "orfeo": "092dad50937a1dbf",
    "ft": "1d4c7eef99702ea0",
    "io": "529cfd11d7d080c1",
}

# Claims about a formula and the paper's own numbers: no record says anything of them.
ARITHMETIC = {"orfeo.jacobi.model", "orfeo.jacobi.halo", "orfeo.jacobi.thin"}


def facts(name: str) -> str:
    """What a paper's claims state, in one text."""
    stated = [(c.id, c.kind, c.what, c.expect, c.band, c.unit, c.basis) for c in paper.find(name).claims]
    return json.dumps(stated)


@pytest.mark.parametrize("name", PAPERS)
def test_the_facts_are_those_of_the_paper(name: str) -> None:
    """Nobody moves a band to reach it: the facts are what they were when they were taken from the paper."""
    assert hashlib.sha256(facts(name).encode()).hexdigest()[:16] == DIGESTS[name]


@pytest.mark.parametrize("name", PAPERS)
def test_every_claim_is_computed_or_says_what_it_needs(name: str) -> None:
    """A claim that is no constant has a function or a reason, never both; no function is without a claim."""
    claims = {each.id: each for each in paper.find(name).claims}
    known = checks(name)
    assert set(known) <= set(claims)
    for each in claims.values():
        if each.kind != paper.CONSTANT:
            assert (each.id in known) != bool(each.needs), each.id
    assert all(len(how(check)) > 20 for check in known.values())


@pytest.mark.parametrize("name", PAPERS)
def test_experiments_have_their_plans(name: str) -> None:
    """The plans that a paper names are shipped, and so are the mappings that those name."""
    for experiment in paper.find(name).experiments:
        if not experiment.plan:
            assert experiment.kernels
            continue
        path = plans()[experiment.plan]
        named = re.findall(r'"(mappings/[^"]+)"', path.read_text())
        assert [each for each in named if not (path.parent / each).is_file()] == []


@pytest.mark.parametrize("path", sorted((Path(__file__).parents[2] / "plans" / "mappings").glob("*.txt")))
def test_mappings_are_seats(path: Path) -> None:
    """A line a rank, four coordinates each, no placement twice."""
    seats = path.read_text().splitlines()
    assert all(re.fullmatch(r"\d+( \d+){3}", each) for each in seats)
    assert len(set(seats)) == len(seats)


def test_the_farthest_nodes_are_as_far_as_the_plan_says() -> None:
    """The hops of bgp-hops.txt are 1 and half of each side of 512 nodes (8x8x8) to 32768 (32x32x32)."""
    text = (Path(__file__).parents[2] / "plans" / "mappings" / "bgp-hops.txt").read_text()
    hops = [sum(map(int, each.split()[:3])) for each in text.splitlines()]
    assert hops == [0, 1, 12, 16, 20, 24, 32, 40, 48]


# ----------------------------------------------------------------------------------------- on the toy machine


def states(name: str, rows: list[Row], machines: Machines = toy.MACHINES) -> dict[str, str]:
    """The state of each claim of a paper."""
    return {each.claim.id: each.state for each in judge(paper.find(name), toy.results(rows, machines))}


@pytest.mark.parametrize("name", PAPERS)
def test_a_machine_that_behaves_as_the_papers_reaches_every_claim(name: str) -> None:
    """The toy's laws have every property by arithmetic, so whatever is missed is a wrong function."""
    found = states(name, toy.POINTS[name]())
    assert [claim for claim, state in found.items() if state == MISSED] == []
    assert REACHED in found.values()


@pytest.mark.parametrize("name", PAPERS)
def test_without_records_no_claim_is_reached(name: str) -> None:
    """A point that is not there is missed, with the reason; constants and formulae need no record."""
    outcomes = judge(paper.find(name), toy.results([]))
    for each in outcomes:
        if each.claim.kind != paper.CONSTANT and each.claim.id not in ARITHMETIC:
            assert each.state in (MISSED, UNCOVERED)
            assert each.why
            assert each.value is None


def change(where: dict[str, object], factor: float) -> Callable[[Row], Row]:
    """What makes the samples of the points that `where` describes larger by a factor."""

    def changed(row: Row) -> Row:
        if any(row.get(key) != value for key, value in where.items()):
            return row
        return {**row, "samples": [factor * sample for sample in row["samples"]]}

    return changed


# Points that are planted wrong, by which factor, and the claims that must notice, no others.
PLANTED: list[tuple[str, dict[str, object], float, set[str]]] = [
    (
        "bgp",
        {"benchmark": "pingpong", "mapping": "XYZT", "bytes": 65536, "buffers": "rotated"},
        1.05,
        {"latency.cache"},
    ),
    ("bgp", {"benchmark": "pingpong", "mapping": "XYZT"}, 1.1, {"latency.neighbour", "latency.intra"}),
    ("bgp", {"benchmark": "corepairs", "pair": "0-3"}, 1.02, {"latency.corepair"}),
    ("bgp", {"benchmark": "bandwidth", "mapping": "TXYZ"}, 0.8, {"bandwidth.intra"}),
    (
        "bgp",
        {"benchmark": "bandwidth", "mapping": "XYZT", "partition": 2048},
        0.9,
        {"bandwidth.inter", "bandwidth.intra"},
    ),
    ("bgp", {"benchmark": "bandwidth", "mapping": "mappings/bgp-farthest.txt"}, 0.96, {"hops.bandwidth"}),
    ("bgp", {"benchmark": "distance", "distance": 50, "bytes": 0}, 0.9, {"hops.zero"}),
    ("bgp", {"benchmark": "distance", "distance": 50, "bytes": 1024}, 1.1, {"hops.1k"}),
    ("bgp", {"benchmark": "flowthrough", "traffic": 6}, 0.9, {"flowthrough.intra"}),
    ("bgp", {"benchmark": "flowthrough", "traffic": 4}, 0.9, {"flowthrough.otherlink"}),
    ("bgp", {"pattern": "nested", "measured": "first", "other": "busy"}, 0.5, {"congestion.nested.through"}),
    (
        "bgp",
        {"pattern": "nested", "measured": "second", "other": "busy"},
        20,
        {"congestion.nested.local", "congestion.nodetour"},
    ),
    (
        "bgp",
        {"pattern": "overlapping", "measured": "second", "other": "busy"},
        20,
        {"congestion.partial", "congestion.nodetour"},
    ),
    ("bgp", {"benchmark": "multistream", "pairs": 4, "bytes": 512}, 0.5, {"multistream.medium"}),
    ("bgp", {"benchmark": "multistream", "pairs": 4}, 1.25, {"multistream.peak", "multistream.medium"}),
    (
        "bgp",
        {"benchmark": "hotspot", "shape": "flat", "workers": 131071, "bytes": 4096},
        0.9,
        {"hotspot.growth"},
    ),
    (
        "bgp",
        {"benchmark": "hotspot", "shape": "tree", "workers": 4096, "bytes": 8},
        4,
        {"hotspot.hierarchical"},
    ),
    ("bgp", {"benchmark": "fan", "direction": "out"}, 0.9, {"fan.out"}),
    ("bgp", {"benchmark": "fan", "direction": "in"}, 1.1, {"fan.in"}),
    ("bgp", {"benchmark": "barrier", "communicator": "dup"}, 1.1, {"barrier.dup"}),
    ("bgp", {"benchmark": "barrier", "communicator": "world-1", "ranks": 131072}, 0.2, {"barrier.sub"}),
    ("bgp", {"benchmark": "barrier", "communicator": "cores-4"}, 2, {"barrier.parallel"}),
    ("bgp", {"benchmark": "bcast", "communicator": "world-1"}, 1.5, {"bcast.sub"}),
    ("bgp", {"benchmark": "bcast", "communicator": "cores-3", "bytes": 4}, 2, {"bcast.parallel.4B"}),
    (
        "bgp",
        {"benchmark": "bcast", "communicator": "cores-4", "bytes": 16384, "ranks": 16384},
        0.5,
        {"bcast.parallel.16K"},
    ),
    (
        "bgp",
        {"benchmark": "allreduce", "communicator": "cores-4", "ranks": 16384},
        1.2,
        {"allreduce.parallel.16K"},
    ),
    (
        "bgp",
        {"benchmark": "allgather", "communicator": "cores-1", "ranks": 131072},
        4,
        {"allgather.parallel.4B"},
    ),
    ("bgp", {"benchmark": "halo", "mapping": "TZYX", "ranks": 16384}, 1.5, {"halo.mapping.16K"}),
    ("bgp", {"benchmark": "halo", "mapping": "TZYX", "ranks": 131072}, 1.5, {"halo.mapping.128K"}),
    ("bgl", {"benchmark": "bcast", "ranks": 512}, 1.1, {"bcast.world"}),
    (
        "bgl",
        {"benchmark": "allreduce", "type": "int64", "reduction": "sum", "communicator": "world"},
        1.1,
        {"allreduce.int"},
    ),
    (
        "bgl",
        {"benchmark": "allreduce", "type": "double", "reduction": "sum", "communicator": "world"},
        2,
        {"allreduce.float"},
    ),
    ("bgl", {"benchmark": "allreduce", "reduction": "product"}, 2, {"allreduce.prod"}),
    (
        "bgl",
        {"benchmark": "allreduce", "reduction": "user", "communicator": "world"},
        0.5,
        {"allreduce.user"},
    ),
    ("bgl", {"benchmark": "bcast", "communicator": "line-8"}, 1.1, {"bcast.line"}),
    ("bgl", {"benchmark": "bcast", "communicator": "plane-16x2"}, 1.1, {"bcast.fullline"}),
    ("bgl", {"benchmark": "bcast", "communicator": "box-16x16x2"}, 1.2, {"bcast.plane"}),
    ("bgl", {"benchmark": "bcast", "communicator": "scattered-256"}, 0.5, {"subset.nonrect"}),
    ("bgl", {"benchmark": "bcast", "mpi": "bgl-vn", "communicator": "scattered-2048"}, 2, {"vn.rect"}),
    ("bgl", {"benchmark": "overlap", "with": "compute", "mpi": "bgl-vn"}, 0.9, {"overlap.compute"}),
    ("bgl", {"benchmark": "overlap", "with": "bcast", "mpi": "bgl"}, 1.1, {"overlap.collective"}),
    (
        "bgl",
        {"benchmark": "neighbours", "operation": "send", "way": "collective", "mpi": "bgl"},
        1.2,
        {"neighbours.send"},
    ),
    (
        "bgl",
        {"benchmark": "neighbours", "operation": "receive", "way": "blocking", "mpi": "bgl"},
        0.8,
        {"neighbours.recv"},
    ),
    (
        "bgl",
        {"benchmark": "neighbours", "way": "nonblocking", "mpi": "bgl-vn"},
        0.8,
        {"neighbours.nonblocking"},
    ),
    ("bgl", {"benchmark": "neighbours", "way": "sendrecv", "mpi": "bgl"}, 1.1, {"neighbours.sendrecv"}),
    (
        "bgl",
        {"benchmark": "allneighbours", "way": "collective", "mapping": "XYZT"},
        1.2,
        {"allneighbours.alltoallv"},
    ),
    ("bgl", {"benchmark": "allneighbours", "ranks": 1024, "way": "blocking"}, 0.9, {"allneighbours.size"}),
    ("bgl", {"benchmark": "allneighbours", "variation": "varying"}, 0.8, {"allneighbours.varying"}),
    (
        "bgl",
        {"benchmark": "allneighbours", "mapping": "random:1", "way": "nonblocking"},
        2,
        {"allneighbours.random"},
    ),
    ("bgl", {"benchmark": "protocol", "protocol": "default"}, 1.3, {"protocol.short"}),
    ("bgl", {"benchmark": "protocol", "protocol": "rendezvous"}, 1.04, {"protocol.long"}),
    ("bgl", {"benchmark": "protocol", "protocol": "eager", "bytes": 121}, 0.8, {"protocol.eager"}),
    ("bgl", {"benchmark": "protocol", "protocol": "rendezvous", "bytes": 10240}, 1.2, {"protocol.meet"}),
    ("bgl", {"benchmark": "protocol", "protocol": "eager", "bytes": 500}, 1.1, {"zigzag"}),
    (
        "bgl",
        {"benchmark": "distance", "mapping": "mappings/bgl-axis.txt", "distance": 10},
        0.95,
        {"distance"},
    ),
    ("bgl", {"benchmark": "distance", "mapping": "mappings/bgl-offaxis.txt"}, 1.2, {"offaxis"}),
    ("bgl", {"benchmark": "bandwidth", "mpi": "bgl-vn"}, 1.1, {"vn.intranode"}),
    ("orfeo", {"benchmark": "ring", "metric": "time", "mpi": "orfeo-gpu"}, 1.2, {"ring.latency"}),
    (
        "orfeo",
        {"benchmark": "ring", "metric": "time", "mpi": "orfeo-thin", "ranks": 13},
        0.6,
        {"ring.pieces"},
    ),
    ("orfeo", {"benchmark": "ring", "metric": "messages", "ranks": 7}, 1.5, {"ring.result"}),
    ("orfeo", {"benchmark": "ring", "metric": "sum", "ranks": 7}, -1, {"ring.result"}),
    ("orfeo", {"benchmark": "sum3d", "metric": "most", "array": "5x5x1"}, 1.2, {"sum3d.load"}),
    ("orfeo", {"benchmark": "sum3d", "metric": "gather"}, 3, {"sum3d.scatter"}),
    ("orfeo", {"benchmark": "jacobi", "grid": "25x1x1"}, 1.5, {"jacobi.hyperthreads"}),
    ("orfeo", {"benchmark": "jacobi", "grid": "4x4x3"}, 0.9, {"jacobi.hyperthreads"}),
    ("orfeo", {"benchmark": "pingpong", "mpi": "orfeo-thin"}, 0.01, {"pingpong.fit"}),
    ("ft", {"metric": "messages", "pieces": "exchange"}, 2, {"messages.exchange"}),
    (
        "ft",
        {"metric": "messages", "pieces": "slabs"},
        2,
        {"messages.slabs", "messages.classD", "overlap.efficiency"},
    ),
    (
        "ft",
        {"metric": "messages", "pieces": "pencils"},
        2,
        {"messages.pencils", "messages.classD", "overlap.efficiency"},
    ),
    ("ft", {"metric": "bytes", "pieces": "exchange"}, 2, {"volume"}),
    (
        "ft",
        {"metric": "time", "pieces": "exchange", "by": "messages"},
        1.2,
        {"speedup.onesided", "speedup.twosided"},
    ),
    ("ft", {"metric": "time", "by": "put"}, 1.1, {"onesided.gain"}),
    ("ft", {"metric": "time", "pieces": "pencils", "by": "put"}, 1.06, {"pencils.slabs"}),
    ("ft", {"metric": "time", "pieces": "pencils", "by": "messages"}, 0.85, {"twosided.pencils"}),
    ("ft", {"benchmark": "roundtrip", "operation": "put"}, 3, {"onesided.latency"}),
    ("ft", {"benchmark": "flood", "operation": "put"}, 0.5, {"onesided.flood"}),
    *toy_io.PLANTED,
]


@pytest.mark.parametrize(("name", "where", "factor", "noticed"), PLANTED)
def test_what_is_planted_wrong_is_missed(
    name: str, where: dict[str, object], factor: float, noticed: set[str]
) -> None:
    """Each claim looks at what it says, and at nothing else."""
    rows = [change(where, factor)(row) for row in toy.POINTS[name]()]
    found = states(name, rows)
    assert {claim for claim, state in found.items() if state == MISSED} == {f"{name}.{n}" for n in noticed}


def test_every_function_is_planted() -> None:
    """Each claim that is computed is missed in one of the cases above."""
    noticed = {f"{name}.{claim}" for name, _, _, claims in PLANTED for claim in claims}
    assert noticed | ARITHMETIC | toy_io.OURS == {claim for name in PAPERS for claim in checks(name)}


def test_a_formula_with_other_numbers_than_the_paper_is_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every row a thousandth off, model and volume, and measured less: all three claims notice."""
    rows = [
        replace(row, model=1.001 * row.model, halo=1.001 * row.halo, measured=0.9 * row.measured)
        for row in jacobi.measured()
    ]
    monkeypatch.setattr(jacobi, "measured", lambda: rows)
    found = states("orfeo", toy.orfeo())
    assert {claim for claim, state in found.items() if state == MISSED} == ARITHMETIC


def test_a_failed_point_gives_its_reason() -> None:
    """What the record says of the point that a claim needs is why it is missed."""
    rows = [row for row in toy.bgp() if row["benchmark"] != "fan"]
    lost = {**rows[0], "benchmark": "fan", "metric": "", "status": "failed", "samples": [], "direction": "in"}
    lost |= {"reason": "rank 1 waits for rank 0", "neighbours": 6}
    outcomes = judge(paper.find("bgp"), toy.results([*rows, lost]))
    said = {each.claim.id: each.why for each in outcomes if each.state == MISSED}
    assert said["bgp.fan.in"] == "no value: rank 1 waits for rank 0"
    assert "the run has no point of fan" in said["bgp.fan.out"]


def test_a_claim_that_a_constant_was_set_by_is_not_reproduced() -> None:
    """It is calibrated while it holds, and missed when not even that."""
    set_by = Machines(toy.MACHINES.constants, frozenset({"bgp.fan.in"}))
    outcomes = {each.claim.id: each for each in judge(paper.find("bgp"), toy.results(toy.bgp(), set_by))}
    assert outcomes["bgp.fan.in"].state == CALIBRATED
    assert outcomes["bgp.fan.in"].reached is None
    assert outcomes["bgp.fan.out"].reached is True
    wrong = [change({"benchmark": "fan"}, 2)(row) for row in toy.bgp()]
    assert states("bgp", wrong, set_by)["bgp.fan.in"] == MISSED


def test_constants_are_compared_to_the_digit() -> None:
    """425 MB/s is 425 MB/s; a machine that says 426, or nothing, misses it."""
    other = {**toy.MACHINES.constants, "bgp.link": Constant(426e6, "toy", "links.rate")}
    assert states("bgp", [])["bgp.link"] == REACHED
    assert states("bgp", [], Machines(other))["bgp.link"] == MISSED
    assert states("bgp", [], Machines())["bgp.link"] == MISSED
