"""A report of synthetic records, made once for all tests of the report."""

from pathlib import Path

import polars as pl
import pytest

from leadline.analysis.fits import fit_all
from leadline.analysis.summary import summarise
from leadline.report import write
from leadline.report.page import Findings

from . import synthetic
from .reading import Reader

PLAN = '[defaults]\ntolerance = "2 %"\n'


def found(records: pl.DataFrame) -> Findings:
    """What a report is made from, for any records."""
    return Findings.of(records, summarise(records), fit_all(records))


@pytest.fixture(scope="session")
def records() -> pl.DataFrame:
    """Every benchmark under two libraries, nine launches each: more than the ends make the interval."""
    return synthetic.records(launches=9, samples=6)


@pytest.fixture(scope="session")
def findings(records: pl.DataFrame) -> Findings:
    """The summary and fits of `records`."""
    return found(records)


@pytest.fixture(scope="session")
def page(records: pl.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page about `records`."""
    provenance = synthetic.PROVENANCE | {"plan_text": PLAN}
    return write(records, [provenance], tmp_path_factory.mktemp("report") / "report.html")


@pytest.fixture(scope="session")
def reader(page: Path) -> Reader:
    """The page of the synthetic records, read."""
    return Reader(page.read_text(encoding="utf-8"))
