"""The wheel works outside the clone: what docs/install.md says."""

import os
import subprocess
import sys
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.full
def test_a_wheel_works_outside_the_clone(tmp_path: Path) -> None:
    """Built, installed beside this environment's packages, and used elsewhere: plans, machines, native
    sources.
    """

    def run(*words: str | Path) -> str:
        environment = {**os.environ, "LEADLINE_STATE": str(tmp_path / "state")}
        environment.pop("PYTHONPATH", None)
        done = subprocess.run(
            list(map(str, words)), cwd=tmp_path, env=environment, check=True, capture_output=True, text=True
        )
        return done.stdout

    pip = [sys.executable, "-m", "pip", "--quiet"]
    run(*pip, "wheel", "--no-deps", "-w", tmp_path / "dist", ROOT)
    [wheel] = (tmp_path / "dist").glob("leadline-*.whl")
    venv.create(tmp_path / "env", with_pip=False)
    [packages] = (tmp_path / "env" / "lib").glob("python*/site-packages")
    run(*pip, "install", "--no-deps", "--target", packages, wheel)
    # The dependencies are those of this environment, without the clone's own package.
    (packages / "others.pth").write_text(f"{Path(pytest.__file__).parents[1]}\n")
    python = tmp_path / "env" / "bin" / "python"
    where = (
        "import leadline, leadline.core.paths as p; print(leadline.__file__, p.checkout(), p.native_dir())"
    )
    package, checkout, native = run(python, "-c", where).split()
    assert Path(package).is_relative_to(tmp_path)
    assert checkout == "None"
    assert Path(native).is_relative_to(tmp_path)
    leadline: list[str | Path] = [python, "-c", "from leadline.cli import main; main()"]
    assert "quick" in run(*leadline, "list", "plans")
    assert "bgp" in run(*leadline, "list", "machines")
    assert run(*leadline, "show", "machine", "bgp", "--json").startswith("[")
