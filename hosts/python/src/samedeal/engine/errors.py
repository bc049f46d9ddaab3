"""The exceptions of this package: one class for each kind of failure."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


class SamedealError(ValueError):
    """A value was wrong, or there was no memory for a call. The object that raised the error still works.

    Attributes:
        kind: "out-of-range", "unknown-name", "unknown-member", "out-of-memory", "wrong-type", "missing" or
            "contradiction". A failure of a kind that only a later component has is a `SamedealError` and none of its
            subclasses.
        field: The name of the parameter or of the member of a recipe at fault, such as "batch_size".
        path: Where a member lies in its recipe or state, such as "deal.world_size" or "order.sources[0].weight"; its
            last name is `field`. For values outside of recipes and states, it is `field`.
        value: The value that was given, as text.
        allowed: What is allowed in its place, for people.
        facts: What is allowed, for programs, as far as it is a range, names or one value: texts by the names "min",
            "max", "known" and "needs". `min`, `max`, `known` and `needs` read them.
    """

    kind: str = "out-of-range"

    def __init__(
        self,
        field: str,
        value: str,
        allowed: str,
        facts: Mapping[str, tuple[str, ...]] | None = None,
        path: str | None = None,
    ) -> None:
        """Takes the field at fault, its value, what is allowed in its place, and where it lies."""
        # Puts the values into `args`, so that the exception can be pickled on its way back from a worker process.
        super().__init__(field, value, allowed)
        self.field = field
        self.path = field if path is None else path
        self.value = value
        self.allowed = allowed
        self.facts = dict(facts or {})

    @property
    def min(self) -> int | None:
        """The smallest number that is allowed, if the failure says it."""
        return next(map(int, self.facts.get("min", ())), None)

    @property
    def max(self) -> int | None:
        """The largest number that is allowed, if the failure says it."""
        return next(map(int, self.facts.get("max", ())), None)

    @property
    def known(self) -> tuple[str, ...]:
        """The names that are allowed, if the value has to be one of several names; otherwise empty."""
        return self.facts.get("known", ())

    @property
    def needs(self) -> str | None:
        """The only value that is allowed, if there is one."""
        return next(iter(self.facts.get("needs", ())), None)

    @property
    def _spoken(self) -> str:
        """The path as a caller knows it, without the section: `world_size`. The path `order.name` is `order`."""
        section, _, within = self.path.partition(".")
        return section if within in ("", "name") else within

    def __str__(self) -> str:
        """The failure in one line."""
        return f"{self._spoken} is {self.value}; allowed: {self.allowed}"


class OutOfRangeError(SamedealError):
    """A number is outside its range."""


class IndexOutOfRangeError(OutOfRangeError, IndexError):
    """An index is beyond either end, as in `sampler[i]`."""


class UnknownNameError(SamedealError):
    """A name is not known to this version."""

    kind = "unknown-name"

    def __str__(self) -> str:
        """The failure in one line, with the known names."""
        return f"{self._spoken} is {self.value!r}; known: {self.allowed}"


class UnknownMemberError(UnknownNameError):
    """An object of a recipe has a member that this version does not know."""

    kind = "unknown-member"

    def __str__(self) -> str:
        """The failure in one line, with the known members."""
        return f"{self._spoken} has no member {self.value!r}; known: {self.allowed}"


class WrongTypeError(SamedealError, TypeError):
    """A value is not of the type that its parameter takes: a fraction, a string, a bool for a number."""

    kind = "wrong-type"


class MissingError(SamedealError):
    """A required value was not given."""

    kind = "missing"

    def __str__(self) -> str:
        """The failure in one line, with what is needed."""
        return f"{self._spoken} is missing; needed: {self.allowed}"


class ContradictionError(SamedealError):
    """Values that are each allowed do not fit together."""

    kind = "contradiction"


class MovedError(ContradictionError, RuntimeError):
    """A pass was continued although its sampler or dataset was moved to another epoch or state."""


class OutOfMemoryError(SamedealError, MemoryError):
    """There is no memory for a call."""

    kind = "out-of-memory"

    def __str__(self) -> str:
        """The failure in one line, with what would need less memory."""
        return f"no memory for {self._spoken} = {self.value}; allowed: {self.allowed}"


_BY_KIND: dict[str, type[SamedealError]] = {
    each.kind: each
    for each in (
        OutOfRangeError,
        UnknownNameError,
        UnknownMemberError,
        OutOfMemoryError,
        WrongTypeError,
        MissingError,
        ContradictionError,
    )
}


def raised(
    kind: str, field: str, path: str, value: str, allowed: str, facts: Iterable[tuple[str, str]]
) -> SamedealError:
    """The exception for a `failure` of the interface."""
    by_name: dict[str, tuple[str, ...]] = {}
    for name, fact in facts:
        by_name[name] = (*by_name.get(name, ()), fact)
    error = _BY_KIND.get(kind, SamedealError)(field, value, allowed, by_name, path)
    # Also set for a kind of a later component, which has no class here.
    error.kind = kind
    return error


for _each in (
    SamedealError,
    OutOfRangeError,
    IndexOutOfRangeError,
    UnknownNameError,
    UnknownMemberError,
    WrongTypeError,
    MissingError,
    ContradictionError,
    MovedError,
    OutOfMemoryError,
):
    # The module from which users import the exceptions, as tracebacks show it.
    _each.__module__ = "samedeal"
