"""Attacks readers and processes, and counts what was tried, what held and what was lost.

    python tools/attack.py [--times N] [--faults N] [--seed N] [NAME]...

`--times` mutated files for each reader (default 1,000; a twentieth for one that takes
seconds), `--faults` attempts of each fault (default 50). Exit code 1 where anything
was lost.
"""

import random
import sys
import tempfile
from pathlib import Path

import click

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from faults.corpus import READERS
from faults.faults import FAULTS
from faults.mutations import Count, attack


def faults(name: str, times: int, seed: int) -> Count:
    """Attempts of one fault, each in a directory of its own."""
    chosen = random.Random(f"{name} {seed}")
    lost = []
    for number in range(times):
        with tempfile.TemporaryDirectory() as place:
            try:
                wrong = FAULTS[name](Path(place).resolve(), chosen)
            except Exception as problem:
                wrong = f"{type(problem).__name__}: {str(problem)[:100]}"
        if wrong:
            lost.append(f"{name} {number}: {wrong}")
    return Count(times, lost)


@click.command()
@click.argument("names", nargs=-1, type=click.Choice([*READERS, *FAULTS]))
@click.option("--times", default=1000, show_default=True)
@click.option("--faults", "fault_times", default=50, show_default=True)
@click.option("--seed", default=1, show_default=True)
def main(names: tuple[str, ...], times: int, fault_times: int, seed: int) -> None:
    """Attack what is named, or everything."""
    bad = False
    click.echo(f"{'attack':24} {'tried':>7} {'held':>7} {'lost':>5}")
    for name in names or (*READERS, *FAULTS):
        count = (
            attack(READERS[name], times // 20 if READERS[name].slow else times, seed)
            if name in READERS
            else faults(name, fault_times, seed)
        )
        bad = bad or bool(count.lost)
        click.echo(f"{name:24} {count.tried:7} {count.tried - len(count.lost):7} {len(count.lost):5}")
        for each in count.lost[:5]:
            click.echo(f"  {each}")
    sys.exit(bad)


if __name__ == "__main__":
    main()
