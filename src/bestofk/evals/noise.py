"""Noise of repeated runs: how much a score moves if a model answers the same items again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np

from bestofk._base.errors import ArgumentError
from bestofk._base.formatting import counted, joined, number, shortened
from bestofk._base.results import Presented
from bestofk.evals.item_scores import ItemScores, is_binary
from bestofk.stats.pairwise.clustered import clusters_of
from bestofk.stats.tails import normal_quantile

MAX_MODELS = 6
"""Models whose noise is listed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunNoise:
    """The noise of one model.

    - `name`: The model.
    - `sd`: Standard deviation of the mean score of one run, on the same items.
    - `flips`, `items`: Items whose score changed between runs, and items with several runs.
    - `flip_rate`: Share of items whose answer changes between right and wrong from one run to
      another, estimated from all pairs of runs; None for other scores.
    """

    name: str
    sd: float
    flips: int
    items: int
    flip_rate: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Noise(Presented):
    """How much of the scores is noise between runs.

    - `models`: The noise of each model.
    - `pair`: The two models of the next numbers, or one model.
    - `difference`: Single runs of these two, or two runs of that one, differ by less than this in
      95 percent of cases if nothing but noise makes them differ.
    - `more_epochs`, `more_items`: That many more runs of all items narrow the interval of the
      difference (of the mean of one model) as much as that many more items.
    - `answers`: The answers of a model that each of these two needs.
    - `in_points`: Whether the scores lie between 0 and 1.
    """

    models: tuple[RunNoise, ...]
    pair: tuple[str, ...]
    difference: float
    more_epochs: int
    more_items: int
    answers: tuple[int, int]
    in_points: bool

    def explain(self) -> str:
        """Return how much is noise, in sentences."""
        if not any(one.sd for one in self.models):
            return "Repeated runs gave the same scores."
        first, *others = self.models
        moves = [f"of {first.name} moves by {self._amount(first.sd)}"]
        moves += [f"one of {one.name} by {self._amount(one.sd)}" for one in others]
        flips = [f"{one.flips} of {one.items:,} ({one.name})" for one in self.models]
        each = " each" if len(self.models) > 1 else ""
        epochs, items = (f"{count:,} answers{each}" for count in self.answers)
        return (
            f"One run {shortened(moves, MAX_MODELS)} (standard deviation). Two single runs of "
            f"{joined(self.pair)} must differ by {self._amount(self.difference)} before you can "
            f"believe it. Items whose score changed between runs: {shortened(flips, MAX_MODELS)}. "
            f"Another {counted(self.more_epochs, 'epoch')} ({epochs}) would narrow the "
            f"interval as much as {counted(self.more_items, 'more item')} ({items})."
        )

    def _amount(self, value: float) -> str:
        return f"{100 * value:.1f} points" if self.in_points else number(value)


def noise_of(scores: ItemScores, pair: Sequence[str] = ()) -> Noise:
    """Return the noise between the epochs of an item.

    - `scores`: Scores by item, all with the number of their epochs.
    - `pair`: One model, or two to compare; by default the first model.

    Notes
    -----
    A run has one answer to each of n items. With the variance s_i^2 between the answers to item i,
    the variance of its mean is sum s_i^2 / n^2. Two answers that are right or wrong differ with
    probability 2 s_i^2. More epochs divide the s_i^2 in the squared standard error of the
    difference, more items divide all of it.
    """
    rows, binary = [], is_binary(scores)
    for k, name in enumerate(scores.learners):
        several = scores.count[k] > 1
        if not several.any():
            raise ArgumentError(
                f"The noise needs two or more runs (epochs) of an item; {name!r} has one of each."
            )
        variance = scores.variance[k, several]
        rows.append(
            RunNoise(
                name=name,
                sd=sqrt(float(variance.mean()) / int((scores.count[k] > 0).sum())),
                flips=int((variance > 1e-12).sum()),
                items=int(several.sum()),
                flip_rate=float(2.0 * variance.mean()) if binary else None,
            )
        )
    pair = tuple(pair) or (scores.learners[0],)
    at = [scores.learners.index(name) for name in pair]
    z = -float(normal_quantile(0.025))
    both = [rows[k].sd for k in (at * 2)[:2]]
    common = np.asarray((scores.count[at] > 0).all(axis=0))
    part = scores.only_items(common)
    count, items = part.count[at], len(part.items)
    epochs = max(round(float(count.mean())), 1)
    d = part.mean[at[0]] - (part.mean[at[1]] if len(at) > 1 else 0.0)
    grouping = clusters_of(part.cluster, items, part.task)
    error, _ = grouping.standard_error(grouping.totals(d))
    within, less = (
        sum(
            float((rows[k].sd ** 2 * (scores.count[k] > 0).sum() / (count[j] + more)).mean())
            for j, k in enumerate(at)
        )
        / items
        for more in (0, epochs)
    )
    squared = max(float(error) ** 2, within)
    more_items = round(items * (squared / (squared - within + less) - 1.0)) if squared else 0
    low, high = float(np.nanmin(scores.mean)), float(np.nanmax(scores.mean))
    return Noise(
        models=tuple(rows),
        pair=pair,
        difference=z * sqrt(both[0] ** 2 + both[1] ** 2),
        more_epochs=epochs,
        more_items=more_items,
        answers=(epochs * items, epochs * more_items),
        in_points=low >= 0.0 and high <= 1.0,
    )
