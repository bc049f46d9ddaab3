"""Draws the pictures of the concepts, with the numbers of the package: `target/venv/bin/python docs/pictures/draw.py`.

The same package draws the same files. A test says if they are out of date."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import samedeal
from samedeal.ledger import Ledger, MemoryLog
from svg import COLOURS, FAINT, PADDING, Picture

FOLDER = Path(__file__).resolve().parents[1] / "concepts"


def order() -> Picture:
    """Sample by position, in storage order and in two epochs of a shuffle."""
    samples, side = 256, 200
    picture = Picture(720, 280, "The sample at each position, for three orders")
    panels = [("sequential", "sequential", 0), ("feistel, epoch 0", "feistel", 0), ("feistel, epoch 1", "feistel", 1)]
    for column, (title, name, epoch) in enumerate(panels):
        left, top = 50 + column * 228, 40
        sampler = samedeal.Sampler(samples, order=name, seed=42, epoch=epoch)
        picture.frame(left, top, side, side)
        picture.text(left, top - 10, title, bold=True)
        for position, sample in enumerate(sampler):
            picture.dot(left + position / samples * side, top + side - sample / samples * side, COLOURS[0])
        picture.text(left + side / 2, top + side + 20, "position", "middle", FAINT)
        picture.text(left - 6, top + 10, "sample" if column == 0 else "", "end", FAINT, 11)
    return picture


def deal() -> Picture:
    """Who takes which position: ten samples on four ranks."""
    picture = Picture(720, 330, "Ten positions dealt to four ranks, with three remainders and three layouts")
    cases = [
        ("remainder pad", "pad", "strided"),
        ("remainder drop", "drop", "strided"),
        ("remainder uneven", "uneven", "strided"),
        ("layout contiguous", "pad", "contiguous"),
        ("layout rotated", "pad", "rotated"),
    ]
    for row, (title, remainder, layout) in enumerate(cases):
        top = 45 + row * 48
        picture.text(20, top + 19, title, bold=True)
        sampler = samedeal.Sampler(10, order="sequential", remainder=remainder, layout=layout, world_size=4)
        taken = {position: sampler.place_of(position, 1).rank for position in range(sampler.num_positions)}
        for position in range(12):
            left = 180 + position * 43
            if position in taken:
                rank = taken[position]
                picture.box(left, top, 38, 28, COLOURS[rank], str(rank))
            elif position < 10:
                picture.box(left, top, 38, 28, PADDING, "-")
    for position in range(12):
        picture.text(199 + position * 43, 34, str(position), "middle", FAINT)
    picture.text(20, 34, "position", colour=FAINT)
    picture.text(
        20,
        305,
        "A box has the rank that takes the position. Positions 10 and 11 repeat the samples of positions 0 and 1.",
        colour=FAINT,
    )
    return picture


def shards() -> Picture:
    """Files end to end, cut into lanes; where the samples of an epoch come from."""
    sizes, lanes, window = [260, 90, 200, 140, 110], 4, 16
    total, wide, high = sum(sizes), 560, 220
    picture = Picture(720, 330, "Where the samples of an epoch are stored, for two readers of two lanes each")
    left, top = 130, 30
    picture.frame(left, top, wide, high)
    begin = 0
    for shard, size in enumerate(sizes):
        y = top + high - (begin + size) / total * high
        picture.line([(left, y), (left + wide, y)], "#e2e4e8")
        picture.text(left - 8, y + size / total * high / 2 + 4, f"file {shard}", "end", FAINT)
        begin += size
    for reader in range(2):
        own = samedeal.Sampler.sharded(sizes, lanes=lanes, shuffle_window=window, seed=5, rank=reader, world_size=2)
        for index, sample in enumerate(own):
            picture.dot(
                left + (index * 2 + reader) / total * wide, top + high - sample / total * high, COLOURS[reader], 1.3
            )
    picture.text(left + wide / 2, top + high + 20, "position in the epoch", "middle", FAINT)
    for reader in range(2):
        picture.box(left + 10 + reader * 120, 285, 12, 12, COLOURS[reader])
        picture.text(left + 28 + reader * 120, 296, f"reader {reader}")
    picture.text(left + 260, 296, f"{lanes} lanes, which are read side by side; windows of {window}", colour=FAINT)
    return picture


def batches() -> Picture:
    """The same samples in batches of four strategies: tokens and padding."""
    lengths = [4 + (i * 37 % 41) ** 2 // 40 for i in range(96)]
    picture = Picture(720, 400, "The first batches of four strategies: tokens in colour, padding in grey")
    room = {"max_tokens": 192}
    strategies: list[tuple[str, dict[str, object]]] = [
        ("pad-to-max", {"strategy": "pad-to-max", "max_batch_size": 4}),
        ("bucket", {"strategy": "bucket", "max_batch_size": 4}),
        ("budget", {"strategy": "budget", **room}),
        ("pack", {"strategy": "pack", "capacity": 48, "max_batch_size": 4}),
    ]
    for row, (title, options) in enumerate(strategies):
        batcher = samedeal.Batcher(lengths, seed=3, **options)  # type: ignore[arg-type]
        top, left = 45 + row * 85, 110
        ratio = batcher.metrics().padding_ratio
        picture.text(20, top + 20, title, bold=True)
        picture.text(20, top + 38, f"{len(batcher)} steps", colour=FAINT)
        picture.text(20, top + 54, f"{ratio:.0%} padding", colour=FAINT)
        for step in range(len(batcher)):
            batch = batcher.batch(step)
            wide, rows = batch.padded_length * 2.2, len(batch.row_ends)
            if left + wide > 705:
                break
            high = 60 / max(rows, 4)
            begin = 0
            for number_of_row, end in enumerate(batch.row_ends.tolist()):
                y = top + number_of_row * high
                picture.box(left, y, wide, high - 1, PADDING)
                x = left
                for length in batch.lengths[begin:end].tolist():
                    picture.box(x, y, length * 2.2 - 1, high - 1, COLOURS[step % 2])
                    x += length * 2.2
                begin = end
            left += wide + 8
    picture.text(
        110, 28, "Each block is a batch, each line in it a row. Blocks are as wide as their longest row.", colour=FAINT
    )
    return picture


def resume() -> Picture:
    """Four ranks stop in the middle of an epoch; three ranks read the rest."""
    samples, batch = 72, 3
    picture = Picture(720, 270, "An epoch that four ranks begin and three ranks finish")
    first = [samedeal.Sampler(samples, seed=42, rank=rank, world_size=4) for rank in range(4)]
    steps = 3
    state = first[0].state(steps * batch)
    rest = [samedeal.Sampler(samples, seed=42, rank=rank, world_size=3) for rank in range(3)]
    for sampler in rest:
        sampler.resume(state)
    for samplers, left, count, title in (
        (first, 70, steps, "4 ranks, 3 steps"),
        (rest, 390, None, "3 ranks, the rest"),
    ):
        picture.text(left, 30, title, bold=True)
        for rank, sampler in enumerate(samplers):
            top = 44 + rank * 38
            picture.text(left - 8, top + 19, f"rank {rank}", "end", FAINT)
            for step in range(sampler.num_batches(batch) if count is None else count):
                numbers = " ".join(map(str, sampler.batch(step, batch).tolist()))
                picture.box(left + step * 76, top, 72, 28, COLOURS[rank], numbers)
    picture.line([(335, 30), (335, 205)], FAINT, 1.5)
    picture.text(335, 222, f"state: {json.loads(state)['consumed']} of {samples} samples are consumed", "middle")
    seen = sum(steps * batch for _ in first) + sum(len(sampler) for sampler in rest)
    picture.text(
        335,
        246,
        f"{seen} samples in both parts: each of the {samples} once, and nothing is read again",
        "middle",
        FAINT,
    )
    return picture


def ledger() -> Picture:
    """Readers of unequal speed, with a fixed deal and with a ledger."""
    picture = Picture(720, 330, "The time of three readers, with fixed shares and with a ledger")
    positions, speeds, scale = 480, (4, 4, 1), 3.6
    left = 90

    def bar(row: int, reader: int, begin: float, end: float, label: str) -> None:
        picture.box(
            left + begin * scale,
            40 + row * 34,
            (end - begin) * scale - 1,
            24,
            COLOURS[reader],
            label if (end - begin) * scale > 40 else "",
        )

    for reader, speed in enumerate(speeds):
        picture.text(left - 8, 57 + reader * 34, f"reader {reader}", "end", FAINT)
        bar(reader, reader, 0, positions / 3 / speed, str(positions // 3))
    picture.text(left, 28, "fixed shares: each reader has a third of the epoch", bold=True)
    sampler, log = samedeal.Sampler(positions, seed=42), MemoryLog()
    ledgers = [Ledger(sampler, log, reader=reader, block_size=24) for reader in range(3)]
    clock = [0.0] * 3
    while True:
        # The reader that is free first.
        reader = clock.index(min(clock))
        if (claim := ledgers[reader].claim()) is None:
            break
        begin = clock[reader]
        clock[reader] += len(claim) / speeds[reader]
        bar(4 + reader, reader, begin, clock[reader], str(claim.start))
        claim.commit(len(claim))
    ends = max(clock)
    for reader in range(3):
        picture.text(left - 8, 57 + (4 + reader) * 34, f"reader {reader}", "end", FAINT)
    picture.text(left, 28 + 4 * 34, "a ledger: each reader claims the next 24 positions", bold=True)
    picture.text(
        left,
        305,
        f"Readers 0 and 1 are four times as fast as reader 2. Fixed: {positions / 3:.0f} s; ledger: {ends:.0f} s.",
        colour=FAINT,
    )
    return picture


def mixing() -> Picture:
    """The count of a source by position: a blend with a stage, and random draws."""
    length, stage, wide, high = 4000, 2000, 600, 180
    mix = samedeal.blend({"web": (9000, 7), "code": (500, 3)}, seed=42, samples=length)
    later = mix.stage(stage, {"web": 1, "code": 1})
    picture = Picture(720, 290, "The share of a source at each position of a run")
    left, top = 80, 40
    picture.frame(left, top, wide, high)
    sampler = samedeal.Sampler(order=later)
    draws = samedeal.Sampler(2**20, seed=7)

    def share(counts: list[int], every: int) -> list[tuple[float, float]]:
        return [
            (left + (i + 0.5) * every / length * wide, top + high - count / every / 0.7 * high)
            for i, count in enumerate(counts)
        ]

    every = 50
    exact = [int(sampler.source_counts(at, at + every)["count"][1]) for at in range(0, length, every)]
    asked = [0.3 if at < stage else 0.5 for at in range(0, length, every)]
    # What a random draw for each sample would give: uniform numbers, below the share that is asked for.
    random = [
        sum(int(draw) < int(part * 2**20) for draw in draws.indices(at, at + every))
        for at, part in zip(range(0, length, every), asked, strict=True)
    ]
    picture.line(share(random, every), PADDING, 1.5)
    picture.line(share(exact, every), COLOURS[0], 2.5)
    for value in (0.3, 0.5):
        y = top + high - value / 0.7 * high
        picture.text(left - 8, y + 4, f"{value:.0%}", "end", FAINT)
    picture.text(left + wide / 2, top + high + 20, "position in the run", "middle", FAINT)
    picture.text(left, 26, "share of code in each 50 samples: 7 : 3, from position 2,000 on 1 : 1", bold=True)
    for column, (name, colour) in enumerate(
        (("samedeal.blend", COLOURS[0]), ("a random draw for each sample", PADDING))
    ):
        picture.box(left + column * 160, 260, 12, 12, colour)
        picture.text(left + 18 + column * 160, 271, name)
    return picture


def determinism() -> Picture:
    """One recipe, one component, the same numbers."""
    picture = Picture(720, 250, "One recipe gives the same numbers in every language")
    sampler = samedeal.Sampler(10_000_000, seed=42, rank=3, world_size=8)
    picture.text(20, 34, "recipe", bold=True)
    picture.text(20, 54, '{"order": {"samples": 10000000, "seed": 42}, "deal": {"world_size": 8}}')
    picture.text(20, 74, f"fingerprint {sampler.recipe_fingerprint()[:16]}", colour=FAINT)
    hosts = ("Python, wasmtime", "Rust, wasmtime", "Node, V8", "a page, any browser")
    numbers = " ".join(map(str, sampler.batch(31_000, 32)[:3].tolist())) + " ..."
    for column, host in enumerate(hosts):
        left = 20 + column * 174
        picture.line([(left + 78, 84), (left + 78, 104)])
        picture.box(left, 104, 158, 34, COLOURS[column], host)
        picture.line([(left + 78, 138), (left + 78, 160)])
        picture.text(left + 78, 176, numbers, "middle", size=11)
    picture.text(20, 206, "batch 31,000 of rank 3", colour=FAINT)
    picture.text(
        20, 228, "The component has no clock, no randomness and no files: recipe, epoch and rank decide alone."
    )
    return picture


PICTURES: dict[str, Callable[[], Picture]] = {
    "order": order,
    "deal": deal,
    "shards": shards,
    "batches": batches,
    "resume": resume,
    "ledger": ledger,
    "mixing": mixing,
    "determinism": determinism,
}


def main(folder: Path) -> None:
    """Draws all pictures into a folder."""
    for name, draw in PICTURES.items():
        target = folder / f"{name}.svg"
        temporary = target.with_suffix(".new")
        temporary.write_text(draw().render(), encoding="utf-8")
        temporary.rename(target)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)
