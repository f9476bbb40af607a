"""A machine says what the simulator needs, each number with its source; a wrong one is refused."""

import json
import re
from math import prod
from pathlib import Path

import pytest
from click.testing import CliRunner

from leadline import machine
from leadline.cli import main
from leadline.core.errors import UsageError
from leadline.machine.description import TABLES
from leadline.machine.schema import ABOUT, TOP
from leadline.machine.topologies import KINDS

SMALL = """\
title = "Two nodes on a wire"

[topology]
kind = "torus"
shape = { value = [4, 4, 4], source = "made up" }
torus_from = { value = 16, source = "made up" }

[links]
source = "a product brief"
rate = "100 MB/s"
hop = "50 ns"
base = { value = "1 us", source = "measured", interval = ["1.2 us", "0.9 us"], calibrated = "some.claim" }

[node]
source = "a product brief"
cores = 4
threads = 2
ranks = 4
local_by_network = true

[[protocol]]
name = "eager"
source = "measured"
up_to = "1 KiB"
send_overhead = "2.8 us"
receive_overhead = "1 us"

[[protocol]]
name = "rendezvous"
source = "measured"
send_overhead = "3 us"
receive_overhead = "1 us"
handshake = true
"""


def write(tmp_path: Path, text: str, name: str = "small") -> Path:
    """A machine file with that text."""
    path = tmp_path / f"{name}.toml"
    path.write_text(text)
    return path


def changed(tmp_path: Path, old: str, new: str) -> Path:
    """The small machine with one piece of text replaced."""
    assert SMALL.count(old) == 1
    return write(tmp_path, SMALL.replace(old, new))


def refusal(path: Path) -> str:
    """The sentence that refuses a machine, without the directory."""
    with pytest.raises(UsageError) as problem:
        machine.load(path)
    return str(problem.value).replace(f"{path.parent}/", "")


def test_native_json_is_in_si_units(tmp_path: Path) -> None:
    """Prefixes and words become plain numbers under the keys that the native program reads."""
    native = machine.load(write(tmp_path, SMALL)).native()
    assert native == {
        "name": "small",
        "links": {"rate": 1e8, "hop": pytest.approx(50e-9), "base": pytest.approx(1e-6)},
        "node": {"cores": 4, "threads": 2, "ranks": 4, "local_by_network": True},
        "protocol": [
            {
                "name": "eager",
                "up_to": 1024,
                "send_overhead": pytest.approx(2.8e-6),
                "receive_overhead": pytest.approx(1e-6),
            },
            {
                "name": "rendezvous",
                "send_overhead": pytest.approx(3e-6),
                "receive_overhead": pytest.approx(1e-6),
                "handshake": True,
            },
        ],
    }
    json.dumps(native)


def test_each_number_knows_its_source_interval_and_what_it_was_fitted_to(tmp_path: Path) -> None:
    """A table's source stands for its numbers; a number's own comes first; an interval's ends are sorted."""
    numbers = {each.key: each for each in machine.load(write(tmp_path, SMALL)).numbers()}
    assert numbers["links.rate"].source == "a product brief"
    base = numbers["links.base"]
    assert (base.source, base.calibrated, base.unit) == ("measured", "some.claim", "s")
    assert base.interval == pytest.approx((0.9e-6, 1.2e-6))
    assert base.text == "1 us [1.2 us, 0.9 us]"
    assert numbers["protocol.eager.up_to"].value == 1024
    assert numbers["topology.shape"].value == (4, 4, 4)


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ('hop = "50 ns"\n', "", "small.toml:8: [links] of a machine needs the key 'hop'"),
        ('rate = "100 MB/s"', 'rate = "-100 MB/s"', "small.toml:10: links.rate: a rate must be positive"),
        (
            'kind = "torus"',
            'kind = "tours"',
            "small.toml:4: kind: unknown word 'tours'; did you mean 'torus'?",
        ),
        ("threads", "thread", "small.toml:17: unknown key 'thread' in [node]; did you mean 'threads'?"),
        ('hop = "50 ns"', 'hop = "50 MB"', "small.toml:11: links.hop: unknown unit 'MB' in '50 MB'"),
        ('rate = "100 MB/s"', 'rate = "100"', "small.toml:10: links.rate: a rate needs its unit"),
        (
            "ranks = 4",
            "ranks = 9",
            "small.toml:14: node.ranks: 4 cores have room for 8 ranks a node, but got 9",
        ),
        (
            '{ value = [4, 4, 4], source = "made up" }',
            "[4, 4, 4]",
            'small.toml:5: topology.shape has no source; add source = "..." that says where it was read',
        ),
        ("[4, 4, 4]", "[4, 0, 4]", "small.toml:5: topology.shape: this is 1 or more, but got 0"),
        ("[links]", "[link]", "small.toml:8: unknown key 'link' in a machine; did you mean 'links'?"),
        ("[links]", "[[links]]", "small.toml:8: links is written [links]"),
        (
            'up_to = "1 KiB"\n',
            "",
            "small.toml:21: a [[protocol]] with another after it needs the key 'up_to'",
        ),
        ('send_overhead = "3 us"\n', "", "small.toml:28: a [[protocol]] needs the key 'send_overhead'"),
        ('title = "Two nodes on a wire"\n', "", "small.toml:1: a machine needs the key 'title'"),
        ("handshake = true", 'handshake = "yes"', "small.toml:33: handshake: this is true or false"),
        ('source = "measured", interval', 'soruce = "x", interval', "links.base has an unknown key 'soruce'"),
        ('["1.2 us", "0.9 us"]', '"1.2 us"', "links.base.interval is a pair like"),
        (
            '["1.2 us", "0.9 us"]',
            '["1.2 us", "1.3 us"]',
            ": links.base: the interval does not contain the value, 1 us [1.2 us, 1.3 us]",
        ),
    ],
)
def test_a_wrong_machine_is_refused_with_its_place(tmp_path: Path, old: str, new: str, sentence: str) -> None:
    """One sentence: the file and line, what was wrong, what would do."""
    assert sentence in refusal(changed(tmp_path, old, new))


def test_a_library_that_is_none_is_refused(tmp_path: Path) -> None:
    """It was found out by the simulator, for each point of a run that had begun."""
    said = refusal(write(tmp_path, f'library = "mpich"\n{SMALL}'))
    assert "small.toml:1: library: unknown word 'mpich'; did you mean 'mpich-" in said


def test_what_is_not_a_number_may_stand_without_a_source(tmp_path: Path) -> None:
    """A node alone needs no links, and a word or a switch no source."""
    text = SMALL[SMALL.index("[node]") :]
    path = write(tmp_path, f'title = "One node"\n[topology]\nkind = "single"\n{text}')
    alone = machine.load(path)
    assert (alone.max_ranks, alone.partition(4)) == (4, {"kind": "single"})


def test_a_partition_is_the_smallest_balanced_block(tmp_path: Path) -> None:
    """The last of the shortest axes doubles; below `torus_from` nodes a block does not wrap."""
    small = machine.load(write(tmp_path, SMALL))
    assert small.partition(1) == {"kind": "mesh", "shape": [1, 1, 1]}
    assert small.partition(5) == {"kind": "mesh", "shape": [1, 1, 2]}
    assert small.partition(4 * 16) == {"kind": "torus", "shape": [2, 2, 4]}
    assert small.partition(4 * 64) == {"kind": "torus", "shape": [4, 4, 4]}


@pytest.mark.parametrize(
    ("nodes", "shape"),
    [
        (512, [8, 8, 8]),
        (1024, [8, 8, 16]),
        (2048, [8, 16, 16]),
        (4096, [16, 16, 16]),
        (8192, [16, 16, 32]),
        (16384, [16, 32, 32]),
        (32768, [32, 32, 32]),
        (262144, [64, 64, 64]),
    ],
)
def test_blue_gene_p_has_the_partitions_of_its_paper(nodes: int, shape: list[int]) -> None:
    """512 nodes are a midplane, 8x8x8; 131,072 cores are 32 racks, 32x32x32."""
    torus = {"kind": "torus", "shape": shape, "ties": "parity"}
    assert machine.load("bgp").partition(4 * nodes) == torus


def test_ties_are_those_of_the_machine() -> None:
    """A torus knows which way goes half-way round; a block that is a mesh has no such way."""
    assert machine.load("bgp").partition(4 * 512)["ties"] == "parity"
    assert "ties" not in machine.load("bgp").partition(4 * 64)


def test_a_shape_that_is_longer_in_one_axis_ends_as_it_is() -> None:
    """The largest Blue Gene/L is 64x32x32, though its axes grow from the last."""
    assert machine.load("bgl").partition(65536)["shape"] == [64, 32, 32]


TREE = """\
[topology]
kind = "fat-tree"
source = "made up"
arity = [4, 3, 2]
up = [2, 3]
width = [1, 1, 2.5]
"""
FLY = """\
[topology]
kind = "dragonfly"
source = "made up"
groups = 9
routers = 4
nodes = 2
links = 2
"""
REST = SMALL[SMALL.index("[links]") :]


def test_a_fat_tree_has_the_levels_that_its_nodes_need(tmp_path: Path) -> None:
    """Three nodes are on one leaf switch, five need the second level, 24 are the whole tree."""
    tree = machine.load(write(tmp_path, f'title = "A tree"\n{TREE}{REST}'))
    assert tree.max_nodes == 24
    assert tree.partition(12) == {"kind": "fat-tree", "arity": [4], "nodes": 3, "width": [1.0]}
    whole = {"kind": "fat-tree", "arity": [4, 3, 2], "nodes": 24, "up": [2, 3], "width": [1.0, 1.0, 2.5]}
    assert tree.partition(20) == {**whole, "arity": [4, 3], "nodes": 5, "up": [2], "width": [1.0, 1.0]}
    assert tree.partition(96) == whole


def test_a_dragonfly_is_one_group_or_whole(tmp_path: Path) -> None:
    """Cables between groups do not move for a job: what does not fit into a group shares the machine."""
    fly = machine.load(write(tmp_path, f'title = "A fly"\n{FLY}{REST}'))
    whole = {"kind": "dragonfly", "groups": 9, "routers": 4, "nodes": 2, "links": 2}
    assert fly.partition(4 * 8) == {**whole, "groups": 1}
    assert fly.partition(4 * 8 + 1) == whole
    assert fly.max_nodes == prod((9, 4, 2))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (TREE.replace("[2, 3]", "[2]"), "up: this has one number fewer than the 3 of arity"),
        (TREE.replace("2.5]", "0]"), "topology.width: widths are a list of numbers above 0"),
        (TREE + "nodes = 25\n", "nodes: the tree has 24, but got 25"),
        (
            FLY.replace("links = 2", "links = 1"),
            "links: a group of 4 global ports does not reach 8 other groups",
        ),
        (FLY.replace("groups = 9\n", ""), "a topology of kind dragonfly needs the key 'groups'"),
    ],
)
def test_a_topology_that_cannot_be_is_refused(tmp_path: Path, text: str, sentence: str) -> None:
    """What its numbers cannot be together is said with the key."""
    assert sentence in refusal(write(tmp_path, f'title = "Wrong"\n{text}{REST}'))


@pytest.mark.parametrize("ranks", [0, 257])
def test_more_ranks_than_there_are_cores_are_refused(tmp_path: Path, ranks: int) -> None:
    """64 nodes of 4 ranks are 256."""
    with pytest.raises(UsageError, match=rf"1 to 256 ranks \(64 nodes of 4\), but got {ranks}"):
        machine.load(write(tmp_path, SMALL)).partition(ranks)


def test_a_machine_extends_another(tmp_path: Path) -> None:
    """Tables are laid over each other key by key; rows replace all rows of their name."""
    write(tmp_path, SMALL)
    text = 'title = "Faster"\nextends = "small"\n[links]\nrate = { value = "1 GB/s", source = "wish" }\n'
    fast = machine.load(write(tmp_path, text, "fast"))
    assert (fast.name, fast.title) == ("fast", "Faster")
    assert fast.native()["links"] == {
        "rate": 1e9,
        "hop": pytest.approx(50e-9),
        "base": pytest.approx(1e-6),
    }
    assert len(fast.native()["protocol"]) == 2
    row = '[[protocol]]\nname = "one"\nsource = "wish"\nsend_overhead = 0\nreceive_overhead = 0\n'
    assert [p["name"] for p in machine.load(write(tmp_path, text + row, "f2")).native()["protocol"]] == [
        "one"
    ]


def test_a_mistake_in_what_is_extended_names_that_file(tmp_path: Path) -> None:
    """The line is of the file in which it stands."""
    changed(tmp_path, 'rate = "100 MB/s"', 'rate = "0 MB/s"')
    assert "small.toml:10: links.rate" in refusal(write(tmp_path, 'extends = "small"\n', "fast"))


@pytest.mark.parametrize("base", ["fast", "nowhere"])
def test_a_machine_does_not_extend_itself_or_nothing(tmp_path: Path, base: str) -> None:
    """A circle or an unknown name ends with the line of `extends`."""
    assert "fast.toml:1: extends: " in refusal(write(tmp_path, f'extends = "{base}"\n', "fast"))


def test_a_machine_that_is_not_there_is_refused_with_the_nearest() -> None:
    """By name with a suggestion, by path with the path."""
    with pytest.raises(UsageError, match=r"'bgpp'.*'bgp'"):
        machine.find("bgpp")
    with pytest.raises(UsageError, match=r"there is no machine file my/own\.toml"):
        machine.find("my/own.toml")


def run(*words: str) -> str:
    """What `leadline` prints."""
    result = CliRunner().invoke(main, words)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_show_machine_tells_every_number(tmp_path: Path) -> None:
    """Value, interval, source and mark stand in a row; what the machine is stands above."""
    shown = run("show", "machine", str(write(tmp_path, SMALL)))
    assert shown.startswith("small: Two nodes on a wire\n")
    assert "At most 64 nodes of 4 ranks, 256 ranks" in shown
    (line,) = [line for line in shown.splitlines() if line.startswith("links.base")]
    assert re.split(r"  +", line) == [
        "links.base",
        "1 us [1.2 us, 0.9 us]",
        "measured",
        "calibrated on some.claim",
    ]
    rows = {
        row["key"]: row for row in json.loads(run("show", "machine", str(tmp_path / "small.toml"), "--json"))
    }
    assert rows["links.rate"]["value"] == 1e8
    assert rows["links.base"]["interval"] == [0.9e-6, 1.2e-6]
    assert rows["node.local_by_network"]["value"] is True


def test_show_machine_takes_no_filters(tmp_path: Path) -> None:
    """Options that belong to runs are refused rather than passed over."""
    result = CliRunner().invoke(main, ["show", "machine", "bgp", "--csv"])
    assert result.exit_code == 2
    result = CliRunner().invoke(main, ["show", "one", "two"])
    assert result.exit_code == 2


def test_list_machines_has_names_and_sizes() -> None:
    """One row a machine."""
    rows = {row["name"]: row for row in json.loads(run("list", "machines", "--json"))}
    assert rows["bgp"]["ranks"] == 4 * 64**3
    assert rows["bgl"]["topology"] == "torus"


DOCS = Path(__file__).parents[2] / "docs"


def test_the_recipe_of_a_machine_is_accepted(tmp_path: Path) -> None:
    """Its block is a machine of two nodes with eight ranks each."""
    [block] = re.findall(r"```toml\n(.*?)```", (DOCS / "add-a-machine.md").read_text(), re.DOTALL)
    assert machine.load(write(tmp_path, block, "office")).max_ranks == 16


def test_every_key_is_documented() -> None:
    """Each key that a machine may have stands in the tables of docs/machines.md, and no other."""
    page = (DOCS / "machines.md").read_text()
    rows = re.findall(r"^\| (.*) \|$", page[page.index("## Top-level keys") :], re.MULTILINE)
    told = {
        word for row in rows for cell in row.split(" | ")[:-1] for word in re.findall(r"`\[*(\w+)\]*`", cell)
    }
    keys = {key for part in (*TABLES.values(), *(kind.keys for kind in KINDS.values())) for key in part.keys}
    kinds = {kind for kind in KINDS if kind.isidentifier()}
    assert told == keys | kinds | set(TOP) | set(ABOUT) | set(TABLES)
