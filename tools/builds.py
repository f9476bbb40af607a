"""What tools/native.sh asks of the package.

python tools/builds.py build [MPI...]      builds what needs no MPI, and the benchmarks for each of those
python tools/builds.py settings            prints CMake's options for the first MPI, one a line
python tools/builds.py database FOLDER...  prints one compile database of several builds, each file once
"""

import json
import sys
from pathlib import Path

from leadline.mpi.discover import resolve
from leadline.native.build import build, build_describe, build_h5tuner, build_sim, settings


def warned(program: Path) -> bool:
    """Whether the compiler had to say something when it built a program; prints that.

    Other builds make errors of warnings; this one is as users have it. What needs no MPI is not held to it:
    optimised, GCC 12 warns of its own strings (its bug 105651).
    """
    said = [
        line for line in (program.parents[1] / "build.log").read_text().splitlines() if "warning:" in line
    ]
    print(program, *said, sep="\n")
    return bool(said)


def main(arguments: list[str]) -> int:
    """Do what the first argument says."""
    what, *names = arguments
    if what == "build":
        print(build_describe(), build_sim(), build_h5tuner(), sep="\n")
        return sum(warned(build(resolve(name))) for name in names)
    elif what == "settings":
        print(*settings(resolve("default")), sep="\n")
    elif what == "database":
        # What is compiled for several backends is read for one.
        read = (json.loads((Path(name) / "compile_commands.json").read_text()) for name in names)
        print(json.dumps(list({each["file"]: each for every in read for each in every}.values()), indent=1))
    else:
        print(f"build, settings or database, but got '{what}'", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
