"""What the README shows, and what a program prints."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PROOF = (ROOT / "docs/proof.md").read_text(encoding="utf-8")
LEDGER = (ROOT / "docs/ledger.md").read_text(encoding="utf-8")
PAGES = {path.name: path.read_text(encoding="utf-8") for path in sorted((ROOT / "docs").glob("*.md"))}


def block(language: str, page: str = README) -> str:
    """The first block of code in a language."""
    return blocks(language, page)[0]


def blocks(language: str, page: str = README) -> list[str]:
    """All blocks of code in a language."""
    found = re.findall(rf"```{language}\n(.*?)```", page, re.DOTALL)
    assert found, language
    return found


def output(*command: str | Path, folder: Path = ROOT) -> str:
    """What a command prints that runs in a folder."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
