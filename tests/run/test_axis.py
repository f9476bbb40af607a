"""A new axis of launches is one field of `LaunchAxes`: everything else follows from it."""

import subprocess
import sys
from pathlib import Path

ENTRY = """    pages: Annotated[
        str | None, later("size of pages", words(("default", "small", "huge")), text="{} pages")
    ] = None

    @property
    def axes("""

# Leadline with one more field in its list of axes, which is the only file that is changed.
CODE = """
import importlib.util
import sys
import types
from pathlib import Path

entry, directory = sys.argv[1], Path(sys.argv[2])
name = "leadline.core.axes"
source = Path(importlib.util.find_spec(name).origin).read_text()
changed = source.replace("    @property\\n    def axes(", entry, 1)
assert changed != source
sys.modules[name] = types.ModuleType(name)
exec(compile(changed, "axes with pages", "exec"), sys.modules[name].__dict__)

import simulator
from click.testing import CliRunner
from leadline.analysis.guidelines import formatting
from leadline.analysis.summary import summarise
from leadline.cli import main
from leadline.core.record import LATER, point_columns
from leadline.machine import load as load_machine
from leadline.plan.model import Plan
from leadline.report import tables
from leadline.run import session, store
from leadline.targets.simulated import machine
from targets.test_simulate import MACHINE, PINGPONG, registry

program = directory / "leadline-sim"
program.write_text(f'#!/bin/sh\\nexec "{sys.executable}" "{simulator.__file__}" "$@"\\n')
program.chmod(0o755)
machine.build_sim = lambda: program
(directory / "small.toml").write_text(MACHINE)
target = machine.SimulatedMachine.of(load_machine(directory / "small.toml"))
text = PINGPONG + 'pages = ["default", "small", "huge"]\\n'

plan = Plan.parse(text, directory / "plan.toml", registry)
points = plan.points(target)
assert [point.pages for point in points] == [None, "small", "huge"]
assert len({point.key for point in points}) == len({point.launch_key for point in points}) == 3
assert points[2].describe().endswith(", huge pages")

run = directory / "run"
records = session.run(plan, target, run)
assert set(records["pages"].to_list()) == {None, "small", "huge"} and "pages" not in point_columns(records)
assert [kind["pages"] for kind in store.provenance(run)["kinds"]] == [None, "small", "huge"]
assert "pages" in LATER and "pages" in formatting._NAMING
assert "pages" in tables.differing(summarise(records).to_dicts())
shown = CliRunner().invoke(main, ["show", str(run), "--benchmark", "pingpong"]).output
assert "pages" in shown and "small" in shown and "huge" in shown, shown
before = session.resume(run, session.plan_of(run, registry))
assert before.height == records.height  # what is there is not simulated again
"""


def test_an_axis_is_one_entry(tmp_path: Path) -> None:
    """It is a key of plans, tells points apart, and is a column of records, of provenance and of `show`."""
    tests = Path(__file__).parents[1]
    command = [sys.executable, "-c", CODE, ENTRY, str(tmp_path)]
    told = subprocess.run(command, check=False, capture_output=True, text=True, cwd=tests)
    assert told.returncode == 0, told.stderr


def test_a_word_that_the_axis_does_not_know_is_refused(tmp_path: Path) -> None:
    """By the reader in its entry, with the line of the plan."""
    code = CODE.partition("plan = Plan.parse")[0].replace('"small", "huge"]', '"tiny"]')
    code += "Plan.parse(text, directory / 'plan.toml', registry)"
    command = [sys.executable, "-c", code, ENTRY, str(tmp_path)]
    told = subprocess.run(command, check=False, capture_output=True, text=True, cwd=Path(__file__).parents[1])
    assert "plan.toml:3: pages: unknown word 'tiny'" in told.stderr
