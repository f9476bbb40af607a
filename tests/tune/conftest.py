"""The preloaded library, and the programs of `programs/` for each HDF5 of Debian's."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from h5programs import needs
from leadline.programs.build import build_h5tuner

PROGRAMS = Path(__file__).parent / "programs"


@pytest.fixture(scope="session")
def library() -> Path:
    """The library as a user gets it."""
    return build_h5tuner()


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Compiles a program of `programs/` for an HDF5 of Debian's, once."""
    folder, made = tmp_path_factory.mktemp("programs"), dict[tuple[str, ...], Path]()

    def compile_it(name: str, flavour: str = "serial", *more: str) -> Path:
        key = (name, flavour, *more)
        if key not in made:
            include = Path("/usr/include/hdf5") / flavour
            places = list(Path("/usr/lib").glob(f"*/hdf5/{flavour}"))
            compiler = {"serial": "gfortran" if name.endswith("90") else "gcc"}.get(
                flavour, f"mpicc.{flavour}"
            )
            needs(compiler)
            if not include.is_dir() or not places:
                pytest.skip(f"HDF5 for {flavour} is not installed (setup.sh --test installs it)")
            made[key] = folder / f"{len(made)}-{Path(name).stem}"
            link = more or (("-lhdf5_fortran",) if name.endswith("90") else ()) + ("-lhdf5",)
            where = [word.replace("{lib}", str(places[0])) for word in link]
            subprocess.run(
                [compiler, PROGRAMS / name, "-O1", "-o", made[key], f"-I{include}", f"-L{places[0]}", *where],
                check=True,
                capture_output=True,
            )
        return made[key]

    return compile_it
