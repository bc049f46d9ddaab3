"""The class `Mesh`: which ranks of a job read the same samples."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from typing import Any, SupportsIndex

from ..engine import arguments as check
from ..engine.errors import MissingError, OutOfRangeError, UnknownNameError, WrongTypeError
from ..engine.instance import Engine
from ..generated.limits import MAX_AXES
from ..generated.mesh import Axis, MeshBase
from .binding import Grid, MeshConfig


class Mesh(MeshBase):
    """All ranks of a job as a grid, the last axis counting fastest (row-major, as torch's `init_device_mesh`).

    `Sampler(samples, rank=mesh.data_rank(rank), world_size=mesh.data_world_size)` deals different samples to ranks that
    differ along an axis named in ``shard``, and the same samples to other ranks. A `Mesh` can be pickled (as its
    configuration), and used from several threads, in signal handlers and finalizers, and on both sides of a fork.
    """

    _engine: Engine[Grid, MeshConfig]

    def __init__(self, world_size: SupportsIndex, axes: Mapping[str, SupportsIndex], shard: Iterable[str]) -> None:
        """Checks the mesh.

        Args:
            world_size: How many ranks there are, 1 to 2**32 - 1.
            axes: The size of each axis by its name, the slowest first: `{"dp": 2, "tp": 4}`. Up to 64 axes.
            shard: The names of the axes along which ranks get different samples, as in data parallelism. Along the
                other axes, the data is replicated: ranks get the same samples, as in tensor, context and pipeline
                parallelism.

        Raises:
            OutOfRangeError: `world_size` or a size is 0, or there are too many axes.
            UnknownNameError: There is no such axis in `shard`.
            ContradictionError: The product of the sizes is not `world_size`.
            WrongTypeError: A value is not of the type that its parameter takes.
        """
        ranks = check.integer("world_size", world_size, check.U32_FROM_1)
        if not isinstance(axes, Mapping):
            raise WrongTypeError("axes", check.described(axes), 'sizes by name, such as {"dp": 2, "tp": 4}')
        if ranks and len(axes) > MAX_AXES:
            # The component refuses this, too. The check is here so that no work is done for millions of names.
            raise OutOfRangeError("axes", f"{len(axes)} axes", *check.up_to(MAX_AXES))
        shown = {name: check.name("axes", name) for name in axes}
        self._names = tuple(shown)
        self._shard = _chosen(shard, shown)
        sizes = [
            Axis(
                crossing,
                _of_axis("axes", crossing, axes[name], f"1 to {ranks}"),
                "shard" if name in self._shard else "replicate",
            )
            for name, crossing in shown.items()
        ]
        self._engine = Engine(Grid, MeshConfig(ranks, tuple(sizes)))

    @property
    def world_size(self) -> int:
        """How many ranks there are."""
        return self._engine.config.world_size

    @property
    def axes(self) -> dict[str, int]:
        """The size of each axis by its name, the slowest first."""
        return dict(zip(self._names, (axis.size for axis in self._engine.config.axes), strict=True))

    @property
    def shard(self) -> tuple[str, ...]:
        """The names of the axes along which ranks get different samples."""
        return tuple(name for name in self._names if name in self._shard)

    def coordinates(self, rank: SupportsIndex) -> dict[str, int]:
        """The coordinate of a rank along each axis, by name."""
        found = self._ask(Grid.coordinates, check.u32("rank", rank))
        return dict(zip(self._names, found.tolist(), strict=True))

    def rank_at(self, coordinates: Mapping[str, SupportsIndex]) -> int:
        """The rank at a place of the grid: the inverse of `coordinates`.

        Raises:
            OutOfRangeError: A coordinate is not below the size of its axis.
            UnknownNameError: There is no such axis.
            MissingError: There is no coordinate for an axis.
        """
        if not isinstance(coordinates, Mapping):
            raise WrongTypeError("coordinates", check.described(coordinates), "a number for each axis, by name")
        for name in coordinates:
            shown = check.name("coordinates", name)
            if name not in self._names:
                names = ", ".join(self._shown_names()) or "no name, there are no axes"
                raise UnknownNameError("coordinates", shown[:64], names)
        import numpy

        place = [self._coordinate(axis, name, coordinates) for axis, name in self._named()]
        return self._engine.use(Grid.rank_at, numpy.array(place, dtype=numpy.uint32))

    def peers(self, rank: SupportsIndex) -> list[int]:
        """The ranks that get the same samples as `rank`, itself among them, ascending.

        Raises:
            OutOfRangeError: There is no such rank, or it has more than 2**20 peers.
        """
        peers: list[int] = self._ask(Grid.peers, check.u32("rank", rank)).tolist()
        return peers

    def __repr__(self) -> str:
        """The call that makes an equal mesh."""
        return f"Mesh({self.world_size}, {self.axes!r}, shard={list(self.shard)!r})"

    def _named(self) -> Iterable[tuple[Axis, str]]:
        return zip(self._engine.config.axes, self._names, strict=True)

    def _shown_names(self) -> list[str]:
        return [axis.name for axis in self._engine.config.axes]

    def _coordinate(self, axis: Axis, name: str, coordinates: Mapping[str, Any]) -> int:
        if name not in coordinates:
            raise MissingError("coordinates", "", f"a number for {axis.name}, {check.below(axis.size)}")
        return _of_axis("coordinates", axis.name, coordinates[name], check.below(axis.size))


def _chosen(shard: Iterable[str], known: Mapping[str, str]) -> frozenset[str]:
    """The names of axes in `shard`, checked."""
    # A set is allowed, since the order of the names means nothing.
    names = check.items("shard", shard, 'a list of names, such as ["dp"]', Set)
    for name in names:
        shown = check.name("shard", name)
        if name not in known:
            raise UnknownNameError("shard", shown[:64], ", ".join(known.values()) or "no name, there are no axes")
    return frozenset(names)


def _of_axis(field: str, name: str, value: Any, allowed: str) -> int:
    """A size or a coordinate of an axis. Numbers beyond 32 bits raise the same error as in the component."""
    number = check.whole(field, value)
    if 0 <= number <= check.U32_MAX:
        return number
    raise OutOfRangeError(field, f"{name} = {check.shown(number)}"[:64], allowed)
