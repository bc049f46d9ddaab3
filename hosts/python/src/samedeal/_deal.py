"""The sampler of the interface: its functions, and an instance that answers for one."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, TypeVar

from . import _abi as abi
from ._abi import BOOL, STRING, U32, U32S, U64, U64S, Function, Type, fallible, returned, scalar
from ._component import Component
from ._core import Core
from ._engine import ANYWHERE, anywhere, move_by
from ._errors import SamedealError
from ._records import LAYOUTS, REMAINDERS, Config, Place, Round, Sharding, ShardPlace

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

T = TypeVar("T")

_INTERFACE = "samedeal:deal/sampling@0.1.0"

_CONFIG = abi.record(
    Config,
    samples=U64,
    seed=abi.S64,
    epoch=U64,
    order=STRING,
    rank=U32,
    world=U32,
    remainder=abi.enum(REMAINDERS),
    layout=abi.enum(LAYOUTS),
    consumed=U64,
)
_SHARDING = abi.record(Sharding, sizes=abi.SIZES, lanes=U32, window=U32)
_PLACE = abi.record(Place, position=U64, rank=U32, index=U64, batch=U64, slot=U32, copies=U32)
_ROUND = abi.record(Round.of_flat, start=U64, count=U64, spans=U64S)
_SHARD_PLACE = abi.record(ShardPlace, shard=U32, offset=U64)


def _function(name: str, lift: abi.Lift[T], **parameters: Type[Any]) -> Function[T]:
    return Function(f"{_INTERFACE}#{name}", lift, **parameters)


def _method(name: str, lift: abi.Lift[T], **parameters: Type[Any]) -> Function[T]:
    return _function(f"[method]sampler.{name}", lift, this=U32, **parameters)


_RUN: dict[str, Type[Any]] = {"start": U64, "count": U32}
_BATCH: dict[str, Type[Any]] = {"batch": U64, "batch_size": U32, "drop_last": BOOL}

_orders = _function("orders", returned(abi.listing(STRING)))
_max_window = _function("max-window", scalar(U32))
_constructor = _function("[constructor]sampler", fallible(U32), config=_CONFIG)
_sharded = _function("[static]sampler.sharded", fallible(U32), config=_CONFIG, sharding=_SHARDING)
_config = _method("config", returned(_CONFIG))
_set_epoch = _method("set-epoch", abi.NOTHING, epoch=U64)
_set_rank = _method("set-rank", fallible(abi.UNIT), rank=U32)
_state = _method("state", fallible(STRING), taken=U64)
_resume = _method("resume", fallible(abi.UNIT), state=STRING)
_num_samples = _method("num-samples", scalar(U64))
_num_padding = _method("num-padding", scalar(U64))
_num_positions = _method("num-positions", scalar(U64))
_num_dropped = _method("num-dropped", scalar(U64))
_indices = _method("indices", fallible(U64S), **_RUN)
_indices_there = _method("indices", fallible(abi.U64S_VIEW), **_RUN)
_indices32 = _method("indices32", fallible(U32S), **_RUN)
_num_batches = _method("num-batches", fallible(U64), batch_size=U32, drop_last=BOOL)
_batch = _method("batch", fallible(U64S), **_BATCH)
_batch32 = _method("batch32", fallible(U32S), **_BATCH)
_sample_at = _method("sample-at", fallible(U64), position=U64)
_locate = _method("locate", fallible(abi.option(_PLACE)), sample=U64, batch_size=U32)
_place_of = _method("place-of", fallible(_PLACE), position=U64, batch_size=U32)
_fingerprint = _method("fingerprint", fallible(STRING))
_config_fingerprint = _method("config-fingerprint", returned(STRING))
_num_rounds = _method("num-rounds", fallible(U64))
_round = _method("round", fallible(_ROUND), number=U64)
_shard_of = _method("shard-of", fallible(_SHARD_PLACE), sample=U64)


class Deal:
    """A `sampler` of the interface, in an instance of its own. The arguments must have been checked to cross."""

    def __init__(self, config: Config, memory_limit: int, sharding: Sharding | None = None) -> None:
        self.core = core = Core(Component.SAMPLING, memory_limit, "samples", str(config.samples))
        self._this = _constructor(core, config) if sharding is None else _sharded(core, config, sharding)
        self.current = config
        """Where the component's sampler stands whenever its core is `whole`."""

    def move(self, config: Config) -> bool:
        """Moves to the epoch and rank of a configuration that differs in nothing else, if it can go there."""
        if self.current.epoch == ANYWHERE:
            return False
        if self.current.epoch != config.epoch:
            self.set_epoch(config.epoch)
        if self.current.consumed != config.consumed:
            return False
        if self.current.rank != config.rank:
            self.set_rank(config.rank)
        self.current = config
        return True

    def config(self) -> Config:
        """The configuration as it stands."""
        return _config(self.core, self._this)

    def set_epoch(self, epoch: int) -> None:
        """Moves to another epoch."""
        move_by(_set_epoch, self, lambda config: in_epoch(config, epoch), epoch)

    def set_rank(self, rank: int) -> None:
        """Answers for another rank from now on."""
        move_by(_set_rank, self, lambda config: config._replace(rank=rank), rank)

    def state(self, taken: int) -> str:
        """The state once every rank has taken so many of its samples."""
        return _state(self.core, self._this, taken)

    def resume(self, state: str) -> Config:
        """Goes on where a state was taken; the configuration is what it is then."""
        move_by(_resume, self, anywhere, state)
        self.current = self.config()
        return self.current

    def num_samples(self) -> int:
        """How many samples this rank sees."""
        return _num_samples(self.core, self._this)

    def num_padding(self) -> int:
        """How many of them are padding."""
        return _num_padding(self.core, self._this)

    def num_positions(self) -> int:
        """How many positions the epoch deals."""
        return _num_positions(self.core, self._this)

    def num_dropped(self) -> int:
        """How many samples no rank sees."""
        return _num_dropped(self.core, self._this)

    def indices(self, start: int, count: int) -> NDArray[np.int64]:
        """A window of this rank's samples."""
        return _indices(self.core, self._this, start, count)

    def indices_into(self, out: NDArray[np.int64], start: int) -> None:
        """A window of this rank's samples, as many as `out` holds."""

        def lift(core: Core, pointer: int) -> SamedealError | None:
            found = _indices_there.lift(core, pointer)
            if isinstance(found, SamedealError):
                return found
            out[:] = found
            return None

        _indices_there.read(self.core, lift, self._this, start, len(out))

    def indices32(self, start: int, count: int) -> NDArray[np.uint32]:
        """The same in half the bytes."""
        return _indices32(self.core, self._this, start, count)

    def num_batches(self, batch_size: int, drop_last: bool) -> int:
        """How many batches this rank gets."""
        return _num_batches(self.core, self._this, batch_size, drop_last)

    def batch(self, batch: int, batch_size: int, drop_last: bool) -> NDArray[np.int64]:
        """One batch of this rank."""
        return _batch(self.core, self._this, batch, batch_size, drop_last)

    def batch32(self, batch: int, batch_size: int, drop_last: bool) -> NDArray[np.uint32]:
        """The same in half the bytes."""
        return _batch32(self.core, self._this, batch, batch_size, drop_last)

    def sample_at(self, position: int) -> int:
        """The sample at a global position."""
        return _sample_at(self.core, self._this, position)

    def locate(self, sample: int, batch_size: int) -> Place | None:
        """Where a sample is seen first."""
        return _locate(self.core, self._this, sample, batch_size)

    def place_of(self, position: int, batch_size: int) -> Place:
        """Who sees a global position, and when."""
        return _place_of(self.core, self._this, position, batch_size)

    def fingerprint(self) -> str:
        """SHA-256 over this rank's indices."""
        return _fingerprint(self.core, self._this)

    def config_fingerprint(self) -> str:
        """SHA-256 over the configuration without the rank."""
        return _config_fingerprint(self.core, self._this)

    def num_rounds(self) -> int:
        """How many rounds the epoch has."""
        return _num_rounds(self.core, self._this)

    def round(self, number: int) -> Round:
        """What this rank reads for a run of its samples."""
        return _round(self.core, self._this, number)

    def shard_of(self, sample: int) -> ShardPlace:
        """Where a sample is stored."""
        return _shard_of(self.core, self._this, sample)


def in_epoch(config: Config, epoch: int) -> Config:
    """A configuration in another epoch, of which nothing is consumed."""
    return config if config.epoch == epoch else config._replace(epoch=epoch, consumed=0)


def orders() -> tuple[str, ...]:
    """The names of the orders that take no more than a name, the default first; "sharded" takes shards."""
    return _facts()[0]


def max_window() -> int:
    """The most indices that one call hands out."""
    return _facts()[1]


@functools.cache
def _facts() -> tuple[tuple[str, ...], int]:
    core = Core(Component.SAMPLING, 2**31)
    return tuple(_orders(core)), _max_window(core)
