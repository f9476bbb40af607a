"""What a profile says in sentences, each with numbers and what to do: one file a finding, found by itself."""

from collections.abc import Callable
from importlib import import_module
from pkgutil import iter_modules

from leadline.profile.analysis import Profile


def findings(found: Profile) -> list[str]:
    """The sentences that hold of a profile, the costliest first.

    Each file here has `find(profile)`, which gives a share of the ranks' time and a sentence, or None.
    """
    rows = []
    for module in iter_modules(__path__):
        find: Callable[[Profile], tuple[float, str] | None] = import_module(f"{__name__}.{module.name}").find
        if row := find(found):
            rows.append(row)
    return [sentence for _, sentence in sorted(rows, key=lambda row: -row[0])]
