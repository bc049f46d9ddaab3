"""A counter of calls of the component."""

from __future__ import annotations

from typing import Any

import pytest
from samedeal.engine.core import Core


def count(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """A list that gets an item for each later call of the component."""
    made: list[int] = []
    call = Core.call

    def counted(core: Core, *arguments: Any) -> int:
        made.append(1)
        return call(core, *arguments)

    monkeypatch.setattr(Core, "call", counted)
    return made
