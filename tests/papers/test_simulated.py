"""The papers' experiments on the papers' machines: what is reached stays reached, what is missed says why."""

import hashlib
import shutil
import tempfile
from pathlib import Path

import pytest

import arrows as arrows_of
from leadline.core import record
from leadline.core.paths import state_dir
from leadline.native.build import build_sim
from leadline.papers import experiments, paper
from leadline.papers.outcome import MISSED, Outcome, judge
from leadline.papers.results import Results
from leadline.run import store

ROOT = Path(__file__).parents[2]
# Whose experiments take minutes on 256 ranks; their claims are computed from toy points in test_claims.py.
TOO_LONG = {"ft"}
LONG = {"bgl", "bgp"}  # a minute and more


def depends_on() -> str:
    """Twelve hexadecimal digits that change with whatever the runs of the papers are made from.

    That is the simulator, the Python modules that reach it, and every machine, plan and paper.
    """
    files, front = set[Path](), ["leadline.papers.experiments"]
    known, arrows = arrows_of.modules(), arrows_of.graph()
    while front:
        name = front.pop()
        if known[name] not in files:
            files.add(known[name])
            front += arrows[name]
    for folder in ("machines", "plans", "papers"):
        files |= {path for path in (ROOT / folder).rglob("*") if path.is_file()}
    digest = hashlib.sha256(str(build_sim()).encode())  # its path has the hash of its sources
    for path in sorted(files):
        digest.update(f"\0{path}\0".encode() + path.read_bytes())
    return digest.hexdigest()[:12]


def simulated(read: paper.Paper) -> list[Path]:
    """The runs of a paper, kept until something changes that they depend on."""
    places = state_dir() / "papers"
    place = places / f"{read.name}-{depends_on()}"
    if not place.is_dir():
        for old in places.glob(f"{read.name}-*"):
            shutil.rmtree(old, ignore_errors=True)
        places.mkdir(parents=True, exist_ok=True)
        partial = Path(tempfile.mkdtemp(prefix=f"{read.name}-", dir=places))
        experiments.run(read, "auto", partial)
        partial.rename(place)
    return sorted(place.iterdir())


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(name, marks=pytest.mark.full if name in LONG else ())
        for name in sorted(set(paper.shipped()) - TOO_LONG)
    ],
)
def outcomes(request: pytest.FixtureRequest) -> list[Outcome]:
    """The outcome of every claim of a paper, simulated once."""
    read = paper.find(request.param)
    records = record.concat(store.load(path) for path in simulated(read))
    assert records.filter(records["status"] == record.FAILED).is_empty()
    return judge(read, Results(records, experiments.machines(read)))


def test_whatever_is_missed_says_why_and_nothing_else_does(outcomes: list[Outcome]) -> None:
    """A new miss needs its sentence in the paper's file; a sentence that is out of date is noticed."""
    missed = {each.claim.id for each in outcomes if each.state == MISSED}
    explained = {each.claim.id for each in outcomes if each.claim.missed}
    assert missed == explained


def test_every_computed_claim_has_a_value(outcomes: list[Outcome]) -> None:
    """No experiment of a plan comes to nothing: what is not covered yet is so for want of a benchmark."""
    for each in outcomes:
        assert (each.value is None) == bool(each.claim.needs), each.claim.id


def test_machines_know_the_claims_by_which_they_were_set() -> None:
    """What a constant was calibrated on is a run, or a claim that there is."""
    for name in paper.shipped():
        read = paper.find(name)
        known = {each.id for each in read.claims}
        named = {each for each in experiments.machines(read).calibrated if each.startswith(f"{name}.")}
        assert named <= known
        assert known >= {each for each in experiments.machines(read).constants if each.startswith(name)}


def test_runs_are_named_by_their_plans() -> None:
    """A paper has a run for each plan and machine; none of them overwrites another."""
    for name in paper.shipped():
        read = paper.find(name)
        runs = [experiments.named(read, each) for each in read.experiments]
        assert len(set(runs)) == len(runs)
