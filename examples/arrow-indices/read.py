"""Reads batches from an Arrow file without copying them: python read.py FILE BATCH."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray


class Batches:
    """The batches of one rank, as arrays in the file itself. The system only reads pages of the file that are used."""

    def __init__(self, source: pa.MemoryMappedFile) -> None:
        """Opens the batches in a file, which must stay open as long as the arrays are used."""
        self._reader = pa.ipc.open_file(source)
        metadata = self._reader.schema.metadata or {}
        self.metadata = {name.decode(): value.decode() for name, value in metadata.items()}

    def __len__(self) -> int:
        """Number of batches."""
        return int(self._reader.num_record_batches)

    def __getitem__(self, number: int) -> NDArray[np.uint32]:
        """The sample indices of a batch: a view, which cannot be written to."""
        if not 0 <= number < len(self):
            raise IndexError(f"batch is {number}; allowed: 0 to {len(self) - 1}")
        samples: NDArray[np.uint32] = self._reader.get_batch(number).column("sample").to_numpy(zero_copy_only=True)
        return samples


@contextmanager
def open_batches(path: Path) -> Iterator[Batches]:
    """The batches in a file."""
    with pa.memory_map(str(path)) as source:
        yield Batches(source)


def main() -> None:
    """Prints a batch, and how many bytes Arrow has copied."""
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    try:
        with open_batches(Path(sys.argv[1])) as batches:
            batch = batches[int(sys.argv[2])]
            print(batches.metadata["recipe"])
            print(f"batch {sys.argv[2]} of {len(batches)}: {batch}")
            print(f"{pa.total_allocated_bytes()} bytes allocated by Arrow")
    except (OSError, IndexError, ValueError, pa.ArrowException) as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
