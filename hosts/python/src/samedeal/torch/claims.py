"""A loader for the claims of a ledger."""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Iterator
from typing import Any, SupportsIndex

import torch

from .. import ContradictionError, WrongTypeError
from ..engine import arguments as check
from ..generated.limits import MAX_COUNT
from ..ledger import Claim, Ledger
from .resumable import check_in_order


class ClaimSampler(torch.utils.data.Sampler[list[int]]):
    """The batches of one reader of a ledger: a `batch_sampler=`.

    Loader workers fetch batches ahead of the training loop, so the sampler does not know which batches the loop got.
    Iterate over the loader through `Claimed`, which commits the batches that the loop got.
    """

    def __init__(self, ledger: Ledger, batch_size: SupportsIndex) -> None:
        """Checks the arguments. Nothing is claimed yet.

        Args:
            ledger: The ledger of this process.
            batch_size: Number of samples in a batch. If it does not divide `ledger.block_size`, the last batch of a
                claim is smaller.

        Raises:
            OutOfRangeError: `batch_size` is outside its range.
            WrongTypeError: A value is not of the type that its parameter takes.
        """
        if not isinstance(ledger, Ledger):
            raise WrongTypeError("ledger", check.described(ledger), "a samedeal.ledger.Ledger")
        self.ledger = ledger
        self.batch_size = check.integer("batch_size", batch_size, check.Width(1, MAX_COUNT, f"1 to {MAX_COUNT}"))
        self._given: deque[tuple[Claim, int]] = deque()
        """Batches that were given and are not committed yet: the claim and the number of samples of each."""
        self._counted = False
        """Whether a `Claimed` begins the pass, which commits the batches that the loop got."""
        self._pass: object = None

    def __iter__(self) -> Iterator[list[int]]:
        """Batches, until no position is free, or until only this reader holds positions that are not committed.

        Raises:
            ContradictionError: No `Claimed` goes through the loader, so that nothing would be committed.
        """
        if not self._counted:
            raise ContradictionError("loader", "iterated by itself", "Claimed(loader), which commits what the loop got")
        for claim, _ in self._given:
            # Batches of an abandoned pass: their positions become free again, unless this reader lost the claim.
            with contextlib.suppress(ContradictionError):
                claim.release()
        self._given.clear()
        self._pass = object()
        return self._batches()

    def _batches(self) -> Iterator[list[int]]:
        while True:
            # Does not wait for other readers as long as batches are not committed: the loop must commit them first.
            claim = self.ledger._try() if self._given else self.ledger.claim()
            if not isinstance(claim, Claim):
                return
            for start in range(0, len(claim), self.batch_size):
                batch = claim.samples[start : start + self.batch_size].tolist()
                self._given.append((claim, len(batch)))
                yield batch

    def _is_lost(self) -> bool:
        """Whether this reader lost the claim of the next batch. If so, drops it: other readers get its samples."""
        lost = self._given[0][0].lost
        if lost:
            self._given.popleft()
        return lost

    def _commit(self, begun: object) -> None:
        """Commits the first batch that is not committed yet: the loop is done with it."""
        if begun is not self._pass:
            raise ContradictionError("loader", "iterated anew meanwhile", "one pass at a time")
        claim, count = self._given[0]
        claim.commit(count)
        self._given.popleft()


class Claimed:
    """The batches of a `DataLoader` with a `ClaimSampler`, each committed when the loop asks for the next one.

    One pass gives all samples that this reader gets in the epoch, and ends when the samples of all readers are
    committed. A second pass has nothing left. For another epoch, open another ledger.
    """

    def __init__(self, loader: Any) -> None:
        """Checks the arguments. Nothing is claimed yet.

        Args:
            loader: A `DataLoader` with `batch_sampler=ClaimSampler(...)`.

        Raises:
            WrongTypeError: The loader has another sampler.
            ContradictionError: Its workers give batches in another order than the sampler (`in_order=False`).
        """
        sampler = getattr(loader, "batch_sampler", None)
        if not isinstance(sampler, ClaimSampler):
            raise WrongTypeError("loader", check.described(loader), "a DataLoader with a ClaimSampler as batch_sampler")
        check_in_order(loader, "True: batches are committed in the order of the sampler, whichever the loop got")
        self.loader = loader
        self.sampler: ClaimSampler = sampler

    def __iter__(self) -> Iterator[Any]:
        """The batches of the loader, until all positions of the epoch are committed.

        Raises:
            ContradictionError: A batch cannot be committed, because this reader lost the claim.
        """
        sampler = self.sampler
        while not sampler.ledger.progress().finished:
            sampler._counted = True
            try:
                batches = iter(self.loader)
            finally:
                sampler._counted = False
            begun = sampler._pass
            for batch in batches:
                if begun is sampler._pass and sampler._is_lost():
                    continue
                yield batch
                sampler._commit(begun)
