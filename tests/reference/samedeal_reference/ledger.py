"""Ledgers: section 11."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from typing import Any

from .base import Failure, require
from .members import STATES
from .recipe_text import MAX_TEXT, first_string
from .state import compare_all, is_whole, positions, read_json, read_text, write_state

KINDS = ("claim", "commit", "release")
MAX_RUNS = 2**16


@dataclass(frozen=True)
class Event:
    number: int
    kind: str
    reader: int
    start: int
    count: int
    claim: int
    taken_from: int | None


@dataclass(frozen=True)
class CommittedRun:
    number: int
    reader: int
    start: int
    count: int
    claim: int


@dataclass(frozen=True)
class Progress:
    positions: int
    committed: int
    claimed: int
    entries: int


@dataclass(frozen=True)
class Run:
    """A run of positions that a reader has claimed."""

    reader: int
    count: int
    claim: int
    first: int
    """The first position of the whole claim; `took` is its number of positions."""
    took: int

    @property
    def done(self) -> int:
        return self.took - self.count


def header(state: str, block_size: int, lease_ms: int) -> str:
    fields = read_text(state, "sampler") | {"block_size": block_size, "lease_ms": lease_ms}
    require_terms(fields)
    entry = written(fields)
    require(len(entry.encode()) <= MAX_TEXT, "state", f"of {len(state.encode())} bytes")
    return entry


def require_terms(fields: dict[str, Any]) -> None:
    require(0 < fields["block_size"] < 2**32, "block_size", fields["block_size"])
    require(0 < fields["lease_ms"] < 2**53, "lease_ms", fields["lease_ms"])


def written(fields: dict[str, Any]) -> str:
    return state_of("ledger", fields)


def state_of(kind: str, fields: dict[str, Any]) -> str:
    """A state of this kind, with the members of a ledger's header."""
    names = STATES[kind].keys() - {"samedeal", "kind"}
    return write_state(kind, **{name: value for name, value in fields.items() if name in names})


def read_header(text: str) -> dict[str, Any]:
    fields = read_text(text, "ledger")
    require_terms(fields)
    return fields


def write(kind: str, reader: int, start: int, count: int) -> str:
    return json.dumps({"event": kind, "reader": reader, "start": start, "count": count}, separators=(",", ":"))


def compact(**fields: Any) -> str:
    return json.dumps(fields, separators=(",", ":"))


RANGES = {"reader": (0, 2**32), "start": (0, 2**53), "count": (0, 2**32), "lease_ms": (1, 2**53)}
RANGES |= {"number": (0, 2**53), "next": (0, 2**53), "committed": (0, 2**53)}
RUN = ("reader", "start", "count")
EVENTS = dict.fromkeys(KINDS, RUN) | {"join": ("reader", "session"), "lease": ("reader", "lease_ms")}
EVENTS["checkpoint"] = ("number", "next", "committed", "lease_ms", "free", "held")
HELD = (2**53, 2**32, 2**53, 2**32, 2**32)
"""For each number of a held run, in its order: one more than the largest value."""


def is_field(name: str, value: Any) -> bool:
    if name in RANGES:
        return is_whole(value, *RANGES[name])
    if name == "session":
        return isinstance(value, str) and re.fullmatch("[0-9a-f]{16}", value, re.ASCII) is not None
    limits = (2**53, 2**32) if name == "free" else HELD
    if not isinstance(value, list) or len(value) % len(limits):
        return False
    if not all(is_whole(number, 0, limits[place % len(limits)]) for place, number in enumerate(value)):
        return False
    return name == "free" or all(done <= took and first + done < 2**53 for _, _, first, took, done in fives(value))


def fives(held: list[int]) -> list[list[int]]:
    return [held[at : at + 5] for at in range(0, len(held), 5)]


def pairs(free: list[int]) -> list[list[int]]:
    return [free[at : at + 2] for at in range(0, len(free), 2)]


def read(text: str) -> dict[str, Any]:
    if len(text.encode()) > MAX_TEXT or "\n" in text or "\r" in text:
        raise Failure("wrong-type", "entry", text)
    fields = read_json(text)
    known = (
        EVENTS.get(fields.get("event")) if isinstance(fields, dict) and isinstance(fields.get("event"), str) else None
    )
    event = first_string(text, "event")
    if event is not None and event not in EVENTS:
        raise Failure("unknown-name", "event", event)
    if known is None or set(fields) != {"event", *known} or not all(is_field(name, fields[name]) for name in known):
        raise Failure("wrong-type", "entry", text)
    return fields


class Ledger:
    def __init__(self, header: str) -> None:
        self.header = read_header(header)
        self.next = self.header["consumed"]
        self.samples = positions(self.header)
        self.held: dict[int, Run] = {}
        """The held runs, by their start."""
        self.seen: dict[int, int] = {}
        self.free: dict[int, int] = {}
        self.left_by: dict[int, int] = {}
        """For each free run, by its start: the claim that left it."""
        self.lease_ms = self.header["lease_ms"]
        self.committed = self.entries = 0

    def choice(self) -> tuple[int, int] | None:
        if len(self.held) == MAX_RUNS:
            return None
        if self.free:
            start = min(self.free)
            return start, self.free[start]
        count = min(self.header["block_size"], self.samples - self.next)
        return (self.next, count) if count else None

    def apply(self, entry: str, now_ms: int = 0) -> Event | None:
        if self.entries == 0:
            if len(entry.encode()) > MAX_TEXT or "\n" in entry or "\r" in entry:
                raise Failure("wrong-type", "entry", entry)
            found = read_header(entry)
            compare_all("ledger", self.header["recipe"], found["recipe"])
            for name in ("epoch", "consumed", "positions", "block_size"):
                own, other = (positions(of) if name == "positions" else of[name] for of in (self.header, found))
                require(own == other, name, own, "contradiction")
            self.lease_ms = found["lease_ms"]
            self.entries = 1
            return None
        fields = read(entry)
        if fields["event"] not in KINDS:
            self.apply_other(entry, fields, now_ms)
            self.entries += 1
            if fields["event"] != "join":
                return None
            return Event(self.entries - 1, "join", fields["reader"], 0, 0, 0, None)
        kind, (reader, start, count) = fields["event"], (fields[name] for name in RUN)
        run = self.held.get(start)
        if kind == "claim":
            follows = self.choice() == (start, count)
        else:
            follows = run is not None and run.reader == reader and count <= run.count
            follows = follows and (kind == "commit" or count == run.count)
        if not follows:
            raise Failure("contradiction", "entry", entry)
        number = self.entries
        self.entries += 1
        taken_from = self.left_by.pop(start, None) if kind == "claim" else None
        if kind == "claim":
            if self.free.pop(start, None) is None:
                self.next += count
            run = self.held[start] = Run(reader, count, number, start, count)
        else:
            del self.held[start]
            if kind == "release":
                self.free[start] = count
                self.left_by[start] = run.claim
            else:
                self.committed += count
                if count < run.count:
                    self.held[start + count] = replace(run, count=run.count - count)
        if kind != "release":
            self.seen[reader] = now_ms
        return Event(number, kind, reader, start, count, run.claim, taken_from)

    def apply_other(self, entry: str, fields: dict[str, Any], now_ms: int) -> None:
        """Applies an entry that does not belong to a single run."""
        if fields["event"] == "join":
            for start, run in list(self.held.items()):
                if run.reader == fields["reader"]:
                    del self.held[start]
                    self.free[start] = run.count
                    self.left_by[start] = run.claim
        elif fields["event"] == "lease":
            self.lease_ms = fields["lease_ms"]
            self.seen[fields["reader"]] = now_ms
        elif fields != json.loads(self.checkpoint()):
            raise Failure("contradiction", "entry", entry)

    def checkpoint(self) -> str:
        free = [number for run in sorted(self.free.items()) for number in run]
        runs = [run for _, run in sorted(self.held.items())]
        held = [number for run in runs for number in (run.claim, run.reader, run.first, run.took, run.done)]
        numbers = {"number": self.entries, "next": self.next, "committed": self.committed, "lease_ms": self.lease_ms}
        return compact(event="checkpoint", **numbers, free=free, held=held)

    def skip_to(self, entry: str, now_ms: int) -> None:
        fields = read(entry)
        if fields["event"] != "checkpoint":
            raise Failure("wrong-type", "entry", entry)
        free, held = pairs(fields["free"]), fives(fields["held"])
        first, end = self.header["consumed"], fields["next"]
        runs = [(first_of + done, took - done) for _, _, first_of, took, done in held]
        every = sorted([*map(tuple, free), *runs])
        sound = self.entries == 1 and fields["number"] > 0 and first <= end <= self.samples
        sound = sound and free == sorted(free) and runs == sorted(runs) and len(free) + len(runs) <= MAX_RUNS
        sound = sound and all(count > 0 for _, count in every)
        ends = [first, *(start + count for start, count in every)]
        sound = sound and all(ends[at] <= start for at, (start, _) in enumerate(every)) and ends[-1] <= end
        sound = sound and fields["committed"] + sum(count for _, count in every) == end - first
        claims = [run[0] for run in held]
        sound = sound and len(set(claims)) == len(claims) and all(0 < claim < fields["number"] for claim in claims)
        if not sound or any(run[2] < first for run in held):
            raise Failure("contradiction", "entry", entry)
        self.next, self.committed, self.lease_ms = end, fields["committed"], fields["lease_ms"]
        self.entries = fields["number"] + 1
        self.free = {start: count for start, count in free}
        for claim, reader, first_of, took, done in held:
            self.held[first_of + done] = Run(reader, took - done, claim, first_of, took)
            self.seen[reader] = now_ms

    def replay(self, entries: list[str], reader: int, readers: int) -> list[CommittedRun]:
        require(readers > 0, "readers", readers)
        require(reader < readers, "reader", reader)
        commits = [event for entry in entries if (event := self.apply(entry)) is not None and event.kind == "commit"]
        own = [event for event in commits if event.count > 0 and event.reader % readers == reader]
        return [CommittedRun(event.number, event.reader, event.start, event.count, event.claim) for event in own]

    def claim(self, reader: int, now_ms: int) -> Any:
        """The entry with which a reader claims more positions, or the time to wait."""
        chosen = self.choice()
        if chosen is not None:
            return {"entry": write("claim", reader, *chosen)}
        others = {start: run for start, run in self.held.items() if run.reader != reader}
        if others:
            start = min(others, key=lambda start: (self.seen[others[start].reader], start))
            run = others[start]
            silent = max(0, now_ms - self.seen[run.reader])
            if silent >= self.lease_ms:
                return {"entry": write("release", run.reader, start, run.count)}
            return {"wait": str(self.lease_ms - silent)}
        return "held" if self.held else "finished"

    def run(self, claim: int) -> tuple[int, Run]:
        for start, run in self.held.items():
            if run.claim == claim:
                return start, run
        raise Failure("contradiction", "claim", claim)

    def commit(self, claim: int, done: int) -> str:
        start, run = self.run(claim)
        return write("commit", run.reader, start, done - run.done)

    def release(self, claim: int) -> str:
        start, run = self.run(claim)
        return write("release", run.reader, start, run.count)

    def progress(self) -> Progress:
        positions = self.samples - self.header["consumed"]
        return Progress(positions, self.committed, sum(run.count for run in self.held.values()), self.entries)

    def initial_state(self) -> str:
        return state_of("sampler", self.header)
