"""Attacks are run only by the superuser, who can act as several users. For other users, one test runs them by
`sudo`."""

from __future__ import annotations

import os

import pytest

AS_ROOT = "test_as_root"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Removes the tests that this user cannot run, or need not run."""
    is_root = os.geteuid() == 0
    attacks = [item for item in items if item.path.name == "test_attacked.py"]
    away = [item for item in attacks if (item.name == AS_ROOT) == is_root]
    items[:] = [item for item in items if item not in away]
    config.hook.pytest_deselected(items=away)
