"""Warnings that point to a line of the user's program."""

from __future__ import annotations

import sys
import warnings
from types import FrameType

_OTHERS = ("samedeal", "torch", "torchdata", "lightning", "pytorch_lightning", "accelerate", "transformers", "ray")
"""Packages of which no line is shown: this one, and those that call it on the way from the user's program."""
_PROCESSES = ("multiprocessing", "threading", "concurrent")


def warn(text: str, category: type[Warning] = UserWarning) -> None:
    """Warns. The warning has the place of the innermost call that no package on the way to this one makes.

    A number of frames (`stacklevel`) would be another one for each way that leads to the warning: through a loader of
    PyTorch, through a subclass, in a worker. If all calls are of such packages, it is the outermost one.
    """
    frame = sys._getframe(1)
    while (name := _package(frame)) in _OTHERS or name in _PROCESSES:
        if frame.f_back is None:
            break
        frame = frame.f_back
    module = frame.f_globals.get("__name__", "")
    registry = frame.f_globals.setdefault("__warningregistry__", {})
    warnings.warn_explicit(text, category, frame.f_code.co_filename, frame.f_lineno, module, registry)


def _package(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", "")).partition(".")[0]
