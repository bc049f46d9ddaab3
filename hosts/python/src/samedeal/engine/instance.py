"""The instance of a component behind an object, handed to one caller at a time."""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from . import component as components
from .abi import Function
from .core import Core
from .errors import SamedealError

T = TypeVar("T")


class Resource(Protocol):
    """A resource of the interface in an instance of its own."""

    core: Core
    current: Any
    """The configuration of it, whenever its core is `whole`."""

    def move(self, config: Any) -> bool:
        """Moves to a configuration that differs only in what can be moved; False where another one must be made."""


def move_by(function: Function[None], resource: Any, change: Callable[[Any], Any], *arguments: Any) -> None:
    """Calls a method that moves a resource, and changes its configuration the moment that it has moved."""

    def lift(core: Core, result: int) -> SamedealError | None:
        failure = function.lift(core, result)
        if failure is None:
            resource.current = change(resource.current)
        return failure

    function.read(resource.core, lift, resource.handle, *arguments)


class EpochMoved:
    """A resource whose configuration is moved to another epoch, and in nothing else."""

    _to_epoch: ClassVar[Function[None]]
    """Its function for that."""
    core: Core
    current: Any
    handle: int

    def move(self, config: Any) -> bool:
        """Moves to the epoch of a configuration that differs in nothing else."""
        if self.current.epoch != config.epoch:
            self.set_epoch(config.epoch)
        self.current = config
        return True

    def set_epoch(self, epoch: int) -> None:
        """Plans another epoch."""
        move_by(self._to_epoch, self, lambda config: self.in_epoch(config, epoch), epoch)

    @staticmethod
    def in_epoch(config: Any, epoch: int) -> Any:
        """A configuration in another epoch."""
        return config._replace(epoch=epoch)


ANYWHERE = -1
"""The epoch of a resource that was moved, and has not told yet where to."""


def anywhere(config: Any) -> Any:
    """A configuration that no other is equal to: until the resource tells where it is."""
    return config._replace(epoch=ANYWHERE)


R = TypeVar("R", bound=Resource)
C = TypeVar("C", bound=Any)


class _Home(Generic[R]):
    """What an engine has in one process."""

    def __init__(self, process: components.Process) -> None:
        self.process = process
        self.lock = threading.RLock()
        self.idle: R | None = None


class Engine(Generic[R, C]):
    """Answers for one object: in any thread, in signal handlers and finalizers, and on both sides of a fork.

    Other threads wait for their turn. Within a thread, whoever asks takes the instance out and puts it back when it is
    whole. So a call that comes in the middle of another (a signal handler, a finalizer) finds none and makes one of its
    own; and one that was left in the middle (Ctrl-C, a trap) is not used again, and its memory goes with it.
    """

    def __init__(self, make: Callable[..., R], config: C, *fixed: Any) -> None:
        """Makes `make(config, *fixed)`, again wherever another one is needed. `make` pickles."""
        self.config = config
        """What the next caller is answered for. It is replaced as a whole, so that reading it needs no lock."""
        self.fixed = fixed
        self._make = make
        self._home: _Home[R] | None = None
        self.use(_nothing)

    def use(self, function: Callable[..., T], *arguments: Any) -> T:
        """Calls `function(resource, *arguments)` on an instance of its own, which no other caller moves meanwhile."""
        home = self._home
        if home is None or home.process is not components.process:
            home = self._settle()
        with home.lock:
            config = self.config
            resource, home.idle = home.idle, None
            if resource is None:
                resource = self._make(config, *self.fixed)
            try:
                if resource.current is not config and not resource.move(config):
                    resource = self._make(config, *self.fixed)
                return function(resource, *arguments)
            finally:
                if resource.core.whole:
                    home.idle = resource

    def set(self, change: Callable[[C], C]) -> None:
        """Answers for a changed configuration from now on, which the component takes in any case."""
        with self._settle().lock:
            self._replace(change)

    def ask_and_set(self, function: Callable[..., T], change: Callable[[C, T], C], *arguments: Any) -> None:
        """The same, if the component takes it: `function(resource, *arguments)` says so, and what to change."""
        with self._settle().lock:
            answer = self.use(function, *arguments)
            self._replace(lambda config: change(config, answer))

    def __getstate__(self) -> dict[str, Any]:
        """All but the instance, for pickle and copy."""
        return {**self.__dict__, "_home": None}

    def _replace(self, change: Callable[[C], C]) -> None:
        config = None
        while self.config is not config:
            # Again where a signal handler has replaced it meanwhile, so that nothing it did is lost.
            config = self.config
            changed = change(config)
        self.config = changed

    def _settle(self) -> _Home[R]:
        process = components.process
        with process.lock:
            if self._home is None or self._home.process is not process:
                # New, unpickled, or on the other side of a fork.
                self._home = _Home(process)
            return self._home


def _nothing(resource: Resource) -> None:
    """Asks for no more than that it is there."""


class Answered:
    """An object whose `_engine` answers for it."""

    _engine: Engine[Any, Any]

    def __getstate__(self) -> dict[str, Any]:
        """With an engine that is not yet at work, for pickle and copy."""
        return {**self.__dict__, "_engine": copy.copy(self._engine)}
