"""Laws that hold for every object, whatever was called before."""

from __future__ import annotations

import copy
import os
import pickle
import threading
from collections import Counter
from collections.abc import Callable
from itertools import chain
from typing import Any

import numpy as np
import samedeal
import samedeal.collate
import samedeal.ledger

MOST = 2000
"""The largest number of positions that a law reads."""


class BrokenError(AssertionError):
    """An error for a law that does not hold."""


def law(name: str, holds: Any, *told: Any) -> None:
    """Raises unless a law holds."""
    if not holds:
        raise BrokenError(name, *told)


def weight(value: Any) -> int:
    """The count of numbers in a result. The time that a call may take grows with it."""
    if isinstance(value, (list, tuple, dict)):
        parts = value.values() if isinstance(value, dict) else value
        return len(value) + sum(weight(part) for part in list(parts)[:1000])
    if isinstance(value, (samedeal.Loads,)):
        return sum(weight(part) for part in vars(value).values())
    if isinstance(value, (str, np.ndarray)):
        return int(getattr(value, "size", len(value)))
    if isinstance(value, samedeal.Split):
        # A split of many parts is made by a text that is written and read.
        return 2 * len(value.recipe)
    return 0


_DOCUMENTED: tuple[tuple[str, type[Exception], str], ...] = (
    ("Batcher", RuntimeError, "the batcher moved during iteration"),
    ("BatchStream.pickle", TypeError, "a BatchStream does not pickle"),
    ("BatchStream.copy", TypeError, "a BatchStream does not pickle"),
    ("Ledger.pickle", TypeError, "a Ledger does not pickle"),
    ("Ledger.copy", TypeError, "a Ledger does not pickle"),
    ("Ledger", TimeoutError, "found nothing free in"),
    # A caller's own value raises these errors: a closed file in place of a list, `int` as a function of progress.
    ("", ValueError, "I/O operation on closed file"),
    ("", ValueError, "int() base must be"),
    ("torch.StepBatchSampler", TypeError, "is endless, and has no len"),
    ("torch.Claim", TypeError, "a Ledger does not pickle"),
    ("Batcher.use_index", OSError, ""),
    ("build_index", OSError, ""),
    ("join_indices", OSError, ""),
    ("ledger.FileLog", OSError, ""),
    ("ledger.FolderLog", OSError, ""),
    ("ledger.Ledger", OSError, ""),
    ("ledger.Replay", OSError, ""),
    ("ledger.copy_log", OSError, ""),
    ("parquet", OSError, ""),
    ("torch.BatchSampler.use_index", OSError, ""),
    ("torch.PackedDataset.use_index", OSError, ""),
    ("torch.ShardedDataset", OSError, ""),
)


def documented(what: str, error: Exception) -> bool:
    """Whether the documentation has this exception besides `SamedealError`."""
    return any(
        what.startswith(start) and isinstance(error, kind) and text in str(error) for start, kind, text in _DOCUMENTED
    )


def control(value: Any) -> Any:
    """An answer of an object that costs little to compute, and that a failed call must not change."""
    ask = _CONTROLS.get(type(value))
    if ask is None:
        return None
    try:
        return ask(value)
    except samedeal.SamedealError as error:
        return str(error)


def _first(array: Any) -> bytes:
    return bytes(array.tobytes())


def _of_sampler(own: samedeal.Sampler) -> Any:
    return own.epoch, own.rank, own.consumed, len(own), _first(own.indices(0, min(len(own), 4)))


def _of_batcher(own: samedeal.Batcher) -> Any:
    return own.epoch, own.rank, own.consumed, len(own), _first(own.batch(0).samples) if len(own) else b""


_CONTROLS: dict[type, Callable[[Any], Any]] = {
    samedeal.Sampler: _of_sampler,
    samedeal.Batcher: _of_batcher,
    samedeal.Schedule: lambda own: (own.rank, own.num_steps, own.global_batch_size(0)),
    samedeal.Reading: lambda own: (own.epoch, own.is_rest, tuple(own.steps)),
    samedeal.ShardPlan: lambda own: (own.epoch, own.num_shards(0)),
    samedeal.ChunkStream: lambda own: (own.epoch, own.reader, _first(own.chunks(0, 3))),
    samedeal.Split: lambda own: own.parts[:3],
    samedeal.Mesh: lambda own: (own.axes, own.data_world_size),
    samedeal.Order: lambda own: own.to_json()[:1000],
    samedeal.BatchStream: lambda own: (own.rank, vars(own.metrics())),
    samedeal.ledger.MemoryLog: lambda own: len(own.read(0)),
}


def check(own: Any) -> None:
    """Checks the laws of an object's class."""
    test = _LAWS.get(type(own))
    if test is not None:
        test(own)


def _sampler(own: samedeal.Sampler) -> None:
    """Ranks deal the positions; places are inverse to samples; a state gives the rest."""
    if own.num_positions > MOST or own.world_size > 16 or (own.dataset_size > 10**6 and own.order not in ("feistel",)):
        return
    mine = own.indices()
    law("iteration gives the indices", [*own] == mine.tolist())
    law("len is what iteration gives", len(own) == len(mine) == own.num_samples)
    law("indices are below samples", not len(mine) or 0 <= mine.min() <= mine.max() < own.dataset_size)
    batches = [own.batch(number, 3) for number in range(own.num_batches(3))]
    law("batches are the indices", [one for batch in batches for one in batch.tolist()] == mine.tolist())
    ranks = []
    for rank in range(own.world_size):
        other = copy.copy(own)
        other.set_rank(rank)
        ranks.append(other.indices().tolist())
    law("ranks have all positions", sum(map(len, ranks)) == own.num_positions)
    first, end = own.consumed, own.consumed + own.num_positions
    for position in range(first, end, max(1, (end - first) // 20)):
        sample, place = own.sample_at(position), own.place_of(position, 4)
        law("a place has its sample", ranks[place.rank][place.index_in_rank] == sample, position)
        law(
            "a batch has its sample",
            place.batch == place.index_in_rank // 4 and place.index_in_batch == place.index_in_rank % 4,
        )
        found = own.locate(sample, 4)
        law("a sample is found", found is not None and found.position <= position, position)
        law("where it is", ranks[found.rank][found.index_in_rank] == sample, position)
        fate = own.fate(sample, 4)
        law("a place of its fate", position in [one.position for one in fate.places], position)
        law("from its position on", own.locate_from(sample, position, 4).position == position, position)
    if own.remainder == "uneven" and own.order in samedeal.plain_orders() and not own.consumed:
        law("all samples once", sorted(one for rank in ranks for one in rank) == [*range(own.dataset_size)])
    if own.layout != "contiguous" and len(mine) >= own.unit:
        taken = own.unit * (len(mine) // own.unit // 2)
        rest = copy.copy(own)
        rest.resume(own.state(taken))
        law("a state gives the rest", rest.indices().tolist() == mine.tolist()[taken:], taken)
    if not own.consumed and not own._engine.fixed[0].lists:
        again = samedeal.Sampler.from_recipe(own.recipe, rank=own.rank, epoch=own.epoch)
        law("a recipe makes an equal sampler", again.indices().tolist() == mine.tolist())
        law("recipes are canonical", again.recipe == own.recipe)


def _batcher(own: samedeal.Batcher) -> None:
    """All ranks have the same steps; a state gives the rest; places are inverse to batches."""
    if len(own.lengths) > MOST or own.world_size > 8:
        return
    ranks = [[*own.batches(rank=rank)] for rank in range(own.world_size)]
    law("all ranks have the same steps", {len(one) for one in ranks} == {len(own)})
    own_batches = ranks[own.rank]
    law("a batch is that of the pass", all(_same(own.batch(at), one) for at, one in enumerate(own_batches[:5])))
    seen = Counter(sample for rank in ranks for batch in rank for sample in batch.samples.tolist())
    law("samples are in the lengths", not seen or max(seen) < len(own.lengths))
    for at, batch in enumerate(own_batches[:3]):
        for sample in batch.samples[:3].tolist():
            law("a sample is found", any(p.step == at and p.rank == own.rank for p in own.locate(sample)), sample)
    metrics = own.metrics()
    law("steps are counted", metrics.steps == len(own))
    law("items are counted", metrics.items == sum(seen.values()))
    half = len(own) // 2
    rest = copy.copy(own)
    rest.resume(own.state(half))
    law("a state gives the rest", len(rest) == len(own) - half, half)
    law("the rest is the same", all(map(_same, rest, own_batches[half:])), half)
    law("fingerprints of equal plans are equal", copy.copy(own).fingerprint() == own.fingerprint())


def _same(some: samedeal.Batch, other: samedeal.Batch) -> bool:
    return all(np.array_equal(mine, others) for mine, others in zip(some, other, strict=True))


def _schedule(own: samedeal.Schedule) -> None:
    """Steps follow one another; a sample is found where it is."""
    if own.global_batch_size(0) > MOST or own.world_size > 16 or own.dataset_size > 10**6:
        return
    if own.global_batch_size(0) % (own.world_size * own.unit):
        return
    try:
        got = [own.batch(step) for step in range(min(3, own.num_steps))]
    except samedeal.ContradictionError:
        return
    law("batches are the indices", np.concatenate(got or [[]]).tolist() == own.indices(0, len(got)).tolist())
    total = sum(len(at.batch(0)) for at in map(own.at_rank, range(own.world_size)))
    law("a step has its batch size", total == own.global_batch_size(0))
    for step, batch in enumerate(got):
        for sample in batch[:3].tolist():
            place = own.locate(sample, step)
            law("a sample is found", place is not None and place.step == step, sample)
        law("a state is of its step", own.resume(own.state(step)) == step)
        where = own.place_of(step)
        law("steps and positions", own.step_of(where.epoch, where.position) == step)
        law("steps and draws", own.step_of_consumed(own.samples_consumed(step)) == step)


def _reading(own: samedeal.Reading) -> None:
    """Readers have all samples; rounds have the samples; a state gives the rest."""
    if own.sizes.sum() > MOST or own.world_size * own.workers > 16:
        return
    readers = [(rank, worker) for rank in range(own.world_size) for worker in range(own.workers)]
    for reader in readers[:3]:
        mine = own.indices(*reader)
        law("samples are counted", len(mine) == own.num_samples(*reader))
        law("indices are below samples", not len(mine) or mine.max() < own.sizes.sum())
        law("rounds have the samples", sum(found.count for found in own.rounds(*reader)) == len(mine))
    steps = [own.num_steps(rank) for rank in range(own.world_size)]
    law("steps are those of the ranks", tuple(own.steps) == (min(steps), max(steps)))
    half = max(steps) // 2
    rest = own.resume(own.state(half))
    law("a state gives the rest", rest.num_steps(0) == max(0, steps[0] - half), half)
    again = pickle.loads(pickle.dumps(rest))
    law("a rest pickles", again.indices(0).tolist() == rest.indices(0).tolist())


def _plan(own: samedeal.ShardPlan) -> None:
    """Every shard has one reader, and its rows are a permutation."""
    if len(own.sizes) > MOST or own.world_size * own.workers > 64:
        return
    law("it verifies", own.verify().ok)
    readers = [(rank, worker) for rank in range(own.world_size) for worker in range(own.workers)]
    shards = [own.shards(*reader).tolist() for reader in readers]
    law("every shard once", sorted(chain(*shards)) == [*range(len(own.sizes))])
    law("shards are counted", [own.num_shards(*reader) for reader in readers] == [*map(len, shards)])
    law("loads have all samples", own.loads("workers").samples.sum() == own.sizes.sum())
    for shard in range(min(3, len(own.sizes))):
        if own.sizes[shard] <= MOST:
            law("rows are a permutation", sorted(own.rows(shard)) == [*range(own.sizes[shard])], shard)


def _chunks(own: samedeal.ChunkStream) -> None:
    """Iteration gives the chunks."""
    mine = own.chunks(0, 7).tolist()
    law("chunks and windows", mine == [one for start in (0, 3, 6) for one in own.chunks(start, 3).tolist()][:7])


def _split(own: samedeal.Split) -> None:
    """Parts are disjoint and have all samples."""
    if len(own.parts) > 50:
        return
    try:
        total = sum(len(own.indices(number)) for number in range(len(own.parts)))
        if total > MOST:
            return
    except (samedeal.MissingError, samedeal.OutOfMemoryError):
        total = 200
    parts = [own.indices(number, total).tolist() for number in range(len(own.parts))]
    law("each sample in one part", sorted(chain(*parts)) == [*range(total)])
    law("others are the others", own.others(0, total).tolist() == sorted(chain(*parts[1:])))
    for number, part in enumerate(parts):
        law("part_of is the inverse", set(own.part_of(part).tolist()) <= {number}, number)


def _mesh(own: samedeal.Mesh) -> None:
    """Coordinates have an inverse; ranks with the same data share their reader."""
    for rank in {0, own.world_size // 2, own.world_size - 1}:
        law("coordinates have an inverse", own.rank_at(own.coordinates(rank)) == rank, rank)
        if own.world_size <= 4096:
            peers = own.peers(rank)
            law("a rank is among its peers", rank in peers, rank)
            law("peers share data", {own.data_rank(peer) for peer in peers} == {own.data_rank(rank)}, rank)


def _order(own: samedeal.Order) -> None:
    """An order is equal to its copies, and to the order of its members."""
    made = samedeal.Order(own.to_dict(), own.lists)
    law("members make an equal order", made == own and hash(made) == hash(own))


_LAWS: dict[type, Callable[[Any], None]] = {
    samedeal.Sampler: _sampler,
    samedeal.Batcher: _batcher,
    samedeal.Schedule: _schedule,
    samedeal.Reading: _reading,
    samedeal.ShardPlan: _plan,
    samedeal.ChunkStream: _chunks,
    samedeal.Split: _split,
    samedeal.Mesh: _mesh,
    samedeal.Order: _order,
}


def replayed() -> samedeal.ledger.Replay:
    """The schedule of a log with a few runs."""
    log = samedeal.ledger.MemoryLog()
    for claim in samedeal.ledger.Ledger(samedeal.Sampler(9), log, reader=0, block_size=3):
        law("a claim has its samples", len(claim.samples) == len(claim))
    return samedeal.ledger.Replay(log)


def copies(own: Any) -> None:
    """Copies and pickles answer as the object does."""
    for made in (copy.copy(own), copy.deepcopy(own), pickle.loads(pickle.dumps(own))):
        law("a copy answers the same", control(made) == control(own), type(made).__name__)
    repr(own)


def threads(own: Any) -> None:
    """Several threads get the same answers."""
    wanted, got = control(own), []
    started = [threading.Thread(target=lambda: got.append(control(own))) for _ in range(3)]
    for one in started:
        one.start()
    for one in started:
        one.join()
    law("threads get the same answers", got == [wanted] * 3)


def forked(own: Any) -> None:
    """A forked process gets the same answers."""
    wanted = repr(control(own)).encode()
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(writing, repr(control(own)).encode())
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        got = pipe.read()
    os.waitpid(child, 0)
    law("a fork gets the same answers", got == wanted, got[:200], wanted[:200])
