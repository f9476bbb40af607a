"""Intel MPI: settings are `I_MPI_*` variables; libfabric carries what its shared memory does not.

What each stack becomes was tried on real runs of the packages `impi-rt` and `impi-devel` (2021.18).
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from leadline.core.axes import PROTOCOLS
from leadline.mpi.families import _intel_collectives
from leadline.mpi.families._hydra import HydraFamily, command
from leadline.mpi.family import Start, Unsupported, check, transports
from leadline.mpi.library import Mpi
from leadline.mpi.tuned import Choice, Tuned


class IntelMpi(HydraFamily):
    """Intel MPI."""

    name = "intel"
    title = "Intel MPI"
    progress_variable = "I_MPI_ASYNC_PROGRESS"
    aliases = ("impi", "intelmpi", "intel-mpi")

    def version_in_header(self, header: str) -> str | None:
        """`I_MPI_VERSION`."""
        said = re.search(r'define\s+I_MPI_VERSION\s+"([^"]+)"', header)
        return said[1] if said else None

    def version_in_launcher(self, output: str) -> str | None:
        """`Intel(R) MPI Library for Linux* OS, Version 2021.18.1 Build ...`."""
        said = re.search(r"Intel\(R\) MPI Library.*Version\s+(\S+)", output)
        return said[1] if said else None

    def prefix_environment(self, prefix: Path, bundled: bool) -> dict[str, str]:
        """`I_MPI_ROOT` and, since its own scripts are not sourced, the path of its libraries."""
        places = [prefix / "lib", prefix / "lib" / "release", prefix / "opt" / "mpi" / "libfabric" / "lib"]
        there = [str(place) for place in places if place.is_dir()]
        return {"I_MPI_ROOT": str(prefix), "LD_LIBRARY_PATH": ":".join(there)}

    def _stack(self, mpi: Mpi, wanted: frozenset[str]) -> dict[str, str]:
        """`I_MPI_FABRICS` is shm, ofi or both; libfabric uses one provider."""
        if "ucx" in wanted:
            if wanted & {"shared-memory", "tcp"}:
                raise Unsupported(f"{mpi.id} reaches UCX through a provider whose transports cannot be named")
            return {"I_MPI_FABRICS": "ofi", "I_MPI_OFI_PROVIDER": "mlx"}
        if "ofi" not in wanted:
            fabrics = {"shared-memory": "shm", "tcp": "ofi"}
            chosen = ":".join(name for each, name in fabrics.items() if each in wanted)
            return {"I_MPI_FABRICS": chosen} | ({"I_MPI_OFI_PROVIDER": "tcp"} if "tcp" in wanted else {})
        providers = {"shared-memory": "shm", "tcp": "tcp"}
        named = [name for each, name in providers.items() if each in wanted]
        if len(named) > 1:
            raise Unsupported(f"{mpi.id} uses one provider of libfabric at a time; name shared-memory or tcp")
        return {"I_MPI_FABRICS": "ofi"} | ({"I_MPI_OFI_PROVIDER": named[0]} if named else {})

    def force(self, mpi: Mpi, protocol: str, stack: str = "default") -> dict[str, str]:
        """Nothing does it; see `Family.force`.

        Tried: I_MPI_EAGER_THRESHOLD is gone, I_MPI_SHM_EAGER_THRESHOLD changes nothing at either end, and the
        tcp provider of its libfabric sends everything eagerly.
        """
        check(protocol, PROTOCOLS, "protocol")
        transports(stack)
        if protocol == "default":
            return {}
        raise Unsupported(f"{mpi.id} does not let one force the {protocol} protocol")

    def algorithms(self, mpi: Mpi, operation: str, ranks: int, size: int) -> Mapping[str, Mapping[str, str]]:
        """See `families/_intel_collectives.py`."""
        return _intel_collectives.forcing(operation, ranks, size)

    def algorithm_names(self) -> set[str]:
        return {name for each in _intel_collectives.ALGORITHMS.values() for name in each}

    def tuned(self, mpi: Mpi, choices: Sequence[Choice], directory: Path) -> Tuned:
        """Variables with ranges of sizes and ranks."""
        return _intel_collectives.tuned(mpi, choices)

    def launch(self, mpi: Mpi, start: Start) -> list[str]:
        """`mpiexec.hydra` with pinning through `I_MPI_PIN_*`; see `Family.launch`."""
        argv = command(mpi, start)
        if start.oversubscribe:
            return [*argv, "-genv", "I_MPI_PIN", "0", "-genv", "I_MPI_THREAD_YIELD", "2"]
        if not start.binds:
            return [*argv, "-genv", "I_MPI_PIN", "0"]
        order = {"sockets": "scatter"}.get(start.placement, "compact")
        pinning = {"I_MPI_PIN": "1", "I_MPI_PIN_DOMAIN": "core", "I_MPI_PIN_ORDER": order}
        return argv + [word for name, value in pinning.items() for word in ("-genv", name, value)]

    def probe_environment(self, mpi: Mpi) -> dict[str, str]:
        """Debug output that names fabrics and provider."""
        return {"I_MPI_DEBUG": "5"}

    def read_probe(self, output: str) -> str:
        """E.g. "shm", "ofi tcp;ofi_rxm" or "shm:ofi tcp;ofi_rxm".

        The fabrics are in the name of the tuning file that it looks for (`tuning_gnr_shm-ofi.dat`); it
        repeats I_MPI_FABRICS only where that was set, and names a provider only where it opened one.
        """
        if "MPI startup()" not in output:
            return ""
        provider = re.findall(r"libfabric provider:\s*(\S+)", output)
        repeated = re.findall(r"I_MPI_FABRICS=(\S+)", output)
        tuned = re.findall(r"tuning_[\w-]*?_(shm-ofi|shm|ofi)[_.]", output)
        fabrics = repeated or [name.replace("-", ":") for name in tuned] or (["ofi"] if provider else [])
        return " ".join([*fabrics[:1], *provider[:1]])


FAMILY = IntelMpi()
