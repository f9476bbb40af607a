"""Plugins of a package, one a file: found by their files alone, so that adding one edits no other."""

from collections.abc import Mapping
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType

from leadline.core.errors import UsageError, suggest


class Plugins:
    """The modules of a package whose names have no leading underscore, by name; imported when they are used.

    `unknown` is the sentence about an unknown name, with {} for the name, as in "unknown fit {}".
    `renamed` maps names of the previous version to the new ones: both are found.
    """

    def __init__(self, package: str, unknown: str, renamed: Mapping[str, str] | None = None) -> None:
        """Of the package of that full name."""
        self._package = package
        self._unknown = unknown
        self._renamed = renamed or {}

    def names(self) -> list[str]:
        found = iter_modules(import_module(self._package).__path__)
        return sorted(module.name for module in found if not module.name.startswith("_"))

    def find(self, name: str) -> ModuleType:
        """The member of that name, or of that old name. Raises UsageError for an unknown name."""
        name = self._renamed.get(name, name)
        if name not in self.names():
            raise UsageError(self._unknown.format(repr(name)) + suggest(name, self.names()))
        return import_module(f"{self._package}.{name}")

    def all(self) -> list[ModuleType]:
        """Every member, in the order of their names."""
        return [import_module(f"{self._package}.{name}") for name in self.names()]
