"""Comments name their subject: none begins with a pronoun or a relative clause."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
OPENING = re.compile(r'^\s*(///?|//!|#|\*|/\*\*|""") ?(Those|The same|Any of these|What|Who|As)\b', re.MULTILINE)
MOST = 4
"""Number of comments that still begin like this. Lower it when you rewrite one."""


def test_no_more_comments_begin_without_their_subject() -> None:
    names = subprocess.run(["git", "ls-files", "crates", "hosts"], cwd=ROOT, capture_output=True, text=True, check=True)
    sources = [name for name in names.stdout.splitlines() if name.endswith((".rs", ".py", ".ts"))]
    found = [
        f"{name}:{text.count(chr(10), 0, at.start()) + 1}"
        for name in sources
        if (path := ROOT / name).is_file()
        for text in [path.read_text(encoding="utf-8")]
        for at in OPENING.finditer(text)
    ]
    told = f"{len(found)} comments begin without their subject; at most {MOST}. Name it in yours, or lower MOST"
    assert MOST - 10 < len(found) <= MOST, told + "".join(f"\n{place}" for place in found[-5:])
