"""Described machines: what the simulator needs to know of one, each number with its source.

A machine is a TOML file (`docs/machines.md` has the keys, `machines/` has those that come with Leadline).
Reading it checks everything that can be known without simulating; `Machine.native` and `Machine.partition`
are what the native program reads, in SI units.
"""

from leadline.machine.description import Machine, load
from leadline.machine.files import find, names
from leadline.machine.values import Number

__all__ = ["Machine", "Number", "find", "load", "names"]
