"""Programs of calls: how they run, how a failure is judged, made smaller and shown."""

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
"""What other modules add to the names of a script."""
_VARIABLE = re.compile(r"\bv\d+\b")


@dataclass(frozen=True)
class Statement:
    """A call, whose result has a name."""

    name: str
    what: str
    """The public name that is called."""
    head: str
    arguments: tuple[tuple[str, str], ...] | None = ()
    """Keywords (empty if there is none) and texts; None if nothing is called."""

    @property
    def text(self) -> str:
        """As Python has it."""
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
    """What went wrong, and the statements up to there."""

    kind: str
    what: str
    text: str
    program: list[Statement] = field(default_factory=list)

    @property
    def signature(self) -> tuple[str, str]:
        """What makes two failures the same one."""
        return self.kind, self.what

    @property
    def script(self) -> str:
        """A program that shows it."""
        lines = [f"{one.name} = {one.text}" for one in self.program]
        more = "".join(f"import {name}, samedeal.{name}\n" for name in MORE)
        return f"# {self.kind}: {self.text}\n{IMPORTS}{more}folder = h.Folder()\n" + "\n".join(lines) + "\n"


class Limits:
    """How long a call may take: a second on a machine like the one that this was written on."""

    def __init__(self) -> None:
        """Measures the machine."""
        started = time.thread_time()
        total = 0
        for number in range(2_000_000):
            total += number & 3
        self.seconds = max(1.0, (time.thread_time() - started) / 0.12)
        """Processor time of a call without a result of its own size."""
        self.element = 200e-9 * self.seconds
        """Processor time of a number in the result."""


class Run:
    """One program: its results, so far."""

    def __init__(self, limits: Limits, mark: Callable[[str], None]) -> None:
        """`mark` is told each statement before it runs."""
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
        """Runs a statement; what is wrong with how it ended. If `watched`, a failure may not change any object."""
        self.statements.append(statement)
        self._mark(f"{statement.name} = {statement.text}")
        touched = [self.values[name] for name in statement.needs if name in self.values]
        # Every answer is as much work as a call: it is asked of calls that can be expected to fail.
        before = [laws.control(value) for value in touched] if watched else None
        code = compile(statement.text, "<fuzz>", "eval")
        error: BaseException | None = None
        value: Any = None
        started = time.perf_counter()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                # Those of the package are for the caller.
                warnings.simplefilter("ignore", UserWarning)
                value = eval(code, self.values)
        except Exception as caught:
            error = caught
        spent = time.perf_counter() - started
        if spent > self.slowest[0]:
            # The machine may have much else to do. To ask for the processor time costs more than most calls.
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
        if spent > self._limits.seconds + self._limits.element * laws.weight(value):
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
            # The arguments themselves, Python's own binding of them, and what has no such operation.
            return None
        if laws.documented(what, error):
            return None
        place = f"{Path(inside[-1].filename).name}:{inside[-1].name}" if inside else "outside"
        kind = f"{type(error).__name__} in {place}"
        told = "".join(traceback.format_exception_only(type(error), error)).strip()
        return Failure(kind, what, f"{statement.text[:200]}: {told[:400]}")


def _of_message(what: str, error: samedeal.SamedealError) -> Failure | None:
    """Whether an error says which value is wrong, and what is allowed."""
    told = str(error)
    good = (
        all(isinstance(part, str) for part in (error.field, error.value, error.allowed))
        and error.field
        and error.allowed
        # The name of an order is told as the order.
        and (error.field in told or error.path == "order.name")
        and len(told) < 3000
        and type(pickle.loads(pickle.dumps(error))) is type(error)
    )
    return None if good else Failure("message", what, f"{type(error).__name__}: {told!r}"[:400])


def _again(statements: list[Statement], wanted: tuple[str, str], limits: Limits) -> Failure | None:
    """The same failure once more, if it comes."""
    run = Run(limits, lambda _: None)
    for statement in statements:
        if any(name not in run.values for name in statement.needs):
            return None
        failure = run.step(statement)
        if failure is not None:
            return failure if failure.signature == wanted else None
    return None


def shrink(failure: Failure, limits: Limits, seconds: float = 5) -> Failure:
    """The same failure with fewer statements and simpler arguments."""
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
