"""Chains of batchers: every token of every sample comes once, for any sequence of world sizes."""

from __future__ import annotations

import random
from typing import Any

from samedeal import Batcher
from tally import Tally, require

from .chain import Chain, groups

Item = tuple[int, int, int]
"""An item: the sample, the start of the item in it, and the number of its tokens."""


def draw(rng: random.Random) -> Chain:
    """Draws lengths, and options that fit together."""
    most = rng.choice((1, 9, 60, 60, 400))
    lengths = [rng.choice((0, 1, rng.randint(0, most), rng.randint(0, most))) for _ in range(rng.randint(1, 120))]
    options: dict[str, Any] = {
        "seed": rng.randrange(2**31),
        "order": rng.choice(("feistel", "feistel", "sequential", "torch", "fisher-yates")),
        "tail": rng.choice(("even-split", "keep", "drop", "duplicate")),
        "too_long": rng.choice(("truncate", "drop", "split", "single")),
        "batch_window": rng.choice((None, None, 1, 10, 50)),
        "strategy": rng.choice(("budget", "budget", "bucket", "pack", "pad-to-max")),
    }
    limit = rng.randint(1, most + 1)
    if options["strategy"] == "budget":
        options |= {"max_tokens": rng.randint(1, 4) * limit, "counting": rng.choice(("padded", "unpadded"))}
        options["max_batch_size"] = rng.choice((None, 2, 5))
    else:
        options["max_batch_size"] = rng.choice((1, 2, 4))
    if options["strategy"] == "pack":
        options |= {"capacity": limit, "packing": rng.choice(("fast", "optimal"))}
    elif options["strategy"] == "pad-to-max" or rng.random() < 0.5:
        options["max_length"] = limit
    if options["strategy"] == "bucket":
        options |= rng.choice(({}, {"bucket_width": rng.randint(1, most + 1)}, {"quantiles": rng.randint(1, 5)}))
    if options["strategy"] == "pad-to-max":
        options["batch_window"] = None
    elif options["batch_window"] is None:
        options["keep_order"] = rng.random() < 0.3
    return Chain({"lengths": lengths, "options": options}, rng.choice((0, 1, 7)), groups(rng))


def _limit(options: dict[str, Any]) -> int | None:
    """The largest number of tokens of an item; None if there is no limit."""
    found = [options[name] for name in ("max_length", "max_tokens", "capacity") if options.get(name) is not None]
    return min(found, default=None)


def _expected(chain: Chain) -> list[Item]:
    """All items of the epoch, by the documentation of `too_long`."""
    options = chain.options["options"]
    limit, how = _limit(options), options["too_long"]
    items: list[Item] = []
    for sample, length in enumerate(chain.options["lengths"]):
        if limit is None or length <= limit or (how == "single" and options["strategy"] != "pad-to-max"):
            items.append((sample, 0, length))
        elif how == "truncate":
            items.append((sample, 0, limit))
        elif how == "split":
            items += [(sample, start, min(limit, length - start)) for start in range(0, length, limit)]
        elif how == "single":
            items.append((sample, 0, length))
    return items


def run(chain: Chain) -> Tally:
    """Takes the steps of all groups, and compares the items with those of the epoch."""
    tally, options = Tally(trials=1), chain.options["options"]
    expected = _expected(chain)
    tally.expected = len(expected)
    found: list[Item] = []
    state, dropped = None, 0
    batches: list[list[Any]] = [[] for _ in range(chain.groups[-1].world_size)]
    unchanged = all(group.world_size == chain.groups[0].world_size for group in chain.groups)
    for number, group in enumerate(chain.groups):
        batcher = Batcher(
            chain.options["lengths"],
            world_size=group.world_size,
            epoch=chain.epoch if state is None else 99,
            **options,
        )
        if state is not None:
            tally.resumptions += 1
            batcher.resume(state)
        require(batcher.epoch == chain.epoch, "the epoch is that of the state", batcher.epoch)
        total, last = batcher.num_steps, number + 1 == len(chain.groups)
        steps = total if last else int(group.part * total)
        for rank in range(group.world_size):
            for step in range(steps):
                batch = batcher.batch(step, rank)
                rows = len(batch.row_ends) - batch.repeated
                end = int(batch.row_ends[rows - 1]) if rows else 0
                items = list(zip(batch.samples.tolist(), batch.starts.tolist(), batch.lengths.tolist(), strict=True))
                found += items[:end]
                tally.samples += len(items)
                tally.repeated += len(items) - end
                if unchanged:
                    batches[rank].append(items)
        # Each group drops the remainder of its own windows.
        dropped += batcher.metrics().dropped
        if not last:
            state = batcher.state(steps)
            batcher.resume(state)
            dropped -= batcher.metrics().dropped
    require(not dropped or options["tail"] == "drop", "only the tail drop leaves items out", dropped)
    require(not tally.repeated or options["tail"] == "duplicate", "only the tail duplicate repeats", tally)
    missing = list(expected)
    for item in found:
        require(item in missing, "an item is taken twice, or is no item of the epoch", item)
        missing.remove(item)
    require(len(missing) == dropped, "what is left out is counted", missing, dropped)
    tally.dropped = len(missing)
    if unchanged:
        whole = Batcher(chain.options["lengths"], world_size=chain.groups[0].world_size, epoch=chain.epoch, **options)
        for rank, own in enumerate(batches):
            uninterrupted = [
                list(zip(batch.samples.tolist(), batch.starts.tolist(), batch.lengths.tolist(), strict=True))
                for batch in whole.batches(rank=rank)
            ]
            require(own == uninterrupted, "nothing has happened to a rank of the same group", rank)
    return tally
