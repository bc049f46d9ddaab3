"""Drop-in parts for PyTorch.

Needs torch and pyarrow: `pip install samedeal[torch]`.
"""

from ._batches import BatchSampler
from ._claims import Claimed, ClaimSampler
from ._collators import PackCollator, PadCollator
from ._dataset import LanesWarning, ShardedDataset, ShardInfo, StepsWarning
from ._nested import BatchWarning
from ._resumable import Resumable
from ._rng import rng_state, set_rng_state
from ._sampler import DistributedSampler
from ._states import EpochWarning
from ._store_log import StoreLog
from ._tensors import to_tensors
from ._verify import verify_ranks

__all__ = [
    "BatchSampler",
    "BatchWarning",
    "ClaimSampler",
    "Claimed",
    "DistributedSampler",
    "EpochWarning",
    "LanesWarning",
    "PackCollator",
    "PadCollator",
    "Resumable",
    "ShardInfo",
    "ShardedDataset",
    "StepsWarning",
    "StoreLog",
    "rng_state",
    "set_rng_state",
    "to_tensors",
    "verify_ranks",
]
