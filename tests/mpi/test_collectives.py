"""What each library is told of its algorithms: by forcing one, and by files in which each has its sizes."""

import json
from pathlib import Path
from typing import Any

import pytest

from leadline.core.collectives import OPERATIONS, called, data
from leadline.core.errors import UsageError
from leadline.mpi.families import _mpich_collectives
from leadline.mpi.family import Unsupported, algorithm, families, family
from leadline.mpi.library import Mpi
from leadline.mpi.tuned import Choice, Range, ranges

from . import fabricated

OPENMPI, MPICH = fabricated.an_mpi("openmpi", "4.1.4"), fabricated.an_mpi("mpich", "4.0.2")
INTEL = fabricated.an_mpi("intel", "2021.18.1")
EVERY = [OPENMPI, MPICH, INTEL]
NAMES = [*OPERATIONS, "allgatherv", "alltoallv", "gatherv", "scatterv", "reduce_scatter_block"]


def forced(mpi: Mpi, operation: str, ranks: int = 2, size: int = 1 << 20) -> dict[str, dict[str, str]]:
    """The settings of each algorithm."""
    return {name: dict(each) for name, each in family(mpi).algorithms(mpi, operation, ranks, size).items()}


@pytest.mark.parametrize("mpi", EVERY, ids=lambda mpi: mpi.id)
def test_every_algorithm_has_settings_of_its_own(mpi: Mpi) -> None:
    """No two algorithms of an operation are the same settings, and each name may stand in a plan."""
    for operation in NAMES:
        found = forced(mpi, operation, ranks=8)
        assert len({tuple(sorted(each.items())) for each in found.values()}) == len(found)
        assert set(found) <= family(mpi).algorithm_names()
        assert all(algorithm(name) == name for name in found)


def test_open_mpi_is_forced_by_number() -> None:
    """The numbers are those that ompi_info tells; segments are a variable beside."""
    use = {"OMPI_MCA_coll_tuned_use_dynamic_rules": "1"}
    bcast = forced(OPENMPI, "bcast")
    assert bcast["scatter_allgather_ring"] == {**use, "OMPI_MCA_coll_tuned_bcast_algorithm": "9"}
    assert bcast["pipeline+32KiB"] == {
        **use,
        "OMPI_MCA_coll_tuned_bcast_algorithm": "3",
        "OMPI_MCA_coll_tuned_bcast_algorithm_segmentsize": "32768",
    }
    assert "pipeline+32KiB" not in forced(OPENMPI, "bcast", size=8)
    assert "two_proc" in forced(OPENMPI, "barrier")
    assert "two_proc" not in forced(OPENMPI, "barrier", ranks=3)


def test_mpich_is_forced_by_name() -> None:
    """In shared memory by its own variable; else below what the device would do."""
    bcast = forced(MPICH, "bcast")
    assert bcast["release_gather"] == {"MPIR_CVAR_BCAST_POSIX_INTRA_ALGORITHM": "release_gather"}
    assert bcast["binomial"] == {
        "MPIR_CVAR_BCAST_DEVICE_COLLECTIVE": "0",
        "MPIR_CVAR_BCAST_INTRA_ALGORITHM": "binomial",
    }
    assert "recursive_doubling" not in forced(MPICH, "allgather", ranks=3)  # a power of two
    assert "reduce_scatter_gather" not in forced(MPICH, "reduce", size=8)  # an element for each rank


def test_words_of_plans_are_checked() -> None:
    """A typing error is refused with the nearest name of any library."""
    with pytest.raises(UsageError, match="unknown algorithm 'binomal'; did you mean 'binomial'"):
        algorithm("binomal")


@pytest.mark.parametrize("mpi", EVERY, ids=lambda mpi: mpi.id)
def test_progress_is_a_setting_or_a_reason(mpi: Mpi) -> None:
    """Open MPI has none; the others have a thread, which "off" switches off."""
    kin = family(mpi)
    assert kin.progressing(mpi, "default") == {}
    if mpi is OPENMPI:
        assert kin.progressing(mpi, "off") == {}
        with pytest.raises(Unsupported, match=r"openmpi-4.1.4 has no asynchronous progress"):
            kin.progressing(mpi, "on")
    else:
        [(name, value)] = kin.progressing(mpi, "on").items()
        assert value == "1"
        assert kin.progressing(mpi, "off") == {name: "0"}
    with pytest.raises(UsageError, match="unknown progress"):
        kin.progressing(mpi, "sometimes")


def test_names_of_operations() -> None:
    """As the backend calls them; no choice of an algorithm where there is none."""
    assert called("gather", {"variation": "none"}) == "gather"
    assert called("gather", {"variation": "equal"}) == "gatherv"
    assert called("reduce_scatter", {"variation": "none"}) == "reduce_scatter_block"
    assert called("reduce_scatter", {"variation": "varying"}) == "reduce_scatter"
    assert called("bcast", {"form": "nonblocking"}) is None
    assert called("bcast", {"algorithm": "ring"}) is None
    assert called("pingpong", {}) is None
    assert (data("allgatherv", 4, 8), data("bcast", 4, 8), data("reduce_scatter_block", 4, 8)) == (32, 8, 32)


# ------------------------------------------------------------------------------------------- the files' forms


def test_sizes_become_ranges() -> None:
    """A change lies at the geometric mean of two sizes; neighbours alike are one range."""
    assert ranges({8: "a", 128: "a", 2048: None, 8192: "b"}) == (
        Range(0, 512, "a"),
        Range(513, 4096, None),
        Range(4097, 8192, "b"),
    )
    assert ranges({0: "tree"}) == (Range(0, 0, "tree"),)


BCAST = Choice("bcast", 2, ranges({8: None, 128: "binomial", 2048: "pipeline+32KiB"}))
ALLGATHER = Choice("allgather", 4, ranges({8: "ring", 128: None}))
BARRIER = Choice("barrier", 2, ranges({0: "tree"}))


def test_the_rules_file_of_open_mpi(tmp_path: Path) -> None:
    """To the byte: ids, sizes of communicators from 0, of messages from 0, in all the data; 0 is its own."""
    tuned = family(OPENMPI).tuned(OPENMPI, [BCAST, ALLGATHER, BARRIER], tmp_path)
    assert tuned.environment == {
        "OMPI_MCA_coll_tuned_use_dynamic_rules": "1",
        "OMPI_MCA_coll_tuned_dynamic_rules_filename": str(tmp_path / "openmpi-4.1.4.rules"),
    }
    assert tuned.files["openmpi-4.1.4.rules"].splitlines() == [
        "3 # collectives",
        "0 # allgather",
        *("3 # sizes of communicators", "0 # ranks"),
        *("1 # sizes of messages: from, algorithm, fan, segment", "0 0 0 0", "4 # ranks"),
        "2 # sizes of messages: from, algorithm, fan, segment",
        *("0 4 0 0", "129 0 0 0"),  # 32 B of a block on 4 ranks
        *("5 # ranks", "1 # sizes of messages: from, algorithm, fan, segment", "0 0 0 0"),
        "6 # barrier",
        *("3 # sizes of communicators", "0 # ranks"),
        *("1 # sizes of messages: from, algorithm, fan, segment", "0 0 0 0", "2 # ranks"),
        *("1 # sizes of messages: from, algorithm, fan, segment", "0 6 0 0"),
        *("3 # ranks", "1 # sizes of messages: from, algorithm, fan, segment", "0 0 0 0"),
        "7 # bcast",
        *("3 # sizes of communicators", "0 # ranks"),
        *("1 # sizes of messages: from, algorithm, fan, segment", "0 0 0 0", "2 # ranks"),
        "4 # sizes of messages: from, algorithm, fan, segment",
        *("0 0 0 0", "33 6 0 0", "513 3 0 32768", "2049 0 0 0"),
        *("3 # ranks", "1 # sizes of messages: from, algorithm, fan, segment", "0 0 0 0"),
    ]
    assert tuned.notes == []


def test_what_open_mpi_cannot_be_told() -> None:
    """Its rules do not know the size of a scan, and it has none for gatherv: a note, no file."""
    scan = Choice("scan", 2, ranges({8: "linear", 64: None}))
    gatherv = Choice("gatherv", 2, ranges({8: "linear"}))
    tuned = family(OPENMPI).tuned(OPENMPI, [scan, gatherv], Path())
    assert (tuned.environment, tuned.files) == ({}, {})
    assert tuned.notes == [
        "openmpi-4.1.4 does not tell its rules the size of scan: left alone",
        "openmpi-4.1.4 has no rules for gatherv",
    ]


def test_the_variables_of_intel_mpi() -> None:
    """ALGORITHM:FIRST-LAST@RANKS-RANKS, one after another; its own choice is left out."""
    choice = Choice("allreduce", 2, ranges({8: None, 128: "ring", 2048: "rabenseifner"}))
    tuned = family(INTEL).tuned(INTEL, [choice], Path())
    assert tuned.environment == {"I_MPI_ADJUST_ALLREDUCE": "8:33-512@2-2;2:513-2048@2-2"}


OWN: dict[str, Any] = {"algorithm=MPIR_Bcast_intra_binomial": {}}
TREE = {
    "collective=bcast": {"comm_type=intra": OWN, "comm_type=inter": {"algorithm=other": {}}},
    "collective=allgather": {"comm_type=intra": {"algorithm=own": {}}},
    "collective=iallreduce": {"algorithm=nb": {}},
}
FLAGS: dict[str, Any] = {"algorithm=MPIDI_POSIX_mpi_bcast_release_gather": {}}
NODE = {"collective=bcast": {"comm_type=intra": FLAGS}}


@pytest.fixture
def library(tmp_path: Path) -> Mpi:
    """An MPICH whose library holds two trees as text, as a real one does."""
    (tmp_path / "lib").mkdir()
    texts = [json.dumps(each, separators=(",", ":")).encode() for each in (NODE, TREE)]
    (tmp_path / "lib" / "libmpich.so").write_bytes(b"\x7fELF\0" + b"\0\0".join(texts) + b"\0rest")
    return Mpi("mpich-4.0.2", "mpich", "MPICH", "4.0.2", "Debian", tmp_path, None, None, None)


def test_the_trees_of_mpich(library: Mpi, tmp_path: Path) -> None:
    """Its own trees with the choices in front: by ranks, then by size; all else is as it was."""
    bcast = Choice("bcast", 2, ranges({8: None, 128: "scatter_ring_allgather"}))
    allgather = Choice("allgather", 4, ranges({8: "ring", 128: None}))
    tuned = family(library).tuned(library, [bcast, allgather], tmp_path)
    assert tuned.environment == {
        "MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE": str(tmp_path / "mpich-4.0.2.json"),
        "MPIR_CVAR_CH4_POSIX_COLL_SELECTION_TUNING_JSON_FILE": str(tmp_path / "mpich-4.0.2-node.json"),
    }
    tree, node = (json.loads(tuned.files[f"mpich-4.0.2{end}.json"]) for end in ("", "-node"))
    ring: dict[str, Any] = {"algorithm=MPIR_Bcast_intra_scatter_ring_allgather": {}}
    sizes = {"avg_msg_size<=32": OWN, "avg_msg_size<=128": ring, "avg_msg_size=any": OWN}
    assert tree["collective=bcast"] == {
        "comm_type=intra": {"comm_size<2": OWN, "comm_size<=2": sizes, "comm_size=any": OWN},
        "comm_type=inter": {"algorithm=other": {}},
    }
    own: dict[str, Any] = {"algorithm=own": {}}
    assert tree["collective=allgather"]["comm_type=intra"]["comm_size<=4"] == {
        "total_msg_size<=128": {"algorithm=MPIR_Allgather_intra_ring": {}},
        "total_msg_size<=512": own,
        "total_msg_size=any": own,
    }
    assert tree["collective=iallreduce"] == TREE["collective=iallreduce"]
    # Up to 32 B shared memory as before; up to 128 B no answer, so that the other tree decides.
    assert node["collective=bcast"]["comm_type=intra"]["comm_size<=2"] == {
        "avg_msg_size<=32": FLAGS,
        "avg_msg_size<=128": {},
        "avg_msg_size=any": FLAGS,
    }
    assert any("across nodes" in note for note in tuned.notes)


def test_mpich_with_one_algorithm_for_all_sizes_needs_no_file(library: Mpi, tmp_path: Path) -> None:
    """Control variables say it, for all sizes: a note tells that this holds beyond those measured."""
    choice = Choice("allgather", 2, ranges({8: "ring", 128: "ring"}))
    tuned = family(library).tuned(library, [choice], tmp_path)
    assert tuned.environment == {
        "MPIR_CVAR_ALLGATHER_DEVICE_COLLECTIVE": "0",
        "MPIR_CVAR_ALLGATHER_INTRA_ALGORITHM": "ring",
    }
    assert tuned.files == {}
    assert tuned.notes == ["mpich-4.0.2: allgather is ring at every size, also those not measured"]


def test_an_mpich_without_trees_says_so(tmp_path: Path) -> None:
    """No choice by size without the text of its own decisions."""
    mpi = Mpi("mpich-3.4", "mpich", "MPICH", "3.4", "Debian", tmp_path, None, None, None)
    tuned = families()["mpich"].tuned(mpi, [Choice("bcast", 2, ranges({8: None, 64: "binomial"}))], tmp_path)
    assert tuned.environment == {}
    assert tuned.notes == ["mpich-3.4 has no tree of decisions that could be changed: no choice by size"]
    assert _mpich_collectives.trees(mpi) == ({}, {})
