"""Lets componentize-py call constructors that return a result.

The bindings of componentize-py 0.25.1 take the result of a constructor for the object itself, and read `finalizer` and
`handle` of it. The constructors of samedeal can fail, so they return `Ok(object)` or `Err(failure)`, and the guest
would end with "'Ok' object has no attribute 'finalizer'". This module makes `Ok` pass both attributes on to its object,
and makes `Err` be raised, as other functions raise it. A later version may not need this module; then it changes
nothing.
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
