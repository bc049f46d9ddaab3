"""The public object."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, SupportsIndex, overload

from . import _arguments as check
from . import _component
from ._deal import Deal
from ._errors import IndexOutOfRangeError, OutOfMemoryError, OutOfRangeError
from ._records import LAYOUTS, REMAINDERS, Config, Place

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

WINDOW = 2**16
"""Indices that are read at a time: half a megabyte, so that what the component wrote is still in the cache."""

ITERATION_WINDOW = 2**13
"""The same for iteration, which should not keep its first index waiting."""

SPARSE = 256
"""From this step upwards, a slice is read one by one: a call costs as much as some hundred indices in a window."""


class Sampler:
    """The samples of one rank in one epoch, as a sequence of indices.

    It is a sequence of whole numbers (`len`, `sampler[i]`, slices, iteration), pickles by its configuration, and
    may be used from several threads, and on both sides of a fork.

    Every method raises a `samedeal.SamedealError`, which is a `ValueError`, if a value is not allowed.
    """

    def __init__(
        self,
        samples: SupportsIndex,
        *,
        seed: SupportsIndex = 0,
        epoch: SupportsIndex = 0,
        order: str = "feistel",
        rank: SupportsIndex = 0,
        world: SupportsIndex = 1,
        remainder: str = "pad",
        layout: str = "strided",
        memory_limit: SupportsIndex = 2**31,
    ) -> None:
        """Checks the configuration; costs O(1).

        Orders that need a table build it at the first call that asks for an index.

        Args:
            samples: Number of samples in the dataset, 0 to 2**53 - 1; orders that hold a table take at most
                2**32 - 1, and no more than `memory_limit` has room for.
            seed: Seed of the order, -2**63 to 2**63 - 1.
            epoch: Number of the epoch, 0 to 2**64 - 1. A new epoch is a new order.
            order: Name of the order, one of `samedeal.orders()`.
            rank: Which of the data-parallel readers this is, 0 to `world` - 1.
            world: How many data-parallel readers there are, 1 to 2**32 - 1.
            remainder: What happens where `world` does not divide `samples`: "drop" leaves the last samples out,
                "pad" repeats the first ones, "uneven" gives some ranks one sample more.
            layout: Which positions belong to a rank: "strided" (rank, rank + world, ...) or "contiguous".
            memory_limit: Bytes of memory that the engine may use for this sampler; 2**31 is the most it can use.

        Raises:
            OutOfRangeError: A number is outside its range.
            UnknownNameError: There is no such order, remainder or layout.
            WrongTypeError: A value is not of the type that its parameter takes.
            OutOfMemoryError: There is no memory for another sampler.
        """
        self._config = Config(
            check.integer("samples", samples, check.COUNT),
            check.integer("seed", seed, check.S64),
            check.integer("epoch", epoch, check.U64),
            check.name("order", order),
            check.integer("rank", rank, check.RANK),
            check.integer("world", world, check.U32_FROM_1),
            check.enum("remainder", remainder, REMAINDERS),
            check.enum("layout", layout, LAYOUTS),
        )
        self._memory_limit = check.integer("memory-limit", memory_limit, check.MEMORY)
        self._deal: Deal | None = Deal(self._config, self._memory_limit)

    @property
    def samples(self) -> int:
        """Number of samples in the dataset."""
        return self._config.samples

    @property
    def seed(self) -> int:
        """Seed of the order."""
        return self._config.seed

    @property
    def epoch(self) -> int:
        """Number of the epoch; `set_epoch` moves to another."""
        return self._config.epoch

    @property
    def order(self) -> str:
        """Name of the order."""
        return self._config.order

    @property
    def rank(self) -> int:
        """Which of the data-parallel readers this is; `set_rank` answers for another."""
        return self._config.rank

    @property
    def world(self) -> int:
        """How many data-parallel readers there are."""
        return self._config.world

    @property
    def remainder(self) -> str:
        """What happens where `world` does not divide `samples`."""
        return self._config.remainder

    @property
    def layout(self) -> str:
        """Which positions belong to a rank."""
        return self._config.layout

    @property
    def config(self) -> Config:
        """The configuration as it stands in the component, with the current epoch and rank."""
        return self._engine().config()

    @property
    def num_samples(self) -> int:
        """How many samples this rank sees in an epoch, padding included; `len(sampler)` is the same."""
        return self._engine().num_samples()

    @property
    def num_padding(self) -> int:
        """How many of them are padding: the last ones of the rank."""
        return self._engine().num_padding()

    @property
    def num_positions(self) -> int:
        """How many positions the epoch deals to all ranks together, padding included."""
        return self._engine().num_positions()

    @property
    def num_dropped(self) -> int:
        """How many samples no rank sees in this epoch."""
        return self._engine().num_dropped()

    def set_epoch(self, epoch: SupportsIndex) -> None:
        """Moves to another epoch, 0 to 2**64 - 1, in O(1)."""
        number = check.integer("epoch", epoch, check.U64)
        deal = self._engine()
        with deal.lock:
            deal.set_epoch(number)
            self._config = self._config._replace(epoch=number)

    def set_rank(self, rank: SupportsIndex) -> None:
        """Answers for another rank of the same deal, 0 to `world` - 1, in O(1); a table that was built is kept."""
        number = check.integer("rank", rank, check.RANK)
        deal = self._engine()
        with deal.lock:
            deal.set_rank(number)
            self._config = self._config._replace(rank=number)

    def indices(self, start: SupportsIndex = 0, stop: SupportsIndex | None = None) -> NDArray[np.int64]:
        """This rank's samples number `start` to `stop` - 1, in order: by default all of them.

        Raises:
            OutOfRangeError: Not 0 <= start <= stop <= num_samples.
            OutOfMemoryError: There is no memory for the indices, or for the table of the order.
        """
        end = self.num_samples
        first = check.integer("start", start, check.Width(0, end, f"0 to {end}"))
        last = end if stop is None else check.integer("stop", stop, check.Width(first, end, f"{first} to {end}"))
        return self._read(first, last)

    def __len__(self) -> int:
        """How many samples this rank sees in an epoch, padding included."""
        return self.num_samples

    @overload
    def __getitem__(self, at: SupportsIndex) -> int: ...
    @overload
    def __getitem__(self, at: slice) -> NDArray[np.int64]: ...
    def __getitem__(self, at: SupportsIndex | slice) -> int | NDArray[np.int64]:
        """Sample number `at` of this rank; negative numbers count from the end, a slice gives an array."""
        if isinstance(at, slice):
            return self._slice(at)
        end = self.num_samples
        number = check.whole("index", at)
        if not -end <= number < end:
            raise IndexOutOfRangeError("index", check.shown(number), f"{-end} to {end - 1}" if end else "none")
        return int(self._engine().indices(number % end, 1)[0])

    def __iter__(self) -> Iterator[int]:
        """This rank's samples, in order, as `int`.

        An iterator never mixes epochs or ranks: it ends with a `RuntimeError` where it would have to read on after
        the sampler has moved.
        """
        for window in self._windows(ITERATION_WINDOW, self.num_samples):
            yield from window.tolist()

    def num_batches(self, batch_size: SupportsIndex, drop_last: bool = False) -> int:
        """How many batches of `batch_size` this rank gets: rounded down with `drop_last`, else up."""
        size = check.integer("batch-size", batch_size, check.U32_FROM_1)
        return self._engine().num_batches(size, check.boolean("drop-last", drop_last))

    def batch(self, batch: SupportsIndex, batch_size: SupportsIndex, drop_last: bool = False) -> NDArray[np.int64]:
        """Batch number `batch` of this rank; the last one may be shorter unless `drop_last`.

        Raises:
            OutOfRangeError: `batch` is not below `num_batches`, or the batch is longer than 2**20.
            OutOfMemoryError: There is no memory for the table of the order.
        """
        return self._engine().batch(
            check.integer("batch", batch, check.COUNT),
            check.integer("batch-size", batch_size, check.U32_FROM_1),
            check.boolean("drop-last", drop_last),
        )

    def batches(self, batch_size: SupportsIndex, drop_last: bool = False) -> Iterator[NDArray[np.int64]]:
        """All batches of this rank, in order; an iterator like that of the sampler itself."""
        size = check.integer("batch-size", batch_size, check.U32_FROM_1)
        end = min(self.num_batches(size, drop_last) * size, self.num_samples)
        return self._batches(size, end)

    def sample_at(self, position: SupportsIndex) -> int:
        """The sample at a global position of the epoch, 0 to `num_positions` - 1, whichever rank it is dealt to."""
        return self._engine().sample_at(check.integer("position", position, check.COUNT))

    def locate(self, sample: SupportsIndex, batch_size: SupportsIndex = 1) -> Place | None:
        """The inverse: where in the epoch a sample is seen first, on whichever rank; None if it is dropped.

        Costs O(1) for the orders "feistel" and "sequential", one pass over the table for the others.
        """
        return self._engine().locate(
            check.integer("sample", sample, check.COUNT), check.integer("batch-size", batch_size, check.U32_FROM_1)
        )

    def place_of(self, position: SupportsIndex, batch_size: SupportsIndex = 1) -> Place:
        """Who sees a global position, and when; `copies` counts from this position on."""
        return self._engine().place_of(
            check.integer("position", position, check.COUNT), check.integer("batch-size", batch_size, check.U32_FROM_1)
        )

    def fingerprint(self) -> str:
        """SHA-256 over all of this rank's indices of the epoch, each as 8 bytes, little-endian; in hexadecimal.

        Costs one pass over the rank's samples (tens of nanoseconds each).
        """
        return self._engine().fingerprint()

    def config_fingerprint(self) -> str:
        """SHA-256 over the configuration without the rank, in hexadecimal: equal on all ranks of one deal."""
        return self._engine().config_fingerprint()

    def __repr__(self) -> str:
        """The call that makes an equal sampler, without the memory limit."""
        samples, *named = zip(Config._fields, self._config, strict=True)
        return f"Sampler({samples[1]}, {', '.join(f'{name}={value!r}' for name, value in named)})"

    def __getstate__(self) -> dict[str, Any]:
        """All but the engine, for pickle and copy."""
        return {**self.__dict__, "_deal": None}

    def _engine(self) -> Deal:
        deal, process = self._deal, _component.process
        if deal is None or deal.process is not process:
            # Unpickled, or on the other side of a fork.
            with process.lock:
                deal = self._deal
                if deal is None or deal.process is not process:
                    deal = self._deal = Deal(self._config, self._memory_limit)
        return deal

    def _read(self, start: int, stop: int) -> NDArray[np.int64]:
        out = _empty(stop - start)
        deal = self._engine()
        for at in range(start, stop, WINDOW):
            end = min(at + WINDOW, stop)
            deal.indices_into(out[at - start : end - start], at)
        return out

    def _slice(self, at: slice) -> NDArray[np.int64]:
        named = zip(("start", "stop", "step"), (at.start, at.stop, at.step), strict=True)
        parts = [None if part is None else check.whole(name, part) for name, part in named]
        if parts[2] == 0:
            raise OutOfRangeError("step", "0", "any other whole number")
        run = range(*slice(*parts).indices(self.num_samples))
        if run.step == 1:
            return self._read(run.start, max(run.start, run.stop))
        backwards = run.step < 0
        if backwards:
            run = run[::-1]
        out = _empty(len(run))
        if run.step > SPARSE:
            for i, number in enumerate(run):
                out[i] = self._engine().indices(number, 1)[0]
        else:
            per_window = WINDOW // run.step
            for i in range(0, len(run), per_window):
                part = run[i : i + per_window]
                out[i : i + len(part)] = self._read(part[0], part[-1] + 1)[:: run.step]
        return out[::-1].copy() if backwards else out

    def _windows(self, size: int, end: int) -> Iterator[NDArray[np.int64]]:
        config = self._config
        for start in range(0, end, size):
            if self._config != config:
                raise RuntimeError("the sampler moved to another epoch or rank during iteration")
            yield self._read(start, min(start + size, end))

    def _batches(self, size: int, end: int) -> Iterator[NDArray[np.int64]]:
        for window in self._windows(max(WINDOW // size, 1) * size, end):
            for at in range(0, len(window), size):
                yield window[at : at + size]


def _empty(count: int) -> NDArray[np.int64]:
    import numpy

    try:
        return numpy.empty(count, dtype=numpy.int64)
    except (MemoryError, ValueError) as error:
        raise OutOfMemoryError("count", str(count), "a shorter run") from error
