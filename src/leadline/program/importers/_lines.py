"""The lines of a text file, and numbers in them."""

from pathlib import Path

from leadline.core.errors import UsageError


def data_of(path: Path, most: int = -1) -> bytes:
    """The file, or its first bytes. Raises UsageError where it cannot be read."""
    try:
        with path.open("rb") as file:
            return file.read(most)
    except OSError as problem:
        raise UsageError(f"cannot read {path}: {problem.strerror}") from problem


def lines_of(path: Path, title: str) -> list[str]:
    """The lines. Raises UsageError where there is no such file, or it is no text."""
    data = data_of(path)
    if b"\0" in data[:65536]:
        raise UsageError(f"{path} is binary, and not in a binary form of {title} that is known")
    try:
        return data.decode().splitlines()
    except UnicodeDecodeError as problem:
        raise UsageError(f"{path} is no text, so it is not {title}") from problem


def whole(word: str, place: str, what: str, *, least: int = 0, below: int | None = None) -> int:
    """A whole number of a line. Raises UsageError, with the place, where it is none or out of range."""
    try:
        number = int(word) if word.isdecimal() else int(float(word))  # a float has not all digits
        exact = word.isdecimal() or number == float(word)
    except (ValueError, OverflowError):
        number, exact = 0, False
    if not exact or number < least or (below is not None and number >= below):
        limits = f"{least} or more" if below is None else f"{least} to {below - 1}"
        raise UsageError(f"{place}: {what} is a whole number, {limits}, but got {word!r}")
    return number


def seconds(word: str, place: str, what: str) -> float:
    """A number, 0 or more. Raises UsageError, with the place."""
    try:
        value = float(word)
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf"):
        raise UsageError(f"{place}: {what} is a number, 0 or more, but got {word!r}")
    return value
