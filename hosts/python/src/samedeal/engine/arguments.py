"""Checks that arguments fit the types of the interface. The component checks everything else."""

from __future__ import annotations

import operator
import os
import sys
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from ..generated.limits import MAX_TEXT
from .errors import OutOfMemoryError, OutOfRangeError, SamedealError, UnknownNameError, WrongTypeError

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

N = TypeVar("N", bound=str)
T = TypeVar("T")
U32_MAX = 2**32 - 1
U64_MAX = 2**64 - 1
MAX_EXACT = 2**53 - 1
"""The largest count, index and position of the interface."""
MILLION = 10**6
"""Ratios are whole numbers in the interface, in parts per million."""


class Width(NamedTuple):
    """The integers that fit the type of the interface (`least` to `most`), and the range that error messages name."""

    least: int
    most: int
    allowed: str
    facts: Mapping[str, tuple[str, ...]] | None = None


def between(least: int, most: int) -> tuple[str, Mapping[str, tuple[str, ...]]]:
    """A range in words and as facts."""
    return f"{least} to {most}", {"min": (str(least),), "max": (str(most),)}


def up_to(most: int) -> tuple[str, Mapping[str, tuple[str, ...]]]:
    """An upper bound in words and as a fact."""
    return f"up to {most}", {"max": (str(most),)}


COUNT = Width(0, U64_MAX, *between(0, MAX_EXACT))
COUNT_FROM_1 = Width(0, U64_MAX, *between(1, MAX_EXACT))
U64 = Width(0, U64_MAX, *between(0, U64_MAX))
S64 = Width(-(2**63), 2**63 - 1, *between(-(2**63), 2**63 - 1))
SEED = Width(-(2**63), U64_MAX, *between(-(2**63), U64_MAX))
MEMORY = Width(0, 2**63 - 1, f"up to {2**31} bytes")
U32 = Width(0, U32_MAX, *between(0, U32_MAX))
U32_FROM_1 = Width(0, U32_MAX, *between(1, U32_MAX))


def whole(field: str, value: Any) -> int:
    """`value` as an `int`, if it is a whole number (NumPy's included); a bool is not."""
    if type(value) is int:
        return value
    try:
        # Refused although they have an `__index__`: a tensor of one bool, and a number that is masked out.
        if isinstance(value, bool) or str(getattr(value, "dtype", "")).endswith("bool") or is_masked(value):
            raise TypeError
        return operator.index(value)
    except TypeError:
        hint = ", such as len(dataset)" if field == "samples" else ""
        raise WrongTypeError(field, described(value), f"a whole number{hint}") from None


def integer(field: str, value: Any, width: Width) -> int:
    """`value` as an `int`, if it is in the range of this width."""
    number = whole(field, value)
    if width.least <= number <= width.most:
        return number
    raise OutOfRangeError(field, shown(number), width.allowed, width.facts)


def run(start: Any, stop: Any, count: int, name: str = "stop") -> tuple[int, int]:
    """`start` and `stop` of a run within `count` items, checked; by default the run goes up to the end.

    `name` is the name of the parameter `stop`.
    """
    first = integer("start", start, Width(0, count, f"0 to {count}"))
    last = count if stop is None else integer(name, stop, Width(first, count, f"{first} to {count}"))
    return first, last


class Beyond(int):
    """The largest number of a type, in place of a number `given` that does not fit the type. See `asked`."""

    field: str
    given: int
    width: Width


def u32(field: str, value: Any) -> int:
    """`value` as an `int`, if it is 0 to 2**32 - 1; a `Beyond` for any other whole number, also a negative one."""
    if type(value) is int and 0 <= value <= U32_MAX:
        return value
    return _within(field, value, U32)


def u53(field: str, value: Any) -> int:
    """`value` as a count, an index or a position. The component refuses numbers above 2**53 - 1."""
    if type(value) is int and 0 <= value <= MAX_EXACT:
        return value
    return _within(field, value, COUNT)


def _within(field: str, value: Any, width: Width) -> int:
    number = whole(field, value)
    if width.least <= number <= width.most:
        return number
    stands_in = Beyond(width.most)
    stands_in.field, stands_in.given, stands_in.width = field, number, width
    return stands_in


def u64(field: str, value: Any) -> int:
    """`value` as an `int`, for a parameter that allows all of 0 to 2**64 - 1."""
    return value if type(value) is int and 0 <= value <= U64_MAX else integer(field, value, U64)


def asked(ask: Callable[..., T], arguments: Sequence[Any]) -> T:
    """The answer of `ask`. If an argument is a `Beyond`, raises the failure of the component for numbers out of range.

    To get this failure, `ask` is called with the largest number of the type and, if that is allowed, with 0. If both
    are allowed, the failure has the range of the type.
    """
    beyond = [each for each in arguments if type(each) is Beyond]
    if not beyond:
        return ask(*arguments)
    for given in (arguments, [0 if type(each) is Beyond else each for each in arguments]):
        try:
            ask(*given)
        except OutOfRangeError as error:
            for each in beyond:
                if each.field == error.field:
                    raise OutOfRangeError(error.field, shown(each.given), error.allowed, error.facts) from None
            raise
    first = beyond[0]
    raise OutOfRangeError(first.field, shown(first.given), first.width.allowed, first.width.facts)


def seed(value: Any) -> int:
    """A seed as torch takes it: a seed n from 2**63 on means n - 2**64."""
    number = integer("seed", value, SEED)
    return number - 2**64 if number >= 2**63 else number


def is_masked(value: Any) -> bool:
    """Whether `value` is a masked array of NumPy with masked values, which a plain array would show."""
    masked = sys.modules.get("numpy.ma")
    return masked is not None and isinstance(value, masked.MaskedArray) and bool(masked.is_masked(value))


def one_of(field: str, value: Any, count: int) -> int:
    """`value` as an index below `count`."""
    return integer(field, value, Width(0, count - 1, below(count), between(0, count - 1)[1] if count else None))


def below(count: int) -> str:
    """The text for the range of indices below `count`, as the component writes it."""
    return f"0 to {count - 1}" if count else "none, there are none"


def u64s(field: str, values: Any, width: Width) -> NDArray[np.uint64]:
    """`values` as a new read-only array, if they are whole numbers in the range of this width."""
    return _numbers(field, values, width, "uint64")


def u53s(field: str, values: Any) -> NDArray[np.uint64]:
    """`values` as counts, indices or positions. The component refuses numbers above 2**53 - 1."""
    return u64s(field, values, COUNT)


def u32s(
    field: str, values: Any, width: Width, place: Callable[[int], str] = "at index {}".format
) -> NDArray[np.uint32]:
    """`values` as numbers of 32 bits. `place` makes words for a failure from the index of the wrong number."""
    return _numbers(field, values, width, "uint32", place)


_MOST = 2**32
"""The most values of an array or a list. A NumPy array with strides of 0 can claim more without memory for them."""
_MOST_OF_UNKNOWN = 2**25
"""The most values of an iterable without a length, which may have no end."""


def _numbers(
    field: str, values: Any, width: Width, dtype: str, place: Callable[[int], str] = "at index {}".format
) -> NDArray[Any]:
    import numpy

    allowed = "a list of whole numbers"
    given: Any
    if hasattr(values, "__array__"):
        given = array(field, values, allowed)
        check_size(field, given)
        ends = (int(given.argmin()), int(given.argmax())) if len(given) else ()
    else:
        given = items(field, values, allowed)
        if set(map(type, given)) - {int}:
            given = [_placed(field, item, index, place) for index, item in enumerate(given)]
        ends = (given.index(min(given)), given.index(max(given))) if given else ()
    for index in ends:
        if not width.least <= (end := int(given[index])) <= width.most:
            raise OutOfRangeError(field, _at(shown(end), place(index)), width.allowed, width.facts)
    try:
        own: NDArray[Any] = numpy.array(given, dtype=dtype)
    except MemoryError as error:
        raise OutOfMemoryError(field, f"{len(given)} numbers", "what fits into memory") from error
    own.flags.writeable = False
    return own


def array(field: str, values: Any, allowed: str, kinds: str = "iu") -> NDArray[Any]:
    """An array of NumPy, PyTorch, pandas or Arrow as one of NumPy, without a copy where possible.

    `kinds` are the kinds of its type that are allowed, as NumPy has them: whole numbers by default.
    """
    given = any_array(field, values, allowed)
    if given.ndim != 1 or given.dtype.kind not in kinds:
        raise WrongTypeError(field, f"<{given.dtype} array of shape {given.shape}>"[:64], allowed)
    return given


def any_array(field: str, values: Any, allowed: str) -> NDArray[Any]:
    """`values` as an array of any type and any number of dimensions, without masked values."""
    import numpy

    try:
        given: NDArray[Any] = numpy.asarray(values)
    except Exception as error:
        raise WrongTypeError(field, described(values), allowed) from error
    if is_masked(values):
        raise WrongTypeError(field, described(values), f"{allowed}, none of them masked")
    return given


def floats(field: str, values: Any) -> NDArray[np.float64]:
    """A list or an array of numbers as a new array of floats."""
    allowed = "a list of numbers"
    given = values if hasattr(values, "__array__") else items(field, values, allowed)
    return array(field, given, allowed, "iuf").astype("float64", order="C")


def _placed(field: str, item: Any, index: int, place: Callable[[int], str]) -> int:
    """An element of a list as an `int`; a failure says where it is."""
    try:
        return whole(field, item)
    except WrongTypeError as error:
        raise WrongTypeError(field, _at(error.value, place(index)), error.allowed) from None


def _at(value: str, place: str) -> str:
    """A value and where it is, in at most 64 characters."""
    return f"{value[: 61 - len(place)]} ({place})"


def indices(values: NDArray[np.int64]) -> NDArray[np.int64]:
    """Sample indices as users get them: an array whose elements are `int`."""
    from .indices import Indices

    return values.view(Indices)


def ragged(field: str, lists: Any, width: Width) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """Lists of whole numbers as two arrays: the bounds of each list, and the numbers of all lists end to end."""
    import numpy

    allowed = "a list of lists of whole numbers"
    own = [items(field, part, allowed, Set) for part in items(field, lists, allowed)]
    ends = numpy.cumsum([0, *map(len, own)])
    if ends[-1] > U32_MAX:
        raise OutOfRangeError(field, f"{ends[-1]} numbers", f"up to {U32_MAX}")

    def place(index: int) -> str:
        which = bisect_right(ends, index) - 1
        return f"at index {index - int(ends[which])} of list {which}"

    return ends.astype(numpy.uint32), u32s(field, list(chain.from_iterable(own)), width, place)


def items(field: str, values: Any, allowed: str, *kinds: Any) -> list[Any]:
    """The items of a list of any kind. Texts, sets and mappings are refused, except those of the types `kinds`."""
    if hasattr(values, "tolist") and not is_class(values):
        check_size(field, values)
        values = values.tolist()
    unordered = isinstance(values, (str, bytes, bytearray, Mapping, Set)) and not isinstance(values, kinds)
    if unordered or not isinstance(values, Iterable):
        raise WrongTypeError(field, described(values), allowed)
    return listed(field, values, allowed)


def length(field: str, value: Any, allowed: str) -> int:
    """The length of an object: an error for a class, and for a length that is negative or too large."""
    try:
        return len(value)
    except (TypeError, ValueError, OverflowError) as error:
        raise WrongTypeError(field, described(value), allowed) from error


def is_class(value: Any) -> bool:
    """Whether `value` is a class, whose attributes are those of its objects, but cannot be called as theirs."""
    return isinstance(value, type)


def listed(field: str, values: Iterable[Any], allowed: str = "a list") -> list[Any]:
    """The items of an iterable. Unlike `list`, this does not call `len`, which may give a wrong number."""
    check_size(field, values)
    try:
        given = iter(values)
    except TypeError as error:
        # An array without dimensions.
        raise WrongTypeError(field, described(values), allowed) from error
    most = _MOST if hasattr(values, "__len__") else _MOST_OF_UNKNOWN
    found = list(islice(given, most + 1))
    if len(found) > most:
        remedy = f"up to {most} of them where there is no length; for more, a list or an array"
        raise OutOfMemoryError(field, f"more than {most} values", remedy)
    return found


def plain(field: str, values: Any) -> Any:
    """The items of an array of NumPy's or Arrow's kind, as values of Python; anything else as it is."""
    for name in ("tolist", "to_pylist"):
        if hasattr(values, name) and not is_class(values):
            check_size(field, values)
            return getattr(values, name)()
    return values


def check_size(field: str, values: Any) -> None:
    """Raises if an array of any kind claims to have more than `_MOST` values."""
    size = getattr(values, "size", 0)
    if isinstance(size, int) and size > _MOST:
        raise OutOfMemoryError(field, f"{size} values", "what fits into memory")


FEW = 100
"""The most items that `repr` and tables show one by one; the most keys of a dictionary that `elsewhere` looks at."""


def is_boolean(value: Any) -> bool:
    """Whether `value` is True or False (NumPy's included)."""
    return value is True or value is False or (type(value).__module__, type(value).__name__) in _NUMPY_BOOLEANS


_NUMPY_BOOLEANS = {("numpy", "bool"), ("numpy", "bool_")}


def boolean(field: str, value: Any) -> bool:
    """`value` as a `bool`, if it is one."""
    if value is True or value is False:
        return value
    if is_boolean(value):
        return bool(value)
    raise WrongTypeError(field, described(value), "True or False")


def name(field: str, value: Any) -> str:
    """`value`, if it is a string, cut to 65 characters, which is longer than any known name."""
    if not isinstance(value, str):
        raise WrongTypeError(field, described(value), "a name")
    return value[:65].encode("utf-8", "backslashreplace").decode()


def label(field: str, value: Any) -> str:
    """`value`, if it is a string: a name that users choose, which is not cut."""
    if not isinstance(value, str):
        raise WrongTypeError(field, described(value), "a name")
    return value


def encoded(field: str, text: str) -> bytes:
    """`text` in UTF-8. Refuses lone surrogates: if they were replaced, different texts would become equal."""
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        allowed = "text that UTF-8 can encode: no lone surrogates"
        raise OutOfRangeError(field, ascii(text)[:64], allowed) from error


def pickles(field: str, value: object, shown: str, allowed: str) -> None:
    """Refuses a value that cannot be pickled, before it has to be sent to a new process.

    Raises:
        WrongTypeError: The value cannot be pickled.
    """
    if _Nowhere.in_use:
        # The value is part of one that is being tried.
        return
    import copyreg
    import pickle
    from multiprocessing.reduction import ForkingPickler

    table = ForkingPickler(_Nowhere()).dispatch_table
    plain = ("builtins", "functools")
    # Objects such as sockets: only multiprocessing can send them, and to pickle them here would open their files twice.
    sendable = {kind for kind in table.keys() - copyreg.dispatch_table.keys() if kind.__module__ not in plain}

    class Probe(pickle.Pickler):
        """Pickles without the contents of arrays, which pickle, and of what only a new process can be sent."""

        dispatch_table = table

        def reducer_override(self, inner: Any) -> Any:
            kind = type(inner)
            of_processes = kind in sendable or kind.__module__.startswith(("multiprocessing.", "_multiprocessing"))
            return (int, ()) if of_processes or hasattr(kind, "__array__") else NotImplemented

    failed: Exception | None = None
    # If the value cannot be pickled, the objects within it are tried by themselves: their errors name the parameter.
    for alone in (True, False):
        _Nowhere.in_use = alone
        try:
            Probe(_Nowhere()).dump(value)
            return
        except SamedealError:
            raise
        except (AttributeError, TypeError, pickle.PicklingError) as error:
            failed = error
        finally:
            _Nowhere.in_use = False
    raise WrongTypeError(field, shown, allowed) from failed


class _Nowhere:
    """A file whose contents are not stored."""

    in_use = False
    """Whether a whole value is being tried. Then the objects within it are not tried by themselves."""

    def write(self, data: Any) -> int:
        """Returns the number of bytes."""
        return len(data)


def sent(field: str, value: object, what: str) -> None:
    """Refuses a value that cannot be pickled, if a process that is not forked is being started, such as a worker.

    Called when an object of this package is pickled. Without this, the error of `pickle` does not name the parameter.

    Args:
        field: The parameter.
        value: Its value.
        what: What the value has to be, such as "a function".

    Raises:
        WrongTypeError: The value cannot be pickled.
    """
    from multiprocessing.context import get_spawning_popen

    if get_spawning_popen() is not None:
        allowed = (
            f"{what} that pickles, as workers start with spawn or forkserver (the default from Python 3.14): functions "
            "and classes at the top level of a module, or functools.partial of them, and no lambda; or pass "
            'multiprocessing_context="fork" to the DataLoader, where the system has it'
        )
        pickles(field, value, described(value), allowed)


def crossing(field: str, value: Any) -> str:
    """A label as it is passed to the component: characters that UTF-8 cannot encode are escaped."""
    return label(field, value).encode("utf-8", "backslashreplace").decode()


STATE_KEY = "samedeal"
"""The key under which `state_dict()` stores the state."""
TAKEN_BY = "taken_by"
"""The key, beside `STATE_KEY`, of facts about the pass in which the state was taken: the number of ranks, the batch
size if `Resumable` counts batches, and the positions that were consumed before. No deal depends on them: programs that
explain a checkpoint show them.
"""


def state(value: Any) -> str:
    """The text of a state, from a string or from a dictionary of `state_dict()`."""
    if isinstance(value, Mapping) and isinstance(text := value.get(STATE_KEY), str):
        value = text
    if not isinstance(value, str):
        raise WrongTypeError("state", described(value), f"the text that `state` gave{elsewhere(value)}")
    return document("state", value)


def document(field: str, value: str) -> str:
    """A text of JSON as it is passed to the component: UTF-8 of at most `MAX_TEXT` bytes, others escaped."""
    encoded = value.encode("utf-8", "backslashreplace")
    if len(encoded) > MAX_TEXT:
        raise OutOfRangeError(field, f"of {len(encoded)} bytes", *up_to(MAX_TEXT))
    return encoded.decode()


def elsewhere(value: Any) -> str:
    """Words for an error: the keys under which a larger checkpoint has a state; empty if it has no state."""
    level: list[tuple[str, Any]] = [("", value)] if isinstance(value, Mapping) else []
    # Only four levels, since a dictionary may contain itself, or very many others.
    for _ in range(4):
        below = (
            (f"{keys}[{key!r}]", inner)
            for keys, outer in level
            for key, inner in islice(outer.items(), FEW)
            if isinstance(key, (str, int)) and isinstance(inner, Mapping)
        )
        level = list(islice(below, FEW**2))
        for keys, inner in level:
            if isinstance(inner.get(STATE_KEY), str):
                return f"; there is one under {keys}: pass that"
    return ""


def variable(field: str, value: Any) -> str:
    """The value of an environment variable, cut to 65 characters, which is more than any number has."""
    if not isinstance(value, str):
        raise WrongTypeError(field, described(value), "a string")
    try:
        encoded = value.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        encoded = value.encode("utf-8", "replace")
    return encoded.decode("utf-8", "replace")[:65]


def enum(field: str, value: Any, names: Sequence[N]) -> N:
    """`value`, if it is one of the names of an enum of the interface."""
    given = name(field, value)
    if given in names:
        return names[names.index(given)]
    raise UnknownNameError(field, given[:64], ", ".join(names), {"known": tuple(names)})


def path(value: Any, what: str) -> Path:
    """`value` as a path. Raises an error if no file or folder can have it."""
    from pathlib import Path

    if not isinstance(value, (str, os.PathLike)):
        raise WrongTypeError("path", described(value), f"the path of a {what}")
    try:
        is_path = b"\0" not in os.fsencode(value)
    except UnicodeEncodeError:
        is_path = False
    if not is_path:
        raise OutOfRangeError("path", described(os.fspath(value)), f"a path that a {what} can have")
    return Path(value)


def progress(value: Callable[[int, int], object] | None) -> Callable[[int, int], object] | None:
    """The function that is called with the progress of a plan, checked."""
    if value is not None and not callable(value):
        raise WrongTypeError("progress", described(value), "a function of two numbers")
    return value


def shown(value: Any) -> str:
    """A value as a failure shows it, in at most 64 characters. Never raises."""
    if isinstance(value, int) and abs(value) >= 10**_DIGITS:
        return _abridged(value)
    try:
        text = value if isinstance(value, str) else repr(value)
    except Exception:
        # A broken __repr__.
        text = f"<{type(value).__name__}>"
    return text[:64]


_DIGITS = 24
"""The most digits of an integer that is shown in full. Integers of 64 bits have up to 20 digits."""


def _abridged(value: int) -> str:
    """An integer of many digits, abridged: its first digits, and the number of digits."""
    try:
        digits, kind = int.__repr__(abs(value)), "digits"
    except ValueError:
        # Python refuses to write too many decimal digits.
        digits, kind = hex(abs(value)), "hexadecimal digits"
    count = len(digits.removeprefix("0x"))
    return f"{'-' if value < 0 else ''}{digits[:12]}... ({count} {kind})"


def described(value: Any) -> str:
    """A value of the wrong type as a failure shows it: numbers, strings in quotes, and otherwise only the type."""
    if value is None or isinstance(value, (int, float, complex)):
        return shown(value)
    if isinstance(value, str):
        # The methods of `str`, since a subclass may override them.
        return str.__repr__(str.__getitem__(value, slice(64)))[:64]
    return f"<{type(value).__name__[:62]}>"
