"""A reader of a ledger."""

from __future__ import annotations

import contextlib
import json
import secrets
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any, SupportsIndex

from ..deal.sampler import Sampler
from ..engine import arguments as check
from ..engine import component as components
from ..engine.errors import ContradictionError, OutOfRangeError, UnknownNameError, WrongTypeError
from ..generated.ledger import Instruction
from ..generated.limits import MAX_TEXT
from ..recipe import Recipe
from .binding import Client, Progress
from .log import Log, checked, seconds_left, text_of, until

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Operation = Callable[[Client, int], Instruction]
"""A function that begins an operation of a client, at a time in milliseconds."""

_STEPS = ("checkpoint", "read", "append")
"""The actions that this host carries out."""
_RESULTS = ("done", "claimed", "wait", "held", "finished")
"""The actions that end an operation."""


class Claim:
    """A run of positions that a reader holds."""

    def __init__(self, ledger: Ledger, client: Client, handle: int) -> None:
        """Only `Ledger.claim` calls this."""
        self._ledger = ledger
        self._client = client
        self._handle = handle
        self._run = client.claimed(handle)
        self._released = False
        """Whether this object gave back the positions that were not committed."""

    def __del__(self) -> None:
        """Queues the uncommitted rest for the next claim: a finalizer must not call the ledger itself."""
        self._ledger._left.append((self._client, self._handle))

    @property
    def number(self) -> int:
        """Number of the claim's entry in the log. No other claim has this number."""
        return self._run.claim

    @property
    def start(self) -> int:
        """The first position of the run."""
        return self._run.start

    @property
    def count(self) -> int:
        """Number of positions, without those that `release` gave back."""
        return self._run.count

    @property
    def committed(self) -> int:
        """How many of the positions, from `start` on, are committed by calls of `commit` that have returned."""
        return self._run.committed

    @property
    def lost(self) -> bool:
        """Whether the positions that are not committed were given back or taken away, as far as the log was read."""
        if self._released or self.committed == self.count:
            return self._released
        with self._ledger._turn() as client:
            if client is not self._client:
                return True
            try:
                return client.is_lost(self._handle)
            except ContradictionError:
                # The client does not know the handle any more: it was told to forget the claim, and gives the positions
                # that are not committed to a later call of `claim`.
                return True

    @cached_property
    def _samples(self) -> NDArray[np.int64]:
        return self._ledger.samples(self.start, self.count)

    @property
    def samples(self) -> NDArray[np.int64]:
        """The sample indices of the run, in order."""
        return self._samples[: self.count]

    def commit(self, count: SupportsIndex | None = None) -> None:
        """Commits the next `count` positions, by default all that are left.

        No reader gets these positions again. So write the results to the disk before the commit: the log guarantees
        commits, not results.

        After an error of the log, it is unknown whether the entry was written. Make the same commit again before
        anything else: nothing is committed twice.

        Raises:
            OutOfRangeError: Fewer positions are left.
            ContradictionError: The reader lost the claim, because it wrote no entry for longer than the lease, or
                another process uses its number. Other readers may have read the positions.
            OSError: The log cannot be written.
        """
        number = None if count is None else check.integer("count", count, check.U32)
        self._do(lambda client, now_ms: client.commit(self._handle, number, now_ms))

    def renew(self) -> None:
        """Renews the lease of all claims of this reader. Call it if a commit will come later than the lease allows.

        Raises:
            ContradictionError: As in `commit`.
        """
        self._do(lambda client, now_ms: client.renew(self._handle, now_ms))

    def release(self) -> None:
        """Gives back the positions that are not committed.

        Raises:
            ContradictionError: As in `commit`.
        """
        before = self.count
        self._do(lambda client, now_ms: client.release(self._handle, now_ms))
        self._released = self._released or self.count < before

    def _do(self, begin: Operation) -> None:
        with self._ledger._turn() as client:
            if client is not self._client:
                allowed = "one that is held: a call of its ledger was interrupted, which gave back what the reader held"
                raise ContradictionError("claim", str(self.number), allowed)
            self._ledger._operate(begin)
            self._run = client.claimed(self._handle)

    def __len__(self) -> int:
        """How many positions there are."""
        return self.count

    def __repr__(self) -> str:
        """The positions of the run, its reader, and how many are committed."""
        return (
            f"<positions {self.start} to {self.start + self.count - 1} of reader {self._ledger.reader}, "
            f"{self.committed} committed>"
        )


class Ledger:
    """One reader of an epoch whose positions are claimed while it is read.

    Iteration claims run after run until the epoch is finished, and commits each run when it asks for the next one. If
    other readers hold all positions that are left, it waits. If a reader writes no entry for a lease, other readers
    take over its runs. The clocks of the readers need not agree.

    A claim that was taken over cannot be committed any more. So each position is committed once, by one reader. But the
    reader that lost the claim may already have used the samples, for example in a training step. Make leases longer
    than any pause.

    A `Ledger` cannot be pickled: each process, and each thread that claims, opens the log for itself. A process that
    was forked cannot use the ledgers and claims that its parent opened.
    """

    def __init__(
        self,
        sampler: Sampler,
        log: Log,
        *,
        reader: SupportsIndex,
        block_size: SupportsIndex | None = None,
        lease: float | None = None,
        checkpoint_interval: SupportsIndex | None = None,
    ) -> None:
        """Begins the log or joins it. Claims that an earlier `Ledger` with this reader number made are then free.

        If another process has the log open with this reader number, it loses its claims, and cannot claim any more.

        Args:
            sampler: The sampler whose epoch is read, or the rest of it after its `consumed` positions. Its rank and
                world size do not matter.
            log: The log that all readers share, such as a `FileLog` or a `samedeal.torch.StoreLog`. Each epoch has its
                own log.
            reader: The number of this reader, 0 to 2**32 - 1. Each reader has another number.
            block_size: Number of positions in a claim, 1 to 2**32 - 1, the same for all readers. At the end, the other
                readers may wait for the last claim of the slowest reader. By default, the number in the log; in a
                new log, 1,024.
            lease: A time in seconds, 0.001 or more. If a reader writes no entry for this long, it loses its claims. If
                you pass it, it becomes the lease of the log, for all readers. By default, the lease of the log; in a
                new log, 60.
            checkpoint_interval: Number of entries between two checkpoints, 1 to 2**53 - 1; 4,096 by default. With
                checkpoints, a long log opens at once.

        Raises:
            SamedealError: A value is not allowed, or the log belongs to another sampler.
            OSError: The log cannot be read or written.
        """
        if not isinstance(sampler, Sampler):
            raise WrongTypeError("sampler", check.described(sampler), "a samedeal.Sampler")
        checked("log", log, "read", "append")
        self.reader = check.integer("reader", reader, check.U32)
        self.log = log
        self._order = _whole(sampler)
        self._first = self._order.consumed
        self._options = {
            "block_size": None if block_size is None else check.integer("block_size", block_size, check.U32_FROM_1),
            "lease_ms": None if lease is None else _milliseconds(lease),
            "checkpoint_interval": None
            if checkpoint_interval is None
            else check.integer("checkpoint_interval", checkpoint_interval, check.COUNT_FROM_1),
        }
        self._process = components.process
        self._lock = threading.RLock()
        self._busy = False
        self._left: deque[tuple[Client, int]] = deque()
        """The claims that no caller has any more, such as of a loop that broke off. They are given out again."""
        self._known = 0
        """The handle of the newest `Claim`."""
        self._claiming = False
        """Whether a call that claims is under way, or was interrupted."""
        self._client = self._new_client()
        with self._turn():
            self._operate(Client.open)

    @property
    def block_size(self) -> int:
        """Number of positions in a claim."""
        with self._turn() as client:
            return client.block_size()

    @property
    def lease(self) -> float:
        """The lease in seconds, according to the present log."""
        with self._turn() as client:
            self._operate(Client.catch_up)
            return client.lease_ms() / 1000

    def set_lease(self, lease: float) -> None:
        """Changes the lease of the log, for all readers.

        Args:
            lease: In seconds, 0.001 or more.

        Raises:
            OutOfRangeError: The lease is outside its range.
            ContradictionError: Another process opened the log as this reader.
            OSError: The log cannot be read or written.
        """
        lease_ms = _milliseconds(lease)
        with self._turn():
            self._operate(lambda client, now_ms: client.change_lease(lease_ms, now_ms))

    def claim(self, timeout: float | None = None) -> Claim | None:
        """The next run of positions for this reader. None if all positions are committed.

        Waits if other readers hold all positions that are left.

        Args:
            timeout: The longest time to wait, in seconds, 0 or more. By default, there is no limit.

        Raises:
            ContradictionError: This reader itself holds all positions that are left, and must commit or release them
                first. Or another process opened the log as this reader.
            TimeoutError: No position was free in time; or another process, such as a stopped one, held the lock of the
                log. The error then names the file (`filename`).
            OSError: The log cannot be read or written.
        """
        end = None if timeout is None else time.monotonic() + _seconds("timeout", timeout, 0.0)
        while True:
            with until(end):
                found = self._try(waits=True)
            if isinstance(found, Claim):
                return found
            if found.action == "finished":
                return None
            seconds = found.milliseconds / 1000
            if end is not None:
                rest = end - time.monotonic()
                if rest <= 0:
                    raise TimeoutError(f"reader {self.reader} found nothing free in {timeout} s")
                seconds = min(seconds, rest)
            time.sleep(seconds)

    def __iter__(self) -> Iterator[Claim]:
        """Gives claim after claim.

        Each claim is committed when the loop asks for the next one, unless the loop committed it. If the loop breaks
        off, the next claim has the positions that the last claim did not commit.
        """
        while (claim := self.claim()) is not None:
            done = False
            try:
                yield claim
                claim.commit()
                done = True
            finally:
                if not done:
                    self._left.append((claim._client, claim._handle))

    def progress(self) -> Progress:
        """How much of the epoch is done, according to the present log."""
        with self._turn() as client:
            self._operate(Client.catch_up)
            return client.progress()

    def samples(self, start: SupportsIndex, count: SupportsIndex) -> NDArray[np.int64]:
        """The sample indices at positions `start` to `start + count - 1`."""
        first = check.whole("start", start) - self._first
        return self._order.indices(first, first + check.whole("count", count))

    def __repr__(self) -> str:
        """The order and the reader in one line."""
        return f"<Ledger of {self._order!r}, reader {self.reader}>"

    def _try(self, waits: bool = False) -> Claim | Instruction:
        """A claim, or the instruction that says why there is none."""
        with self._turn() as client:
            # Claims of interrupted calls, which no caller got: the client gives them out again.
            while self._claiming and _has(client, self._known + 1):
                client.forget(self._known + 1)
                self._known += 1
            while self._left:
                of, handle = self._left.popleft()
                if of is client:
                    client.forget(handle)
            self._claiming = True
            found: Claim | Instruction = self._operate(lambda client, now_ms: client.claim(waits, now_ms))
            if isinstance(found, Instruction) and found.action == "claimed":
                handle = found.number
                found = Claim(self, client, handle)
                self._known = handle
            self._claiming = False
            return found

    @contextlib.contextmanager
    def _turn(self) -> Iterator[Client]:
        """A context with the client. Other threads wait until the context ends."""
        if self._process is not components.process:
            # A thread of the parent, which does not exist here, may hold the lock for ever.
            allowed = "one that this process opened: after a fork, open the ledger anew"
            raise ContradictionError("ledger", "one that another process opened", allowed)
        seconds = seconds_left()
        if not self._lock.acquire(timeout=-1 if seconds is None else min(seconds, threading.TIMEOUT_MAX)):
            raise TimeoutError(f"another thread is still in a call of the ledger of reader {self.reader}")
        try:
            if self._busy:
                # The call under way may hold the lock of a file, for which this call would wait for ever.
                raise RuntimeError("a ledger is called during one of its own calls, such as by a signal handler")
            self._busy = True
            try:
                if not self._client.core.whole:
                    # A call was interrupted, and its effect is unknown. A new client joins again, which frees the runs
                    # of the reader.
                    self._client, self._known = self._new_client(), 0
                yield self._client
            finally:
                self._busy = False
        finally:
            self._lock.release()

    def _new_client(self) -> Client:
        return Client(self._order.state(0), self.reader, secrets.randbits(64), **self._options)

    def _operate(self, begin: Operation) -> Instruction:
        """Carries out the instructions of an operation until it is over. Returns the last instruction."""
        client = self._client
        step = begin(client, _now_ms())
        while True:
            if step.action == "checkpoint":
                find = getattr(self.log, "last_checkpoint", None)
                found = None if find is None else find()
                text = None if found is None else text_of(found)[: MAX_TEXT + 1]
                step = client.tell_checkpoint(text, _now_ms())
            elif step.action == "read":
                if step.milliseconds:
                    time.sleep(step.milliseconds / 1000)
                entries = [text_of(entry) for entry in self.log.read(step.number)]
                step = client.tell(step.number, entries, _now_ms())
            elif step.action == "append":
                step = client.tell_appended(bool(self.log.append(step.number, step.entry)), _now_ms())
            elif step.action in _RESULTS:
                return step
            else:
                # An action of a later component. To take it for the end of the operation could end an epoch too early.
                known = (*_STEPS, *_RESULTS)
                allowed = f"{', '.join(known)}: this version of samedeal is too old for its component"
                raise UnknownNameError("action", step.action, allowed, {"known": known})

    def __reduce__(self) -> Any:
        """Raises a TypeError: a copy would be another reader of the same number."""
        raise TypeError("a Ledger does not pickle: open one in each process, each with a reader number of its own")


def _whole(sampler: Sampler) -> Sampler:
    """The order of a sampler, dealt to one rank alone."""
    own: Recipe = sampler._engine.fixed[0]
    recipe = {"order": json.loads(own.text)["order"], "deal": {"remainder": "uneven"}}
    found = Sampler.from_recipe(recipe, lists=dict(own.lists), memory_limit=sampler._engine.fixed[1])
    found._engine.set(lambda _: sampler._engine.config._replace(rank=0))
    return found


def _has(client: Client, handle: int) -> bool:
    """Whether a client has given out a claim with this handle."""
    try:
        client.claimed(handle)
    except ContradictionError:
        return False
    return True


def _milliseconds(lease: Any) -> int:
    return max(1, round(_seconds("lease", lease, 0.001) * 1000))


def _seconds(field: str, value: Any, least: float) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise WrongTypeError(field, check.described(value), "a number of seconds")
    if not least <= value <= 2**43:
        raise OutOfRangeError(field, check.shown(value), f"{least:g} to {2**43} seconds")
    return value


def _now_ms() -> int:
    """Milliseconds on a clock that does not go back."""
    return time.monotonic_ns() // 1_000_000
