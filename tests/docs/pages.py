"""The pages of the documentation, and the blocks of code on them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

NOT_RUN = {
    "install": "changes the machine that it runs on",
    "peers": "needs an environment with the other samplers",
}
"""Words after a language that say why a block is not run."""


@dataclass(frozen=True)
class Block:
    """A fenced block of code. The text after the language has words, and perhaps a title, which is the name of a
    file."""

    page: Path
    line: int
    language: str
    words: tuple[str, ...]
    title: str | None
    code: str

    @property
    def where(self) -> str:
        """The page and the line of the first line of code."""
        return f"{self.page.relative_to(ROOT)}:{self.line}"

    @property
    def is_run(self) -> bool:
        """Whether no word says that the block is not run."""
        return not NOT_RUN.keys() & set(self.words)

    @property
    def under_torch(self) -> bool:
        """Whether the block needs the environment with torch."""
        return "torch" in self.words


def pages() -> list[Path]:
    """All pages of the documentation, and the READMEs."""
    found = [
        *(
            ROOT / name
            for name in ("README.md", "SPEC.md", "DESIGN.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md")
        ),
        *sorted(ROOT.glob("hosts/*/README.md")),
        *sorted(ROOT.glob("docs/**/*.md")),
    ]
    return [page for page in found if not {"node_modules", "explorer"} & set(page.parts)]


_FENCE = re.compile(
    # A visible block, or a comment `setup: LANGUAGE` whose code runs but is not shown.
    r"^(?:(?P<ticks>`{3,})(?P<info>[^\n`]*)\n(?P<code>.*?)^(?P=ticks)$"
    r"|<!-- setup: (?P<hidden>[^\n]*)\n(?P<more>.*?)^-->$)",
    re.DOTALL | re.MULTILINE,
)


def blocks(page: Path) -> list[Block]:
    """The blocks of a page, in order."""
    text = page.read_text(encoding="utf-8")
    found = []
    for match in _FENCE.finditer(text):
        info = match["info"] if match["hidden"] is None else match["hidden"]
        title = re.search(r'\btitle="([^"]+)"', info)
        language, *words = re.sub(r'\b\w+="[^"]*"', "", info).split() or [""]
        code = match["code"] if match["hidden"] is None else match["more"]
        line = text.count("\n", 0, match.start()) + 2
        found.append(Block(page, line, language, tuple(words), title and title[1], code))
    return found


def prose(page: Path) -> str:
    """A page without its blocks of code."""
    return _FENCE.sub("", page.read_text(encoding="utf-8"))
