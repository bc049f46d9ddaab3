"""A faulty run: every rank reads as the first of two, as if `LOCAL_RANK` were used on two nodes."""

from __future__ import annotations

import sys

import torch.distributed as dist
from samedeal import validate


def main() -> int:
    """Runs `samedeal.validate` with the wrong rank."""
    options = validate.parser().parse_args(sys.argv[1:])
    dist.init_process_group("gloo")
    dataset = validate.make_dataset(options)
    dataset._place = dataset._place._replace(rank=0, explicit=True)
    code = validate.check_epoch(dataset, 0, options)
    dist.destroy_process_group()
    return code


if __name__ == "__main__":
    sys.exit(main())
