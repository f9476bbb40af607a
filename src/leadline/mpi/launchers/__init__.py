"""One way of starting ranks inside a batch system's allocation a file; each holds `LAUNCHER`."""

from leadline.mpi.launcher import starter

__all__ = ["starter"]
