# %% [markdown]
# # A ledger: readers of unequal speed, one of which dies
#
# Three processes read one epoch. One is four times slower than the first; another is killed with samples in its
# hands. With a fixed deal, the epoch would take as long as the slowest third of it, and end without what the dead one
# had. With a ledger, whoever is free takes the next block, every sample is read once, and afterwards the very same
# schedule can be read again.
#
# To run it: `python share_an_epoch.py`, after `pip install hosts/python`.

# %%
import multiprocessing
import os
import signal
import tempfile
import time
from collections import Counter
from pathlib import Path

from samedeal import Sampler
from samedeal.ledger import FileLog, Ledger, Replay

SAMPLES = 1200
BATCH = 10
PAUSES = {0: 0.002, 1: 0.008, 2: 0.002}
"""What a sample costs each reader, in seconds."""

# %% [markdown]
# ## A reader
#
# It opens the log that all of them share, claims a block of the epoch's order, reads it batch by batch, and commits
# each. Who is silent for longer than the lease, here two seconds, loses what it has not committed.
#
# This reader keeps no results. A reader that does writes them to the disk before the commit: after a commit, nobody
# does the work again, also if the process is killed. See "Keep the results" in `docs/concepts/ledger.md`.


# %%
def read(path, reader, start):
    """What each process does."""
    ledger = Ledger(Sampler(SAMPLES, seed=42), FileLog(path), reader=reader, block_size=40, lease=2)
    start.wait()
    for claim in ledger:
        for at in range(0, len(claim), BATCH):
            samples = claim.samples[at : at + BATCH]
            time.sleep(PAUSES[reader] * len(samples))
            if reader == 2 and claim.start > SAMPLES // 4:
                os.kill(os.getpid(), signal.SIGKILL)
            claim.commit(len(samples))


# %% [markdown]
# ## The epoch, and what its log says
#
# Once no block is left that nobody has claimed, the others wait until the dead reader's lease is over, and take what
# it had.


# %%
def main(path):
    """One epoch."""
    context = multiprocessing.get_context("spawn")
    start = context.Barrier(len(PAUSES))
    readers = [context.Process(target=read, args=(path, reader, start)) for reader in PAUSES]
    for process in readers:
        process.start()
    for process in readers:
        process.join()
    print("exit codes:", [process.exitcode for process in readers])

    replay = Replay(FileLog(path))
    shares = Counter()
    for commit in replay.commits:
        shares[commit.reader] += commit.count
    print(f"{replay}; samples of each reader: {dict(sorted(shares.items()))}")
    assert replay.progress().finished
    assert shares[0] > shares[1]

    # The log is the schedule: the first reader's samples again, and those of all in the order in which they were read.
    order = Sampler(SAMPLES, seed=42)
    first = [sample for run in replay.samples(order, reader=0, readers=3) for sample in run.tolist()]
    assert len(first) == shares[0]
    every = [sample for run in replay.samples(order) for sample in run.tolist()]
    assert sorted(every) == [*range(SAMPLES)]
    print(f"each of {SAMPLES} samples once; the first that were read: {every[:5]}")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        main(Path(scratch) / "epoch-0.log")
