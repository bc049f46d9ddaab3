"""Drop-in parts for PyTorch.

Needs torch and pyarrow: `pip install samedeal[torch]`.
"""

from ._dataset import EpochWarning, LanesWarning, ShardedDataset, ShardInfo, to_tensors

__all__ = ["EpochWarning", "LanesWarning", "ShardInfo", "ShardedDataset", "to_tensors"]
