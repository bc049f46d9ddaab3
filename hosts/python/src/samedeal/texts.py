"""The kind of a text, the recipe after a state, the differences of two texts, and whole numbers in place of floats."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from . import recipe
from .engine import arguments as check
from .engine.core import Core
from .engine.errors import WrongTypeError
from .generated import texts
from .generated.texts import Difference, TextKind

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_MEMORY = 2**31
"""The memory limit of an instance. Texts have at most 2**24 bytes, and 10^8 weights fit."""


def inspect(text: str) -> TextKind:
    """The kind of a text: a recipe, a state, a log of a ledger or an index, and of which object. Its members decide.

    The values of the members are not checked.

    >>> import samedeal
    >>> samedeal.inspect(samedeal.Sampler(1000).state(10))
    TextKind(form='state', of='sampler')

    Raises:
        WrongTypeError: The text is no JSON object, or neither a recipe, a state, a log nor an index of batches.
        OutOfRangeError: The text has more than 2**24 bytes, or is of another version.
        UnknownNameError: The member `kind` of the text is no kind that is known.
    """
    if not isinstance(text, str):
        raise WrongTypeError("text", check.described(text), "a text")
    return texts.inspect(Core(_MEMORY), check.document("text", text))


def recipe_after(state: str | Mapping[str, Any], sections: Mapping[str, Any] | str | None = None) -> str:
    """The recipe of an object that continues after a state, if only the state is known.

    The recipe has the sections of the state, such as "order". It also has the sections that you pass as
    `sections`: sections that no state has, such as "deal". The recipe is not checked. Pass lists that the state has as
    a hash to `from_recipe`.

    >>> import samedeal
    >>> state = samedeal.Sampler(1000, seed=42, world_size=8).state(10)
    >>> recipe = samedeal.recipe_after(state, {"deal": {"world_size": 2}})
    >>> sampler = samedeal.Sampler.from_recipe(recipe, rank=1)
    >>> sampler.resume(state)
    >>> sampler.seed, sampler.consumed, len(sampler)
    (42, 80, 460)

    Raises:
        WrongTypeError: `state` is no state, or `sections` are no dictionary or JSON object.
        OutOfRangeError: `state` or `sections` has more than 2**24 bytes.
    """
    others = recipe.text({} if sections is None else sections, "sections")
    return texts.recipe_after(Core(_MEMORY), check.state(state), others)


def differences(one: str | Mapping[str, Any], other: str | Mapping[str, Any]) -> tuple[Difference, ...]:
    """The members that differ between two recipes, states, entries of a log, or dictionaries of JSON.

    First come the members of `one`, in its order, then members that only `other` has. Members that a recipe leaves out
    are compared by their defaults, unless the recipe cannot be read without lists beside it. `differences(text, {})`
    has all members.

    >>> import samedeal
    >>> one, other = (samedeal.Sampler(1000, seed=seed, world_size=4) for seed in (42, 43))
    >>> samedeal.differences(one.recipe, other.recipe)
    (Difference(path='order.seed', one='42', other='43', decides='order'),)

    Raises:
        WrongTypeError: `one` or `other` is no JSON object or dictionary of JSON.
        ContradictionError: `one` or `other` has a member twice.
        OutOfRangeError: `one` or `other` has more than 2**24 bytes.
    """
    return tuple(texts.differences(Core(_MEMORY), recipe.text(one, "one"), recipe.text(other, "other")))


def whole_weights(weights: Any) -> NDArray[np.int64]:
    """Whole numbers in the proportions of weights that are floats: 7 and 3 for 0.7 and 0.3.

    Decimals with up to 15 digits after the point keep their proportions exactly, if they add up to less than 2**52
    without the point (0.7 and 0.25 are 70 and 25), and so do whole numbers. Others are rounded to about 2**-53 of their
    sum. Every language gets the same numbers. Use it for
    `weighted`, and for `balance` with a number of samples. (`WeightedRandomSampler` does.)

    Args:
        weights: Numbers of 0 or more: a list, an array of NumPy or a tensor of PyTorch.

    >>> import samedeal
    >>> samedeal.whole_weights([0.7, 0.25, 0]).tolist()
    [14, 5, 0]

    Raises:
        OutOfRangeError: A weight is negative, infinite or NaN, or is above 0 and would become 0.
        OutOfMemoryError: There are too many weights, more than 10^8.
        WrongTypeError: `weights` is no list of numbers.
    """
    bits = check.floats("weights", weights).view("uint64")
    return texts.whole_weights(Core(_MEMORY), bits)
