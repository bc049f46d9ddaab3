"""Checks that the links of the documentation have targets."""

from __future__ import annotations

import re
from pathlib import Path

from pages import ROOT, pages, prose

REPOSITORY = "https://github.com/samedeal/samedeal/blob/main/"
CRATE = ROOT / "hosts/rust/README.md"
"""The README is also the first page of the crate's documentation. The crate has no other files of the repository, so
links from this page must be URLs."""


def anchors(page: Path) -> set[str]:
    """The anchors of the headings of a page, as forges and the site make them."""
    headings = re.findall(r"^#+ (.*)$", prose(page), re.MULTILINE)
    plain = [re.sub(r"\[([^]]*)\]\([^)]*\)|[^\w\s-]", r"\1", heading) for heading in headings]
    return {re.sub(r"\s", "-", heading.strip().lower()) for heading in plain}


def test_links() -> None:
    for page in pages():
        for target in re.findall(r"\]\(([^)\s]+)\)", prose(page)):
            path = target.removeprefix(REPOSITORY)
            is_whole = path != target
            if target.startswith("https://") and not is_whole:
                continue
            file, _, anchor = path.partition("#")
            found = ((ROOT if is_whole else page.parent) / file).resolve() if file else page
            assert found.is_relative_to(ROOT), f"{page}: {target}"
            assert found.exists(), f"{page}: {target}"
            assert is_whole or not (page == CRATE and file), f"{page}: {target} leads nowhere in the documentation"
            if anchor and found.suffix == ".md":
                assert anchor in anchors(found), f"{page}: {target}"
