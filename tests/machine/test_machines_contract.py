"""What holds for every machine that comes with Leadline; and the constants of two papers."""

import json
import re
from math import prod
from pathlib import Path

import pytest

from leadline import machine
from leadline.machine import Machine
from leadline.machine.schema import PARTS, TOP
from leadline.machine.topologies import KINDS
from leadline.native.registry import algorithms

ROOT = Path(__file__).parents[2]
NAMES = machine.names()

# The constants of the ledgers of the Blue Gene/P and Blue Gene/L papers: machine, claim, SI value.
CONSTANTS = [
    ("bgp", "bgp.link", 425e6),
    ("bgp", "bgp.barrier-hw", 1.3e-6),
    ("bgp", "bgp.collective-net", 5.1e9),
    ("bgl", "bgl.link", 154e6),
    ("bgl", "bgl.tree", 337e6),
    ("bgl", "bgl.tree-latency", 2.5e-6),
    ("bgl", "bgl.barrier-hw", 1.5e-6),
    ("bgl", "bgl.packet", 256),
    ("bgl", "bgl.short-limit", 120),
]


@pytest.fixture(params=NAMES)
def described(request: pytest.FixtureRequest) -> Machine:
    """Each machine that is shipped."""
    return machine.load(str(request.param))


def test_every_file_of_the_room_is_a_machine() -> None:
    """A machine is found by its file alone."""
    assert {path.stem for path in (ROOT / "machines").glob("*.toml")} == set(NAMES)


def test_it_says_what_it_is(described: Machine) -> None:
    """A title for lists, and sentences about what it stands for."""
    assert described.title
    assert described.about.strip().endswith(".")


def test_each_number_has_a_source_that_can_be_found(described: Machine) -> None:
    """A source is an estimate that says so, names one of the file's [sources], or is that of another key."""
    numbers = described.numbers()
    parts = {part for number in numbers for part in (number.key, *number.key.split("."))}
    for number in numbers:
        words = set(re.findall(r"[\w.-]+\w", number.source))
        alike = set(re.findall(r"\bas (\S+\w)", number.source)) & parts
        known = words & {*described.sources, "estimate", "extrapolation"}
        assert known or alike, f"{number.key}: {number.source}"


def test_each_algorithm_is_one_of_its_operation(described: Machine) -> None:
    """Of a shipped file it is not asked when it is read."""
    for each in described.rows.get("collective", ()):
        assert each["algorithm"] in algorithms(str(each["operation"]))


def test_messages_within_a_node_have_a_rate(described: Machine) -> None:
    """Of two machines 1 MiB within a node took as long as 16 KiB."""
    assert not described.caveat


def test_each_source_is_used(described: Machine) -> None:
    """A source that no number names would say more than is true; what is extended may have used it."""
    told = " ".join(number.source for number in described.numbers())
    assert [name for name in described.sources if name not in told] == []


def test_partitions_hold_their_ranks_and_are_no_larger_than_the_machine(described: Machine) -> None:
    """For one rank, for a few, and for all there are: enough nodes, and never more than the largest."""
    for ranks in (1, 2, described.ranks_per_node + 1, described.max_ranks // 2, described.max_ranks):
        topology = described.partition(ranks)
        nodes = nodes_of(topology)
        assert ranks <= nodes * described.ranks_per_node <= described.max_ranks


def nodes_of(topology: dict[str, object]) -> int:
    """How many nodes the native program makes of a topology."""
    shape = topology.get("shape")
    if isinstance(shape, list):
        return prod(shape)
    kind = str(topology["kind"])
    return KINDS[kind].most({key: value for key, value in topology.items() if key != "kind"})


def test_the_description_is_json_without_infinities(described: Machine) -> None:
    """The native program reads numbers, words and switches, and nothing else."""
    json.dumps(described.native(), allow_nan=False)


def test_a_rank_has_a_core_or_a_thread(described: Machine) -> None:
    """Never more processes than the node can run at once."""
    node = described.native()["node"]
    assert 1 <= node["ranks"] <= node["cores"] * node.get("threads", 1)


@pytest.mark.parametrize(("name", "claim", "value"), CONSTANTS)
def test_every_constant_of_the_papers_is_in_its_machine(name: str, claim: str, value: float) -> None:
    """The number that a claim states is there as it is stated, and was fitted to nothing."""
    (number,) = [each for each in machine.load(name).numbers() if each.claim == claim]
    stated = number.value if number.stated is None else number.stated
    assert stated == pytest.approx(value)
    assert number.calibrated is None


def test_stated_values_follow_by_arithmetic() -> None:
    """Where the file holds another number: three links both ways; 240 of 272 B; 16 B of headers."""
    bgp, bgl = machine.load("bgp").native(), machine.load("bgl").native()
    assert 6 * bgp["collective_network"]["rate"] == pytest.approx(5.1e9)
    packets = bgl["packets"]
    payload = bgl["links"]["rate"] * packets["payload"] / (packets["payload"] + packets["overhead"])
    assert payload == pytest.approx(154e6, rel=0.005)  # the paper says about 154
    assert packets["payload"] + 16 == 256


def test_the_two_overheads_of_blue_gene_p_complete_its_latency() -> None:
    """2.8 us is what the engine adds up for an empty message over one hop; within a node nearly the same."""
    bgp = machine.load("bgp").native()
    links, node, eager = bgp["links"], bgp["node"], bgp["protocol"][0]
    cores = eager["send_overhead"] + eager["receive_overhead"]
    wire = bgp["packets"]["overhead"]
    assert cores + links["base"] + links["hop"] + wire / links["rate"] == pytest.approx(2.8e-6, rel=0.01)
    local = cores + node["local_latency"] + wire / node["local"]
    assert 0.95 <= local / 2.8e-6 <= 1.05


def test_the_schema_is_that_of_the_native_program() -> None:
    """Every key that `parse_machine` reads may stand in a machine file, and no other."""
    text = (ROOT / "native" / "machine" / "description.cpp").read_text()
    read = set(re.findall(r'\.(?:time|length|rate|factor|whole|count|flag|word)\("(\w+)"', text))
    tables = set(re.findall(r'\.(?:part|each)\("(\w+)"|parse_protocols\(from, "(\w+)"', text))
    ours = {key for part in PARTS.values() for key in part.keys} | set(TOP)
    assert read - {"name"} == ours - {"name"}
    assert {a or b for a, b in tables} == set(PARTS)


def test_the_kinds_of_topology_are_those_of_the_native_program() -> None:
    """One file of `native/machine/topologies` enters itself for each kind."""
    folder = ROOT / "native" / "machine" / "topologies"
    entered = {
        kind
        for path in folder.glob("*.cpp")
        for kind in re.findall(r'TopologyKind \w+[({]\s*"([\w-]+)"', path.read_text())
    }
    assert entered == set(KINDS)
