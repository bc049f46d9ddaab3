"""A rank of a job with data and tensor parallelism, which reads a dataset in shards and writes the samples that it
got."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import torch.distributed
from samedeal.torch import ShardedDataset
from torch.distributed.device_mesh import init_device_mesh

data, out = map(Path, sys.argv[1:])
torch.distributed.init_process_group("gloo")
mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("dp", "tp"))
dataset = ShardedDataset(data, batch_size=64, mesh=mesh["dp"])
found = [i for batch in dataset for i in batch.column("id").to_pylist()]
(out / f"{os.environ['RANK']}.json").write_text(json.dumps([dataset.rank, dataset.world_size, found]))
torch.distributed.destroy_process_group()
