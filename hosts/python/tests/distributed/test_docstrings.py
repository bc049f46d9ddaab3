"""The examples of docstrings that need torch."""

from __future__ import annotations

import doctest
import importlib

import pytest


@pytest.mark.parametrize("name", ["sampler", "split", "steps", "weighted"])
def test_docstring_examples(name: str) -> None:
    result = doctest.testmod(importlib.import_module(f"samedeal.torch.{name}"))
    assert result.attempted > 0
    assert result.failed == 0
