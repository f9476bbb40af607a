"""MPICH: settings are control variables `MPIR_CVAR_*` and those of its network module (UCX or libfabric).

What each stack becomes was tried on real runs of 4.0.2 (Debian, ch4:ucx) and 5.0.2 (Python package index,
ch4:ucx and ofi).
"""

import re
import subprocess
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from leadline.core.axes import PROTOCOLS
from leadline.mpi.families import _mpich_collectives, _ucx
from leadline.mpi.families._hydra import HydraFamily, command
from leadline.mpi.family import Start, Unsupported, check, transports
from leadline.mpi.library import Mpi
from leadline.mpi.tuned import Choice, Tuned

UCX_WIRES = {"shared-memory": "sm", "tcp": "tcp"}
CELL = (4 << 20) + 4096  # B, of a cell of shared memory when every message should fit into one
HEADERS = 4096  # B, room in a cell for what is not message
OFI_WIRES = {"shared-memory": "shm", "tcp": "tcp"}


class Mpich(HydraFamily):
    """MPICH."""

    name = "mpich"
    title = "MPICH"
    progress_variable = "MPIR_CVAR_ASYNC_PROGRESS"

    def version_in_header(self, header: str) -> str | None:
        """`MPICH_VERSION`, unless the header says that it is a library derived from MPICH."""
        if re.search(r"define\s+(I_MPI_VERSION|MVAPICH2?_VERSION|CRAY_MPICH_VERSION)", header):
            return None
        said = re.search(r'define\s+MPICH_VERSION\s+"([^"]+)"', header)
        return said[1] if said else None

    def version_in_launcher(self, output: str) -> str | None:
        """The `Version:` line of `HYDRA build details`."""
        said = re.search(r"HYDRA build details:\s+Version:\s+(\S+)", output)
        return said[1] if said else None

    def _stack(self, mpi: Mpi, wanted: frozenset[str]) -> dict[str, str]:
        """MPICH's own shared memory is left out by MPIR_CVAR_NOLOCAL: then its network module carries all."""
        module = self._module(mpi, wanted)
        own_memory = _own_memory(wanted)
        settings = {"MPIR_CVAR_NOLOCAL": "0" if own_memory else "1", "MPIR_CVAR_CH4_NETMOD": module}
        if module == "ucx":
            wires = sorted(UCX_WIRES[each] for each in wanted & UCX_WIRES.keys())
            return settings | ({"UCX_TLS": ",".join(["self", *wires])} if wires else {})
        wires = sorted(OFI_WIRES[each] for each in wanted & OFI_WIRES.keys())
        if len(wires) == 1:
            settings["FI_PROVIDER"] = wires[0]
        elif own_memory:
            settings["FI_PROVIDER"] = "tcp"
        elif wires:
            raise Unsupported(
                f"{mpi.id} uses one provider of libfabric at a time; name one of {', '.join(wires)}"
            )
        return settings

    def _module(self, mpi: Mpi, wanted: frozenset[str]) -> str:
        """The network module to use: the one named, else the first that the library was built with."""
        built = modules(mpi)
        for named in ("ucx", "ofi"):
            if named in wanted and named not in built:
                raise Unsupported(
                    f"{mpi.id} was built with {' and '.join(built) or 'neither'}, without {named}"
                )
            if named in wanted:
                return named
        if not built:
            raise Unsupported(f"{mpi.id} does not say that it was built with UCX or libfabric")
        return built[0]

    def force(self, mpi: Mpi, protocol: str, stack: str = "default") -> dict[str, str]:
        """UCX's rendezvous threshold; in MPICH's own memory the size of cells, or CMA's threshold.

        See `Family.force`.
        """
        check(protocol, PROTOCOLS, "protocol")
        wanted = transports(stack)
        if protocol == "default":
            return {}
        if not wanted or _own_memory(wanted):
            return _force_in_memory(mpi, protocol) | _force_ucx(protocol)  # the latter between nodes
        if self._module(mpi, wanted) == "ofi":
            raise Unsupported(f"{mpi.id} leaves the protocol to libfabric's provider and cannot force it")
        if protocol == "eager" and mpi.major < 5 and "tcp" in wanted and "shared-memory" not in wanted:
            raise Unsupported(
                f"{mpi.id} hangs in MPI_Finalize when UCX sends large messages eagerly over tcp"
            )
        return _force_ucx(protocol)

    def notes(self, mpi: Mpi, stack: str = "default", protocol: str = "default") -> list[str]:
        """How far a forced protocol reaches in shared memory."""
        wanted = transports(stack)
        if protocol == "eager" and (not wanted or _own_memory(wanted)):
            return [f"{mpi.id}: eager up to {CELL - HEADERS >> 20} MiB, rendezvous above"]
        return []

    def algorithms(self, mpi: Mpi, operation: str, ranks: int, size: int) -> Mapping[str, Mapping[str, str]]:
        """See `families/_mpich_collectives.py`."""
        return _mpich_collectives.forcing(operation, ranks, size)

    def algorithm_names(self) -> set[str]:
        return {name for each in _mpich_collectives.ALGORITHMS.values() for name in each}

    def tuned(self, mpi: Mpi, choices: Sequence[Choice], directory: Path) -> Tuned:
        """Control variables, and trees of decisions."""
        return _mpich_collectives.tuned(mpi, choices, directory)

    def launch(self, mpi: Mpi, start: Start) -> list[str]:
        """`mpiexec` with Hydra's binding; see `Family.launch`."""
        argv = command(mpi, start)
        if start.oversubscribe:
            # MPICH yields by itself after MPIR_CVAR_POLLS_BEFORE_YIELD fruitless polls; 0 is never.
            return [*argv, "-bind-to", "none", "-genv", "MPIR_CVAR_POLLS_BEFORE_YIELD", "1"]
        if not start.binds:
            return [*argv, "-bind-to", "none"]
        unit = {"sockets": "socket"}.get(start.placement, "core")
        return [*argv, "-bind-to", "core", "-map-by", unit]

    def probe_environment(self, mpi: Mpi) -> dict[str, str]:
        """The summary that rank 0 prints at start, and UCX's own account of its transports."""
        # DEBUG_CVARS: the library repeats each control variable that it took from the environment.
        return {"MPIR_CVAR_DEBUG_SUMMARY": "1", "MPIR_CVAR_DEBUG_CVARS": "1", "UCX_LOG_LEVEL": "info"}

    def read_probe(self, output: str) -> str:
        """E.g. "shm within a node, netmod ucx tcp"; or "netmod ucx tcp" where shared memory was switched off.

        Ranks of one node talk through MPICH's shared memory unless it repeats that NOLOCAL was set; the
        network module is set up for them all the same.
        """
        provider = re.findall(r"libfabric provider:\s*(\S+)", output)
        ucx = _ucx.transports(output)
        if provider:
            netmod = f"netmod ofi {provider[0]}"
        elif ucx or "UCX netmod" in output:
            netmod = " ".join(["netmod ucx", *ucx])
        else:
            return ""
        return netmod if re.search(r"MPIR_CVAR_NOLOCAL = [^0]", output) else f"shm within a node, {netmod}"


def _own_memory(wanted: frozenset[str]) -> bool:
    """Whether MPICH's own shared memory is meant, not UCX's or libfabric's."""
    return "shared-memory" in wanted and not wanted & {"ucx", "ofi"}


def _force_ucx(protocol: str) -> dict[str, str]:
    return {"UCX_RNDV_THRESH": "inf" if protocol == "eager" else "0"}


def _force_in_memory(mpi: Mpi, protocol: str) -> dict[str, str]:
    """Forced protocol in MPICH's own shared memory, for which 4.0.2 has no variable."""
    if mpi.major < 5:
        raise Unsupported(f"{mpi.id} does not let one force {protocol} in its shared memory; use stack ucx")
    if protocol == "rendezvous":
        return {"MPIR_CVAR_CH4_IPC_CMA_P2P_THRESHOLD": "0"}
    return {
        "MPIR_CVAR_CH4_SHM_POSIX_IQUEUE_CELL_SIZE": str(CELL),
        "MPIR_CVAR_CH4_SHM_POSIX_IQUEUE_NUM_CELLS": "16",
        "MPIR_CVAR_CH4_PACK_BUFFER_SIZE": str(CELL),
        "MPIR_CVAR_CH4_IPC_CMA_P2P_THRESHOLD": str(1 << 30),
    }


@cache
def _device(version_program: Path) -> str:
    """The device line of `mpichversion`, e.g. "ch4:ucx ofi"; "" when it does not say."""
    try:
        said = subprocess.run(
            [version_program], capture_output=True, text=True, timeout=10, check=False
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return ""
    found = re.search(r"MPICH Device:\s*(.+)", said)
    return found[1].strip() if found else ""


def modules(mpi: Mpi) -> list[str]:
    """The network modules that the library was built with, its default first."""
    beside = mpi.compiler or mpi.launcher
    if beside is None:
        return []
    suffix = "".join(Path(beside.name).suffixes) if beside.name.startswith("mpicc") else ""
    for name in (f"mpichversion{suffix}", "mpichversion"):
        if (beside.parent / name).exists():
            return re.findall(r"ucx|ofi", _device(beside.parent / name))
    return []


FAMILY = Mpich()
