"""A reader of a ledger in a TCPStore: prints every batch that its loop got."""

from __future__ import annotations

import sys
import time
from datetime import timedelta

import torch
from samedeal import Sampler
from samedeal.ledger import Ledger
from samedeal.torch import Claimed, ClaimSampler, StoreLog
from torch.utils.data import DataLoader

SAMPLES = 800
SEED = 4


def main() -> None:
    port, reader, workers, pause = int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4])
    store = torch.distributed.TCPStore("127.0.0.1", port, is_master=False, timeout=timedelta(hours=1))
    ledger = Ledger(Sampler(SAMPLES, seed=SEED), StoreLog(store), reader=reader, block_size=32, lease=5.0)
    loader = DataLoader(torch.arange(SAMPLES), batch_sampler=ClaimSampler(ledger, 8), num_workers=workers)
    print("ready", flush=True)
    sys.stdin.readline()
    for batch in Claimed(loader):
        time.sleep(pause)
        print(*batch.tolist(), flush=True)


if __name__ == "__main__":
    main()
