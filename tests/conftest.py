"""Which tests are left to `make test-full`: those marked `full`, and all but the smoke tests of the browser
and of every MPI but one. What commands print is not wrapped, so that tests find sentences whole."""

import os
from typing import Any

import pytest

PREFERRED = "mpich"  # launches five times faster than Open MPI


@pytest.hookimpl(trylast=True)  # when the reporter is there
def pytest_configure(config: pytest.Config) -> None:
    """What commands print in tests, also in processes of their own, is wide; what pytest prints is not."""
    if reporter := config.pluginmanager.get_plugin("terminalreporter"):  # which processes of xdist lack
        reporter._tw.fullwidth = reporter._tw.fullwidth  # it stays as it is
    os.environ["COLUMNS"] = "1000"


@pytest.hookimpl(tryfirst=True)  # before -m chooses
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark `full` what is in a browser or for a second MPI, unless it is marked `smoke`."""
    of = {item: family(item) for item in items if item.get_closest_marker("mpi")}
    found = {each for each in of.values() if each}
    chosen = PREFERRED if PREFERRED in found else min(found, default=None)
    for item in items:
        second = of.get(item) not in (chosen, None)
        if (second or item.get_closest_marker("browser")) and not item.get_closest_marker("smoke"):
            item.add_marker("full")


def family(item: pytest.Item) -> Any:
    """The family of the MPI that a test is for; None where it is for none in particular."""
    call = getattr(item, "callspec", None)
    return getattr(call.params.get("mpi"), "family", None) if call else None
