"""The resource `mesh` of the interface, and its functions for launchers."""

from __future__ import annotations

import functools
from typing import NamedTuple

from ..engine.core import Core
from ..engine.instance import Engine, Resource
from ..generated import launch, mesh

_MEMORY = 2**31
"""The memory limit of an instance. Nothing here grows with the data."""


class MeshConfig(NamedTuple):
    """The configuration of a mesh, which decides which ranks share data."""

    world_size: int
    """Number of ranks."""
    axes: tuple[mesh.Axis, ...]
    """The axes, the slowest first."""


class Grid(Resource, mesh.Mesh):
    """A `mesh` of the interface, in an instance of its own. The caller checks that arguments fit the WIT types."""

    def __init__(self, config: MeshConfig) -> None:
        super().__init__(Core(_MEMORY, "world_size", str(config.world_size)), *config)
        self.current = config


class _Launchers(Resource):
    """An instance for the functions for launchers. It has no resource."""

    def __init__(self, config: None) -> None:
        self.core, self.current = Core(_MEMORY), config


@functools.cache
def _launchers() -> Engine[_Launchers, None]:
    # One instance for all callers, because making an instance costs more than its answers.
    return Engine(_Launchers, None)


@functools.cache
def variables() -> tuple[str, ...]:
    """The names of all variables that `detect` looks at."""
    return _launchers().ask(lambda own: launch.variables(own.core))


def detect(environment: list[tuple[str, str]], rank: int | None, world_size: int | None) -> launch.Detection:
    """The rank of a process, and the number of ranks."""
    return _launchers().ask(lambda own: launch.detect(own.core, environment, rank, world_size))
