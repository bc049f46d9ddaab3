"""Batches of sequences whose lengths are not known up front."""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NoReturn, SupportsIndex, TypeVar

from .. import recipe as recipes
from ..engine import arguments as check
from ..engine import component as components
from ..generated.batches import BatchStreamBase
from ..recipe import Recipe
from .binding import Stream, recipe_fingerprint, recipe_text
from .recipe import written
from .records import Batch, Metrics, split

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

T = TypeVar("T")
Self = TypeVar("Self", bound="BatchStream")


class BatchStream(BatchStreamBase):
    """Batches of one rank, for samples whose lengths become known as they come.

    The batches are those that a `Batcher` gives for the same lengths with the order "sequential" and the same
    `batch_window`. Push samples as they come, and take the batches that are ready. The batches of a window are ready
    when samples have come for one and a half windows, because the last window may be half a window longer. Every rank
    pushes all samples. A stream holds the samples that wait (up to one and a half windows, if you take each window as
    soon as it is ready) and at most as many samples of earlier windows.

    A stream has no state to save. To continue after an interruption, push the same samples to a new stream, and skip
    the batches that were taken before. Only the lengths are needed, and planning costs the same again.

    Threads may share a stream. It works only in the process that made it, and cannot be pickled, because the samples
    that were pushed are in the memory of this process.
    """

    def _configure(self, sections: Mapping[str, Mapping[str, Any]], **given: Any) -> None:
        recipe = written(sections, given["seed"], None, given["boundaries"])
        self._open(recipe, given["epoch"], given["rank"], given["memory_limit"])

    @classmethod
    def from_recipe(
        cls: type[Self],
        recipe: str | Mapping[str, Any],
        *,
        lists: Mapping[str, ArrayLike | Iterable[SupportsIndex]] | None = None,
        rank: SupportsIndex = 0,
        epoch: SupportsIndex = 0,
        memory_limit: SupportsIndex = 2**31,
    ) -> Self:
        """The stream of a recipe, which has no lengths.

        `recipe`, `lists`, `rank` and `epoch` are those of `Batcher.from_recipe`.

        Raises:
            SamedealError: As `Batcher`.
        """
        self = cls.__new__(cls)
        self._open(recipes.read(recipe, lists), epoch, rank, memory_limit)
        return self

    def _open(self, recipe: Recipe, epoch: SupportsIndex, rank: SupportsIndex, memory_limit: SupportsIndex) -> None:
        self._rank = check.whole("rank", rank)
        self._process = components.process
        self._lock = threading.RLock()
        limit = check.integer("memory_limit", memory_limit, check.MEMORY)
        first = check.u64("epoch", epoch)
        self._stream = check.asked(lambda number: Stream(recipe, first, number, limit), [check.u32("rank", self._rank)])
        self._left: deque[Batch] = deque()

    @property
    def recipe(self) -> str:
        """The recipe of these batches: JSON in one line, with every default; `from_recipe` takes it."""
        return self._use(recipe_text)

    def recipe_fingerprint(self) -> str:
        """SHA-256 over the recipe, in hexadecimal: it identifies the run."""
        return self._use(recipe_fingerprint)

    @property
    def rank(self) -> int:
        """The rank whose batches are given."""
        return self._rank

    @property
    def world_size(self) -> int:
        """How many ranks there are."""
        found: int = json.loads(self.recipe)["deal"]["world_size"]
        return found

    def push(self, samples: ArrayLike | Iterable[SupportsIndex], lengths: ArrayLike | Iterable[SupportsIndex]) -> None:
        """Adds samples. After a failure, none of them was added.

        Args:
            samples: The sample indices, 0 to 2**53 - 1.
            lengths: The length of each sample, in tokens.

        Raises:
            OutOfRangeError: A number is outside its range, or a sample is too long.
            ContradictionError: There are not as many lengths as samples, or the stream has ended.
            WrongTypeError: A value is not a list of whole numbers.
            OutOfMemoryError: There is no memory for so many samples.
        """
        numbers = check.u64s("samples", samples, check.COUNT)
        self._use(Stream.push, numbers, check.u32s("lengths", lengths, check.U32))

    def flush(self) -> None:
        """Ends the stream: `take` then gives batches of the samples that are left."""
        self._use(Stream.flush)

    def take(self) -> list[Batch]:
        """Plans the next window that is ready, and returns its batches; an empty list if no window is ready.

        If an iteration ended within a window, returns the rest of the batches of that window first, and plans none.

        Raises:
            OutOfMemoryError: There is no memory for the plan. Nothing is lost.
        """
        with self._lock:
            self._fill()
            left, self._left = list(self._left), deque()
            return left

    def __iter__(self) -> Iterator[Batch]:
        """Takes the batches that are ready, until no window is ready. Iterate again after more samples were pushed."""
        while True:
            with self._lock:
                self._fill()
                if not self._left:
                    return
                batch = self._left.popleft()
            # If an iteration is broken off, the next one gives the batches that are left.
            yield batch

    def metrics(self) -> Metrics:
        """Metrics of the batches of all ranks, in the windows that were taken.

        Samples that were pushed and still wait are in none of the numbers.
        """
        return self._use(Metrics.of)

    def __reduce__(self) -> NoReturn:
        """Raises a TypeError: the samples that were pushed are in the memory of this process."""
        raise TypeError("a BatchStream does not pickle: make one where the samples are read")

    def _fill(self) -> None:
        """Takes the next window, if no batch is left of the window before."""
        if not self._left and (run := self._use(Stream.take)) is not None:
            self._left.extend(split(run))

    def _use(self, function: Callable[..., T], *arguments: Any) -> T:
        if self._process is not components.process:
            raise RuntimeError("the stream belongs to the process that made it; make another one after a fork")
        with self._lock:
            if not self._stream.core.whole:
                # Another exception (Ctrl-C) interrupted a call, or a signal handler calls this during a call.
                raise RuntimeError("a call of this stream was interrupted, or is under way; make another stream")
            return function(self._stream, *arguments)
