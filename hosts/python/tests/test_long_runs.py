"""Very long runs can still be saved and resumed."""

from __future__ import annotations

import samedeal
from samedeal import Batcher, Reading, Sampler
from samedeal.ledger import FileLog, Ledger
from samedeal.ledger import log as logs

LIVES = 200


def blend(sources: int) -> Sampler:
    return Sampler(order=samedeal.blend({f"source {n}": (n % 7 + 1, 1) for n in range(sources)}, seed=2**63 - 1))


def test_a_blend_of_many_sources_is_saved_and_resumed() -> None:
    sampler, again = blend(10_600), blend(10_600)
    state = sampler.state(1000)
    again.resume(state)
    assert again.indices(0, 9).tolist() == sampler.indices(1000, 1009).tolist()
    assert Sampler.from_recipe(sampler.recipe).recipe_fingerprint() == sampler.recipe_fingerprint()


def test_a_ledger_over_many_sources(tmp_path: object) -> None:
    sampler = blend(1000)
    ledger = Ledger(sampler, FileLog(f"{tmp_path}/log"), reader=0, block_size=100)
    claim = ledger.claim()
    assert claim is not None
    assert claim.samples.tolist() == sampler.indices(0, 100).tolist()


def test_a_log_of_many_readers_opens_at_its_checkpoint(tmp_path: object) -> None:
    log = FileLog(f"{tmp_path}/log")
    sampler = Sampler(1 << 40)
    claims = []
    # Each reader opens the log at the last checkpoint, and not at its beginning.
    for reader in range(1100):
        ledger = Ledger(sampler, log, reader=reader, block_size=8, checkpoint_interval=500)
        claims.append(ledger.claim(timeout=0))
    last = log.last_checkpoint()
    assert last is not None
    assert len(last) > 2**14
    assert logs.is_checkpoint(last)
    more = Ledger(sampler, log, reader=1100, block_size=8)
    assert more.progress().claimed == 1100 * 8


def test_batches_of_many_world_sizes() -> None:
    lengths = [n * 31 % 60 + 1 for n in range(3000)]
    state, seen = None, []
    for life in range(LIVES + 1):
        batcher = Batcher(lengths, max_tokens=64, batch_window=100, world_size=life % 3 + 1)
        if state is not None:
            batcher.resume(state)
        steps = 1 if life < LIVES else batcher.num_steps
        for rank in range(batcher.world_size):
            seen += [n for step in range(steps) for n in batcher.batch(step, rank).samples.tolist()]
        state = batcher.state(steps)
    assert sorted(seen) == list(range(3000))


def test_whole_shards_of_many_groups() -> None:
    sizes = [n * 7 % 50 + 60 for n in range(60)]
    state, seen = None, []
    for life in range(LIVES + 1):
        world_size = life % 3 + 1
        reading = Reading(sizes, deal="shards", world_size=world_size, batch_size=1)
        if state is not None:
            reading = reading.resume(state)
        _, most = reading.steps
        steps = min(3, most) if life < LIVES else most
        for rank in range(world_size):
            count = min(steps, reading.num_samples(rank, 0))
            seen += reading.indices(rank, 0, 0, count).tolist()
        state = reading.state(steps)
    assert sorted(seen) == list(range(sum(sizes)))
