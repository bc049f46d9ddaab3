"""Readers of a ledger over a simulated log, in simulated time. Each makes one call at a time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import samedeal.ledger.ledger as host
from samedeal import ContradictionError, Sampler
from samedeal.ledger import Claim, Ledger
from stores import LateError, World
from tally import require

LEASE = 5.0


@dataclass(frozen=True)
class Drawn:
    """The parameters of a trial."""

    what: str
    seed: int
    positions: int
    consumed: int
    block_size: int
    readers: int
    checkpoint_interval: int

    @property
    def sampler(self) -> Sampler:
        """The sampler of the epoch, or of its rest."""
        return Sampler(self.positions, seed=self.seed % 1000, consumed=self.consumed)


@contextmanager
def time_of(world: World) -> Iterator[None]:
    """Replaces the clock of all ledgers."""
    before = host.time
    host.time = world  # type: ignore[assignment]
    try:
        yield
    finally:
        host.time = before


class Reader:
    """A simulated process that reads, and makes one call at a time."""

    def __init__(self, drawn: Drawn, number: int, log: Any, owned: dict[int, int], world: World) -> None:
        """Opens the ledger."""
        self.number, self.owned, self.world = number, owned, world
        self.clock = (world.rng.uniform(0, 1e6), world.rng.choice((1.0, 1.0, 0.7, 1.4)))
        self.claims: list[Claim] = []
        self.again: tuple[Claim, int | None] | None = None
        """The call whose outcome is unknown: its claim, and the count of a commit, or None for a release. It must be
        repeated first."""
        self.busy = self.finished = self.replaced = False
        self.log = log
        with self.turn():
            self.ledger = Ledger(
                drawn.sampler,
                log,
                reader=number,
                block_size=drawn.block_size,
                lease=LEASE if world.rng.random() < 0.2 else None,
                checkpoint_interval=drawn.checkpoint_interval,
            )

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Makes a call of this reader, in which its clock is used."""
        self.busy = True
        self.world.clocks.append(self.clock)
        try:
            yield
        finally:
            self.world.clocks.pop()
            self.busy = False

    def act(self, orderly: bool = False) -> None:
        """Makes a random call. With `orderly`, it makes a call that leads to the end of the epoch."""
        with self.turn():
            try:
                self._act(orderly)
            except LateError:
                pass
            except ContradictionError as error:
                if error.field == "reader" or "holds" not in str(error):
                    require(error.field in ("claim", "reader"), "only a claim can be lost", error)
                if error.field == "reader":
                    self.replaced = True

    def _act(self, orderly: bool) -> None:
        rng = self.world.rng
        if self.again is not None:
            # A call whose outcome is unknown must be repeated before any other call, as the documentation says.
            claim, count = self.again
            self._release(claim) if count is None else self._commit(claim, count)
        elif not self.claims or (not orderly and rng.random() < 0.2):
            try:
                claim = self.ledger.claim(timeout=0)
            except TimeoutError:
                return
            if claim is None:
                self.finished = True
            else:
                require(
                    claim.samples.tolist() == self.samples(claim), "a claim has the samples of its positions", claim
                )
                self.claims.append(claim)
        else:
            claim = rng.choice(self.claims)
            what = "commit" if orderly else rng.choice(("commit", "commit", "commit", "renew", "release", "progress"))
            if what == "commit":
                left = claim.count - claim.committed
                self._commit(claim, left if orderly else rng.randint(1, left))
            elif what == "release":
                self._release(claim)
            elif what == "renew":
                self._lost(claim, claim.renew)
            else:
                self.ledger.progress()

    def samples(self, claim: Claim) -> list[int]:
        """The samples of a run, from another sampler."""
        whole = Sampler(self.ledger._order.dataset_size, seed=self.ledger._order.seed)
        return [whole.sample_at(position) for position in range(claim.start, claim.start + claim.count)]

    def _commit(self, claim: Claim, count: int) -> None:
        start = claim.start + claim.committed
        self.again = (claim, count)
        self._lost(claim, lambda: claim.commit(count))
        self.again = None
        for position in range(start, start + count):
            require(position not in self.owned, "two readers were told that they committed a position", position)
            self.owned[position] = self.number
        if claim in self.claims and claim.committed == claim.count:
            self.claims.remove(claim)

    def _release(self, claim: Claim) -> None:
        self.again = (claim, None)
        self._lost(claim, claim.release)
        self.again = None
        self.claims.remove(claim)

    def _lost(self, claim: Claim, call: Any) -> None:
        try:
            call()
        except ContradictionError:
            self.claims.remove(claim)
            self.again = None
            raise


def finish(readers: list[Reader], world: World) -> None:
    """Lets all living readers read on in an orderly way, until the epoch is finished."""
    for _ in range(20_000):
        alive = [reader for reader in readers if not reader.replaced]
        if all(reader.finished for reader in alive):
            return
        for reader in alive:
            if not reader.finished:
                reader.act(orderly=True)
        world.now += 0.5
    raise AssertionError("the epoch does not end")
