"""A short run of tests/fuzz/python over `samedeal.torch`."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest
from limits import HANG

FOLDER = Path(__file__).parents[4] / "tests" / "fuzz" / "python"


def test_every_public_name_is_called_and_nothing_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(FOLDER))
    fuzz, surface = map(importlib.import_module, ("fuzz", "surface"))
    found = fuzz.run(surface.TORCH, seed=1, seconds=HANG, calls=4000)
    assert not found["failures"], found["failures"][0]["script"]
    assert found["called"] == found["of"]
