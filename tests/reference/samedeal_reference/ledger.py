"""Ledgers: section 11."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any

from .base import MAX_SAMPLES, Failure, require
from .state import FIELDS, MAX_STATE, is_whole, read_any_state, read_json

KINDS = ("claim", "commit", "release")
MAX_RUNS = 2**19


@dataclass(frozen=True)
class Event:
    kind: str
    reader: int
    start: int
    count: int


@dataclass(frozen=True)
class Progress:
    positions: int
    committed: int
    claimed: int
    entries: int


@dataclass(frozen=True)
class Run:
    """Positions that a reader holds."""

    reader: int
    count: int
    seen: int


def header(state: str, block: int) -> str:
    fields = read_any_state(state, "sampler")
    require(block > 0, "block", block)
    return written(fields | {"kind": "ledger", "block": block}, ("consumed", "block"))


def written(fields: dict[str, Any], own: tuple[str, ...]) -> str:
    names = (*FIELDS, *own, "fingerprint")
    return json.dumps({name: fields[name] for name in names}, separators=(",", ":"), ensure_ascii=False)


def read_header(text: str) -> dict[str, Any]:
    fields = read_any_state(text, "ledger")
    require(0 < fields["block"] < 2**32, "block", fields["block"])
    return fields


def write(event: Event) -> str:
    fields = {"event": event.kind, "reader": event.reader, "start": event.start, "count": event.count}
    return json.dumps(fields, separators=(",", ":"))


def read(text: str) -> Event:
    fields = read_json(text) if len(text.encode()) <= MAX_STATE else None
    if (
        not isinstance(fields, dict)
        or set(fields) != {"event", "reader", "start", "count"}
        or fields["event"] not in KINDS
        or not is_whole(fields["reader"], 0, 2**32)
        or not is_whole(fields["start"], 0, MAX_SAMPLES + 1)
        or not is_whole(fields["count"], 0, 2**32)
    ):
        raise Failure("wrong-type", "entry", text)
    return Event(fields["event"], fields["reader"], fields["start"], fields["count"])


class Ledger:
    def __init__(self, header: str, lease: int) -> None:
        self.header = read_header(header)
        require(0 < lease < 2**53, "lease", lease)
        self.lease = lease
        self.next = self.header["consumed"]
        self.held: dict[int, Run] = {}
        """By their start."""
        self.free: dict[int, int] = {}
        self.committed = self.entries = 0

    def choice(self) -> tuple[int, int] | None:
        if self.free:
            start = min(self.free)
            return start, self.free[start]
        count = min(self.header["block"], self.header["samples"] - self.next)
        return (self.next, count) if count else None

    def apply(self, entry: str, now: int) -> Event | None:
        if self.entries == 0:
            found = read_header(entry)
            for name in ("order", "samples", "seed", "epoch", "consumed", "block", "fingerprint"):
                field = "state" if name == "fingerprint" else name
                require(found[name] == self.header[name], field, self.header[name], "contradiction")
            self.entries = 1
            return None
        event = read(entry)
        run = self.held.get(event.start)
        if event.kind == "claim":
            follows = self.choice() == (event.start, event.count)
        else:
            follows = run is not None and run.reader == event.reader and event.count <= run.count
            follows = follows and (event.kind == "commit" or event.count == run.count)
        if not follows:
            raise Failure("contradiction", "entry", entry[:64])
        if event.kind == "claim":
            if self.free.pop(event.start, None) is None:
                self.next += event.count
            self.held[event.start] = Run(event.reader, event.count, now)
        elif event.kind == "release":
            del self.held[event.start]
            self.free[event.start] = event.count
        else:
            del self.held[event.start]
            self.committed += event.count
            if event.count < run.count:
                self.held[event.start + event.count] = replace(run, count=run.count - event.count, seen=now)
        self.entries += 1
        return event

    def begun(self) -> None:
        if self.entries == 0:
            raise Failure("missing", "entry", "")

    def claim(self, reader: int, now: int) -> Any:
        self.begun()
        chosen = self.choice()
        if chosen is not None:
            return {"entry": write(Event("claim", reader, *chosen))}
        others = {start: run for start, run in self.held.items() if run.reader != reader}
        if others:
            start = min(others, key=lambda start: (others[start].seen, start))
            run = others[start]
            silent = max(0, now - run.seen)
            if silent >= self.lease:
                return {"entry": write(Event("release", run.reader, start, run.count))}
            return {"wait": str(self.lease - silent)}
        return {"wait": str(self.lease)} if self.held else "finished"

    def run(self, reader: int, start: int) -> Run:
        self.begun()
        run = self.held.get(start)
        if run is None or run.reader != reader:
            raise Failure("contradiction", "start", start)
        return run

    def commit(self, reader: int, start: int, count: int) -> str:
        require(count <= self.run(reader, start).count, "count", count)
        return write(Event("commit", reader, start, count))

    def release(self, reader: int, start: int) -> str:
        return write(Event("release", reader, start, self.run(reader, start).count))

    def held_by(self, reader: int) -> list[int]:
        runs = [(start, run.count) for start, run in sorted(self.held.items()) if run.reader == reader]
        return [number for run in runs[:MAX_RUNS] for number in run]

    def progress(self) -> Progress:
        positions = self.header["samples"] - self.header["consumed"]
        return Progress(positions, self.committed, sum(run.count for run in self.held.values()), self.entries)

    def sampler_state(self) -> str:
        return written(self.header | {"kind": "sampler"}, ("consumed",))
