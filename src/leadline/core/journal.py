"""A journal on the disk: open for appending by one process, its lines there whole or not at all."""

import fcntl
import os
from pathlib import Path

from leadline.core.errors import LeadlineError


def claim(path: Path, flags: int = 0) -> int:
    """The file open for appending, by this process only, until it is closed or the process ends.

    Raises OSError where it cannot be opened (`flags` may ask to make it), LeadlineError while another has it.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CLOEXEC | flags, 0o644)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as problem:
        os.close(descriptor)
        raise LeadlineError(f"another process is writing {path.parent}; wait until it is done") from problem
    return descriptor


def append(descriptor: int, data: bytes, path: Path, kept: str) -> None:
    """Write the bytes behind all others; when this returns they are on the disk.

    Raises LeadlineError when the disk is full: `path` then ends as before, and what is `kept`, such as "every
    record before", is told with how to go on.
    """
    rest = memoryview(data)
    before = os.fstat(descriptor).st_size
    try:
        while rest:
            rest = rest[os.write(descriptor, rest) :]
        os.fsync(descriptor)
    except OSError as problem:
        os.ftruncate(descriptor, before)
        raise LeadlineError(
            f"cannot write {path}: {problem.strerror}; {kept} is kept, put that right and go on with "
            f"--resume {path.parent}"
        ) from problem
