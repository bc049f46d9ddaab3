"""Clients of ledgers: section 11."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any

from .base import Failure, below, require, stream
from .ledger import Ledger, Progress, compact, header, read_header, written


@dataclass(frozen=True)
class Instruction:
    action: str
    number: int = 0
    entry: str = ""
    milliseconds: int = 0


@dataclass(frozen=True)
class ClaimedRun:
    claim: int
    start: int
    count: int
    committed: int


@dataclass
class Given:
    """A claim that the client has handed out."""

    run: ClaimedRun
    before: int
    known: int = 0
    lost: bool = False


class Client:
    def __init__(
        self,
        state: str,
        reader: int,
        session: int,
        block_size: int | None = None,
        lease_ms: int | None = None,
        checkpoint_interval: int = 4096,
    ) -> None:
        self.header = header(
            state, 1024 if block_size is None else block_size, 60_000 if lease_ms is None else lease_ms
        )
        require(0 < checkpoint_interval < 2**53, "checkpoint_interval", checkpoint_interval)
        self.reader, self.session, self.block_size_is_open = reader, session, block_size is None
        self.given_lease_ms, self.interval, self.due = lease_ms, checkpoint_interval, checkpoint_interval
        self.ledger = Ledger(self.header)
        self.sought = self.joined = self.replaced = False
        self.found: str | None = None
        self.given: dict[int, Given] = {}
        self.handles = 0
        self.loose: set[int] = set()
        self.claiming: tuple[int, str] | None = None
        self.unsure: tuple[int, str] | None = None
        self.asked = ""
        self.last = False
        self.task: tuple[Any, ...] = ("done",)

    def begin(self, now_ms: int, must_read: bool, *task: Any) -> Instruction:
        self.task, self.must_read = task, must_read or not self.joined
        self.refused, self.refusals = False, 0
        return self.advance(now_ms)

    def open(self, now_ms: int) -> Instruction:
        return self.begin(now_ms, False, "done")

    def catch_up(self, now_ms: int) -> Instruction:
        return self.begin(now_ms, True, "done")

    def claim(self, waits: bool, now_ms: int) -> Instruction:
        return self.begin(now_ms, True, "claim", waits)

    def commit(self, handle: int, count: int | None, now_ms: int) -> Instruction:
        run = self.of(handle).run
        left = run.count - run.committed
        count = left if count is None else count
        require(count <= left, "count", count)
        return self.begin(now_ms, False, "commit", handle, run.committed + count, count)

    def renew(self, handle: int, now_ms: int) -> Instruction:
        return self.commit(handle, 0, now_ms)

    def release(self, handle: int, now_ms: int) -> Instruction:
        self.of(handle)
        return self.begin(now_ms, False, "release", handle)

    def change_lease(self, lease_ms: int, now_ms: int) -> Instruction:
        require(0 < lease_ms < 2**53, "lease_ms", lease_ms)
        return self.begin(now_ms, True, "lease", lease_ms)

    def tell_checkpoint(self, checkpoint: str | None, now_ms: int) -> Instruction:
        self.expect("checkpoint")
        self.sought, self.found = True, checkpoint
        return self.advance(now_ms)

    def tell_entries(self, entries: list[str], now_ms: int) -> Instruction:
        self.expect("read")
        if not entries:
            if self.refused:
                raise Failure("contradiction", "log", None)
            self.must_read = False
        for entry in entries:
            self.apply(entry, now_ms)
            self.refused = False
            if self.found is not None:
                found, self.found = self.found, None
                self.ledger.skip_to(found, now_ms)
                self.due = self.ledger.entries + self.interval
                break
        return self.advance(now_ms)

    def tell_appended(self, appended: bool, now_ms: int) -> Instruction:
        self.expect("append")
        if not appended:
            self.unsure = None
            self.must_read, self.refused = True, True
            self.refusals += 1
            return self.advance(now_ms)
        assert self.unsure is not None
        self.apply(self.unsure[1], now_ms)
        return self.end() if self.last else self.advance(now_ms)

    def claimed(self, handle: int) -> ClaimedRun:
        return self.of(handle).run

    def is_lost(self, handle: int) -> bool:
        return self.of(handle).lost

    def forget(self, handle: int) -> None:
        given = self.given.pop(handle, None)
        if given is not None and not given.lost and given.known < given.run.count:
            self.loose.add(given.run.claim)

    def progress(self) -> Progress:
        return self.ledger.progress()

    def block_size(self) -> int:
        return self.ledger.header["block_size"]

    def lease_ms(self) -> int:
        return self.ledger.lease_ms

    def of(self, handle: int) -> Given:
        if handle not in self.given:
            raise Failure("contradiction", "claim", f"handle {handle}")
        return self.given[handle]

    def expect(self, action: str) -> None:
        if self.asked != action:
            raise Failure("contradiction", "instruction", f"the outcome of {action}")
        self.asked = ""

    def step(self, action: str, **fields: Any) -> Instruction:
        self.asked = action
        return Instruction(action, **fields)

    def append(self, entry: str, last: bool = False) -> Instruction:
        self.unsure, self.last = (self.ledger.entries, entry), last
        return self.step("append", number=self.ledger.entries, entry=entry)

    def end(self) -> Instruction:
        if self.task[0] == "commit":
            given = self.given[self.task[1]]
            given.run = replace(given.run, committed=self.task[2])
        return Instruction("done")

    def check_life(self) -> None:
        if self.replaced:
            raise Failure("contradiction", "reader", self.reader)

    def advance(self, now_ms: int) -> Instruction:
        self.asked = ""
        if not self.sought:
            return self.step("checkpoint")
        if self.must_read:
            pause = 0
            if self.refused and self.refusals >= 3:
                seed = self.session - 2**64 if self.session >= 2**63 else self.session
                words = stream("ledger pause", seed, 0, self.refusals)
                pause = below(words, min(self.refusals, 100) + 1)
            return self.step("read", number=self.ledger.entries, milliseconds=pause)
        if self.ledger.entries == 0:
            return self.append(self.header)
        if not self.joined:
            return self.append(compact(event="join", reader=self.reader, session=f"{self.session:016x}"))
        if self.given_lease_ms is not None and not self.replaced:
            if self.given_lease_ms != self.ledger.lease_ms:
                return self.append(compact(event="lease", reader=self.reader, lease_ms=self.given_lease_ms))
            self.given_lease_ms = None
        name, *details = self.task
        if name == "claim":
            return self.next_claim(details[0], now_ms)
        if name == "commit":
            handle, goal, count = details
            given = self.of(handle)
            run = given.run
            if run.count in (run.committed, given.known) or (given.known >= goal and count > 0):
                return self.end()
            return self.append(self.ledger.commit(run.claim, given.before + max(goal, given.known)), last=True)
        if name == "release":
            given = self.of(details[0])
            if given.known == given.run.count:
                return self.end()
            return self.append(self.ledger.release(given.run.claim), last=True)
        if name == "lease":
            self.check_life()
            if details[0] == self.ledger.lease_ms:
                return self.end()
            return self.append(compact(event="lease", reader=self.reader, lease_ms=details[0]), last=True)
        return Instruction("done")

    def next_claim(self, waits: bool, now_ms: int) -> Instruction:
        self.check_life()
        for start, run in sorted(self.ledger.held.items()):
            if run.claim in self.loose and run.reader == self.reader:
                self.loose.remove(run.claim)
                self.handles += 1
                self.given[self.handles] = Given(ClaimedRun(run.claim, start, run.count, 0), run.done)
                return Instruction("claimed", number=self.handles)
        if self.ledger.entries >= self.due:
            return self.append(self.ledger.checkpoint())
        proposal = self.ledger.claim(self.reader, now_ms)
        if proposal in ("held", "finished"):
            if waits and proposal == "held":
                raise Failure("contradiction", "claim", f"reader {self.reader}")
            return Instruction(proposal)
        if "entry" in proposal:
            self.claiming = (self.ledger.entries, proposal["entry"])
            return self.append(proposal["entry"])
        wait = int(proposal["wait"])
        return Instruction("wait", milliseconds=min(wait, 100) if waits else wait)

    def apply(self, entry: str, now_ms: int) -> None:
        number = self.ledger.entries
        if number == 0 and self.block_size_is_open:
            self.take_block_size(entry)
        event = self.ledger.apply(entry, now_ms)
        own = self.unsure == (number, entry)
        if self.unsure is not None and self.unsure[0] == number:
            self.unsure = None
        if event is None or event.kind == "join":
            if number > 0:
                self.follow_other(json.loads(entry))
            return
        if event.kind == "claim":
            if self.claiming == (number, entry):
                self.loose.add(event.claim)
            return
        for handle, given in self.given.items():
            if given.run.claim != event.claim:
                continue
            if event.kind == "commit":
                given.known = event.start + event.count - given.run.start
            elif own or self.task == ("release", handle):
                given.run = replace(given.run, count=given.known, committed=given.known)
            else:
                given.lost = True

    def take_block_size(self, entry: str) -> None:
        try:
            block_size = read_header(entry)["block_size"]
        except Failure:
            return
        fields = self.ledger.header | {"block_size": block_size}
        self.header = written(fields)
        self.ledger = Ledger(self.header)

    def follow_other(self, fields: dict[str, Any]) -> None:
        if fields["event"] == "checkpoint":
            self.due = self.ledger.entries + self.interval
        if fields["event"] != "join" or fields["reader"] != self.reader:
            return
        own = int(fields["session"], 16) == self.session
        self.replaced = self.joined and not own
        self.joined |= own
        self.loose.clear()
        for given in self.given.values():
            given.lost |= given.known < given.run.count
