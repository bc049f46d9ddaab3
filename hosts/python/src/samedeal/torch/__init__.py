"""Drop-in parts for PyTorch.

Needs torch and pyarrow: `pip install 'hosts/python[torch]'` in a checkout.
"""

from .batches import BatchSampler
from .claims import Claimed, ClaimSampler
from .collators import PackCollator, PadCollator
from .dataset import LanesWarning, ShardedDataset, ShardInfo, StepsWarning
from .nested import BatchWarning
from .resumable import Resumable
from .rng import rng_state, set_rng_state
from .sampler import DistributedSampler
from .states import EpochWarning
from .store_log import StoreLog
from .tensors import to_tensors
from .verify import verify_ranks

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
