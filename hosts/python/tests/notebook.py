"""Reads the tables that a notebook shows."""

from __future__ import annotations

from html.parser import HTMLParser


class _Table(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.cell = False

    def handle_starttag(self, tag: str, attrs: object) -> None:
        assert tag in ("table", "caption", "tr", "th", "td"), f"a tag from somewhere else: {tag}"
        self.cell = tag in ("th", "td")
        if tag == "tr":
            self.rows.append([])
        elif self.cell:
            self.rows[-1].append("")

    def handle_data(self, data: str) -> None:
        if self.cell:
            self.rows[-1][-1] += data


def cells(shown: str) -> list[list[str]]:
    """The text of the cells, row by row."""
    table = _Table()
    table.feed(shown)
    table.close()
    return table.rows
