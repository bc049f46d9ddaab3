"""Lets componentize-py call constructors that return a result.

Its bindings (0.25.1) take what a constructor returns for the object itself, and read `finalizer` and `handle`
of it. The constructors of samedeal can fail: they return `Ok(object)` or `Err(failure)`, and the guest ends
with "'Ok' object has no attribute 'finalizer'". Here `Ok` passes both on to its object, and `Err` is raised,
as it is by every other function. For a later version that needs no help, this changes nothing.
"""

from typing import Any, NoReturn

from componentize_py_types import Err, Ok


def may_fail() -> None:
    """Call this before the first constructor."""
    Ok.finalizer = property(_finalizer)  # type: ignore[attr-defined]
    Ok.handle = property(_handle)  # type: ignore[attr-defined]
    Err.finalizer = property(_throw)  # type: ignore[attr-defined]


def _finalizer(result: Any) -> Any:
    return result.value.finalizer


def _handle(result: Any) -> Any:
    return result.value.handle


def _throw(result: Any) -> NoReturn:
    raise result
