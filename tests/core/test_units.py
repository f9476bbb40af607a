"""What people write into plans is understood to the byte; what they read has no digit too many."""

import math

import pytest

from leadline.core.errors import UsageError
from leadline.core.units import (
    format_bytes,
    format_quantity,
    parse_bytes,
    parse_flops,
    parse_fraction,
    parse_rate,
    parse_time,
    prefix,
)


@pytest.mark.parametrize(
    ("written", "size"),
    [
        ("4 MiB", 4 * 2**20),
        ("64KiB", 65536),
        ("1 MB", 10**6),
        ("1 kB", 1000),
        ("8", 8),
        (8, 8),
        ("0 B", 0),
        ("1.5 KiB", 1536),
        ("1e3 B", 1000),
        ("1.001 kB", 1001),
        ("9007199254740993 B", 2**53 + 1),
        (f"{2**63 - 1} B", 2**63 - 1),
    ],
)
def test_sizes_are_whole_bytes(written: object, size: int) -> None:
    """Binary prefixes are powers of 1024 and decimal ones of 1000 (IEC 80000-13)."""
    assert size == parse_bytes(written)


@pytest.mark.parametrize(
    ("written", "seconds"),
    [
        ("2 min", 120),
        ("10 ms", 0.01),
        ("3 us", 3e-6),
        ("3 \u00b5s", 3e-6),
        ("3 \u03bcs", 3e-6),
        ("1.5 h", 5400),
        ("7ns", 7e-9),
        (0, 0),
    ],
)
def test_times_are_seconds(written: object, seconds: float) -> None:
    """Each unit is worth what it says; both characters that look like µ are taken."""
    assert seconds == pytest.approx(parse_time(written))


@pytest.mark.parametrize(
    ("written", "rate"), [("425 MB/s", 425e6), ("400 Gb/s", 50e9), ("1 GiB/s", 2**30), ("0.5 B/s", 0.5)]
)
def test_rates_are_bytes_a_second(written: object, rate: float) -> None:
    """Makers of links count bits, eight to a byte; everybody else bytes."""
    assert rate == pytest.approx(parse_rate(written))
    assert parse_flops("3.4 Gflop/s") == pytest.approx(3.4e9)


@pytest.mark.parametrize(
    ("written", "says"),
    [
        ("425", "a rate needs its unit, as in '425 MB/s'"),
        ("0 MB/s", "a rate must be positive"),
        ("-1 GB/s", "a rate must be positive"),
        ("5 us", "unknown unit 'us'"),
    ],
)
def test_what_is_no_rate_is_said(written: object, says: str) -> None:
    """A rate of nothing would never end."""
    with pytest.raises(UsageError, match=says):
        parse_rate(written)


@pytest.mark.parametrize(
    ("written", "fraction"), [("2 %", 0.02), ("2%", 0.02), (0.02, 0.02), ("0.5", 0.5), (1, 1)]
)
def test_fractions(written: object, fraction: float) -> None:
    """A hundredth per %, and a plain number is itself."""
    assert fraction == pytest.approx(parse_fraction(written))


@pytest.mark.parametrize(
    ("parse", "written", "says"),
    [
        (parse_bytes, "8 KB", "unknown unit 'KB' in '8 KB'; units for a size are B, KiB"),
        (parse_bytes, "8 s", "unknown unit 's'"),
        (parse_bytes, "-8", "0 or more, but got '-8'"),
        (parse_bytes, -1, "0 or more, but got -1"),
        (parse_bytes, "0.3 B", "whole number of bytes"),
        (parse_bytes, True, "but got true"),
        (parse_bytes, "many", "a number and a unit like '4 MiB', but got 'many'"),
        (parse_bytes, "", "but got ''"),
        (parse_bytes, float("inf"), "but got inf"),
        (parse_bytes, float("nan"), "but got nan"),
        (parse_bytes, "99999999999999999999 B", "less than 2^63 bytes, but got '99999999999999999999 B'"),
        (parse_bytes, 2**63, "less than 2^63 bytes"),
        (parse_bytes, 1e300, "less than 2^63 bytes"),
        (parse_time, "3", "needs its unit"),
        (parse_time, 3, "needs its unit"),
        (parse_time, "3 sec", "unknown unit 'sec' in '3 sec'; units for a time are ns, us, ms, s, min, h"),
        (parse_time, "-3 s", "0 or more, but got '-3 s'"),
        (parse_time, "1e999 s", "0 or more"),
        (parse_time, [1], "but got [1]"),
        (parse_fraction, 2, "like '2 %', but got 2"),
        (parse_fraction, "-1 %", "0 or more"),
        (parse_fraction, "2 percent", "unknown unit 'percent'"),
    ],
)
def test_what_cannot_be_read_is_said_in_one_sentence(parse: object, written: object, says: str) -> None:
    """The sentence repeats what was got and says what would do."""
    with pytest.raises(UsageError) as caught:
        parse(written)  # type: ignore[operator]
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("value", "unit", "low", "high", "text"),
    [
        (2.71e-7, "s", 2.58e-7, 2.83e-7, "0.27 µs [0.26, 0.28]"),  # half width 0.0125: two decimals
        (12.34e9, "B/s", 12.09e9, 12.51e9, "12.3 GB/s [12.1, 12.5]"),  # half width 0.21: one
        (5.03e-8, "s", 4.91e-8, 5.12e-8, "50 ns [49, 51]"),  # half width 1.05: none
        (-2.2e-7, "s", -5.1e-7, 1e-7, "-0.2 µs [-0.5, 0.1]"),  # a negative latency stays negative
        (3e-9, "s", -2e-6, 5e-6, "0 µs [-2, 5]"),  # the interval, not the value, chooses the prefix
        (3.5e-7, "s", 3.3e-7, 8e-3, "0.35 µs [0.33, 8000]"),  # apart from zero: two digits
        (1.5e-4, "s", 1.1e-4, 4.2e-4, "150 µs [110, 420]"),  # half width 155, yet 200 would be a third more
        (1.02, "1", 0.99, 1.05, "1.02 [0.99, 1.05]"),
        (1.3e-5, "1", 1.2e-5, 1.4e-5, "1.3e-5 [1.2e-5, 1.4e-5]"),
        (2e-7, "s", 2e-7, 2e-7, "0.200 µs [0.200, 0.200]"),  # a coarse clock does not earn more digits
        (5.0, "1", 2.0, math.inf, "5.00 [2.00, ∞]"),
        (3.1e-10, "s/B", 3.0e-10, 3.2e-10, "310 ps/B [300, 320]"),
        (9.996, "s", 9.98, 10.01, "10.00 s [9.98, 10.01]"),
    ],
)
def test_digits_match_the_interval(value: float, unit: str, low: float, high: float, text: str) -> None:
    """The last digit shown is the first that half the interval's width moves."""
    assert text == format_quantity(value, unit, low, high)


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (2.7e-7, "s", "0.270 µs"),
        (9.99999e-7, "s", "1.00 µs"),
        (0.012, "s", "12.0 ms"),
        (65536, "B", "64 KiB"),
        (65536.0, "B", "64 KiB"),
        (5432.7, "B", "5.31 KiB"),
        (1234567.0, "1/s", "1.23 M/s"),
        (2.4e9, "Hz", "2.40 GHz"),
        (3, "1", "3"),
        (0.0, "s", "0 s"),
        (None, "s", "—"),
        (math.nan, "B/s", "—"),
        (2.5, "J", "2.50 J"),
    ],
)
def test_without_an_interval(value: float | None, unit: str, text: str) -> None:
    """Three digits for what was sampled, all of them for what was counted, a dash for what is not there."""
    assert text == format_quantity(value, unit)


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 B"),
        (1, "1 B"),
        (1024, "1 KiB"),
        (1536, "1536 B"),
        (1985, "1985 B"),
        (2000, "2000 B"),
        (10**6, "1 MB"),
        (256 * 2**20, "256 MiB"),
        (1025 * 1024, "1025 KiB"),
    ],
)
def test_sizes_lose_nothing(size: int, text: str) -> None:
    """A size is written so that reading it gives the same size back."""
    assert text == format_bytes(size)
    assert size == parse_bytes(text)


def test_prefix_scales_and_names() -> None:
    """One microsecond is 1e-6 s; an unknown unit stands for itself."""
    assert prefix(2.7e-7, "s") == (1e-6, "µs")
    assert prefix(0.0, "s") == (1.0, "s")
    assert prefix(7.0, "J") == (1.0, "J")
