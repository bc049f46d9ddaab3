"""Writes the checkpoints of this folder: python make.py, with torch, from any folder.

The state is what `samedeal state --samples 1003 --seed 7 --epoch 3 --order torch --world-size 8 --taken 40` prints. lightning.ckpt has
the state of a dataset in files: 2 ranks of 3 loader workers have taken 2 steps with batches of 4.
"""

import collections
import dataclasses
import json
import os
import pickle
import types

import torch

os.chdir(os.path.dirname(os.path.abspath(__file__)))
with open("state.json", encoding="utf-8") as file:
    STATE = file.read().strip()

saved = {
    "model": {"w": torch.zeros(3, 4), "b": torch.nn.Parameter(torch.ones(2))},
    "optimizer": torch.optim.Adam([torch.nn.Parameter(torch.ones(2))]).state_dict(),
    "data": {"loaders": [{"samedeal": STATE}]},
    "ordered": collections.OrderedDict(a=1),
}
torch.save(saved, "zip.pt")
torch.save(saved, "legacy.pt", _use_new_zipfile_serialization=False)
ORDER = '"name":"sharded","samples":1003,"seed":7,"lanes":64,"shuffle_window":256,"shards":2,"sizes":[100,903]'
TAKEN = '{"world_size":2,"workers":3,"batch_size":4,"drop_last":false,"steps":2}'
READING = '{"samedeal":1,"kind":"reading","recipe":{"order":{%s}},"epoch":3,"consumed":0,"history":[%s]}' % (ORDER, TAKEN)
turn = {"samedeal": READING, "batches": 17}
lightning = {"epoch": 3, "global_step": 5, "state_dict": {}, "loops": {}, "Data": {"train_dataloader": turn}}
torch.save(lightning, "lightning.ckpt")
callback = {"args": {}, "attributes": {"saved": {"samedeal": STATE}}}
trainer = {"train_batch_size": 4, "log_history": [{"loss": 1.5}], "stateful_callbacks": {"SamedealState": callback}}
with open("trainer_state.json", "w", encoding="utf-8") as file:
    json.dump(trainer, file, indent=2)
mixed = {
    "x": [1, 2.5, None, b"q", (1,), {3}, frozenset([4]), True, -5, 2**70, "é\n"],
    "s": {"samedeal": STATE},
    "object": ValueError("never raised", collections.OrderedDict(q=1)),
}


@dataclasses.dataclass
class Loader:
    state: dict


def namespace(value):
    """Return the value with objects in place of dictionaries."""
    if not isinstance(value, dict):
        return value
    return types.SimpleNamespace(**{name: namespace(inner) for name, inner in value.items()})


objects = {
    "text": namespace({"loader": {"state": STATE}}),
    "dictionary": types.SimpleNamespace(loader=Loader(json.loads(STATE))),
    "ordered": [collections.OrderedDict(json.loads(STATE))],
    "objects": namespace({"loader": {"state": json.loads(STATE)}}),
}
for protocol in (0, 2, 5):
    with open(f"objects-{protocol}.pkl", "wb") as file:
        pickle.dump(objects, file, protocol=protocol)
for protocol in range(6):
    with open(f"protocol-{protocol}.pkl", "wb") as file:
        pickle.dump(mixed, file, protocol=protocol)
