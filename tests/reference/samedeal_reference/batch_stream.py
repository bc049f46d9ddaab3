"""Batches of samples whose lengths arrive one after the other: section 9, "Results"."""

from __future__ import annotations

from dataclasses import replace

from .base import MAX_SAMPLES, require
from .batch_items import Item, require_room, treat
from .batch_plan import Window
from .batch_recipes import BatchRecipe
from .batch_results import Metrics, Run, ratio, require_ratio, run_of
from .batches import is_last, planned

MAX_WAITING = 2**24
WIDTH = 64


class BatchStream:
    def __init__(self, recipe: BatchRecipe, epoch: int, rank: int) -> None:
        config = replace(recipe.config(epoch), sample=None)
        require(config.quantiles == 0, "quantiles", config.quantiles, "contradiction")
        require(config.batch_window <= MAX_WAITING, "batch_window", config.batch_window)
        require(rank < config.world_size, "rank", rank)
        if config.boundaries is None and not config.bucket_width:
            config = replace(config, bucket_width=WIDTH)
        self._config, self._rank = config, rank
        self._metrics = Metrics()
        self._waiting: list[Item] = []
        self._begin = 0
        """Number of samples in earlier windows."""
        self._ended = False

    def push(self, samples: list[int], lengths: list[int]) -> None:
        require(len(samples) == len(lengths), "lengths", None, "contradiction")
        for sample in samples:
            require(sample <= MAX_SAMPLES, "samples", sample)
        require(not self._ended, "samples", None, "contradiction")
        items = [Item(sample, 0, length) for sample, length in zip(samples, lengths, strict=True)]
        over = [item for item in items if item.length > self._config.longest]
        if over:
            require_room(self._config, over)
        self._waiting += items

    def flush(self) -> None:
        self._ended = True

    def take(self) -> Run | None:
        config = self._config
        while self._waiting:
            last = is_last(len(self._waiting), config.width)
            if last and not self._ended:
                break
            own = self._waiting if last else self._waiting[: config.width]
            items, over = treat(config, own)
            window = planned(config, Window(config, items, self._begin))
            self._metrics.add(window.metrics)
            self._metrics.add_long(config, over)
            self._begin += len(own)
            self._waiting = self._waiting[len(own) :]
            if window.steps:
                return run_of(config, [step[self._rank] for step in window.steps])
        return None

    def metrics(self) -> Metrics:
        return replace(self._metrics)

    def ratio(self, name: str) -> int:
        require_ratio(name)
        return ratio(self._config, self._metrics, name)
