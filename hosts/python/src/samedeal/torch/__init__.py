"""Drop-in parts for PyTorch.

Needs torch and pyarrow: `pip install samedeal[torch]`.
"""

from ._dataset import ShardedDataset, ShardInfo, to_tensors

__all__ = ["ShardInfo", "ShardedDataset", "to_tensors"]
