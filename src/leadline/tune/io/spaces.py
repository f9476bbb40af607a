"""Spaces of settings cut to what may be set, and to what can matter."""

from dataclasses import replace

from leadline.core.errors import UsageError
from leadline.tune.search import SAFETY, Parameter, Space


def without(space: Space, names: set[str]) -> Space:
    """The space without some parameters, and without what depends on them."""
    kept: list[Parameter] = []
    for each in space.parameters:
        there = {one.name for one in kept}
        lost = (each.equals and each.equals not in there) or not set(each.when) <= there
        if each.name not in names and not lost:
            kept.append(each)
    left = {each.name for each in kept}
    limits = tuple(each for each in space.limits if set(each.product) <= left)
    return replace(space, parameters=tuple(kept), limits=limits)


def allowed(space: Space, safety: str) -> Space:
    """The space of what is no more daring than `safety`. Raises UsageError where nothing is left."""
    most = SAFETY.index(safety)
    cut = without(space, {each.name for each in space.parameters if SAFETY.index(each.safety) > most})
    if not cut.parameters:
        raise UsageError(f"space {space.name} has no parameter that is as safe as '{safety}'")
    return cut


def layer_of(space: Space, name: str) -> str:
    """The layer that a parameter is of."""
    return next((each.layer for each in space.parameters if each.name == name), "other")
