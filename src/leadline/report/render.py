"""The page as one HTML file that needs nothing else, and the figures as files for papers."""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version
from pathlib import Path

from leadline import __version__
from leadline.core import record_files
from leadline.core.paths import state_dir
from leadline.report import theme
from leadline.report.figures import Figure
from leadline.report.theme import Spec

VEGA_LITE = "6.4"  # the version that draws both the page's figures and those for papers
_TEMPLATES = Path(__file__).parent / "templates"
# Outlines of the points' shapes around (0, 0), as in the figures (d3's symbols, redrawn).
_OUTLINES = {
    "circle": "M5 0A5 5 0 1 1 -5 0A5 5 0 1 1 5 0Z",
    "square": "M-4.4 -4.4H4.4V4.4H-4.4Z",
    "triangle-up": "M0 -5.4L5.6 4.4H-5.6Z",
    "diamond": "M0 -6L5 0L0 6L-5 0Z",
    "cross": "M-5 -1.7H-1.7V-5H1.7V-1.7H5V1.7H1.7V5H-1.7V1.7H-5Z",
    "triangle-down": "M0 5.4L5.6 -4.4H-5.6Z",
}


def html(page: object, template: str = "page.html.j2") -> str:
    """The page as HTML: style, script, figures and the library that draws them are all inside.

    `page` is what the template asks for: a `Page`, or what a template that extends it composes.
    """
    import jinja2  # noqa: PLC0415  (only when a page is written)
    from markupsafe import Markup  # noqa: PLC0415

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {
        "embedded": embedded,
        "in_page": theme.in_page,
        "shape_path": _OUTLINES.__getitem__,
    }
    written = datetime.now(UTC)
    return environment.get_template(template).render(
        page=page,
        version=__version__,
        written=f"{written:%d %B %Y, %H:%M} UTC",
        light=Markup(theme.css(theme.LIGHT)),
        dark=Markup(theme.css(theme.DARK)),
        style=Markup((_TEMPLATES / "style.css").read_text(encoding="utf-8")),
        script=Markup((_TEMPLATES / "page.js").read_text(encoding="utf-8")),
        bundle=Markup(bundle()),
        config=theme.config(),
    )


def embedded(value: object) -> object:
    """A value as JSON that can stand inside a script element, whatever text is in it."""
    from markupsafe import Markup  # noqa: PLC0415

    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return Markup(text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029"))


@cache
def bundle() -> str:
    """The drawing library (Vega, Vega-Lite, Vega-Embed) as one script, from the package that draws on paper.

    The package takes a second to make it, so it is kept among the caches, by versions.
    """
    kept = state_dir() / "cache" / f"vega-{VEGA_LITE}-{version('vl-convert-python')}.js"
    with suppress(OSError):
        return kept.read_text(encoding="utf-8")
    import vl_convert  # noqa: PLC0415  (0.1 s to load; only when there is none yet)

    script: str = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;", vl_version=VEGA_LITE)
    # In a script element only its end tag must not appear; strings and patterns may quote the slash.
    script = re.sub(r"</(script)", r"<\\/\1", script, flags=re.IGNORECASE)
    with suppress(OSError):
        kept.parent.mkdir(parents=True, exist_ok=True)
        record_files.replace(kept, script.encode())
    return script


def on_paper(figure: Figure) -> Iterator[tuple[str, Spec]]:
    """A figure for papers, by file name: once, or once for each of its choices."""
    choices = [entry.name for entry in figure.legend if entry.kind == "choice"]
    if not choices:
        yield figure.name, theme.on_paper(figure.spec, figure.title)
    for choice in choices:
        spec = {**figure.spec, "params": [{"name": "chosen", "value": choice}]}
        slug = re.sub(r"[^a-z0-9.]+", "-", choice.lower()).strip("-")
        yield f"{figure.name}-{slug}", theme.on_paper(spec, f"{figure.title}, {choice}")


def files(
    name: str, spec: Spec, directory: Path, formats: Sequence[str] = ("svg", "png", "pdf")
) -> list[Path]:
    """A description drawn as SVG, PNG and PDF files of that name, or some of them; 144 px/in in a PNG."""
    import vl_convert  # noqa: PLC0415

    svg: str = vl_convert.vegalite_to_svg(spec, vl_version=VEGA_LITE)
    drawn: dict[str, Callable[[], bytes]] = {
        "svg": svg.encode,
        "png": lambda: vl_convert.svg_to_png(svg, scale=2.0),
        "pdf": lambda: vl_convert.svg_to_pdf(svg),
    }
    paths = []
    for ending in formats:
        path = directory / f"{name}.{ending}"
        path.write_bytes(drawn[ending]())
        paths.append(path)
    return paths
