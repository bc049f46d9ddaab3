"""Attacks are run by the superuser alone, who can be several users. Elsewhere one test runs them by `sudo`."""

from __future__ import annotations

import os

import pytest

AS_ROOT = "test_as_root"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Takes away what this user cannot do, or need not."""
    is_root = os.geteuid() == 0
    attacks = [item for item in items if item.path.name == "test_attacked.py"]
    away = [item for item in attacks if (item.name == AS_ROOT) == is_root]
    items[:] = [item for item in items if item not in away]
    config.hook.pytest_deselected(items=away)
