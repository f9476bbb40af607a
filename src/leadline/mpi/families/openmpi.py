"""Open MPI, versions 4 and 5: settings are MCA parameters, given as `OMPI_MCA_*` variables.

What each stack becomes was tried on real runs of 4.1.4 (Debian) and 5.0.11 (Python package index).
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from leadline.core.axes import PROTOCOLS
from leadline.mpi.families import _openmpi_collectives, _ucx
from leadline.mpi.family import Family, Start, Unsupported, check, is_root, launcher_of, transports
from leadline.mpi.library import Mpi
from leadline.mpi.tuned import Choice, Tuned

# Open MPI 4 refuses to run as root unless told twice; the runtime of 5 (PRRTE) wants the same, by its name.
AS_ROOT = ("{}_ALLOW_RUN_AS_ROOT", "{}_ALLOW_RUN_AS_ROOT_CONFIRM")
UCX_WIRES = {"shared-memory": "sm", "tcp": "tcp"}
MOST_EAGER = (4 << 20) + 256  # B, message and header; larger fragments exhaust the segment they are cut from
BOUND, UNBOUND = ("--bind-to", "core"), ("--bind-to", "none")
INLINE = 256  # B, up to which pml ob1 sends within shared memory at once, whatever the limit says


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
        settings = {**mpi.environment, **(_as_root(mpi) if is_root() else {})}
        settings |= self._stack(mpi, transports(stack))
        if protocol != "default":
            settings |= self.force(mpi, protocol, stack)
        if shmem:
            settings |= _shmem(mpi, transports(stack))
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
        elif "tcp" in wanted and mpi.major < 5:
            settings["OMPI_MCA_osc"] = "^ucx"  # Debian's configuration leaves pt2pt out: then none fits tcp
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
        # One-sided: version 4 goes through the pml; 5 has only osc/rdma, kept off shared memory.
        settings |= (
            {"OMPI_MCA_osc": "pt2pt"} if mpi.major < 5 else {"OMPI_MCA_osc": "^sm", "OMPI_MCA_btl": "^sm"}
        )
        if "tcp" in wanted:
            settings["OMPI_MCA_opal_common_ofi_provider_include"] = "tcp;ofi_rxm,tcp"
        return settings

    def force(self, mpi: Mpi, protocol: str, stack: str = "default") -> dict[str, str]:
        """Eager limits of the byte-transfer layers, or UCX's rendezvous threshold; see `Family.force`."""
        check(protocol, PROTOCOLS, "protocol")
        wanted = transports(stack)
        if protocol == "default":
            return {}
        if "ofi" in wanted:
            raise Unsupported(f"{mpi.id} leaves the protocol to libfabric's provider and cannot force it")
        ucx = {"UCX_RNDV_THRESH": "inf" if protocol == "eager" else "0"}
        if "ucx" in wanted:
            return ucx
        return _limits(mpi, protocol) | ({} if wanted else ucx)  # by itself it takes UCX on a fast network

    def algorithms(self, mpi: Mpi, operation: str, ranks: int, size: int) -> Mapping[str, Mapping[str, str]]:
        """See `families/_openmpi_collectives.py`."""
        return _openmpi_collectives.forcing(operation, ranks, size)

    def algorithm_names(self) -> set[str]:
        return {
            name for each in _openmpi_collectives.ALGORITHMS for name in _openmpi_collectives.numbers(each)
        }

    def tuned(self, mpi: Mpi, choices: Sequence[Choice], directory: Path) -> Tuned:
        """A file of rules."""
        return _openmpi_collectives.tuned(mpi, choices, directory)

    def launch(self, mpi: Mpi, start: Start) -> list[str]:
        """`mpirun` with mapping and binding of its own; see `Family.launch`."""
        command = [launcher_of(mpi), "-n", str(start.ranks)]
        command += _mapping(mpi, start)
        if start.oversubscribe:
            command += ["--mca", "mpi_yield_when_idle", "1"]
        if start.hosts:
            command += ["--host", ",".join(f"{host}:{start.per_host}" for host in start.hosts)]
            command += ["--prefix", str(mpi.prefix)]
            # Else version 5 takes all nodes for copies of the first, and fails to bind where they differ.
            command += ["--prtemca", "prte_hetero_nodes", "1"] if mpi.major >= 5 else []
        if start.agent:
            old = mpi.major < 5
            command += (
                ["--mca", "plm_rsh_agent", start.agent]
                if old
                else ["--prtemca", "plm_ssh_agent", start.agent]
            )
        for name, value in start.env.items():
            command += ["-x", f"{name}={value}"]
        return command

    def notes(self, mpi: Mpi, stack: str = "default", protocol: str = "default") -> list[str]:
        """That root was allowed, and how far a forced protocol and a chosen transport reach."""
        wanted = transports(stack)
        said = [f"ran as root: set {', '.join(_as_root(mpi))} to 1"] if is_root() else []
        if mpi.major >= 5 and wanted and not wanted & {"shared-memory", "ucx"}:
            said.append(
                f"{mpi.id} keeps allocated windows in shared memory within a node, whatever the stack"
            )
        if wanted & {"ucx", "ofi"}:
            return said
        if protocol == "eager":
            said.append(f"{mpi.id}: eager up to {MOST_EAGER >> 20} MiB, rendezvous above")
        if protocol == "rendezvous" and wanted != {"tcp"}:
            said.append(f"{mpi.id}: rendezvous above {INLINE} B, eager up to that within shared memory")
        return said

    def probe_environment(self, mpi: Mpi) -> dict[str, str]:
        """Verbosity at which the selected pml, mtl and byte-transfer layers are named."""
        settings = {
            "OMPI_MCA_pml_base_verbose": "10",
            "OMPI_MCA_mtl_base_verbose": "10",
            "OMPI_MCA_btl_base_verbose": "20",
            "OMPI_MCA_osc_base_verbose": "10",
            "OMPI_MCA_opal_common_ofi_verbose": "1",
            "UCX_LOG_LEVEL": "info",
        }
        return settings

    def read_probe(self, output: str) -> str:
        """E.g. "pml ob1, btl vader", "pml ucx, ucx cma sysv", "pml cm, mtl ofi net"; 5 adds its osc."""
        pml = _named(r"selected (\w+) best priority", output)
        mtl = _named(r"\(\s*mtl\) Selected component \[(\w+)\]", output) if "cm" in pml else []
        layers = _named(r"mca: bml: Using (\w+) btl for send", output) if "ob1" in pml else []
        provider = _named(r"mtl:ofi:prov: (\S+)", output) or _named(r"mtl:ofi:provider: (\S+)", output)
        # Only the other frameworks' selections are told apart by name, so those of osc are what remains.
        osc = [each for each in _named(r"select: component (\w+) selected", output) if each not in pml + mtl]
        parts = {
            "pml": pml,
            "btl": [layer for layer in layers if layer != "self"] or layers,
            "ucx": _ucx.transports(output),  # also where only OpenSHMEM uses it
            "mtl": mtl + provider if mtl else [],
            "osc": osc,
        }
        return ", ".join(f"{part} {' '.join(names)}" for part, names in parts.items() if names)


def _named(pattern: str, output: str) -> list[str]:
    """What `pattern` catches, each once, in alphabetical order: ranks print in any order."""
    return sorted(set(re.findall(pattern, output)))


def _as_root(mpi: Mpi) -> dict[str, str]:
    """The variables that let root run it."""
    owners = ["OMPI"] if mpi.major < 5 else ["OMPI", "PRTE"]
    return {name.format(owner): "1" for owner in owners for name in AS_ROOT}


def _shmem(mpi: Mpi, wanted: frozenset[str]) -> dict[str, str]:
    """What OpenSHMEM needs beside the stack: it goes by UCX alone, whatever carries MPI's messages."""
    if not mpi.has_shmem:
        raise Unsupported(f"{mpi.id} comes without OpenSHMEM")
    if "ofi" in wanted:
        raise Unsupported(f"OpenSHMEM of {mpi.id} goes by UCX, not by libfabric")
    # shmem_finalize of 4.1.4 crashes in osc/rdma and osc/pt2pt; these programs have no MPI windows to lose.
    settings = {"OMPI_MCA_osc": "^rdma,pt2pt", "OMPI_MCA_spml": "ucx"}
    wires = sorted(UCX_WIRES[each] for each in wanted & UCX_WIRES.keys())
    return settings | ({"UCX_TLS": ",".join(["self", *wires])} if wires else {})


def _limits(mpi: Mpi, protocol: str) -> dict[str, str]:
    """Eager limits of the byte-transfer layers so low or so high that one protocol carries everything."""
    memory = _memory_layer(mpi)
    layers = (memory, "tcp")
    if protocol == "rendezvous":
        # The smallest limit that each version accepts: the size of the matching header.
        least = "56" if mpi.major < 5 else "80"
        return {f"OMPI_MCA_btl_{layer}_eager_limit": least for layer in layers}
    names = [f"OMPI_MCA_btl_{layer}_{name}" for layer in layers for name in ("eager_limit", "max_send_size")]
    settings = dict.fromkeys(names, str(MOST_EAGER))
    # Fragments of the eager size are cut out of this segment.
    return settings | {f"OMPI_MCA_btl_{memory}_segment_size": str(512 << 20)}


def _memory_layer(mpi: Mpi) -> str:
    """The shared-memory byte-transfer layer: renamed from vader to sm in version 5."""
    return "vader" if mpi.major < 5 else "sm"


def _mapping(mpi: Mpi, start: Start) -> list[str]:
    """Options for where ranks go and what they are bound to."""
    package = "socket" if mpi.major < 5 else "package"
    unit = {"sockets": package, "nodes": "node"}.get(start.placement, "core")
    bound = BOUND if start.binds else UNBOUND
    if mpi.major < 5:
        return ["--map-by", unit, *(["--oversubscribe"] if start.oversubscribe else []), *bound]
    if not start.binds:
        return ["--map-by", f"{unit}:OVERSUBSCRIBE" if start.oversubscribe else unit, *UNBOUND]
    # Version 5 would number all ranks of a package before those of the next; nodes it takes in turn.
    return ["--map-by", unit, *BOUND, *(["--rank-by", "slot"] if start.placement == "sockets" else [])]


FAMILY = OpenMpi()
