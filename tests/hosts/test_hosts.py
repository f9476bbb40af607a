"""Runs across hosts of this machine alone (tools/hosts.sh), whose rates are known: tc sets them."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import psutil
import pytest

from leadline import machine
from leadline.analysis import validate
from leadline.calibrate import calibrate
from leadline.mpi.discover import find
from leadline.mpi.library import Mpi
from leadline.native.build import build, build_describe
from leadline.plan.model import Plan
from leadline.run import session
from leadline.run.store import load, provenance
from leadline.targets.simulated.machine import SimulatedMachine

pytestmark = [pytest.mark.mpi, pytest.mark.full]

TOOL = Path(__file__).parents[2] / "tools" / "hosts.sh"
LEADLINE = [sys.executable, "-c", "from leadline.cli import main; main()"]
LIMIT = 240.0  # s, for whatever a test starts
MBIT = 1e6 / 8  # B/s


class Hosts:
    """Hosts with names and a network that no other test has."""

    def __init__(self, place: Path) -> None:
        """None is up."""
        self.place = place
        number = os.getpid() % 200 + 20
        self.env = {
            **os.environ,
            "HOSTS_HERE": str(place / "hosts"),
            "HOSTS_NAME": f"t{number}h",
            "HOSTS_NET": f"10.213.{number}",
            "OMPI_ALLOW_RUN_AS_ROOT": "1",
            "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        }

    def call(self, *words: str, fails: bool = False, **settings: str) -> str:
        """Both streams of a command; it must succeed, or with `fails` may end as it likes."""
        env = self.env | settings
        done = subprocess.run(
            words, env=env, cwd=self.place, capture_output=True, text=True, timeout=LIMIT, check=False
        )
        assert fails or done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"
        return done.stdout + done.stderr

    def up(self, count: int, *options: str) -> None:
        """Hosts, in place of those that were there."""
        self.down()
        self.call(str(TOOL), "up", str(count), *options)

    def down(self) -> None:
        """None is left."""
        self.call(str(TOOL), "down")

    def names(self, count: int) -> list[str]:
        """The first hosts."""
        return [f"{self.env['HOSTS_NAME']}{number}" for number in range(1, count + 1)]

    def run(self, mpi: Mpi, hosts: int, measure: str, **settings: str) -> pl.DataFrame:
        """The records of a plan of `[[measure]]` on these hosts."""
        build_describe()
        build(mpi)
        plan, run = self.place / "plan.toml", self.place / "run"
        plan.write_text(
            f'mpi = "{mpi.id}"\ntime = "40 s"\nlaunches = 4\nhosts = {json.dumps(self.names(hosts))}\n'
            f'agent = "{self.env["HOSTS_HERE"]}/agent"\n{measure}'
        )
        shutil.rmtree(run, ignore_errors=True)
        self.call(*LEADLINE, "run", str(plan), "-o", str(run), fails=True, **settings)
        return load(run)


@pytest.fixture(scope="module")
def hosts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hosts]:
    """Removed afterwards; skips, with the reason, where none can be made."""
    if os.geteuid() != 0 or not all(map(shutil.which, ["ip", "tc", "unshare", "nsenter"])):
        pytest.skip("hosts need root, and the packages iproute2 and util-linux")
    made = Hosts(tmp_path_factory.mktemp("hosts"))
    tried = made.call(str(TOOL), "up", "2", "--rate", "100mbit", fails=True)
    if "agent = " not in tried:
        pytest.skip(f"hosts: the kernel makes none here: {tried}")
    yield made
    made.down()


@pytest.fixture(scope="module")
def mpich() -> Mpi:
    """The one whose launches are quick."""
    found = next((mpi for mpi in find() if mpi.family == "mpich" and mpi.compiler), None)
    if found is None:
        pytest.skip("there is no MPICH")
    return found


with_each_mpi = pytest.mark.parametrize(
    "mpi", [mpi for mpi in find() if mpi.compiler], ids=lambda mpi: mpi.id
)


def median(records: pl.DataFrame, benchmark: str, metric: str) -> float:
    """Of all samples of a metric."""
    found = records.filter((pl.col("benchmark") == benchmark) & (pl.col("metric") == metric))
    value = found["samples"].explode().median()
    assert isinstance(value, float), records
    return value


STREAM = """
[[measure]]
benchmark = "bandwidth"
placement = "nodes"
bytes = "256 KiB"
window = 8
point_time = "0.2 s"
"""


@with_each_mpi
@pytest.mark.parametrize("rate", [40, 100, 1000])
def test_a_stream_has_the_rate_that_the_kernel_gives_it(hosts: Hosts, mpi: Mpi, rate: int) -> None:
    """Of what messages carry: headers do not count. A kernel that is slower than the link moves less."""

    def moved(at: int) -> float:
        hosts.up(2, "--rate", f"{at}mbit")
        return median(hosts.run(mpi, 2, STREAM), "bandwidth", "bandwidth")

    found = moved(rate)
    assert found <= 1.05 * rate * MBIT
    if found < 0.95 * rate * MBIT and moved(3 * rate) < 1.3 * rate * MBIT:
        pytest.skip(f"the kernel moves {found / MBIT:.0f} Mbit/s here, whatever the rate of the link")
    assert found >= 0.95 * rate * MBIT


LATENCY = """
[[measure]]
benchmark = "pingpong"
placement = "{placement}"
bytes = "8 B"
"""


@with_each_mpi
def test_between_hosts_is_told_apart_from_within(hosts: Hosts, mpi: Mpi) -> None:
    """Shared memory takes under a microsecond, TCP tens; neither waits for a scheduler (ms).

    The least of the samples: a rank that polls shared memory loses its processor where others want it.
    """
    hosts.up(2, "--rate", "100mbit")
    between = hosts.run(mpi, 2, LATENCY.format(placement="nodes"))
    within = hosts.run(mpi, 1, LATENCY.format(placement="default"), HOSTS_CPUS="all")
    assert 5e-6 < median(between, "pingpong", "latency") < 1e-3
    assert within["samples"].explode().min() < 3e-6  # type: ignore[operator]
    assert between["samples"].explode().min() > 5e-6  # type: ignore[operator]


def test_a_message_takes_its_time_on_the_link(hosts: Hosts, mpich: Mpi) -> None:
    """1,000 B more take 80 us more at 12.5 MB/s, also where nothing is under way before them."""
    hosts.up(2, "--rate", "100mbit")
    sizes = LATENCY.format(placement="nodes").replace('"8 B"', "[8, 1008]")
    found = hosts.run(mpich, 2, sizes).filter(pl.col("metric") == "latency")
    short, long = (found.filter(pl.col("bytes") == size)["samples"].explode().median() for size in (8, 1008))
    assert long - short == pytest.approx(1000 / (100 * MBIT), rel=0.15)  # type: ignore[operator]


def test_each_host_has_a_processor_of_its_own(hosts: Hosts) -> None:
    """Also for a program that asks the kernel for the first one, as a launcher that binds does."""
    if (os.cpu_count() or 1) < 2:
        pytest.skip("hosts of one processor share it")
    hosts.up(2)
    agent = f"{hosts.env['HOSTS_HERE']}/agent"
    bound = "taskset -cp 0 $$ >/dev/null 2>&1; taskset -cp $$"
    first, second = (hosts.call(agent, name, bound).split()[-1] for name in hosts.names(2))
    assert first == "0"
    assert "0" not in re.split("[-,]", second)


ACROSS = """
[[measure]]
benchmark = "congestion"
placement = "nodes"
ranks = 4
bytes = "256 KiB"
[[measure]]
benchmark = "hotspot"
placement = "nodes"
ranks = 4
shape = "flat"
bytes = "4 KiB"
[[measure]]
benchmark = "allreduce"
placement = "nodes"
ranks = 4
bytes = "64 KiB"
communicator = "world"
[[measure]]
benchmark = "halo"
placement = "nodes"
ranks = 4
way = "nonblocking"
edge = [16, 1024]
"""
TWO_EACH = """
[[measure]]
benchmark = "multistream"
ranks = 4
pairs = [1, 2]
bytes = "256 KiB"
[[measure]]
benchmark = "corepairs"
ranks = 4
pair = "0-1"
bytes = "8 B"
"""


@with_each_mpi
def test_patterns_across_four_hosts(hosts: Hosts, mpi: Mpi) -> None:
    """A switch has no link that two pairs share; a link that two streams share gives both its rate alone."""
    hosts.up(4, "--rate", "100mbit")
    records = hosts.run(mpi, 4, ACROSS)
    assert set(records["status"]) == {"ok"}
    assert set(records["benchmark"]) == {"congestion", "hotspot", "allreduce", "halo"}
    assert median(records, "congestion", "bandwidth") == pytest.approx(100 * MBIT, rel=0.1)
    # Every rank's data must reach every other: more than the link's time for what a rank sends at least.
    assert median(records, "allreduce", "mean") > 0.75 * 1.5 * 65536 / (100 * MBIT)
    records = hosts.run(mpi, 2, TWO_EACH, HOSTS_CPUS="all")
    assert set(records["status"]) == {"ok"}
    for pairs in (1, 2):
        streams = records.filter(pl.col("pairs") == pairs)
        assert median(streams, "multistream", "bandwidth") == pytest.approx(100 * MBIT, rel=0.1)


STREAMS = """
[[measure]]
benchmark = "multistream"
placement = "nodes"
ranks = 8
pairs = [1, 2]
bytes = "{}"
"""
CALIBRATION = """
[[measure]]
benchmark = "pingpong"
placement = "nodes"
buffers = "reused"
bytes = ["0 B", "1 B", "256 B", "1 KiB", "4 KiB", "16 KiB", "64 KiB", "256 KiB"]
[[measure]]
benchmark = "overhead"
placement = "nodes"
bytes = ["1 B", "256 B", "1 KiB", "4 KiB", "16 KiB", "64 KiB"]
[[measure]]
benchmark = "bandwidth"
placement = "nodes"
window = 16
bytes = ["1 B", "256 B", "1 KiB", "4 KiB", "16 KiB", "64 KiB", "256 KiB"]
[[measure]]
benchmark = "distance"
placement = "nodes"
ranks = "nodes"
bytes = 0
""" + STREAMS.format("256 KiB")
SHARING = """
[[measure]]
benchmark = "congestion"
placement = "nodes"
ranks = 4
bytes = "64 KiB"
[[measure]]
benchmark = "fan"
placement = "nodes"
ranks = 4
direction = ["in", "out"]
neighbours = [1, 2, 3]
bytes = "64 KiB"
""" + STREAMS.format("64 KiB")


def test_a_machine_calibrated_on_hosts_predicts_who_shares_a_link(hosts: Hosts, mpich: Mpi) -> None:
    """Of four hosts with links of 12.5 MB/s: the links get the rate, not the cores, and patterns that were
    not seen, in which streams share a link or do not, come out within 15 %.
    """
    hosts.up(4, "--rate", "100mbit")
    records = hosts.run(mpich, 4, CALIBRATION, HOSTS_CPUS="all")
    made = calibrate(records, provenance(hosts.place / "run"))
    found = {row["key"]: row["value"] for row in made.numbers()}
    assert found["links.rate"] == pytest.approx(100 * MBIT, rel=0.03)
    assert found["topology.arity"] == 4
    described = hosts.place / "four.toml"
    described.write_text(made.toml())
    measured = hosts.run(mpich, 4, SHARING, HOSTS_CPUS="all")
    plan = Plan.load(hosts.place / "plan.toml")
    shutil.rmtree(hosts.place / "simulated", ignore_errors=True)
    simulated = session.run(plan, SimulatedMachine.of(machine.load(described)), hosts.place / "simulated")
    compared = validate.against(measured, simulated)
    assert {row["benchmark"] for row in validate.patterns(compared)} == {"congestion", "multistream", "fan"}
    assert validate.overall(compared)["median_off"] < 0.05
    for row in validate.patterns(compared):
        assert row["median_off"] < 0.15, row


def test_the_doctor_names_the_slow_link_and_the_host_that_is_set_differently(
    hosts: Hosts, mpich: Mpi
) -> None:
    """Of four hosts two have 60 % of the rate between them, and one other huge pages."""
    hosts.up(4, "--rate", "100mbit", "--slow", "2,4,60mbit")
    one, two, three, four = hosts.names(4)
    other = hosts.place / "enabled"
    other.write_text("always madvise [never]")
    known = "/sys/kernel/mm/transparent_hugepage/enabled"
    hosts.call(str(TOOL), "run", three, "mount", "--bind", str(other), known)
    build_describe()
    build(mpich)
    named = ("--hosts", ",".join(hosts.names(4)), "--agent", f"{hosts.env['HOSTS_HERE']}/agent")
    said = hosts.call(*LEADLINE, "doctor", *named, "--mpi", mpich.id, "--json", fails=True)
    found = {each["check"]: each for each in json.loads(said[said.index("[") : said.rindex("]") + 1])}
    assert {name for name, each in found.items() if each["state"] != "ok"} == {
        f"bandwidth between hosts: {two}-{four}",
        f"transparent huge pages of {three}",
    }
    told = found[f"bandwidth between hosts: {two}-{four}"]["found"]
    share, low, high = (float(each) for each in re.findall(r"(\d+) %", told)[:3])
    assert low <= share <= high
    assert share == pytest.approx(60, abs=3)
    assert high < 70
    assert "always madvise [never]" in found[f"transparent huge pages of {three}"]["found"]
    two_only = ("--hosts", f"{one},{two}", "--agent", f"{hosts.env['HOSTS_HERE']}/agent")
    assert "three hosts or more" in hosts.call(*LEADLINE, "doctor", *two_only, fails=True)


def test_nothing_crosses_but_through_the_network(hosts: Hosts) -> None:
    """Shared memory, System V segments and processes of a host are its own, and so is its name."""
    hosts.up(2, "--rate", "100mbit")
    one, two = hosts.names(2)

    def at(host: str, command: str) -> str:
        return hosts.call(str(TOOL), "run", host, "sh", "-c", command).strip()

    assert at(one, "hostname") == one
    at(one, "touch /dev/shm/mine; ipcmk -Q >/dev/null")
    assert at(one, "ls /dev/shm; ipcs -q | grep -c 0x") == "mine\n1"
    assert at(two, "ls /dev/shm; ipcs -q | grep -c 0x || true") == "0"
    assert not (Path("/dev/shm") / "mine").exists()
    assert at(two, "ls -d /proc/[0-9]* | wc -l") < "9"
    refused = hosts.call(str(TOOL), "run", "elsewhere", "true", fails=True)
    assert "there is no host 'elsewhere'" in refused


def test_down_leaves_nothing(hosts: Hosts) -> None:
    """No process, no device, no file, also while something runs there."""
    hosts.up(2)
    agent = [f"{hosts.env['HOSTS_HERE']}/agent", hosts.names(1)[0], "sleep", "1000"]
    with subprocess.Popen(agent, env=hosts.env) as started:
        busy = _until_there("sleep", "1000")
        hosts.down()
        assert started.wait(timeout=10) != 0
    assert not busy.is_running()
    assert not Path(hosts.env["HOSTS_HERE"]).exists()
    assert not [
        each for each in Path("/sys/class/net").iterdir() if each.name.startswith(hosts.env["HOSTS_NAME"])
    ]
    again = hosts.call(str(TOOL), "status", fails=True)
    assert "no hosts" in again


def _until_there(*command: str) -> psutil.Process:
    for _ in range(100):
        for each in psutil.process_iter(["cmdline"]):
            if each.info["cmdline"] == list(command):
                return each
        psutil.wait_procs([], timeout=0.05)
    raise AssertionError(f"no process {command}")


@pytest.mark.parametrize(
    "wrong", [["9"], ["two"], ["2", "--rate"], ["2", "--rate", "5m"], ["2", "--slow", "1,2,5mbit"], []]
)
def test_what_makes_no_sense_is_refused(hosts: Hosts, wrong: list[Any]) -> None:
    """With a sentence, before anything is made."""
    hosts.down()
    said = hosts.call(str(TOOL), "up", *wrong, fails=True)
    assert "usage: " in said or "--slow needs --rate" in said or "a rate is a number" in said
    assert not Path(hosts.env["HOSTS_HERE"]).exists()
