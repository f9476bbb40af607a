"""One launch, with programs that behave badly in every way: what happened is named, and none may hang."""

import json
import os
import stat
import time
from pathlib import Path
from typing import Any

import psutil
import pytest

from leadline.core.errors import LeadlineError
from leadline.core.processes import carrying
from leadline.native.launch import KEPT_OUTPUT, Launch, Output

BEGIN = '{"event":"launch","ranks":2,"places":[]}\n{"event":"begin","id":3}\n'


def launch(directory: Path, script: str, **limits: float) -> Launch:
    """A launch of a shell script; `$1` is the job, `$2` the answers, as the benchmark program gets them."""
    program = directory / "program"
    program.write_text("#!/bin/sh\n" + script)
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return Launch([str(program)], {"GREETING": "hello"}, {"points": []}, directory, **limits)


def events(directory: Path, script: str, **limits: float) -> list[dict[str, Any]]:
    """All that it says."""
    return list(launch(directory, script, **limits).events())


def test_answers_come_through_in_order(tmp_path: Path) -> None:
    """What the program writes is what is heard, to the last line."""
    said = events(tmp_path, f"cat >> $2 <<'X'\n{BEGIN}" + '{"event":"end","id":3}\n{"event":"done"}\nX\n')
    assert [event["event"] for event in said] == ["launch", "begin", "end", "done"]


def test_the_job_and_the_environment_reach_the_program(tmp_path: Path) -> None:
    """The job is the first argument's content, and the settings are in the environment."""
    one = launch(tmp_path, 'cat $1; echo $GREETING; echo \'{"event":"done"}\' >> $2\n')
    list(one.events())
    assert '{"points": []}' in one.output.text
    assert "hello" in one.output.text


def test_a_crash_names_the_point_and_the_status(tmp_path: Path) -> None:
    """Exit status 139 is what a launcher gives after a segmentation fault."""
    lost = events(tmp_path, f"cat >> $2 <<'X'\n{BEGIN}X\necho 'rank 1 died' >&2\nexit 139\n")[-1]
    assert lost["event"] == "died"
    assert lost["id"] == 3
    assert lost["reason"] == "the launch ended with exit status 139: rank 1 died"


def test_a_killed_launcher_is_named_by_its_signal(tmp_path: Path) -> None:
    """As the out-of-memory killer leaves it."""
    lost = events(tmp_path, "kill -9 $$\n")[-1]
    assert lost["id"] is None
    assert "SIGKILL" in lost["reason"]


def test_the_program_s_own_words_come_first(tmp_path: Path) -> None:
    """They say more than the launcher's frame around them."""
    script = "echo ------- >&2\necho 'leadline-bench: rank 1: disk full' >&2\nexit 1\n"
    assert events(tmp_path, script)[-1]["reason"] == "rank 1: disk full"


def test_the_line_that_names_the_cause_is_told(tmp_path: Path) -> None:
    """Open MPI's report opens with a greeting; the cause stands further down, over two lines."""
    said = "Welcome to the cluster\n------\nThere are not enough slots in the\nsystem.\n\nBye\n"
    script = f"cat <<'X'\n{said}X\nexit 1\n"
    reason = "the launch ended with exit status 1: There are not enough slots in the system."
    assert events(tmp_path, script)[-1]["reason"] == reason


def test_an_agent_that_is_refused_is_told_before_the_limit(tmp_path: Path) -> None:
    """The launcher would wait for ranks that never come; its agent's line says why."""
    began = time.monotonic()
    said = "Warning: Permanently added 'node7' to the list.\nroot@node7: Permission denied (publickey).\n"
    lost = events(tmp_path, f"cat <<'X'\n{said}An ORTE daemon has failed to start\nX\nsleep 60\n")[-1]
    assert lost["reason"] == "the ranks did not start: root@node7: Permission denied (publickey)."
    assert time.monotonic() - began < 45


def test_the_starting_program_s_own_line_comes_before_a_help_text(tmp_path: Path) -> None:
    """A help text has words such as "fail" in it as well."""
    script = (
        "echo 'program: node7 is down for maintenance'\necho '  --retry N  fail after N errors'\nexit 3\n"
    )
    reason = "the launch ended with exit status 3: program: node7 is down for maintenance"
    assert events(tmp_path, script)[-1]["reason"] == reason


def test_a_start_that_is_late_is_told_with_what_was_printed(tmp_path: Path) -> None:
    """The limit alone would leave the cause to be guessed."""
    lost = events(tmp_path, "echo 'cannot open the display'\nsleep 60\n", start_limit=1.0)[-1]
    assert lost["reason"].endswith("every process of the launch was ended: cannot open the display")


def test_rules_alone_say_nothing(tmp_path: Path) -> None:
    """A frame without words in it adds nothing to the exit status."""
    lost = events(tmp_path, "echo -------\nexit 7\n")[-1]
    assert lost["reason"] == "the launch ended with exit status 7"


def test_ending_early_with_success_is_still_a_loss(tmp_path: Path) -> None:
    """An exit status of 0 without `done` is a program that stopped by itself."""
    lost = events(tmp_path, f"cat >> $2 <<'X'\n{BEGIN}X\nexit 0\n")[-1]
    assert lost["reason"] == "the launch ended without answering every point"


def test_a_silent_point_is_ended_with_all_its_processes(tmp_path: Path) -> None:
    """Even a grandchild in a session of its own that ignores the polite signals."""
    grandchild = "setsid sh -c \"trap '' TERM HUP; sleep 300\" &\n"
    one = launch(tmp_path, f"cat >> $2 <<'X'\n{BEGIN}X\n{grandchild}sleep 300\n", point_limit=0.5)
    lost = list(one.events())[-1]
    assert lost["id"] == 3
    assert lost["reason"].startswith("no answer within 0.5 s")
    _assert_ended(one)


def test_a_launcher_that_hangs_after_its_last_answer_is_ended_soon(tmp_path: Path) -> None:
    """As in MPI_Finalize: what was answered stands, the limit is that of ending and not of a point, and it is
    told.
    """
    done = '{"event":"end","id":3}\n{"event":"done"}\n'
    one = launch(tmp_path, f"cat >> $2 <<'X'\n{BEGIN}{done}X\nsleep 300\n", end_limit=0.3, point_limit=300)
    said = list(one.events())
    assert [event["event"] for event in said] == ["launch", "begin", "end", "done", "hung_at_exit"]
    assert said[-1]["reason"].startswith("every point is answered, but the launch did not end within 0.3 s")
    _assert_ended(one)


def _assert_ended(one: Launch) -> None:
    """Every process of a launch is gone, which the system may take a moment for."""
    deadline = time.monotonic() + 60
    assert one.mark
    while (left := _alive(one.mark)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert left == []


def _alive(mark: str) -> list[int]:
    """Processes of a launch that still live."""
    return [each.pid for each in carrying(mark.__eq__) if each.status() != psutil.STATUS_ZOMBIE]


def test_ranks_that_never_start_have_a_limit_of_their_own(tmp_path: Path) -> None:
    """A launcher that waits for a password, say."""
    lost = events(tmp_path, "sleep 300\n", start_limit=0.3)[-1]
    assert lost["id"] is None
    assert lost["reason"].startswith("the ranks did not start within 0.3 s")


def test_rubbish_among_the_answers_is_told_and_the_rest_is_heard(tmp_path: Path) -> None:
    """One damaged line costs its own point, not the launch."""
    rubbish = "\\001\\377 not json"
    script = f"cat >> $2 <<'X'\n{BEGIN}X\nprintf '{rubbish}\\n' >> $2\necho '{{\"event\":\"done\"}}' >> $2\n"
    said = events(tmp_path, script)
    assert [event["event"] for event in said] == ["launch", "begin", "malformed", "done"]
    assert said[2]["id"] == 3


def test_rubbish_on_the_output_is_not_an_answer(tmp_path: Path) -> None:
    """Ranks may print what they like, in any amount."""
    script = 'yes \'{"event":"record"}\' | head -c 5000000\necho \'{"event":"done"}\' >> $2\n'
    assert [event["event"] for event in events(tmp_path, script)] == ["done"]


def test_output_is_kept_from_both_ends_only(tmp_path: Path) -> None:
    """A program that prints for ever must not fill the memory."""
    output = Output()
    for block in (b"a" * KEPT_OUTPUT, b"b" * KEPT_OUTPUT, b"c" * 10):
        output.add(block)
    assert len(output.text) == 2 * KEPT_OUTPUT
    assert output.text.startswith("a")
    assert output.text.endswith("c" * 10)


def test_a_program_that_is_not_there_is_one_sentence(tmp_path: Path) -> None:
    """Nothing was started, so there is nothing to listen to."""
    absent = Launch([str(tmp_path / "absent")], {}, {}, tmp_path)
    with pytest.raises(LeadlineError, match=r"cannot start .*absent: No such file"):
        list(absent.events())


def test_no_file_is_left_open(tmp_path: Path) -> None:
    """A campaign launches hundreds of times."""
    before = len(os.listdir("/proc/self/fd"))  # noqa: PTH208
    for _ in range(3):
        events(tmp_path, "echo " + json.dumps('{"event":"done"}') + " >> $2\n")
    assert len(os.listdir("/proc/self/fd")) == before  # noqa: PTH208
