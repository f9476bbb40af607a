"""Tables 4 and 5 of Behzad et al. (2013), as `papers/io-*.csv` have them: bandwidths and tuned settings."""

import csv

from leadline.core import paths

TUNED_AT = 2048  # ranks, of table 5


def _file(name: str) -> list[dict[str, str]]:
    """A table of the paper."""
    path = next(iter(paths.shipped("papers").values())).with_name(name)
    with path.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def speedups() -> list[dict[str, str]]:
    """Table 4: cores, platform, kernel, default and tuned MB/s."""
    return _file("io-speedups.csv")


def tuned(machine: str, kernel: str) -> dict[str, int | str | bool]:
    """Table 5: the paper's settings of a kernel on a machine; none where it has none."""
    for row in _file("io-tuned.csv"):
        if (row["platform"], row["kernel"]) == (machine, kernel):
            named = {key: value for key, value in row.items() if value and key not in ("platform", "kernel")}
            return {key: _value(value) for key, value in named.items()}
    return {}


def _value(text: str) -> int | str | bool:
    """A setting as spaces have it."""
    if text in ("true", "false"):
        return text == "true"
    return int(text) if text.isdecimal() else text
