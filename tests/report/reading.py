"""A page as its readers have it: what it says, names, links and loads."""

from html.parser import HTMLParser
from pathlib import Path

import polars as pl

from leadline.report import write

from . import synthetic


class Reader(HTMLParser):
    """What a page holds: text outside scripts, ids, links, and whatever it would load."""

    def __init__(self, text: str) -> None:
        """Read `text`."""
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.loads: list[str] = []
        self.said: list[str] = []
        self._inside: list[str] = []
        self.feed(text)
        self.text = " ".join(" ".join(self.said).split())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what the tag names."""
        told = {name: value or "" for name, value in attrs}
        self.ids += [told["id"]] if "id" in told else []
        if tag == "a":
            self.links.append(told["href"])
        elif "src" in told or tag == "link":
            self.loads.append(told.get("src") or told.get("href", ""))
        if tag in ("script", "style"):
            self._inside.append(tag)

    def handle_endtag(self, tag: str) -> None:
        """Leave a script or style."""
        if tag in ("script", "style"):
            self._inside.pop()

    def handle_data(self, data: str) -> None:
        """Note what can be read."""
        if not self._inside:
            self.said.append(data)


def written(records: pl.DataFrame, tmp_path: Path, **provenance: object) -> Reader:
    """The page about `records`, read."""
    facts = synthetic.PROVENANCE | provenance
    return Reader(write(records, [facts], tmp_path / "page.html").read_text(encoding="utf-8"))
