"""An extension of Griffe: examples in docstrings are blocks of code."""

from __future__ import annotations

import re
from typing import Any

import griffe


class Doctests(griffe.Extension):
    """Puts a fence around each example that begins with `>>>`, up to the next empty line."""

    def on_instance(self, *, obj: griffe.Object, **_: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = re.sub(
                r"^(>>> .*?)(?=\n\n|\Z)", r"```python\n\1\n```", obj.docstring.value, flags=re.DOTALL | re.MULTILINE
            )
