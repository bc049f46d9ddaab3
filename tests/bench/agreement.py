"""One rank of a job whose ranks compare, before each epoch, what they will read: `agreement.py EPOCHS`.

Rank 0 prints the median of the seconds that a comparison takes.
"""

import statistics
import sys
from time import perf_counter

import torch
import torch.distributed as dist
from samedeal.torch import DistributedSampler, verify_ranks

torch.set_num_threads(1)
dist.init_process_group("gloo")
sampler = DistributedSampler(range(10**6), seed=42)
times = []
for epoch in range(int(sys.argv[1]) + 3):
    sampler.set_epoch(epoch)
    dist.barrier()
    began = perf_counter()
    verify_ranks(sampler)
    times.append(perf_counter() - began)
if dist.get_rank() == 0:
    # The first comparisons connect the ranks, so their times do not count.
    print(statistics.median(times[3:]))
dist.destroy_process_group()
