"""The instance of the component behind an object, used by one caller at a time."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Generic, SupportsIndex, TypeVar

from . import arguments as check
from . import component as components
from .abi import Handle

T = TypeVar("T")
R = TypeVar("R", bound="Resource")
C = TypeVar("C")
Self = TypeVar("Self", bound="Answered")


class Resource(Handle):
    """A resource of the interface in an instance of its own. It never changes: to move means to replace it."""

    current: Any
    """The configuration of the resource, valid while its core is `whole`."""

    def move(self, config: Any) -> None:
        """Replaces the resource by one with another configuration."""
        raise NotImplementedError

    def become(self, made: Handle, config: Any) -> None:
        """Replaces the resource by `made`, a new resource of the same instance, which has this configuration."""
        # The core is not `whole` until `drop` has returned: after an exception before that, the instance is not used
        # again.
        self.core.whole = False
        self.handle, made.handle, self.current = made.handle, self.handle, config
        made.drop()


class _Home(Generic[R]):
    """The idle instance and the lock of an engine in one process."""

    def __init__(self, process: components.Process) -> None:
        self.process = process
        self.lock = threading.RLock()
        self.idle: R | None = None


class Engine(Generic[R, C]):
    """Runs the calls of one object: in any thread, in signal handlers and finalizers, and on both sides of a fork.

    Other threads wait for a lock. A call takes the idle instance, and puts it back afterwards if it is whole. So a call
    in the middle of another call of the same thread (by a signal handler or a finalizer) finds no idle instance, and
    makes a new one. An instance whose call was interrupted (by Ctrl-C or a trap) is not put back, and its memory is
    freed.
    """

    def __init__(self, make: Callable[..., R], config: C, *fixed: Any) -> None:
        """Makes the first resource by `make(config, *fixed)`; more are made the same way. `make` must be picklable."""
        self.config = config
        """The configuration for which calls are answered. It is replaced as a whole, so reading it needs no lock."""
        self.fixed = fixed
        self.kept: Any = None
        """Cached answers for several configurations, which one call gave. Another thread may replace them."""
        self._make = make
        self._facts: dict[Callable[..., Any], Any] = {}
        self._home: _Home[R] | None = None
        self.use(_nothing)

    def use(self, function: Callable[..., T], *arguments: Any) -> T:
        """Calls `function(resource, *arguments)` at the present configuration.

        While the function runs, no other caller moves the resource.
        """
        found: T = self.ask(_moved, self, function, arguments)
        return found

    def ask(self, function: Callable[..., T], *arguments: Any) -> T:
        """Calls `function` as `use` does, but at any configuration: the answer must not depend on the configuration."""
        home = self._home
        if home is None or home.process is not components.process:
            home = self._settle()
        with home.lock:
            resource, home.idle = home.idle, None
            if resource is None:
                resource = self._make(self.config, *self.fixed)
            try:
                return function(resource, *arguments)
            finally:
                if resource.core.whole:
                    home.idle = resource

    def fact(self, function: Callable[[R], T]) -> T:
        """The cached answer of `function`, which must be the same for all configurations."""
        if function not in self._facts:
            self._facts[function] = self.ask(function)
        found: T = self._facts[function]
        return found

    def set(self, change: Callable[[C], C]) -> None:
        """Changes the configuration without asking the component, which must accept the new one."""
        with self._settle().lock:
            self._replace(change)

    def ask_and_set(self, change: Callable[[C], C]) -> None:
        """Changes the configuration, if the component accepts it; otherwise raises the failure."""
        with self._settle().lock:
            self.use(_move, change)
            self._replace(change)

    def ask_and_keep(self, function: Callable[[R, C, C], Any], change: Callable[[C], C]) -> None:
        """Changes the configuration. The resource moves only when a later call needs the new configuration.

        `function(resource, config, before)` returns the new value of `kept`, or raises the failure of the component.
        """
        with self._settle().lock:
            before = self.config
            config = change(before)
            if config is not before:
                self.kept = self.ask(function, config, before)
            if not self.exchange(before, config):
                self._replace(change)

    def exchange(self, before: C, config: C) -> bool:
        """Sets `config`, which the component must accept, if the present one is `before`. Returns whether it is set."""
        home = self._home
        if home is None or home.process is not components.process:
            home = self._settle()
        with home.lock:
            if self.config is not before:
                return False
            # No signal handler runs between the comparison and the assignment.
            self.config = config
            return True

    def resume(self, function: Callable[..., C], change: Callable[[C, C], C], *arguments: Any) -> None:
        """Moves to the place of a state: `function(resource, *arguments)` moves the resource, and returns the place."""
        with self._settle().lock:
            found = self.use(function, *arguments)
            self._replace(lambda config: change(config, found))

    def __getstate__(self) -> dict[str, Any]:
        """The attributes for pickle and copy, without the instance and cached answers."""
        return {**self.__dict__, "_home": None, "_facts": {}, "kept": None}

    def _replace(self, change: Callable[[C], C]) -> None:
        config = None
        while self.config is not config:
            # Repeated if a signal handler has replaced the configuration meanwhile, so that its change is not lost.
            config = self.config
            changed = change(config)
        self.config = changed

    def _settle(self) -> _Home[R]:
        process = components.process
        with process.lock:
            if self._home is None or self._home.process is not process:
                # The engine is new or unpickled, or this is a forked child.
                self._home = _Home(process)
            return self._home


def _nothing(resource: Resource) -> None:
    """Does nothing: making the resource was enough to check the configuration."""


def _moved(resource: Resource, engine: Engine[Any, Any], function: Callable[..., T], arguments: tuple[Any, ...]) -> T:
    """Moves the resource to the configuration of the engine, and calls the function."""
    config = engine.config
    if resource.current is not config:
        resource.move(config)
    return function(resource, *arguments)


def _move(resource: Resource, change: Callable[[Any], Any]) -> None:
    """Moves the resource to the changed configuration, which the component may refuse."""
    resource.move(change(resource.current))


class Answered:
    """The base of classes whose answers come from an `_engine`."""

    _engine: Engine[Any, Any]
    _resource: Callable[..., Resource]
    _place: Callable[..., Any]
    """Makes a configuration from the arguments that a constructor of the interface takes besides the recipe."""

    def _begin(self, recipe: Any, memory_limit: SupportsIndex, *place: int) -> None:
        """Makes the engine for a recipe, at a place whose numbers were checked already."""
        limit = check.integer("memory_limit", memory_limit, check.MEMORY)

        def made(*numbers: int) -> Engine[Any, Any]:
            return Engine(self._resource, self._place(*numbers), recipe, limit)

        self._engine = check.asked(made, place)

    def _ask(self, function: Callable[..., T], *arguments: Any) -> T:
        """The answer of a function of the resource to arguments that were checked."""
        for argument in arguments:
            if type(argument) is check.Beyond:
                check.asked(lambda *given: self._engine.use(function, *given), arguments)
        return self._engine.use(function, *arguments)

    def __getstate__(self) -> dict[str, Any]:
        """The attributes for pickle and copy, with a copy of the engine that has no instance."""
        import copy

        return {**self.__dict__, "_engine": copy.copy(self._engine)}
