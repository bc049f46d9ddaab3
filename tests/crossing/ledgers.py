"""The ledger of a round: readers are killed while they have claims, and readers of other hosts take over."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

from cases import hole
from found import Round
from programs import Request, Told, job

NEVER, SOON = 2**31, 100
"""Leases in milliseconds. The first one never ends during a test. The second one ends while a reader waits."""
Chains = dict[str, tuple[str, str]]
"""For each host that begins: the host that continues, and the host that ends."""


def committed(log: Path) -> list[range]:
    """The committed runs of a log, in its order. The test parses the log itself, so that it depends on no host."""
    # Text after the last line break is no entry.
    entries = [json.loads(line) for line in log.read_text().split("\n")[1:-1]]
    return [range(one["start"], one["start"] + one["count"]) for one in entries if one["event"] == "commit"]


class Ledgers:
    """The ledger of a round."""

    def __init__(self, found: Round, case: dict[str, Any], positions: int, folder: Path, random: Random) -> None:
        self.found, self.case, self.folder, self.random = found, case, folder, random
        self.positions = positions
        self.order: list[int] = []
        """The sample at each position, from the Rust host."""
        self.logs: dict[str, Path] = {}
        """The log of each host or chain of hosts."""
        self.claimed: dict[str, list[range]] = {}
        """For each host or chain of hosts: the claims whose samples were read."""

    def whole(self) -> dict[str, Any]:
        """A job that reads all positions in one step."""
        recipe = json.loads(self.case["recipe"]) | {"deal": {"world_size": 1}}
        more = {"kind": "sampler", "recipe": json.dumps(recipe), "batch_size": 2**20}
        return job(self.case | more, "ledger", states=True)

    def claims(self, request: Request, log: Path, readers: list[int], most: int) -> None:
        """Adds a ledger to a request. Its turns claim and commit; they come after the first turn of each case."""
        request.jobs.append(job(self.case, "ledger", log=str(log), readers=readers, lease=NEVER))
        first = len(request.jobs) - 1
        turns = [{"job": first, "save": False} for _ in range(self.random.randint(len(readers) * 3, most))]
        for turn in turns:
            request.turns.insert(self.random.randint(first, len(request.turns)), turn)

    def begin(self, host: str, request: Request) -> None:
        """Adds three readers of a host to its request."""
        if not hole(host, "ledger"):
            self.logs[host] = self.folder / f"{host}.log"
            self.claims(request, self.logs[host], [0, 1, 2], 24)

    def begun(self, host: str, told: Told) -> None:
        """Records the runs that the readers of `begin` claimed before they were killed."""
        if not hole(host, "ledger"):
            self.claimed[host] = self.read(told, "ledger")

    def read(self, told: Told, name: str) -> list[range]:
        """The runs that readers claimed. Their samples must be those of the order."""
        runs = []
        for line in told.lines[name]:
            if "read" in line:
                run = range(line["start"], line["start"] + len(line["read"]))
                assert line["read"] == [self.order[position] for position in run], f"{name}: other samples at {run}"
                runs.append(run)
        return runs

    def end(self, host: str, request: Request) -> None:
        """Adds two jobs for every host that was killed: a replay of the log as that host left it, and two readers that
        finish a copy of it. One of them has the number of a killed reader."""
        for began in [host for host in self.found.hosts if host in self.claimed]:
            request.jobs.append(job(self.case, f"{began} replay", log=str(self.logs[began]), replay=True))
            if not hole(host, "ledger"):
                log = self.logs[f"{began} {host}"] = self.folder / f"{began}-{host}.log"
                shutil.copy(self.logs[began], log)
                given = {"log": str(log), "readers": [0, 100], "lease": SOON}
                request.jobs.append(job(self.case, f"{began} ledger", **given))

    def ended(self, told: dict[str, Told]) -> None:
        """Checks that every position is committed once, and read twice if it was read and not committed."""
        for began in list(self.claimed):
            for host in self.found.hosts:
                checks = [self.replays(told[host], f"{began} replay", self.logs[began])]
                if not hole(host, "ledger"):
                    checks += self.checks([began], told[host], f"{began} ledger", self.logs[f"{began} {host}"])
                self.found.check((began, host, "ledger"), *checks)

    def replays(self, told: Told, name: str, log: Path) -> tuple[bool, str]:
        """Whether a host's replay has the committed samples."""
        expected = [self.order[position] for run in committed(log) for position in run]
        return told.last(name).get("replayed") == expected, f"{name}: another replay of {log}"

    def checks(self, before: list[str], told: Told, name: str, log: Path) -> list[tuple[bool, str]]:
        """Checks for readers of a host that finish the ledgers of others."""
        everything = Counter(range(self.positions))
        runs = committed(log)
        read = Counter(position for run in self.read(told, name) for position in run)
        # Positions that were committed before, and positions that were read before.
        done = Counter(position for run in committed(self.logs[before[-1]]) for position in run)
        seen = Counter(position for who in before for run in self.claimed[who] for position in run)
        self.found.twice += len({*seen} - {*done})
        return [
            (Counter(position for run in runs for position in run) == everything, f"{log}: not every position once"),
            (read == everything - done, f"{log}: not what was left was read"),
            ({*(seen + read)} == {*everything}, f"{log}: a position was never read"),
            self.replays(told, name, log),
        ]

    def go_between(self, began: str, between: str, request: Request) -> None:
        """Adds readers of another host, which are killed too."""
        if began in self.claimed and not hole(between, "ledger"):
            log = self.logs[f"{began} to {between}"] = self.folder / f"{began}-to-{between}.log"
            shutil.copy(self.logs[began], log)
            self.claims(request, log, [0, 50], 10)

    def went_between(self, chains: Chains, told: dict[str, Told]) -> None:
        """Records the runs that the readers of `go_between` claimed."""
        for began, (between, _) in chains.items():
            if (who := f"{began} to {between}") in self.logs:
                self.claimed[who] = self.read(told[between], "ledger")

    def finish(self, chains: Chains, requests: dict[str, Request]) -> None:
        """Adds readers of a third host, and a replay of finished logs by all hosts."""
        for host in self.found.hosts:
            finished = [who for who in self.logs if who.count(" ") == 1]
            for who in finished:
                requests[host].jobs.append(job(self.case, who, log=str(self.logs[who]), replay=True))
        for began, (between, last) in chains.items():
            who = f"{began} to {between}"
            if who in self.claimed:
                log = self.logs[f"{who} to {last}"] = self.folder / f"{began}-to-{between}-to-{last}.log"
                shutil.copy(self.logs[who], log)
                is_replay = bool(hole(last, "ledger"))
                given = {"log": str(log), "readers": [0, 200], "lease": SOON, "replay": is_replay}
                requests[last].jobs.append(job(self.case, f"{who} ledger", **given))

    def finished(self, chains: Chains, told: dict[str, Told]) -> None:
        """Checks the claims of the readers of `finish`, and the replays of all hosts."""
        for who in [who for who in self.logs if who.count(" ") == 1]:
            for host in self.found.hosts:
                self.found.check((who.split()[1], host, "ledger"), self.replays(told[host], who, self.logs[who]))
        for began, (between, last) in chains.items():
            who = f"{began} to {between}"
            if who in self.claimed:
                log, name = self.logs[f"{who} to {last}"], f"{who} ledger"
                checks = [self.replays(told[last], name, log)]
                if not hole(last, "ledger"):
                    checks = self.checks([began, who], told[last], name, log)
                self.found.check((between, last, "ledger"), *checks)
