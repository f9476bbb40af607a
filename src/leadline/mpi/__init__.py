"""The MPI libraries of this machine: found, asked what they are, told what to use, and started.

`discover` finds them, `family` and `families/` know how each library is set and started, `launchers/` how a
batch system starts ranks instead, `install` adds a library from the Python package index.
"""

from leadline.mpi.library import Mpi

__all__ = ["Mpi"]
