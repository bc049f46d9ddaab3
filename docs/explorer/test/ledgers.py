"""Computes the expected values of the view of ledgers, by the Python package."""

import json
import sys
import tempfile
from pathlib import Path

import samedeal
from samedeal.ledger import FileLog, Replay
from samedeal.ledger.binding import Machine

sys.path.append(str(Path(__file__).parent.parent / "src/views/ledger/examples"))
import make


def ledger_log(samples, block, seconds, dies, restarts=None, until=0):
    """A new log that real readers wrote."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "epoch-0.log")
        lost = {int(reader): read for reader, read in dies.items()}
        make.run(path, samples, block, seconds, dies=lost, restarts=restarts, until=until)
        return path.read_text()


def ledger_states(log):
    """The state after each entry: the progress by the component, and the claims and commits of each reader."""
    lines = log.splitlines()
    machine = Machine(lines[0])
    claims, readers, states = {}, {}, []
    for line in lines:
        event, entry = machine.apply(line), json.loads(line)
        if entry.get("event") == "join":
            done = readers.setdefault(entry["reader"], {"claims": 0, "commits": 0, "committed": 0, "lost": 0})
            for claim in [claim for claim in claims.values() if claim["reader"] == entry["reader"]]:
                done["lost"] += claim["left"]
                claim["left"] = 0
        if event is not None:
            done = readers[event.reader]
            if event.kind == "claim":
                done["claims"] += 1
                claims[event.claim] = {"reader": event.reader, "left": event.count}
            elif event.kind == "commit":
                done["commits"] += event.count > 0
                done["committed"] += event.count
                claims[event.claim]["left"] -= event.count
            elif event.kind == "release":
                done["lost"] += event.count
                claims[event.claim]["left"] = 0
        progress = machine.progress()
        # All positions that were ever claimed, whether they are held now or not.
        ends = [
            json.loads(other)["start"] + json.loads(other)["count"]
            for other in lines[: len(states) + 1]
            if '"claim"' in other
        ]
        next_one = max(ends, default=0)
        states.append(
            {
                "committed": progress.committed,
                "open": progress.claimed,
                "free": next_one - progress.committed - progress.claimed,
                "left": progress.positions - next_one,
                "readers": {reader: list(done.values()) for reader, done in sorted(readers.items())},
            }
        )
    return states


def ledger_takeovers(log):
    """Positions that one claim left and another one took, counted by the reader that left them and the reader that took
    them."""
    owner, committed, left, found = {}, set(), {}, {}
    for line in log.splitlines()[1:]:
        entry = json.loads(line)
        event, reader = entry.get("event"), entry.get("reader")
        run = range(entry.get("start", 0), entry.get("start", 0) + entry.get("count", 0))
        if event == "claim":
            for position in run:
                if position in left:
                    pair = f"{left.pop(position)} {reader}"
                    found[pair] = found.get(pair, 0) + 1
                owner[position] = reader
        elif event == "commit":
            committed.update(run)
        elif event in ("release", "join"):
            held = run if event == "release" else [position for position, who in owner.items() if who == reader]
            for position in held:
                if position not in committed and owner.pop(position, None) is not None:
                    left[position] = reader
    return found


def ledger_replay(log, reader, readers):
    """The samples that a reader replays."""
    order = json.loads(log.splitlines()[0])["recipe"]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "epoch-0.log")
        path.write_text(log)
        replay = Replay(FileLog(path))
        runs = list(replay.samples(samedeal.Sampler.from_recipe(order), reader=reader, readers=readers))
    return {"runs": len(runs), "samples": [int(sample) for run in runs for sample in run]}
