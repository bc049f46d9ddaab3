"""Checks that the ranks of a job read the same epoch of the same data."""

from __future__ import annotations

import copy
import hashlib
import json
import os
import sys
from collections import Counter
from typing import Any, NamedTuple

import numpy as np
import torch
import torch.distributed as dist

from .. import Batcher, ContradictionError, MissingError, Order, OutOfRangeError, SamedealError, WrongTypeError
from ..engine import arguments as check
from ..files import Shards
from ..files.sources import Sources
from .batches import BatchSampler
from .dataset import ShardedDataset
from .identity import identity_of
from .resumable import Resumable
from .sampler import DistributedSampler
from .states import text_of
from .steps import StepBatchSampler

_BYTES = 2048
"""The bytes of facts that each rank sends to the others if digests differ."""
_Dealt = DistributedSampler | BatchSampler | StepBatchSampler | ShardedDataset
_STEPS = "steps"
"""The key under which each rank sends how many batches it will get."""
_NEXT, _NOW = "next", "now"
"""The keys under which each rank sends where its next pass begins, and how far it has come."""
_LENGTHS = "window_lengths"
"""The key of a checksum of the lengths in the window that a rank reads next, or is in."""
_PLACES = ("consumed", "history", "step", "start", _STEPS)
"""The members of `_NEXT` and `_NOW`. Each kind of sampler has some of them."""
_DEPTH = 8
"""How many samplers and loaders may be wrapped in each other."""


def verify_ranks(sampler: Any, group: Any = None, *, equal_steps: bool = True) -> None:
    """Checks that all ranks have the same configuration. Call it before each epoch, on every rank.

    The check uses one `all_gather` of 64 bytes, and another one of 2 kB if ranks differ. If the seed, epoch, order,
    number of samples or lengths differ between ranks, if a rank number is missing or comes twice, or if the data was
    divided among ranks before, every rank gets an error that names the value that differs, and the ranks. For a
    `ShardedDataset`, the number of loader workers is compared too, and the files: their names, and in Parquet the bytes
    of each and the SHA-256 of its footer. If there are more than 16,384 lengths, only 16,384 of them are compared, and
    the lengths of the window that is read next. To compare more, call this again in the middle of a long epoch; to
    compare all, compare `fingerprint()`.

    In the middle of a pass, the progress of ranks is compared. A rank that was just resumed from a state of another
    rank agrees with that rank. This works with `Resumable`, and for a loader without workers. Workers fetch batches
    ahead, so without `Resumable` the progress of the loop is unknown, and is not compared.

    Ranks with different numbers of steps are an error too, because training would hang when one of them ends. This
    happens with whole shards and with `remainder="uneven"`. For a `ShardedDataset`, pass the loader, because its number
    of workers decides which rows a rank reads, and in how many steps.

    If you pass a loader, its sampler is checked, and its `batch_size` and `drop_last` must be equal on all ranks. A
    loader that Accelerate has prepared divides the batches of each rank among all ranks again, so that most samples are
    never read. That is an error too.

    Args:
        sampler: A `DistributedSampler`, `BatchSampler`, `StepBatchSampler`, `ShardedDataset` or `Resumable` of this
            package, or a loader with one of them.
        group: The process group. All its ranks must call this. By default, the group of the whole job.
        equal_steps: Whether all ranks must have the same number of steps. Use False if they do not wait for each other,
            for example in an evaluation.

    Raises:
        ContradictionError: Ranks differ, or the loader would divide data that is already divided.
        MissingError: There is no process group, but more than one rank.
        WrongTypeError: The value is no such sampler.
    """
    compare(sampler, group, None if check.boolean("equal_steps", equal_steps) else 0)


def compare(source: Any, group: Any, steps: int | None) -> None:
    """Does the checks of `verify_ranks`. `steps`: how many steps this rank will take; None: as many as its loader."""
    if not (dist.is_available() and dist.is_initialized()):
        if _place_of(_inside(source).sampler)[1] > 1:
            raise MissingError("group", "", "a process group: call torch.distributed.init_process_group before")
        return
    try:
        found = _inside(source)
        mine = _told(found)
        mine |= {_NEXT: _next(found, steps), _NOW: _now(found, steps)}
        _check_undivided(found)
    except Exception as error:
        # Sends the failure first, since the other ranks would wait for this rank.
        text = str(error) if isinstance(error, SamedealError) else f"{type(error).__name__}: {error}"
        mine = {"failure": text[:200]}
        _are_alike(mine, False, group)
        _gathered(mine, group)
        raise
    if not _are_alike(mine, found.sampler._shares, group):
        _compare(_gathered(mine, group), found.sampler._shares)


def check_all_read(loader: Any) -> None:
    """Raises an error on all ranks if only some of them have batches. All ranks must call this.

    In an evaluation, ranks meet only at the end, so they may have different numbers of batches. But a rank without any
    batch has no metric for the others, which wait for it.
    """
    own = _steps(_inside(loader))
    if own is None:
        # The loader has no end, or all ranks have equally many steps, or steps cannot be counted.
        return
    counts = _all_gather(torch.tensor([own]), None)[:, 0].tolist()
    if any(counts) and not all(counts):
        told = "at least one batch on every rank: a rank without batches logs nothing, and others wait for its metrics"
        advice = f'{told} (deal="samples" or remainder="pad" gives every rank one)'
        raise ContradictionError(_STEPS, _values(counts), advice)


class _Found(NamedTuple):
    """The sampler by which a loader reads, and facts about the loader."""

    sampler: _Dealt
    divider: str | None
    """The name of the class between loader and sampler that deals batches to processes again, if there is one."""
    batches: dict[str, Any]
    """The batch size and `drop_last` of the loader, if the sampler deals single samples."""
    workers: int | None
    """How many workers the loader has; None if there is no loader."""


def _inside(source: Any) -> _Found:
    """The sampler inside of a loader."""
    found, divider, workers = source, None, None
    batches: dict[str, Any] = {}
    accelerate = sys.modules.get("accelerate.data_loader")
    names = () if accelerate is None else ("BatchSamplerShard", "IterableDatasetShard")
    shards: tuple[Any, ...] = tuple(getattr(accelerate, name) for name in names)
    for _ in range(_DEPTH):
        if isinstance(found, _Dealt):
            return _Found(found, divider, batches if isinstance(found, DistributedSampler) else {}, workers)
        if isinstance(found, Resumable):
            found = found.loader
            continue
        deals = isinstance(found, shards) and found.num_processes > 1
        if deals or (accelerate is not None and _is_sent(found, accelerate)):
            divider = type(found).__name__
        if isinstance(size := getattr(found, "batch_size", None), int):
            batches = {"batch_size": size, "drop_last": bool(getattr(found, "drop_last", False))}
        if isinstance(count := getattr(found, "num_workers", None), int):
            workers = count
        dataset = getattr(found, "dataset", None)
        if isinstance(dataset, (ShardedDataset, *shards)):
            found = dataset
            continue
        found = next(
            (part for name in ("batch_sampler", "sampler") if (part := getattr(found, name, None)) is not None), None
        )
    allowed = (
        "a DistributedSampler, BatchSampler, StepBatchSampler, ShardedDataset or Resumable of samedeal.torch, or a "
        "loader with one"
    )
    raise WrongTypeError("sampler", check.described(source), allowed)


def _is_sent(loader: Any, accelerate: Any) -> bool:
    """Whether Accelerate lets process 0 read the batches of all processes, and send them."""
    return isinstance(loader, accelerate.DataLoaderDispatcher) and loader.state.num_processes > 1


def _check_undivided(found: _Found) -> None:
    """Raises if the batches of one rank would be dealt to all ranks again."""
    sampler, divider = found.sampler, found.divider
    _, world_size = _place_of(sampler)
    if divider is not None and world_size > 1:
        value = f"prepared by Accelerate, whose {divider} deals the batches of this rank to all ranks again"
        allowed = f"one that is not: its {type(sampler).__name__} has divided the data among {world_size} ranks already"
        raise ContradictionError("loader", value, f"{allowed} (samedeal.accelerate.prepare)")


def _told(found: _Found) -> dict[str, Any]:
    """The facts that must be equal on all ranks, and the rank."""
    sampler = found.sampler
    rank, world_size = _place_of(sampler)
    told: dict[str, Any] = {"sampler": type(sampler).__name__, "world_size": world_size, "rank": rank}
    if isinstance(sampler, ShardedDataset):
        names = ("deal", "epoch", "batch_size", "drop_last")
        shared = _shared(sampler._order) | {name: getattr(sampler, name) for name in names}
        shared |= {"remainder": sampler._given["remainder"], "lost": _short(sorted(sampler.shards.lost))}
        shared |= {"files": _digest(_files_of(sampler.shards)), "max_failed_rows": sampler.max_failed_rows}
        # Without workers, the main process reads as one worker does.
        shared |= {"workers": None if found.workers is None else max(1, found.workers)}
        return told | shared
    if isinstance(sampler, DistributedSampler):
        core = sampler._upcoming()
        dealt = ("dataset_size", "seed", "order", "epoch", "remainder", "unit")
        shared = {name: getattr(core, name) for name in dealt}
        if isinstance(sampler._order, Order):
            # Without `samples`, the number of positions of a blend, which `positions` names.
            members = _shared(json.loads(core.recipe)["order"])
            shared |= {name: value for name, value in members.items() if name not in (*shared, "samples")}
            shared["positions"] = core.epoch_length
        return told | shared | found.batches | {"dataset": _identity(sampler.dataset)}
    if isinstance(sampler, StepBatchSampler):
        schedule = sampler._upcoming()
        sections = json.loads(schedule.recipe)
        shared = _shared(sections["order"]) | _shared(sections["steps"])
        shared |= {"layout": schedule.layout, "unit": schedule.unit}
        return told | shared | {"dataset": _identity(sampler.dataset)}
    plan = sampler._upcoming()
    sections = json.loads(plan.recipe)
    shared = _shared(sections["order"]) | _shared(sections["batch"])
    return told | shared | {"epoch": plan.epoch}


def _next(found: _Found, steps: int | None) -> dict[str, Any]:
    """The place at which the next pass of this rank begins, and how many steps it has."""
    sampler = found.sampler
    place: dict[str, Any]
    if isinstance(sampler, ShardedDataset):
        state = sampler._upcoming().state
        place = {"consumed": 0, "history": []} if state is None else _place_in(state)
    elif isinstance(sampler, DistributedSampler):
        place = {"consumed": sampler._upcoming().consumed}
    elif isinstance(sampler, StepBatchSampler):
        place = {"step": sampler.step}
    else:
        plan = sampler._upcoming()
        state = plan.state(0)
        place = {**_place_in(state), **_lengths_at(plan, state), "start": sampler._start}
    return place | {_STEPS: _steps(found) if steps is None else steps}


def _now(found: _Found, steps: int | None) -> dict[str, Any] | None:
    """How far this rank has come, in a pass or before one, and how many steps are left; None if that is unknown."""
    sampler = found.sampler
    count, one = sampler._count, sampler._pass
    if count is None and _is_read_ahead(sampler):
        return None
    try:
        text = text_of(sampler.state_dict())
        place = _place_in(text)
        if isinstance(sampler, BatchSampler):
            place |= _lengths_at(sampler._upcoming(), text)
    except SamedealError:
        # A subclass that deals another number of samples has no states. It is compared by its next pass.
        return _next(found, steps)
    if steps is None and (steps := _steps(found)) is not None:
        if count is not None and count.end is not None:
            taken = count.end if count.over else min(count.start + count.steps * count.batch, count.end)
            steps = _batches(found, count.end - taken)
        elif isinstance(sampler, ShardedDataset):
            steps -= 0 if one is None else one.taken
        elif one is not None:
            steps = _batches(found, one.end - one.taken)
    return place | {_STEPS: steps}


def _is_read_ahead(sampler: _Dealt) -> bool:
    """Whether workers fetch batches that the loop has not got yet."""
    if isinstance(sampler, ShardedDataset):
        return sampler._board.workers > 0
    asking = None if sampler._pass is None else sampler._pass.asking
    return asking is not None and asking.ahead and (not sampler._over or asking.is_ahead(sampler._over))


def _place_in(state: str) -> dict[str, Any]:
    """The place in the epoch or training that a state has, in short form."""
    members = json.loads(state)
    place = {name: members[name] for name in _PLACES if name in members}
    if "step" in place:
        # The other members follow from the step.
        return {"step": place["step"]}
    if "history" in place:
        place["history"] = _short([list(segment.values()) for segment in place["history"]])
    return place


def _lengths_at(plan: Batcher, state: str) -> dict[str, Any]:
    """The checksum of the lengths of the window that a state is in, or that is read next."""
    members = json.loads(state)
    if not members["history"]:
        if state != plan.state(0):
            plan = copy.copy(plan)
            plan.resume(state)
        try:
            members = json.loads(plan.state(1))
        except OutOfRangeError as error:
            if error.field != "steps":
                raise
    return {_LENGTHS: members.get("checksum", "")}


def _short(history: list[Any]) -> Any:
    return _digest(history) if len(history) > 1 else history


def _steps(found: _Found) -> int | None:
    """How many steps this rank will take; None if there is no end, or the number is unknown or needs a whole plan."""
    sampler = found.sampler
    if isinstance(sampler, ShardedDataset):
        return None if found.workers is None else sampler._length(found.workers)
    if isinstance(sampler, StepBatchSampler) and sampler.steps is None:
        # This rank is endless. A rank with an end has a number here, and the comparison finds the difference.
        return None
    if isinstance(sampler, BatchSampler):
        # Ranks with the same recipe and state have equally many steps. To count them would plan the whole epoch.
        return None
    return _batches(found, len(sampler))


def _batches(found: _Found, count: int) -> int:
    """How many batches `count` items of a sampler make."""
    size: int | None = found.batches.get("batch_size")
    if not size:
        return count
    return count // size if found.batches["drop_last"] else -(-count // size)


def _place_of(sampler: _Dealt) -> tuple[int, int]:
    core = sampler if isinstance(sampler, ShardedDataset) else sampler._current()
    return core.rank, core.world_size


def _identity(dataset: Any) -> str | None:
    """The identity of a dataset in short form; None if it has none."""
    found = identity_of(dataset, names=True)
    return _digest(found) if any(found) else None


def _files_of(shards: Shards) -> list[Any]:
    """The names of the files of each source, below their common folder, and digests of their sizes and footers.

    The path of the folder may differ between ranks.
    """
    found: list[Any] = []
    for part in shards.parts if isinstance(shards, Sources) else (shards,):
        paths = [path.replace(os.sep, "/") for path in part.paths]
        # Paths may be URLs, which `commonpath` would change.
        start = os.path.commonprefix(paths).rfind("/") + 1  # noqa: RUF071
        found.append([path[start:] for path in paths])
        if part.identities is not None:
            found.append([_digest(part.identities.sizes), _digest(part.identities.digests)])
    return found


def _shared(members: dict[str, Any]) -> dict[str, Any]:
    """The members of a section of a recipe, with `name` as "order", and with digests in place of lists and objects."""
    return {
        "order" if name == "name" else name: _digest(value) if isinstance(value, (dict, list)) else value
        for name, value in members.items()
    }


def _digest(value: Any) -> str:
    data = value.tobytes() if hasattr(value, "tobytes") else json.dumps(value).encode()
    return hashlib.blake2b(data, digest_size=8).hexdigest()


def _are_alike(mine: dict[str, Any], shares: bool, group: Any) -> bool:
    """Whether all ranks agree, by digests. The answer is the same on every rank."""
    failed = "failure" in mine
    shared = {name: value for name, value in mine.items() if name not in ("rank", _NEXT, _NOW)}
    parts = [int.from_bytes(bytes.fromhex(_digest(part)), "big", signed=True) for part in (shared, mine.get(_NEXT))]
    now = mine.get(_NOW)
    known = now is not None
    parts.append(int.from_bytes(bytes.fromhex(_digest(now)), "big", signed=True) if known else 0)
    own = [int(failed), *parts, int(known), int(shares), mine.get("rank", 0), mine.get("world_size", 0)]
    rows = _all_gather(torch.tensor(own, dtype=torch.int64), group).numpy()
    failures, digests, nexts, nows, knowns, sharing, ranks, sizes = rows.T
    if failures.any() or not all((column == column[0]).all() for column in (digests, sharing, sizes)):
        return False
    nows = nows[knowns == 1]
    if not (nexts == nexts[0]).all() and not (nows == nows[:1]).all():
        return False
    size, world_size = len(rows), int(sizes[0])
    if (world_size != size and not sharing[0]) or size % world_size or ranks.max() >= world_size:
        return False
    return bool((np.bincount(ranks, minlength=world_size) == size // world_size).all())


def _gathered(mine: dict[str, Any], group: Any) -> list[dict[str, Any]]:
    """The facts of every rank, in the order of ranks."""
    text = json.dumps(mine, separators=(",", ":")).encode()
    sent = torch.zeros(_BYTES, dtype=torch.uint8)
    sent[: len(text)] = torch.frombuffer(bytearray(text), dtype=torch.uint8)
    return [json.loads(row.tobytes().rstrip(b"\0")) for row in _all_gather(sent, group).numpy()]


def _all_gather(own: torch.Tensor, group: Any) -> torch.Tensor:
    """A row of each rank, in order, on the CPU."""
    device = torch.device("cuda", torch.cuda.current_device()) if "nccl" in dist.get_backend(group) else "cpu"
    found = torch.empty((dist.get_world_size(group), len(own)), dtype=own.dtype, device=device)
    dist.all_gather(list(found), own.to(device), group=group)
    return found.cpu()


def _compare(told: list[dict[str, Any]], shared: bool) -> None:
    """Raises an error if ranks differ; every rank raises the same error."""
    failed = {number: one["failure"] for number, one in enumerate(told) if "failure" in one}
    if failed:
        value = "; ".join(f"on {_ranks([number])}: {text}" for number, text in failed.items())
        raise ContradictionError("sampler", value, "one that deals, on every rank")
    places = _places(told)
    told = [{**one, **place} for one, place in zip(told, places, strict=True)]
    # Compared further down: steps, which follow from the other facts, and rank numbers, which must differ.
    apart = ("rank", _STEPS, _NEXT, _NOW)
    names = [name for name in dict.fromkeys(name for one in told for name in one) if name not in apart]
    differ = [name for name in names if len({json.dumps(one.get(name)) for one in told}) > 1]
    if differ:
        first = differ[0]
        # Two kinds of samplers have different facts, so only the kind is named.
        others = differ[1:] if first != "sampler" else []
        also = f"; also different: {', '.join(others)}" if others else ""
        allowed = "the same on every rank"
        if first == "dataset":
            allowed = "the same on every rank: data that was divided among ranks before would be divided twice"
        raise ContradictionError(first, _values([one.get(first) for one in told]), allowed + also)
    size, world_size = len(told), told[0]["world_size"]
    if world_size != size and not (shared and size % world_size == 0):
        allowed = f"{size}, as many ranks as there are" + (" (a multiple of it, with the mesh)" if shared else "")
        raise ContradictionError("world_size", str(world_size), allowed)
    ranks = [one["rank"] for one in told]
    wrong = [rank for rank, times in Counter(ranks).items() if times != size // world_size]
    if wrong or len(set(ranks)) != world_size:
        allowed = (
            f"each of 0 to {world_size - 1} on {_times(size // world_size)}: ranks that are alike read the same samples"
        )
        raise ContradictionError("rank", _values(ranks), allowed)
    steps = [one.get(_STEPS) for one in told]
    if len(set(steps)) > 1:
        reason = "a rank without steps gets no data" if 0 in steps else "where one ends, the others would wait for ever"
        allowed = f"the same on every rank: {reason} (ranks that do not wait take equal_steps=False)"
        raise ContradictionError(_STEPS, _values(steps), allowed)


def _places(told: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The place of each rank that is compared: where its next pass begins, or how far it has come."""
    nexts, nows = ([one[view] for one in told] for view in (_NEXT, _NOW))
    if all(one == nexts[0] for one in nexts):
        return nexts
    known = [now for now in nows if now is not None]
    if all(now == known[0] for now in known):
        # Nothing to compare: the known places are equal, and the other ones are unknown.
        return [{}] * len(told)
    return nows if len(known) == len(told) else nexts


def _values(values: list[Any]) -> str:
    """The text of an error about values: each value with its ranks, the most frequent value first."""
    places: dict[str, list[int]] = {}
    for number, value in enumerate(values):
        places.setdefault(value if isinstance(value, str) else json.dumps(value), []).append(number)
    ordered = sorted(places.items(), key=lambda item: (-len(item[1]), item[1]))
    shown = [f"{value[:64]} on {_ranks(numbers)}" for value, numbers in ordered[:4]]
    return ", ".join(shown) + (f" and {len(ordered) - 4} others" if len(ordered) > 4 else "")


def _ranks(numbers: list[int]) -> str:
    few = ", ".join(map(str, numbers[:8])) + (f" and {len(numbers) - 8} more" if len(numbers) > 8 else "")
    return f"rank {few}" if len(numbers) == 1 else f"ranks {few}"


def _times(count: int) -> str:
    return "one rank" if count == 1 else f"{count} ranks"
