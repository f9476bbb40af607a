"""The program that recorded processes executed, from what each of them wrote."""

from collections.abc import Sequence

import numpy as np

from leadline.core.errors import UsageError
from leadline.program.build import ProgramBuilder
from leadline.program.model import Program
from leadline.record import sites as naming
from leadline.record.ranks import Communicators, Rank
from leadline.record.spills import Spill


def convert(found: Sequence[Spill], recorded: dict[str, object]) -> Program:
    """The program of all ranks' files; `recorded` is what is known of the run besides.

    Raises UsageError where files of ranks are missing, or are of different runs.
    """
    ranks = _check(found)
    builder = ProgramBuilder(ranks, measured=True)
    shared, outside = Communicators(builder.communicators), set[str]()
    read = []
    for spill in sorted(found, key=lambda each: each.rank):
        rank = Rank(spill, shared, outside)
        for entry in spill.entries():
            try:
                rank.take(entry)
            except (ValueError, IndexError, KeyError, OverflowError):
                rank.stopped = "an entry of its record is damaged"
                break
        read.append(rank)
    start = min(int(rank.spill.facts["began"]) for rank in read)
    sites = _sites(read, builder.sites)
    builder.regions = [str(level) for level in range(1, max(max(r.regions, default=0) for r in read) + 1)]
    for number, rank in enumerate(read):
        offset = int(rank.spill.facts["shift"]) - start
        times = np.array(rank.times, np.int64).reshape(-1, 2) + offset
        # Threads of a rank are under way at once; here they follow one another.
        if len(times):
            times[:, 0] = np.maximum(times[:, 0], np.maximum.accumulate(np.concatenate(([0], times[:-1, 1]))))
            times[:, 1] = np.maximum(times[:, 0], times[:, 1])
        operations = [
            operation._replace(site=sites.get((number, address), 0)) if address else operation
            for operation, address in zip(rank.operations, rank.addresses, strict=True)
        ]
        builder.add(number, operations, times=times)
        if not rank.ended or rank.stopped:
            builder.partial.add(number)
    facts = found[0].facts
    builder.recorded = {
        **recorded,
        "mpi": facts["mpi"],
        "hosts": sorted({str(spill.facts["host"]) for spill in found}),
        "nodes": [str(rank.spill.facts["host"]) for rank in read],
        "threads": max(len(rank.threads) for rank in read),
        "outside": sorted(outside),
    }
    return builder.build()


def _check(found: Sequence[Spill]) -> int:
    """How many ranks there are; UsageError where not each has one file of one run."""
    if not found:
        raise UsageError(
            "nothing was recorded: no rank called MPI_Init with the library preloaded (a program without "
            "MPI, or one that is linked statically?)"
        )
    worlds = {(int(spill.facts["ranks"]), str(spill.facts["session"])) for spill in found}
    if len(worlds) > 1:
        raise UsageError("the files are of different runs: record one run into a directory")
    ranks = worlds.pop()[0]
    have = sorted(spill.rank for spill in found)
    if len(set(have)) < len(have):
        raise UsageError(f"rank {next(r for r in have if have.count(r) > 1)} was recorded more than once: "
                         "the command started several MPI programs; record one of them")  # fmt: skip
    if have != list(range(ranks)):
        missing = sorted(set(range(ranks)) - set(have))
        names = ", ".join(map(str, missing[:8])) + (", ..." if len(missing) > 8 else "")
        raise UsageError(
            f"{len(missing)} of {ranks} ranks were not recorded ({names}): their processes did not have the "
            "library, or a file system that is not shared"
        )
    for spill in found:
        # Where each process began, on a clock that hosts have in common: their time of day.
        several = len({str(each.facts["host"]) for each in found}) > 1
        spill.facts["shift"] = int(spill.facts["clock_offset"]) if several else 0
        spill.facts["began"] = spill.began + spill.facts["shift"]
    return ranks


def _sites(read: Sequence[Rank], names: list[str]) -> dict[tuple[int, int], int]:
    """The index in `names`, which grows, of each rank's address."""
    places: dict[tuple[int, int], tuple[str, int]] = {}
    for number, rank in enumerate(read):
        beside = rank.spill.path.with_name(rank.spill.path.name + ".maps")
        if not beside.is_file():
            continue
        maps = naming.Maps(beside.read_text(errors="replace"))
        for address in set(rank.addresses):
            if address and (found := maps.find(address)):
                places[number, address] = found
    named = naming.names(sorted(set(places.values())))
    indices: dict[str, int] = {}
    for name in dict.fromkeys(named.values()):
        indices[name] = len(names)
        names.append(name)
    return {key: indices[named[place]] for key, place in places.items()}
