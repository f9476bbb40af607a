"""What a tuning leaves: files for whoever runs the program, and a row for who runs one like it."""

from pathlib import Path

from leadline.core.errors import LeadlineError
from leadline.tune.io import export
from leadline.tune.io import files as io_files
from leadline.tune.io import patterns as io_patterns
from leadline.tune.io import settings as io_settings
from leadline.tune.io.results import Results

SETTINGS, HINTS, PARAMETERS, STRIPES, PROLOG = (
    "settings.toml",
    "romio_hints",
    "openmpi.env",
    "stripes.sh",
    "prolog.sh",
)
SOURCES = {"settings.h": "c", "settings.f90": "fortran", "settings_h5py.py": "h5py"}


def remember(found: Results, name: str, database: Path) -> bool:
    """Keep the settings of a certain gain for programs that write alike; whether there was one to keep.

    `name` is the tuning's. Raises LeadlineError where they cannot be kept.
    """
    if (
        found.settings_file is None
        or found.best is None
        or found.gain is None
        or found.access_pattern is None
    ):
        return False
    source = f"{found.facts['title']}, {name}"
    io_patterns.remember(
        io_patterns.AccessPattern(**found.access_pattern), found.best, source, found.gain.speedup, database
    )
    return True


def write(found: Results, directory: Path) -> list[Path]:
    """Write the settings found in every form that takes some; the paths, none where no gain is certain.

    Raises LeadlineError where they cannot be written.
    """
    settings = found.settings_file
    if settings is None or found.best is None:
        return []
    texts = {
        SETTINGS: settings,
        HINTS: io_files.romio_hints(found.best, found.layers),
        PARAMETERS: "".join(f"{k}={v}\n" for k, v in io_files.openmpi_parameters(found.best).items()),
        STRIPES: f"{io_files.lustre_line(found.best)}\n" if io_files.lustre_line(found.best) else "",
        PROLOG: io_files.prolog(
            found.best,
            found.layers,
            str(found.facts.get("library") or "libleadline_h5.so"),
            str(directory.absolute()),
        ),
    }
    paths = []
    try:
        for name, text in texts.items():
            if text:
                (directory / name).write_text(text, encoding="utf-8")
                paths.append(directory / name)
        held = io_settings.of_toml(settings)
        for name, language in SOURCES.items():
            (directory / name).write_text(export.source(language, held), encoding="utf-8")
            paths.append(directory / name)
    except OSError as problem:
        raise LeadlineError(f"cannot write the settings to {directory}: {problem.strerror}") from problem
    return paths
