"""Every MPI of this machine does what its family says: real ranks, over each stack, each protocol forced.

Two ranks exchange short and long messages; the library says what it used, the sender whether it had to wait
for the receiver, the kernel where the ranks were.
"""

import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from leadline.core.processes import run
from leadline.mpi.discover import find
from leadline.mpi.family import TRANSPORTS, Start, Unsupported, failure, family
from leadline.mpi.library import Mpi
from leadline.mpi.trial import trouble

pytestmark = pytest.mark.mpi

LIMIT = 30.0  # s; a launch takes about 1 s, a loaded machine some more
STACKS = ["shared-memory", "tcp", "shared-memory+tcp", "ucx", "ucx+tcp", "ofi", "ofi+tcp"]

# Without an argument: a short and a long message there and back. With one: is a send done before the receiver
# asks for the message? The receiver makes progress by probing; when it has seen the message come it says so,
# and from then on the sender has 0.1 s: an eager message is away by then, a rendezvous cannot be.
PROGRAM = r"""
#define OMPI_SKIP_MPICXX
#define MPICH_SKIP_MPICXX
#include <mpi.h>
#include <cstdio>
#include <vector>

static std::vector<char> data(1 << 20);
static int rank;

static void send(int size, int tag) { MPI_Send(data.data(), size, MPI_BYTE, 1 - rank, tag, MPI_COMM_WORLD); }
static void receive(int size, int tag) {
    MPI_Recv(data.data(), size, MPI_BYTE, 1 - rank, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
static bool is_there(int tag) {
    int said = 0;
    MPI_Iprobe(1 - rank, tag, MPI_COMM_WORLD, &said, MPI_STATUS_IGNORE);
    return said;
}
static void exchange(int size) {
    if (rank == 0) { send(size, 0); receive(size, 0); }
    else { receive(size, 0); send(size, 0); }
}
static void protocol(int size) {
    enum { data_tag = 1, seen_tag, go_tag };
    if (rank == 0) {
        MPI_Request request;
        MPI_Isend(data.data(), size, MPI_BYTE, 1, data_tag, MPI_COMM_WORLD, &request);
        int done = 0;
        while (!is_there(seen_tag)) MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        receive(0, seen_tag);
        for (double end = MPI_Wtime() + 0.1; !done && MPI_Wtime() < end;)
            MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        std::printf("%d:%s ", size, done ? "eager" : "rendezvous");
        send(0, go_tag);
        if (!done) MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        while (!is_there(data_tag)) {}
        send(0, seen_tag);
        while (!is_there(go_tag)) {}
        receive(0, go_tag);
        receive(size, data_tag);
    }
}
int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int size : {8, 1 << 20}) exchange(size);
    if (argc > 1)
        for (int size : {1024, 65536, 1 << 20}) protocol(size);
    if (rank == 0) std::printf("\nexchanged\n");
    MPI_Finalize();
}
"""

SHMEM = r"""
#define OMPI_SKIP_MPICXX
#include <mpi.h>
#include <shmem.h>
#include <cstdio>
int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    shmem_init();
    long* place = static_cast<long*>(shmem_malloc(sizeof(long)));
    *place = 0;
    shmem_barrier_all();
    if (shmem_my_pe() == 0) shmem_long_p(place, 42, 1);
    shmem_barrier_all();
    if (shmem_my_pe() == 1) std::printf("came %ld\n", *place);
    shmem_free(place);
    shmem_finalize();
    int ended = 0;
    MPI_Finalized(&ended);
    if (!ended) MPI_Finalize();
}
"""

# Words of which one must be in what a library says that it used, by the transport that was asked for.
USED = {
    "shared-memory": r"\b(vader|sm|shm|sysv|posix)\b",
    "tcp": r"\btcp",
    "ucx": r"\bucx\b",
    "ofi": r"\bofi\b",
}


@pytest.fixture(scope="session", params=find(), ids=lambda mpi: mpi.id)
def mpi(request: pytest.FixtureRequest) -> Mpi:
    """Each MPI of this machine that starts two ranks at all."""
    found: Mpi = request.param
    reason = trouble(found)
    if reason:
        pytest.skip(f"{found.id} does not work here: {reason}")
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("two ranks need two cores")
    return found


@pytest.fixture(scope="session")
def program(mpi: Mpi, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """PROGRAM, built for the MPI."""
    path = tmp_path_factory.mktemp(mpi.id) / "exchange"
    path.with_suffix(".cpp").write_text(PROGRAM)
    include = [f"-I{place}" for place in mpi.include]
    subprocess.run(["c++", path.with_suffix(".cpp"), "-o", path, *include, *mpi.link], check=True)
    return path


@pytest.mark.parametrize("stack", [pytest.param("default", marks=pytest.mark.smoke), *STACKS])
def test_a_stack_is_what_it_says_or_fails_with_a_reason(mpi: Mpi, program: Path, stack: str) -> None:
    """What the library says that it used has the transports asked for, and none that was not."""
    kin = family(mpi)
    try:
        env = kin.environment(mpi, stack)
    except Unsupported as reason:
        pytest.skip(str(reason))
    _, code, output = run(
        [*kin.launch(mpi, Start(2)), str(program)], {**env, **kin.probe_environment(mpi)}, LIMIT
    )
    assert code is not None, f"two ranks did not end within {LIMIT:.0f} s"
    if code != 0 and stack in {"ucx", "ofi"}:  # its own choice of transports may be none on this machine
        assert failure(output) != "nothing was printed"
        pytest.skip(f"{mpi.id} has no transport of its own choice for {stack} here: {failure(output)}")
    assert code == 0, failure(output)
    assert "exchanged" in output
    used = kin.read_probe(output)
    assert used, "the library did not say what it used"
    asked = stack.split("+")
    if "shared-memory+tcp" not in stack:  # on one node, memory carries all
        assert all(re.search(USED[each], used) for each in asked if each in USED), used
    if stack in {"tcp", "ucx+tcp", "ofi+tcp"}:
        assert not re.search(USED["shared-memory"], used), used


@pytest.mark.parametrize("protocol", ["eager", "rendezvous"])
@pytest.mark.parametrize("stack", ["default", "tcp", "ucx"])
def test_a_forced_protocol_is_the_one_that_carries(
    mpi: Mpi, program: Path, stack: str, protocol: str
) -> None:
    """From 1 KiB (Open MPI sends less at once within shared memory) to the protocol benchmark's 1 MiB."""
    kin = family(mpi)
    try:
        env = kin.environment(mpi, stack, protocol)
    except Unsupported as reason:
        pytest.skip(str(reason))
    _, code, output = run([*kin.launch(mpi, Start(2)), str(program), "protocol"], env, LIMIT)
    assert code == 0, failure(output)
    seen = re.findall(r"(\d+):(eager|rendezvous)", output)
    assert seen == [(size, protocol) for size in ("1024", "65536", "1048576")]


@pytest.mark.parametrize("stack", ["default", "tcp"])
def test_openshmem_puts_and_ends(mpi: Mpi, tmp_path: Path, stack: str) -> None:
    """Its end is what breaks without the family's settings; over tcp it says so."""
    if not mpi.has_shmem:
        pytest.skip(f"{mpi.id} comes without OpenSHMEM")
    source, path = tmp_path / "put.cpp", tmp_path / "put"
    source.write_text(SHMEM)
    include = [f"-I{place}" for place in mpi.include]
    subprocess.run(["c++", "-w", source, "-o", path, *include, *mpi.link, *mpi.shmem_link], check=True)
    kin = family(mpi)
    env = {**kin.environment(mpi, stack, shmem=True), **kin.probe_environment(mpi)}
    _, code, output = run([*kin.launch(mpi, Start(2)), str(path)], env, LIMIT)
    assert code == 0, failure(output)
    assert "came 42" in output
    if stack == "tcp":
        assert "ucx tcp" in kin.read_probe(output)


@pytest.mark.parametrize("placement", ["default", "core-group", "sockets"])
def test_ranks_are_bound_to_cores_of_their_own(mpi: Mpi, placement: str) -> None:
    """By the kernel's word; which cores, the benchmark program sees with hwloc."""
    kin = family(mpi)
    where = ["sh", "-c", "grep Cpus_allowed_list /proc/self/status"]
    _, code, output = run(
        [*kin.launch(mpi, Start(2, placement=placement)), *where], kin.environment(mpi), LIMIT
    )
    assert code == 0, failure(output)
    cores = re.findall(r"Cpus_allowed_list:\s*(\S+)", output)
    assert len(set(cores)) == len(cores) == 2, cores


@pytest.mark.parametrize(("placement", "cores"), [("core-group", [0, 1, 2, 3]), ("sockets", [0, 4, 1, 5])])
def test_a_pretended_machine_of_two_sockets_is_filled_as_named(
    mpi: Mpi, placement: str, cores: list[int]
) -> None:
    """The launcher maps four ranks onto eight cores that only hwloc believes in, and says where."""
    shown = {
        "openmpi": ["--display-map"] if mpi.major < 5 else ["--display", "map-devel", "--do-not-launch"],
        "mpich": [],
    }
    if mpi.family not in shown:
        pytest.skip(f"{mpi.id} believes its own eyes, not hwloc's")
    pretended = {"HWLOC_SYNTHETIC": "pack:2 l3:1 core:4 pu:1", "HYDRA_TOPO_DEBUG": "1"}
    if mpi.family == "openmpi" and mpi.major < 5:
        pretended["HWLOC_THISSYSTEM"] = "1"  # else it counts one slot
    kin = family(mpi)
    command = [*kin.launch(mpi, Start(4, placement=placement)), *shown[mpi.family], "true"]
    _, _, output = run(command, {**kin.environment(mpi), **pretended}, LIMIT)
    masks = re.findall(r"process (\d) binding: ([01]+)", output)  # Hydra: a digit a core
    seen = {int(rank): mask.index("1") for rank, mask in masks}
    said = r"rank: (\d)(?: Bound: socket \d\[core |\s+State:.*\s+Binding: package\[\d\]\[core:L)(\d)"
    seen |= {int(rank): int(core) for rank, core in re.findall(said, output)}
    assert [seen.get(rank) for rank in range(4)] == cores, output


def test_more_ranks_than_cores_run_unbound_when_asked(mpi: Mpi) -> None:
    """Each may use every core that this process may."""
    kin = family(mpi)
    ranks = len(os.sched_getaffinity(0)) + 1
    where = ["sh", "-c", "grep Cpus_allowed_list /proc/self/status"]
    _, code, output = run(
        [*kin.launch(mpi, Start(ranks, oversubscribe=True)), *where], kin.environment(mpi), LIMIT
    )
    assert code == 0, failure(output)
    own = re.findall(r"Cpus_allowed_list:\s*(\S+)", Path("/proc/self/status").read_text())
    assert re.findall(r"Cpus_allowed_list:\s*(\S+)", output) == own * ranks


def test_a_program_that_is_not_there_is_named(mpi: Mpi) -> None:
    """Not only an exit code."""
    kin = family(mpi)
    _, code, output = run([*kin.launch(mpi, Start(2)), "/no/such/program"], kin.environment(mpi), LIMIT)
    assert code not in {0, None}
    assert re.search(r"unable to launch|No such file", failure(output))


@pytest.fixture
def agent(tmp_path: Path) -> Iterator[Path]:
    """In place of ssh: runs the command here, under the host's name (which wants a name space of its own)."""
    path = tmp_path / "agent"
    path.write_text(
        "#!/bin/bash\n"
        'while [ "${1#-}" != "$1" ]; do shift; done\n'
        "host=$1; shift\n"
        'exec unshare --uts sh -c "hostname $host; $*"\n'
    )
    path.chmod(0o755)
    allowed = subprocess.run(["unshare", "--uts", "hostname", "leadline-a"], capture_output=True, check=False)
    if allowed.returncode != 0:
        pytest.skip("this user may not make a host name space")
    yield path


def test_neighbours_on_nodes_are_on_different_ones_and_hear_their_variables(mpi: Mpi, agent: Path) -> None:
    """Through the agent, as on machines where something else than ssh starts daemons."""
    kin = family(mpi)
    env = {**kin.environment(mpi), "LEADLINE_TOLD": "a,b c"}
    hosts = ["leadline-a", "leadline-b"]
    command = kin.launch(mpi, Start(2, placement="nodes", hosts=hosts, env=env, agent=str(agent)))
    _, code, output = run([*command, "sh", "-c", 'echo "at $(hostname) $LEADLINE_TOLD."'], env, LIMIT)
    assert code == 0, failure(output)
    assert sorted(re.findall(r"at (\S+) a,b c\.", output)) == hosts


def test_every_transport_has_a_word_by_which_it_is_known() -> None:
    """A new one must be checked above as well."""
    assert USED.keys() | {"self"} == TRANSPORTS.keys()
