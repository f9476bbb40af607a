"""Grids of ranks, as the benchmarks and applications make theirs (`native/harness/grids.hpp`)."""


def even_grid(ranks: int, dimensions: int) -> tuple[int, ...]:
    """The lengths of a grid of so many ranks, as near to a square or a cube as can be, the shortest first."""
    if dimensions <= 1:
        return (ranks,)
    best: tuple[int, ...] = ()
    first = 1
    while first**dimensions <= ranks:  # the shortest is no longer than the root
        if ranks % first == 0:
            lengths = (first, *even_grid(ranks // first, dimensions - 1))
            if lengths[1] >= first and (not best or sum(lengths) <= sum(best)):
                best = lengths
        first += 1
    return best
