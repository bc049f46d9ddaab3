"""What the README shows, and what a program prints."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def block(language: str) -> str:
    """The first block of code in a language."""
    found = re.search(rf"```{language}\n(.*?)```", README, re.DOTALL)
    assert found, language
    return found[1]


def output(*command: str | Path) -> str:
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
