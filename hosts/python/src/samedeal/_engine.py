"""The instance of the component behind a sampler, handed to one caller at a time."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, TypeVar

from . import _component
from ._deal import Deal
from ._records import Config

T = TypeVar("T")


class _Home:
    """What an engine has in one process."""

    def __init__(self, process: _component.Process) -> None:
        self.process = process
        self.lock = threading.RLock()
        self.idle: Deal | None = None


class Engine:
    """Answers for one sampler: in any thread, in signal handlers and finalizers, and on both sides of a fork.

    Other threads wait for their turn. Within a thread, whoever asks takes the instance out and puts it back when it is
    whole. So a call that comes in the middle of another (a signal handler, a finalizer) finds none and makes one of its
    own; and one that was left in the middle (Ctrl-C, a trap) is not used again, and its memory goes with it.
    """

    def __init__(self, config: Config, memory_limit: int) -> None:
        self.config = config
        """What the next caller is answered for. It is replaced as a whole, so that reading it needs no lock."""
        self._memory_limit = memory_limit
        self._home: _Home | None = None
        self.use(Deal.num_samples)

    def use(self, function: Callable[..., T], *arguments: Any) -> T:
        """Calls `function(deal, *arguments)` on an instance of its own, which no other caller moves meanwhile."""
        home = self._home
        if home is None or home.process is not _component.process:
            home = self._settle()
        with home.lock:
            config = self.config
            deal, home.idle = home.idle, None
            if deal is None:
                deal = Deal(config, self._memory_limit)
            try:
                if deal.current is not config:
                    deal.move(config)
                return function(deal, *arguments)
            finally:
                if deal.core.whole:
                    home.idle = deal

    def set_epoch(self, epoch: int) -> None:
        """Answers for another epoch from now on."""
        with self._settle().lock:
            self._replace(epoch=epoch)

    def set_rank(self, rank: int) -> None:
        """Answers for another rank from now on, if the component takes it."""
        with self._settle().lock:
            self.use(Deal.set_rank, rank)
            self._replace(rank=rank)

    def __getstate__(self) -> dict[str, Any]:
        """All but the instance, for pickle and copy."""
        return {**self.__dict__, "_home": None}

    def _replace(self, **change: Any) -> None:
        config = None
        while self.config is not config:
            # Again where a signal handler has replaced it meanwhile, so that nothing it did is lost.
            config = self.config
            changed = config._replace(**change)
        self.config = changed

    def _settle(self) -> _Home:
        process = _component.process
        with process.lock:
            if self._home is None or self._home.process is not process:
                # New, unpickled, or on the other side of a fork.
                self._home = _Home(process)
            return self._home
