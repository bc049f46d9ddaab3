"""One reader of a ledger in a file: `reader.py LOG OWN READER SAMPLES BLOCK LEASE SECONDS`.

It writes the commits that were confirmed into a file of its own.
"""

from __future__ import annotations

import random
import sys
import time
from pathlib import Path

from samedeal import ContradictionError, Sampler
from samedeal.ledger import FileLog, Ledger


def main(log: str, own: str, reader: int, samples: int, block_size: int, lease: float, seconds: float) -> None:
    """Reads until the epoch is finished. A sample takes about `seconds`."""
    rng = random.Random(f"{own}")
    ledger = Ledger(Sampler(samples, seed=5), FileLog(log), reader=reader, block_size=block_size, lease=lease)
    with Path(own).open("a") as file:
        while (claim := ledger.claim()) is not None:
            while claim.committed < claim.count:
                start, count = claim.start + claim.committed, rng.randint(1, claim.count - claim.committed)
                time.sleep(rng.expovariate(1 / seconds) * count)
                try:
                    claim.commit(count)
                except ContradictionError:
                    # Other readers took the claim: this reader was too slow for its lease.
                    break
                file.write(f"{start} {count}\n")
                file.flush()


if __name__ == "__main__":
    path, record, *numbers = sys.argv[1:]
    main(path, record, *map(int, numbers[:3]), *map(float, numbers[3:]))  # type: ignore[call-arg]
