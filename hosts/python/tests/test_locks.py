"""The lock of a log in a file: processes that stop while they have it, and files that are removed while others wait for
it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from limits import HANG
from samedeal import ContradictionError, Sampler
from samedeal.ledger import FileLog, FolderLog, Ledger, folder

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="asks Linux who waits for a lock")

HOLDER = """
import fcntl, sys
file = open(sys.argv[1], "rb")
fcntl.flock(file, fcntl.LOCK_EX)
print("held", flush=True)
sys.stdin.read()
"""
COMMITS = """
import sys
from samedeal import ContradictionError, Sampler
from samedeal.ledger import FileLog, Ledger

claim = Ledger(Sampler(40), FileLog(sys.argv[1]), reader=1, block_size=10).claim()
print("claimed", flush=True)
sys.stdin.readline()
try:
    claim.commit()
    print("committed")
except ContradictionError as error:
    print(error.field, error.value)
"""


def begun(program: str, path: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", program, str(path)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() in ("held\n", "claimed\n")
    return process


@contextmanager
def held(path: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process that has the lock of a file."""
    process = begun(HOLDER, path)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def wait_for_a_waiter(pid: int) -> None:
    """Waits until a process waits for the lock of a file."""
    while not any(
        line.split()[1] == "->" and line.split()[5] == str(pid)
        for line in Path("/proc/locks").read_text(encoding="ascii").splitlines()
    ):
        os.sched_yield()


def test_a_timeout_ends_the_wait_for_a_stopped_process(tmp_path: Path) -> None:
    path = tmp_path / "log"
    ledger = Ledger(Sampler(40), FileLog(path), reader=0, block_size=10)
    with held(path) as holder:
        holder.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, holder.pid, os.WSTOPPED | os.WNOWAIT)
        for timeout in (0, 0.01, 0.2):
            with pytest.raises(TimeoutError, match="another process holds the lock of this log") as caught:
                ledger.claim(timeout)
            assert caught.value.filename == str(path)
        # A call in another thread waits for the lock without a timeout. This thread must not wait for that call.
        waiting = threading.Thread(target=ledger.progress)
        waiting.start()
        wait_for_a_waiter(os.getpid())
        with pytest.raises(TimeoutError, match="another thread"):
            ledger.claim(0.01)
    waiting.join(HANG)
    claim = ledger.claim(HANG)
    assert claim is not None
    assert (claim.start, claim.count) == (0, 10)
    claim.commit()
    assert ledger.progress().committed == 10


@pytest.mark.parametrize("again", [False, True])
def test_nothing_is_committed_into_a_file_that_was_removed(tmp_path: Path, again: bool) -> None:
    path = tmp_path / "log"
    writer = begun(COMMITS, path)
    with held(path) as holder:
        assert writer.stdin is not None
        writer.stdin.write("\n")
        writer.stdin.flush()
        # The writer has opened the file, and waits for the lock.
        wait_for_a_waiter(writer.pid)
        path.unlink()
        if again:
            Ledger(Sampler(40), FileLog(path), reader=2, block_size=10)
        before = path.read_bytes() if again else None
        holder.kill()
        told, _ = writer.communicate(timeout=HANG)
    assert told.startswith(f"log {path}: another log than the one of which ")
    assert (path.read_bytes() if again else path.exists()) == (before if again else False)


def test_the_first_entry_is_in_the_file_that_is_there(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.touch()
    log, added = FileLog(path), []
    with held(path) as holder:
        writer = threading.Thread(target=lambda: added.append(log.append(0, '{"event":"join"}')))
        writer.start()
        wait_for_a_waiter(os.getpid())
        path.unlink()
        holder.kill()
        writer.join(HANG)
    assert (added, path.read_text()) == ([True], '{"event":"join"}\n')


@pytest.mark.parametrize("kind", ["pipe", "folder", "device"])
def test_a_log_is_a_regular_file(tmp_path: Path, kind: str) -> None:
    path = Path(os.devnull) if kind == "device" else tmp_path / "log"
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    log = FileLog(path)
    for call in (lambda: log.read(0), lambda: log.append(0, "{}"), log.last_checkpoint):
        with pytest.raises((ContradictionError, IsADirectoryError)) as caught:
            call()
        if isinstance(caught.value, ContradictionError):
            assert (caught.value.field, caught.value.value) == ("log", f"{path}: no regular file")


def test_nothing_is_committed_into_a_folder_that_was_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "log"
    claim = Ledger(Sampler(40), FolderLog(path), reader=1, block_size=10).claim()
    assert claim is not None
    before: dict[str, bytes] = {}

    def replace() -> uuid.UUID:
        """Replaces the folder by another log of the same length, after the log was read and before it is written."""
        monkeypatch.undo()
        path.rename(tmp_path / "old")
        Ledger(Sampler(40), FolderLog(path), reader=2, block_size=10).claim()
        before.update({file.name: file.read_bytes() for file in path.iterdir()})
        return uuid.uuid4()

    monkeypatch.setattr(folder, "uuid4", replace)
    with pytest.raises(ContradictionError, match="another log"):
        claim.commit()
    assert {file.name: file.read_bytes() for file in path.iterdir()} == before


def test_an_entry_of_the_log_that_replaced_another_one_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "log"
    claim = Ledger(Sampler(40), FolderLog(path), reader=1, block_size=10).claim()
    assert claim is not None
    before: dict[str, bytes] = {}
    link = os.link

    def late(*names: Path) -> None:
        """Links the entry, and then replaces the folder by another log, which has an entry of this number."""
        monkeypatch.undo()
        link(*names)
        path.rename(tmp_path / "old")
        other = Ledger(Sampler(40), FolderLog(path), reader=2, block_size=10)
        claims = [other.claim(), other.claim()]
        assert None not in claims
        before.update({file.name: file.read_bytes() for file in path.iterdir()})

    monkeypatch.setattr(os, "link", late)
    with pytest.raises(ContradictionError, match="another log"):
        claim.commit()
    assert len(before) == 4
    assert {file.name: file.read_bytes() for file in path.iterdir()} == before
