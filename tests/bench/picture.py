"""Pictures of the figures of batches."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from figures import correlation

if TYPE_CHECKING:
    from batching import Case, Result

LEFT_OUT = {
    "samedeal bucket (64 wide)",
    "samedeal budget, batch_window=2,000",
    "samedeal budget, batch_window=20,000",
    "samedeal bucket, quantiles=30, budget",
    "samedeal pack, whole window",
    "Lhotse DynamicBucketingSampler, 10 buckets",
}
"""Contestants that the tables show and the pictures leave out."""
COLOURS = {"tokens": "#2f6db3", "padding": "#e3a13c", "waiting": "#bbbbbb"}


def draw(results: list[tuple[Case, list[Result]]], path: Path) -> None:
    """Draws the lengths of samples, the tokens that ranks compute for each token, and the mean lengths of consecutive
    batches."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "samedeal"
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(3, 2, figsize=(13, 10.5), layout="constrained", height_ratios=(1, 3, 1.3))
    several = [result for result in results if result[0].task.world_size > 1][:2]
    for column, (case, found) in enumerate(several):
        most = int(case.task.lengths.max())
        axes[0][column].hist(case.task.lengths, bins=range(0, most + 2, max(1, most // 90)), color=COLOURS["tokens"])
        axes[0][column].set_title(case.title, fontsize=10, loc="right")
        axes[0][column].set(xlabel="length of a sample", ylabel="samples")
        bars(axes[1][column], case, [result for result in found if result.contestant.name not in LEFT_OUT])
    case, found = results[0]
    for panel, name in zip(
        axes[2], ("transformers LengthGroupedSampler", "samedeal bucket, quantiles=30"), strict=True
    ):
        (means,) = (result.means for result in found if result.contestant.name == name)
        panel.plot(means[:400], linewidth=0.6, color="black")
        panel.set_title(f"{name}: neighbours {correlation(means):+.2f}", fontsize=10, loc="right")
        panel.set(xlabel="batch (verses, 1 rank)", ylabel="mean length")
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_suffix(".new.svg")
    figure.savefig(temporary, metadata={"Date": None})
    temporary.rename(path)


def bars(panel: Any, case: Case, results: list[Result]) -> None:
    """Draws, for each token: the token itself, its padding, and the time that other ranks wait, in tokens."""
    names = [result.contestant.name for result in results]
    places = np.arange(len(results))
    tokens = [1.0] * len(results)
    padding = [result.mean("padded") / result.mean("tokens") - 1 for result in results]
    waiting = [
        (case.task.world_size * result.mean("slowest") - result.mean("padded")) / result.mean("tokens")
        for result in results
    ]
    left = np.zeros(len(results))
    for name, share in {"tokens": tokens, "padding": padding, "waiting": waiting}.items():
        panel.barh(places, share, left=left, color=COLOURS[name], label=name)
        left += share
    for place, total in zip(places, left, strict=True):
        panel.text(total + 0.03, place, f"{total:.2f}", va="center", fontsize=8)
    panel.set_yticks(places, names, fontsize=8)
    for label, name in zip(panel.get_yticklabels(), names, strict=True):
        label.set_fontweight("bold" if name.startswith("samedeal ") else "normal")
    panel.invert_yaxis()
    panel.set(xlabel="what all ranks compute, or wait for, for each token", xlim=(0, float(left.max()) * 1.1))
    panel.legend(loc="lower right")
