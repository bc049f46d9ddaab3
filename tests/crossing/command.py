"""The command `samedeal` as one of the programs that begin an epoch and continue it: `command.py REQUEST`.

This is a script around the command: it asks the command for each step, and stores its answers. README.md has the
protocol.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
IDS = 64
"""Number of ids whose parts of a split are asked in one call."""
Job = dict[str, Any]


def tell(line: dict[str, Any]) -> None:
    """Prints a line for the test, which gets it even if this process is killed at once."""
    print(json.dumps(line), flush=True)


def ask(*words: object) -> str:
    """The output of the command."""
    command = [ROOT / "target/debug/samedeal", *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, words))}: {done.stderr}")
    return done.stdout


def answer(*words: object) -> Any:
    return json.loads(ask(*words, "--json"))


class Asked:
    """A job, and the options with which the command is asked."""

    first = 0
    """The first step that is not done."""

    def __init__(self, job: Job, folder: Path) -> None:
        self.job, self.case, self.folder = job, job["case"], folder
        before = json.loads(Path(job["from"]).read_text()) if job["from"] else None
        given = json.loads(self.case["recipe"] if before is None else before["recipe"])
        for member in ("world_size", "workers"):
            if job[member] is not None:
                given.setdefault("deal", {})[member] = job[member]
        self.given, self.before = given, before
        self.world_size = given.get("deal", {}).get("world_size", 1)
        self.recipe = self._file("recipe", json.dumps(given, ensure_ascii=False))
        self.place: list[object] = ["--epoch", self.case["epoch"]]
        if before is not None and before["state"]:
            self.place = ["--resume", self._file("state", before["state"])]

    def _file(self, kind: str, text: str) -> Path:
        path = self.folder / f"{self.job['id']}-{kind}"
        path.write_text(text)
        return path

    def read(self, step: int) -> list[Any]:
        """The samples, rows or parts of each rank at a step."""
        raise NotImplementedError

    def rest(self) -> list[list[Any]]:
        """The answers of `read` for all steps from the first one on."""
        raise NotImplementedError

    def state(self, step: int) -> str:
        """The state before a step; empty for kinds without a state."""
        raise NotImplementedError

    def names(self) -> dict[str, str]:
        """The recipe, and its fingerprint if the command prints it."""
        raise NotImplementedError

    def fingerprint(self) -> str:
        return ""


def by_steps(ranks: list[list[Any]]) -> list[list[Any]]:
    """The batches of each rank, by step. A rank with fewer steps has None."""
    most = max(map(len, ranks))
    return [[rank[step] if step < len(rank) else None for rank in ranks] for step in range(most)]


class Samplers(Asked):
    """Samplers: the command reads their recipe, and writes states."""

    @property
    def deal(self) -> list[object]:
        return ["--recipe", self.recipe, *self.place]

    def read(self, step: int) -> list[Any]:
        [found] = answer("step", step, *self.deal, "--batch-size", self.case["batch_size"])["steps"]
        return [rank["samples"] for rank in found["ranks"]]

    def rest(self) -> list[list[Any]]:
        size = self.case["batch_size"]
        asked = [[*self.deal, "--batch-size", size, "--rank", rank] for rank in range(self.world_size)]
        return by_steps([answer("batches", *words, "--all")["batches"] for words in asked])

    def state(self, step: int) -> str:
        return ask("state", *self.deal, "--taken", step * self.case["batch_size"]).rstrip("\n")

    def names(self) -> dict[str, str]:
        asked = ["recipe", "--recipe", self.recipe]
        return {"recipe": ask(*asked).rstrip("\n"), "fingerprint": ask(*asked, "--fingerprint").rstrip("\n")}

    def fingerprint(self) -> str:
        ranks = [[*self.deal, "--rank", rank] for rank in range(self.world_size)]
        return " ".join(answer("fingerprint", *words)["fingerprint"] for words in ranks)


class Batchers(Asked):
    """Batchers: the command reads the recipe and the lengths, and resumes; it writes no state."""

    def __init__(self, job: Job, folder: Path) -> None:
        super().__init__(job, folder)
        self.lengths = (self._file("lengths.json", json.dumps(self.case["lengths"])), "--lengths")

    @staticmethod
    def _flat(batch: Job) -> list[Any]:
        return [batch[name] for name in ("samples", "row_ends", "padded_length", "cost", "repeated")]

    def read(self, step: int) -> list[Any]:
        [found] = answer("step", step, *self.lengths, "--recipe", self.recipe, *self.place)["steps"]
        return [self._flat(rank) for rank in found["ranks"]]

    def rest(self) -> list[list[Any]]:
        asked = [*self.lengths, "--recipe", self.recipe, *self.place, "--all", "--rank"]
        ranks = [answer("batches", *asked, rank)["batches"] for rank in range(self.world_size)]
        return by_steps([[self._flat(batch) for batch in batches] for batches in ranks])

    def names(self) -> dict[str, str]:
        asked = ["recipe", *self.lengths, "--recipe", self.recipe]
        return {"recipe": ask(*asked).rstrip("\n"), "fingerprint": ask(*asked, "--fingerprint").rstrip("\n")}


class Readings(Asked):
    """Readings: the command resumes their state by options, and writes the next one; it does not begin."""

    @property
    def deal(self) -> list[object]:
        deal, batch = self.given["deal"], self.given["batch"]
        remainder = ["--remainder", deal["remainder"]] if "remainder" in deal else []
        readers = [
            "--world-size",
            deal["world_size"],
            "--workers",
            deal["workers"],
            "--batch-size",
            batch["batch_size"],
        ]
        return [*self.place, *readers, *remainder]

    def _step(self, step: int) -> Job:
        found: list[Job] = answer("step", step, *self.deal)["steps"]
        return found[0]

    def read(self, step: int) -> list[Any]:
        return [rank["samples"] for rank in self._step(step)["ranks"]]

    def rest(self) -> list[list[Any]]:
        return [self.read(step) for step in range(self._step(0)["num_steps"])]

    def state(self, step: int) -> str:
        return ask("state", *self.deal, "--steps", step).rstrip("\n")

    def names(self) -> dict[str, str]:
        """The names of the program before, because the command has no recipes of readings."""
        return {"recipe": self.before["recipe"], "fingerprint": ""}


class Schedules(Asked):
    """Schedules: the command reads their recipe, and writes states."""

    def __init__(self, job: Job, folder: Path) -> None:
        super().__init__(job, folder)
        self.place = self.place if self.place[0] == "--resume" else []
        self.first = answer("steps", "--recipe", self.recipe, *self.place, "--at", 0)["resumed_at"] or 0

    def read(self, step: int) -> list[Any]:
        found = answer("steps", "--recipe", self.recipe, *self.place, "--step", step)
        return [rank["samples"] for rank in found["ranks"]]

    def rest(self) -> list[list[Any]]:
        return [self.read(step) for step in range(self.first, self.case["end"])]

    def state(self, step: int) -> str:
        return ask("steps", "--recipe", self.recipe, *self.place, "--state", step).rstrip("\n")

    def names(self) -> dict[str, str]:
        return {"recipe": ask("steps", "--recipe", self.recipe, "--recipe-out", "-").rstrip("\n"), "fingerprint": ""}


class Plans(Asked):
    """Plans: the command plans the same files by options, because its plans have no recipe."""

    def __init__(self, job: Job, folder: Path) -> None:
        super().__init__(job, folder)
        self.first = self.before["steps"]
        shards, deal = self.given["shards"], self.given["deal"]
        asked = [self.case["files"], "--world-size", deal["world_size"], "--workers", deal["workers"], *self.place]
        asked += [f"--seed={shards['seed']}", "--policy", shards["policy"], "--worker-policy", shards["worker_policy"]]
        asked += ["--reshuffle"] if shards["reshuffle"] else []
        asked += [] if shards["shuffle"] else ["--no-shuffle"]
        ranks = [answer("shards", *asked, "--rank", rank)["readers"] for rank in range(deal["world_size"])]
        self.shards = [reader["shards"] for readers in ranks for reader in readers]

    def rest(self) -> list[list[Any]]:
        """The shards of each reader, without their rows."""
        return by_steps([[[shard] for shard in shards[self.first :]] for shards in self.shards])

    def names(self) -> dict[str, str]:
        return {"recipe": self.before["recipe"], "fingerprint": ""}


class Parts(Asked):
    """Splits: the command reads their recipe, and writes it."""

    def __init__(self, job: Job, folder: Path) -> None:
        super().__init__(job, folder)
        self.first = 0 if self.before is None else self.before["steps"]

    def _asked(self) -> list[object]:
        return ["split", "--recipe", self.recipe, "--samples", self.case["end"]]

    def read(self, step: int) -> list[Any]:
        count = min(IDS, self.case["end"] - step * IDS)
        return [answer(*self._asked(), "--each", "--start", step * IDS, "--count", count)["part_of"]]

    def rest(self) -> list[list[Any]]:
        found = answer(*self._asked(), "--each", "--start", self.first * IDS, "--all")["part_of"]
        return [[found[start : start + IDS]] for start in range(0, len(found), IDS)]

    def state(self, step: int) -> str:
        return ""

    def names(self) -> dict[str, str]:
        return {"recipe": ask(*self._asked(), "--recipe-out", "-").rstrip("\n"), "fingerprint": ""}


KINDS: dict[str, type[Asked]] = {
    "sampler": Samplers,
    "batcher": Batchers,
    "reading": Readings,
    "schedule": Schedules,
    "plan": Plans,
    "split": Parts,
}


class Running:
    """A job in progress, one step at a time."""

    def __init__(self, asked: Asked) -> None:
        self.asked, self.next = asked, asked.first

    def step(self, save: bool) -> None:
        asked = self.asked
        # After a state, steps are counted from the state on. Steps of schedules, plans and splits are counted from 0.
        tell({"job": asked.job["id"], "step": self.next - asked.first, "read": asked.read(self.next)})
        self.next += 1
        if save:
            taken = {"steps": self.next, "state": asked.state(self.next)}
            path = Path(asked.job["to"])
            temporary = path.with_suffix(".new")
            temporary.write_text(json.dumps(asked.names() | taken))
            temporary.replace(path)


def finish(asked: Asked) -> None:
    """Does a job from its next step to its end."""
    for step, read in enumerate(asked.rest()):
        tell({"job": asked.job["id"], "step": step, "read": read})
    tell({"job": asked.job["id"], **asked.names(), "end": asked.fingerprint()})


def replay(job: Job) -> None:
    """All committed samples of a log, in its order."""
    found = answer("ledger", job["log"], "--reader", 0, "--readers", 1, "--all")
    tell({"job": job["id"], "replayed": found["samples"]})


def main(path: str) -> int:
    request = json.loads(Path(path).read_text())
    folder = Path(path).parent
    tell({"host": "command", "engine": ask("--version").strip(), "pid": os.getpid()})
    if not request["turns"]:
        for job in request["jobs"]:
            if job["replay"]:
                replay(job)
            else:
                finish(KINDS[job["case"]["kind"]](job, folder))
        return 0
    jobs = [Running(KINDS[job["case"]["kind"]](job, folder)) for job in request["jobs"]]
    for turn in request["turns"]:
        jobs[turn["job"]].step(turn["save"])
    # The test kills the program here, unless it did so before.
    tell({"waits": True})
    sys.stdin.read()
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
