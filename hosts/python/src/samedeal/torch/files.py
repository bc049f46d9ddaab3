"""The files of a dataset, and the order in which they are read."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import index
from typing import Any

from .. import (
    ContradictionError,
    MissingError,
    Order,
    SamedealError,
    Sampler,
    UnknownNameError,
    WrongTypeError,
    blend,
    sharded,
)
from ..engine import arguments as check
from ..engine.warn import warn
from ..files import Shards, Sources
from ..files.paths import Paths
from .lanes import base_of

MakesOrder = Callable[[Order], Order]
"""A function from the order of files to the order in which they are read."""

OF_SOURCES = ("weights", "stages", "samples", "exhaustion", "max_passes", "exact", "by_lane")
"""Options of a blend of several sources."""


class SourcesWarning(UserWarning):
    """Several sources have the same files, so that their rows come more often than the weights say."""


@dataclass(frozen=True)
class Options:
    """The options of the constructor about the order of several sources."""

    weights: Mapping[str, Any] | None
    stages: list[Any] | None
    samples: Any
    exhaustion: str | None
    max_passes: Any
    exact: bool | None
    by_lane: bool | None
    order: MakesOrder | Mapping[str, MakesOrder] | None

    @property
    def multiples(self) -> list[int]:
        """The numbers of positions that have to be multiples of the lanes in a blend by lane.

        There are none if the blend cannot be by lane whatever they are, or if a value is an error, which comes when the
        blend is made.
        """
        is_apart = self.by_lane is None or check.boolean("by_lane", self.by_lane)
        if not is_apart or self.exhaustion not in (None, "repeat"):
            return []
        try:
            starts = [index(start) for start, _ in self.stages or ()]
            return starts if self.samples is None else [*starts, index(self.samples)]
        except (TypeError, ValueError):
            return []

    def check(self, deal: str, shuffle: Any, is_several: bool) -> None:
        """Raises an error if an option was given that is not used.

        Raises:
            ContradictionError: An option was given that is not used.
        """
        if is_several or self.order is not None:
            if deal != "samples":
                raise ContradictionError("deal", deal, "samples, with several sources or an order")
            if shuffle is not None and not check.boolean("shuffle", shuffle):
                raise ContradictionError("shuffle", "False", "True, with several sources or an order")
        for name in OF_SOURCES:
            value = getattr(self, name)
            if value is not None and not is_several:
                allowed = "none, unless paths is a dictionary of several sources"
                raise ContradictionError(name, check.described(value), allowed)


def find(paths: Any, columns: Any, filesystem: Any, lost: Any, format: Any, manifest: Any) -> Shards:
    """The files of one dataset, or of several by their names."""
    own = {name: value for name, value in {"lost": lost, "manifest": manifest}.items() if value is not None}
    if own:
        if isinstance(paths, (Mapping, Shards)):
            allowed = "none, where paths is a dictionary or Shards: pass it to Shards.find"
            name, value = next(iter(own.items()))
            raise ContradictionError(name, check.described(value), allowed)
        return Shards.find(paths, columns, filesystem=filesystem, format=format, **own)
    if isinstance(paths, Mapping):
        parts = {}
        for name, own in paths.items():
            try:
                parts[name] = find_one(own, columns, filesystem, format)
            except (ContradictionError, MissingError) as error:
                allowed = f"{error.allowed}, for the source {check.shown(name)}"
                raise type(error)(error.field, error.value, allowed) from None
        return Sources.join(parts)
    return find_one(paths, columns, filesystem, format)


def find_one(paths: Paths | Shards, columns: Any, filesystem: Any, format: Any) -> Shards:
    """The files of one dataset."""
    if not isinstance(paths, Shards):
        return Shards.find(paths, columns, filesystem=filesystem, format=format)
    if columns is not None:
        raise ContradictionError("columns", check.shown(columns), "those that the shards were found with")
    if filesystem is not None:
        raise ContradictionError("filesystem", check.described(filesystem), "that with which the shards were found")
    if format is not None:
        raise ContradictionError("format", check.described(format), "that of the shards, which were found with it")
    return paths


def order_of(shards: Shards, options: Options, sharding: Mapping[str, Any]) -> tuple[Order | None, str]:
    """The order of several sources, or the order that a function makes; None if the files alone decide the order.

    The text is the reason why a blend of several sources is not by lane. It is empty if the blend is by lane, if the
    caller has set `by_lane`, or if there is one source.

    Raises:
        SamedealError: Options do not fit together, or the function gives no order of these files.
    """
    if not isinstance(shards, Sources):
        files = sharded(shards.sizes, **sharding)
        if isinstance(options.order, Mapping):
            allowed = "a function, unless paths is a dictionary of several sources"
            raise ContradictionError("order", check.described(options.order), allowed)
        return None if options.order is None else _made(options.order, files), ""
    if options.weights is None:
        raise MissingError("weights", "", f"a weight for each source: {', '.join(shards.names)}")
    if not isinstance(options.weights, Mapping):
        allowed = "a dictionary: a whole number for the name of each source"
        raise WrongTypeError("weights", check.described(options.weights), allowed)
    own_orders = options.order if isinstance(options.order, Mapping) else {}
    for field, names in (("weights", options.weights), ("order", own_orders)):
        for name in names:
            if name not in shards.names:
                raise UnknownNameError(field, check.shown(name), ", ".join(shards.names), {"known": shards.names})
    own = {name: value for name, value in sharding.items() if name != "seed"}
    sources = {}
    for name, part in zip(shards.names, shards.parts, strict=True):
        if name not in options.weights:
            raise MissingError("weights", "", f"a weight for each source, also for {name!r}: 0 leaves it out")
        source = sharded(part.sizes, **own)
        if name in own_orders:
            source = _made(own_orders[name], source)
        sources[name] = (source, options.weights[name])
    given = {name: getattr(options, name) for name in ("samples", "exhaustion", "max_passes", "stages")}
    exact = options.exact is not None and check.boolean("exact", options.exact)
    given |= {"seed": sharding.get("seed"), "exact": exact}
    files, why = _blended(sources, options.by_lane, given)
    if options.order is None or isinstance(options.order, Mapping):
        return files, why
    made = _made(options.order, files)
    if not _blends(made.to_dict(), shards.names):
        # Weights, stages and other options of the blend would be lost without an error.
        allowed = "an order that is made of the blend; to change the order of one source, a dictionary of functions"
        raise ContradictionError("order", check.shown(made.to_dict()["name"]), allowed)
    return made, why


def _blended(sources: Mapping[str, Any], by_lane: bool | None, given: Mapping[str, Any]) -> tuple[Order, str]:
    """A blend, by lane if `by_lane` is true, or if it is None and that is possible; and the reason if it is not."""
    if by_lane is not None:
        # False is passed as None: with some options of a blend, the member `by_lane` is an error even if it is false.
        return blend(sources, by_lane=check.boolean("by_lane", by_lane) or None, **given), ""
    files = blend(sources, by_lane=True, **given)
    try:
        Sampler(order=files)
    except SamedealError as error:
        files = blend(sources, **given)
        return files, f"{error}{_rounded(sources, given, files)}"
    return files, ""


def _rounded(sources: Mapping[str, Any], given: Mapping[str, Any], files: Order) -> str:
    """The advice to take other numbers of positions, if the blend would then be by lane."""
    try:
        lanes = base_of(json.loads(Sampler(order=files).recipe)["order"])["lanes"]
        samples = None if given["samples"] is None else _up(given["samples"], lanes)
        stages = [(_up(start, lanes), weights) for start, weights in given["stages"] or ()]
        Sampler(order=blend(sources, by_lane=True, **{**given, "samples": samples, "stages": stages}))
    except (SamedealError, KeyError):
        # Other numbers of positions would not make the blend possible by lane.
        return ""
    found = [] if samples is None else [f"samples={samples}"]
    if stages:
        found.append(f"stages that begin at {', '.join(str(start) for start, _ in stages)}")
    return f"; it is possible with {' and '.join(found)}"


def _up(number: Any, multiple: int) -> int:
    return -(-index(number) // multiple) * multiple


def warn_of_shared_files(shards: Shards) -> None:
    """Warns if several sources have the same files."""
    shared = shards.shared() if isinstance(shards, Sources) else []
    if not shared:
        return
    path, names = shared[0]
    which = f"{path} is" if len(shared) == 1 else f"{len(shared):,} files are, such as {path},"
    told = (
        f"{which} in several sources ({', '.join(names)}): their rows come from each of these sources, more often than "
        "the weights say. Give each source files of its own, unless you mean that"
    )
    warn(told, SourcesWarning)


def _blends(members: Mapping[str, Any], names: Sequence[str]) -> bool:
    """Whether an order contains the blend of these sources."""
    sources = members.get("sources", [])
    if [source["name"] for source in sources][: len(names)] == list(names):
        return True
    nested = [source["order"] for source in sources if "order" in source]
    return any(_blends(of, names) for of in ([members["of"]] if "of" in members else []) + nested)


def _made(function: MakesOrder, files: Order) -> Order:
    if not callable(function):
        raise WrongTypeError("order", check.described(function), "a function from the order of the files to an order")
    made = function(files)
    if not isinstance(made, Order):
        raise WrongTypeError("order", check.described(made), "a function that returns an Order")
    return made
