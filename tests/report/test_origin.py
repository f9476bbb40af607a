"""Plan and provenance are told whole, and the facts that people look for first are found."""

from leadline.report.origin import look_up, origins

from .conftest import PLAN


def test_the_whole_provenance_is_told() -> None:
    """Facts of the run and of the machine stand in view, those of each MPI and launch folded under its
    name.
    """
    [origin] = origins(
        [
            {
                "run": "quick",
                "command": ["leadline", "run", "quick"],
                "nothing": None,
                "machine": {
                    "cpu": "Z80",
                    "caches": ["L1", "L2"],
                    "clock": {"overhead": 2.5335000000000005e-08},
                },
                "mpis": [{"id": "mpich-4.0.2", "version": "4.0.2"}],
                "kinds": [{"mpi": "mpich-4.0.2", "stack": "default", "ranks": 2, "places": [{"core": 0}]}],
                "plan_text": PLAN,
            }
        ]
    )
    told = {
        (group.title, fact.name): fact.value
        for group in [*origin.groups, *origin.folded]
        for fact in group.facts
    }
    assert told["", "command"] == "leadline run quick"
    assert told["machine", "caches"] == "L1, L2"
    assert told["machine", "clock › overhead"] == "25.3 ns"
    assert told["MPI: mpich-4.0.2", "version"] == "4.0.2"
    assert told["launched: mpich-4.0.2, ranks 2", "places › 0"] == "core 0"
    assert (origin.name, origin.plan) == ("quick", PLAN)
    assert "nothing" not in {name for _, name in told}


def test_facts_looked_for_first_are_found_wherever_they_stand() -> None:
    """The host is in the table of the machine, or outside it, or a table of its own."""
    assert look_up({"machine": {"host": "harbour"}}, "host") == "harbour"
    assert look_up({"host": {"name": "harbour"}}, "host") == "harbour"
    assert look_up({"hostname": "a", "machine": {"host": "b"}}, "host") == "a"
    assert look_up({"machine": {}}, "host") == ""
