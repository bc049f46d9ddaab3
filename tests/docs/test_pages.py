"""Every block of code in the documentation runs, and has the result that the page shows."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from pathlib import Path

import pytest
import run
from pages import NOT_RUN, ROOT, Block, blocks, pages

ALONE: dict[str, Callable[[Block, Path], None]] = {
    "js": run.javascript,
    "ts": run.typescript,
    "console": run.console,
}
"""Languages whose blocks run on their own."""
ELSEWHERE = ("html", "rust")
"""Languages whose blocks run in the tests of their hosts: in a browser, or as examples of the crate."""
SHOWN = ("text", "json", "toml")
"""Languages that are not run. JSON must be valid."""
KNOWN = {"python", "sh", "mermaid", *ALONE, *ELSEWHERE, *SHOWN}


def parts(*, under_torch: bool) -> list[Path]:
    """The pages with a block that can run in this environment."""
    return [
        page
        for page in pages()
        if any(block.under_torch == under_torch and block.is_run and block.language != "rust" for block in blocks(page))
    ]


def name(page: Path) -> str:
    """The path of a page, relative to the root."""
    return str(page.relative_to(ROOT))


def run_page(page: Path, path: Path, *, under_torch: bool) -> int:
    """Runs the blocks of a page that need torch, or those that do not. Returns their number."""
    run.folder(path)
    found = [block for block in blocks(page) if block.is_run and block.under_torch == under_torch]
    titled = [block for block in found if block.title]
    for block in titled:
        run.program(block, path)
    for file in titled:
        if file.language not in ELSEWHERE:
            commands = "".join(block.code for block in found if block.language == "console")
            assert str(file.title) in commands, f"{file.where}: no command runs {file.title}"
    session = [block for block in found if block.language == "python" and not block.title]
    if session:
        run.python(session, path)
    for block in found:
        if block.language in ALONE and not block.title:
            ALONE[block.language](block, path)
    return len(found)


@pytest.mark.parametrize("page", parts(under_torch=False), ids=name)
def test_page(page: Path, tmp_path: Path) -> None:
    assert run_page(page, tmp_path / "page", under_torch=False) > 0


def test_every_block_is_known() -> None:
    """A block has a known language and known words. Shell scripts are not run, and have a word with the reason."""
    for page in pages():
        for block in blocks(page):
            assert block.language in KNOWN, block.where
            assert not set(block.words) - {"torch", *NOT_RUN}, block.where
            assert block.is_run == (block.language != "sh"), block.where
            if block.language == "json":
                try:
                    json.loads(block.code)
                except json.JSONDecodeError:
                    assert all(json.loads(line) for line in block.code.splitlines()), block.where


def test_examples_in_rust() -> None:
    """A block of Rust is an example of the crate, and prints the text after it. (The crate tests its own pages.)"""
    for page in pages():
        if page.parent == ROOT / "hosts/rust":
            continue
        found = blocks(page)
        for block, following in itertools.zip_longest(found, found[1:]):
            if block.language == "rust":
                assert block.title, block.where
                example = ROOT / "hosts/rust/examples" / block.title
                assert example.read_text(encoding="utf-8") == block.code, block.where
                assert following is not None, block.where
                printed = run.call([ROOT / "target/debug/examples" / example.stem], ROOT, block.where)
                assert printed == following.code, block.where


@pytest.mark.parametrize("shown", ["", "  # 2"], ids=["not shown", "another"])
def test_what_a_block_prints_is_shown(shown: str, tmp_path: Path) -> None:
    page = ROOT / "README.md"
    with pytest.raises(AssertionError, match=r"README.md:1 prints\s+1"):
        run.python([Block(page, 1, "python", (), None, f"print(1){shown}\n")], tmp_path)
    with pytest.raises(AssertionError, match=r"README.md:1 prints\s+1"):
        run.javascript(Block(page, 1, "js", (), None, f"console.log(1);{shown.replace('#', '//')}\n"), tmp_path)


def test_comparing_lines() -> None:
    assert run.matches(["a", "...", "d"], ["a", "b", "c", "d"])
    assert run.matches(["a", "..."], ["a"])
    assert not run.matches(["a", "...", "d"], ["a", "b"])
    assert not run.matches(["a"], ["a", "b"])
