"""What a library really used, read from what it really printed (shortened: a line of each kind that counts).

The captures are of two ranks that exchanged messages on one node, with `probe_environment` set.
"""

import pytest

from leadline.mpi.family import families

OPENMPI_VADER = """\
[vm:32235] mca: base: components_open: found loaded component tcp
[vm:32235] btl: tcp: Using interface: sppp
[vm:32235] select: component v not in the include list
[vm:32235] select: initializing pml component ob1
[vm:32235] selected ob1 best priority 20
[vm:32235] select: component ob1 selected
[vm:32234] mca: bml: Using vader btl for send to [[4376,1],1] on node vm
[vm:32234] mca: bml: Using self btl for send to [[4376,1],0] on node vm
"""
OPENMPI_UCX = """\
[vm:26257] selected ucx best priority 51
[vm:26257] select: component ucx selected
[1795297521.2] [vm:26256:0] ucp_worker.c:17 UCX  INFO    ep_cfg[0]: tag(self/memory0 cma/memory)
[1795297521.2] [vm:26256:0] ucp_worker.c:17 UCX  INFO    ep_cfg[1]: tag(sysv/memory cma/memory)
"""
OPENMPI_OFI = """\
[vm:00613] mca:base:select:(  mtl) Selected component [ofi]
[vm:00613] mtl_ofi_component.c:583: mtl:ofi:provider_include = "tcp;ofi_rxm,tcp"
[vm:00613] mtl_ofi_component.c:337: mtl:ofi:prov: tcp;ofi_rxm
[vm:00613] mtl_ofi_component.c:365: mtl:ofi:provider: eth0
[vm:00613] select: component ofi selected
[vm:00613] selected cm best priority 25
[vm:00613] select: component cm selected
"""
OPENMPI5_OFI = """\
[vm:32486] mca:base:select:(  mtl) Selected component [ofi]
[vm:32486] mtl_ofi_component.c:343: mtl:ofi:provider: tcp
[vm:32486] mtl_ofi_component.c:368: mtl:ofi:provider:domain: eth0
[vm:32486] select: component ofi selected
[vm:32486] selected cm best priority 25
[vm:32486] select: component cm selected
[vm:32486] select: component rdma selected
[vm:32486] mca: bml: Using tcp btl for send to [[56089,1],1] on node vm
"""
MPICH4_TCP = """\
CVAR: MPIR_CVAR_NOLOCAL = 1
==== UCX netmod Capability ====
[1795299704.2] [vm:31267:0] ucp_worker.c:17 UCX  INFO    ep_cfg[0]: tag(tcp/lo tcp/eth0) rma_am(tcp/lo)
[1795299704.2] [vm:31267:0] ucp_worker.c:17 UCX  INFO    ep_cfg[1]: tag(self/memory0 tcp/lo) rma(self/memory0)
"""
MPICH5_MEMORY = """\
CVAR: MPIR_CVAR_NOLOCAL = 0
==== UCX netmod Capability ====
[1795299723.2] [vm:31603:0] ucp_worker.c:17 UCX  INFO    ucp_context_0 self cfg#0 tag(self/memory cma/memory)
[1795299723.2] [vm:31603:0] ucp_worker.c:17 UCX  INFO    ucp_context_0 intra-node cfg#1 tag(sysv/memory)
"""
MPICH5_OFI = """\
CVAR: MPIR_CVAR_NOLOCAL = 1
provider: tcp, score = 4, pref = 0, FI_SOCKADDR_IN [16] 192.0.2.2
libfabric provider: shm - shm
"""
INTEL_BOTH = """\
[0] MPI startup(): Intel(R) MPI Library, Version 2021.18.1  Build 20260626 (id: b44796a)
[0] MPI startup(): libfabric provider: tcp
[0] MPI startup(): File "/opt/etc/tuning_gnr_shm-ofi_tcp.dat" not found
[0] MPI startup(): Load tuning file: "/opt/etc/tuning_gnr_shm-ofi.dat"
[0] MPI startup(): I_MPI_FABRICS=shm:ofi
"""
INTEL_DEFAULT = """\
[0] MPI startup(): library kind: release
[0] MPI startup(): Load tuning file: "/opt/etc/tuning_gnr_shm.dat"
[0] MPI startup(): I_MPI_DEBUG=5
"""
INTEL_DEFAULT_NODES = """\
[0] MPI startup(): libfabric provider: tcp;ofi_rxm
[0] MPI startup(): File "/opt/etc/tuning_clx-ap_shm-ofi_tcp-ofi-rxm.dat" not found
[0] MPI startup(): I_MPI_DEBUG=5
"""


@pytest.mark.parametrize(
    ("name", "printed", "used"),
    [
        ("openmpi", OPENMPI_VADER, "pml ob1, btl vader"),
        ("openmpi", OPENMPI_UCX, "pml ucx, ucx cma sysv"),
        ("openmpi", OPENMPI_OFI, "pml cm, mtl ofi tcp;ofi_rxm"),
        ("openmpi", OPENMPI5_OFI, "pml cm, mtl ofi tcp, osc rdma"),
        ("mpich", MPICH4_TCP, "netmod ucx tcp"),
        ("mpich", MPICH5_MEMORY, "shm within a node, netmod ucx sysv"),
        ("mpich", MPICH5_OFI, "netmod ofi shm"),
        ("intel", INTEL_BOTH, "shm:ofi tcp"),
        ("intel", INTEL_DEFAULT, "shm"),
        ("intel", INTEL_DEFAULT_NODES, "shm:ofi tcp;ofi_rxm"),
    ],
)
def test_what_was_used_is_read_from_what_was_printed(name: str, printed: str, used: str) -> None:
    """What was merely opened, searched or configured does not count."""
    assert families()[name].read_probe(printed) == used
    # Ranks print in any order, and several times.
    backwards = "".join(reversed(printed.splitlines(keepends=True)))
    if name != "intel":  # only its rank 0 prints, so its order is its own
        assert families()[name].read_probe(backwards + printed) == used
