"""The instance of a component behind an object, handed to one caller at a time."""

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
    """A resource of the interface in an instance of its own. It never changes; another one may take its place there."""

    current: Any
    """The configuration that the resource has, whenever its core is `whole`."""

    def move(self, config: Any) -> None:
        """Puts the resource of another configuration into its place."""
        raise NotImplementedError

    def become(self, made: Handle, config: Any) -> None:
        """Puts a new resource of the same instance into its place, which is of this configuration."""
        # Until the end of the last call: everything changes, or the instance goes.
        self.core.whole = False
        self.handle, made.handle, self.current = made.handle, self.handle, config
        made.drop()


class _Home(Generic[R]):
    """The instances and the locks of an engine in one process."""

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
        """The configuration that callers are answered for. It is replaced as a whole: reading it needs no lock."""
        self.fixed = fixed
        self.kept: Any = None
        """Answers for several configurations, which one call gave. Another thread may replace them."""
        self._make = make
        self._facts: dict[Callable[..., Any], Any] = {}
        self._home: _Home[R] | None = None
        self.use(_nothing)

    def use(self, function: Callable[..., T], *arguments: Any) -> T:
        """Calls `function(resource, *arguments)` on an instance of its own, which no other caller moves meanwhile."""
        found: T = self.ask(_moved, self, function, arguments)
        return found

    def ask(self, function: Callable[..., T], *arguments: Any) -> T:
        """Calls it as `use` does, wherever the resource stands: the answer must not depend on that."""
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
        """A fact that no configuration changes: the instance is asked once."""
        if function not in self._facts:
            self._facts[function] = self.ask(function)
        found: T = self._facts[function]
        return found

    def set(self, change: Callable[[C], C]) -> None:
        """Answers for a changed configuration from now on, which the component takes in any case."""
        with self._settle().lock:
            self._replace(change)

    def ask_and_set(self, change: Callable[[C], C]) -> None:
        """Changes the configuration, if the component takes it."""
        with self._settle().lock:
            self.use(_move, change)
            self._replace(change)

    def ask_and_keep(self, function: Callable[[R, C, C], Any], change: Callable[[C], C]) -> None:
        """Changes it as `ask_and_set`, without a move: `function(resource, config, before)` fails, or gives `kept`.

        The instance moves when something else is asked of it.
        """
        with self._settle().lock:
            before = self.config
            config = change(before)
            if config is not before:
                self.kept = self.ask(function, config, before)
            if not self.exchange(before, config):
                self._replace(change)

    def exchange(self, before: C, config: C) -> bool:
        """Answers for `config`, which the component takes in any case, if nobody has changed `before` meanwhile."""
        home = self._home
        if home is None or home.process is not components.process:
            home = self._settle()
        with home.lock:
            if self.config is not before:
                return False
            # No signal handler comes between the two.
            self.config = config
            return True

    def resume(self, function: Callable[..., C], change: Callable[[C, C], C], *arguments: Any) -> None:
        """Answers from where a state was taken: `function(resource, *arguments)` goes there, and tells where it is."""
        with self._settle().lock:
            found = self.use(function, *arguments)
            self._replace(lambda config: change(config, found))

    def __getstate__(self) -> dict[str, Any]:
        """All but the instance, for pickle and copy."""
        return {**self.__dict__, "_home": None, "_facts": {}, "kept": None}

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
    """An object whose `_engine` answers for it."""

    _engine: Engine[Any, Any]
    _resource: Callable[..., Resource]
    _place: Callable[..., Any]
    """The configuration of its engine, from what a constructor of the interface takes besides a recipe."""

    def _begin(self, recipe: Any, memory_limit: SupportsIndex, *place: int) -> None:
        """Makes the engine for a recipe, at a place whose numbers were checked."""
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
        """With an engine that is not yet at work, for pickle and copy."""
        import copy

        return {**self.__dict__, "_engine": copy.copy(self._engine)}
