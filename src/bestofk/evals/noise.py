"""Noise of repeated runs: how much a score moves if a model answers the same items again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np

from bestofk._base.errors import ArgumentError
from bestofk._base.formatting import counted, joined, number
from bestofk._base.results import Presented
from bestofk.evals.item_scores import ItemScores, is_binary
from bestofk.stats.pairwise.clustered import clusters_of
from bestofk.stats.tails import normal_quantile

MAX_MODELS = 3
"""Models whose noise is listed; of more, that of the recommended one and a range."""


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
        groups = [(one.name, [one]) for one in self.models]
        if len(groups) > MAX_MODELS:
            chosen = [one for one in self.models if one.name == self.pair[0]]
            others = [one for one in self.models if one.name != self.pair[0]]
            groups = [(self.pair[0], chosen), ("the others", others)]
        moves = [f"{self._range([one.sd for one in group])} ({name})" for name, group in groups]
        moves[0] = moves[0].replace(" (", f"{self._unit} (", 1)
        flips = [_span([str(n) for n in sorted(one.flips for one in group)]) for _, group in groups]
        items = _span([f"{n:,}" for n in sorted(one.items for one in self.models)])
        plural = "s" if len(self.models) > 1 else ""
        helps = "helps" if self.more_epochs == 1 else "help"
        return (
            f"One run moves by {joined(moves)[:-1]}; standard deviation{plural}). Two runs of "
            f"{joined(self.pair)} must differ by {self._range([self.difference])}{self._unit} to "
            f"exceed the noise. {joined(flips)} of {items} items changed. "
            f"{counted(self.more_epochs, 'more epoch')} {helps} as much as "
            f"{counted(self.more_items, 'more item')}."
        )

    @property
    def _unit(self) -> str:
        return " points" if self.in_points else ""

    def _range(self, values: Sequence[float]) -> str:
        return _span([f"{100 * v:.1f}" if self.in_points else number(v) for v in sorted(values)])


def _span(sorted_numbers: Sequence[str]) -> str:
    """Return the first and the last number, or one number if they are the same."""
    return " to ".join(dict.fromkeys((sorted_numbers[0], sorted_numbers[-1])))


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
    for k, name in enumerate(scores.models):
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
    pair = tuple(pair) or (scores.models[0],)
    at = [scores.models.index(name) for name in pair]
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
