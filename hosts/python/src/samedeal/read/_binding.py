"""Readings of the interface: their functions, and an instance that answers for one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from .. import _abi as abi
from .._abi import BOOL, S64, SIZES, STRING, U32, U32S, U64, U64S, Function, Type, fallible, returned, scalar
from .._component import Component
from .._core import Core
from .._plan_records import Steps

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

T = TypeVar("T")

_INTERFACE = "samedeal:deal/read@0.1.0"


class ReadRound(NamedTuple):
    """Samples of a reader that come together, and what has to be read for them."""

    start: int
    """The first of the samples, by its number among the reader's."""
    count: int  # type: ignore[assignment]  # A tuple can count, too.
    """How many samples there are."""
    spans: NDArray[np.int64]
    """What to read: a row of four numbers each, stream, shard, first row, count.

    Every sample of the round is a row of one of these, and padding comes last, row by row. A stream is read onwards:
    one open file for each stream is enough.
    """

    @classmethod
    def of_flat(cls, start: int, count: int, spans: NDArray[np.int64]) -> ReadRound:
        """With the spans as they cross."""
        return cls(start, count, spans.reshape(-1, 4))


class ReadConfig(NamedTuple):
    """What decides a reading: options by the names of their setters, and where in which epoch it stands."""

    sizes: NDArray[np.uint64]
    options: tuple[tuple[str, Any], ...]
    epoch: int = 0
    state: str | None = None
    """The state that it goes on from, in place of the epoch."""


_OPTIONS: dict[str, Type[Any]] = {
    "seed": S64,
    "deal": STRING,
    "shuffle": BOOL,
    "lanes": U32,
    "window": U32,
    "remainder": STRING,
    "shuffle-rows": BOOL,
    "reshuffle": BOOL,
    "policy": STRING,
    "worker-policy": STRING,
    "weight": STRING,
    "bytes": SIZES,
    "world-size": U32,
    "workers": U32,
    "batch-size": U32,
    "drop-last": BOOL,
}


def _function(name: str, lift: abi.Lift[T], **parameters: Type[Any]) -> Function[T]:
    return Function(f"{_INTERFACE}#{name}", lift, **parameters)


def _method(name: str, lift: abi.Lift[T], **parameters: Type[Any]) -> Function[T]:
    return _function(f"[method]reading.{name}", lift, this=U32, **parameters)


def _of_reader(name: str, lift: abi.Lift[T], **parameters: Type[Any]) -> Function[T]:
    return _method(name, lift, rank=U32, worker=U32, **parameters)


_ROUND = abi.record(ReadRound.of_flat, start=U64, count=U64, spans=U64S)
_STEPS = abi.record(Steps, least=U64, most=U64)

_options = _function("[constructor]options", scalar(U32), sizes=SIZES)
_setters = {
    name: _function(f"[method]options.set-{name}", abi.NOTHING, this=U32, value=kind) for name, kind in _OPTIONS.items()
}
_reading = _function("[constructor]reading", fallible(U32), options=U32)
_at_epoch = _method("at-epoch", scalar(U32), epoch=U64)
_resume = _method("resume", fallible(U32), state=STRING)
_state = _method("state", fallible(STRING), steps=U64)
_recipe = _method("recipe", returned(STRING))
_reads_per_row = _method("reads-per-row", scalar(U32))
_epoch = _method("epoch", scalar(U64))
_is_rest = _method("is-rest", scalar(BOOL))
_num_steps = _method("num-steps", fallible(U64), rank=U32)
_steps = _method("steps", fallible(_STEPS))
_num_idle_readers = _method("num-idle-readers", fallible(U64))
_num_samples = _of_reader("num-samples", fallible(U64))
_num_padding = _of_reader("num-padding", fallible(U64))
_indices = _of_reader("indices", fallible(U64S), start=U64, count=U32)
_num_rounds = _of_reader("num-rounds", fallible(U64))
_round = _of_reader("round", fallible(_ROUND), number=U64)
_round_of = _of_reader("round-of", fallible(U64), index=U64)
_shards = _of_reader("shards", fallible(U32S))


class Read:
    """A `reading` of the interface, in an instance of its own. The arguments must have been checked to cross."""

    def __init__(self, config: ReadConfig, memory_limit: int) -> None:
        self.core = Core(Component.PLANNING, memory_limit, "sizes", f"{len(config.sizes)} shards")
        options = _options(self.core, config.sizes)
        for name, value in config.options:
            _setters[name](self.core, options, value)
        self._this = _reading(self.core, options)
        if config.state is not None:
            self._this = _resume(self.core, self._this, config.state)
        elif config.epoch:
            self._this = _at_epoch(self.core, self._this, config.epoch)
        self.current = config

    def move(self, config: ReadConfig) -> bool:
        """Nothing moves a reading."""
        return False

    def state(self, steps: int) -> str:
        """The state after so many steps."""
        return _state(self.core, self._this, steps)

    def recipe(self) -> str:
        """What decides the order of every epoch."""
        return _recipe(self.core, self._this)

    def reads_per_row(self) -> int:
        """How many readers decode each row."""
        return _reads_per_row(self.core, self._this)

    def epoch(self) -> int:
        """The number of the epoch."""
        return _epoch(self.core, self._this)

    def is_rest(self) -> bool:
        """Whether a part of the epoch was read before."""
        return _is_rest(self.core, self._this)

    def num_steps(self, rank: int) -> int:
        """How many steps a rank has."""
        return _num_steps(self.core, self._this, rank)

    def steps(self) -> Steps:
        """The fewest and the most steps of a rank."""
        return _steps(self.core, self._this)

    def num_idle_readers(self) -> int:
        """How many readers have no batch."""
        return _num_idle_readers(self.core, self._this)

    def num_samples(self, rank: int, worker: int) -> int:
        """How many samples a reader has."""
        return _num_samples(self.core, self._this, rank, worker)

    def num_padding(self, rank: int, worker: int) -> int:
        """How many of them are padding."""
        return _num_padding(self.core, self._this, rank, worker)

    def indices(self, rank: int, worker: int, start: int, count: int) -> NDArray[np.int64]:
        """A window of a reader's samples."""
        return _indices(self.core, self._this, rank, worker, start, count)

    def num_rounds(self, rank: int, worker: int) -> int:
        """In how many rounds a reader reads."""
        return _num_rounds(self.core, self._this, rank, worker)

    def round(self, rank: int, worker: int, number: int) -> ReadRound:
        """What comes together."""
        return _round(self.core, self._this, rank, worker, number)

    def round_of(self, rank: int, worker: int, index: int) -> int:
        """The round that a sample is in."""
        return _round_of(self.core, self._this, rank, worker, index)

    def shards(self, rank: int, worker: int) -> NDArray[np.uint32]:
        """The shards that are a reader's alone."""
        return _shards(self.core, self._this, rank, worker)
