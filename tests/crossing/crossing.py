"""One round: hosts begin and are killed, every host continues after every other one, and chains have three hosts."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from cases import HOSTS, NAMES, Case, cases_of, goes_between, hole
from found import Round, items, print_of, same
from ledgers import Ledgers
from programs import Request, Told, job, run

TURNS = 20
"""The largest number of steps of a case after the first one, before a program is killed."""
SLOW_TURNS = 4
"""The value of `TURNS` for the command, which is started for each step."""
FEW = 2
"""A case with at most this many steps has no middle in which a program could be killed."""


@dataclass
class Left:
    """A case as a program left it when it was killed."""

    document: Path
    reads: list[Any]
    """The answers of all steps that the program read."""
    saved: int
    """Number of the steps in `reads` that the saved state counts as taken."""

    def read(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.document.read_text())
        return found


def without(case: Case) -> tuple[str, ...]:
    """The hosts that have no recipe of a case: they pass on the recipe that they get."""
    return ("command",) if case.kind in ("reading", "plan") else ()


class Crossing:
    """A round in progress."""

    def __init__(self, seed: int, folder: Path, hosts: tuple[str, ...] = HOSTS) -> None:
        self.random = Random(seed)
        self.folder = folder
        self.found = Round(seed, hosts)
        self.cases = {case.name: case for case in cases_of(self.random)}
        shutil.rmtree(folder, ignore_errors=True)
        files = folder / "files"
        files.mkdir(parents=True)
        for number, rows in enumerate(self.cases["plan"].sizes):
            pq.write_table(pa.table({"row": pa.array(range(rows), pa.int32())}), files / f"{number:03}.parquet")
        self.asked = {name: case.asked(str(files)) for name, case in self.cases.items()}
        self.stepped = [case for case in self.cases.values() if case.kind != "ledger"]
        self.ledgers = Ledgers(self.found, self.asked["ledger"], self.cases["ledger"].samples, folder, self.random)

    def run(self) -> Round:
        """Does the whole round."""
        self.whole()
        self.begin()
        self.end()
        self.chain()
        return self.found

    def all(self, requests: dict[str, Request]) -> dict[str, Told]:
        """The answers of the hosts, two of which run at a time."""
        with ThreadPoolExecutor(2) as pool:
            told = dict(zip(requests, pool.map(run, requests, requests.values()), strict=True))
        self.found.engines |= {host: one.engine for host, one in told.items()}
        self.found.kills += sum(bool(request.turns) for request in requests.values())
        return told

    def whole(self) -> None:
        """The Rust host does every case from its beginning to its end, without being killed."""
        request = Request(self.folder / "whole")
        request.jobs = [job(self.asked[case.name], case.name, states=True) for case in self.stepped]
        request.jobs.append(self.ledgers.whole())
        told = self.all({"rust": request})["rust"]
        self.reads = {name: told.reads(name) for name in NAMES}
        self.states = {name: told.states(name) for name in NAMES}
        self.names = {name: told.last(name) for name in NAMES}
        self.ledgers.order = self.reads["ledger"][0][0]
        for case in self.cases.values():
            read = items(case, self.reads[case.name])
            shards = range(len(case.sizes))
            expected = Counter(shards if case.kind == "plan" else range(case.samples))
            assert not expected or read == expected, f"seed {self.found.seed}: {case.name}: not everything once"
            self.found.prints[case.name] = (self.names[case.name]["fingerprint"], print_of(self.reads[case.name]))

    def turns(self, host: str, request: Request, counts: list[int]) -> None:
        """Draws the turns: the job of each, whether its state is saved, and the number of steps before the program is
        killed."""
        # The first step of each job is saved, so that there is a state to continue from.
        first = [{"job": number, "save": True} for number in range(len(counts))]
        most = SLOW_TURNS if host == "command" else TURNS
        rest = []
        for number, count in enumerate(counts):
            turns = self.random.randint(1, min(most, (count - 1) * 2 // 3))
            rest += [{"job": number, "save": self.random.random() < 0.5} for _ in range(turns)]
        self.random.shuffle(first)
        self.random.shuffle(rest)
        request.turns = first + rest
        request.kill_after = self.random.randint(len(first) + 1, len(first) + len(rest))

    def begin(self) -> None:
        """Every host begins all cases that it can, and is killed."""
        requests = {}
        for host in self.found.hosts:
            request = requests[host] = Request(self.folder / f"begin-{host}")
            cases = [case for case in self.stepped if not hole(host, case.name)]
            for case in cases:
                request.jobs.append(job(self.asked[case.name], case.name, to=str(request.saved(case.name))))
            self.turns(host, request, [len(self.reads[case.name]) for case in cases])
            self.ledgers.begin(host, request)
        self.left: dict[tuple[str, str], Left] = {}
        for host, told in self.all(requests).items():
            for case in self.stepped:
                if not hole(host, case.name):
                    self.left[host, case.name] = self.left_of(host, case, told, requests[host], case.name)
            self.ledgers.begun(host, told)

    def left_of(self, who: str, case: Case, told: Told, request: Request, whole: str) -> Left:
        """A case as a program left it. Its steps and its state must be those of the Rust host in the case `whole`."""
        first = 0
        reads, states, names = self.reads[whole], self.states[whole], self.names[whole]
        left = Left(request.saved(case.name), told.reads(case.name), 0)
        document = left.read()
        if case.counts_on and whole != case.name:
            first = self.firsts[whole]
        left.saved = document["steps"] - first
        host = who.split()[-1]
        self.found.check(
            (who.split()[0], host, case.name),
            (0 < left.saved <= len(left.reads), f"{who} saved {left.saved} of {len(left.reads)} steps"),
            (same(case, left.reads, reads[: len(left.reads)], host), f"{who} read something else"),
            (document["state"] == states[left.saved - 1], f"{who} saved another state: {document['state'][:500]}"),
            (
                host in without(case) or document["recipe"] == names["recipe"],
                f"{who} wrote another recipe: {document['recipe'][:500]}",
            ),
            counts=whole != case.name,
        )
        self.found.twice += len(left.reads) - left.saved
        return left

    def deals(self, case: Case) -> list[dict[str, int]]:
        """The world sizes and workers that continue: those of the case, and others."""
        return [case.deal, self.random.choice(case.others)] if case.others else [case.deal]

    def end(self) -> None:
        """Every host continues the cases of every host, to the end."""
        deals = {key: self.deals(self.cases[key[1]]) for key in self.left}
        requests = {}
        for host in self.found.hosts:
            request = requests[host] = Request(self.folder / f"end-{host}")
            for (began, name), ways in deals.items():
                # The command is slow, so it continues with only one of the world sizes.
                chosen = self.random.randrange(len(ways))
                for way, deal in enumerate(ways):
                    if host != "command" or way == chosen:
                        given = {"from": str(self.left[began, name].document), "states": host == "rust", **deal}
                        request.jobs.append(job(self.asked[name], f"{began} {name} {way}", **given))
            self.ledgers.end(host, request)
        told = self.all(requests)
        asked = {(host, job["id"]) for host, request in requests.items() for job in request.jobs}
        self.deals_of = deals
        self.firsts = {}
        for (began, name), ways in deals.items():
            for way in range(len(ways)):
                whole = f"{began} {name} {way}"
                self.reads[whole] = told["rust"].reads(whole)
                self.states[whole] = told["rust"].states(whole)
                self.names[whole] = told["rust"].last(whole)
                self.firsts[whole] = self.left[began, name].saved
                for host in self.found.hosts:
                    if (host, whole) in asked:
                        self.check_end(began, host, self.cases[name], way, told[host])
        self.ledgers.ended(told)

    def check_end(self, began: str, host: str, case: Case, way: int, told: Told) -> None:
        """Checks the answers of a host that continued to the end after another one."""
        left = self.left[began, case.name]
        rest = self.reads[case.name][left.saved :]
        name = f"{began} {case.name} {way}"
        self.found.check(
            (began, host, case.name),
            *self.ended(case, host, told, name, [left]),
            (way > 0 or same(case, told.reads(name), rest, host), f"{name}: {host} read something else than the whole"),
        )

    def ended(self, case: Case, host: str, told: Told, name: str, lefts: list[Left]) -> list[tuple[bool, str]]:
        """Checks that a host read the same as the Rust host after the same state, and that all hosts together read
        everything."""
        reads, last, expected = told.reads(name), told.last(name), self.names[name]
        saved = [read for left in lefts for read in left.reads[: left.saved]]
        lost = [read for left in lefts for read in left.reads[left.saved :]]
        everything = items(case, self.reads[case.name])
        # Exactly the steps that were read and not saved are read twice.
        seen = items(case, saved + lost) + items(case, reads)
        has_recipe = host not in without(case)
        return [
            (same(case, reads, self.reads[name], host), f"{name}: {host} read something else"),
            (items(case, saved + reads) == everything, f"{name}: {host} did not read what was left"),
            (seen - everything == items(case, lost), f"{name}: {host} read something else twice"),
            (not has_recipe or last["recipe"] == expected["recipe"], f"{name}: {host} has the recipe {last['recipe']}"),
            (last["fingerprint"] in ("", expected["fingerprint"]), f"{name}: {host} has another name of the recipe"),
            (last["end"] in ("", expected["end"]), f"{name}: {host} has another fingerprint: {last['end']}"),
        ]

    def chain(self) -> None:
        """Chains: the second host continues the case of the first and is killed too, and a third one ends it."""
        hosts = list(self.found.hosts)
        second, third = (self.random.sample(hosts, len(hosts)) for _ in range(2))
        chains = {began: (between, last) for began, between, last in zip(hosts, second, third, strict=True)}
        requests, went = {}, {}
        for began, (between, _) in chains.items():
            # Every host is the second one of exactly one chain.
            request = requests[between] = Request(self.folder / f"between-{between}")
            counts = []
            for case in self.stepped:
                if (began, case.name) not in self.left or not goes_between(between, case.name):
                    continue
                way = self.random.randrange(len(self.deals_of[began, case.name]))
                whole = f"{began} {case.name} {way}"
                if len(self.reads[whole]) <= FEW:
                    continue
                given = {"from": str(self.left[began, case.name].document), "to": str(request.saved(case.name))}
                deal = self.deals_of[began, case.name][way]
                request.jobs.append(job(self.asked[case.name], case.name, **given, **deal))
                counts.append(len(self.reads[whole]))
                went[began, case.name] = whole
            self.turns(between, request, counts)
            self.ledgers.go_between(began, between, request)
        told = self.all(requests)
        middle = {}
        for (began, name), whole in went.items():
            between, _ = chains[began]
            who = f"{began} to {between}"
            middle[began, name] = self.left_of(who, self.cases[name], told[between], requests[between], whole)
        self.ledgers.went_between(chains, told)

        requests = {host: Request(self.folder / f"last-{host}") for host in {*hosts, "rust"}}
        for (began, name), left in middle.items():
            deal = self.deals(self.cases[name])[-1]
            given = job(self.asked[name], f"{began} chain {name}", **{"from": str(left.document)}, **deal)
            for host in {"rust", chains[began][1]}:
                requests[host].jobs.append(given)
        self.ledgers.finish(chains, requests)
        told = self.all(requests)
        for (began, name), left in middle.items():
            whole = f"{began} chain {name}"
            between, last = chains[began]
            self.reads[whole], self.names[whole] = told["rust"].reads(whole), told["rust"].last(whole)
            lefts = [self.left[began, name], left]
            key = (between, last, name)
            self.found.check(key, *self.ended(self.cases[name], last, told[last], whole, lefts))
        self.ledgers.finished(chains, told)
