"""The page of conformance names every group of golden cases, and no other."""

from __future__ import annotations

import re

from pages import ROOT

PAGE = ROOT / "docs/spec/conformance.md"


def test_every_group_belongs_to_a_part() -> None:
    groups = {file.stem for file in (ROOT / "tests/vectors").glob("*.json") if file.name != "schema.json"}
    table = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    # A row may say "those of the order `sharded`", which names another row and not a group of its own.
    named = {name for line in table for name in re.findall(r"(?<!order )`([\w.-]+)`", line.split("|")[3])}
    assert named == groups
