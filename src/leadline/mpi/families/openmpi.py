"""Open MPI, versions 4 and 5: settings are MCA parameters, given as `OMPI_MCA_*` variables.

What each stack becomes was tried on real runs of 4.1.4 (Debian) and 5.0.11 (Python package index).
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from leadline.mpi.family import (
    PLACEMENTS,
    PROTOCOLS,
    Family,
    Unsupported,
    check,
    is_root,
    launcher_of,
    transports,
)
from leadline.mpi.library import Mpi

# Open MPI 4 refuses to run as root unless told twice; the runtime of 5 (PRRTE) wants the same, by its name.
AS_ROOT = {
    f"{owner}_ALLOW_RUN_AS_ROOT{twice}": "1" for owner in ("OMPI", "PRTE") for twice in ("", "_CONFIRM")
}
UCX_WIRES = {"shared-memory": "sm", "tcp": "tcp"}
OFI_WIRES = {"shared-memory": "shm", "tcp": "tcp"}


class OpenMpi(Family):
    """Open MPI."""

    name = "openmpi"
    title = "Open MPI"
    aliases = ("ompi", "open-mpi")

    def version_in_header(self, header: str) -> str | None:
        """`OMPI_MAJOR_VERSION` and its two companions."""
        parts = [
            re.search(rf"define\s+OMPI_{part}_VERSION\s+(\d+)", header)
            for part in ("MAJOR", "MINOR", "RELEASE")
        ]
        return ".".join(part[1] for part in parts if part) if all(parts) else None

    def version_in_launcher(self, output: str) -> str | None:
        """`mpirun (Open MPI) 5.0.11`, or `mpirun.openmpi (OpenRTE) 4.1.4` as version 4 says it."""
        said = re.search(r"\((?:Open MPI|OpenRTE)\)\s+(\d\S*)", output)
        return said[1] if said else None

    def prefix_environment(self, prefix: Path, bundled: bool) -> dict[str, str]:
        """`OPAL_PREFIX` where the library was moved from where it was built."""
        return {"OPAL_PREFIX": str(prefix)} if bundled else {}

    def environment(
        self, mpi: Mpi, stack: str = "default", protocol: str = "default", shmem: bool = False
    ) -> dict[str, str]:
        """MCA parameters for `stack`; see `Family.environment`."""
        check(protocol, PROTOCOLS, "protocol")
        settings = {**mpi.environment, **(AS_ROOT if is_root() else {})}
        settings |= self._stack(mpi, transports(stack))
        if protocol != "default":
            settings |= self.force(mpi, protocol, stack)
        if shmem and "OMPI_MCA_osc" not in settings:
            # shmem_finalize fails in osc/rdma of 4.1.4; OpenSHMEM programs have no MPI windows to lose.
            settings["OMPI_MCA_osc"] = "^rdma"
        return settings

    def _stack(self, mpi: Mpi, wanted: frozenset[str]) -> dict[str, str]:
        """The three roads: pml ob1 over byte-transfer layers, pml ucx, or pml cm over libfabric."""
        if not wanted:
            return {}
        if "ucx" in wanted:
            return self._ucx(mpi, wanted)
        if "ofi" in wanted:
            return self._ofi(mpi, wanted)
        layers = {"shared-memory": _memory_layer(mpi), "tcp": "tcp"}
        chosen = ["self", *(layers[each] for each in sorted(wanted) if each in layers)]
        settings = {"OMPI_MCA_pml": "ob1", "OMPI_MCA_btl": ",".join(chosen)}
        if "shared-memory" not in wanted:
            settings["OMPI_MCA_osc"] = "pt2pt" if mpi.major < 5 else "^sm"  # else windows are shared memory
        return settings

    def _ucx(self, mpi: Mpi, wanted: frozenset[str]) -> dict[str, str]:
        """Pml and one-sided both by UCX; it refuses machines without a fast network unless told `any`."""
        settings = {
            "OMPI_MCA_pml": "ucx",
            "OMPI_MCA_osc": "ucx",
            "OMPI_MCA_pml_ucx_tls": "any",
            "OMPI_MCA_pml_ucx_devices": "any",
            "OMPI_MCA_osc_ucx_tls": "any",
            "OMPI_MCA_osc_ucx_devices": "any",
        }
        wires = sorted(UCX_WIRES[each] for each in wanted & UCX_WIRES.keys())
        return settings | ({"UCX_TLS": ",".join(["self", *wires])} if wires else {})

    def _ofi(self, mpi: Mpi, wanted: frozenset[str]) -> dict[str, str]:
        """Pml cm with mtl ofi; its list of refused providers names tcp, so a named one is asked for."""
        if "shared-memory" in wanted:
            raise Unsupported(
                f"{mpi.id} finds no usable shared-memory provider of libfabric; name one of the two alone"
            )
        settings = {"OMPI_MCA_pml": "cm", "OMPI_MCA_mtl": "ofi"}
        settings["OMPI_MCA_osc"] = "pt2pt" if mpi.major < 5 else "^sm"
        if "tcp" in wanted:
            settings["OMPI_MCA_opal_common_ofi_provider_include"] = "tcp;ofi_rxm,tcp"
        return settings

    def force(self, mpi: Mpi, protocol: str, stack: str = "default") -> dict[str, str]:
        """Eager limits of the byte-transfer layers, or UCX's rendezvous threshold; see `Family.force`."""
        check(protocol, PROTOCOLS, "protocol")
        wanted = transports(stack)
        if protocol == "default":
            return {}
        if "ucx" in wanted:
            return {"UCX_RNDV_THRESH": "inf" if protocol == "eager" else "0"}
        if "ofi" in wanted:
            raise Unsupported(f"{mpi.id} leaves the protocol to libfabric's provider and cannot force it")
        layers = [_memory_layer(mpi), "tcp"]
        if protocol == "rendezvous":
            # The smallest limit that each version accepts: the size of the matching header.
            least = "56" if mpi.major < 5 else "80"
            return {f"OMPI_MCA_btl_{layer}_eager_limit": least for layer in layers}
        most = str((4 << 20) + 256)  # B, above the 1 MiB of the protocol benchmark
        settings: dict[str, str] = {}
        for layer in layers:
            settings |= {f"OMPI_MCA_btl_{layer}_{name}": most for name in ("eager_limit", "max_send_size")}
        # Fragments of the eager size are cut out of this segment.
        return settings | {f"OMPI_MCA_btl_{_memory_layer(mpi)}_segment_size": str(512 << 20)}

    def launch(
        self,
        mpi: Mpi,
        ranks: int,
        *,
        placement: str = "default",
        hosts: Sequence[str] = (),
        env: Mapping[str, str] | None = None,
        oversubscribe: bool = False,
        agent: str | None = None,
    ) -> list[str]:
        """`mpirun` with mapping and binding of its own; see `Family.launch`."""
        check(placement, PLACEMENTS, "placement")
        command = [launcher_of(mpi), "-n", str(ranks)]
        command += _mapping(mpi, placement, oversubscribe)
        if oversubscribe:
            command += ["--mca", "mpi_yield_when_idle", "1"]
        if hosts:
            slots = -(-ranks // len(hosts))
            command += ["--host", ",".join(f"{host}:{slots}" for host in hosts)]
            command += ["--prefix", str(mpi.prefix)]
        if agent:
            old = mpi.major < 5
            command += ["--mca", "plm_rsh_agent", agent] if old else ["--prtemca", "plm_ssh_agent", agent]
        for name, value in (env or {}).items():
            command += ["-x", f"{name}={value}"]
        return command

    def notes(self, mpi: Mpi) -> list[str]:
        """That root was allowed, where it was."""
        return [f"ran as root: set {', '.join(sorted(AS_ROOT))} to 1"] if is_root() else []

    def probe_environment(self, mpi: Mpi) -> dict[str, str]:
        """Verbosity at which the selected pml, mtl and byte-transfer layers are named."""
        settings = {
            "OMPI_MCA_pml_base_verbose": "10",
            "OMPI_MCA_mtl_base_verbose": "10",
            "OMPI_MCA_btl_base_verbose": "10",
            "OMPI_MCA_bml_base_verbose": "10",
            "UCX_LOG_LEVEL": "info",
        }
        return settings | ({"OMPI_MCA_hook_comm_method_display": "send"} if mpi.major >= 5 else {})

    def read_probe(self, output: str) -> str:
        """E.g. "pml ob1, btl self vader"."""
        pml = re.findall(r"select: component (\w+) selected|selected (\w+) best priority", output)
        return ", ".join(sorted({f"pml {a or b}" for a, b in pml}))


def _memory_layer(mpi: Mpi) -> str:
    """The shared-memory byte-transfer layer: renamed from vader to sm in version 5."""
    return "vader" if mpi.major < 5 else "sm"


def _mapping(mpi: Mpi, placement: str, oversubscribe: bool) -> list[str]:
    """Options for where ranks go and what they are bound to."""
    package = "socket" if mpi.major < 5 else "package"
    unit = {"default": "core", "core-group": "core", "sockets": package, "nodes": "node"}[placement]
    if not oversubscribe:
        return ["--map-by", unit, "--bind-to", "core"]
    if mpi.major < 5:
        return ["--oversubscribe", "--map-by", unit, "--bind-to", "none"]
    return ["--map-by", f"{unit}:OVERSUBSCRIBE", "--bind-to", "none"]


FAMILY = OpenMpi()
