"""One rank of a Lightning run over whole shards, whose ranks have different numbers of batches: `lit_shards.py DIR`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import lit
import torch
import torch.distributed as dist
from lightning import LightningDataModule
from samedeal import ContradictionError
from samedeal.lightning import ResumableData
from samedeal.torch import ShardedDataset
from torch.utils.data import DataLoader

RUNS: list[dict[str, Any]] = [{}, {"limit_train_batches": 2}, {"max_steps": 3, "max_epochs": -1}, {"max_steps": 4}]
"""Options of the trainer for each run."""


def samples(batch: Any) -> Any:
    ids = torch.tensor(batch["id"].to_pylist())
    return ids, torch.ones(len(ids), 4)


class Data(ResumableData, LightningDataModule):  # type: ignore[misc]
    """Files of different length, each of which one rank reads."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.folder = folder

    def train_dataloader(self) -> Any:
        dataset = ShardedDataset(self.folder / "shards", batch_size=4, transform=samples, deal="shards")
        return DataLoader(dataset, batch_size=None)


class Evaluated(Data):
    """A data module in which one of two ranks has no file for validation."""

    def train_dataloader(self) -> Any:
        return DataLoader(ShardedDataset(self.folder / "shards", batch_size=4, transform=samples), batch_size=None)

    def val_dataloader(self) -> Any:
        one = self.folder / "shards" / "0.parquet"
        return DataLoader(ShardedDataset(one, batch_size=4, transform=samples, deal="shards"), batch_size=None)


class Model(lit.Model):
    """A model whose ranks wait for each other at the end of the validation."""

    def validation_step(self, batch: Any) -> None:
        self.log("rows", float(len(batch[0])), sync_dist=True)


def main(folder: Path) -> None:
    told: list[Any] = []
    for number, options in enumerate(RUNS):
        options = {"max_epochs": 1, "devices": 2, "strategy": "ddp", "limit_val_batches": 0} | options
        model = lit.Model()
        trainer = lit.trainer_of(folder / str(number), **options)
        try:
            trainer.fit(model, datamodule=Data(folder))
            told.append(len(model.seen))
        except ContradictionError as error:
            told.append([len(model.seen), str(error)])
    trainer = lit.trainer_of(folder / "evaluated", max_epochs=1, devices=2, strategy="ddp")
    try:
        trainer.fit(Model(), datamodule=Evaluated(folder))
    except ContradictionError as error:
        told.append(str(error))
    (folder / f"{dist.get_rank()}.json").write_text(json.dumps(told))


if __name__ == "__main__":
    torch.set_num_threads(1)
    main(Path(sys.argv[1]))
