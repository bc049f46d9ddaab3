"""Meshes and launchers of the interface: their functions, and an instance that answers for one mesh."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, TypeVar

from . import _abi as abi
from ._abi import STRING, U32, U32S, Function, Type, fallible, returned, scalar
from ._component import Component
from ._core import Core
from ._plan_records import ROLES, Axis, Detection, MeshConfig

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

T = TypeVar("T")

_MESH = "samedeal:deal/mesh@0.1.0"
_LAUNCH = "samedeal:deal/launch@0.1.0"

_MEMORY = 2**31
"""Memory limit: nothing here grows with the data."""


def _pair(name: str, value: str) -> tuple[str, str]:
    return name, value


def _detection(
    rank: int,
    world: int,
    local_rank: int | None,
    local_world: int | None,
    launcher: str,
    used: list[str],
    warnings: list[str],
) -> Detection:
    return Detection(rank, world, local_rank, local_world, launcher, tuple(used), tuple(warnings))


_AXIS = abi.record(Axis, name=STRING, size=U32, role=abi.enum(ROLES))
_VARIABLE = abi.record(_pair, name=STRING, value=STRING)
_DETECTION = abi.record(
    _detection,
    rank=U32,
    world=U32,
    local_rank=abi.option(U32),
    local_world=abi.option(U32),
    launcher=STRING,
    used=abi.listing(STRING),
    warnings=abi.listing(STRING),
)


def _method(name: str, lift: abi.Lift[T], **parameters: Type[Any]) -> Function[T]:
    return Function(f"{_MESH}#[method]mesh.{name}", lift, this=U32, **parameters)


_mesh = Function(f"{_MESH}#[constructor]mesh", fallible(U32), world=U32, axes=abi.listing(_AXIS))
_data_world = _method("data-world", scalar(U32))
_data_rank = _method("data-rank", fallible(U32), rank=U32)
_coordinates = _method("coordinates", fallible(U32S), rank=U32)
_rank_at = _method("rank-at", fallible(U32), coordinates=U32S)
_peers = _method("peers", fallible(U32S), rank=U32)
_variables = Function(f"{_LAUNCH}#variables", returned(abi.listing(STRING)))
_detect = Function(
    f"{_LAUNCH}#detect",
    fallible(_DETECTION),
    environment=abi.listing(_VARIABLE),
    rank=abi.option(U32),
    world=abi.option(U32),
)


class Grid:
    """A `mesh` of the interface, in an instance of its own. The arguments must have been checked to cross."""

    def __init__(self, config: MeshConfig) -> None:
        self.core = Core(Component.SAMPLING, _MEMORY, "world", str(config.world))
        self._this = _mesh(self.core, *config)
        self.current = config

    def move(self, config: MeshConfig) -> bool:
        """Nothing moves a mesh."""
        return True

    def data_world(self) -> int:
        """How many ranks get different samples."""
        return _data_world(self.core, self._this)

    def data_rank(self, rank: int) -> int:
        """Which of them a rank is."""
        return _data_rank(self.core, self._this, rank)

    def coordinates(self, rank: int) -> NDArray[np.uint32]:
        """Where a rank stands along each axis."""
        return _coordinates(self.core, self._this, rank)

    def rank_at(self, coordinates: NDArray[np.uint32]) -> int:
        """The rank at a place of the grid."""
        return _rank_at(self.core, self._this, coordinates)

    def peers(self, rank: int) -> NDArray[np.uint32]:
        """The ranks that get the same samples."""
        return _peers(self.core, self._this, rank)


@functools.cache
def variables() -> tuple[str, ...]:
    """The names of all variables that `detect` looks at."""
    return tuple(_variables(Core(Component.SAMPLING, _MEMORY)))


def detect(environment: list[tuple[str, str]], rank: int | None, world: int | None) -> Detection:
    """The rank and the world of a process."""
    return _detect(Core(Component.SAMPLING, _MEMORY), environment, rank, world)
