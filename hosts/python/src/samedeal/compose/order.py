"""The value that describes an order."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, SupportsIndex

from .. import recipe as recipes
from ..engine import arguments as check
from ..engine.errors import ContradictionError, WrongTypeError
from . import members as write

if TYPE_CHECKING:
    from fractions import Fraction

    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    Numbers = ArrayLike | Iterable[SupportsIndex]
    Weight = float | Fraction | SupportsIndex
    Weights = ArrayLike | Iterable[Weight]


class Order:
    """An order as a value: the order in which samples are visited, which does not depend on the ranks.

    `samedeal.order`, `sharded`, `blend`, `grown`, `windows`, `balance` and `weighted` make orders, and the methods make
    other orders of them. `Sampler(order=...)` and `samedeal.torch.DistributedSampler(dataset, order=...)` deal an order
    to ranks.

    An order never changes. Orders with equal members and lists are equal; they can be pickled, and be keys of a
    dictionary. An order is checked when a sampler is made of it, and not before.

    >>> import samedeal
    >>> order = samedeal.order("sequential", 10).exclude([2, 3, 5])
    >>> samedeal.Sampler(order=order).indices().tolist()
    [0, 1, 4, 6, 7, 8, 9]
    """

    __slots__ = ("_lists", "_members")

    _members: dict[str, Any]
    """Never changed, because orders that are made of this one share them."""
    _lists: dict[str, NDArray[np.uint64]]

    def __init__(self, members: Mapping[str, Any], lists: Mapping[str, Numbers] | None = None) -> None:
        """The order of a recipe. The functions of this package are easier to use.

        Args:
            members: The section "order" of a recipe, as `to_dict` gives it. SPEC.md, sections 14 and 15, has the
                members.
            lists: Lists of numbers that the members leave out, or have as a hash, by their paths, such as
                "of/indices" and "sources/web/sizes".

        Raises:
            WrongTypeError: A value is not of the type that its parameter takes.
        """
        if not isinstance(members, Mapping):
            raise WrongTypeError("order", check.described(members), "a dictionary: the section order of a recipe")
        self._set(json.loads(recipes.text(members)), recipes.numbers(lists))

    def _alone(self, others: Mapping[str, Any]) -> dict[str, Any]:
        """The members. Raises an error if one of these options was given beside the order, which has its own."""
        for name, value in others.items():
            if value is not None:
                told = check.shown(value) if isinstance(value, (bool, int, str)) else check.described(value)
                raise ContradictionError(name, told, "none with an Order, which has its own")
        return self._members

    def _set(self, members: dict[str, Any], lists: dict[str, NDArray[np.uint64]]) -> None:
        object.__setattr__(self, "_members", members)
        object.__setattr__(self, "_lists", lists)

    @property
    def lists(self) -> Mapping[str, NDArray[np.uint64]]:
        """The lists of more than 256 numbers, by their paths, such as "indices" and "of/indices". They are read-only.

        >>> import samedeal
        >>> list(samedeal.order("feistel", 10_000).subset(range(1000)).copies(2).lists)
        ['of/indices']
        """
        return MappingProxyType(self._lists)

    def to_dict(self) -> dict[str, Any]:
        """The section "order" of a recipe, without the lists that `lists` has.

        `Sampler.from_recipe({"order": order.to_dict()}, lists=order.lists)` and `Order(order.to_dict(), order.lists)`
        take it.

        >>> import samedeal
        >>> samedeal.order("feistel", 10, seed=3).to_dict()
        {'name': 'feistel', 'samples': 10, 'seed': 3}
        """
        found: dict[str, Any] = json.loads(self.to_json())
        return found

    def to_json(self) -> str:
        """The members as a text of JSON. It is not the canonical text: `Sampler.recipe` has that, with all defaults."""
        return json.dumps(self._members, ensure_ascii=False)

    def exclude(self, indices: Numbers) -> Order:
        """This order without some samples. The other samples keep their order and their indices.

        Of `sharded` files, lanes and windows are cut anew from the other samples: each reader still has its own lanes.

        Use it to leave out bad or duplicate samples of a large dataset: it costs a search in the list for each sample,
        and no copy of the dataset. States that were taken without the list do not resume with it. To leave something
        out in the middle of a run, use `skip`.

        Args:
            indices: The samples to leave out, ascending, each once: `numpy.unique` sorts them.

        Raises:
            WrongTypeError: The value is no list of whole numbers, such as a mask of booleans. Samplers of the order
                raise an OutOfRangeError if there is no such sample, and a ContradictionError if the indices do not
                ascend, or if this order has samples twice in an epoch, as blends have: exclude from the sources.

        >>> import samedeal
        >>> order = samedeal.order("feistel", 1_000_000_000, seed=7).exclude(range(1000, 2000))
        >>> sampler = samedeal.Sampler(order=order, world_size=8)
        >>> sampler.epoch_length, sampler.locate(1500, 32)
        (999999000, None)
        """
        return self._around("exclude", indices=indices)

    def subset(self, indices: Numbers) -> Order:
        """This order with some samples only: a validation split, or a small part of the dataset for a test.

        These samples keep their order and their indices. Of `sharded` files, as for `exclude`.

        Args:
            indices: The samples, ascending, each once: `numpy.unique` sorts them.

        Raises:
            WrongTypeError: As for `exclude`. Samplers of the order raise errors as for `exclude`.

        >>> import samedeal
        >>> order = samedeal.order("feistel", 1_000_000, seed=7).subset([10, 20, 30])
        >>> sorted(samedeal.Sampler(order=order))
        [10, 20, 30]
        """
        return self._around("subset", indices=indices)

    def skip(self, ranges: Iterable[Iterable[SupportsIndex]]) -> Order:
        """This order without some positions of some epochs.

        Use it to leave out data at which a training diverged: a state resumes with ranges that begin at its position or
        later. In an epoch with one world size, steps a to b - 1 are the positions from a * world_size * batch_size on,
        (b - a) * world_size * batch_size of them.

        To skip more later, call `skip` on the order that skips already: the new ranges then count the positions of that
        order, as your steps do. The ranges of one list all count the positions of the order without these ranges.

        Args:
            ranges: (epoch, start, count) for each range: `count` positions of this order's epoch from `start` on.
                Ascending, without overlaps.

        Raises:
            WrongTypeError: A value is no list of three whole numbers each. Samplers of the order raise an
                OutOfRangeError if a range goes beyond its epoch, and a ContradictionError if the ranges do not ascend.

        >>> import samedeal
        >>> order = samedeal.order("sequential", 10).skip([(0, 2, 3), (1, 0, 9)])
        >>> sampler = samedeal.Sampler(order=order)
        >>> sampler.indices().tolist()
        [0, 1, 5, 6, 7, 8, 9]
        >>> sampler.set_epoch(1)
        >>> sampler.indices().tolist()
        [9]
        """
        return self._around("skip", ranges=write.objects("ranges", ranges, ("epoch", "start", "count")))

    def copies(self, copies: SupportsIndex) -> Order:
        """This order with every position several times in a row.

        Use it for several answers to one prompt, as reinforcement learning with groups (GRPO) needs. Copies follow one
        another in the global order. `Sampler(order=order.copies(k), unit=k)` keeps all copies of a sample on one rank.
        Without `unit`, the copies of a sample go to different ranks if there are several ranks.

        Args:
            copies: How many times, 1 to 2**32 - 1.

        Raises:
            WrongTypeError: The value is no whole number. Samplers of the order raise an OutOfRangeError if it is out of
                its range.

        >>> import samedeal
        >>> order = samedeal.order("sequential", 3).copies(2)
        >>> samedeal.Sampler(order=order).indices().tolist()
        [0, 0, 1, 1, 2, 2]
        >>> [samedeal.Sampler(order=order, world_size=2, rank=rank, unit=2).indices().tolist() for rank in (0, 1)]
        [[1, 1, 2, 2], [0, 0, 0, 0]]
        """
        return self._around("copies", copies=recipes.whole("copies", copies))

    def stage(
        self,
        from_: SupportsIndex,
        weights: Mapping[str, Weight] | Weights,
        *,
        sources: Mapping[str, SupportsIndex | Order] | None = None,
    ) -> Order:
        """This blend with other weights from a position on.

        The positions before the stage keep their samples, so that the new order can resume a state that was saved
        before. Positions of a blend are counted over all epochs: epoch e begins at e * `sampler.epoch_length`.

        Args:
            from_: The first position of the stage, after those of the other stages.
            weights: A weight for each source, such as 7 or 0.7, as a mapping of their names, or as a list in their
                order. 0 leaves a source out from there on.
            sources: Sources to add: for each name, a number of samples or an order. They come after the other sources,
                and have weight 0 before the stage.

        Raises:
            ContradictionError: This order is no blend.
            UnknownNameError: There is a weight for a name that is no source.
            MissingError: A source has no weight.
            WrongTypeError: A value is not of the type that its parameter takes. Samplers of the order raise an
                OutOfRangeError if `from_` is not after the other stages, or if all weights are 0.

        >>> import samedeal
        >>> blend = samedeal.blend({"web": (1000, 9), "code": (500, 1)}, samples=10_000)
        >>> sampler = samedeal.Sampler(order=blend.stage(5000, {"web": 1, "code": 1}))
        >>> sampler.source_counts(0, 5000)["count"].tolist(), sampler.source_counts(5000, 10_000)["count"].tolist()
        ([4500, 500], [2500, 2500])
        """
        name: Any = self._members.get("name")
        if name not in ("blend", "blend-exact"):
            raise ContradictionError("order", check.shown(name), "blend or blend-exact")
        own = write.entries(self._members, "sources", "name", str)
        stages = write.entries(self._members, "stages", "weights", list)
        lists = dict(self._lists)
        for name, of in write.mapping("sources", sources if sources is not None else {}).items():
            own.append(source(name, of, 0, lists))
            for each in stages:
                each["weights"] = [*each["weights"], 0]
        known = [each["name"] for each in own]
        stages.append({"from": recipes.whole("from", from_), "weights": write.weights(weights, known)})
        return made({**self._members, "sources": own, "stages": stages}, lists)

    def grow(self, epoch: SupportsIndex, consumed: SupportsIndex, samples: SupportsIndex) -> Order:
        """The order of a dataset that got more samples, which are shuffled into the rest of an epoch.

        This works for the order "feistel" and for orders that have grown before. Begin with "feistel" if the data may
        grow: `samedeal.torch.DistributedSampler` has the order of PyTorch by default. The positions before the growth
        keep their samples, so that the new order can resume a state that was saved before. In the epoch, every old and
        new sample is seen exactly once.

        Args:
            epoch: The epoch in which the samples came.
            consumed: How many positions of that epoch were taken before.
            samples: How many samples there are from then on, all together.

        Raises:
            WrongTypeError: A value is no whole number. Samplers of the order raise an OutOfRangeError if there are not
                more samples than before, and a ContradictionError if growth does not go on in later epochs, or if this
                order is neither "feistel" nor "grown".

        >>> import samedeal
        >>> before = samedeal.Sampler(order=samedeal.order("feistel", 100, seed=1))
        >>> state = before.state(40)
        >>> after = samedeal.Sampler(order=samedeal.order("feistel", 100, seed=1).grow(0, 40, 130))
        >>> after.resume(state)
        >>> sorted([*before[:40], *after]) == list(range(130))
        True
        """
        entry = write.objects("growth", [(epoch, consumed, samples)], ("epoch", "consumed", "samples"))
        before = write.entries(self._members, "growth", "epoch", int)
        name = {"name": "grown"} if self._members.get("name") == "feistel" else {}
        return made({**self._members, **name, "growth": [*before, *entry]}, self._lists)

    def _around(self, name: str, indices: Numbers | None = None, **more: Any) -> Order:
        """A new order that is made of this one."""
        members = {"name": name, "of": self._members, **more}
        lists = {f"of/{path}": numbers for path, numbers in self._lists.items()}
        if indices is not None or not more:
            write.with_numbers(members, lists, indices=indices)
        return made(members, lists)

    def __eq__(self, other: object) -> bool:
        """Whether the other order has the same members and the same lists beside them."""
        if not isinstance(other, Order):
            return NotImplemented
        return (
            self._members == other._members
            and self._lists.keys() == other._lists.keys()
            and all(_same(numbers, other._lists[path]) for path, numbers in self._lists.items())
        )

    def __hash__(self) -> int:
        """The hash of the members and of the lengths of the lists."""
        lengths = sorted((path, len(numbers)) for path, numbers in self._lists.items())
        return hash((json.dumps(self._members, sort_keys=True), *lengths))

    def __repr__(self) -> str:
        """The call that makes an equal order, with long lists abridged."""
        lists = ", ".join(f"{path!r}: <{len(numbers)} numbers>" for path, numbers in self._lists.items())
        return f"Order({self._members!r}, {{{lists}}})" if lists else f"Order({self._members!r})"

    def __reduce__(self) -> Any:
        """Pickles the arguments of `Order`, because unpickled attributes would have writable lists."""
        return Order, (self._members, self._lists)

    def __setattr__(self, name: str, value: Any) -> None:
        """Raises an AttributeError: orders never change."""
        raise AttributeError(f"an Order never changes; its methods make other orders: {name}")

    def __delattr__(self, name: str) -> None:
        """Raises an AttributeError: orders never change."""
        self.__setattr__(name, None)


def made(members: dict[str, Any], lists: Mapping[str, NDArray[np.uint64]]) -> Order:
    """An order of these members, which the caller must not change later, and these lists."""
    order = Order.__new__(Order)
    order._set(members, dict(lists))
    return order


def source(name: Any, of: SupportsIndex | Order, weight: Any, lists: dict[str, NDArray[np.uint64]]) -> dict[str, Any]:
    """The members of a source of a blend. Adds the lists of the source to `lists`."""
    own = check.crossing("source", name)
    member = {"name": own, "weight": write.weight(weight, own)}
    if not isinstance(of, Order):
        return {**member, "samples": recipes.whole("samples", of)}
    lists.update({f"sources/{own}/{path}": numbers for path, numbers in of._lists.items()})
    return {**member, "order": of._members}


def _same(some: NDArray[np.uint64], others: NDArray[np.uint64]) -> bool:
    return some is others or (len(some) == len(others) and bool((some == others).all()))
