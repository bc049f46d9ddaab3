"""Drop-in parts for PyTorch.

Needs torch and pyarrow: `pip install 'hosts/python[torch]'` in a checkout.
"""

from ..files.failures import FailedRowsWarning
from .batches import BatchSampler
from .claims import Claimed, ClaimSampler
from .collators import PackCollator, PadCollator
from .dataset import LanesWarning, ShardedDataset, ShardInfo
from .files import SourcesWarning
from .interleave import Interleaved, interleave
from .lanes import LanesNote
from .nested import BatchWarning
from .packed import PackedDataset, PackedRow
from .parts import Part, PartsDataset
from .place import RankWarning
from .resumable import Resumable
from .rng import rng_state, set_rng_state
from .sampler import DistributedSampler
from .split import random_split
from .states import EpochWarning, StateWarning, StepsWarning
from .steps import StepBatchSampler
from .store_log import StoreLog
from .tensors import to_tensors
from .verify import verify_ranks
from .weighted import WeightedRandomSampler

__all__ = [
    "BatchSampler",
    "BatchWarning",
    "ClaimSampler",
    "Claimed",
    "DistributedSampler",
    "EpochWarning",
    "FailedRowsWarning",
    "Interleaved",
    "LanesNote",
    "LanesWarning",
    "PackCollator",
    "PackedDataset",
    "PackedRow",
    "PadCollator",
    "Part",
    "PartsDataset",
    "RankWarning",
    "Resumable",
    "ShardInfo",
    "ShardedDataset",
    "SourcesWarning",
    "StateWarning",
    "StepBatchSampler",
    "StepsWarning",
    "StoreLog",
    "WeightedRandomSampler",
    "interleave",
    "random_split",
    "rng_state",
    "set_rng_state",
    "to_tensors",
    "verify_ranks",
]
