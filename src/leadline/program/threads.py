"""What several threads of a rank that call MPI mean for a recording, in words."""

from leadline.core.formatting import counted
from leadline.program.model import Program


def in_order(program: Program) -> bool:
    """Whether all calls stand in an order in which they can be executed; files of older versions may not."""
    return program.recorded.get("threads", 1) < 2 or "at_once" in program.recorded


def threads_in_words(program: Program) -> str | None:
    """What happens to calls of several threads; None where each rank called MPI from one thread."""
    if program.recorded.get("threads", 1) < 2:
        return None
    if not in_order(program):
        return "several threads of a rank called MPI: their calls are executed one after another"
    ranks = program.recorded["at_once"]
    if not ranks:
        return "several threads of a rank called MPI, but never during blocking calls of each other"
    return (
        f"on {counted(ranks, 'rank')} threads called MPI during blocking calls of other threads: such "
        "blocking calls are nonblocking ones and a wait here"
    )
