"""What every family must give, whichever it is, and what each library is told for each stack.

The contract runs over every file in `families/`: a new one is tested by being there.
"""

from itertools import product

import pytest

from leadline.core.axes import PLACEMENTS, PROTOCOLS
from leadline.core.errors import LeadlineError, UsageError
from leadline.mpi import family as room
from leadline.mpi.families import mpich
from leadline.mpi.family import TRANSPORTS, Start, Unsupported, failure, families, transports
from leadline.mpi.library import Mpi

from . import fabricated

STACKS = ["default", *TRANSPORTS, "shared-memory+tcp", "ucx+tcp", "ofi+tcp", "ofi+shared-memory"]
MAKES = {"openmpi": ["4.1.4", "5.0.11"], "mpich": ["4.0.2", "5.0.2"], "intel": ["2021.18.1"]}
EVERY = [fabricated.an_mpi(name, version) for name in families() for version in MAKES.get(name, ["1.0.0"])]
OPENMPI4, OPENMPI5 = (fabricated.an_mpi("openmpi", version) for version in MAKES["openmpi"])
MPICH4, MPICH5 = (fabricated.an_mpi("mpich", version) for version in MAKES["mpich"])
INTEL = fabricated.an_mpi("intel", "2021.18.1")


@pytest.fixture(autouse=True)
def built_with(monkeypatch: pytest.MonkeyPatch) -> None:
    """What these MPICHs would say that they were built with, as the real ones of these versions did."""
    monkeypatch.setattr(mpich, "modules", lambda mpi: ["ucx"] if mpi.major < 5 else ["ucx", "ofi"])


def names(mpi: Mpi) -> str:
    """The id of a parameter."""
    return mpi.id


def environment(mpi: Mpi, stack: str, protocol: str = "default") -> dict[str, str]:
    """What the family sets."""
    return families()[mpi.family].environment(mpi, stack, protocol)


@pytest.mark.parametrize("mpi", EVERY, ids=names)
def test_every_stack_and_protocol_is_settings_or_a_reason(mpi: Mpi) -> None:
    """Never an error of another kind: what cannot be asked becomes a record with its reason."""
    for stack, protocol in product(STACKS, PROTOCOLS):
        try:
            settings = environment(mpi, stack, protocol)
        except Unsupported as reason:
            assert mpi.id in str(reason)
        else:
            assert all(isinstance(name, str) and isinstance(value, str) for name, value in settings.items())


@pytest.mark.parametrize("mpi", EVERY, ids=names)
def test_the_default_stack_leaves_the_library_alone(mpi: Mpi) -> None:
    """Only what is needed to run at all may be set, so that the default is really the library's own."""
    assert all("ALLOW_RUN_AS_ROOT" in name for name in environment(mpi, "default"))


@pytest.mark.parametrize("mpi", EVERY, ids=names)
def test_what_an_mpi_always_needs_is_always_set(mpi: Mpi) -> None:
    """Without OPAL_PREFIX or I_MPI_ROOT a relocated library does not start."""
    moved = Mpi(**{**vars(mpi), "environment": {"SOME_ROOT": "/there"}})
    for stack in ("default", "shared-memory", "tcp"):
        assert environment(moved, stack)["SOME_ROOT"] == "/there"


@pytest.mark.parametrize("mpi", EVERY, ids=names)
def test_two_transports_differ(mpi: Mpi) -> None:
    """A stack without effect would put two names on one measurement."""
    settings = [environment(mpi, stack) for stack in ("default", "shared-memory", "tcp", "shared-memory+tcp")]
    assert all(a != b for i, a in enumerate(settings) for b in settings[i + 1 :])


@pytest.mark.parametrize("mpi", EVERY, ids=names)
def test_a_forced_protocol_adds_to_its_stack(mpi: Mpi) -> None:
    """And eager is not rendezvous."""
    for stack in STACKS:
        forced = {}
        for protocol in ("eager", "rendezvous"):
            try:
                forced[protocol] = environment(mpi, stack, protocol)
            except Unsupported:
                continue
            assert forced[protocol].items() >= environment(mpi, stack).items()
            assert forced[protocol] != environment(mpi, stack)
        assert len(forced) < 2 or forced["eager"] != forced["rendezvous"]


@pytest.mark.parametrize("mpi", EVERY, ids=names)
def test_unknown_words_are_refused_with_the_nearest(mpi: Mpi) -> None:
    """Everywhere that a plan's word reaches a family."""
    kin = families()[mpi.family]
    with pytest.raises(UsageError, match="did you mean 'shared-memory'"):
        kin.environment(mpi, "shared-memry+tcp")
    with pytest.raises(UsageError, match="did you mean 'rendezvous'"):
        kin.environment(mpi, "default", "rendezvos")
    with pytest.raises(UsageError, match="did you mean 'sockets'"):
        kin.launch(mpi, Start(2, placement="socket"))


@pytest.mark.parametrize("mpi", EVERY, ids=names)
@pytest.mark.parametrize("placement", PLACEMENTS)
def test_a_launch_is_the_launcher_with_that_many_ranks(mpi: Mpi, placement: str) -> None:
    """All words, all text, nothing for a shell to take apart."""
    command = families()[mpi.family].launch(mpi, Start(3, placement=placement))
    assert command[0] == str(mpi.launcher)
    assert command[command.index("-n") + 1] == "3"
    assert all(isinstance(word, str) for word in command)


@pytest.mark.parametrize("mpi", EVERY, ids=names)
def test_placements_ask_for_different_places(mpi: Mpi) -> None:
    """Sockets are not cores of one group."""
    launch = families()[mpi.family].launch
    assert launch(mpi, Start(2, placement="sockets")) != launch(mpi, Start(2, placement="core-group"))


@pytest.mark.parametrize("mpi", EVERY, ids=names)
def test_variables_hosts_and_the_agent_reach_the_command(mpi: Mpi) -> None:
    """Variables must be given by name: other nodes do not have the caller's environment."""
    command = families()[mpi.family].launch(
        mpi, Start(2, placement="nodes", hosts=["one", "two"], env={"A_NAME": "a,b c"}, agent="/bin/an-agent")
    )
    text = " ".join(command)
    assert "A_NAME=a,b c" in command or "A_NAME a,b c" in text
    assert "one" in text
    assert "two" in text
    assert "/bin/an-agent" in command


@pytest.mark.parametrize("mpi", EVERY, ids=names)
def test_oversubscribed_ranks_are_not_bound(mpi: Mpi) -> None:
    """Two ranks bound to one core that wait for each other by polling never meet but by the scheduler."""
    command = " ".join(families()[mpi.family].launch(mpi, Start(8, oversubscribe=True)))
    assert "none" in command or "I_MPI_PIN 0" in command
    assert "core:" not in command.replace("core:OVERSUBSCRIBE", "")


@pytest.mark.parametrize("mpi", EVERY, ids=names)
def test_a_library_without_a_launcher_says_so(mpi: Mpi) -> None:
    """It can still be built for, and started by a batch system."""
    bare = Mpi(**{**vars(mpi), "launcher": None})
    with pytest.raises(LeadlineError, match=r"has no launcher \(mpirun or mpiexec\) beside it"):
        families()[mpi.family].launch(bare, Start(2))


@pytest.mark.parametrize("mpi", EVERY, ids=names)
def test_rubbish_tells_no_transport(mpi: Mpi) -> None:
    """What was not said is empty, never a guess."""
    kin = families()[mpi.family]
    assert kin.read_probe("") == ""
    assert kin.read_probe("leadline rank 0 of 2\n\x00\x01 provider:\n") == ""
    assert kin.probe_environment(mpi)


@pytest.mark.parametrize("mpi", EVERY, ids=names)
def test_families_tell_headers_and_launchers_apart(mpi: Mpi) -> None:
    """Each knows its own and no other's."""
    if mpi.family not in fabricated.HEADERS:
        pytest.skip(f"no fabricated header of {mpi.family}")
    parts = mpi.version.split(".")
    header, said = (each[mpi.family].format(*parts) for each in (fabricated.HEADERS, fabricated.LAUNCHERS))
    for kin in families().values():
        own = mpi.version if kin.name == mpi.family else None
        assert kin.version_in_header(header) == own
        assert kin.version_in_launcher(said) == own


def test_open_mpi_renamed_its_shared_memory() -> None:
    """Named vader in 4, sm in 5; asking for the other's name fails."""
    assert environment(OPENMPI4, "shared-memory")["OMPI_MCA_btl"] == "self,vader"
    assert environment(OPENMPI5, "shared-memory")["OMPI_MCA_btl"] == "self,sm"


def test_open_mpi_over_tcp_keeps_windows_off_shared_memory() -> None:
    """Else a put "over tcp" takes 0.04 us: osc/sm serves allocated windows whatever carries messages."""
    assert (
        environment(OPENMPI4, "tcp").items() >= {"OMPI_MCA_btl": "self,tcp", "OMPI_MCA_osc": "pt2pt"}.items()
    )
    assert environment(OPENMPI5, "tcp")["OMPI_MCA_osc"] == "^sm"


def test_open_mpi_takes_ucx_on_any_machine() -> None:
    """By itself it refuses pml ucx where there is no fast network."""
    settings = environment(OPENMPI4, "ucx+tcp")
    assert settings["OMPI_MCA_pml"] == "ucx"
    assert (settings["OMPI_MCA_pml_ucx_tls"], settings["OMPI_MCA_pml_ucx_devices"]) == ("any", "any")
    assert settings["UCX_TLS"] == "self,tcp"
    assert "UCX_TLS" not in environment(OPENMPI4, "ucx")


def test_mpich_leaves_its_own_memory_out_when_a_network_module_is_named() -> None:
    """MPIR_CVAR_NOLOCAL sends also what stays on the node through UCX or libfabric."""
    assert environment(MPICH4, "shared-memory")["MPIR_CVAR_NOLOCAL"] == "0"
    assert environment(MPICH4, "tcp").items() >= {"MPIR_CVAR_NOLOCAL": "1", "UCX_TLS": "self,tcp"}.items()
    assert (
        environment(MPICH5, "ofi+tcp").items()
        >= {"MPIR_CVAR_CH4_NETMOD": "ofi", "FI_PROVIDER": "tcp"}.items()
    )


def test_mpich_is_asked_what_it_was_built_with(monkeypatch: pytest.MonkeyPatch) -> None:
    """Debian 12's has UCX alone; an ofi build says so, and tcp then is a provider."""
    with pytest.raises(Unsupported, match="was built with ucx, without ofi"):
        environment(MPICH4, "ofi")
    monkeypatch.setattr(mpich, "modules", lambda _: ["ofi"])
    assert environment(MPICH4, "tcp")["FI_PROVIDER"] == "tcp"
    with pytest.raises(Unsupported, match="was built with ofi, without ucx"):
        environment(MPICH4, "ucx")


def test_intel_s_fabrics_and_provider() -> None:
    """Named shm within a node, ofi for all, or both."""
    assert environment(INTEL, "shared-memory") == {"I_MPI_FABRICS": "shm"}
    assert environment(INTEL, "tcp") == {"I_MPI_FABRICS": "ofi", "I_MPI_OFI_PROVIDER": "tcp"}
    assert environment(INTEL, "shared-memory+tcp")["I_MPI_FABRICS"] == "shm:ofi"
    assert environment(INTEL, "ucx")["I_MPI_OFI_PROVIDER"] == "mlx"


def test_only_what_was_seen_to_work_is_forced() -> None:
    """Tried with real ranks (test_real.py): MPICH 4.0 and Intel MPI have no variable, 4.0 over tcp hangs."""
    for mpi, stack in [(MPICH4, "default"), (MPICH4, "tcp"), (INTEL, "default"), (INTEL, "tcp")]:
        with pytest.raises(Unsupported):
            environment(mpi, stack, "eager")
    assert environment(MPICH4, "tcp", "rendezvous")["UCX_RNDV_THRESH"] == "0"


def test_root_is_allowed_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """Open MPI 5's runtime wants it in its own name as well; another user hears nothing of it."""
    for is_root, mpi, count in [(True, OPENMPI4, 2), (True, OPENMPI5, 4), (False, OPENMPI5, 0)]:
        monkeypatch.setattr(f"{room.__name__}.is_root", lambda answer=is_root: answer)
        monkeypatch.setattr("leadline.mpi.families.openmpi.is_root", lambda answer=is_root: answer)
        allowed = [name for name in environment(mpi, "default") if "AS_ROOT" in name]
        assert len(allowed) == count
        notes = families()["openmpi"].notes(mpi)
        assert all(any(name in note for note in notes) for name in allowed)
        assert bool(notes) == is_root


def test_a_setting_that_ends_somewhere_is_said() -> None:
    """Open MPI sends up to 256 B at once within shared memory, whatever the limit."""
    (*_, note) = families()["openmpi"].notes(OPENMPI4, "shared-memory", "rendezvous")
    assert note == "openmpi-4.1.4: rendezvous above 256 B, eager up to that within shared memory"


def test_openshmem_is_refused_where_there_is_none() -> None:
    """Each with its reason; Open MPI's own needs its header and library."""
    for mpi in (MPICH4, INTEL, OPENMPI5):
        with pytest.raises(Unsupported, match=f"{mpi.id} (has no|comes without) OpenSHMEM"):
            families()[mpi.family].environment(mpi, shmem=True)


def test_openshmem_follows_the_stack_by_ucx() -> None:
    """It does not go by byte-transfer layers: without UCX_TLS, "tcp" would be shared memory."""
    mpi = Mpi(**{**vars(OPENMPI4), "has_shmem": True})
    kin = families()["openmpi"]
    assert kin.environment(mpi, "tcp", shmem=True)["UCX_TLS"] == "self,tcp"
    assert kin.environment(mpi, "shared-memory", shmem=True)["UCX_TLS"] == "self,sm"
    assert "UCX_TLS" not in kin.environment(mpi, shmem=True)
    # osc/rdma and osc/pt2pt crash when OpenSHMEM ends.
    assert kin.environment(mpi, "tcp", shmem=True)["OMPI_MCA_osc"] == "^rdma,pt2pt"
    with pytest.raises(Unsupported, match="goes by UCX, not by libfabric"):
        kin.environment(mpi, "ofi+tcp", shmem=True)


def test_a_stack_names_transports() -> None:
    """`default` names none; ucx and ofi exclude each other."""
    assert transports("default") == frozenset()
    assert transports("tcp+shared-memory") == {"tcp", "shared-memory"}
    with pytest.raises(UsageError, match="names both ucx and ofi"):
        transports("ucx+ofi")


@pytest.mark.parametrize(
    ("output", "reason"),
    [
        (
            "-------\nThere are not enough slots available in the system to satisfy the 9\nslots that were "
            "requested by the application:\n\n  ./program\n\nEither request fewer\n",
            "There are not enough slots available in the system to satisfy the 9 slots that were requested "
            "by the application:",
        ),
        (
            "[proxy:0@a] HYDU_create_process: execvp error on file /x (No such file or directory)\n",
            "[proxy:0@a] HYDU_create_process: execvp error on file /x (No such file or directory)",
        ),
        (
            "=====\n=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES\n=   EXIT CODE: 139\n=====\n",
            "=   EXIT CODE: 139",
        ),
        (
            "-----\nORTE has lost communication with a remote daemon.\n\n  HNP daemon: [[6505,0],0] on a\n\n"
            "This is usually due to either a failure of the TCP network\nconnection to the node, or ...\n",
            "ORTE has lost communication with a remote daemon.",
        ),
        ("half a line", "half a line"),
        ("", "nothing was printed"),
    ],
)
def test_the_line_that_says_why_is_found(output: str, reason: str) -> None:
    """Out of the boxes and banners that launchers print."""
    assert failure(output) == reason
