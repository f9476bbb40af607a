"""The matrix of pairs: both orders of a pair, without a diagonal, which has a figure of its own."""

from leadline.report.page import Findings

from .test_figures import one


def test_the_core_matrix_is_symmetric(findings: Findings) -> None:
    """A pair is one measurement, shown for both orders of its cores; its own diagonal is empty."""
    figure = one(findings, "corepairs", "corepairs-latency")
    cells = {(c["a"], c["b"], c["c"]): c["y"] for c in figure.spec["data"]["values"]}
    assert all(cells[b, a, choice] == value for (a, b, choice), value in cells.items())
    assert all(a != b for a, b, _ in cells)
    assert len(cells) == 8 * 7 * 4


def test_the_matrix_of_ranks_has_pairs_alone_and_the_diagonal_beside(findings: Findings) -> None:
    """Several pairs at once are of no cell; what a rank does with itself has another scale."""
    matrix = one(findings, "rankpairs", "rankpairs-latency")
    cells = {(cell["a"], cell["b"]) for cell in matrix.spec["data"]["values"]}
    assert cells == {(a, b) for a in range(4) for b in range(4) if a != b}
    own = one(findings, "rankpairs", "rankpairs-own-latency")
    assert {point["r"] for point in own.spec["datasets"]["points"]} == {f"rank {n}, 8 B" for n in range(4)}
