"""The class `Split`: parts for training, validation and test, or folds."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any, SupportsIndex, TypeVar

from .. import recipe as recipes
from ..engine import arguments as check
from ..engine.errors import (
    ContradictionError,
    MissingError,
    OutOfMemoryError,
    OutOfRangeError,
    UnknownNameError,
    WrongTypeError,
)
from ..engine.instance import Engine
from ..generated.limits import MAX_COUNT, MAX_PARTS
from ..generated.splits import SplitBase
from .binding import Parts, laid

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from ..compose.order import Weight

Self = TypeVar("Self", bound="Split")

_KEYS = 2**14
"""How many texts one call takes: fewer than ids, since each text is copied by itself, and may be long."""
_TEXTS = "a list of texts"


class Split(SplitBase):
    """Divides samples into parts: training, validation and test, or the folds of a cross-validation.

    A split puts every *id* into one part. An id is a sample index, or the number of a group whose samples have to stay
    together, such as a patient or an author. The key of a group may also be a text. The split is the same in every
    language, and needs no list of indices: its recipe is one line. A split never changes, can be pickled, and can be
    used from several threads. Every method raises a `samedeal.SamedealError`, which is a `ValueError`, if a value is
    not allowed.

    >>> from samedeal import Split
    >>> split = Split({"test": 1, "validation": 1, "training": 8}, seed=7)
    >>> counts = [len(split.indices(part, 10_000)) for part in split.parts]
    >>> [round(count, -2) for count in counts], sum(counts)
    ([1000, 1000, 8000], 10000)
    >>> more = split.indices("test", 20_000)     # the data got more: nothing changes its part
    >>> more[: counts[0]].tolist() == split.indices("test", 10_000).tolist()
    True
    """

    _engine: Engine[Parts, None]
    _resource, _place = Parts, type(None)

    def __init__(
        self,
        parts: Mapping[str, Weight] | None = None,
        *,
        sizes: Mapping[str, SupportsIndex] | None = None,
        seed: SupportsIndex | None = None,
        memory_limit: SupportsIndex = 2**31,
    ) -> None:
        """Give either `parts`, with a weight for each part, or `sizes`.

        - With weights, the part of an id follows from a hash of the seed and the id. Ids that are added later change
          nothing. The parts have about the shares that their weights say. If one part gets more weight, and the next
          part in the list as much less, the only ids that move are some of the next part: they move to the part with
          more weight. So list "test" first, then "validation", then "training": you can enlarge "validation" later, and
          no test sample gets into training.
        - With sizes, the ids are 0 to n - 1, where n is the sum of the sizes, and each part has exactly as many as its
          size. If data are added, make a new split of the new ids. `among` makes a split with these sizes for other
          ids, or for texts.

        Args:
            parts: The weight of each part, by its name, such as {"test": 1, "training": 9} or {"test": 0.1,
                "training": 0.9}.
            sizes: The number of samples of each part, by its name.
            seed: Seed of the split, -2**63 to 2**63 - 1; 0 by default.
            memory_limit: Bytes of memory that the engine may use.

        Raises:
            MissingError: There is no part.
            ContradictionError: Both `parts` and `sizes` are given.
            OutOfRangeError: A number is outside its range, all weights are 0, or a name is empty or longer than 256
                bytes.
            WrongTypeError: A value is not of the type that its parameter takes.

        >>> exact = Split(sizes={"validation": 30, "training": 70}, seed=7)
        >>> [len(exact.indices(part)) for part in exact.parts]
        [30, 70]
        """
        if parts is not None and sizes is not None:
            raise ContradictionError("sizes", "there together with parts", "weights in parts, or sizes")
        of, field, given = ("parts", "weight", parts) if sizes is None else ("sizes", "size", sizes)
        if not isinstance(given, Mapping) and given is not None:
            raise WrongTypeError(of, check.described(given), f"a dictionary: a {field} for the name of each part")
        entries = [
            {"name": check.crossing("part", name), field: _number(field, name, number)}
            for name, number in (given or {}).items()
        ]
        section = {**recipes.given({"seed": seed}), "parts": entries}
        self._begin(recipes.read({"split": section}), memory_limit)

    @classmethod
    def folds(
        cls: type[Self],
        folds: SupportsIndex,
        *,
        seed: SupportsIndex | None = None,
        memory_limit: SupportsIndex = 2**31,
    ) -> Self:
        """The folds of a cross-validation: parts "0", "1" and so on, of equal weights.

        Validate on `indices(k, samples)`, and train on `others(k, samples)`. The folds have about equal numbers of
        samples. To divide a part of another split into folds, use another seed: with the same seed, the folds of this
        part would not have equal numbers.

        Args:
            folds: How many folds there are, 1 to 2**16.
            seed: As for `Split`.
            memory_limit: As for `Split`.

        >>> folds = Split.folds(5, seed=1)
        >>> validation, training = folds.indices(2, 1000), folds.others(2, 1000)
        >>> sorted([*validation, *training]) == list(range(1000))
        True
        """
        count = check.integer("folds", folds, check.Width(1, MAX_PARTS, f"1 to {MAX_PARTS}"))
        return cls({str(number): 1 for number in range(count)}, seed=seed, memory_limit=memory_limit)

    def among(self: Self, keys: Iterable[str] | Iterable[SupportsIndex], rest: str = "rest") -> Self:
        """The split of which each part has exactly so many of these keys as its size in this split says.

        Use it to draw a sample of an exact size: by the key of each row, or of each group. Keys are texts or whole
        numbers, of which equal ones count once: all rows of a group are in one part. The order of the keys changes
        nothing. A larger part has the keys of the smaller one, if the parts before it stay the same. The new split
        has weights, so it has a part for every key, and no key changes its part if keys are added later. If you call
        `among` again with more keys, parts have their exact sizes again, and keys move to later parts only.

        Args:
            keys: A list, an array, a column of Arrow, or an iterator, which is read in pieces: the memory depends on
                the sizes, not on the number of keys.
            rest: The name of one more part, which has all other keys.

        Raises:
            OutOfRangeError: There are fewer different keys than the sizes together, a number is too large, a text has
                half of a surrogate pair, or the name is empty or longer than 256 bytes.
            ContradictionError: The parts have weights, or one of them has the name `rest`. Or the last key of a part
                and the next key are texts with the same id: this happens to one sample in a billion with 10**7 texts.
            WrongTypeError: `keys` is no list of texts or of whole numbers.

        >>> names = [f"{number}.jpg" for number in range(10_000)]
        >>> split = Split(sizes={"test": 100, "validation": 50}, seed=7).among(names, rest="training")
        >>> [len(split.indices_of_keys(part, names)) for part in split.parts]
        [100, 50, 9850]
        >>> larger = Split(sizes={"test": 300}, seed=7).among(reversed(names), rest="training")
        >>> {*split.indices_of_keys("test", names)} < {*larger.indices_of_keys("test", names)}
        True
        """
        limit = self._engine.fixed[-1]
        # The keys are added in an instance of their own, whose memory is freed with it.
        found = Parts(None, recipes.read(self.recipe), limit).exact_sizes()
        for window in _pieces_of(keys):
            if isinstance(window, list) and isinstance(window[0], str):
                found.add_keys(*laid(_encoded(_different(window))))
            else:
                found.add_ids(check.u64s("keys", window, check.COUNT))
        return type(self).from_recipe(found.recipe(check.crossing("rest", rest)), memory_limit=limit)

    def part_of(self, ids: ArrayLike | Iterable[SupportsIndex]) -> NDArray[np.uint32]:
        """The number of the part of each id.

        Use it for groups: `split.part_of(patients)` is the part of each row, if `patients` has the number of a patient
        for each row.

        Args:
            ids: Whole numbers below 2**53 - 1; with sizes, below the sum of the sizes.

        Raises:
            OutOfRangeError: An id is too large.
            WrongTypeError: `ids` is no list of whole numbers.

        >>> split = Split({"test": 1, "training": 3}, seed=3)
        >>> split.part_of([40, 40, 41, 42]).tolist()
        [1, 1, 0, 1]
        """
        numbers = check.u64s("ids", ids, check.COUNT)
        return self._joined(Parts.part_of, [numbers[at : at + MAX_COUNT] for at in range(0, len(numbers), MAX_COUNT)])

    def part_of_keys(self, keys: Iterable[str]) -> NDArray[np.uint32]:
        """The number of the part of each text: of a file name, or of the key of a group.

        Samples with the same key are in the same part. The part follows from the bytes of the key in UTF-8, so "Anna"
        and "anna" are two keys.

        Args:
            keys: Texts.

        Raises:
            ContradictionError: The parts have sizes: texts have no number below the sum of the sizes.
            OutOfRangeError: A text has half of a surrogate pair, which UTF-8 has no bytes for.
            WrongTypeError: `keys` is no list of texts.

        >>> split = Split({"test": 1, "training": 3}, seed=3)
        >>> [split.parts[number] for number in split.part_of_keys(["anna", "boris", "anna"])]
        ['training', 'test', 'training']
        """
        return self._joined(_parts_of_texts, _windows_of(keys))

    def name_of(self, id: SupportsIndex | str) -> str:
        """The name of the part of one id, or of one text.

        Raises:
            SamedealError: As `part_of` and `part_of_keys`.

        >>> Split.folds(5, seed=1).name_of("anna") in ("0", "1", "2", "3", "4")
        True
        """
        found = self.part_of_keys([id]) if isinstance(id, str) else self.part_of([id])
        return self.parts[int(found[0])]

    def indices(self, part: str | SupportsIndex, samples: SupportsIndex | None = None) -> NDArray[np.int64]:
        """The sample indices of one part, ascending.

        `samedeal.order("feistel", samples).subset(split.indices("training", samples))` is an order of this part.

        Args:
            part: The name of the part, or its number.
            samples: The number of samples in the dataset: the indices are below it. With sizes, their sum by default.

        Raises:
            UnknownNameError: There is no part of this name.
            OutOfRangeError: There is no part of this number, or `samples` is too large.
            MissingError: The parts have weights, and `samples` is not given.
        """
        number, count = self._asked(part, samples)
        return self._windows(count, lambda parts, start, length: parts.members(number, start, length))

    def others(self, part: str | SupportsIndex, samples: SupportsIndex | None = None) -> NDArray[np.int64]:
        """The sample indices of all parts but one, ascending: the training samples of a fold.

        Args:
            part: As for `indices`.
            samples: As for `indices`.

        Raises:
            SamedealError: As `indices`.
        """
        number, count = self._asked(part, samples)

        def not_in(parts: Parts, start: int, length: int) -> NDArray[np.int64]:
            import numpy

            return start + numpy.flatnonzero(parts.part_of_run(start, length) != number)

        return self._windows(count, not_in)

    def indices_of_keys(self, part: str | SupportsIndex, keys: Iterable[str]) -> NDArray[np.int64]:
        """The indices of a list of keys that are in one part, ascending.

        These are the samples of the part, if `keys` has the key of the group of each sample.

        Args:
            part: The name of the part, or its number.
            keys: As for `part_of_keys`.

        Raises:
            SamedealError: As `indices` and `part_of_keys`.

        >>> split = Split({"test": 1, "training": 1}, seed=1)
        >>> split.indices_of_keys("test", ["anna", "boris", "anna", "chen"]).tolist()
        [0, 2]
        """
        import numpy

        number = self._asked(part, 0)[0]
        return check.indices(numpy.flatnonzero(self.part_of_keys(keys) == number))

    def __repr__(self) -> str:
        """The call that makes an equal split; with many parts, a short description."""
        own = json.loads(self.recipe)["split"]
        field = "weight" if "weight" in own["parts"][0] else "size"
        if len(own["parts"]) > check.FEW:
            return f"<Split into {len(own['parts'])} parts, seed={own['seed']}>"
        parts = {part["name"]: part[field] for part in own["parts"]}
        return f"Split({'' if field == 'weight' else 'sizes='}{parts!r}, seed={own['seed']})"

    def _part(self, part: Any) -> int:
        names = self.parts
        if isinstance(part, str):
            if part not in names:
                known = [name[:64] for name in names[: check.FEW]]
                raise UnknownNameError("part", check.name("part", part)[:64], ", ".join(known), {"known": tuple(known)})
            return names.index(part)
        return check.u32("part", part)

    def _samples(self, samples: Any) -> int:
        if samples is not None:
            return check.integer("samples", samples, check.COUNT)
        own = json.loads(self.recipe)["split"].get("samples")
        if own is None:
            raise MissingError("samples", "", "the number of samples in the dataset, such as len(dataset)")
        found: int = own
        return found

    def _asked(self, part: Any, samples: Any) -> tuple[int, int]:
        """The number of a part, and the number of samples."""
        number, count = self._part(part), self._samples(samples)
        try:
            # Raises the component's error if there is no such part, or there are too many samples.
            self._ask(Parts.members, number, count, 0)
        except OutOfRangeError as error:
            if error.field != "start":
                raise
            # The error has the name of the parameter of this method.
            raise OutOfRangeError("samples", error.value, error.allowed, error.facts) from None
        return number, count

    def _windows(self, samples: int, ask: Callable[[Parts, int, int], NDArray[np.int64]]) -> NDArray[np.int64]:
        import numpy

        try:
            found = [
                self._engine.use(ask, at, min(MAX_COUNT, samples - at)).astype(numpy.int64, copy=False)
                for at in range(0, samples, MAX_COUNT)
            ]
            return check.indices(numpy.concatenate(found) if found else numpy.empty(0, dtype=numpy.int64))
        except OutOfMemoryError:
            raise
        except MemoryError as error:
            raise OutOfMemoryError("samples", str(samples), "fewer samples at a time") from error

    def _joined(self, ask: Callable[[Parts, Any], NDArray[np.uint32]], windows: Iterable[Any]) -> NDArray[np.uint32]:
        import numpy

        found = [self._engine.use(ask, window) for window in windows]
        return numpy.concatenate(found) if found else numpy.empty(0, dtype=numpy.uint32)


def _number(field: str, name: Any, value: Any) -> float | str:
    """A weight or a size; a failure names the part."""
    of = f"for the part {check.shown(name)!r}"
    if field == "weight":
        return recipes.weight(field, value, of)
    try:
        return recipes.number(field, value)
    except WrongTypeError as error:
        raise WrongTypeError(field, error.value, f"a whole number {of}") from None


def _is_arrow(keys: Any) -> bool:
    """Whether keys are an array of Arrow."""
    return hasattr(keys, "to_pylist") and hasattr(keys, "slice") and not check.is_class(keys)


def _windows_of(keys: Any) -> Iterator[list[Any]]:
    """The keys, so many at a time as one call takes; at least one window, which may be empty."""
    # An array of NumPy or Arrow is made into texts of Python a window at a time: all of them take much memory.
    is_numpy = type(keys).__module__ == "numpy" and getattr(keys, "ndim", 0) == 1
    is_array = is_numpy or _is_arrow(keys)
    check.check_size("keys", keys)
    listed = keys if is_array else check.items("keys", check.plain("keys", keys), _TEXTS)
    for at in range(0, max(len(listed), 1), _KEYS):
        yield check.plain("keys", listed[at : at + _KEYS])


def _parts_of_texts(parts: Parts, window: list[Any]) -> NDArray[np.uint32]:
    """The number of the part of each text of a window."""
    import numpy

    known = _different(window)
    found = parts.part_of_texts(_encoded(known))
    if len(known) == len(window):
        return found
    numbers = dict(zip(known, found.tolist(), strict=True))
    return numpy.fromiter(map(numbers.__getitem__, window), dtype=numpy.uint32, count=len(window))


def _different(window: list[Any]) -> dict[str, None]:
    """The different texts of a window: keys of groups come many times, and each text costs a hash."""
    for key in window:
        check.label("keys", key)
    return dict.fromkeys(window)


def _encoded(texts: Iterable[str]) -> list[bytes]:
    return [check.encoded("keys", text) for text in texts]


def _pieces_of(keys: Any) -> Iterator[Any]:
    """The keys in pieces that are not empty: arrays of numbers, or lists."""
    if _is_arrow(keys):
        pieces: Iterator[Any] = (keys[at : at + _KEYS].to_pylist() for at in range(0, len(keys), _KEYS))
    elif type(keys).__module__ == "numpy" and getattr(keys, "ndim", 0) == 1:
        check.check_size("keys", keys)
        is_whole = keys.dtype.kind in "iu"
        size = MAX_COUNT if is_whole else _KEYS
        some = (keys[at : at + size] for at in range(0, len(keys), size))
        pieces = some if is_whole else (piece.tolist() for piece in some)
    else:
        if isinstance(keys, (str, bytes, bytearray, Mapping)) or not isinstance(keys, Iterable):
            raise WrongTypeError("keys", check.described(keys), "a list of texts or of whole numbers")
        given = iter(keys)
        pieces = iter(lambda: list(islice(given, _KEYS)), [])
    return (piece for piece in pieces if len(piece))
