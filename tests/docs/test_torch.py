"""Blocks of code that need PyTorch and training frameworks, in an environment that has them."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_pages import name, parts, run_page


@pytest.mark.parametrize("page", parts(under_torch=True), ids=name)
def test_page(page: Path, tmp_path: Path) -> None:
    assert run_page(page, tmp_path / "page", under_torch=True) > 0
