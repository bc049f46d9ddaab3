"""Ledgers: section 11."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any

from .base import MAX_SAMPLES, Failure, require
from .state import FIELDS, MAX_STATE, is_whole, read_any_state, read_json

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
    claim: int
    first: int
    """Of the claim, as `took`."""
    took: int

    @property
    def done(self) -> int:
        return self.took - self.count


def header(state: str, block: int, lease: int) -> str:
    fields = read_any_state(state, "sampler") | {"kind": "ledger", "block": block, "lease": lease}
    require_terms(fields)
    entry = written(fields, ("consumed", "block", "lease"))
    require(len(entry.encode()) <= MAX_STATE, "state", f"of {len(state.encode())} bytes")
    return entry


def require_terms(fields: dict[str, Any]) -> None:
    require(0 < fields["block"] < 2**32, "block", fields["block"])
    require(0 < fields["lease"] < 2**53, "lease", fields["lease"])


def written(fields: dict[str, Any], own: tuple[str, ...]) -> str:
    names = (*FIELDS, *own, "fingerprint")
    return json.dumps({name: fields[name] for name in names}, separators=(",", ":"), ensure_ascii=False)


def read_header(text: str) -> dict[str, Any]:
    fields = read_any_state(text, "ledger")
    require_terms(fields)
    return fields


def write(kind: str, reader: int, start: int, count: int) -> str:
    return json.dumps({"event": kind, "reader": reader, "start": start, "count": count}, separators=(",", ":"))


def read(text: str) -> tuple[str, int, int, int]:
    fields = read_json(text)
    if (
        not isinstance(fields, dict)
        or set(fields) != {"event", "reader", "start", "count"}
        or fields["event"] not in KINDS
        or not is_whole(fields["reader"], 0, 2**32)
        or not is_whole(fields["start"], 0, MAX_SAMPLES + 1)
        or not is_whole(fields["count"], 0, 2**32)
    ):
        raise Failure("wrong-type", "entry", text)
    return fields["event"], fields["reader"], fields["start"], fields["count"]


class Ledger:
    def __init__(self, header: str) -> None:
        self.header = read_header(header)
        self.next = self.header["consumed"]
        self.held: dict[int, Run] = {}
        """By their start."""
        self.seen: dict[int, int] = {}
        self.free: dict[int, int] = {}
        self.committed = self.entries = 0

    def choice(self) -> tuple[int, int] | None:
        if len(self.held) == MAX_RUNS:
            return None
        if self.free:
            start = min(self.free)
            return start, self.free[start]
        count = min(self.header["block"], self.header["samples"] - self.next)
        return (self.next, count) if count else None

    def apply(self, entry: str, now: int) -> Event | None:
        if len(entry.encode()) > MAX_STATE or "\n" in entry or "\r" in entry:
            raise Failure("wrong-type", "entry", entry)
        if self.entries == 0:
            found = read_header(entry)
            for name in ("order", "samples", "seed", "epoch", "consumed", "block", "lease", "fingerprint"):
                field = "state" if name == "fingerprint" else name
                require(found[name] == self.header[name], field, self.header[name], "contradiction")
            self.entries = 1
            return None
        kind, reader, start, count = read(entry)
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
        if kind == "claim":
            if self.free.pop(start, None) is None:
                self.next += count
            run = self.held[start] = Run(reader, count, number, start, count)
        else:
            del self.held[start]
            if kind == "release":
                self.free[start] = count
            else:
                self.committed += count
                if count < run.count:
                    self.held[start + count] = replace(run, count=run.count - count)
        if kind != "release":
            self.seen[reader] = now
        return Event(number, kind, reader, start, count, run.claim)

    def begun(self) -> None:
        if self.entries == 0:
            raise Failure("missing", "entry", "")

    def claim(self, reader: int, now: int) -> Any:
        self.begun()
        chosen = self.choice()
        if chosen is not None:
            return {"entry": write("claim", reader, *chosen)}
        others = {start: run for start, run in self.held.items() if run.reader != reader}
        if others:
            start = min(others, key=lambda start: (self.seen[others[start].reader], start))
            run = others[start]
            silent = max(0, now - self.seen[run.reader])
            if silent >= self.header["lease"]:
                return {"entry": write("release", run.reader, start, run.count)}
            return {"wait": str(self.header["lease"] - silent)}
        return "held" if self.held else "finished"

    def run(self, claim: int) -> tuple[int, Run]:
        self.begun()
        for start, run in self.held.items():
            if run.claim == claim:
                return start, run
        raise Failure("contradiction", "claim", claim)

    def commit(self, claim: int, done: int) -> str:
        start, run = self.run(claim)
        require(run.done <= done <= run.took, "done", done)
        return write("commit", run.reader, start, done - run.done)

    def release(self, claim: int) -> str:
        start, run = self.run(claim)
        return write("release", run.reader, start, run.count)

    def held_by(self, reader: int) -> list[int]:
        runs = [run for _, run in sorted(self.held.items()) if run.reader == reader]
        return [number for run in runs for number in (run.claim, run.first, run.took, run.done)]

    def progress(self) -> Progress:
        positions = self.header["samples"] - self.header["consumed"]
        return Progress(positions, self.committed, sum(run.count for run in self.held.values()), self.entries)

    def initial_state(self) -> str:
        return written(self.header | {"kind": "sampler"}, ("consumed",))
