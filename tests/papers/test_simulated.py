"""The papers' experiments on the papers' machines: what is reached stays reached, what is missed says why."""

import pytest

from leadline.core import record
from leadline.papers import experiments, paper
from leadline.papers.outcome import MISSED, Outcome, judge
from leadline.papers.results import Results
from leadline.run import store

# Whose experiments take minutes on 256 ranks; their claims are computed from toy points in test_claims.py.
LONG = {"ft"}


@pytest.fixture(scope="module", params=sorted(set(paper.shipped()) - LONG))
def outcomes(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[Outcome]:
    """The outcome of every claim of a paper, simulated now."""
    read = paper.find(request.param)
    paths = experiments.run(read, "auto", tmp_path_factory.mktemp("runs"))
    records = record.concat(store.load(path) for path in paths)
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
