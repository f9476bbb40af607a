"""What `leadline record` leaves where it is interrupted while it reads the records, and how that is read."""

import random
import subprocess
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from leadline import program
from leadline.cli import main
from leadline.core.errors import LeadlineError
from leadline.mpi.discover import find
from leadline.program.build import ProgramBuilder
from leadline.program.fold import Folder
from leadline.program.left import left_behind
from leadline.program.model import Communicator, Construction, Kind, Operation, Program
from leadline.record import session

MPIS = [mpi for mpi in find() if mpi.family == "mpich" and mpi.launcher]


@pytest.mark.mpi
@pytest.mark.parametrize("fault", [KeyboardInterrupt(), OSError(28, "No space left on device")])
def test_an_interrupted_record_is_read_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: BaseException
) -> None:
    """The records stay, their place is named, and --from makes of them what they would have become."""
    if not MPIS:
        pytest.skip("no MPICH here")
    monkeypatch.chdir(tmp_path)
    Path("hello.c").write_text(
        "#include <mpi.h>\nint main(int c, char **v) { MPI_Init(&c, &v); MPI_Barrier(MPI_COMM_WORLD); "
        "MPI_Finalize(); return 0; }\n"
    )
    subprocess.run([str(MPIS[0].compiler), "-o", "hello", "hello.c"], check=True)

    def interrupted(*_: object) -> Program:
        raise fault

    with monkeypatch.context() as patched:
        patched.setattr(session, "program", interrupted)
        done = CliRunner().invoke(main, ["record", "--", str(MPIS[0].launcher), "-n", "2", "./hello"])
    assert done.exit_code != 0
    (left,) = tmp_path.glob(".leadline-record-*")
    assert f"leadline record --from {left}" in done.stderr
    read = CliRunner().invoke(main, ["record", "--from", str(left)])
    assert read.exit_code == 0, read.output
    made = program.read(Path("hello.program"))
    assert made.ranks == 2
    assert made.recorded["command"][-1] == "./hello"
    (left / "command.json").unlink()  # where `record` was killed
    assert CliRunner().invoke(main, ["record", "--from", str(left)]).exit_code == 0
    assert program.read(Path("recorded.program")).operations_in_all == made.operations_in_all


@pytest.mark.parametrize("words", [["--from", "."], ["--from", ".", "--", "true"], []])
def test_what_has_no_records_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    """One sentence and exit code 2; nothing is removed."""
    monkeypatch.chdir(tmp_path)
    Path("mine").write_text("1")
    done = CliRunner().invoke(main, ["record", *words])
    assert done.exit_code == 2
    assert Path("mine").exists()


class Watched(list[int]):
    """A list that counts what slices copy of it."""

    copied = 0

    def __getitem__(self, at: Any) -> Any:
        found = super().__getitem__(at)
        if isinstance(at, slice):
            Watched.copied += len(found)
        return found


def test_folding_copies_no_more_than_it_must(monkeypatch: pytest.MonkeyPatch) -> None:
    """What repeats irregularly and far apart is told apart by a few items, not by all that lies between."""
    draw = random.Random(3)
    folder = Folder()
    monkeypatch.setattr(folder, "_out", Watched())
    items = [item for _ in range(5000) for item in (draw.randrange(300), draw.randrange(300, 600), 600)]
    for item in items:
        folder.add(item)
    assert len(folder.nodes()[0]) > 14_000
    assert Watched.copied < 300 * len(items)  # 64 places are tried, a few items at each


def test_a_script_with_its_own_launcher_is_the_reason(tmp_path: Path) -> None:
    """Open MPI's mpirun starts no other one: nothing was recorded, and the sentence tells what to record."""
    script = tmp_path / "inner.sh"
    script.write_text("#!/bin/sh\nmpirun.openmpi -n 2 ./app\n")
    script.chmod(0o755)
    with pytest.raises(LeadlineError, match=rf"leadline record --mpi NAME -- {script}"):
        session.program(tmp_path, ["mpirun", "-n", "1", str(script)])
    script.write_text("#!/bin/sh\n./app\n")
    with pytest.raises(LeadlineError, match="use no MPI"):
        session.program(tmp_path, ["mpirun", "-n", "1", str(script)])


def test_messages_between_two_groups_are_not_left(tmp_path: Path) -> None:
    """Each group has a communicator of its own there: what one sends is received in the other's."""
    made = ProgramBuilder(2)
    for rank in range(2):
        made.communicators.append(Communicator((rank,), Construction.INTER, 0, remote=(1 - rank,)))
        kind = Kind.RECV if rank else Kind.SEND
        made.add(rank, [Operation(int(kind), 1 + rank, 0, 8, 1)])
    made.recorded = {"mpi": "made up"}
    made.build().write(tmp_path / "two.program")
    assert not left_behind(program.read(tmp_path / "two.program"))
