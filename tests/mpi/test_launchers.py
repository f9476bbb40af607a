"""Inside an allocation the batch system starts the ranks, where it speaks the library's language."""

import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from leadline.core.axes import PLACEMENTS
from leadline.core.errors import UsageError
from leadline.mpi.family import Start, Unsupported
from leadline.mpi.launcher import choose, launchers, starter
from leadline.mpi.launchers import srun
from leadline.mpi.library import Mpi

from . import fabricated

OPENMPI, MPICH, INTEL = (
    fabricated.an_mpi(family, version)
    for family, version in [("openmpi", "5.0.11"), ("mpich", "5.0.2"), ("intel", "2021.18.1")]
)


@pytest.fixture
def allocation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Mapping[str, str]:
    """An environment that looks like a Slurm allocation of two nodes whose Slurm has PMIx and PMI-2."""
    fabricated.script(tmp_path / "srun", "")
    monkeypatch.setattr(srun, "plugins", lambda: frozenset({"pmix", "pmi2", "none"}))
    monkeypatch.setattr(srun, "pmi2_library", lambda: Path("/usr/lib/libpmi2.so"))
    monkeypatch.setenv("SLURM_JOB_NUM_NODES", "2")
    monkeypatch.setenv("SLURM_CPUS_ON_NODE", "8")
    return {"PATH": str(tmp_path), "SLURM_JOB_ID": "17"}


def test_outside_an_allocation_the_library_starts_its_own_ranks() -> None:
    """Even where srun is on PATH: it would ask for an allocation of its own and wait."""
    assert choose(OPENMPI, environ={"PATH": os.environ["PATH"]}) is None
    assert starter(OPENMPI, "mpirun")(OPENMPI, Start(2))[0] == str(OPENMPI.launcher)


def test_inside_an_allocation_srun_starts_them(allocation: Mapping[str, str]) -> None:
    """Unless mpirun is asked for by name."""
    chosen = choose(MPICH, environ=allocation)
    assert chosen is not None
    assert chosen.name == "srun"
    assert choose(MPICH, "mpirun", allocation) is None


def test_inside_flux_flux_starts_them(tmp_path: Path) -> None:
    """FLUX_URI names the instance."""
    fabricated.script(tmp_path / "flux", "")
    chosen = choose(MPICH, environ={"PATH": str(tmp_path), "FLUX_URI": "local:///run/flux/local"})
    assert chosen is not None
    assert chosen.name == "flux"


def test_a_slurm_that_does_not_speak_the_library_s_language_is_left(
    allocation: Mapping[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else each rank starts as a world of its own; asked for by name, it is refused with the reason."""
    monkeypatch.setattr(srun, "plugins", lambda: frozenset({"pmi2", "none"}))
    assert choose(OPENMPI, environ=allocation) is None
    with pytest.raises(Unsupported, match=r"no plug-in for pmix, which openmpi-5\.0\.11 needs"):
        choose(OPENMPI, "srun", allocation)
    monkeypatch.setattr(srun, "pmi2_library", lambda: None)
    with pytest.raises(Unsupported, match=r"needs Slurm's libpmi2\.so"):
        choose(INTEL, "srun", allocation)


def test_a_launcher_that_is_not_here_or_unknown_is_refused() -> None:
    """By name, with the nearest name."""
    with pytest.raises(Unsupported, match="flux starts ranks only inside an allocation"):
        choose(OPENMPI, "flux", {"PATH": ""})
    with pytest.raises(UsageError, match="unknown launcher 'srn'; did you mean 'srun'"):
        choose(OPENMPI, "srn", {"PATH": ""})


@pytest.mark.parametrize("name", launchers())
@pytest.mark.parametrize("mpi", [OPENMPI, MPICH, INTEL], ids=lambda mpi: mpi.id)
@pytest.mark.usefixtures("allocation")
def test_every_launcher_answers_every_request(name: str, mpi: Mpi) -> None:
    """Contract: words only, the placement known or refused, hosts and variables in the command."""
    launch = launchers()[name].launch
    commands = {placement: launch(mpi, Start(2, placement=placement)) for placement in PLACEMENTS}
    assert all(isinstance(word, str) for command in commands.values() for word in command)
    assert commands["sockets"] != commands["core-group"] != commands["nodes"]
    with pytest.raises(UsageError, match="unknown placement 'node'"):
        launch(mpi, Start(2, placement="node"))
    text = " ".join(launch(mpi, Start(2, placement="nodes", hosts=["one", "two"], env={"A_NAME": "a,b"})))
    assert "one,two" in text
    assert "A_NAME=a,b" in text
    assert launch(mpi, Start(8, oversubscribe=True)) != launch(mpi, Start(8))


@pytest.mark.usefixtures("allocation")
def test_srun_s_words() -> None:
    """By srun's manual page; `env` carries variables, since --export would split values at commas."""
    assert launchers()["srun"].launch(MPICH, Start(2, placement="sockets", env={"UCX_TLS": "self,tcp"})) == [
        *("srun", "--mpi=pmi2", "--ntasks=2", "--nodes=1", "--ntasks-per-node=2", "--kill-on-bad-exit=1"),
        *("--distribution=block:cyclic", "--cpu-bind=cores", "env", "UCX_TLS=self,tcp"),
    ]
    assert launchers()["srun"].launch(OPENMPI, Start(4, placement="nodes")) == [
        *("srun", "--mpi=pmix", "--ntasks=4", "--nodes=2", "--ntasks-per-node=2", "--kill-on-bad-exit=1"),
        *("--distribution=cyclic:block", "--cpu-bind=cores"),
    ]
    assert launchers()["srun"].launch(INTEL, Start(2))[-1] == "I_MPI_PMI_LIBRARY=/usr/lib/libpmi2.so"


@pytest.mark.parametrize(("ranks", "nodes"), [(2, 1), (8, 1), (9, 2), (99, 2)])
@pytest.mark.usefixtures("allocation")
def test_srun_fills_a_node_before_the_next(ranks: int, nodes: int) -> None:
    """By itself it would spread two ranks over the two nodes of the allocation, eight processors each."""
    assert f"--nodes={nodes}" in launchers()["srun"].launch(MPICH, Start(ranks))


@pytest.mark.parametrize(("counts", "nodes"), [("8(x2)", 1), ("4,8", 1), ("1(x2)", 2)])
@pytest.mark.usefixtures("allocation")
def test_srun_counts_processors_outside_the_nodes(
    counts: str, nodes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Salloc runs its command where it was called, and sets SLURM_JOB_CPUS_PER_NODE only."""
    monkeypatch.delenv("SLURM_CPUS_ON_NODE")
    monkeypatch.setenv("SLURM_JOB_CPUS_PER_NODE", counts)
    assert f"--nodes={nodes}" in launchers()["srun"].launch(MPICH, Start(2))


@pytest.mark.usefixtures("allocation")
def test_unbound_ranks_are_not_bound_by_any_launcher() -> None:
    """The explicit placement for sites that bind nothing."""
    start = Start(2, placement="unbound")
    assert "--cpu-bind=none" in launchers()["srun"].launch(MPICH, start)
    assert "cpu-affinity=off" in launchers()["flux"].launch(MPICH, start)
    assert "--bind-to none" in " ".join(starter(OPENMPI, "mpirun")(OPENMPI, start))
    assert "-bind-to none" in " ".join(starter(MPICH, "mpirun")(MPICH, start))
    assert "I_MPI_PIN 0" in " ".join(starter(INTEL, "mpirun")(INTEL, start))


def test_default_ranks_fill_a_host_before_the_next() -> None:
    """Two ranks on two named hosts of eight cores stay on the first; `nodes` takes both."""
    hosts = ("one", "two")
    assert "one:2,two:2" in starter(OPENMPI, "mpirun")(OPENMPI, Start(2, hosts=hosts, cores=8))
    assert "one:1,two:1" in starter(OPENMPI, "mpirun")(OPENMPI, Start(2, "nodes", hosts, cores=8))
    assert "-ppn 8" in " ".join(starter(MPICH, "mpirun")(MPICH, Start(9, hosts=hosts, cores=8)))


@pytest.mark.parametrize(
    ("said", "over"),
    [
        ("RUNNING", None),
        ("TIMEOUT", "Slurm's job 17 is over (timeout)"),
        ("COMPLETING", "Slurm's job 17 is over (completing)"),
        ("slurm_load_jobs error: Invalid job id specified", "Slurm's job 17 is over"),
        ("slurm_load_jobs error: Unable to contact slurm controller (connect failure)", None),
    ],
)
def test_an_allocation_that_is_over_is_known(tmp_path: Path, said: str, over: str | None) -> None:
    """By squeue's states; a controller that does not answer says nothing of the job."""
    fabricated.script(tmp_path / "squeue", said)
    environ = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "SLURM_JOB_ID": "17"}
    assert launchers()["srun"].ended(environ) == over
    late = "srun: error: Unable to create step for job 17: Job/step already completing or completed"
    assert "already completing" in str(launchers()["srun"].ended(environ, late))
    assert launchers()["srun"].outage(said) == ("contact" in said)


def test_the_site_s_configuration_says_why_nothing_is_bound(tmp_path: Path) -> None:
    """As scontrol prints it."""
    for plugin, word in (("task/none", "TaskPlugin=task/none"), ("task/affinity", "None")):
        fabricated.script(tmp_path / "scontrol", f"TaskPlugin              = {plugin}")
        environ = {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
        assert word in str(launchers()["srun"].binds_nothing(environ))


def test_flux_s_words() -> None:
    """By flux-run(1) and flux-shell-options(7)."""
    launch = launchers()["flux"].launch
    assert launch(OPENMPI, Start(2, placement="nodes", hosts=["a", "b"], env={"N": "1,2"})) == [
        *("flux", "run", "-o", "pmi=pmix", "--ntasks=2", "-o", "cpu-affinity=per-task"),
        *("--nodes=2", "--exclusive", "--taskmap=cyclic", "--requires=host:a,b", "--env=N=1,2"),
    ]
    assert launch(MPICH, Start(8, oversubscribe=True)) == [
        *("flux", "run", "-o", "pmi=simple", "--nodes=1", "--tasks-per-node=8", "-o", "cpu-affinity=off"),
    ]


def test_the_processors_of_each_node_are_counted() -> None:
    """As sbatch(1) describes SLURM_JOB_CPUS_PER_NODE."""
    nodes = launchers()["srun"].nodes
    assert nodes({"SLURM_JOB_CPUS_PER_NODE": "72(x2),36"}) == [72, 72, 36]
    assert nodes({}) == []


def test_an_srun_that_lists_nothing_is_quoted(
    allocation: Mapping[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A failing `srun --mpi=list` is no statement about plug-ins."""
    monkeypatch.setattr(srun, "plugins", frozenset)
    monkeypatch.setattr(srun, "plugin_list", lambda: "srun: error: no slurm.conf\n")
    with pytest.raises(Unsupported, match=r"lists no plug-in: srun: error: no slurm\.conf"):
        choose(OPENMPI, "srun", allocation)
