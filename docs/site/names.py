"""Links the names in the tables of the JavaScript reference to their pages in the list of names that TypeDoc makes.

The tables are for reading: several methods in a row, with what to know about them. The linked pages have the types."""

from __future__ import annotations

import re
from pathlib import Path

OWNERS = {"of an order": "Order", "of a sampler": "Sampler", "a log:": "Log"}
"""Words in a row that say whose members it has."""


class Names:
    """The pages of TypeDoc: `folder`, which is at the address `at` seen from the reference."""

    def __init__(self, folder: Path, at: str) -> None:
        self.at = at
        self.pages: dict[str, tuple[str, set[str]]] = {}
        """For each name of the package, its page and the members on it, in small letters as in the anchors."""
        for kind in ("classes", "functions", "variables", "interfaces"):
            for path in sorted((folder / kind).glob("*.html")):
                anchors = set(re.findall(r'id="(\w+)"', path.read_text(encoding="utf-8")))
                self.pages.setdefault(path.stem.partition(".")[2], (f"{kind}/{path.name}", anchors))

    def find(self, code: str, owners: list[str]) -> str | None:
        """The address of the name that a piece of code begins with, as a member of one of the owners if it is no name
        of the package."""
        match = re.match(r"(?:new )?(\.?)(?:(\w+)\.)?(\w+)", code)
        if match is None:
            return None
        of_order, owner, name = match.groups()
        if of_order:
            owners = ["Order"]
        elif owner:
            owners = [owner[0].upper() + owner[1:]]
        elif name in self.pages:
            return f"{self.at}/{self.pages[name][0]}"
        for each in owners:
            page, anchors = self.pages.get(each, ("", set()))
            if name.lower() in anchors:
                return f"{self.at}/{page}#{name.lower()}"
        return None

    def link(self, text: str) -> str:
        """The text of a page with links from the first cells of its tables. A call that is no name is an error."""
        lines, owners = [], []
        for line in text.splitlines():
            if not line.startswith("| "):
                owners = []
                lines.append(line)
                continue
            _, cell, rest = line.split("|", 2)
            named = re.findall(r"`(?:new |open)([A-Z]\w+)", cell)
            named += [owner for words, owner in OWNERS.items() if words in line]
            # The rows above count too, the last one first.
            owners = [*named, *(owner for owner in owners if owner not in named)]

            def linked(match: re.Match[str], owners: list[str] = owners) -> str:
                found = self.find(match[1], owners)
                if found is None and re.match(r"[\w. ]+\(", match[1]) and not match[1].startswith("for "):
                    raise ValueError(f"{match[1]} is no name of the package")
                return f"[{match[0]}]({found})" if found else match[0]

            lines.append(f"|{re.sub('`([^`]+)`', linked, cell)}|{rest}")
        return "\n".join(lines) + "\n"
