"""All public names, found in the modules, so that a new name without a generator is an error."""

from __future__ import annotations

import importlib
import inspect
from functools import cached_property
from typing import Any, NamedTuple

CORE = ("samedeal", "samedeal.collate", "samedeal.ledger", "samedeal.parquet")
"""Modules without PyTorch."""
TORCH = ("samedeal.torch",)
"""Modules that need PyTorch."""
OPERATORS = {
    "__len__": "len({})",
    "__iter__": "h.take({})",
    "__repr__": "repr({})",
    "_repr_html_": "{}._repr_html_()",
    "__hash__": "hash({})",
}
"""Operators without an argument."""


class Target(NamedTuple):
    """Something public that can be called or read."""

    what: str
    """The name below `samedeal`, such as `Sampler.batch`."""
    owner: type | None
    """The class whose object the target needs."""
    head: str
    """The text of the call; `{}` stands for the object."""
    parameters: tuple[inspect.Parameter, ...] | None
    """The parameters; None if nothing is called."""


def targets(modules: tuple[str, ...]) -> list[Target]:
    """All public functions, constructors, methods, properties and operators of modules."""
    found: list[Target] = []
    for path in modules:
        module = importlib.import_module(path)
        inside = path.removeprefix("samedeal").removeprefix(".")
        for name in names(module):
            value, what = getattr(module, name), f"{inside}.{name}".lstrip(".")
            if inspect.isclass(value):
                if not issubclass(value, BaseException):
                    found += _of_class(value, what, f"{path}.{name}")
            elif callable(value):
                found.append(Target(what, None, f"{path}.{name}", _parameters(value)))
            elif not inspect.ismodule(value):
                raise LookupError(f"{path}.{name} is neither a class nor a function: say in surface.py what it is")
    return found


def names(module: Any) -> list[str]:
    """The public names of a module."""
    if hasattr(module, "__all__"):
        return list(module.__all__)
    own = (name for name in vars(module) if not name.startswith("_"))
    return [name for name in own if getattr(getattr(module, name), "__module__", None) == module.__name__]


def _of_class(cls: type, what: str, path: str) -> list[Target]:
    found = []
    is_tuple = issubclass(cls, tuple)
    if not is_tuple:
        found.append(Target(what, None, path, _parameters(cls)))
    for name in dir(cls):
        value = inspect.getattr_static(cls, name)
        owner = next(base for base in cls.__mro__ if name in vars(base))
        if not owner.__module__.startswith("samedeal") or (
            is_tuple and (isinstance(value, _FIELD) or name.startswith("__"))
        ):
            # These are methods of Python itself, and fields of records.
            continue
        if name in OPERATORS:
            found.append(Target(f"{what}.{name}", cls, OPERATORS[name], None))
        elif name in ("__getitem__", "__eq__"):
            found.append(Target(f"{what}.{name}", cls, f"{{}}.{name}", _parameters(value)[1:]))
        elif name == "__call__":
            found.append(Target(f"{what}.{name}", cls, "{}", _parameters(value)[1:]))
        elif name.startswith("_"):
            continue
        elif isinstance(value, classmethod):
            found.append(Target(f"{what}.{name}", None, f"{path}.{name}", _parameters(value.__func__)[1:]))
        elif isinstance(value, staticmethod):
            found.append(Target(f"{what}.{name}", None, f"{path}.{name}", _parameters(value.__func__)))
        elif isinstance(value, (property, cached_property)):
            found.append(Target(f"{what}.{name}", cls, f"{{}}.{name}", None))
        elif callable(value):
            found.append(Target(f"{what}.{name}", cls, f"{{}}.{name}", _parameters(value)[1:]))
    return found


_FIELD = type(inspect.getattr_static(inspect.FullArgSpec, "args"))


def _parameters(function: Any) -> tuple[inspect.Parameter, ...]:
    try:
        return tuple(inspect.signature(function).parameters.values())
    except ValueError:
        return ()
