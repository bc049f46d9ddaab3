"""Computes the expected values of the page by the Python package: reads questions, one a line as JSON, and writes the
answers."""

import json
import struct
import sys
import zlib

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import samedeal
from ledgers import ledger_log, ledger_replay, ledger_states, ledger_takeovers  # noqa: F401
from mixes import drift, labels, rank_drift, steps_of_blend  # noqa: F401


def step(recipe, epoch, step, batch, ranks, indices, drop=False):
    """The samples of ranks in a step, as far as they are on the screen, and the number of padding samples in the whole
    step."""
    rows = {}
    for rank in range(ranks):
        sampler = samedeal.Sampler.from_recipe(recipe, rank=rank, epoch=epoch)
        found = sampler.batch(step, batch, drop_last=drop) if step < sampler.num_batches(batch, drop_last=drop) else []
        first_padding = len(sampler) - sampler.num_padding - step * batch
        marked = [f"{sample}*" if index >= first_padding else str(sample) for index, sample in enumerate(found)]
        rows[rank] = marked[:indices]
    return rows


def places(recipe, samples, epochs, batch):
    """The places at which samples are seen."""
    found = []
    for epoch in epochs:
        sampler = samedeal.Sampler.from_recipe(recipe, epoch=epoch)
        for sample in samples:
            place = sampler.locate(sample, batch)
            while place is not None:
                found.append([sample, epoch, place.batch, place.rank, place.index_in_batch, place.position])
                end = sampler.epoch_length
                place = sampler.locate_from(sample, place.position + 1, batch) if place.position + 1 < end else None
    return found


def state(recipe, epoch, taken):
    """A checkpoint, and which samples of its epoch the run had seen."""
    ranks = json.loads(samedeal.Sampler.from_recipe(recipe).recipe)["deal"]["world_size"]
    samplers = [samedeal.Sampler.from_recipe(recipe, rank=rank, epoch=epoch) for rank in range(ranks)]
    seen = sorted({int(sample) for sampler in samplers for sample in sampler.indices(0, taken)})
    return {"state": samplers[0].state(taken), "seen": seen}


def state_at(recipe, epoch, consumed):
    """The state of one rank that has read so many positions."""
    order = {"order": json.loads(recipe)["order"]}
    return samedeal.Sampler.from_recipe(order, epoch=epoch).state(consumed)


def epoch_ranks(recipe, epoch, state, ranks):
    """The samples of ranks in an epoch, how many of them are padding, and how many the run of a state had seen."""
    sampler = samedeal.Sampler.from_recipe(recipe, epoch=epoch)
    seen = {}
    for position in range(json.loads(state)["consumed"] if state else 0):
        reader = sampler.place_of(position, 1).rank
        seen[reader] = seen.get(reader, 0) + 1
    found = {}
    for rank in ranks:
        one = samedeal.Sampler.from_recipe(recipe, rank=rank, epoch=epoch)
        found[rank] = [len(one), one.num_padding, seen.get(rank, 0) if state else None]
    return found


def checkpoint(recipe, epoch, ranks, batch, steps, next, before=None):
    """A state after some steps, and the samples of the steps around it: the last three, and the next three.

    `before` has the ranks of an earlier part of the epoch, and its steps.
    """

    def samplers(world, state=None):
        """A sampler for each rank, after a state if there is one."""
        found = []
        for rank in range(world):
            whole = json.loads(samedeal.Sampler.from_recipe(recipe).recipe)
            whole["deal"] = {"world_size": world}
            found.append(samedeal.Sampler.from_recipe(whole, rank=rank, epoch=epoch))
            if state is not None:
                found[rank].resume(state)
        return found

    def after(group, steps):
        return group[0].state(min(steps * batch, max(len(sampler) for sampler in group)))

    rows = {}

    def add(name, group, steps):
        for step in steps:
            for rank, sampler in enumerate(group):
                first, padding = step * batch, len(sampler) - sampler.num_padding
                samples = sampler.indices(first, min(first + batch, len(sampler))) if first < len(sampler) else []
                marked = [f"{sample}{'*' if first + at >= padding else ''}" for at, sample in enumerate(samples)]
                rows[f"{name} {step} {rank}"] = " ".join(marked)

    start = after(samplers(before[0]), before[1]) if before else None
    group = samplers(ranks, start)
    add("before", group, range(max(0, steps - 3), steps))
    state = after(group, steps)
    following = samplers(next, state)
    add("after", following, range(min(3, following[0].num_batches(batch))))
    return {"state": state, "rows": rows, "consumed": following[0].consumed}


def other_states(lengths):
    """The states of batches that continued with more ranks and other options."""

    def batcher_of(ranks, **options):
        recipe = {"deal": {"world_size": ranks}, "batch": {"max_tokens": 100, "batch_window": 200, **options}}
        return samedeal.Batcher.from_recipe({"order": {"seed": 42}, **recipe}, lengths, epoch=3)

    first = batcher_of(2)
    windows = [json.loads(first.index(window, 1))["steps"][0] for window in range(first.num_windows)]
    batcher, smaller = batcher_of(4), batcher_of(4, max_tokens=50)
    batcher.resume(first.state(windows[0] + 3))
    smaller.resume(first.state(windows[0] + 3), replan=True)
    return [first.state(0), first.state(5), first.state(windows[0]), batcher.state(2), smaller.state(1)]


def stopped(kind, recipe, epoch, parts, next, lengths=None):
    """A state of a dataset in files, of batches or of a schedule, and the samples of the last three steps on its own
    ranks and of the next three on others.

    `parts` has the ranks of each part of the run, and its steps.
    """

    def on(ranks, state):
        whole = {**recipe, "deal": {**recipe.get("deal", {}), "world_size": ranks}}
        if kind == "reading":
            reading = samedeal.Reading.from_recipe(whole)
            return reading.at_epoch(epoch) if state is None else reading.resume(state)
        if kind == "schedule":
            schedules = [samedeal.Schedule.from_recipe(whole, rank=rank) for rank in range(ranks)]
            return schedules, 0 if state is None else schedules[0].resume(state)
        batchers = [samedeal.Batcher.from_recipe(whole, lengths, rank=rank, epoch=epoch) for rank in range(ranks)]
        for batcher in batchers if state is not None else []:
            batcher.resume(state)
        return batchers

    def after(run, steps):
        if kind == "schedule":
            return run[0][0].state(run[1] + steps)
        return (run if kind == "reading" else run[0]).state(steps)

    def read(run, rank, step):
        if kind == "reading":
            if step >= run.num_steps(rank):
                return ""
            batch = run.batch_at(rank, step)
            samples = run.indices(rank, batch.worker, batch.start, batch.start + batch.count)
            cut = batch.count - batch.num_padding
            return " ".join(f"{sample}{'*' if at >= cut else ''}" for at, sample in enumerate(samples))
        if kind == "schedule":
            return " ".join(map(str, run[0][rank].batch(run[1] + step)))
        return " ".join(map(str, run[rank].batch(step).samples))

    state = None
    for ranks, steps in parts:
        run, taken = on(ranks, state), steps
        state = after(run, steps)
    rows = {f"before {s} {r}": read(run, r, s) for s in range(max(0, taken - 3), taken) for r in range(ranks)}
    following = on(next, state)
    rows |= {f"after {s} {r}": read(following, r, s) for s in range(3) for r in range(next)}
    return {"state": state, "rows": rows}


def resume(recipe, epoch, batch, worlds, taken):
    """Reads an epoch in parts, with states and as torch's sampler is resumed, and counts every sample."""
    samples = samedeal.Sampler.from_recipe(recipe).dataset_size
    whole = json.loads(samedeal.Sampler.from_recipe(recipe).recipe)
    torch = {"order": {"name": "torch", "samples": samples, "seed": whole["order"]["seed"]}}
    own, other = np.zeros(samples, np.int64), np.zeros(samples, np.int64)
    padding = {"own": 0, "torch": 0}
    checkpoint, skip = None, 0
    for part, world in enumerate(worlds):
        take = taken[part] * batch if part < len(taken) else None
        for rank in range(world):
            sampler = samedeal.Sampler.from_recipe(
                {**whole, "deal": {**whole["deal"], "world_size": world}}, rank=rank, epoch=epoch
            )
            if checkpoint is not None:
                sampler.resume(checkpoint)
            padding["own"] += count(own, sampler, 0, take)
            sampler = samedeal.Sampler.from_recipe({**torch, "deal": {"world_size": world}}, rank=rank, epoch=epoch)
            padding["torch"] += count(other, sampler, skip, take)
        if take is not None:
            sampler = samedeal.Sampler.from_recipe(
                {**whole, "deal": {**whole["deal"], "world_size": world}}, epoch=epoch
            )
            if checkpoint is not None:
                sampler.resume(checkpoint)
            checkpoint = sampler.state(min(take, len(sampler)))
            skip += take
    return {"own": facts(own, padding["own"]), "torch": facts(other, padding["torch"])}


def count(seen, sampler, skip, take):
    """Counts the samples that a rank reads after the first `skip` ones; returns the number of them that are padding."""
    everything = sampler.indices()
    own = len(everything) - sampler.num_padding
    end = len(everything) if take is None else min(skip + take, len(everything))
    np.add.at(seen, everything[skip : min(end, own)], 1)
    return max(0, end - max(skip, own))


def facts(seen, padding):
    """How often samples were seen."""
    counts = {"once": seen == 1, "twice": seen > 1, "never": seen == 0}
    return {**{name: int(np.count_nonzero(which)) for name, which in counts.items()}, "padding": padding}


def fingerprints(recipe, epochs):
    """The fingerprints of a configuration at some epochs."""
    return [samedeal.Sampler.from_recipe(recipe, epoch=epoch).config_fingerprint() for epoch in epochs]


def batches(recipes, lengths, epoch, step):
    """The metrics of each strategy for the lengths, and the samples of every rank in a step of the first strategy."""
    found = {}
    for strategy, recipe in recipes.items():
        batcher = samedeal.Batcher.from_recipe(recipe, lengths, epoch=epoch)
        metrics = batcher.metrics()
        found[strategy] = {
            "steps": len(batcher),
            "tokens": metrics.tokens,
            "concerned": metrics.too_long + metrics.truncated + metrics.split,
            "padding": metrics.padding_ratio,
            "utilization": metrics.budget_utilization,
            "slowest": metrics.slowest_rank_utilization,
        }
    recipe = next(iter(recipes.values()))
    ranks = json.loads(recipe)["deal"]["world_size"]
    batchers = [samedeal.Batcher.from_recipe(recipe, lengths, rank=rank, epoch=epoch) for rank in range(ranks)]
    return {"compared": found, "samples": [batcher.batch(step).samples.tolist() for batcher in batchers]}


def lengths_file(path, samples, dtype="u4", text=False):
    """Writes lengths to a file: in the format of NumPy, or as one number on each line."""
    lengths = (1 + np.arange(samples, dtype=np.uint64) * 2654435761 % 2**32 % 1999).astype(dtype)
    if text:
        np.savetxt(path, lengths, fmt="%d")
    else:
        np.save(path, lengths)
    return samples


def _opened(path):
    """A function that returns lengths of a file, a list to which it adds the size of each request, and the number of
    all lengths."""
    lengths = np.load(path, mmap_mode="r") if path.endswith(".npy") else np.loadtxt(path, dtype=np.uint32)
    asked = []

    def take(samples):
        asked.append(len(samples))
        return lengths[samples].astype(np.uint32)

    return take, asked, len(lengths)


def steps_of_file(path, recipe, steps):
    """The samples of all ranks in some steps, and the number of lengths that were asked for up to the first of these
    steps."""
    take, asked, samples = _opened(path)
    document = json.loads(recipe)
    whole = {**document, "order": {**document.get("order", {}), "samples": samples}}
    batcher = samedeal.Batcher.from_recipe(whole, take)
    found, first = [], None
    for step in steps:
        found.append([batch.samples.tolist() for batch in batcher.step(step)])
        first = first or sum(asked)
    return {"steps": found, "asked": first, "windows": batcher.num_windows}


def totals_of_file(path, recipes):
    """The metrics of each strategy for a whole epoch."""
    lengths = np.load(path) if path.endswith(".npy") else np.loadtxt(path, dtype=np.uint32)
    found = {}
    for strategy, recipe in recipes.items():
        batcher = samedeal.Batcher.from_recipe(recipe, lengths)
        metrics = batcher.metrics()
        found[strategy] = {
            "steps": len(batcher),
            "shapes": len(batcher.shapes(False)),
            "tokens": metrics.tokens,
            "padding": metrics.padding_ratio,
            "slowest": metrics.slowest_rank_utilization,
            "index": batcher.index(0, batcher.num_windows),
        }
    return found


def files(folder, sizes):
    """Writes Parquet files. Each row has a text, its number of words, and an image whose width is the number of the
    sample."""
    pictures = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
    first = 0
    for number, size in enumerate(sizes):
        samples = range(first, first + size)
        columns = {
            "text": [f"\U0001f600 row of sample {sample}" + " word" * (sample % 50) for sample in samples],
            "num_words": [5 + sample % 50 for sample in samples],
            "image": pa.array([{"bytes": png(1 + sample % 90), "path": None} for sample in samples], pictures),
        }
        pq.write_table(pa.table(columns), f"{folder}/{number}.parquet", row_group_size=100)
        first += size
    return {"characters": [len(f"x row of sample {sample}") + 5 * (sample % 50) for sample in range(first)]}


def png(width):
    """A white image of one row."""
    chunks = [(b"IHDR", struct.pack(">IIBBBBB", width, 1, 8, 0, 0, 0, 0))]
    chunks += [(b"IDAT", zlib.compress(bytes([0]) + bytes([255]) * width)), (b"IEND", b"")]
    parts = [
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in chunks
    ]
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


def shards(recipe, epoch, round):
    """The rows that every reader reads in a round, by file."""
    reading = samedeal.Reading.from_recipe(recipe).at_epoch(epoch)
    found = {}
    for rank in range(reading.world_size):
        for worker in range(reading.workers):
            rounds = list(reading.rounds(rank, worker))
            spans = rounds[round].spans if round < len(rounds) else None
            columns = (spans.shard, spans.first_row, spans.num_rows) if spans else ()
            text = [f"{shard}:{first}+{rows}" for shard, first, rows in zip(*columns, strict=True)]
            held = int(spans.num_rows.sum()) if spans else 0
            files = sorted({int(shard) for each in rounds for shard in each.spans.shard})
            found[f"{rank} {worker}"] = [reading.num_samples(rank, worker), held, " ".join(text), files]
    return found


if __name__ == "__main__":
    for line in sys.stdin:
        question = json.loads(line)
        print(json.dumps(globals()[question.pop("name")](**question)), flush=True)
