"""The page of a recorded program: where its time goes, who waits for whom, what it sends, and when."""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from leadline.core.collectives import VARYING
from leadline.core.formatting import counted
from leadline.core.units import format_bytes, format_quantity
from leadline.profile.analysis import Profile
from leadline.profile.findings import findings
from leadline.profile.sentences import clocks, critical_path, excess, shares, waited_for, warnings
from leadline.program.model import COLLECTIVES, Kind, Program
from leadline.program.traffic import messages
from leadline.report import program_figures as draw
from leadline.report.answers import Answers, Section, Table
from leadline.report.origin import origins
from leadline.report.page import Count, plot

SITES = 20
KINDS = 20
Window = tuple[float, float]
_Collective = tuple[int, bool, int, int | None]  # kind, whether blocks vary, ranks, bytes
_ONE_SIDED = {Kind.PUT, Kind.GET, Kind.ACCUMULATE}


@dataclass(frozen=True)
class Subject:
    """What a page is about: a program, its profile where times are known, and what was asked for."""

    name: str
    program: Program
    profile: Profile | None = None
    expected: tuple[str, Profile] | None = None  # the profile of the same program on a described machine
    window: Window | None = None  # s


def compose(subject: Subject) -> Answers:
    """The page of a program."""
    program, found = subject.program, subject.profile
    sections = [
        *((_time(found), _sites(found), _timeline(found, subject.window), _path(found)) if found else ()),
        *_traffic(program),
        _together(program, found),
    ]
    facts = {key: value for key, value in program.recorded.items() if value}
    command = facts.get("command")
    return Answers(
        title=f"Where the time of {Path(subject.name).stem} goes",
        subtitles=[" ".join(command) if isinstance(command, list) else subject.name],
        verdict=_verdict(subject),
        counts=_counts(program, found),
        sections=[each for each in sections if each],
        origins=origins([{"run": subject.name, **facts}]),
        note=(
            "Times are of one execution, so they have no intervals: 'leadline replay' executes the program "
            "again, with launches and intervals."
        ),
    )


def _verdict(subject: Subject) -> list[str]:
    found = subject.profile
    if not found:
        return [
            "When its operations began and ended is not known (a recording has its times beside it, in "
            "NAME.program.times), so the page tells what the program asks for, not how long it takes."
        ]
    said = [shares(found)[0].upper() + shares(found)[1:] + " of the ranks' time."]
    if subject.expected:
        machine, expected = subject.expected
        said.append(excess(found, expected, machine))
    more = filter(None, [waited_for(found), critical_path(found), clocks(found)])
    return [*warnings(found), *said, *more, *findings(found)]


def _counts(program: Program, found: Profile | None) -> list[Count]:
    counts = [
        Count("ranks", f"{program.ranks:,}"),
        Count("operations", f"{program.operations_in_all:,}"),
    ]
    if found:
        end = float(found.end.max(initial=0)) * 1e-9
        inside = float(found.communication.sum() / (found.end.sum() or 1))
        counts += [Count("time", format_quantity(end, "s")), Count("in MPI", f"{100 * inside:.1f} %")]
    if program.partial:
        counts.append(Count("incomplete records", counted(len(program.partial), "rank"), bad=True))
    return counts


def _time(found: Profile) -> Section:
    caused = found.caused()
    worst = [rank for rank in caused.argsort()[::-1][:10].tolist() if caused[rank]]
    table = Table(
        "Ranks that others wait for",
        ["rank", "others wait for it", "computes", "in MPI", "of that waiting"],
        [
            [
                str(rank),
                *(
                    format_quantity(float(value[rank]) * 1e-9, "s")
                    for value in (caused, found.computing, found.communication, found.waits.sum(axis=1))
                ),
            ]
            for rank in worst
        ],
    )
    says = (
        "Each rank's time by what it is spent on. A rank that waits for a message waits until it is sent; in "
        "a collective, until the last rank has come that it needs."
    )
    figures = [plot(draw.by_rank(found)), plot(draw.over_time(found))]
    return Section("Time of each rank", "ranks", says, figures, table if worst else None)


def _sites(found: Profile) -> Section:
    total = int(found.end.sum()) or 1
    rows = [
        [
            site or "unknown",
            kind,
            f"{calls:,}",
            format_quantity(time * 1e-9, "s"),
            f"{100 * time / total:.1f} %",
            f"{100 * waited / total:.1f} %",
        ]
        for site, kind, calls, time, waited in found.by_site()[:SITES]
    ]
    columns = ["call site", "operation", "calls", "time of all ranks", "share", "of it waiting"]
    says = f"The {SITES} call sites that take most time, by source line where the program's symbols allow."
    return Section("Call sites", "sites", says, [], Table("Call sites", columns, rows))


def _timeline(found: Profile, window: Window | None) -> Section:
    ranks, begin, end = draw.window(found, window)
    figures = [draw.activity(found), draw.timeline(found, ranks, begin, end)]
    says = (
        "Above all ranks over the whole time; below what ranks do in a window, operation by operation: "
        + ("the one that was asked for." if window else "around the longest wait.")
        + " 'leadline report FILE --window 1.2s:1.3s' shows another."
    )
    return Section("Timeline", "timeline", says, [plot(each) for each in figures])


def _path(found: Profile) -> Section:
    says = (
        "What the rank did that ended last and, before each wait, what its cause did: only what is on this "
        "path makes the program faster."
    )
    computing, inside = found.path_by_rank()
    order = np.argsort(-(computing + inside))[:10]
    rows = [
        [str(rank), *(format_quantity(float(value[rank]) * 1e-9, "s") for value in (computing, inside))]
        for rank in order.tolist()
        if computing[rank] + inside[rank]
    ]
    table = Table("Ranks on the critical path", ["rank", "computation on it", "in MPI on it"], rows)
    return Section("Critical path", "path", says, [plot(draw.path(found))], table)


def _traffic(program: Program) -> list[Section]:
    rows = messages(program)
    if not len(rows):
        return []
    sizes: Counter[int] = Counter()
    for _, _, size, count in rows.tolist():
        sizes[size] += count
    most = sorted(sizes.items(), key=lambda item: -item[0] * item[1])[:KINDS]
    volume = sum(size * count for size, count in sizes.items())
    table = Table(
        "Sizes of messages by bytes in all",
        ["size", "messages", "bytes in all", "share"],
        [
            [
                format_bytes(size),
                f"{count:,}",
                format_quantity(float(size * count), "B"),
                f"{100 * size * count / (volume or 1):.1f} %",
            ]
            for size, count in most
        ],
    )
    others = "those of collectives"
    if any(kind in _ONE_SIDED for kind, _ in program.calls):
        others += " and accesses to windows"
    says = (
        f"{sum(sizes.values()):,} messages, {format_quantity(float(volume), 'B')}; {others} are not counted."
    )
    matrix = plot(draw.matrix(rows, program.ranks))
    return [
        Section("Who sends to whom", "matrix", says, [matrix]),
        Section("Sizes of messages", "sizes", "", [plot(draw.sizes(sizes))], table),
    ]


def _together(program: Program, found: Profile | None) -> Section | None:
    """Collectives by operation, communicator size and bytes."""
    calls: Counter[_Collective] = Counter()
    time: Counter[_Collective] = Counter()
    for rank in range(program.ranks):
        sequence = program.sequence(rank)
        inside = _inside(found, rank) if found else np.zeros(len(sequence.leaves))
        for place, (leaf, count) in enumerate(zip(sequence.leaves, sequence.counts, strict=True)):
            if leaf.kind in COLLECTIVES:
                varies = bool(leaf.mode)
                size = None if varies else leaf.bytes  # each rank knows other blocks of such a call
                key = leaf.kind, varies, len(program.communicators[leaf.comm].members), size
                calls[key] += count
                time[key] += int(inside[place])
    if not calls:
        return None
    total = int(found.end.sum()) if found else 0
    order = sorted(calls, key=lambda key: (-time[key], -calls[key]))
    rows = [_collective(key, calls[key], time[key] / total if total else None) for key in order[:KINDS]]
    columns = ["operation", "ranks", "bytes", "calls of all ranks", "share of time"]
    says = "By what they take of the ranks' time, waits included." if found else "By how often."
    return Section("Collectives", "collectives", says, [], Table("Collectives", columns, rows))


def _inside(found: Profile, rank: int) -> npt.NDArray[np.float64]:
    """Time in each leaf of a rank, ns."""
    times, sequence = found.program.times(rank), found.program.sequence(rank)
    assert times is not None
    inside = times[:, 1] - times[:, 0]
    return np.bincount(sequence.order_cached, inside, len(sequence.leaves)).astype(float)


def _collective(key: _Collective, calls: int, share: float | None) -> list[str]:
    kind, varies, ranks, size = key
    name = Kind(kind).name.lower()
    told = "not known" if share is None else f"{100 * share:.2f} %"
    bytes_ = "differ by rank" if size is None else format_bytes(size)
    return [VARYING.get(name, name) if varies else name, f"{ranks:,}", bytes_, f"{calls:,}", told]
