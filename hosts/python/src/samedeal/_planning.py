"""Plans and chunk streams of the interface: their functions, and instances that answer for one each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from . import _abi as abi
from ._abi import BOOL, S64, SIZES, STRING, U32, U32S, U64, U64S, Function, Type, fallible, returned
from ._component import Component
from ._core import Core
from ._engine import EpochMoved
from ._plan_records import (
    POLICIES,
    TIERS,
    WEIGHTS,
    WORKER_POLICIES,
    Balance,
    Locality,
    PlanConfig,
    Steps,
    StreamConfig,
    Verification,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

T = TypeVar("T")

_INTERFACE = "samedeal:deal/shards@0.1.0"

_POLICY = abi.enum(POLICIES)
_WORKER_POLICY = abi.enum(WORKER_POLICIES)
_WEIGHT = abi.enum(WEIGHTS)
_TIER = abi.enum(TIERS)
_LOCALITY = abi.record(Locality, holder_offsets=U32S, holders=U32S, rank_nodes=U32S, tolerance=U32)
_PLAN_CONFIG = abi.record(
    PlanConfig,
    sizes=SIZES,
    bytes=SIZES,
    world=U32,
    workers=U32,
    policy=_POLICY,
    worker_policy=_WORKER_POLICY,
    weight=_WEIGHT,
    locality=abi.option(_LOCALITY),
    shuffle=BOOL,
    reshuffle=BOOL,
    seed=S64,
    epoch=U64,
)
_STREAM_CONFIG = abi.record(
    StreamConfig, chunks=abi.option(U64), reader=U32, readers=U32, order=STRING, seed=S64, epoch=U64
)
_BALANCE = abi.record(Balance, least=U64, most=U64, total=U64, members=U32)
_STEPS = abi.record(Steps, least=U64, most=U64)
_VERIFICATION = abi.record(Verification.of_flat, overlaps=U32S, gaps=U32S)


def _function(name: str, lift: abi.Lift[T], **parameters: Type[Any]) -> Function[T]:
    return Function(f"{_INTERFACE}#{name}", lift, **parameters)


def _method(name: str, lift: abi.Lift[T], **parameters: Type[Any]) -> Function[T]:
    return _function(f"[method]{name}", lift, this=U32, **parameters)


_verify = _function("verify", fallible(_VERIFICATION), shards=U32, offsets=U32S, assigned=U32S)
_plan = _function("[constructor]plan", fallible(U32), config=_PLAN_CONFIG)
_set_epoch = _method("plan.set-epoch", fallible(abi.UNIT), epoch=U64)
_num_shards = _method("plan.num-shards", fallible(U32), rank=U32, worker=U32)
_shards = _method("plan.shards", fallible(U32S), rank=U32, worker=U32, start=U32, count=U32)
_loads = _method("plan.loads", fallible(U64S), tier=_TIER, start=U32, count=U32)
_balance = _method("plan.balance", fallible(_BALANCE), tier=_TIER, weight=_WEIGHT)
_rows = _method("plan.rows", fallible(U64S), shard=U32, start=U64, count=U32)
_steps = _method("plan.steps", fallible(_STEPS), batch_size=U32, drop_last=BOOL)
_config_fingerprint = _method("plan.config-fingerprint", returned(STRING))
_stream = _function("[constructor]chunk-stream", fallible(U32), config=_STREAM_CONFIG)
_chunks = _method("chunk-stream.chunks", fallible(U64S), start=U64, count=U32)


_VERIFY_MEMORY = 2**27
"""Memory of a verification, besides the lists that it compares: enough for eight million shards that nobody has."""


class Plan(EpochMoved):
    """A `plan` of the interface, in an instance of its own. The arguments must have been checked to cross."""

    _to_epoch = _set_epoch

    def __init__(self, config: PlanConfig, memory_limit: int) -> None:
        self.core = Core(Component.PLANNING, memory_limit, "sizes", f"{len(config.sizes)} shards")
        self._this = _plan(self.core, config)
        self.current = config
        """What the component's plan is of, whenever its core is `whole`."""

    def num_shards(self, rank: int, worker: int) -> int:
        """How many shards a reader has."""
        return _num_shards(self.core, self._this, rank, worker)

    def shards(self, rank: int, worker: int, start: int, count: int) -> NDArray[np.uint32]:
        """A window of a reader's shards."""
        return _shards(self.core, self._this, rank, worker, start, count)

    def loads(self, tier: str, start: int, count: int) -> NDArray[np.int64]:
        """What a window of the ranks or workers have to read, four numbers each."""
        return _loads(self.core, self._this, tier, start, count)

    def balance(self, tier: str, weight: str) -> Balance:
        """How evenly loads are spread."""
        return _balance(self.core, self._this, tier, weight)

    def rows(self, shard: int, start: int, count: int) -> NDArray[np.int64]:
        """A window of the rows of a shard, in the order in which they are given."""
        return _rows(self.core, self._this, shard, start, count)

    def steps(self, batch_size: int, drop_last: bool) -> Steps:
        """How many steps ranks take."""
        return _steps(self.core, self._this, batch_size, drop_last)

    def config_fingerprint(self) -> str:
        """SHA-256 over the configuration."""
        return _config_fingerprint(self.core, self._this)


class Stream:
    """A `chunk-stream` of the interface, in an instance of its own. The arguments must have been checked to cross."""

    def __init__(self, config: StreamConfig, memory_limit: int) -> None:
        self.core = Core(Component.PLANNING, memory_limit, "readers", str(config.readers))
        self._this = _stream(self.core, config)
        self.current = config

    def move(self, config: StreamConfig) -> bool:
        """Nothing moves a stream."""
        return True

    def chunks(self, start: int, count: int) -> NDArray[np.int64]:
        """A window of this reader's chunks."""
        return _chunks(self.core, self._this, start, count)


def verify(shards: int, offsets: NDArray[np.uint32], assigned: NDArray[np.uint32]) -> Verification:
    """Compares what readers have with the shards that there are."""
    # Shards that nobody has come back as a list: memory follows what is passed, and not the number of shards.
    memory = min(2**31, _VERIFY_MEMORY + 16 * (len(offsets) + len(assigned)))
    return _verify(Core(Component.PLANNING, memory, "shards", str(shards)), shards, offsets, assigned)
