"""A loader whose samples go to whoever claims them."""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Iterator
from typing import Any, SupportsIndex

import torch

from .. import ContradictionError, WrongTypeError
from .. import _arguments as check
from ..ledger import Claim, Ledger


class ClaimSampler(torch.utils.data.Sampler[list[int]]):
    """The batches of one reader of a ledger: a `batch_sampler=`.

    Loader workers fetch ahead of the training loop, so that what the sampler has given says nothing about what was
    used: iterate the loader through `Claimed`, which commits what the loop got.
    """

    def __init__(self, ledger: Ledger, batch_size: SupportsIndex) -> None:
        """Costs nothing.

        Args:
            ledger: The reader that this process is.
            batch_size: Samples in a batch; the last one of a claim may be smaller, unless `ledger.block` is a multiple.

        Raises:
            OutOfRangeError: `batch_size` is outside its range.
            WrongTypeError: A value is not of the type that its parameter takes.
        """
        if not isinstance(ledger, Ledger):
            raise WrongTypeError("ledger", check.described(ledger), "a samedeal.ledger.Ledger")
        self.ledger = ledger
        self.batch_size = check.integer("batch-size", batch_size, check.Width(1, 2**20, f"1 to {2**20}"))
        self._given: deque[tuple[Claim, int]] = deque()
        """What the loop has still to say of: a part of a claim each."""

    def __iter__(self) -> Iterator[list[int]]:
        """Batches until nothing is free any more that does not wait for this reader itself."""
        for claim, _ in self._given:
            # Of a pass that was left: what the loop did not get is free again, if it is still this reader's.
            with contextlib.suppress(ContradictionError):
                claim.release()
        self._given.clear()
        return self._batches()

    def _batches(self) -> Iterator[list[int]]:
        while True:
            try:
                # What was given has to be committed before anything is worth waiting for.
                claim = self.ledger.claim(timeout=0 if self._given else None)
            except TimeoutError:
                return
            if claim is None:
                return
            for start in range(0, len(claim), self.batch_size):
                batch = claim.samples[start : start + self.batch_size].tolist()
                self._given.append((claim, len(batch)))
                yield batch

    def _commit(self) -> None:
        """The loop is through with the first of the batches that it has not said so of."""
        claim, count = self._given.popleft()
        claim.commit(count)


class Claimed:
    """The batches of a `DataLoader` with a `ClaimSampler`, each committed when the loop asks for the next one.

    One pass goes through all that this reader gets of the epoch, and ends when every reader's part is committed. A
    second pass finds nothing left; for another epoch, open another ledger.
    """

    def __init__(self, loader: Any) -> None:
        """Costs nothing.

        Args:
            loader: A `DataLoader` with `batch_sampler=ClaimSampler(...)`.

        Raises:
            WrongTypeError: It has another one.
        """
        sampler = getattr(loader, "batch_sampler", None)
        if not isinstance(sampler, ClaimSampler):
            raise WrongTypeError("loader", check.described(loader), "a DataLoader with a ClaimSampler as batch_sampler")
        self.loader = loader
        self.sampler: ClaimSampler = sampler

    def __iter__(self) -> Iterator[Any]:
        """What the loader gives, pass after pass over what is free."""
        while not self.sampler.ledger.progress().finished:
            for batch in self.loader:
                yield batch
                self.sampler._commit()
