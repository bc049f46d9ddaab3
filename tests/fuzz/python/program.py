"""Programs of calls: how they are run, and how failures are judged, shrunk and shown."""

from __future__ import annotations

import copy
import math
import pickle
import re
import time
import traceback
import warnings
import weakref
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import laws
import numpy as np
import planted
import pyarrow as pa
import samedeal
import samedeal.collate
import samedeal.ledger
import samedeal.parquet

PACKAGE = str(Path(samedeal.__file__).parent)
IMPORTS = """\
import copy, math, pickle, weakref
from decimal import Decimal
from fractions import Fraction
import numpy as np, pyarrow as pa
import samedeal, samedeal.collate, samedeal.ledger, samedeal.parquet
import planted as h, laws  # of tests/fuzz/python
"""
MORE: dict[str, Any] = {}
"""Modules that scripts import besides the usual ones, by their names."""
_VARIABLE = re.compile(r"\bv\d+\b")


@dataclass(frozen=True)
class Statement:
    """A call, whose result has a name."""

    name: str
    what: str
    """The public name that is called."""
    head: str
    arguments: tuple[tuple[str, str], ...] | None = ()
    """Pairs of a keyword (empty if there is none) and a text; None if nothing is called."""

    @property
    def text(self) -> str:
        """The statement as Python code."""
        if self.arguments is None:
            return self.head
        given = (f"{keyword}={text}" if keyword else text for keyword, text in self.arguments)
        return f"{self.head}({', '.join(given)})"

    @property
    def needs(self) -> list[str]:
        """The names of earlier results."""
        return _VARIABLE.findall(self.text)


@dataclass
class Failure:
    """A failure, and the statements up to it."""

    kind: str
    what: str
    text: str
    program: list[Statement] = field(default_factory=list)

    @property
    def signature(self) -> tuple[str, str]:
        """The kind and the place, by which two failures count as the same."""
        return self.kind, self.what

    @property
    def script(self) -> str:
        """A script that reproduces the failure."""
        lines = [f"{one.name} = {one.text}" for one in self.program]
        more = "".join(f"import {name}, samedeal.{name}\n" for name in MORE)
        return f"# {self.kind}: {self.text}\n{IMPORTS}{more}folder = h.Folder()\n" + "\n".join(lines) + "\n"


class Limits:
    """The time that a call may take: a second on the machine on which the limits were set."""

    def __init__(self) -> None:
        """Measures the machine."""
        started = time.thread_time()
        total = 0
        for number in range(2_000_000):
            total += number & 3
        self.seconds = max(1.0, (time.thread_time() - started) / 0.12)
        """Seconds of processor time for a call, apart from the size of its result."""
        self.element = 200e-9 * self.seconds
        """Seconds of processor time for each number in the result."""


class Run:
    """One program, with its results so far."""

    def __init__(self, limits: Limits, mark: Callable[[str], None]) -> None:
        """Takes `mark`, which is called with each statement before it runs."""
        self.statements: list[Statement] = []
        self.slowest = (0.0, "")
        self.errors: dict[str, int] = {}
        self._limits, self._mark = limits, mark
        self._begun = time.thread_time()
        self.values: dict[str, Any] = {
            "h": planted,
            "laws": laws,
            "math": math,
            "np": np,
            "pa": pa,
            "samedeal": samedeal,
            "pickle": pickle,
            "copy": copy,
            "weakref": weakref,
            "Fraction": Fraction,
            "Decimal": Decimal,
            "folder": planted.Folder(),
            **MORE,
        }

    def step(self, statement: Statement, watched: bool = True) -> Failure | None:
        """Runs a statement; returns a failure if its outcome is wrong. With `watched`, it also checks that a failed
        call changes no object."""
        self.statements.append(statement)
        self._mark(f"{statement.name} = {statement.text}")
        touched = [self.values[name] for name in statement.needs if name in self.values]
        # Reading the control answers costs as much as a call, so they are only read around calls that probably fail.
        before = [laws.control(value) for value in touched] if watched else None
        code = compile(statement.text, "<fuzz>", "eval")
        error: BaseException | None = None
        value: Any = None
        started = time.perf_counter()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                # Warnings of the package are for its callers.
                warnings.simplefilter("ignore", UserWarning)
                value = eval(code, self.values)
        except Exception as caught:
            error = caught
        spent = time.perf_counter() - started
        if spent > self.slowest[0]:
            # The machine may be busy, so the processor time counts. To read it costs more than most calls, so it is
            # read only for a call that would be the slowest so far.
            spent = min(spent, time.thread_time() - self._begun)
            self.slowest = max(self.slowest, (spent, statement.text[:300]))
        kind = type(error).__name__ if error is not None else "none"
        self.errors[kind] = self.errors.get(kind, 0) + 1
        found = self._judge(statement, value, error, spent)
        if error is not None:
            if found is None and before is not None and [laws.control(one) for one in touched] != before:
                found = Failure("changed by a failure", statement.what, f"{statement.text[:200]}: {error}"[:400])
        else:
            self.values[statement.name] = value
        if found is not None:
            found.program = list(self.statements)
        return found

    def _judge(self, statement: Statement, value: Any, error: BaseException | None, spent: float) -> Failure | None:
        what = statement.what
        if spent > (most := self._limits.seconds) and spent > most + self._limits.element * laws.weight(value):
            return Failure("slow", what, f"{statement.text[:200]}: {spent:.2f} s of processor time")
        if error is None or isinstance(error, planted.PlantedError):
            return None
        if isinstance(error, laws.BrokenError):
            return Failure(f"law {error.args[0]}", what, f"{error}"[:600])
        if isinstance(error, samedeal.SamedealError):
            return _of_message(what, error)
        frames = traceback.extract_tb(error.__traceback__)
        inside = [frame for frame in frames if frame.filename.startswith(PACKAGE)]
        if not inside and (statement.arguments or isinstance(error, (TypeError, AttributeError))):
            # An error of the arguments themselves, of Python's binding of them, or of an operation that the object does
            # not have.
            return None
        if laws.documented(what, error):
            return None
        place = f"{Path(inside[-1].filename).name}:{inside[-1].name}" if inside else "outside"
        kind = f"{type(error).__name__} in {place}"
        told = "".join(traceback.format_exception_only(type(error), error)).strip()
        return Failure(kind, what, f"{statement.text[:200]}: {told[:400]}")


def _of_message(what: str, error: samedeal.SamedealError) -> Failure | None:
    """Checks that an error names the wrong value, and the allowed ones."""
    told = str(error)
    good = (
        all(isinstance(part, str) for part in (error.field, error.value, error.allowed))
        and error.field
        and error.allowed
        # For a wrong name of an order, the error names the order and not the name.
        and (error.field in told or error.path == "order.name")
        and len(told) < 3000
        and type(pickle.loads(pickle.dumps(error))) is type(error)
    )
    return None if good else Failure("message", what, f"{type(error).__name__}: {told!r}"[:400])


def _again(statements: list[Statement], wanted: tuple[str, str], limits: Limits) -> Failure | None:
    """Repeats a program; returns the same failure, if it comes again."""
    run = Run(limits, lambda _: None)
    for statement in statements:
        if any(name not in run.values for name in statement.needs):
            return None
        failure = run.step(statement)
        if failure is not None:
            return failure if failure.signature == wanted else None
    return None


def shrink(failure: Failure, limits: Limits, seconds: float = 5) -> Failure:
    """Shrinks a failure: an equal failure with fewer statements and simpler arguments."""
    end = time.monotonic() + seconds
    best = failure

    def attempt(statements: list[Statement]) -> bool:
        nonlocal best
        if time.monotonic() > end:
            return False
        found = _again(statements, failure.signature, limits)
        if found is not None:
            best = found
        return found is not None

    changed = True
    while changed and time.monotonic() < end:
        changed = False
        for at in range(len(best.program) - 2, -1, -1):
            if at < len(best.program) - 1:
                changed |= attempt(best.program[:at] + best.program[at + 1 :])
        for at in range(len(best.program) - 1, -1, -1):
            for other in _simpler(best.program[at]):
                if at < len(best.program) and attempt([*best.program[:at], other, *best.program[at + 1 :]]):
                    changed = True
                    break
    return best


def _simpler(statement: Statement) -> list[Statement]:
    if not statement.arguments:
        return []
    found = []
    for at, (keyword, text) in enumerate(statement.arguments):
        rest = (*statement.arguments[:at], *statement.arguments[at + 1 :])
        if keyword or at == len(statement.arguments) - 1:
            found.append(replace(statement, arguments=rest))
        for other in ("0", "1", "2", "[]", "[3]", "''"):
            if len(other) < len(text):
                found.append(
                    replace(
                        statement,
                        arguments=(*statement.arguments[:at], (keyword, other), *statement.arguments[at + 1 :]),
                    )
                )
    return found
