"""Checks a page of the built site: it asks no other server for anything, and each of its links has a text.

Zensical checks itself that links lead somewhere."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

LOADED = {
    "audio": "src",
    "embed": "src",
    "iframe": "src",
    "image": "href",
    "img": "src",
    "input": "src",
    "link": "href",
    "object": "data",
    "script": "src",
    "source": "src",
    "track": "src",
    "use": "href",
    "video": "src",
}
"""Elements whose attribute a browser loads without a click."""
NOT_LOADED = {"alternate", "author", "canonical", "help", "license", "next", "prev", "search"}
"""Values of `rel` with which an element `link` only names an address."""
ASKING = {
    "md-source": "the widget of repo_url asks api.github.com",
    "mermaid": "the script for diagrams comes from unpkg.com",
    "glightbox": "the script for pictures comes from unpkg.com",
    "pyodide": "the script for Python comes from cdn.jsdelivr.net",
}
"""Classes of elements for which the theme's script asks another server."""
MADE_ELSEWHERE = {"rust-names", "typescript", "explorer"}
"""Folders of pages that rustdoc, TypeDoc and Vite make. Only their requests are checked."""
_OTHER = re.compile(r"\s*(?:https?:)?//", re.IGNORECASE)
_IN_STYLE = re.compile(r"(?:@import\s+(?:url\()?|url\()\s*[\"']?((?:https?:)?//[^\s\"')]+)", re.IGNORECASE)


class Page(HTMLParser):
    """Collects the faults of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.requests: list[str] = []
        self.empty: list[str] = []
        self._link: list[str] = []
        """The address of the link that is open, and whatever a reader sees of it."""
        self._in_style = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        loads = tag in LOADED and not (tag == "link" and set(given.get("rel", "").split()) & NOT_LOADED)
        addresses = [given.get(LOADED[tag], "")] if loads else []
        addresses += [part.split()[0] for part in given.get("srcset", "").split(",") if part.strip()]
        self.requests += [f"{tag} {address}" for address in addresses if _OTHER.match(address)]
        self.requests += [f"{tag} {address}" for address in _IN_STYLE.findall(given.get("style", ""))]
        self.requests += [f"{tag}: {ASKING[name]}" for name in given.get("class", "").split() if name in ASKING]
        self._in_style = tag == "style"
        if tag == "a" and "href" in given:
            self._link = [given["href"], given.get("title", ""), given.get("aria-label", "")]
        elif tag in ("img", "svg") and self._link:
            self._link.append(tag)

    def handle_data(self, data: str) -> None:
        if self._in_style:
            self.requests += [f"style {address}" for address in _IN_STYLE.findall(data)]
        if self._link:
            self._link.append(data.strip())

    def handle_endtag(self, tag: str) -> None:
        self._in_style = False
        if tag == "a" and self._link:
            if not any(self._link[1:]):
                self.empty.append(f"link without a text to {self._link[0]}")
            self._link = []


def faults(text: str, *, own: bool = True) -> list[str]:
    """The faults of a page; without those of its links, if another program made it."""
    page = Page()
    page.feed(text)
    page.close()
    return page.requests + (page.empty if own else [])


def check(site: Path) -> Iterator[str]:
    """The faults of all pages and style sheets below a folder, each with its file."""
    for path in sorted(site.rglob("*")):
        inside = path.relative_to(site)
        if path.suffix == ".html":
            text = path.read_text(encoding="utf-8")
            yield from (f"{inside}: {fault}" for fault in faults(text, own=not MADE_ELSEWHERE & set(inside.parts)))
        elif path.suffix == ".css":
            yield from (f"{inside}: {address}" for address in _IN_STYLE.findall(path.read_text(encoding="utf-8")))
