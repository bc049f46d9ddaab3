"""One pass over the samples of a rank."""

from __future__ import annotations

import itertools
import operator
import weakref
from collections.abc import Iterator, Mapping
from typing import Any

from .. import Sampler
from ..deal.binding import FEW, Deal, KeptEpochs
from .nested import Asking
from .states import OwnPlace, Place, Resuming, text_of, wrapped

_FIRST, _WINDOW = 2**10, 2**14
"""How many indices a pass reads at a time: few at first, so that the first index comes soon, and more later."""


class Opening(Place[Sampler]):
    """The place at which a pass over the samples of a rank begins."""

    def ended(self, taken: int) -> dict[str, Any]:
        """The state after the pass ended on every rank, even on ranks that had more samples than this one."""
        if self.core.remainder != "uneven":
            return self.after(taken)
        core = self.twin()
        return wrapped(core.state(core.max_num_samples))


class Cursor(Opening, OwnPlace):
    """A pass over the samples of a rank, which goes on even if the sampler moves."""

    def __init__(self, owner: Resuming[Sampler], core: Sampler, asking: Asking) -> None:
        """Begins at the present place of `core`."""
        self.core, self.config = core, core._engine.config
        self.owner = weakref.ref(owner)
        self.asking, self.begun = asking, 0
        kept: KeptEpochs | None = core._engine.kept
        # After `set_epoch` of a sampler of few samples, the samples are nearly always cached.
        found = None if kept is None else kept.read(self.config)
        self.end: int
        self.end, first = self._opening() if found is None else found
        # One attribute, so that a signal handler that asks for a state finds both values of the same moment.
        self._read: tuple[int, Iterator[int]] = (self.end if first else 0), iter(first)
        """How many samples were read, and an iterator over the samples that were not given yet."""

    def _opening(self) -> tuple[int, list[int]]:
        """The number of samples, and all samples if the epoch is short: a second call would cost more."""
        engine, config = self.core._engine, self.config
        if config.consumed or self.core.dataset_size > FEW:
            return len(self.here()), []
        # Another thread may store its own answer meanwhile, which is right as well.
        kept: KeptEpochs = engine.ask(Deal.short_epochs_from, config)
        engine.kept = kept
        found = kept.read(config)
        assert found is not None
        return found

    @property
    def taken(self) -> int:  # type: ignore[override]
        """How many samples were given."""
        read, window = self._read
        return read - operator.length_hint(window)

    def windows(self) -> Iterator[Iterator[int]]:
        """The samples, a run of them at a time."""
        count = _FIRST
        if self._read[0]:
            yield self._read[1]
        while (start := self._read[0]) < self.end:
            stop = min(start + count, self.end)
            values = self.core._engine.use(_values, self.config, start, stop - start)
            if values is None:
                # The sampler has moved, so a copy at the old place continues this pass.
                self.core = self.twin()
                continue
            window, count = iter(values), _WINDOW
            self._read = stop, window
            yield window
        self.tell_end()

    def state_dict(self) -> dict[str, Any]:
        """The state after every rank took as many samples as this pass gave."""
        return wrapped(self.state(self.taken))

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Continues this pass from a state."""
        self.check_data(state_dict)
        text = text_of(state_dict)
        if self.taken == 0 and self.state(0) == text:
            return
        twin = self.twin()
        twin.resume(text)
        if twin.epoch < self.config.epoch and twin.num_positions == 0:
            # The state ends an earlier epoch, and another epoch was set since. This pass stays as it is.
            return
        for _ in self._read[1]:
            pass
        self.core, self.config, self._read, self.end = twin, twin._engine.config, (0, iter(())), len(twin)


class Indices(itertools.chain[int]):
    """The samples one by one, as fast as a list gives them."""

    _cursor: Cursor

    @classmethod
    def of(cls, cursor: Cursor) -> Indices:
        """The indices that a cursor gives."""
        made: Any = cls.from_iterable(cursor.windows())
        made._cursor = cursor
        found: Indices = made
        return found

    def state_dict(self) -> dict[str, Any]:
        """The state after every rank took as many samples as this pass gave."""
        return self._cursor.told(self._cursor.state_dict())

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Continues this pass from a state."""
        self._cursor.load_state_dict(state_dict)


def _values(deal: Deal, config: Any, start: int, count: int) -> list[int] | None:
    return deal.indices(start, count).tolist() if deal.current == config else None
