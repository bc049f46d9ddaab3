"""Tables for notebooks, which show records in place of their `repr`."""

from __future__ import annotations

import html
import itertools
from collections.abc import Iterable, Sequence
from typing import Any

from .arguments import FEW


def table(caption: str, columns: Sequence[str], rows: Iterable[Sequence[Any]], count: int) -> str:
    """A table in HTML of the first of `count` rows; the caption says so where there are more."""
    if count > FEW:
        caption = f"{caption}: the first {FEW} of {count}"
    lines = [f"<caption>{html.escape(caption)}</caption>", _row("th", columns)]
    lines += [_row("td", row) for row in itertools.islice(rows, FEW)]
    return f"<table>{''.join(lines)}</table>"


def _row(tag: str, cells: Iterable[Any]) -> str:
    return f"<tr>{''.join(f'<{tag}>{html.escape(str(cell))}</{tag}>' for cell in cells)}</tr>"
