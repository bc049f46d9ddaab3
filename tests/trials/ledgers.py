"""Ledgers over logs that fail: stores whose answers are late or lost, files that are cut off, lines that come twice."""

from __future__ import annotations

import json
import random
import tempfile
from pathlib import Path

from samedeal import SamedealError
from samedeal.ledger import FileLog, Ledger, MemoryLog, Replay
from simulated import Drawn, Reader, finish, time_of
from stores import Connection, LateError, Store, World
from tally import Tally, require


def draw(rng: random.Random) -> Drawn:
    """Draws a trial."""
    positions = rng.choice((1, rng.randint(1, 40), rng.randint(1, 120)))
    return Drawn(
        what=rng.choice(("store", "store", "torn", "lines")),
        seed=rng.randrange(2**32),
        positions=positions,
        consumed=rng.choice((0, 0, rng.randrange(positions))),
        block_size=rng.choice((1, 3, rng.randint(1, 30))),
        readers=rng.randint(1, 4),
        checkpoint_interval=rng.choice((1, 3, 7, 4096)),
    )


def run(drawn: Drawn) -> Tally:
    """Reads the epoch with faults in the log, and checks the log at the end."""
    kinds = {"store": over_a_store, "torn": over_a_torn_file, "lines": over_changed_lines}
    return kinds[drawn.what](drawn, random.Random(drawn.seed))


def committed(entries: list[str]) -> dict[int, int]:
    """The reader that committed each position, by the lines of a log. A position that comes twice is an error."""
    found: dict[int, int] = {}
    for entry in map(json.loads, entries[1:]):
        if entry["event"] == "commit":
            for position in range(entry["start"], entry["start"] + entry["count"]):
                require(position not in found, "a position is committed twice", position, entry)
                found[position] = entry["reader"]
    return found


def over_a_store(drawn: Drawn, rng: random.Random) -> Tally:
    """Readers take turns, also within each other's calls. Each may be killed, and another reader then takes its
    number."""
    world, store, owned, readers = World(rng), Store(), {}, []
    tally = Tally(trials=1, expected=drawn.positions - drawn.consumed)
    failures: list[Connection] = []
    unknown: list[tuple[int, int, int]] = []
    """Commits of killed readers that may or may not be written: reader, start and end."""

    def others() -> None:
        if rng.random() < 0.1:
            store.deliver(rng)
        idle = [reader for reader in readers if not reader.busy and not reader.replaced]
        if idle and rng.random() < 0.15 and len(world.clocks) < 4:
            rng.choice(idle).act()

    def opened(number: int) -> Reader | None:
        log = Connection(world, store, others)
        log.faults = faults
        failures.append(log)
        try:
            return Reader(drawn, number, log, owned, world)
        except LateError:
            return None

    faults = rng.choice((0.0, 0.05, 0.3))
    with time_of(world):
        for _ in range(rng.randint(5, 60)):
            missing = [number for number in range(drawn.readers) if number not in {reader.number for reader in readers}]
            if missing and rng.random() < 0.5:
                reader = opened(rng.choice(missing))
                if reader is not None:
                    readers.append(reader)
            if readers:
                reader = rng.choice(readers)
                reader.act()
                if rng.random() < 0.05:
                    # The reader is killed. If its last commit was not confirmed, no other reader knows of it.
                    readers.remove(reader)
                    tally.kills += 1
                    if reader.again is not None and reader.again[1] is not None:
                        claim, count = reader.again
                        start = claim.start + claim.committed
                        unknown.append((reader.number, start, start + count))
            world.now += rng.choice((0.01, 0.1, 0.1, 2.0, 7.0))
        faults = 0.0
        for log in failures:
            log.faults = 0.0
        if not (alive := [reader for reader in readers if not reader.replaced]):
            last = opened(drawn.readers)
            assert last is not None
            alive = [last]
        readers = alive
        finish(readers, world)
    tally.kills += sum(log.failed for log in failures)
    _check(drawn, store.entries, owned, unknown)
    tally.samples = len(committed(store.entries))
    return tally


def _check(drawn: Drawn, entries: list[str], owned: dict[int, int], unknown: list[tuple[int, int, int]]) -> None:
    """Checks that each position is committed once in the log, and that the readers know of the same commits. A killed
    reader may have commits that were not confirmed."""
    by_log = committed(entries)
    require(sorted(by_log) == list(range(drawn.consumed, drawn.positions)), "every position is committed", by_log)
    for position, number in by_log.items():
        if owned.get(position) != number:
            known = position not in owned and any(r == number and a <= position < b for r, a, b in unknown)
            require(known, "the log and the readers agree", position, number, owned.get(position))
    replay = Replay(MemoryLog(entries))
    found = sorted(sample for part in replay.samples(drawn.sampler) for sample in part.tolist())
    require(found == sorted(drawn.sampler.indices().tolist()), "the replay has every sample once", found)


def over_a_torn_file(drawn: Drawn, rng: random.Random) -> Tally:
    """A power failure ends all readers, and the file ends anywhere; some of its pages may be zeros."""
    world, owned = World(rng), {}
    tally = Tally(trials=1, expected=drawn.positions - drawn.consumed)
    with tempfile.TemporaryDirectory() as folder, time_of(world):
        path = Path(folder, "log")
        for _ in range(rng.randint(1, 4)):
            readers = [Reader(drawn, number, FileLog(path), owned, world) for number in range(drawn.readers)]
            for _ in range(rng.randint(0, 30)):
                rng.choice(readers).act()
                world.now += rng.choice((0.1, 1.0, 3.0))
            tally.samples += len(owned)
            tally.kills += len(readers)
            del readers
            text = path.read_bytes()
            cut = rng.randint(0, len(text))
            path.write_bytes(text[:cut] + bytes(rng.choice((0, 0, rng.randint(1, 5000)))))
            kept = [line.decode() for line in text[:cut].split(b"\n")[:-1]]
            survived = committed(kept) if kept else {}
            for position in [*owned]:
                if position not in survived:
                    # The log lost this commit, and no checkpoint is newer than the log. So the training on this
                    # position is lost, too, and is done again.
                    tally.redone += 1
                    del owned[position]
            tally.samples -= len(owned)
        readers = [Reader(drawn, number, FileLog(path), owned, world) for number in range(drawn.readers)]
        finish(readers, world)
        entries = path.read_text().splitlines()
    tally.samples += len(owned)
    _check(drawn, entries, owned, [])
    return tally


def over_changed_lines(drawn: Drawn, rng: random.Random) -> Tally:
    """A log with doubled, swapped or missing lines is refused, or still has every position once."""
    world, owned, log = World(rng), {}, MemoryLog()
    tally = Tally(trials=1)
    with time_of(world):
        readers = [Reader(drawn, number, log, owned, world) for number in range(drawn.readers)]
        for _ in range(rng.randint(1, 40)):
            rng.choice(readers).act()
            world.now += rng.choice((0.1, 1.0, 3.0))
    for _ in range(5):
        entries = [str(entry) for entry in log.read(0)]
        one, other = rng.randrange(len(entries)), rng.randrange(len(entries))
        match rng.choice(("twice", "swapped", "missing")):
            case "twice":
                entries.insert(max(one, other) + 1, entries[one])
            case "swapped":
                entries[one], entries[other] = entries[other], entries[one]
            case _:
                del entries[one]
        tally.kills += 1
        changed = MemoryLog(entries)
        try:
            Replay(changed)
        except SamedealError:
            # A reader that gets the whole log must refuse it, too.
            _refused(drawn, entries)
            continue
        with time_of(world):
            survived = committed(entries)
            finish([Reader(drawn, drawn.readers, changed, {**survived}, world)], world)
        by_log = committed([str(entry) for entry in changed.read(0)])
        require(sorted(by_log) == list(range(drawn.consumed, drawn.positions)), "every position is committed", by_log)
        tally.expected += len(by_log)
        tally.samples += len(by_log)
    return tally


def _refused(drawn: Drawn, entries: list[str]) -> None:
    class Plain:
        """A log without the method that finds checkpoints."""

        def read(self, start: int) -> list[str]:
            return entries[start:]

        def append(self, number: int, entry: str) -> bool:
            if number == len(entries):
                raise AssertionError(f"a reader appends to a log that is none: {entry}")
            return False

    if entries:
        try:
            Ledger(drawn.sampler, Plain(), reader=99, block_size=drawn.block_size)
        except SamedealError:
            return
        raise AssertionError("a reader takes a log that a replay refuses")
