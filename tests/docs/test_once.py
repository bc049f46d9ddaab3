"""The texts of members are in the tables of the core, and in files that commands write from these tables. No other file
may repeat one of the texts, in any language."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = ROOT / "docs/recipe.schema.json"

WRITTEN = ("docs/recipe.schema.json", "docs/answers.schema.json", "docs/spec/14-recipes.md", "docs/reference/recipe.md")
"""Files that commands write from the tables."""
OWN = ("crates/", "wit/", "docs/spec/", "tests/")
"""Folders that may repeat the texts: the core, the interface, the specification with its formulas, and tests."""
WORDS = 7
"""Sentences with fewer words, such as "The number of samples.", can have other meanings elsewhere."""


def words(text: str) -> str:
    """The words of a text, without line breaks and without marks of comments and code. `maxTokens`, `max_tokens` and
    `max-tokens` give equal words."""
    text = re.sub(r"^\s*(//[/!]?|#!?|\*)\s?", " ", text, flags=re.MULTILINE)
    text = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", text)
    return f" {' '.join(re.findall(r'[a-z0-9]+', text.lower()))} "


def descriptions(schema: Any) -> Iterator[str]:
    """The descriptions of members anywhere in the schema."""
    if isinstance(schema, dict):
        for key, value in schema.items():
            if key == "properties":
                yield from (m["description"] for m in value.values() if isinstance(m, dict) and "description" in m)
            yield from descriptions(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from descriptions(value)


def sentences() -> set[str]:
    texts = set(descriptions(json.loads(SCHEMA.read_text(encoding="utf-8"))))
    found = {words(sentence) for text in texts for sentence in re.split(r"(?<=[.;:]) ", text)}
    return {sentence for sentence in found if len(sentence.split()) >= WORDS}


def by_hand() -> Iterator[Path]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    for name in listed.split("\0"):
        path = ROOT / name
        if name in WRITTEN or name.startswith(OWN) or not path.is_file() or path.is_symlink():
            continue
        if path.suffix in {".rs", ".py", ".ts", ".svelte", ".mjs", ".md", ".wit"}:
            yield path


def test_a_text_of_an_option_stands_once() -> None:
    known = sentences()
    assert len(known) > 60
    copies = []
    for path in by_hand():
        text = words(path.read_text(encoding="utf-8"))
        copies += [f"{path.relative_to(ROOT)}: {sentence.strip()}" for sentence in known if sentence in text]
    assert not copies, "\n".join(["texts of options stand here too; refer to the option:", *copies])
