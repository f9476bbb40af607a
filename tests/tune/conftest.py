"""The preloaded library, and the programs of `programs/` for each HDF5 of Debian's."""

from collections.abc import Callable
from pathlib import Path

import pytest

from h5programs import compile_program
from leadline.native.build import build_h5tuner


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
            made[key] = compile_program(folder, name, flavour, *more)
        return made[key]

    return compile_it
