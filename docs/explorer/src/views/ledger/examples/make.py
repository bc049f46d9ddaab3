"""Writes the example logs of the explorer beside this file. The readers have different speeds, and run in one
process."""

from __future__ import annotations

import heapq
import time
from pathlib import Path

from samedeal import Sampler
from samedeal.ledger import FileLog, Ledger

LEASE = 0.25
"""The lease in seconds: after so long, other readers get the positions of a reader that died."""


def run(
    path: Path,
    samples: int,
    block_size: int,
    seconds: list[float],
    *,
    dies: dict[int, int],
    restarts: int | None = None,
    until: int = 0,
) -> None:
    """Writes the log of an epoch. Reader r takes `seconds[r]` for a sample, and commits after each half of a claim.

    Args:
        path: The log to write.
        samples: How many samples there are.
        block_size: Positions of a claim.
        seconds: The time of each reader for a sample. It is simulated: only leases take real time.
        dies: For readers that die: how many samples they read before.
        restarts: A reader of `dies` that starts again with its number a little later.
        until: The number of samples after which all readers stop. 0: the end of the epoch.
    """
    path.unlink(missing_ok=True)
    sampler = Sampler(samples, seed=42)

    def joins(reader: int) -> Ledger:
        return Ledger(sampler, FileLog(path), reader=reader, block_size=block_size, lease=LEASE)

    ledgers = {reader: joins(reader) for reader in range(len(seconds))}
    claims = dict.fromkeys(ledgers)
    read = dict.fromkeys(ledgers, 0)
    due = [(0.0, reader) for reader in ledgers]
    heapq.heapify(due)
    while due:
        now, reader = heapq.heappop(due)
        if until and sum(read.values()) >= until:
            return
        claim = claims[reader]
        if claim is not None:
            left = claim.count - claim.committed
            part = min(left, block_size // 2)
            if reader in dies and read[reader] + part > dies[reader]:
                del dies[reader]
                if reader == restarts:
                    # A new process has the same number, so the old claims are released when it joins.
                    ledgers[reader], claims[reader] = joins(reader), None
                    heapq.heappush(due, (now + 40 * seconds[reader], reader))
                continue
            claim.commit(part)
            read[reader] += part
        if claim is None or claim.committed == claim.count:
            try:
                claims[reader] = claim = ledgers[reader].claim(timeout=0)
            except TimeoutError:
                # Other readers have claimed everything that is left. If they died, their leases must end first.
                if not any(other for who, other in claims.items() if who != reader and any(who == r for _, r in due)):
                    time.sleep(LEASE)
                claims[reader] = None
                heapq.heappush(due, (now + seconds[reader] * block_size, reader))
                continue
            if claim is None:
                continue
        heapq.heappush(due, (now + seconds[reader] * min(claim.count - claim.committed, block_size // 2), reader))


def main() -> None:
    """Writes all examples beside this file."""
    here = Path(__file__).parent
    run(here / "dies.log", 1_000, 32, [1, 1.1, 1.2, 4.1], dies={1: 112})
    run(here / "restarts.log", 1_000, 32, [1, 1.3, 1.7], dies={2: 80}, restarts=2, until=720)
    run(here / "many.log", 24_000, 160, [1 + 0.13 * (7 * reader % 16) for reader in range(16)], dies={3: 480, 11: 900})


if __name__ == "__main__":
    main()
