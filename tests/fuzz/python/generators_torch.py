"""Generators of arguments for `samedeal.torch`."""

from __future__ import annotations

import program
import torch
from generators import ARGUMENTS, SPECIAL, Context, Make, a_list, an_order, one, upto

EXEMPT = {
    "torch.PackedRow": "a list, made by PackedDataset",
    "torch.ShardInfo": "a record, made by ShardedDataset.shard_info",
    "torch.StoreLog": "needs a store of torch.distributed",
    "torch.StoreLog.append": "needs a store of torch.distributed",
    "torch.StoreLog.last_checkpoint": "needs a store of torch.distributed",
    "torch.StoreLog.read": "needs a store of torch.distributed",
}
NOT_RUN = (
    "samedeal.lightning, accelerate and transformers: adapters that need a trainer of these frameworks",
    "samedeal.torch.StoreLog: needs a store of torch.distributed",
)

RECEIVERS = {
    "torch.BatchSampler": "samedeal.torch.BatchSampler([3, 4, 5, 9, 1, 7], max_tokens=20, rank=0, world_size=2)",
    "torch.ClaimSampler": (
        "samedeal.torch.ClaimSampler(samedeal.ledger.Ledger(samedeal.Sampler(9), samedeal.ledger.MemoryLog(), "
        "reader=0, block_size=3), 2)"
    ),
    "torch.Claimed": (
        "samedeal.torch.Claimed(torch.utils.data.DataLoader(range(9), batch_sampler=samedeal.torch.ClaimSampler("
        "samedeal.ledger.Ledger(samedeal.Sampler(9), samedeal.ledger.MemoryLog(), reader=0, block_size=3), 2)))"
    ),
    "torch.DistributedSampler": "samedeal.torch.DistributedSampler(range(50), 4, 1)",
    "torch.PackCollator": "samedeal.torch.PackCollator(capacity=16)",
    "torch.PackedDataset": "samedeal.torch.PackedDataset([[1, 2], [3], [4, 5, 6]], capacity=4, lengths=[2, 1, 3])",
    "torch.PadCollator": "samedeal.torch.PadCollator()",
    "torch.Part": "samedeal.torch.Part(0, 1, 2)",
    "torch.PartsDataset": "samedeal.torch.PartsDataset([[1, 2], [3], [4, 5, 6]])",
    "torch.Resumable": (
        "samedeal.torch.Resumable(torch.utils.data.DataLoader(range(50), batch_size=4, "
        "sampler=samedeal.torch.DistributedSampler(range(50), 4, 1)))"
    ),
    "torch.ShardedDataset": "samedeal.torch.ShardedDataset(folder.rows(5, 20), batch_size=4, rank=0, world_size=2)",
    "torch.ShardInfo": "samedeal.torch.ShardedDataset(folder.rows(5, 20), rank=0, world_size=1).shard_info()",
    "torch.StepBatchSampler": "samedeal.torch.StepBatchSampler(range(50), 8, steps=9, rank=0, world_size=2)",
    "torch.WeightedRandomSampler": "samedeal.torch.WeightedRandomSampler([1.0, 2.0, 0.5], 9, num_replicas=2, rank=0)",
}

DATASET = one("range(50)", "range(0)", "[1, 2, 3]", "torch.arange(20)", "torch.utils.data.TensorDataset(torch.ones(7))")


def _state(c: Context) -> str:
    kinds = [each for kind in RECEIVERS for each in c.pool.get(kind, []) if hasattr(c.values.get(each), "state_dict")]
    text = f"{c.r.choice(kinds)}.state_dict()" if kinds else "{'samedeal': '{}'}"
    if c.r.random() < 0.6:
        return text
    return f"{{'samedeal': h.mutated({text}.get('samedeal'), {c.r.randrange(10**6)})}}"


def _loader(c: Context) -> str:
    held = c.held("torch.DistributedSampler", RECEIVERS["torch.DistributedSampler"])
    batches = c.held("torch.StepBatchSampler", RECEIVERS["torch.StepBatchSampler"])
    return one(
        f"torch.utils.data.DataLoader(range(50), batch_size=4, sampler={held})",
        f"torch.utils.data.DataLoader(range(50), batch_sampler={batches})",
        "torch.utils.data.DataLoader(range(50))",
        "torch.utils.data.DataLoader(range(50), shuffle=True)",
    )(c)


def _records(c: Context) -> str:
    rows = [[c.r.randrange(99) for _ in range(c.r.randint(0, 5))] for _ in range(c.r.randint(0, 4))]
    if c.r.random() < 0.5:
        return str(rows)
    return str([{"input_ids": row, "labels": row} for row in rows])


def _list_of(most: int) -> Make:
    return lambda c: a_list(c.r, [c.r.randint(0, most) for _ in range(c.r.randint(0, 12))])


ARGUMENTS.update(
    {
        "batch": one("pa.record_batch({'a': [1, 2]})", "pa.record_batch({'a': ['x'], 'b': [None]})"),
        "batch_size": one("1", "4", "8", "24", "None"),
        "global_batch_size": one("1", "4", "8", "24", "[(0, 4), (3, 8)]"),
        "column": one("None", "'length'", "'text'"),
        "dataset": DATASET,
        "batches": one("None", "0", "1", "5"),
        "datasets": one("{'a': range(5), 'b': range(9)}", "{'a': [1, 2]}", "{}"),
        "equal_steps": one("True", "False"),
        "generator": one("None", "torch.Generator()"),
        "group": one("None"),
        "label_padding": one("-100", "0", "1.5"),
        "ledger": one(
            "samedeal.ledger.Ledger(samedeal.Sampler(9), samedeal.ledger.MemoryLog(), reader=0, block_size=3)"
        ),
        "loader": _loader,
        "mask": one("None", "'none'", "'full'", "'causal'"),
        "mask_dtype": one("None", "torch.bool", "torch.float32"),
        "mask_first_label": one("True", "False"),
        "mesh": one("None", "None", "samedeal.Mesh(1, {'dp': 1}, ['dp'])", "samedeal.Mesh(2, {'dp': 2}, ['dp'])"),
        "num_replicas": lambda c: str(c.world),
        "max_failed_rows": one("None", "5"),
        "max_readers": one("None", "None", "1", "12"),
        "num_samples": upto(30),
        "orders": one("None", "{}", "{'a': lambda order: order.skip([(0, 1, 2)])}"),
        "own_width": one("()", "['labels']", "{'labels': 8}", "{'x': 1.5}"),
        "padding": one("None", "{}", "{'labels': 3}", "{'x': 1.5}"),
        "padding_column": one("None", "'padding'", "'row'"),
        "part": one("samedeal.torch.Part(2, 1, 2)", "(0, 0, 1)", "0"),
        "parts": one("[samedeal.torch.Part(2, 1, 2), (0, 0, 1)]", "[]"),
        "planner": one("'BatchSampler'"),
        "probabilities": one("None", "[0.7, 0.3]", "[1]"),
        "replacement": one("True"),
        "fill_empty": one("True", "False"),
        "pad_sequences_to_multiple_of": one("None", "1", "8"),
        "row": upto(3),
        "rows": one("None", "4"),
        "shapes": one("None", "[(4, 8), (2, 16)]", "[]"),
        "sample_column": one("None", "'sample'", "'row'"),
        "samples": one("None", "10", "50"),
        "segment_ids": one("True", "False"),
        "source_column": one("None", "'source'"),
        "state_dict": _state,
        "stopping_strategy": one("None", "'first_exhausted'", "'all_exhausted'", "'first'"),
        "taken": one("None", "0", "1", "5"),
        "transform": one("None", "samedeal.torch.to_tensors", "h.raising"),
        "unit": one("None", "1", "2", "4"),
        "worker": one("0", "None", "1"),
        "workers": one("0", "1", "2", "None"),
    }
)
SPECIAL.update(
    {
        "torch.BatchSampler.lengths": _list_of(9),
        "torch.BatchSampler.unit": one("None", "'words'", "'bytes'"),
        "torch.ClaimSampler.batch_size": one("1", "4"),
        "torch.DistributedSampler.order": lambda c: one("None", "'torch'", "'feistel'", an_order(c))(c),
        "torch.PackCollator.__call__.samples": _records,
        "torch.PackedDataset.__getitem__.row": upto(2),
        "torch.PackedDataset.dataset": one("[[1, 2], [3], [4, 5, 6]]", "[]"),
        "torch.PackedDataset.lengths": one("[2, 1, 3]", "[2]", "None"),
        "torch.PackedDataset.unit": one("None", "'words'"),
        "torch.PadCollator.__call__.samples": _records,
        "torch.ShardedDataset.batch_size": one("None", "4", "7"),
        "torch.ShardedDataset.lanes": one("1", "3", "64", "'auto'", "'auto'"),
        "torch.ShardedDataset.order": one("None", "lambda order: order", "lambda order: order.skip([(0, 1, 2)])"),
        "torch.ShardedDataset.paths": one("folder.rows(5, 20)", "{'a': folder.rows(3), 'b': folder.rows(9)}"),
        "torch.ShardedDataset.weights": one("None", "{'a': 1, 'b': 2}"),
        "torch.StepBatchSampler.order": lambda c: one("None", "'feistel'", an_order(c))(c),
        "torch.WeightedRandomSampler.weights": one("[1.0, 2.0, 0.5]", "torch.ones(5)", "[0.1, 0.3]", "[]"),
        "torch.interleave.weights": one("{'a': 1, 'b': 2}", "[1, 2]", "{'a': 3}"),
        "torch.random_split.lengths": one("[0.8, 0.2]", "[3, 47]", "[1]", "[]"),
        "torch.set_rng_state.state": one(
            "samedeal.torch.rng_state()", "{}", "{**samedeal.torch.rng_state(), 'python': 1}"
        ),
        "torch.verify_ranks.sampler": lambda c: c.held("torch.DistributedSampler", _loader(c)),
        "torch.interleave.samples": one("None", "10"),
    }
)
program.MORE.update({"torch": torch})
