"""The functions of the interface, each written down once: its name, how it is lowered and how it is lifted.

A `result` is a tag byte and, at the alignment of what it may hold, the value or the failure.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from struct import Struct
from typing import TYPE_CHECKING, TypeVar

import wasmtime

from ._component import INTERFACE
from ._core import Core
from ._errors import OutOfMemoryError, SamedealError
from ._records import LAYOUTS, REMAINDERS, Config, Place

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

T = TypeVar("T")
Lift = Callable[[Core, int], T | SamedealError]

_MASK32 = 2**32 - 1
_MASK64 = 2**64 - 1

_TAG = Struct("<B")
_TAGGED_TAG = Struct("<B7xB")
_PAIR = Struct("<II")
_TAGGED_PAIR = Struct("<B3xII")
_TAGGED_U64 = Struct("<B7xQ")
_PLACE = Struct("<QI4xQQII")
_CONFIG = Struct("<QqQIIIIBB")


class Deal:
    """A `sampler` of the interface, in an instance of its own. The arguments must have been checked to cross."""

    def __init__(self, config: Config, memory_limit: int) -> None:
        try:
            self.core = Core(memory_limit)
        except wasmtime.WasmtimeError as error:
            # Every import is there, so what remains is address space.
            raise OutOfMemoryError("samples", str(config.samples), f"fewer samplers at a time ({error})") from error
        self._this: tuple[int, ...] = ()
        order = config.order.encode()
        # The component takes the name over, and frees it.
        at = self.core.call(self.core.function("cabi_realloc").address, 0, 0, 1, len(order)) & _MASK32
        self.core.refresh()
        self.core.view(at, len(order))[:] = order
        fields = (config.samples, config.seed & _MASK64, config.epoch, at, len(order), config.rank, config.world)
        enums = (REMAINDERS.index(config.remainder), LAYOUTS.index(config.layout))
        self._this = (self._ask("[constructor]sampler", _handle, *fields, *enums),)
        self.current = config
        """Where the component's sampler stands whenever its core is `whole`."""

    def move(self, config: Config) -> None:
        """Moves to the epoch and rank of a configuration that differs in nothing else."""
        if self.current.epoch != config.epoch:
            self.set_epoch(config.epoch)
        if self.current.rank != config.rank:
            self.set_rank(config.rank)
        self.current = config

    def config(self) -> Config:
        """The configuration as it stands."""
        return self._ask("[method]sampler.config", _config)

    def set_epoch(self, epoch: int) -> None:
        """Moves to another epoch."""

        def lift(core: Core, result: int) -> None:
            self.current = self.current._replace(epoch=epoch)

        self._ask("[method]sampler.set-epoch", lift, epoch)

    def set_rank(self, rank: int) -> None:
        """Answers for another rank from now on."""

        def lift(core: Core, pointer: int) -> SamedealError | None:
            failure = _unit(core, pointer)
            if failure is None:
                self.current = self.current._replace(rank=rank)
            return failure

        self._ask("[method]sampler.set-rank", lift, rank)

    def num_samples(self) -> int:
        """How many samples this rank sees."""
        return self._ask("[method]sampler.num-samples", _scalar)

    def num_padding(self) -> int:
        """How many of them are padding."""
        return self._ask("[method]sampler.num-padding", _scalar)

    def num_positions(self) -> int:
        """How many positions the epoch deals."""
        return self._ask("[method]sampler.num-positions", _scalar)

    def num_dropped(self) -> int:
        """How many samples no rank sees."""
        return self._ask("[method]sampler.num-dropped", _scalar)

    def indices(self, start: int, count: int) -> NDArray[np.int64]:
        """A window of this rank's samples."""
        return self._ask("[method]sampler.indices", _u64s, start, count)

    def indices_into(self, out: NDArray[np.int64], start: int) -> None:
        """A window of this rank's samples, as many as `out` holds."""

        def lift(core: Core, pointer: int) -> SamedealError | None:
            found = _u64s_view(core, pointer)
            if isinstance(found, SamedealError):
                return found
            out[:] = found
            return None

        self._ask("[method]sampler.indices", lift, start, len(out))

    def indices32(self, start: int, count: int) -> NDArray[np.uint32]:
        """The same in half the bytes."""
        return self._ask("[method]sampler.indices32", _u32s, start, count)

    def num_batches(self, batch_size: int, drop_last: bool) -> int:
        """How many batches this rank gets."""
        return self._ask("[method]sampler.num-batches", _u64, batch_size, drop_last)

    def batch(self, batch: int, batch_size: int, drop_last: bool) -> NDArray[np.int64]:
        """One batch of this rank."""
        return self._ask("[method]sampler.batch", _u64s, batch, batch_size, drop_last)

    def batch32(self, batch: int, batch_size: int, drop_last: bool) -> NDArray[np.uint32]:
        """The same in half the bytes."""
        return self._ask("[method]sampler.batch32", _u32s, batch, batch_size, drop_last)

    def sample_at(self, position: int) -> int:
        """The sample at a global position."""
        return self._ask("[method]sampler.sample-at", _u64, position)

    def locate(self, sample: int, batch_size: int) -> Place | None:
        """Where a sample is seen first."""
        return self._ask("[method]sampler.locate", _optional_place, sample, batch_size)

    def place_of(self, position: int, batch_size: int) -> Place:
        """Who sees a global position, and when."""
        return self._ask("[method]sampler.place-of", _place, position, batch_size)

    def fingerprint(self) -> str:
        """SHA-256 over this rank's indices."""
        return self._ask("[method]sampler.fingerprint", _string)

    def config_fingerprint(self) -> str:
        """SHA-256 over the configuration without the rank."""
        return self._ask("[method]sampler.config-fingerprint", _plain_string)

    def _ask(self, name: str, lift: Lift[T], *arguments: int) -> T:
        return _call(self.core, name, lift, *self._this, *arguments)


def orders() -> tuple[str, ...]:
    """The names of the orders that this version knows, the default first."""
    return _facts()[0]


def max_window() -> int:
    """The most indices that one call hands out."""
    return _facts()[1]


@functools.cache
def _facts() -> tuple[tuple[str, ...], int]:
    core = Core(2**31)
    names = _call(core, "orders", _strings)
    window = _call(core, "max-window", _scalar)
    return tuple(names), window & _MASK32


def _call(core: Core, name: str, lift: Lift[T], *arguments: int) -> T:
    """A call from its arguments to its post-return; a failure is raised when all is done.

    Where an exception of anybody else's (a signal handler's) comes between, what the component handed out is lost, and
    the instance is not `whole` any more.
    """
    address, post = core.function(f"{INTERFACE}#{name}")
    core.whole = False
    result = core.call(address, *arguments)
    if post is None:
        lifted = lift(core, result)
    else:
        # Only the lower half of a 32-bit result is written.
        pointer = result & _MASK32
        core.refresh()
        lifted = lift(core, pointer)
        core.call(post, pointer)
    core.whole = True
    if isinstance(lifted, SamedealError):
        raise lifted
    return lifted


def _scalar(core: Core, result: int) -> int:
    return result


def _handle(core: Core, pointer: int) -> int | SamedealError:
    tag, handle, _ = core.unpack(_TAGGED_PAIR, pointer)
    if tag:
        return core.failure(pointer + 4)
    return int(handle)


def _unit(core: Core, pointer: int) -> SamedealError | None:
    (tag,) = core.unpack(_TAG, pointer)
    return core.failure(pointer + 4) if tag else None


def _u64(core: Core, pointer: int) -> int | SamedealError:
    tag, value = core.unpack(_TAGGED_U64, pointer)
    if tag:
        return core.failure(pointer + 8)
    return int(value)


def _u64s_view(core: Core, pointer: int) -> NDArray[np.int64] | SamedealError:
    tag, first, count = core.unpack(_TAGGED_PAIR, pointer)
    if tag:
        return core.failure(pointer + 4)
    return core.u64s(first, count)


def _u64s(core: Core, pointer: int) -> NDArray[np.int64] | SamedealError:
    found = _u64s_view(core, pointer)
    return found if isinstance(found, SamedealError) else found.copy()


def _u32s(core: Core, pointer: int) -> NDArray[np.uint32] | SamedealError:
    tag, first, count = core.unpack(_TAGGED_PAIR, pointer)
    if tag:
        return core.failure(pointer + 4)
    own: NDArray[np.uint32] = core.u32s(first, count).copy()
    return own


def _plain_string(core: Core, pointer: int) -> str:
    return core.string(*core.unpack(_PAIR, pointer))


def _string(core: Core, pointer: int) -> str | SamedealError:
    tag, first, length = core.unpack(_TAGGED_PAIR, pointer)
    if tag:
        return core.failure(pointer + 4)
    return core.string(first, length)


def _strings(core: Core, pointer: int) -> list[str]:
    first, count = core.unpack(_PAIR, pointer)
    return [_plain_string(core, first + _PAIR.size * i) for i in range(count)]


def _place(core: Core, pointer: int) -> Place | SamedealError:
    (tag,) = core.unpack(_TAG, pointer)
    if tag:
        return core.failure(pointer + 8)
    return Place(*core.unpack(_PLACE, pointer + 8))


def _optional_place(core: Core, pointer: int) -> Place | SamedealError | None:
    tag, some = core.unpack(_TAGGED_TAG, pointer)
    if tag:
        return core.failure(pointer + 8)
    return Place(*core.unpack(_PLACE, pointer + 16)) if some else None


def _config(core: Core, pointer: int) -> Config:
    fields = core.unpack(_CONFIG, pointer)
    samples, seed, epoch, order, order_length, rank, world, remainder, layout = fields
    name = core.string(order, order_length)
    return Config(samples, seed, epoch, name, rank, world, REMAINDERS[remainder], LAYOUTS[layout])
