"""Steps over epochs: section 17."""

from __future__ import annotations

from bisect import bisect_right
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from .base import MAX_SAMPLES, MAX_WINDOW, require, require_ranks
from .composed import read
from .composed_base import Plain
from .composed_states import goes_on
from .deal import Deal
from .members import DEAL_OF_STEPS, ORDER, STEPS
from .recipe_text import Lists, fingerprint, written
from .recipes import canonical, checked, layout_of, read_recipe
from .rotated import rotation
from .sampler_recipe import seed_of
from .state import compare, read_text, write_state

FAR_EPOCHS = 2**12
"""Number of later epochs in which a sample is searched if epochs may end early, or if sources share their samples."""

Section = dict[str, Any]


@dataclass(frozen=True)
class EpochPosition:
    epoch: int
    position: int


@dataclass(frozen=True)
class StepPlace:
    samples_consumed: int
    epoch: int
    position: int
    step: int
    rank: int
    index_in_batch: int


@dataclass(frozen=True)
class Size:
    """The batch size from a step on, and the draw with which this step begins."""

    start: int
    draw: int
    global_batch_size: int

    def begin(self, step: int) -> int:
        return self.draw + (step - self.start) * self.global_batch_size


def read_steps(section: Section, world_size: int, unit: int) -> Section:
    """The section in the form of a canonical text: points 1 to 4."""
    section = checked(STEPS, section)
    stages = section["stages"]
    before = 0
    for stage in stages:
        require(before < stage["from"], "from", stage["from"])
        before = stage["from"]
    sizes = [section["global_batch_size"], *(stage["global_batch_size"] for stage in stages)]
    for size in sizes:
        require(size % unit == 0, "global_batch_size", size, "contradiction")
    # Only the last stage must fit: earlier stages may belong to another world size.
    require(sizes[-1] % (world_size * unit) == 0, "global_batch_size", sizes[-1], "contradiction")
    return canonical(STEPS, section)


class Schedule:
    def __init__(self, recipe: str, lists: Lists, rank: int) -> None:
        fields = read_recipe(recipe, lists, "schedule")
        self._order, self._section = read(fields["order"], lists)
        deal: Section = {"layout": layout_of(self._order.rotated)} | checked(DEAL_OF_STEPS, fields["deal"])
        self._world_size, self._layout, self._unit = deal["world_size"], deal["layout"], deal["unit"]
        self._deal_text = canonical(DEAL_OF_STEPS, deal)
        self._steps = read_steps(fields["steps"], self._world_size, self._unit)
        require(self._order.length(0) > 0, "samples", 0)
        if (epochs := self._steps.get("epochs")) is not None:
            require(epochs <= self._epochs, "epochs", epochs)
        require(rank < self._world_size, "rank", rank)
        self._rank = rank

    def at_rank(self, rank: int) -> Schedule:
        require(rank < self._world_size, "rank", rank)
        moved = copy(self)
        moved._rank = rank
        return moved

    def recipe(self) -> str:
        return written({"samedeal": 1, "order": self._section, "deal": self._deal_text, "steps": self._steps})

    def recipe_fingerprint(self) -> str:
        return fingerprint(self.recipe())

    def rank(self) -> int:
        return self._rank

    def world_size(self) -> int:
        return self._world_size

    def dataset_size(self) -> int:
        return self._order.range

    def seed(self) -> int:
        return seed_of(self._section)

    def order(self) -> str:
        return str(self._section["name"])

    def unit(self) -> int:
        return self._unit

    def layout(self) -> str:
        return self._layout

    # Draws

    def _has_epoch(self, epoch: int) -> bool:
        return self._order.begin(epoch + 1) <= MAX_SAMPLES and self._order.has_epoch(epoch)

    @cached_property
    def _epochs(self) -> int:
        """x, the number of epochs that can be used."""
        low, high = 0, 1
        while self._has_epoch(high - 1):
            low, high = high, 2 * high
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self._has_epoch(middle - 1) else (low, middle)
        return low

    @cached_property
    def _sizes(self) -> list[Size]:
        sizes = [Size(0, 0, self._steps["global_batch_size"])]
        for stage in self._steps.get("stages", []):
            start = stage["from"]
            sizes.append(Size(start, sizes[-1].begin(start), stage["global_batch_size"]))
        return sizes

    def _size_of(self, step: int) -> Size:
        return self._sizes[bisect_right(self._sizes, step, key=lambda size: size.start) - 1]

    def _size(self, step: int) -> int:
        """b, the batch size of a step."""
        return self._size_of(step).global_batch_size

    def _begin(self, step: int) -> int:
        """D, the draw with which a step begins."""
        return self._size_of(step).begin(step)

    def _step(self, draw: int) -> int:
        """The step of a draw, as if there were infinitely many draws."""
        size = self._sizes[bisect_right(self._sizes, draw, key=lambda size: size.draw) - 1]
        return size.start + (draw - size.draw) // size.global_batch_size

    @cached_property
    def _num_steps(self) -> int:
        # The steps end before the step of the first draw that does not exist. Its number is the number of steps.
        return self._step(self._order.begin(self._steps.get("epochs", self._epochs)))

    @property
    def _num_draws(self) -> int:
        return self._begin(self._num_steps)

    def _place(self, draw: int) -> EpochPosition:
        if draw == self._order.begin(self._epochs):
            return EpochPosition(self._epochs, 0)
        return EpochPosition(*self._order.find(draw))

    def _require_ranks(self, step: int) -> None:
        for size in self._sizes[self._sizes.index(self._size_of(step)) :]:
            fits = size.global_batch_size % (self._world_size * self._unit) == 0
            require(fits, "global_batch_size", size.global_batch_size, "contradiction")

    def _deal(self, step: int) -> Deal:
        turns = rotation(self.seed(), 0, self._world_size) if self._layout == "rotated" else None
        return Deal(self._begin(step), self._size(step), self._world_size, self._unit, self._layout, turns)

    def num_steps(self) -> int:
        return self._num_steps

    def global_batch_size(self, step: int) -> int:
        require(step < self._num_steps, "step", step)
        return self._size(step)

    def samples_consumed(self, step: int) -> int:
        require(step <= self._num_steps, "step", step)
        return self._begin(step)

    def begin_of(self, step: int) -> EpochPosition:
        require(step < self._num_steps, "step", step)
        return self._place(self._begin(step))

    def step_of_consumed(self, samples_consumed: int) -> int:
        require(samples_consumed < self._num_draws, "samples_consumed", samples_consumed)
        return self._step(samples_consumed)

    def step_of(self, epoch: int, position: int) -> int:
        require(self._has_epoch(epoch), "epoch", epoch)
        require(position < self._order.length(epoch), "position", position)
        draw = self._order.begin(epoch) + position
        require(draw < self._num_draws, "epoch", epoch)
        return self._step(draw)

    def indices(self, start: int, count: int) -> list[int]:
        require(start <= self._num_steps, "start", start)
        require(count <= self._num_steps - start, "count", count)
        samples = (self._begin(start + count) - self._begin(start)) // self._world_size
        require(samples <= MAX_WINDOW, "count", count)
        if count:
            self._require_ranks(start)
        return [
            self._order.sample(*self._order.find(draw))
            for step in range(start, start + count)
            for draw in self._deal(step).positions(self._rank)
        ]

    def step(self, step: int, first: int, count: int) -> list[int]:
        require(step < self._num_steps, "step", step)
        self._require_ranks(step)
        require_ranks(first, count, self._world_size, self._size(step) // self._world_size)
        deal = self._deal(step)
        ranks = range(first, first + count)
        return [self._order.sample(*self._order.find(draw)) for rank in ranks for draw in deal.positions(rank)]

    def locate(self, sample: int, step: int) -> StepPlace | None:
        require(sample < self._order.range, "sample", sample)
        require(step <= self._num_steps, "step", step)
        low = self._begin(step)
        if low == self._num_draws:
            return None
        end = self._num_draws
        if self._order.ends:
            end = min(end, self._order.begin(self._place(low).epoch + FAR_EPOCHS + 1))
        draw = self._order.first_draw(sample, low, end)
        if draw is None:
            return None
        at, found = self._place(draw), self._step(draw)
        self._require_ranks(found)
        return StepPlace(draw, at.epoch, at.position, found, *self._deal(found).place(draw))

    # States

    def state(self, step: int) -> str:
        require(step <= self._num_steps, "step", step)
        at = self._place(self._begin(step))
        recipe = {"order": self._section, "steps": self._steps}
        return write_state("schedule", recipe, at.epoch, consumed=at.position, step=step)

    def step_of_state(self, state: str) -> int:
        fields = read_text(state, "schedule")
        order, steps = (fields["recipe"].get(name, {}) for name in ("order", "steps"))
        epoch, consumed = fields["epoch"], fields["consumed"]
        if isinstance(self._order, Plain):
            compare(ORDER, self._section, order)
        else:
            goes_on(self._order, self._section, order, epoch, consumed)
        step: int = fields["step"]
        self._same_steps(steps, step)
        require(step <= self._num_steps, "step", step)
        at = self._place(self._begin(step))
        same = at == EpochPosition(epoch, consumed)
        require(same, "consumed", f"position {at.position} of epoch {at.epoch}", "contradiction")
        if step < self._num_steps:
            self._require_ranks(step)
        return step

    def _same_steps(self, there: Section, step: int) -> None:
        """Checks that earlier steps had the same batch sizes."""
        size = self._steps["global_batch_size"]
        require(step == 0 or there.get("global_batch_size") == size, "global_batch_size", size, "contradiction")
        ours = [stage for stage in self._steps.get("stages", []) if stage["from"] < step]
        theirs = [stage for stage in there.get("stages", []) if stage.get("from", 0) < step]
        for number in range(max(len(ours), len(theirs))):
            own, of_state = ours[number : number + 1], theirs[number : number + 1]
            told = "not as in the state at" if own and of_state else "with a new" if own else "without"
            require(own == of_state, "stages", f"{told} entry {number}", "contradiction")
