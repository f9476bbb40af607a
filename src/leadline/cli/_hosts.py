"""What `leadline doctor --hosts` prints: a line for each comparison, and one for each that differs."""

from collections.abc import Callable, Iterator, Sequence

from leadline.analysis.host_pairs import Judgement, Slow
from leadline.core.formatting import counted
from leadline.core.paths import state_dir
from leadline.core.units import format_quantity
from leadline.run.hosts import Compared, HostsRequest
from leadline.run.hosts import compare as compare_hosts
from leadline.targets.local.doctor import OK, WARNING, Finding
from leadline.targets.local.topology import nodes

ALLOCATION = "allocation"
LINK = "try 'leadline run nodes' for a matrix; look at cables, ports, adapters"
HOST = "look at its adapter, cooling, and what else runs there"


def compare(
    hosts: tuple[str, ...], agent: str | None, mpi: str | None, say: Callable[[str], None]
) -> list[Finding]:
    """Compare these hosts, or those of the ALLOCATION; errors are those of `leadline.run.hosts.compare`."""
    named = () if hosts == (ALLOCATION,) else hosts
    directory = state_dir()
    directory.mkdir(parents=True, exist_ok=True)
    number = nodes(named)
    return list(findings(compare_hosts(HostsRequest(named, mpi or "found", agent), number, directory, say)))


def findings(found: Compared) -> Iterator[Finding]:
    """One for each thing that was compared and is alike, one for each that differs."""
    names = found.names
    for metric, judgement in found.links.items():
        yield from _slow(f"{metric} between hosts", judgement, names, LINK)
    for metric, judgement in found.alone.items():
        yield from _slow(f"{metric} within a host", judgement, names, HOST)
    for host, setting, value, usual in found.odd:
        others = "no setting is that of most" if usual is None else f"most: {usual}"
        yield Finding(f"{setting} of {host}", WARNING, f"{value or 'unknown'}; {others}", "make hosts alike")
    for host, by in found.clocks.items():
        wrong = f"wrong by {format_quantity(by, 's')} or more, compared with this host"
        yield Finding(f"time of day of {host}", WARNING, wrong, "start chronyd or ntpd")
    if not found.odd and not found.clocks:
        yield Finding("settings of hosts", OK, f"the same on {len(names)} hosts")


def _slow(what: str, judgement: Judgement, names: Sequence[str], advice: str) -> Iterator[Finding]:
    """What is slow in one metric, or that nothing certainly is."""
    unit = "s" if judgement.slowest.metric == "latency" else "B/s"
    usual = format_quantity(1 / judgement.usual if unit == "s" else judgement.usual, unit)
    for each in judgement.slow:
        kind = HOST if len(each.hosts) == 1 else advice
        yield Finding(f"{what}: {_name(each, names)}", WARNING, _speed(each, usual), kind)
    if not judgement.slow:
        slowest = judgement.slowest
        said = f"usual {usual}; slowest {_name(slowest, names)}: {_speed(slowest)}"
        yield Finding(what, OK, f"{said}, {counted(judgement.launches, 'launch')}")


def _name(found: Slow, names: Sequence[str]) -> str:
    """The host, or the two hosts of a link."""
    return "-".join(names[host] for host in found.hosts)


def _speed(found: Slow, usual: str = "") -> str:
    """Relative speed with its interval: "60 % of the usual 12.4 MB/s [59, 61] at 99.97 %"."""
    low, high, confidence = found.interval
    of = f" of the usual {usual}" if usual else ""
    return f"{found.speed:.0%}{of} [{low:.0%}, {high:.0%}] at {confidence:.2%}".replace("%", " %")
