"""Pages for maintainers: the page of commands is the help of `cargo xtask`, and all files that pages name exist."""

from __future__ import annotations

import re
import subprocess

from pages import ROOT

PAGES = (
    "CONTRIBUTING.md",
    "DESIGN.md",
    *(f"docs/maintaining/{page.name}" for page in (ROOT / "docs/maintaining").iterdir()),
)
NAMED = re.compile(r"`([A-Za-z0-9_.-]+(?:/[A-Za-z0-9_.-]+)+/?)`")
"""Paths in backticks."""
ABSENT = ("target/", "samedeal/samedeal")
"""Beginnings of texts in backticks that no file of the project has: paths that a command makes, and texts that are no
paths."""
CORE = "crates/core/src/"
"""The folder of paths that name files of the core."""


def test_the_page_of_commands_is_the_help() -> None:
    source = (ROOT / "crates/xtask/src/main.rs").read_text(encoding="utf-8")
    found = re.search(r'const HELP: &str = "\\\n(.*?)";\n', source, re.DOTALL)
    assert found is not None
    page = (ROOT / "docs/maintaining/commands.md").read_text(encoding="utf-8")
    assert f"```text\n$ cargo xtask help\n{found[1]}\n```\n" in page, "put the help of crates/xtask/src/main.rs there"


def test_files_that_pages_name_are_there() -> None:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    known = {f"{name}/".rsplit("/", depth)[0] for name in listed for depth in range(1, name.count("/") + 2)}
    gone = [
        f"{page}: {path}"
        for page in PAGES
        for path in NAMED.findall((ROOT / page).read_text(encoding="utf-8"))
        if not path.startswith(ABSENT) and not {path.rstrip("/"), CORE + path.rstrip("/")} & known
    ]
    assert not gone
