"""Batches of sequences of different length under a DataLoader."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, SupportsIndex

from torch.utils.data import Sampler

from .. import Batch, Batcher, ContradictionError, Mesh, Metrics, OutOfRangeError, WrongTypeError
from .. import _arguments as check
from . import _place as place


class BatchSampler(Sampler[list[int]]):
    """Batches of indices for `DataLoader(dataset, batch_sampler=...)`: each a list of the samples of a `Batcher` batch.

    Every rank gets as many, of similar length and cost, and no `DistributedSampler` is needed. The rank is that of the
    process group as soon as there is one, else what the launcher's variables say.

    With the strategy "pack", `PackCollator` with the same capacity makes the rows. Where samples are cut
    (`too_long="truncate"`), give the collator the `max_length`.
    """

    def __init__(
        self,
        lengths: Any,
        *,
        column: str | None = None,
        rank: SupportsIndex | None = None,
        world: SupportsIndex | None = None,
        mesh: Mesh | None = None,
        start: SupportsIndex = 0,
        **options: Any,
    ) -> None:
        """Plans the epoch, and finds out which rank this is.

        Args:
            lengths: The length of every sample, in tokens; or, with `column`, a dataset whose `lengths[column]` has
                them.
            column: The column of the dataset: of lengths, or of sequences or texts whose own length counts.
            rank: Which rank this process is, with `world`; by default that of the process group, or what the launcher's
                variables say (`samedeal.detect_rank`).
            world: How many ranks there are.
            mesh: Where ranks share data; rank and world are then those of the mesh.
            start: The step that every pass begins with: where an interrupted epoch goes on.
            options: All else that `Batcher` takes.

        Raises:
            SamedealError: A value is not allowed, or does not go with another; as `Batcher`.
        """
        if options.get("too_long") == "split":
            allowed = "another; the parts of samples are what samedeal.Batcher gives"
            raise ContradictionError("too-long", "split", allowed)
        self._mesh = mesh
        self._place = place.find(rank, world)
        self._options = options
        self._start = check.whole("start", start)
        self._lengths = check.u32s("lengths", lengths if column is None else _lengths_in(lengths, column), check.U32)
        own, readers = place.data_rank(self._place, mesh)
        self._batcher = Batcher(self._lengths, rank=own, world=readers, **options)
        self._left()

    @property
    def batcher(self) -> Batcher:
        """Whose batches they are, as this process stands now."""
        self._place = place.current(self._place)
        rank, world = place.data_rank(self._place, self._mesh)
        if (rank, world) != (self._batcher.rank, self._batcher.world):
            options = {**self._options, "epoch": self._batcher.epoch}
            self._batcher = Batcher(self._lengths, rank=rank, world=world, **options)
        return self._batcher

    @property
    def rank(self) -> int:
        """Which data-parallel reader this is."""
        return self.batcher.rank

    @property
    def world(self) -> int:
        """How many there are."""
        return self.batcher.world

    @property
    def epoch(self) -> int:
        """The epoch that the next pass gives."""
        return self._batcher.epoch

    def set_epoch(self, epoch: SupportsIndex) -> None:
        """Plans another epoch: before each pass."""
        self.batcher.set_epoch(epoch)

    def metrics(self) -> Metrics:
        """What the batches of all ranks amount to."""
        return self.batcher.metrics()

    def batches(self) -> Iterator[Batch]:
        """The same pass, with lengths, rows and costs."""
        self._left()
        return self.batcher.batches(self._start)

    def __len__(self) -> int:
        """How many batches a pass has, the same on every rank."""
        return self._left()

    def __iter__(self) -> Iterator[list[int]]:
        """One pass over this rank's batches; it never mixes epochs."""
        return (batch.samples.tolist() for batch in self.batches())

    def _left(self) -> int:
        steps = self.batcher.num_steps
        if not 0 <= self._start <= steps:
            raise OutOfRangeError("start", check.shown(self._start), f"0 to {steps}")
        return steps - self._start


def _lengths_in(dataset: Any, column: str) -> Any:
    """The lengths that a column has, or those of what it has."""
    allowed = f"a dataset with the column {check.shown(column)!r}"
    try:
        values = dataset[check.name("column", column)]
    except (KeyError, IndexError, TypeError, AttributeError, NotImplementedError) as error:
        raise WrongTypeError("lengths", check.described(dataset), allowed) from error
    if getattr(getattr(values, "dtype", None), "kind", "") in ("i", "u"):
        return values
    # Arrow gives no numbers but objects of its own.
    items = values.to_pylist() if hasattr(values, "to_pylist") else list(values)
    return [len(item) if hasattr(item, "__len__") else item for item in items]
