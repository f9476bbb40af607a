"""The program that recorded processes executed, from what each of them wrote."""

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from leadline.core.errors import UsageError
from leadline.program.build import ProgramBuilder
from leadline.program.model import Communicator, Operation, Program
from leadline.record import sites as naming
from leadline.record.clocks import align
from leadline.record.handles import Communicators
from leadline.record.ranks import Rank
from leadline.record.spills import NO_ROOM, Spill
from leadline.record.threads import Threads, settle, sizes_as_sent, take
from leadline.record.unmet import close, leave_out


def convert(found: Sequence[Spill], recorded: dict[str, object]) -> Program:
    """The program of all ranks' files; `recorded` is what is known of the run besides.

    What processes did that MPI_Comm_spawn started is another program, which is left out.

    Raises UsageError where files of ranks are missing, or are of different runs.
    """
    found = [spill for spill in found if not spill.facts.get("spawned")] or found
    ranks = _check(found)
    made = ProgramBuilder(ranks, measured=True)
    read, outside = _read(sorted(found, key=lambda each: each.rank), made.communicators)
    at_once = None  # ranks whose threads called MPI during blocking calls of each other
    if max(len(rank.threads) for rank in read) > 1:
        threads = [Threads(list(rank.spill.entries())) for rank in read]
        at_once = sum(each.at_once for each in threads)
    if at_once:
        spoilt = made.communicators[:1]
        shared = Communicators(spoilt)
        settle([Rank(rank.spill, shared, set()) for rank in read], threads)
        del made.communicators[1:]
        read, outside = _read([rank.spill for rank in read], made.communicators, threads)
    unmet = leave_out(read, made.communicators)
    sites = _sites(read, made.sites)
    made.regions = [str(level) for level in range(1, max(max(r.regions, default=0) for r in read) + 1)]
    made.partial = {number for number, rank in enumerate(read) if not rank.ended or rank.stopped}
    facts = found[0].facts
    names = [str(rank.spill.facts["host"]) for rank in read]
    made.recorded = {
        **recorded,
        "mpi": facts["mpi"],
        "hosts": sorted(set(names)),
        "nodes": names,
        "threads": max(len(rank.threads) for rank in read),
        **({} if at_once is None else {"at_once": at_once}),
        "outside": sorted(outside),
        "full": [number for number, rank in enumerate(read) if rank.stopped.startswith(NO_ROOM)],
        "memory": [rank.memory for rank in read],
        **({"unmet": unmet} if unmet else {}),
    }
    every = [_one_after_another(rank) for rank in read]
    begins = np.array([int(rank.spill.facts["began"]) for rank in read], np.int64)
    for number, rank in enumerate(read):
        made.add(number, _at_sites(rank, number, sites), times=_counted(every[number], begins))
    program = made.build()
    if at_once and (changed := sizes_as_sent(program, read)):
        for number in sorted(changed):
            operations = _at_sites(read[number], number, sites)
            made.add(number, operations, times=_counted(every[number], begins))
        program = made.build()
    if len(set(names)) == 1:
        return program
    hosts = list(dict.fromkeys(names))
    places = [hosts.index(name) for name in names]
    alignment = align(program, places)
    start = begins.min()
    aligned = [alignment.shift(place, times - start) for place, times in zip(places, every, strict=True)]
    begins = np.array(
        [alignment.shift(place, begins[r : r + 1] - start)[0] for r, place in enumerate(places)]
    )
    lost = [host for host, line in zip(hosts, alignment.lines, strict=True) if line is None]
    made.recorded["clocks"] = {"within_s": alignment.within, "unaligned": lost}
    for number, times in enumerate(aligned):
        made.time(number, _counted(times, begins))
    return made.build()


def _read(
    found: Sequence[Spill], communicators: list[Communicator], threads: Sequence[Threads] = ()
) -> tuple[list[Rank], set[str]]:
    """The ranks of the files in their order, and what cannot be executed again; `threads` of each, if any."""
    shared, outside = Communicators(communicators), set[str]()
    read = []
    for number, spill in enumerate(found):
        rank = Rank(spill, shared, outside)
        if spill.facts.get("lost"):
            rank.stopped = NO_ROOM
        try:
            if threads:
                for piece in threads[number].pieces():
                    take(rank, piece)
            else:
                for entry in spill.entries():
                    rank.take(entry)
        except (ValueError, IndexError, KeyError, OverflowError):
            rank.stopped = "an entry of its record is damaged"
        close(rank)
        read.append(rank)
    return read, outside


def _at_sites(rank: Rank, number: int, sites: dict[tuple[int, int], int]) -> Iterator[Operation]:
    """A rank's operations with the places in the source from which they were called."""
    placed: dict[tuple[Operation, int], Operation] = {}
    for operation, address in zip(rank.operations, rank.addresses, strict=True):
        if address:
            key = operation, sites.get((number, address), 0)
            if key not in placed:
                placed[key] = operation._replace(site=key[1])
            yield placed[key]
        else:
            yield operation


def _one_after_another(rank: Rank) -> npt.NDArray[np.int64]:
    """When a rank entered and left each operation, ns, by its host's time of day.

    Threads of a rank are under way at once; here they follow one another.
    """
    times = np.array(rank.times, np.int64).reshape(-1, 2) + int(rank.spill.facts["shift"])
    if len(times):
        begun = int(rank.spill.facts["began"])
        before = np.maximum.accumulate(np.concatenate(([begun], times[:-1, 1])))
        times[:, 0] = np.maximum(times[:, 0], before)
        times[:, 1] = np.maximum(times[:, 0], times[:, 1])
    return times


def _counted(times: npt.NDArray[np.int64], begins: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Times counted from the first of `begins`, ns."""
    return np.asarray(np.maximum(times - begins.min(), 0), np.int64)


def _check(found: Sequence[Spill]) -> int:
    """How many ranks there are; UsageError where not each has one file of one run."""
    if not found:
        raise UsageError(
            "nothing was recorded: no rank called MPI_Init (a program without MPI, or one that is "
            "linked statically?)"
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
