"""The Python host as one of the programs that begin an epoch and continue it: `host.py REQUEST`.

README.md has the protocol.
"""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from samedeal import Batcher, Reading, Sampler, Schedule, ShardPlan, Split
from samedeal import ledger as ledgers

IDS = 64
"""Number of ids whose parts of a split are asked in one call."""
Job = dict[str, Any]


def tell(line: dict[str, Any]) -> None:
    """Prints a line for the test, which gets it even if this process is killed at once."""
    print(json.dumps(line), flush=True)


def dealt(recipe: str, job: Job) -> str:
    """The recipe with the world size and the workers of a job."""
    parsed = json.loads(recipe)
    for member in ("world_size", "workers"):
        if job[member] is not None:
            parsed.setdefault("deal", {})[member] = job[member]
    return json.dumps(parsed, ensure_ascii=False)


class Steps:
    """The steps of a job, each with the answers of all ranks."""

    first = 0
    """The first step that is not done."""
    end = 0
    """The step after the last one."""
    made: Any

    def read(self, step: int) -> list[Any]:
        """The samples, rows or parts of each rank at a step. A rank without this step has None."""
        raise NotImplementedError

    def state(self, step: int) -> str:
        """The state before a step; empty for kinds without a state."""
        raise NotImplementedError

    def fingerprint(self) -> str:
        """The fingerprint of the samples, if the host has one."""
        return ""


class Samplers(Steps):
    def __init__(self, case: Job, recipe: str, before: Job | None) -> None:
        self.size = case["batch_size"]
        self.made = Sampler.from_recipe(recipe, epoch=int(case["epoch"]))
        self.ranks = [
            Sampler.from_recipe(recipe, epoch=int(case["epoch"]), rank=rank) for rank in range(self.made.world_size)
        ]
        for sampler in (self.made, *self.ranks):
            if before is not None:
                sampler.resume(before["state"])
        self.end = max(rank.num_batches(self.size) for rank in self.ranks)

    def read(self, step: int) -> list[Any]:
        def batch(rank: Sampler) -> list[int] | None:
            return rank.batch(step, self.size).tolist() if step < rank.num_batches(self.size) else None

        return [batch(rank) for rank in self.ranks]

    def state(self, step: int) -> str:
        return self.made.state(min(step * self.size, max(rank.num_samples for rank in self.ranks)))

    def fingerprint(self) -> str:
        return " ".join(rank.fingerprint() for rank in self.ranks)


class Batchers(Steps):
    def __init__(self, case: Job, recipe: str, before: Job | None) -> None:
        self.made = Batcher.from_recipe(recipe, case["lengths"], epoch=int(case["epoch"]))
        if before is not None:
            self.made.resume(before["state"])
        self.end = self.made.num_steps

    def read(self, step: int) -> list[Any]:
        def batch(rank: int) -> list[Any]:
            found = self.made.batch(step, rank)
            lists = [found.samples.tolist(), found.row_ends.tolist()]
            return [*lists, found.padded_length, found.cost, found.repeated]

        return [batch(rank) for rank in range(self.made.world_size)]

    def state(self, step: int) -> str:
        return self.made.state(step)

    def fingerprint(self) -> str:
        return self.made.fingerprint()


class Readings(Steps):
    def __init__(self, case: Job, recipe: str, before: Job | None) -> None:
        self.made = Reading.from_recipe(recipe, epoch=int(case["epoch"]))
        if before is not None:
            self.made = self.made.resume(before["state"])
        self.end = self.made.steps.max

    def read(self, step: int) -> list[Any]:
        def batch(rank: int) -> list[int] | None:
            if step >= self.made.num_steps(rank):
                return None
            # PyTorch's loader takes batches from the workers in turn. `batch_at` names the worker of this step and the
            # range of its samples, which is what that worker reads.
            found = self.made.batch_at(rank, step)
            return self.made.indices(rank, found.worker, found.start, found.start + found.count).tolist()

        return [batch(rank) for rank in range(self.made.world_size)]

    def state(self, step: int) -> str:
        return self.made.state(step)


class Schedules(Steps):
    def __init__(self, case: Job, recipe: str, before: Job | None) -> None:
        self.made = Schedule.from_recipe(recipe)
        self.ranks = [self.made.at_rank(rank) for rank in range(self.made.world_size)]
        self.first = 0 if before is None else self.made.resume(before["state"])
        self.end = case["end"]

    def read(self, step: int) -> list[Any]:
        return [rank.batch(step).tolist() for rank in self.ranks]

    def state(self, step: int) -> str:
        return self.made.state(step)


class Plans(Steps):
    def __init__(self, case: Job, recipe: str, before: Job | None) -> None:
        self.made = ShardPlan.from_recipe(recipe, lists={"sizes": case["sizes"]}, epoch=int(case["epoch"]))
        readers = [(rank, worker) for rank in range(self.made.world_size) for worker in range(self.made.workers)]
        self.shards = [self.made.shards(*reader).tolist() for reader in readers]
        self.first = 0 if before is None else before["steps"]
        self.end = max(map(len, self.shards))

    def read(self, step: int) -> list[Any]:
        """The next shard of each reader, and its rows."""
        found = [shards[step] if step < len(shards) else None for shards in self.shards]
        return [shard if shard is None else [shard, self.made.rows(shard).tolist()] for shard in found]

    def state(self, step: int) -> str:
        return ""

    def fingerprint(self) -> str:
        return self.made.config_fingerprint()


class Parts(Steps):
    def __init__(self, case: Job, recipe: str, before: Job | None) -> None:
        self.made = Split.from_recipe(recipe)
        self.first = 0 if before is None else before["steps"]
        self.ids = case["end"]
        self.end = -(-self.ids // IDS)

    def read(self, step: int) -> list[Any]:
        return [self.made.part_of(range(step * IDS, min(self.ids, (step + 1) * IDS))).tolist()]

    def state(self, step: int) -> str:
        return ""


KINDS = {
    "sampler": Samplers,
    "batcher": Batchers,
    "reading": Readings,
    "schedule": Schedules,
    "plan": Plans,
    "split": Parts,
}


class Reader:
    """A job in progress, one step at a time."""

    def __init__(self, job: Job) -> None:
        self.job = job
        before = json.loads(Path(job["from"]).read_text()) if job["from"] else None
        recipe = job["case"]["recipe"] if before is None else before["recipe"]
        self.steps = KINDS[job["case"]["kind"]](job["case"], dealt(recipe, job), before)
        self.next = self.steps.first

    def step(self, save: bool) -> None:
        self._read()
        if save:
            self._save()

    def _read(self) -> None:
        line = {"job": self.job["id"], "step": self.next - self.steps.first, "read": self.steps.read(self.next)}
        self.next += 1
        if self.job["states"]:
            line["state"] = self.steps.state(self.next)
        tell(line)

    def _names(self) -> dict[str, str]:
        return {"recipe": self.steps.made.recipe, "fingerprint": self.steps.made.recipe_fingerprint()}

    def _save(self) -> None:
        """Replaces the document at once, so that a process that is killed meanwhile leaves the old one."""
        taken = {"steps": self.next, "state": self.steps.state(self.next)}
        path = Path(self.job["to"])
        temporary = path.with_suffix(".new")
        temporary.write_text(json.dumps(self._names() | taken))
        temporary.replace(path)

    def finish(self) -> None:
        while self.next < self.steps.end:
            self._read()
        tell({"job": self.job["id"], **self._names(), "end": self.steps.fingerprint()})


@dataclass
class Held:
    """A reader of a ledger, and its claim."""

    ledger: ledgers.Ledger
    claim: ledgers.Claim | None = None


class Claimers:
    """The readers of a ledger whose log is in a file."""

    def __init__(self, job: Job) -> None:
        self.job = job
        sampler = sampler_of(job)

        def opened(reader: int) -> Held:
            log = ledgers.FileLog(job["log"])
            block_size, lease = job["case"]["batch_size"], job["lease"] / 1000
            return Held(ledgers.Ledger(sampler, log, reader=reader, block_size=block_size, lease=lease))

        self.readers = [opened(reader) for reader in job["readers"]]
        self.turn = 0

    def _next(self) -> Held:
        self.turn += 1
        return self.readers[(self.turn - 1) % len(self.readers)]

    def step(self, _: bool) -> None:
        """The next reader claims, or commits a part of its claim."""
        held = self._next()
        if held.claim is None:
            held.claim = self._claim(held.ledger)
            return
        left = held.claim.count - held.claim.committed
        part = -(-left // 2)
        held.claim.commit(part)
        if part == left:
            held.claim = None

    def _claim(self, ledger: ledgers.Ledger) -> ledgers.Claim | None:
        claim = ledger.claim()
        if claim is not None:
            read = claim.samples.tolist()
            tell({"job": self.job["id"], "reader": ledger.reader, "start": claim.start, "read": read})
        return claim

    def finish(self) -> None:
        """Claims and commits in turn until every position is committed, and then replays the log."""
        while (claim := self._claim(self._next().ledger)) is not None:
            claim.commit()
        replay(self.job)


def sampler_of(job: Job) -> Sampler:
    return Sampler.from_recipe(job["case"]["recipe"], epoch=int(job["case"]["epoch"]))


def replay(job: Job) -> None:
    """All committed samples, in the order of the log."""
    runs = ledgers.Replay(ledgers.FileLog(job["log"])).samples(sampler_of(job))
    tell({"job": job["id"], "replayed": [sample for run in runs for sample in run.tolist()]})


def main(path: str) -> int:
    request = json.loads(Path(path).read_text())
    tell({"host": "python", "engine": f"wasmtime-py {version('wasmtime')}", "pid": os.getpid()})
    if not request["turns"]:
        for job in request["jobs"]:
            if job["replay"]:
                replay(job)
            else:
                begin(job).finish()
        return 0
    jobs = [begin(job) for job in request["jobs"]]
    for turn in request["turns"]:
        jobs[turn["job"]].step(turn["save"])
    # The test kills the program here, unless it did so before.
    tell({"waits": True})
    sys.stdin.read()
    return 1


def begin(job: Job) -> Reader | Claimers:
    return Claimers(job) if job["case"]["kind"] == "ledger" else Reader(job)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
