"""Leadline measures what message passing and parallel I/O really cost, and fits models to it.

For programs and notebooks: `Plan`, `run`, `load`, `summary`, `fit`, `compare`, `report`, `machines`
(docs/python.md), imported at their first use, so that the command line starts quickly.
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

__version__ = "0.1.0"
__all__ = ["Plan", "Run", "compare", "fit", "load", "machines", "report", "run", "summary"]

if TYPE_CHECKING:
    from leadline.api import Plan, Run, compare, fit, load, machines, report, run, summary

_API = f"{__name__}.api"


class _Package(ModuleType):
    """The package, whose names `run` and `report` stay functions when the packages of these names load."""

    def __getattribute__(self, name: str) -> object:
        if name in __all__:
            return getattr(import_module(_API), name)
        return super().__getattribute__(name)


sys.modules[__name__].__class__ = _Package
