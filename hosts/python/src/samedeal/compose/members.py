"""Parts of the description of an order: the members of a recipe, and the long lists beside them."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from operator import index
from typing import TYPE_CHECKING, Any

from .. import recipe as recipes
from ..engine import arguments as check
from ..engine.errors import MissingError, OutOfRangeError, UnknownNameError, WrongTypeError
from ..generated.limits import MAX_NUMBERS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Lists = Mapping[str, NDArray[np.uint64]]


def with_numbers(members: dict[str, Any], lists: dict[str, NDArray[np.uint64]], **numbers: Any) -> None:
    """Adds members that are lists of whole numbers. Long lists are added to `lists`, beside the text."""
    for name, given in numbers.items():
        own = check.u64s(name, given, check.COUNT)
        if len(own) > MAX_NUMBERS:
            lists[name] = own
        else:
            members[name] = own.tolist()


def counts(**options: Any) -> dict[str, int | str]:
    """The options that are not None, as members that are whole numbers."""
    given = ((name, value) for name, value in options.items() if value is not None)
    return {name: recipes.whole(name, value) for name, value in given}


def flags(**options: Any) -> dict[str, bool]:
    """The options that are not None, as members that are true or false."""
    return {name: check.boolean(name, value) for name, value in options.items() if value is not None}


def names(**options: Any) -> dict[str, str]:
    """The options that are not None, as members that are names."""
    return {name: check.name(name, value) for name, value in options.items() if value is not None}


def objects(field: str, values: Any, members: Sequence[str]) -> list[dict[str, int | str]]:
    """Tuples of whole numbers as objects with these members."""
    allowed = f"a list of ({', '.join(members)})"
    rows = []
    for row in check.items(field, values, allowed):
        numbers = check.items(field, row, allowed)
        if len(numbers) != len(members):
            raise WrongTypeError(field, f"one with {len(numbers)} numbers", allowed)
        own = zip(members, numbers, strict=True)
        rows.append({name: recipes.whole(name, value) for name, value in own})
    return rows


def entries(members: dict[str, Any], field: str, of: str, kind: type[Any]) -> list[dict[str, Any]]:
    """The objects in the list `field`, each with a member `of`. Checked, since users may have written them by hand."""
    found = members.get(field, [])
    if not isinstance(found, list) or not all(isinstance(one, dict) and isinstance(one.get(of), kind) for one in found):
        raise WrongTypeError(field, check.described(found), f"a list of objects, each with {of}")
    return [dict(one) for one in found]


def mapping(field: str, value: Any) -> Mapping[Any, Any]:
    """`value`, if it is a mapping."""
    if not isinstance(value, Mapping):
        raise WrongTypeError(field, check.described(value), "a dictionary, by the names of the sources")
    return value


def weight(value: Any, source: str, field: str = "weight") -> float | str:
    """The weight of a source; a failure names the source."""
    return recipes.weight(field, value, f"for the source {check.shown(source)!r}")


def weights(given: Any, known: Sequence[str]) -> list[Any]:
    """One weight for each source: a list in their order, or a mapping of their names."""
    if not isinstance(given, Mapping):
        values = given
        if hasattr(given, "__array__"):
            import numpy

            array = numpy.asarray(given)
            values = list(array) if array.dtype.kind == "f" and array.ndim == 1 else []
        else:
            given = values = check.items("weights", given, "a list of numbers")
        if not any(recipes.is_fraction(value) for value in values):
            whole: list[Any] = check.u64s("weights", given, check.COUNT).tolist()
            return whole
        # Weights without a source get numbers as names here; the core refuses them.
        names = itertools.chain(known, map(str, itertools.count(len(known))))
        return [weight(value, name, "weights") for value, name in zip(values, names, strict=False)]
    own = {check.crossing("source", name): weight(value, name) for name, value in given.items()}
    for name in own:
        if name not in known:
            allowed = ", ".join(known) or "no name, there are no sources"
            raise UnknownNameError("source", name[:64], allowed, {"known": tuple(known)})
    for name in known:
        if name not in own:
            allowed = f"a weight for each source, also for {check.shown(name)}: 0 leaves it out"
            raise MissingError("weight", "", allowed)
    return [own[name] for name in known]


def factors(given: Any) -> Any:
    """Factors in millionths, as recipes have them. Refuses a number that is no whole number of millionths."""
    numbers = check.items("factors", given, "a list of numbers")
    return [_millionths(number, place) for place, number in enumerate(numbers)]


def weights_of_samples(given: Any) -> Any:
    """Weights of samples, of which none is a float."""
    kind = getattr(getattr(given, "dtype", None), "kind", "")
    if not hasattr(given, "__array__"):
        given = check.items("weights", given, "a list of numbers")
        kind = "f" if any(isinstance(weight, float) for weight in given) else ""
    if kind == "f":
        allowed = "whole numbers: samedeal.whole_weights makes them of floats"
        raise WrongTypeError("weights", check.described(given), allowed)
    return given


def shares(given: Any) -> Any:
    """Factors of which only the proportions count: whole numbers."""
    from fractions import Fraction

    numbers = check.items("factors", given, "a list of numbers")
    for place, number in enumerate(numbers):
        if isinstance(number, (float, Fraction)):
            allowed = (
                "whole numbers, with samples: samedeal.whole_weights makes them of floats; the factor of class "
                f"{place} is none"
            )
            raise WrongTypeError("factors", check.described(number), allowed)
    return check.u64s("factors", numbers, check.COUNT)


def _millionths(number: Any, place: int) -> int:
    from fractions import Fraction

    allowed = (
        f"numbers of at most six decimals, from 0 to 4294.967295; this is the factor of class {place}. For smaller "
        "ones, and for any proportions, pass whole numbers and samples=..., the length of an epoch"
    )
    if hasattr(number, "__index__") and not isinstance(number, bool):
        try:
            number = index(number)
        except TypeError:
            raise WrongTypeError("factors", check.described(number), allowed) from None
    if isinstance(number, bool) or not isinstance(number, (int, float, Fraction)):
        raise WrongTypeError("factors", check.described(number), allowed)
    try:
        count = round(number * check.MILLION)
    except (OverflowError, ValueError):
        raise OutOfRangeError("factors", check.shown(number), allowed) from None
    # A float can seldom be exactly a number of millionths. So it is allowed if it is the float that is nearest to
    # `count` millionths.
    exact = count / check.MILLION == number if isinstance(number, float) else count == number * check.MILLION
    if not exact:
        raise OutOfRangeError("factors", check.shown(number), allowed)
    return count
