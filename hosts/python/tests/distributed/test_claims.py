"""Ledgers in PyTorch's stores, used by loaders."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import claiming
import numpy as np
import pytest
import torch
from limits import HANG
from samedeal import ContradictionError, OutOfRangeError, Sampler, WrongTypeError
from samedeal.ledger import FileLog, Ledger, MemoryLog, Replay, copy_log
from samedeal.torch import Claimed, ClaimSampler, StoreLog
from torch.distributed import FileStore, HashStore, PrefixStore, TCPStore
from torch.utils.data import DataLoader

HERE = Path(__file__).parent


def test_loops_that_differ_in_speed_share_an_epoch(tmp_path: Path) -> None:
    store = TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False, timeout=timedelta(seconds=HANG))
    # For each reader: its number of workers, and the seconds for a batch. The last reader is killed in the middle of a
    # claim.
    readers = [(0, 0.001), (2, 0.004), (2, 0.016), (0, 0.05)]
    command = [sys.executable, str(HERE / "claiming.py"), str(store.port)]
    processes = [
        subprocess.Popen(
            [*command, str(number), str(workers), str(pause)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for number, (workers, pause) in enumerate(readers)
    ]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    last = processes[-1]
    assert last.stdout is not None
    last.stdout.readline()
    last.stdout.readline()
    last.send_signal(signal.SIGKILL)
    told = [process.communicate(timeout=HANG)[0] for process in processes]
    assert [process.returncode for process in processes] == [0, 0, 0, -signal.SIGKILL]
    # The store ends with the job, but a copy of its log can be kept in a file.
    kept = FileLog(tmp_path / "log")
    copy_log(StoreLog(store), kept)
    replay, order = Replay(kept), Sampler(claiming.SAMPLES, seed=claiming.SEED)
    assert replay.progress().finished
    assert sorted(np.concatenate([*replay.samples(order)])) == list(range(claiming.SAMPLES))
    for number in range(3):
        own = np.concatenate([*replay.samples(order, number, 4)]).tolist()
        assert own == [int(word) for line in told[number].splitlines() for word in line.split()]
    # A killed loop has committed the batches that it finished, but no batch that only its workers had fetched.
    assert sum(commit.count for commit in replay.commits if commit.reader == 3) in (8, 16)


@pytest.mark.parametrize("kind", ["hash", "file", "prefix"])
def test_any_store(kind: str, tmp_path: Path) -> None:
    store = FileStore(str(tmp_path / "store"), 1) if kind == "file" else HashStore()
    log = StoreLog(PrefixStore("job", store) if kind == "prefix" else store, "epoch-0")
    options: dict[str, int] = {"block_size": 10, "checkpoint_interval": 4}
    one, two = (Ledger(Sampler(100), log, reader=reader, **options) for reader in (1, 2))
    assert log.last_checkpoint() is None
    first = two.claim()
    assert first is not None
    assert first.start == 0
    first.commit(4)
    first.release()
    assert [claim.start for claim in one] == [4, *range(10, 100, 10)]
    assert two.claim() is None
    last = log.last_checkpoint()
    assert last is not None
    assert log.read(json.loads(last)["number"])[0] == last
    assert Ledger(Sampler(100), log, reader=3).progress().finished
    again = StoreLog(store if kind != "prefix" else PrefixStore("job", store), "epoch-1")
    assert copy_log(log, again) == one.progress().entries
    assert Replay(again).commits == Replay(log).commits


def test_an_entry_that_nobody_counted_is_found() -> None:
    """The reader that appended the entry died before it could count it."""
    store = HashStore()
    log = StoreLog(store)
    ledger = Ledger(Sampler(100), log, reader=1, block_size=60)
    claim = '{"event":"claim","reader":9,"start":0,"count":60}'
    store.compare_set("samedeal/ledger/2", "", f"{claim}\nmark")
    assert log.read(2) == [claim]
    found = ledger.claim()
    assert found is not None
    assert (found.start, found.count) == (60, 40)
    assert not log.append(1, claim)
    assert not log.append(9, claim)


def test_a_pass_that_was_left_gives_back_what_the_loop_did_not_get() -> None:
    ledger = Ledger(Sampler(100, order="sequential"), MemoryLog(), reader=0, block_size=40)
    loader = Claimed(DataLoader(torch.arange(100), batch_sampler=ClaimSampler(ledger, 25)))
    seen = []
    for batch in loader:
        seen.append(batch)
        if len(seen) == 2:
            # The loop did not finish this batch, so the batch comes again.
            break
    assert [batch.tolist()[0] for batch in seen] == [0, 25]
    rest = [batch.tolist() for batch in loader]
    assert [(batch[0], len(batch)) for batch in rest] == [(25, 15), (40, 25), (65, 15), (80, 20)]
    assert [*loader] == []


def test_a_loop_that_lost_its_claim_is_told() -> None:
    log = MemoryLog()
    ledger = Ledger(Sampler(10), log, reader=0, block_size=10, lease=0.01)
    other = Ledger(Sampler(10), log, reader=1, block_size=10, lease=0.01)
    loop = iter(Claimed(DataLoader(torch.arange(10), batch_sampler=ClaimSampler(ledger, 5))))
    next(loop)
    taken = other.claim(timeout=10)
    assert taken is not None
    with pytest.raises(ContradictionError, match="claim is 3"):
        next(loop)


def test_a_loader_by_itself_commits_nothing() -> None:
    ledger = Ledger(Sampler(10), MemoryLog(), reader=0, block_size=4)
    loader = DataLoader(torch.arange(10), batch_sampler=ClaimSampler(ledger, 2))
    with pytest.raises(ContradictionError, match="Claimed"):
        next(iter(loader))
    first, second = iter(Claimed(loader)), iter(Claimed(loader))
    next(first)
    next(second)
    with pytest.raises(ContradictionError, match="one pass"):
        next(first)
    assert len([*second]) >= 4
    assert ledger.progress().finished


def test_a_loader_out_of_order_is_refused() -> None:
    """Commits follow the order of the sampler, so the loop would commit another batch than the one that it got."""
    ledger = Ledger(Sampler(16), MemoryLog(), reader=0, block_size=16)
    batches = ClaimSampler(ledger, 4)
    loader = DataLoader(torch.arange(16), batch_sampler=batches, num_workers=2, in_order=False)
    with pytest.raises(ContradictionError, match="in_order is False; allowed: True"):
        Claimed(loader)
    assert ledger.progress().committed == 0
    # A loader without workers gives batches in order, whatever `in_order` is.
    for workers, in_order in ((0, False), (2, True)):
        ledger = Ledger(Sampler(16), MemoryLog(), reader=0, block_size=16)
        loader = DataLoader(
            torch.arange(16), batch_sampler=ClaimSampler(ledger, 4), num_workers=workers, in_order=in_order
        )
        got = [number for batch in Claimed(loader) for number in batch.tolist()]
        assert sorted(got) == list(range(16))
        assert ledger.progress().finished


def test_names_of_logs_are_whole() -> None:
    """Two names with a common beginning stand for two logs."""
    store = HashStore()
    names = [f"{'runs/' * 20}epoch-{epoch}" for epoch in range(2)]
    for name in names:
        ledger = Ledger(Sampler(40), StoreLog(store, name), reader=0, block_size=10)
        assert [claim.start for claim in ledger] == [0, 10, 20, 30]
    for name in names:
        assert len(Replay(StoreLog(store, name))) == 4
    StoreLog(store, "n" * 1024)
    for wrong in ("n" * 1025, "é" * 513, "epoch-\ud800"):
        with pytest.raises(OutOfRangeError, match="name is"):
            StoreLog(store, wrong)
    with pytest.raises(WrongTypeError, match="name is 5"):
        StoreLog(store, 5)  # type: ignore[arg-type]


def test_arguments_are_checked() -> None:
    with pytest.raises(WrongTypeError, match="store"):
        StoreLog({})
    with pytest.raises(WrongTypeError, match="ledger"):
        ClaimSampler(MemoryLog(), 4)  # type: ignore[arg-type]
    with pytest.raises(WrongTypeError, match="ClaimSampler"):
        Claimed(DataLoader(torch.arange(4)))
