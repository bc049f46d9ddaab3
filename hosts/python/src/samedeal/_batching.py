"""Batchers, streams of batches and collation of the interface: their functions, and instances that answer for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from . import _abi as abi
from ._abi import S64, SIZES, STRING, U32, U32S, U64, U64S, Function, Type, fallible, returned
from ._batch_records import (
    COUNTINGS,
    PACKINGS,
    SIDES,
    STRATEGIES,
    TAILS,
    TOO_LONG,
    BatchConfig,
    BatchPlace,
    Metrics,
    Run,
    Stretch,
)
from ._component import Component
from ._core import Core
from ._engine import ANYWHERE, EpochMoved, anywhere, move_by
from ._errors import OutOfMemoryError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

T = TypeVar("T")


class PaddedCells(NamedTuple):
    """Rows of equal width, one for each sequence."""

    width: int
    sources: NDArray[np.uint32]


class PackedCells(NamedTuple):
    """Rows of equal width that several sequences share."""

    sources: NDArray[np.uint32]
    position_ids: NDArray[np.uint32]
    segment_ids: NDArray[np.uint32]
    cu_seqlens: NDArray[np.uint32]
    max_seqlen: int


PADDING = 2**32 - 1
"""The source of a cell of padding."""

_BATCHES = "samedeal:deal/batches@0.1.0"
_COLLATION = "samedeal:deal/collation@0.1.0"

_STRETCH = abi.record(Stretch, world=U32, steps=U64)
_CONFIG = abi.record(
    BatchConfig,
    lengths=U32S,
    seed=S64,
    epoch=U64,
    order=STRING,
    world=U32,
    strategy=abi.enum(STRATEGIES),
    max_batch_size=U32,
    max_length=U32,
    budget=U64,
    counting=abi.enum(COUNTINGS),
    linear=U32,
    quadratic=U32,
    multiple=U32,
    capacity=U32,
    packing=abi.enum(PACKINGS),
    buckets=abi.option(abi.variant(bucket_width=U32, boundaries=U32S, quantiles=U32)),
    window=abi.option(U32),
    too_long=abi.enum(TOO_LONG),
    tail=abi.enum(TAILS),
    history=abi.listing(_STRETCH),
)
_PLACE = abi.record(BatchPlace, step=U64, rank=U32, row=U32, slot=U32, start=U32)
# Fields that `Metrics` adds are not the interface's.
_METRICS = abi.record(Metrics, **{name: U64 for name in Metrics._fields if name not in Metrics._field_defaults})
_RUN = abi.record(
    Run,
    samples=U64S,
    starts=U32S,
    lengths=U32S,
    row_ends=U32S,
    batch_ends=U32S,
    padded_lengths=U32S,
    costs=SIZES,
    repeated=U32S,
)
_PADDED = abi.record(PaddedCells, width=U32, sources=U32S)
_PACKED = abi.record(PackedCells, sources=U32S, position_ids=U32S, segment_ids=U32S, cu_seqlens=U32S, max_seqlen=U32)


def _function(name: str, lift: abi.Lift[T], **parameters: Type[Any]) -> Function[T]:
    return Function(f"{_BATCHES}#{name}", lift, **parameters)


def _method(name: str, lift: abi.Lift[T], **parameters: Type[Any]) -> Function[T]:
    return _function(f"[method]{name}", lift, this=U32, **parameters)


_batcher = _function("[constructor]batcher", fallible(U32), config=_CONFIG)
_set_epoch = _method("batcher.set-epoch", fallible(abi.UNIT), epoch=U64)
_metrics = _method("batcher.metrics", returned(_METRICS))
_state = _method("batcher.state", fallible(STRING), taken=U64)
_resume = _method("batcher.resume", fallible(abi.UNIT), state=STRING)
_epoch = _method("batcher.epoch", abi.scalar(U64))
_history = _method("batcher.history", returned(abi.listing(_STRETCH)))
_locate = _method("batcher.locate", fallible(abi.listing(_PLACE)), sample=U64)
_take = _method("batcher.take", fallible(_RUN), rank=U32, start=U64, count=U32)
_fingerprint = _method("batcher.fingerprint", fallible(STRING))
_stream = _function("[constructor]batch-stream", fallible(U32), config=_CONFIG, rank=U32)
_push = _method("batch-stream.push", fallible(abi.UNIT), samples=SIZES, lengths=U32S)
_flush = _method("batch-stream.flush", abi.NOTHING)
_stream_take = _method("batch-stream.take", fallible(abi.option(_RUN)))
_stream_metrics = _method("batch-stream.metrics", returned(_METRICS))
_pad = Function(f"{_COLLATION}#pad", fallible(_PADDED), lengths=U32S, width=U32, multiple=U32, side=abi.enum(SIDES))
_pack = Function(f"{_COLLATION}#pack", fallible(_PACKED), lengths=U32S, row_ends=U32S, width=U32)


class Plan(EpochMoved):
    """A `batcher` of the interface, in an instance of its own. The arguments must have been checked to cross."""

    _to_epoch = _set_epoch

    def __init__(self, config: BatchConfig, memory_limit: int) -> None:
        self.core = Core(Component.BATCHING, memory_limit, "lengths", f"{len(config.lengths)} of them")
        self._this = _batcher(self.core, config)
        self.current = config
        """What the component's batches are of, whenever its core is `whole`."""

    @staticmethod
    def in_epoch(config: BatchConfig, epoch: int) -> BatchConfig:
        """A configuration in another epoch, of which nothing was taken."""
        return config if config.epoch == epoch else config._replace(epoch=epoch, history=[])

    def move(self, config: BatchConfig) -> bool:
        """Moves to the epoch of a configuration that differs in nothing else, if it can go there."""
        if self.current.epoch == ANYWHERE:
            return False
        if self.current.epoch != config.epoch:
            self.set_epoch(config.epoch)
        if self.current.history != config.history:
            return False
        self.current = config
        return True

    def state(self, taken: int) -> str:
        """The state once every rank has taken so many steps."""
        return _state(self.core, self._this, taken)

    def resume(self, state: str) -> BatchConfig:
        """Goes on where a state was taken; the configuration is what it is then."""
        move_by(_resume, self, anywhere, state)
        config: BatchConfig = self.current._replace(epoch=self.epoch(), history=self.history())
        self.current = config
        return config

    def epoch(self) -> int:
        """The number of the epoch."""
        return _epoch(self.core, self._this)

    def history(self) -> list[Stretch]:
        """What was taken of the epoch before."""
        return _history(self.core, self._this)

    def locate(self, sample: int) -> list[BatchPlace]:
        """Where a sample is."""
        return _locate(self.core, self._this, sample)

    def metrics(self) -> Metrics:
        """What the batches amount to."""
        return _metrics(self.core, self._this)

    def take(self, rank: int, start: int, count: int) -> Run:
        """A run of a rank's batches."""
        return _take(self.core, self._this, rank, start, count)

    def fingerprint(self) -> str:
        """SHA-256 over all batches of all ranks."""
        return _fingerprint(self.core, self._this)


class Stream:
    """A `batch-stream` of the interface, in an instance of its own. The arguments must have been checked to cross."""

    def __init__(self, config: BatchConfig, rank: int, memory_limit: int) -> None:
        self.core = Core(Component.BATCHING, memory_limit)
        self._this = _stream(self.core, config, rank)

    def push(self, samples: NDArray[np.uint64], lengths: NDArray[np.uint32]) -> None:
        """Adds samples."""
        if samples.nbytes + lengths.nbytes > self.core.room():
            # Told before anything crosses: what is in the stream is there once.
            raise OutOfMemoryError("samples", f"{len(samples)} of them", "fewer at a time")
        _push(self.core, self._this, samples, lengths)

    def flush(self) -> None:
        """Ends the stream."""
        _flush(self.core, self._this)

    def take(self) -> Run | None:
        """The batches of the next window."""
        return _stream_take(self.core, self._this)

    def metrics(self) -> Metrics:
        """What the batches that were taken amount to."""
        return _stream_metrics(self.core, self._this)


class Collation:
    """The functions of collation, in an instance of their own. The arguments must have been checked to cross."""

    # What a large batch leaves behind is more than another instance costs.
    _KEPT = 2**22

    def __init__(self, config: None) -> None:
        self.core = Core(Component.BATCHING, 2**31)
        self.core.whole = True
        self.current = config

    def move(self, config: None) -> bool:
        """There is nothing to move."""
        return True

    def pad(self, lengths: NDArray[np.uint32], width: int, multiple: int, side: str) -> PaddedCells:
        """Where each cell of a row per sequence comes from."""
        return self._measured(_pad(self.core, lengths, width, multiple, side))

    def pack(self, lengths: NDArray[np.uint32], row_ends: NDArray[np.uint32], width: int) -> PackedCells:
        """Where each cell of shared rows comes from."""
        return self._measured(_pack(self.core, lengths, row_ends, width))

    def _measured(self, cells: Cells) -> Cells:
        if len(cells.sources) > self._KEPT:
            # Not used again, so that its memory goes.
            self.core.whole = False
        return cells


Cells = TypeVar("Cells", PaddedCells, PackedCells)
