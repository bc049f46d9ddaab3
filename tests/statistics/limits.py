"""Properties of samedeal's orders that are known, and that a uniform shuffle does not have. The tests must find
them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import samedeal
from battery import count_cycles
from samedeal import Sampler

LANES, WINDOW, SIZES = 16, 64, (300, 1_000, 7, 2_500, 1_200, 4_000)


def even_only() -> Iterator[str]:
    """The parity of `feistel`: each of its rounds rotates rows or columns, and rotations of an odd length are even
    permutations."""
    for n, least, most in ((289, 0.0, 0.0), (288, 0.97, 1.0), (287, 0.0, 0.06), (290, 0.4, 0.6), (272, 0.4, 0.6)):
        sampler = Sampler(n)
        rows = []
        for epoch in range(400):
            sampler.set_epoch(epoch)
            rows.append(sampler.indices())
        odd = float(((n - count_cycles(np.stack(rows))) % 2).mean())
        if not least <= odd <= most:
            raise AssertionError(f"feistel of {n}: {odd:.3f} of the permutations are odd, and not {least} to {most}")
        yield f"feistel of {n} samples: {100 * odd:.1f} % of 400 permutations are odd"


def near_rows() -> Iterator[str]:
    """Neighbouring rows of a file come close to each other in the epoch, unless a border of lanes lies between them."""
    samples, far, most = sum(SIZES), [], 2 * LANES * WINDOW
    order = samedeal.sharded(SIZES, lanes=LANES, shuffle_window=WINDOW, seed=3)
    for epoch in range(20):
        seen = np.empty(samples, dtype=np.int64)
        seen[Sampler(order=order, epoch=epoch).indices()] = np.arange(samples)
        apart = np.abs(np.diff(seen))
        borders = set(np.cumsum(SIZES)[:-1] - 1)
        far.append(sum(1 for at in np.flatnonzero(apart > most).tolist() if at not in borders))
        if far[-1] > LANES - 1:
            raise AssertionError(
                f"epoch {epoch}: {far[-1]} neighbours are more than {most} positions apart, and not {LANES - 1}"
            )
    yield (
        f"sharded, {LANES} lanes, windows of {WINDOW}: "
        f"of {samples - 1:,} pairs of neighbouring rows, at most {max(far)} "
        f"in an epoch are seen more than {most:,} positions apart; {LANES - 1} borders of lanes can do that"
    )


def facts() -> Iterator[str]:
    """All known properties."""
    yield from even_only()
    yield from near_rows()
