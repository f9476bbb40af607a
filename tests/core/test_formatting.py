"""Numbers of tables and ratios in words."""

from leadline.core.formatting import Column, counted, network_text, next_launch, ratio_text, texts
from leadline.core.units import format_quantity


def test_columns_write_their_numbers_in_their_units() -> None:
    """With as many digits as the interval supports, or with fixed ones; nothing where there is no value."""
    columns = {
        "time": Column("time", "s", ("low", "high")),
        "error": Column("off", "%", digits=0, worth=0.01, sign="+"),
        "grid": Column("grid"),
        "none": Column("none", "s"),
    }
    row = {"time": 1.234e-6, "low": 1.2e-6, "high": 1.3e-6, "error": 0.2, "grid": [3, 2], "none": None}
    assert texts([row], columns) == [
        {"time": "1.23 µs [1.20, 1.30]", "error": "+20 %", "grid": "3x2", "none": ""}
    ]


def test_one_is_counted_as_one() -> None:
    """And many with commas."""
    told = [counted(count, noun) for count, noun in ((1, "rank"), (0, "file"), (1024, "rank"), (2, "launch"))]
    assert told == ["1 rank", "0 files", "1,024 ranks", "2 launches"]


def test_ratios_have_their_interval_and_what_it_lacks() -> None:
    """A confidence below 95 % is said."""
    assert ratio_text(None) == ""
    assert ratio_text(0.931) == "0.93"
    assert ratio_text(0.931, 0.9, 1.0) == "0.93 [0.90, 1.00]"
    assert ratio_text(12.34, 12, 13, confidence=0.9, form=".3g") == "12.3 [12, 13] at 90 %"


def test_bounds_far_apart_have_a_unit_each() -> None:
    """Microseconds to milliseconds are not told in one of them."""
    row = {"value": 5e-7, "unit": "s", "next_low": 1.2e-7, "next_high": 6.346e-3, "next_confidence": 0.9}
    assert next_launch(row).value == "[0.120 µs, 6.30 ms]"
    assert next_launch(row | {"next_high": 6.3e-5}).value == "[0.12, 63.0] µs"
    assert format_quantity(3.1e-7, "s", 3e-7, 2.5412e-4) == "0.31 µs [0.30, 254]"
    assert format_quantity(0.31, "1", 0.30, 6346.15) == "0.31 [0.30, 6350]"


def test_network_models_are_in_words() -> None:
    """The model first, then what else answered."""
    assert network_text("loggp") == "loggp"
    assert network_text("hardware+loggp") == "loggp, collective hardware"
    assert network_text("hardware") == "collective hardware"
    assert network_text("flow+symmetry; packet") == "flow, some ranks for all; packet"
