"""Parts of the best settings, to see what each brings: "partial tuning" of Behzad et al. (2013), 5.1.3."""

from leadline.tune.io.spaces import layer_of
from leadline.tune.search import Space, Value

FEW = 6  # settings up to which each is looked at by itself, beside its layer
ONLY, BUT = "only ", "all but "


def parts(space: Space, best: dict[str, Value]) -> dict[str, dict[str, Value]]:
    """Each layer of the best settings alone, and all but it; where they are few each setting likewise.

    Nothing that equals the default or the whole, and nothing twice.
    """
    groups: dict[str, list[str]] = {}
    for name in best:
        groups.setdefault(layer_of(space, name), []).append(name)
    if len(best) <= FEW:
        for name in best:
            groups.setdefault(name, [name])
    found: dict[str, dict[str, Value]] = {}
    for group, names in groups.items():
        alone = {name: value for name, value in best.items() if name in names}
        rest = {name: value for name, value in best.items() if name not in names}
        for word, settings in ((ONLY, alone), (BUT, rest)):
            if settings and settings != best and settings not in found.values():
                found[word + group] = settings
    return found
