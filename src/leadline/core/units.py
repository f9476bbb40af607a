"""Quantities at the edge: what people write into a plan, and what people read in a table.

Inside Leadline everything is in SI units without prefixes (bytes, seconds, bytes per second). Parsing takes
what a person writes ("4 MiB", "10 ms", "2 %"); formatting chooses a prefix that people use for the quantity
and prints no digit that the interval does not support.
"""

import math
import re
from collections.abc import Mapping
from decimal import Decimal

from leadline.core.errors import UsageError, written

MISSING = "—"
LARGEST = 2**63 - 1  # of whole numbers; records and benchmarks hold no larger one

# IEC 80000-13 binary prefixes and SI decimal ones; "KB" and "K" are left out since they are read both ways.
BYTES: dict[str, int] = {
    "B": 1,
    "KiB": 2**10,
    "MiB": 2**20,
    "GiB": 2**30,
    "TiB": 2**40,
    "kB": 10**3,
    "MB": 10**6,
    "GB": 10**9,
    "TB": 10**12,
}

# Both spellings of micro: U+00B5 (micro sign) and U+03BC (Greek mu), which look alike on a keyboard.
SECONDS: dict[str, float] = {
    "ns": 1e-9,
    "us": 1e-6,
    "\u00b5s": 1e-6,
    "\u03bcs": 1e-6,
    "ms": 1e-3,
    "s": 1.0,
    "min": 60.0,
    "h": 3600.0,
}

# Bytes, and bits as makers of links count them; a floating-point operation as makers of processors do.
RATES: dict[str, float] = {
    **{f"{name}/s": float(size) for name, size in BYTES.items()},
    **{f"{name}/s": size / 8 for name, size in (("Mb", 1e6), ("Gb", 1e9), ("Tb", 1e12))},
}
FLOPS: dict[str, float] = {"flop/s": 1.0, "Mflop/s": 1e6, "Gflop/s": 1e9, "Tflop/s": 1e12}

_NUMBER = re.compile(r"\s*([+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,3})?)\s*(\S*)\s*")

# Where a prefix begins to be used: (from this magnitude on, how much one is worth, what is written).
# Latencies of 0.1 us and more are told in microseconds throughout the field, hence no ns from 1e-7 s on.
_DECIMAL = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""))
_BINARY = ((2.0**40, "TiB"), (2.0**30, "GiB"), (2.0**20, "MiB"), (2.0**10, "KiB"), (0.0, "B"))
_PREFIXES: dict[str, tuple[tuple[float, float, str], ...]] = {
    "s": ((1.0, 1.0, "s"), (1e-3, 1e-3, "ms"), (1e-7, 1e-6, "µs"), (1e-10, 1e-9, "ns"), (0.0, 1e-12, "ps")),
    "B": tuple((size, size or 1.0, name) for size, name in _BINARY),
    "B/s": tuple((size, size, f"{prefix}B/s") for size, prefix in _DECIMAL),
    "1/s": tuple((size, size, f"{prefix}/s" if prefix else "1/s") for size, prefix in _DECIMAL),
    "Hz": tuple((size, size, f"{prefix}Hz") for size, prefix in _DECIMAL),
    "s/B": ((1e-6, 1e-6, "µs/B"), (1e-9, 1e-9, "ns/B"), (0.0, 1e-12, "ps/B")),
    "1": ((0.0, 1.0, ""),),
}

# Without an interval three digits are shown; with a very narrow one never more than five.
_PLAIN_DIGITS, _MOST_DIGITS = 3, 5
FAR = 100.0  # times the value, from which on an upper bound has three digits of its own


def _split(value: object, what: str, units: Mapping[str, float], example: str) -> tuple[str, str]:
    """The digits and the unit word of `value`; UsageError when it is not a number with one of `units`."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise UsageError(f"{what} is written like {example!r}, but got {written(value)}")
    if not isinstance(value, str):
        return str(value), ""
    match = _NUMBER.fullmatch(value)
    if match is None:
        raise UsageError(f"{what} is a number and a unit like {example!r}, but got {value!r}")
    number, unit = match.groups()
    if unit and unit not in units:
        known = ", ".join(name for name in units if name.isascii())
        raise UsageError(f"unknown unit {unit!r} in {value!r}; units for {what} are {known}")
    return number, unit


def parse_bytes(value: object) -> int:
    """A size in bytes, from "4 MiB", "64KiB", "1 MB", "8" or 8.

    Exact, with no rounding on the way. Raises UsageError for an unknown unit, for less than nothing, for
    parts of a byte and for more than LARGEST.
    """
    number, unit = _split(value, "a size", BYTES, "4 MiB")
    size = Decimal(number) * BYTES[unit or "B"]
    if not size.is_finite() or size < 0 or size != int(size):
        raise UsageError(f"a size is a whole number of bytes, 0 or more, but got {value!r}")
    if size > LARGEST:
        raise UsageError(f"a size is less than 2^63 bytes, but got {value!r}")
    return int(size)


def parse_time(value: object) -> float:
    """A time in seconds, from "2 min", "10 ms", "3 us" or "3 µs".

    Raises UsageError for an unknown or missing unit (only 0 needs none) and for less than nothing.
    """
    number, unit = _split(value, "a time", SECONDS, "10 ms")
    seconds = float(number)
    if not unit and seconds != 0:
        raise UsageError(f"a time needs its unit, as in '10 ms' or '30 min', but got {value!r}")
    seconds *= SECONDS[unit or "s"]
    if not math.isfinite(seconds) or seconds < 0:
        raise UsageError(f"a time is 0 or more, but got {value!r}")
    return seconds


def parse_rate(value: object) -> float:
    """A rate in bytes a second, from "425 MB/s" or "100 Gb/s".

    Raises UsageError for an unknown or missing unit and for nothing or less.
    """
    return _parse_positive(value, "a rate", RATES, "425 MB/s")


def parse_flops(value: object) -> float:
    """Floating-point operations a second, from "3.4 Gflop/s"; UsageError as for a rate."""
    return _parse_positive(value, "a rate of operations", FLOPS, "3.4 Gflop/s")


def _parse_positive(value: object, what: str, units: Mapping[str, float], example: str) -> float:
    """A number above nothing with one of `units`; UsageError for any other."""
    digits, unit = _split(value, what, units, example)
    number = float(digits)
    if not unit:
        raise UsageError(f"{what} needs its unit, as in {example!r}, but got {value!r}")
    if not math.isfinite(number) or number <= 0:
        raise UsageError(f"{what} must be positive, but got {value!r}")
    return number * units[unit]


def parse_fraction(value: object) -> float:
    """A part of one, from "2 %", "0.02" or 0.02.

    Raises UsageError for less than nothing, and for a plain number above 1, which is more likely a percentage
    without its sign.
    """
    digits, unit = _split(value, "a fraction", {"%": 1}, "2 %")
    number = float(digits)
    if not math.isfinite(number) or number < 0:
        raise UsageError(f"a fraction is 0 or more, but got {value!r}")
    if unit:
        return number / 100
    if number > 1:
        raise UsageError(f"a fraction above 1 is written in per cent, like '{number:g} %', but got {value!r}")
    return number


def prefix(magnitude: float, unit: str) -> tuple[float, str]:
    """What one displayed unit is worth in `unit`, and its name: prefix(2.7e-7, "s") is (1e-06, "µs").

    `unit` is an SI unit of the records or fits; one that is not known here is shown as it is.
    """
    steps = _PREFIXES.get(unit, ((0.0, 1.0, unit),))
    size = abs(magnitude)
    if size == 0 or not math.isfinite(size):
        return next(((worth, name) for _, worth, name in steps if worth == 1.0), steps[-1][1:])
    return next(((worth, name) for start, worth, name in steps if size >= start), steps[-1][1:])


def format_bytes(size: int) -> str:
    """A size as people name it: 65536 is "64 KiB", 1000000 is "1 MB", 1500 is "1500 B".

    Only whole multiples get a prefix, so that nothing is rounded; kB never, so that a sweep in steps of a few
    bytes reads evenly.
    """
    for factor, name in sorted(((f, n) for n, f in BYTES.items() if n != "kB"), reverse=True):
        if size >= factor and size % factor == 0:
            return f"{size // factor} {name}"
    return f"{size} B"


def rounded_bytes(size: int) -> str:
    """A size to three digits, where the last byte does not matter: 1234567 is "1.18 MiB"."""
    worth, name = prefix(size, "B")
    return f"{_digits(size / worth, _decimals(size / worth))} {name}"


def format_quantity(
    value: float | None, unit: str, low: float | None = None, high: float | None = None
) -> str:
    """A quantity in SI `unit` with its interval, for people: "0.27 µs [0.26, 0.28]".

    The last digit is the first one that half the interval's width moves. Whole numbers without an interval
    are exact and shown so. Null, and what is not a number, is "—".
    """
    if value is None or math.isnan(value):
        return MISSING
    if low is None or high is None or math.isnan(low) or math.isnan(high):
        if isinstance(value, int) or value == 0 or (unit == "B" and value == int(value)):
            return _exact(int(value), unit)
        worth, name = prefix(value, unit)
        return f"{_digits(value / worth, _decimals(value / worth))} {name}".rstrip()
    half = (high - low) / 2
    # However far an interval reaches, a value that it keeps apart from zero shows two digits: "9 [9, 11]"
    # would be 8.6 or 9.4.
    apart = low > 0 or high < 0
    worth, name = prefix(value if apart or not math.isfinite(half) else max(abs(value), half), unit)
    decimals = _decimals(value / worth, half / worth)
    if apart and value:
        decimals = max(decimals, 1 - _exponent(value / worth))
    shown = [_digits(each / worth, decimals) for each in (value, low)]
    # A bound far beyond the value has digits of its own: not "0.31 [0.30, 6346.15]".
    far = _exponent(high / worth)
    shown.append(_digits(high / worth, min(decimals, 2 - far) if high > FAR * abs(value) else decimals))
    return f"{shown[0]} {name}".rstrip() + f" [{shown[1]}, {shown[2]}]"


def _exact(value: int, unit: str) -> str:
    """A whole number that is known exactly: a size or a count."""
    if unit == "B" and value >= 0:
        return format_bytes(value)
    return f"{value} {'' if unit == '1' else unit}".rstrip()


def _decimals(value: float, half: float = 0.0) -> int:
    """Decimals to print: down to the first digit of `half` the interval's width, within reason.

    Negative counts round to tens, hundreds, ... An interval of no width says only that the clock was coarse.
    """
    first = _exponent(float(f"{value:.{_PLAIN_DIGITS - 1}e}"))
    if half == 0 or not math.isfinite(half):
        return _PLAIN_DIGITS - 1 - first if value else 0
    # The hair above one keeps a width of 0.01, which arithmetic left a little below, at two decimals.
    wanted = -_exponent(half * (1 + 1e-9))
    return min(wanted, _MOST_DIGITS - 1 - first) if value else wanted


def _exponent(value: float) -> int:
    """The power of ten of the first digit of `value`; 0 for nothing and for infinity."""
    return math.floor(math.log10(abs(value))) if value and math.isfinite(value) else 0


def _digits(value: float, decimals: int) -> str:
    """`value` with that many decimals; very small and very large ones with a power of ten."""
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    rounded = round(value, decimals)
    exponent = _exponent(rounded)
    if rounded and (exponent < -3 or exponent > 6):
        return f"{rounded:.{max(0, exponent + decimals)}e}".replace("e-0", "e-").replace("e+0", "e+")
    # Adding zero turns -0.0 into 0.0.
    return f"{rounded + 0.0:.{max(0, decimals)}f}"
