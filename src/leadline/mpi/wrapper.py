"""What a compiler wrapper adds to a command line, asked of it and reduced to what C programs need."""

import re
import shlex
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

# Bindings of other languages, which only their own compilers can link.
FOREIGN = re.compile(
    r"-l(mpi(fort|f77|f90|chf90|cxx|chcxx|chcpp)|mpi_(cxx|usempi\w*|mpifh)|fmpich|gfortran)$"
)
STANDARD_PLACES = re.compile(r"/(usr/)?lib(64|/[\w-]+-linux-gnu)?/?$")  # the loader looks there by itself
ASK_LIMIT = 10.0  # s, for a wrapper or launcher to say what it is


@dataclass(frozen=True)
class Flags:
    """Directories of headers, and linker words: `-L`, `-l`, `-pthread`, `-Wl,-rpath,DIR`, library files."""

    include: tuple[str, ...]
    link: tuple[str, ...]


def ask(command: list[str], environ: Mapping[str, str]) -> str:
    """What a program prints, both streams; "" when it cannot be started, fails to end or prints no text."""
    try:
        answer = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=dict(environ),
            timeout=ASK_LIMIT,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return answer.stdout.decode(errors="replace")


def flags(wrapper: Path, environ: Mapping[str, str]) -> Flags | None:
    """What `wrapper -show` says; None when it says nothing that has to do with MPI."""
    said = ask([str(wrapper), "-show"], environ)
    try:
        words = shlex.split(said.splitlines()[0]) if said else []
    except ValueError:
        return None
    found = parse(words[1:])
    return found if any(word.startswith("-l") or "mpi" in word for word in found.link) else None


def fallback(prefix: Path) -> Flags | None:
    """Flags by the usual places under `prefix`, where the wrapper cannot say; None if nothing is there."""
    libraries = [place for place in (prefix / "lib", prefix / "lib64") if list(place.glob("libmpi.so*"))]
    if not (prefix / "include" / "mpi.h").is_file() or not libraries:
        return None
    return parse([f"-I{prefix / 'include'}", f"-L{libraries[0]}", "-lmpi"])


def parse(words: Iterable[str]) -> Flags:
    """The flags in a wrapper's words, each once, with a run-time path for every unusual library directory."""
    include: dict[str, None] = {}
    places: dict[str, None] = {}
    runtime: dict[str, None] = {}
    libraries: dict[str, None] = {}
    for word in _joined(words):
        if word.startswith("-I"):
            include[word[2:]] = None
        elif word.startswith("-L"):
            places[word[2:]] = None
        elif word.startswith("-Wl,-rpath,"):
            runtime[word.split(",", 2)[2]] = None
        elif (word.startswith("-l") or word == "-pthread" or _is_library(word)) and not FOREIGN.match(word):
            libraries[word] = None
    there = [place for place in places if Path(place).is_dir()]
    rpaths = dict.fromkeys([*runtime, *there])
    return Flags(
        tuple(place for place in include if Path(place).is_dir()),
        (
            *(f"-L{place}" for place in there),
            *(f"-Wl,-rpath,{p}" for p in rpaths if Path(p).is_dir() and not STANDARD_PLACES.match(p)),
            *libraries,
        ),
    )


def _is_library(word: str) -> bool:
    return re.search(r"\.(so|a)(\.\d+)*$", word) is not None and not word.startswith("-")


def _joined(words: Iterable[str]) -> list[str]:
    """Words with `-I DIR`, `-L DIR`, `-Xlinker WORD` and split run-time paths joined to one word each."""
    joined: list[str] = []
    for word in words:
        if joined and joined[-1] in {"-I", "-L"}:
            joined[-1] += word
        elif joined and joined[-1] == "-Xlinker":
            joined[-1] = f"-Wl,{word}"
        elif word == "-isystem":
            joined.append("-I")
        else:
            joined.append(word)
    together: list[str] = []
    for word in joined:
        if together and together[-1] == "-Wl,-rpath" and word.startswith("-Wl,"):
            together[-1] += word[3:]
        else:
            together.append(re.sub(r"^-Wl,(--?)rpath[=,]", "-Wl,-rpath,", word))
    return together
