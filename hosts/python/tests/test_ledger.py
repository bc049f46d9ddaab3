"""Ledgers over their logs: threads, processes that are killed, torn lines, forks, and logs from elsewhere."""

from __future__ import annotations

import copy
import json
import math
import os
import pickle
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hostile import fails
from limits import HANG
from notebook import cells
from samedeal import ContradictionError, OutOfRangeError, SamedealError, Sampler, UnknownNameError, WrongTypeError
from samedeal.generated.ledger import Instruction
from samedeal.ledger import Claim, FileLog, FolderLog, Ledger, MemoryLog, Replay, copy_log
from samedeal.ledger.binding import Client

READER = """
import sys, time
from samedeal import Sampler
from samedeal.ledger import FileLog, FolderLog, Ledger

path, reader, pause, block_size = sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4])
log = {"FileLog": FileLog, "FolderLog": FolderLog}[sys.argv[5]](path)
ledger = Ledger(Sampler(600, seed=5, order="torch"), log, reader=reader, block_size=block_size, lease=5.0)
print("ready", flush=True)
sys.stdin.readline()
for claim in ledger:
    while claim.committed < claim.count:
        part = claim.samples[claim.committed :][:5]
        time.sleep(pause * len(part))
        claim.commit(len(part))
        print(*part, flush=True)
"""


def reader(path: Path, number: int, pause: float, block_size: int = 20, log: str = "FileLog") -> subprocess.Popen[str]:
    command = [sys.executable, "-c", READER, str(path), str(number), str(pause), str(block_size), log]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def begin(*readers: subprocess.Popen[str]) -> None:
    for process in readers:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in readers:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()


def test_every_sample_once_although_a_reader_is_killed(tmp_path: Path) -> None:
    path = tmp_path / "log"
    # The third reader is slow, and the second is killed while it has a claim.
    processes = [reader(path, 0, 0.0005), reader(path, 1, 0.02), reader(path, 2, 0.004)]
    begin(*processes)
    assert processes[1].stdout is not None
    for _ in range(2):
        processes[1].stdout.readline()
    processes[1].send_signal(signal.SIGKILL)
    told = [process.communicate(timeout=HANG)[0] for process in processes]
    assert [process.returncode for process in processes] == [0, -signal.SIGKILL, 0]
    order = Sampler(600, seed=5, order="torch")
    replay = Replay(FileLog(path))
    assert replay.progress().finished
    replayed = np.concatenate([*replay.samples(order)])
    assert sorted(replayed) == list(range(600))
    for number in (0, 2):
        # A replay on as many readers gives each reader the samples that it read itself.
        own = np.concatenate([*replay.samples(order, number, 3)])
        assert own.tolist() == [int(word) for line in told[number].splitlines() for word in line.split()]
    counts = {number: sum(commit.count for commit in replay.commits if commit.reader == number) for number in range(3)}
    assert counts[0] > counts[2] > counts[1] > 0
    # A replay on two readers gives reader r the runs of all readers with number modulo 2 = r.
    even, odd = (np.concatenate([*replay.samples(order, number, 2)]) for number in range(2))
    assert len(even) == counts[0] + counts[2]
    assert len(odd) == counts[1]


def test_a_reader_that_comes_back_begins_anew(tmp_path: Path) -> None:
    path = tmp_path / "log"
    first = Ledger(Sampler(100), FileLog(path), reader=7, block_size=30)
    claim = first.claim()
    assert claim is not None
    claim.commit(10)
    again = Ledger(Sampler(100), FileLog(path), reader=7, block_size=30)
    assert again.progress()[:3] == (100, 10, 0)
    with pytest.raises(ContradictionError, match="claim is 2"):
        claim.commit(1)
    with pytest.raises(ContradictionError, match="reader is 7"):
        first.claim()
    runs = [(claim.start, claim.count) for claim in again]
    assert runs == [(10, 20), (30, 30), (60, 30), (90, 10)]
    assert again.claim() is None


def test_what_is_left_of_an_epoch(tmp_path: Path) -> None:
    """A ledger takes over the rest of a fixed deal by its state."""
    dealt = [Sampler(50, seed=1, rank=rank, world_size=4) for rank in range(4)]
    seen = [sampler.indices(0, 5) for sampler in dealt]
    rest = Sampler(50, seed=1, rank=2, world_size=3)
    rest.resume(dealt[0].state(5))
    for claim in Ledger(rest, FileLog(tmp_path / "log"), reader=0, block_size=7):
        seen.append(claim.samples)
    assert sorted(np.concatenate(seen)) == list(range(50))
    replay = Replay(FileLog(tmp_path / "log"))
    assert len(np.concatenate([*replay.samples(Sampler(50, seed=1, epoch=9))])) == 30


def test_a_schedule_in_a_notebook() -> None:
    log = MemoryLog()
    for claim in Ledger(Sampler(250, seed=1), log, reader=3, block_size=2):
        claim.commit()
    replay = Replay(log)
    shown = replay._repr_html_()
    # The caption is escaped as text.
    assert "<caption>&lt;Replay of 250 of 250 positions in 125 runs&gt;: the first 100 of 125</caption>" in shown
    rows = cells(shown)
    assert rows[0] == ["entry", "reader", "start", "count"]
    assert rows[1:] == [[str(run.number), "3", str(run.start), "2"] for run in replay.commits[:100]]


def test_events_of_a_log() -> None:
    """The replay has every entry about a run, of all readers, and no other entries."""
    ledger = Ledger(Sampler(10), log := MemoryLog(), reader=3, block_size=6, lease=5.0)
    first, second = ledger.claim(), Ledger(Sampler(10), log, reader=8).claim()
    assert first is not None
    assert second is not None
    first.commit(4)
    first.release()
    ledger.set_lease(9.0)
    second.commit()
    replay = Replay(log)
    expected = [
        ("join", 3, 0, 0),
        ("claim", 3, 0, 6),
        ("join", 8, 0, 0),
        ("claim", 8, 6, 4),
        ("commit", 3, 0, 4),
        ("release", 3, 4, 2),
        ("commit", 8, 6, 4),
    ]
    found = [event for event in iter(replay.next_event, None) if event is not None]
    assert [event[1:5] for event in found] == expected
    claims = [event.number for event in found if event.kind == "claim"]
    assert [event.claim for event in found] == [0, claims[0], 0, claims[1], claims[0], claims[0], claims[1]]
    assert {event.taken_from for event in found} == {None}
    assert replay.next_event() is None
    # The commits are as before, and a copy gives its events from the beginning.
    assert [run.number for run in replay.commits] == [event.number for event in found if event.kind == "commit"]
    for again in (copy.copy(replay), pickle.loads(pickle.dumps(replay))):
        assert list(iter(again.next_event, None)) == found


def test_long_logs_are_replayed_in_parts() -> None:
    """The component applies entries in parts of any size: the schedule is that of the whole log, and an error has its
    line."""
    header = Ledger(Sampler(6000), MemoryLog(), reader=7, block_size=2, checkpoint_interval=2**53 - 1).log.read(0)[0]
    entries = [str(header)]
    for start in range(0, 6000, 2):
        entries += (event("claim", start % 3, start, 2), event("commit", start % 3, start, 1))
        entries.append(event("commit", start % 3, start + 1, 1))
    replay = Replay(log := MemoryLog(entries))
    assert len(replay) == len(replay.commits) == 6000
    assert [(run.number, run.reader, run.start, run.count) for run in replay.commits[:3]] == [
        (2, 0, 0, 1),
        (3, 0, 1, 1),
        (5, 2, 2, 1),
    ]
    # A run has the entry of its claim, which names the reader of both of its commits.
    assert [run.claim for run in replay.commits[:3]] == [1, 1, 4]
    order = Sampler(6000)
    for readers in (1, 2, 5):
        for reader in range(readers):
            own = [run.start for run in replay.commits if run.reader % readers == reader]
            found = [sample for samples in replay.samples(order, reader, readers) for sample in samples.tolist()]
            assert found == [order[start] for start in own]
    # Entries that are appended later are not in the replay.
    assert log.append(len(entries), '{"event":"lease","reader":9,"lease_ms":5}')
    assert len(np.concatenate([*replay.samples(order)])) == 6000
    assert replay.progress().entries == len(entries)
    for odd, field in (("x", "entry"), (event("commit", 0, 0, 1), "entry"), ("\ud800", "entry")):
        for line in (4096, 4097, 4098, 9002):
            wrong = [*entries[: line - 1], odd, *entries[line - 1 :]]
            with pytest.raises(SamedealError, match=rf"\(line {line} of the log\)") as caught:
                Replay(MemoryLog(wrong))
            assert caught.value.field in (field, "entries")


def event(name: str, reader: int, start: int, count: int) -> str:
    return f'{{"event":"{name}","reader":{reader},"start":{start},"count":{count}}}'


def test_threads_share_a_log() -> None:
    log, seen, lock = MemoryLog(), [], threading.Lock()
    sampler = Sampler.sharded([300, 0, 500], lanes=4, shuffle_window=8, seed=2)

    def run(number: int) -> None:
        for claim in Ledger(sampler, log, reader=number, block_size=16):
            with lock:
                seen.extend(claim.samples.tolist())

    threads = [threading.Thread(target=run, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(seen) == list(range(800))
    assert np.concatenate([*Replay(log).samples(sampler)]).tolist() != list(range(800))


def test_who_is_silent_loses_what_it_holds() -> None:
    log = MemoryLog()
    silent = Ledger(Sampler(10), log, reader=0, block_size=6, lease=2.0)
    other = Ledger(Sampler(10), log, reader=1, block_size=6, lease=2.0)
    first = silent.claim()
    assert first is not None
    first.commit(2)
    second = other.claim()
    assert second is not None
    second.commit()
    with pytest.raises(TimeoutError, match="nothing free in 0"):
        other.claim(timeout=0)
    third = other.claim(timeout=HANG)
    assert third is not None
    assert (third.start, third.count) == (2, 4)
    assert not second.lost
    with pytest.raises(ContradictionError, match="claim is 3"):
        first.commit()
    assert first.lost
    with pytest.raises(ContradictionError, match="claim is reader 1; allowed: a reader that commits or releases"):
        other.claim()
    # This is the same run, but another claim.
    third.release()
    again = silent.claim()
    assert again is not None
    assert again.start == third.start
    with pytest.raises(ContradictionError, match="claim is"):
        first.commit(1)
    # A commit cannot have positions that were released.
    with pytest.raises(OutOfRangeError, match="count is 1"):
        third.commit(1)
    again.commit()
    assert other.claim() is None
    assert silent.claim() is None


def test_any_word_renews_what_else_is_held() -> None:
    log = MemoryLog()
    ledger = Ledger(Sampler(30), log, reader=0, block_size=10, lease=3.0)
    other = Ledger(Sampler(30), log, reader=1, block_size=10, lease=3.0)
    claims = [ledger.claim() for _ in range(3)]
    one, two, three = (claim for claim in claims if claim is not None)
    for _ in range(5):
        with pytest.raises(TimeoutError):
            other.claim(timeout=1)
        one.commit(1)
    two.renew()
    two.commit()
    two.renew()
    three.release()
    three.release()
    one.commit()
    assert [claim.start for claim in other] == [20]
    assert ledger.progress().finished


class Unsure(MemoryLog):
    """A log that appends some entries and fails nevertheless, as if a connection broke before the answer."""

    def __init__(self, *silent: int) -> None:
        super().__init__()
        self.silent = silent

    def append(self, number: int, entry: str) -> bool:
        added = super().append(number, entry)
        if added and number in self.silent:
            raise OSError("no answer in time")
        return added


def test_nothing_is_committed_twice_where_a_log_does_not_say_what_it_did() -> None:
    ledger = Ledger(Sampler(20), Unsure(2, 3, 4), reader=0, block_size=10)
    with pytest.raises(OSError, match="in time"):
        ledger.claim()
    # The run was claimed nevertheless, by no other reader.
    claim = ledger.claim()
    assert claim is not None
    assert (claim.start, ledger.progress().claimed) == (0, 10)
    for count in (4, 6):
        with pytest.raises(OSError, match="in time"):
            claim.commit(count)
        claim.commit(count)
    assert ledger.progress().committed == 10
    assert [claim.start for claim in ledger] == [10]


@pytest.mark.parametrize("release", [False, True])
def test_a_claim_of_unknown_outcome_is_the_next_one_also_after_another_call(release: bool) -> None:
    ledger = Ledger(Sampler(30), Unsure(3), reader=0, block_size=10)
    first = ledger.claim()
    assert first is not None
    with pytest.raises(OSError, match="in time"):
        ledger.claim()
    # This call does not read the log first, so its entry is refused: the entry of the claim is in its place.
    if release:
        first.release()
    else:
        first.commit()
    assert [claim.start for claim in ledger] == ([10, 0, 20] if release else [10, 20])
    assert ledger.progress().finished


def test_what_a_log_did_not_say_that_it_appended_is_known_later() -> None:
    ledger = Ledger(Sampler(40), Unsure(2, 4, 6, 9), reader=0, block_size=20)
    with pytest.raises(OSError, match="no answer"):
        ledger.claim()
    claim = ledger.claim()
    assert claim is not None
    assert (claim.start, claim.count) == (0, 20)
    claim.commit(3)
    with pytest.raises(OSError, match="no answer"):
        claim.commit(3)
    # This call reads the log, which has the commit. So the commit adds nothing when it is repeated.
    assert ledger.progress().committed == 6
    claim.commit(3)
    assert (claim.committed, ledger.progress().entries) == (6, 5)
    claim.commit(4)
    with pytest.raises(OSError, match="no answer"):
        claim.commit(10)
    assert ledger.progress().committed == 20
    claim.commit(10)
    claim.commit()
    claim.release()
    assert (claim.committed, ledger.progress().entries) == (20, 7)
    second = ledger.claim()
    assert second is not None
    second.renew()
    with pytest.raises(OSError, match="no answer"):
        second.release()
    assert ledger.progress().claimed == 0
    second.release()
    assert second.lost
    assert (second.count, len(second.samples)) == (0, 0)
    third = ledger.claim()
    assert third is not None
    assert (third.start, ledger.progress().entries) == (20, 11)
    with pytest.raises(OutOfRangeError):
        second.commit(1)


def test_the_last_life_of_a_reader_takes_over() -> None:
    log = MemoryLog()
    old = Ledger(Sampler(40), log, reader=0, block_size=10)
    held = [old.claim() for _ in range(2)]
    new = Ledger(Sampler(40), log, reader=0, block_size=10)
    first = new.claim()
    assert first is not None
    assert first.start == 0
    for claim in held:
        assert claim is not None
        # The claims are lost, even those whose positions the new process has claimed.
        with pytest.raises(ContradictionError, match="claim is"):
            claim.commit()
        assert claim.lost
    with pytest.raises(ContradictionError, match="another one has joined the log as this reader"):
        old.claim()
    first.commit()
    assert [claim.start for claim in new] == [10, 20, 30]
    assert old.progress().finished


def test_a_claim_that_was_dropped_is_the_next_one() -> None:
    ledger = Ledger(Sampler(30), MemoryLog(), reader=0, block_size=10)
    claim = ledger.claim()
    assert claim is not None
    claim.commit(4)
    number = claim.number
    del claim
    again = ledger.claim()
    assert again is not None
    assert (again.number, again.start, again.count) == (number, 4, 6)


def test_what_an_interrupted_call_claimed_is_the_next_claim(monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = Ledger(Sampler(20), MemoryLog(), reader=0, block_size=10)

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Claim, "__init__", interrupt)
        patch.delattr(Claim, "__del__")
        for _ in range(2):
            with pytest.raises(KeyboardInterrupt):
                ledger.claim()
    # No object had the claim, so nobody could have committed it.
    assert ledger.progress().claimed == 10
    assert [claim.start for claim in ledger] == [0, 10]


@pytest.mark.parametrize(
    ("name", "call"), [("claim", lambda ledger: ledger.claim(timeout=0)), ("catch_up", Ledger.progress)]
)
def test_an_action_of_a_later_component_ends_the_operation_with_an_error(
    name: str, call: Callable[[Ledger], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    log = MemoryLog()
    ledger = Ledger(Sampler(20), log, reader=0, block_size=10)
    before = log.read(0)
    with monkeypatch.context() as patch:
        patch.setattr(Client, name, lambda *_: Instruction("compact", 0, "{}", 0))
        with pytest.raises(UnknownNameError) as caught:
            call(ledger)
    error = caught.value
    assert (error.kind, error.field, error.value) == ("unknown-name", "action", "compact")
    assert error.known == ("checkpoint", "read", "append", "done", "claimed", "wait", "held", "finished")
    assert str(error).endswith("finished: this version of samedeal is too old for its component")
    # Nothing was written, so the next operation begins again.
    assert log.read(0) == before
    assert [claim.start for claim in ledger] == [0, 10]


def test_an_engine_that_was_interrupted_gives_back_what_was_held() -> None:
    ledger = Ledger(Sampler(20), MemoryLog(), reader=0, block_size=10)
    claim = ledger.claim()
    assert claim is not None
    claim.commit(3)
    # The component is in an unknown state, as after an exception of a signal handler in the middle of a call.
    ledger._client.core.whole = False
    assert ledger.progress()[:3] == (20, 3, 0)
    assert claim.lost
    for call in (claim.commit, claim.renew, claim.release):
        with pytest.raises(ContradictionError, match=f"claim is {claim.number}; allowed: one that is held"):
            call()
    assert [(one.start, one.count) for one in ledger] == [(3, 7), (10, 10)]


def test_the_lease_of_a_log_can_be_changed() -> None:
    log = MemoryLog()
    one = Ledger(Sampler(20), log, reader=0)
    assert (one.block_size, one.lease) == (1024, 60.0)
    two = Ledger(Sampler(20), log, reader=1, lease=2.5)
    assert (one.lease, two.lease) == (2.5, 2.5)
    one.set_lease(7)
    assert (one.lease, two.lease) == (7.0, 7.0)
    assert Ledger(Sampler(20), log, reader=2).lease == 7.0
    for wrong, error in [(0, OutOfRangeError), (True, WrongTypeError), ("7", WrongTypeError)]:
        with pytest.raises(error, match="lease"):
            one.set_lease(wrong)  # type: ignore[arg-type]
    assert Replay(log).progress().committed == 0


class Counting:
    """A log that counts the entries that were read."""

    def __init__(self, log: Any) -> None:
        self.log, self.read_entries = log, 0
        self.append, self.last_checkpoint = log.append, log.last_checkpoint

    def read(self, start: int) -> Any:
        entries = self.log.read(start)
        self.read_entries += len(entries)
        return entries


@pytest.mark.parametrize("kind", ["file", "folder", "memory"])
def test_a_long_log_opens_from_its_last_checkpoint(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("samedeal.ledger.log._WINDOW", 8)
    monkeypatch.setattr("samedeal.ledger.folder._WINDOW", 8)
    log: Any = MemoryLog()
    if kind != "memory":
        log = (FileLog if kind == "file" else FolderLog)(tmp_path / "log")
    assert log.last_checkpoint() is None
    ledger = Ledger(Sampler(400), log, reader=0, block_size=2, checkpoint_interval=100)
    for claim in ledger:
        if claim.start == 300:
            break
    last = json.loads(log.last_checkpoint())["number"]
    assert json.loads(log.read(last)[0])["number"] == last
    # Another object of the log finds the entries, in any order of places.
    again: Any = log if kind == "memory" else type(log)(tmp_path / "log")
    assert [again.read(number)[0] for number in (last, 3, last)] == [log.read(number)[0] for number in (last, 3, last)]
    counting = Counting(log if kind == "memory" else type(log)(tmp_path / "log"))
    other = Ledger(Sampler(400), counting, reader=1)
    assert other.progress() == ledger.progress()
    total = other.progress().entries
    if kind != "memory":
        # The reader reads some of the first entries, and all entries after the checkpoint.
        assert counting.read_entries <= 8 + total - last < total - 100
    assert (other.block_size, other.progress().committed, other.progress().claimed) == (2, 300, 2)
    taken = other.claim()
    assert taken is not None
    assert taken.start == 302
    taken.commit()
    # A copy without checkpoints has the same result.
    plain = Binary()
    assert copy_log(again, plain) == total + 2
    assert Ledger(Sampler(400), plain, reader=1).progress()[:2] == (400, 302)
    assert Replay(again).progress().committed == 302


def test_a_checkpoint_is_searched_in_all_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "log"
    ledger = Ledger(Sampler(4000), FileLog(path), reader=0, block_size=1, checkpoint_interval=3)
    for claim in ledger:
        if claim.start == 10:
            break
    text = path.read_text()
    last = [line for line in text.splitlines() if line.startswith('{"event":"checkpoint"')][-1]
    header, rest = text.split("\n", 1)
    commit = '{"event":"commit","reader":0,"start":10,"count":0}\n'
    for lines in (0, 1, 1200, 1300, 2600):
        # The checkpoint is found even if a block of the search begins within it, and if the last line is incomplete.
        for shift in range(0, 60, 7):
            torn = '{"event":"checkpoint","number":9999,"ne'
            path.write_text(f"{header}\n{rest}{commit * lines}{' ' * shift}{commit}{torn}")
            assert FileLog(path).last_checkpoint() == last
    path.write_text(f"{last}\n")
    assert FileLog(path).last_checkpoint() is None


RUST = (
    '{"samedeal":1,"kind":"ledger","recipe":{"order":{"name":"feistel","samples":10,"seed":0}},"epoch":0,"consumed":0,'
    '"block_size":4,"lease_ms":60000}\n'
    '{"event":"join","reader":1,"session":"0000000000000002"}\n'
    '{"event":"claim","reader":1,"start":0,"count":4}\n'
    '{"event":"lease","reader":1,"lease_ms":7000}\n'
    '{"event":"commit","reader":1,"start":0,"count":3}\n'
    '{"event":"checkpoint","number":5,"next":4,"committed":3,"lease_ms":7000,"free":[],"held":[2,1,0,4,3]}\n'
)
"""A log as other hosts write it."""


def test_a_log_of_another_host_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text(RUST)
    ledger = Ledger(Sampler(10), FileLog(path), reader=5)
    assert (ledger.block_size, ledger.lease, ledger.progress()[:3]) == (4, 7.0, (10, 3, 1))
    # A reader of the other host continues in this host.
    back = Ledger(Sampler(10), FileLog(path), reader=1)
    assert [(claim.start, claim.count) for claim in back] == [(3, 1), (4, 4), (8, 2)]
    assert ledger.claim() is None
    assert path.read_text().startswith(RUST)
    assert np.concatenate([*Replay(FileLog(path)).samples(Sampler(10))]).tolist() == [*Sampler(10)]


def test_a_loop_that_breaks_off_leaves_its_claim_to_the_next() -> None:
    ledger = Ledger(Sampler(20), MemoryLog(), reader=0, block_size=20)
    for claim in ledger:
        claim.commit(5)
        break
    # The claim still belongs to the caller, who may commit more of it.
    claim.commit(1)
    assert [(one.start, one.count) for one in ledger] == [(6, 14)]


def test_a_ledger_is_not_asked_within_a_call_of_its_own() -> None:
    class Interrupting(MemoryLog):
        handler: Any = None

        def append(self, number: int, entry: str) -> bool:
            if self.handler is not None:
                self.handler()
            return super().append(number, entry)

    log = Interrupting()
    ledger = Ledger(Sampler(20), log, reader=0)
    log.handler = ledger.progress
    with pytest.raises(RuntimeError, match="during one of its own calls"):
        ledger.claim()
    log.handler = None
    assert [claim.start for claim in ledger] == [0]


def test_a_torn_line_is_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "log"
    ledger = Ledger(Sampler(40), FileLog(path), reader=0, block_size=10)
    next(iter(ledger)).commit()
    whole = path.read_bytes()
    path.write_bytes(whole + b'{"event":"claim","reader":5,"sta')
    other = Ledger(Sampler(40), FileLog(path), reader=1, block_size=10)
    assert other.progress().committed == 10
    claim = other.claim()
    assert claim is not None
    assert path.read_bytes().startswith(whole + b'{"event":"join","reader":1,"session":"')
    assert ledger.progress() == other.progress()


@pytest.mark.parametrize("how", ["begun anew", "copied", "rewritten", "gone"])
def test_a_log_that_was_replaced_is_another_one(tmp_path: Path, how: str) -> None:
    path = tmp_path / "log"
    old = Ledger(Sampler(40), FileLog(path), reader=0, block_size=10)
    claim = old.claim()
    assert claim is not None
    text = path.read_bytes()
    new = None
    if how == "copied":
        (tmp_path / "copy").write_bytes(text)
        (tmp_path / "copy").replace(path)
    elif how == "rewritten":
        # The new file is as long as the old one; only its text differs.
        path.write_bytes(text.replace(b'"reader":0', b'"reader":1'))
    else:
        path.unlink()
    if how == "begun anew":
        # The system may give this file the inode number of the old one.
        new = Ledger(Sampler(40), FileLog(path), reader=1, block_size=10)
        held = new.claim()
    before = path.read_bytes() if path.exists() else None
    for call in (claim.commit, claim.release, old.claim, old.progress):
        with pytest.raises(ContradictionError, match="another log than the one of which 3 entries were read"):
            call()
    assert (path.read_bytes() if path.exists() else None) == before
    if new is not None and held is not None:
        # The new log is not damaged.
        held.commit()
        assert [one.start for one in new] == [10, 20, 30]
        assert Replay(FileLog(path)).progress().finished
    # A new ledger may use the old log object, which then reads the new file from its beginning.
    assert Ledger(Sampler(40), old.log, reader=2, block_size=10).progress().entries == len(
        path.read_bytes().splitlines()
    )


@pytest.mark.parametrize("how", ["begun anew", "gone", "cut"])
def test_a_folder_that_was_replaced_is_another_log(tmp_path: Path, how: str) -> None:
    path = tmp_path / "log"
    old = Ledger(Sampler(40), FolderLog(path), reader=0, block_size=10)
    claim = old.claim()
    assert claim is not None
    if how == "cut":
        (path / "0000000000000002.json").unlink()
    else:
        shutil.rmtree(path)
    new = Ledger(Sampler(40), FolderLog(path), reader=0, block_size=10) if how == "begun anew" else None
    # The last entry has the same text as in the old log.
    held = None if new is None else new.claim()
    before = {file.name: file.read_bytes() for file in path.glob("*")}
    for call in (claim.commit, claim.release, old.claim, old.progress):
        with pytest.raises(ContradictionError, match=r"another log: entry [12] is not the one that was read"):
            call()
    assert {file.name: file.read_bytes() for file in path.glob("*")} == before
    if new is not None and held is not None:
        held.commit()
        assert [one.start for one in new] == [10, 20, 30]
        assert Replay(FolderLog(path)).progress().finished


def test_processes_share_a_folder_and_leave_no_other_file(tmp_path: Path) -> None:
    path = tmp_path / "log"
    readers = [reader(path, number, 0.0005, log="FolderLog") for number in range(3)]
    begin(*readers)
    found = [[int(sample) for sample in process.communicate()[0].split()] for process in readers]
    assert all(process.returncode == 0 for process in readers)
    assert sorted(sample for samples in found for sample in samples) == [*range(600)]
    log = FolderLog(path)
    assert repr(pickle.loads(pickle.dumps(log))) == repr(log)
    file = FileLog(tmp_path / "file")
    number = copy_log(log, file)
    assert [entry.name for entry in sorted(path.iterdir())] == [f"{at:016}.json" for at in range(number)]
    assert b"".join(entry.read_bytes() for entry in sorted(path.iterdir())) == file.path.read_bytes()
    for at, samples in enumerate(found):
        replayed = [*Replay(log).samples(Sampler(600, seed=5, order="torch"), reader=at, readers=3)]
        assert [sample for run in replayed for sample in run] == samples


def test_a_lost_answer_of_a_folder_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    link, log = os.link, FolderLog(tmp_path / "log")

    def twice(source: Any, target: Any) -> None:
        link(source, target)
        link(source, target)

    monkeypatch.setattr(os, "link", twice)
    assert log.append(0, "one")
    monkeypatch.undo()
    assert not FolderLog(log.path).append(0, "two")
    assert not log.append(2, "three")
    assert log.append(1, "two")
    assert log.read(0) == ["one", "two"]
    assert len([*log.path.iterdir()]) == 2


@pytest.mark.parametrize("torn", [b"", b'{"ev', b'{"event":"commit","rea'])
@pytest.mark.parametrize("zeros", [1, 3 << 20])
def test_zeros_that_a_loss_of_power_left_are_cut_off(tmp_path: Path, torn: bytes, zeros: int) -> None:
    path = tmp_path / "log"
    ledger = Ledger(Sampler(40), FileLog(path), reader=0, block_size=10)
    next(iter(ledger)).commit()
    whole = path.read_bytes()
    path.write_bytes(whole + torn + bytes(zeros))
    other = Ledger(Sampler(40), FileLog(path), reader=1, block_size=10)
    assert other.claim() is not None
    assert path.read_bytes().startswith(whole + b'{"event":"join","reader":1,"session":"')
    assert ledger.progress() == other.progress()
    # A power failure can leave a log in which nothing was written completely.
    path.write_bytes(torn.replace(b"event", b"samedeal")[:4] + bytes(zeros))
    assert [claim.start for claim in Ledger(Sampler(20), FileLog(path), reader=0, block_size=10)] == [0, 10]


def test_other_files_that_begin_with_zeros_stay_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "image"
    for content in (bytes(100) + b"x", bytes(3 << 20) + b"{"):
        path.write_bytes(content)
        with pytest.raises(ContradictionError, match="no entry, and has no end"):
            Ledger(Sampler(40), FileLog(path), reader=0)
        assert path.read_bytes() == content


class Binary:
    """A log that returns entries as bytes, as most key-value stores do."""

    def __init__(self) -> None:
        self.log = MemoryLog()

    def read(self, start: int) -> list[bytes]:
        return [entry.encode() for entry in self.log.read(start)]

    def append(self, number: int, entry: str) -> bool:
        return self.log.append(number, entry)


def test_entries_may_be_bytes() -> None:
    binary, copied = Binary(), MemoryLog()
    starts = [claim.start for claim in Ledger(Sampler(40), binary, reader=0, block_size=10)]
    assert starts == [0, 10, 20, 30]
    assert Ledger(Sampler(40), binary, reader=1, block_size=10).progress().finished
    assert copy_log(binary, copied) == 11
    assert copy_log(binary, copied) == copy_log(copied, binary) == 0
    assert Replay(binary).commits == Replay(copied).commits


def test_odd_entries_are_told_of() -> None:
    header = Ledger(Sampler(40), (log := MemoryLog()), reader=0).log.read(0)[0]
    assert Replay(log).progress().committed == 0
    for odd in ("\ud800", b"\xff", '{"event":"claim","reader":0,"start":0,"count":\udfff}'):
        with pytest.raises(SamedealError, match="line 2 of the log"):
            Replay(MemoryLog([header, odd]))  # type: ignore[list-item]
        with pytest.raises(SamedealError):
            Replay(MemoryLog([odd]))  # type: ignore[list-item]
        with pytest.raises(SamedealError):
            Ledger(Sampler(40), MemoryLog([header, odd]), reader=0)  # type: ignore[list-item]
    for wrong in (5, None, ["x"]):
        with pytest.raises(WrongTypeError, match="text, or bytes"):
            Replay(MemoryLog([header, wrong]))  # type: ignore[list-item]
    with pytest.raises(WrongTypeError, match="log is '/tmp'"):
        Replay("/tmp")  # type: ignore[arg-type]


def test_a_file_that_is_no_log_loses_nothing(tmp_path: Path) -> None:
    path = tmp_path / "checkpoint"
    for text in ['{"model": 1}', "x", '{"samedeal" : 1', "weights\nmore"]:
        path.write_text(text)
        with pytest.raises(SamedealError):
            Ledger(Sampler(40), FileLog(path), reader=0)
        assert path.read_text() == text


def test_stores_that_show_nothing_are_told_of() -> None:
    class Blind(MemoryLog):
        blind = False

        def append(self, number: int, entry: str) -> bool:
            return not self.blind and super().append(number, entry)

    log = Blind()
    ledger = Ledger(Sampler(40), log, reader=0)
    log.blind = True
    with pytest.raises(ContradictionError, match="log is with an entry 2 when another one is appended"):
        ledger.claim()
    other = Blind()
    other.blind = True
    with pytest.raises(ContradictionError, match="log is with an entry 0"):
        Ledger(Sampler(40), other, reader=0)


def test_what_a_loop_left_is_given_out_again() -> None:
    ledger = Ledger(Sampler(30), MemoryLog(), reader=0, block_size=10)
    for claim in ledger:
        claim.commit(3)
        break
    del claim
    assert [(claim.start, claim.count, claim.samples.tolist()) for claim in ledger] == [
        (
            start,
            10 if start > 3 else 7,
            Sampler(30).indices(start, 20 if start == 10 else 10 if start == 3 else 30).tolist(),
        )
        for start in (3, 10, 20)
    ]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_process_opens_the_ledger_anew(tmp_path: Path) -> None:
    log = FileLog(tmp_path / "log")
    ledger = Ledger(Sampler(40), log, reader=0, block_size=10)
    claim = ledger.claim()
    assert claim is not None
    child = os.fork()
    if child == 0:
        told = 0
        for call in (claim.commit, claim.release, ledger.claim, ledger.progress):
            try:
                call()
            except ContradictionError as error:
                told += "after a fork, open the ledger anew" in str(error)
        other = Ledger(Sampler(40), log, reader=1)
        taken = other.claim()
        assert taken is not None
        taken.commit(4)
        os._exit(0 if told == 4 and other.progress().committed == 4 else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert ledger.progress().committed == 4
    claim.commit(4)
    assert (claim.committed, ledger.progress().committed) == (4, 8)


def test_logs_are_copied(tmp_path: Path) -> None:
    log, kept = MemoryLog(), FileLog(tmp_path / "kept")
    ledger = Ledger(Sampler(40), log, reader=0, block_size=10)
    claim = ledger.claim()
    assert claim is not None
    claim.commit(3)
    assert copy_log(log, kept) == 4
    assert copy_log(log, kept) == 0
    claim.commit()
    assert copy_log(log, pickle.loads(pickle.dumps(kept))) == 1
    other = MemoryLog()
    Ledger(Sampler(40, epoch=1), other, reader=0, block_size=10)
    with pytest.raises(ContradictionError, match="entry 0"):
        copy_log(log, other)
    assert Replay(kept).commits == Replay(log).commits
    assert repr(Replay(kept)) == "<Replay of 10 of 40 positions in 2 runs>"


def test_a_log_of_something_else_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "log"
    Ledger(Sampler(40, seed=1), FileLog(path), reader=0)
    for sampler, block_size, field in [
        (Sampler(41, seed=1), 1024, "samples"),
        (Sampler(40, seed=2), 1024, "seed"),
        (Sampler(40, seed=1, epoch=1), 1024, "epoch"),
        (Sampler(40, seed=1, order="torch"), 1024, "name"),
        (Sampler(40, seed=1, consumed=3), 1024, "consumed"),
        (Sampler(40, seed=1), 10, "block_size"),
        (Sampler.sharded([40], seed=1), 1024, "name"),
    ]:
        with pytest.raises(ContradictionError) as caught:
            Ledger(sampler, FileLog(path), reader=1, block_size=block_size)
        assert caught.value.field == field
    with pytest.raises(ContradictionError, match="seed"):
        Replay(FileLog(path)).samples(Sampler(40))
    header = path.read_text().splitlines(keepends=True)[0]
    event = {"event": "commit", "reader": 0, "start": 0, "count": 1}
    for line, shown in [(json.dumps(event), "line 2"), ("x", "line 2"), ("\xff", "line 2"), (header, "line 2")]:
        path.write_text(f"{header}{line.strip()}\n", encoding="latin-1")
        with pytest.raises(SamedealError, match=shown):
            Replay(FileLog(path))
        with pytest.raises(SamedealError):
            Ledger(Sampler(40, seed=1), FileLog(path), reader=1)
    path.write_text("")
    with pytest.raises(ContradictionError, match="empty"):
        Replay(FileLog(path))
    with pytest.raises(OSError, match="directory"):
        Ledger(Sampler(40), FileLog(tmp_path), reader=1)


def test_arguments_are_checked() -> None:
    wrong: list[tuple[dict[str, Any], type[Exception], str]] = [
        ({"reader": -1}, OutOfRangeError, "reader is -1"),
        ({"reader": 2**32}, OutOfRangeError, "reader"),
        ({"reader": "0"}, WrongTypeError, "reader"),
        ({"block_size": 0}, OutOfRangeError, "block_size is 0"),
        ({"block_size": 2**32}, OutOfRangeError, "block_size"),
        ({"log": "epoch.log"}, WrongTypeError, "FileLog"),
        ({"lease": 0}, OutOfRangeError, "lease is 0"),
        ({"lease": float("nan")}, OutOfRangeError, "lease is nan"),
        ({"lease": True}, WrongTypeError, "lease"),
        ({"checkpoint_interval": 0}, OutOfRangeError, "checkpoint_interval is 0"),
        ({"checkpoint_interval": 1.5}, WrongTypeError, "checkpoint_interval"),
        ({"sampler": 40}, WrongTypeError, "sampler"),
    ]
    for options, error, shown in wrong:
        with pytest.raises(error, match=shown):
            Ledger(**{"sampler": Sampler(40), "log": MemoryLog(), "reader": 0, **options})
    ledger = Ledger(Sampler(40), MemoryLog(), reader=2**32 - 1, block_size=7)
    claim = ledger.claim()
    assert isinstance(claim, Claim)
    for count, error in [(8, OutOfRangeError), (-1, OutOfRangeError), (1.5, WrongTypeError), (True, WrongTypeError)]:
        with pytest.raises(error):
            claim.commit(count)  # type: ignore[arg-type]
    assert repr(claim) == "<positions 0 to 6 of reader 4294967295, 0 committed>"
    for copied in (copy.copy, pickle.dumps):
        with pytest.raises(TypeError, match="does not pickle"):
            copied(ledger)
    replay = Replay(ledger.log)
    with pytest.raises(OutOfRangeError, match="reader is 2"):
        replay.samples(Sampler(40), 2, 2)
    with pytest.raises(OutOfRangeError, match="readers is 0"):
        replay.samples(Sampler(40), 0, 0)
    for odd in ((-1, 2), (0, 2**32), (0, -1)):
        with pytest.raises(OutOfRangeError):
            replay.samples(Sampler(40), *odd)
    with pytest.raises(WrongTypeError, match="readers"):
        replay.samples(Sampler(40), 0, True)


def test_nothing_to_claim() -> None:
    ledger = Ledger(Sampler(0), MemoryLog(), reader=0)
    assert [*ledger] == []
    assert ledger.progress().finished


@pytest.mark.parametrize(("number", "error"), [(-1, OutOfRangeError), (2**53, OutOfRangeError), ("0", WrongTypeError)])
def test_logs_take_numbers_of_entries(number: Any, error: type[SamedealError], tmp_path: Path) -> None:
    for log in (MemoryLog(), FileLog(tmp_path / "log"), FolderLog(tmp_path / "folder")):
        with fails(error, "start"):
            log.read(number)
        with fails(error, "number"):
            log.append(number, "x")


def test_a_log_takes_an_entry_at_its_end_and_nowhere_else(tmp_path: Path) -> None:
    for log in (MemoryLog(), FileLog(tmp_path / "log"), FolderLog(tmp_path / "folder")):
        assert [log.append(1, "b"), log.append(0, "a")] == [False, True]
        assert [log.append(number, "b") for number in (0, 2, 9)] == [False] * 3
        assert list(log.read(0)) == ["a"]


def test_no_log_is_in_a_folder_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("a file")
    log = FolderLog(tmp_path / "file")
    for call in (lambda: log.read(0), lambda: log.append(0, "a"), lambda: log.append(1, "a"), log.last_checkpoint):
        with pytest.raises(OSError, match="file"):
            call()
    assert (tmp_path / "file").read_text() == "a file"


@pytest.mark.parametrize("entry", [3, b"x", "two\nlines", "\ud800"])
def test_an_entry_is_a_text_of_one_line(entry: Any, tmp_path: Path) -> None:
    for log in (MemoryLog(), FileLog(tmp_path / "log"), FolderLog(tmp_path / "folder")):
        with fails(OutOfRangeError if isinstance(entry, str) else WrongTypeError, "entry"):
            log.append(0, entry)
        assert log.append(0, "x")
        assert list(log.read(0)) == ["x"]


def test_what_is_no_log_is_refused(tmp_path: Path) -> None:
    for entries in (3, "text", {"a"}, [3]):
        with fails(WrongTypeError, "entry" if entries == [3] else "entries"):
            MemoryLog(entries)  # type: ignore[arg-type]
    for kind in (FileLog, FolderLog):
        with fails(WrongTypeError, "path"):
            kind(3)  # type: ignore[arg-type]
        for path in ("\0", "\ud800", Path("a\0b")):
            with fails(OutOfRangeError, "path"):
                kind(path)
    with fails(WrongTypeError, "source"):
        copy_log(3, MemoryLog())  # type: ignore[arg-type]
    with fails(WrongTypeError, "target"):
        copy_log(MemoryLog(), MemoryLog)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("timeout", "error"),
    [(-1, OutOfRangeError), (math.nan, OutOfRangeError), ("1", WrongTypeError), (True, WrongTypeError)],
)
def test_a_timeout_is_a_number_of_seconds(timeout: Any, error: type[SamedealError]) -> None:
    ledger = Ledger(Sampler(20), MemoryLog(), reader=0)
    with fails(error, "timeout"):
        ledger.claim(timeout)
    assert ledger.claim(0) is not None
