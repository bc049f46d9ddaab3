"""Writes NOTES.md, the text of a release: where each file goes, and what has changed. `notes.py target/dist`

The first part is the table of docs/maintaining/releasing.md, the second one the newest part of CHANGELOG.md.
"""

from __future__ import annotations

import re
import sys
from fnmatch import fnmatchcase
from pathlib import Path

from packages import ROOT, VERSION

NAME = "NOTES.md"
SOURCES = f"https://github.com/samedeal/samedeal/blob/v{VERSION}"
LATER = (NAME, "SHA256SUMS")
"""Files of the table that are written last."""


def rows() -> list[list[str]]:
    """The cells of the table, with the version in place of V."""
    page = (ROOT / "docs/maintaining/releasing.md").read_text(encoding="utf-8")
    table = page.partition("## What is published\n")[2].partition("\n## ")[0]
    lines = [line for line in table.splitlines() if line.startswith("| `")]
    return [[re.sub(r"\bV\b", VERSION, cell.strip()) for cell in line.strip("|").split(" | ")] for line in lines]


def changes() -> str:
    """The newest part of the changelog. Its links go to the sources of the version."""
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    newest = re.split(r"^## ", text, flags=re.MULTILINE)[1]
    return re.sub(r"\]\((?!https?:|#)", f"]({SOURCES}/", f"## {newest.rstrip()}\n")


def notes(names: list[str]) -> str:
    """The text for a release of these files.

    Raises:
        SystemExit: The table and the files are not the same.
    """
    table = rows()
    named = [pattern for row in table for pattern in re.findall(r"`([^`]+)`", row[0])]
    unnamed = [name for name in names if not any(fnmatchcase(name, pattern) for pattern in named)]
    missing = [pattern for pattern in named if pattern not in LATER and not any(fnmatchcase(n, pattern) for n in names)]
    if unnamed or missing:
        sys.exit(f"the table of docs/maintaining/releasing.md lacks {unnamed}, and has {missing}, which are not there")
    lines = [f"| {' | '.join(row)} |" for row in (["file", "goes to", "by"], ["---"] * 3, *table)]
    return "\n".join([f"# samedeal {VERSION}\n", "## What goes where\n", *lines, "", changes()])


def main() -> None:
    """Writes the file."""
    folder = Path(sys.argv[1])
    names = sorted(path.name for path in folder.iterdir() if path.is_file() and path.name not in LATER)
    (folder / NAME).write_text(notes(names), encoding="utf-8")


if __name__ == "__main__":
    main()
