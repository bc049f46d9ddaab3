"""Drop-in parts for PyTorch.

Needs torch and pyarrow: `pip install samedeal[torch]`.
"""

from ._batches import BatchSampler
from ._collators import PackCollator, PadCollator
from ._dataset import EpochWarning, LanesWarning, ShardedDataset, ShardInfo, to_tensors

__all__ = [
    "BatchSampler",
    "EpochWarning",
    "LanesWarning",
    "PackCollator",
    "PadCollator",
    "ShardInfo",
    "ShardedDataset",
    "to_tensors",
]
