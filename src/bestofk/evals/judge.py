"""Human labels for some of the items that a judge scored."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import sqrt
from typing import Any

import numpy as np

from bestofk._base.checks import Bools, Floats
from bestofk._base.errors import ArgumentError, TableError
from bestofk._base.formatting import interval_words, number, rounded, shortened
from bestofk._base.results import Presented
from bestofk.decide.choose_test import Choice
from bestofk.evals.evals import Evals
from bestofk.evals.item_scores import ItemScores
from bestofk.losses.losses import Scores
from bestofk.stats.pairwise.clustered import clusters_of
from bestofk.stats.pairwise.judge_correction import MIN_LABELLED, prediction_powered
from bestofk.stats.pairwise.registry import LABELLED_TESTS
from bestofk.stats.tails import pvalue_of_t, t_quantile

MAX_JUDGED = 6
"""Models whose agreement with the judge is listed."""
FEW_LABELS = 50
"""Fewest labelled items of `studies/judge_claims.py`."""
UNLIKELY_SAMPLE = 0.01
"""If the p-value is smaller, the labelled items do not look like a random sample."""
SMALLEST_WEIGHT = 1e-13
"""Weight of a judge that says nothing about the labels, so that its scores stay readable."""


def with_truth(evals: Evals, labels: Evals) -> Evals:
    """Return the logs with the human labels of another reading, matched by model, task and item."""
    row_of = {name: row for row, name in enumerate(labels.models)}
    codes = zip(labels.item_task.tolist(), labels.items, strict=True)
    column_of = {(labels.tasks[task], name): at for at, (task, name) in enumerate(codes)}
    rows = [row_of.get(name, -1) for name in evals.models]
    names = zip(evals.item_task.tolist(), evals.items, strict=True)
    columns = [column_of.get((evals.tasks[task], name), -1) for task, name in names]
    # the last row and column stand for models and items without labels
    mean = np.pad(labels.by_item(missing="allow").mean, (0, 1), constant_values=np.nan)
    truth = mean[np.ix_(rows, columns)]
    if not np.isfinite(truth).any():
        raise TableError(f"No answer has a label: {labels.metric!r} is empty for all models.")
    return replace(evals, truth=truth, truth_name=labels.metric)


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeBias:
    """A judge and the human labels on the answers of one model.

    - `name`: The model.
    - `agreement`: Share of labelled items with the same score.
    - `bias`, `low`, `high`: Mean score of the judge minus mean label, and its 95 % interval.
    """

    name: str
    agreement: float
    bias: float
    low: float
    high: float

    def bias_words(self) -> str:
        """Return ``0.05 (0.02 to 0.08)``."""
        bias = rounded([self.bias], (self.high - self.low) / 2)[0]
        return f"{bias} ({interval_words(self.low, self.high) or bias})"


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeCheck(Presented):
    """The agreement and the bias of a judge, measured by human labels.

    - `truth`: The name of the labels.
    - `labelled`, `items`: Items with labels of all models, and all items.
    - `models`: One for each model; empty if judge and labels have different scales.
    - `means`: Mean score of the judge on labelled items and on the others; NaN if there are no
      others.
    - `pvalue`: Of the hypothesis that these two means are equal, as for a random sample of items.
    """

    truth: str
    labelled: int
    items: int
    models: tuple[JudgeBias, ...]
    means: tuple[float, float]
    pvalue: float

    def explain(self) -> str:
        """Return what the labels show about the judge, in sentences."""
        head = (
            f"{self.labelled:,} of {self.items:,} items have human labels ({self.truth}), which "
            "correct the judge's bias (PPI++) if they are a random sample."
        )
        if self.labelled == self.items:
            head = f"All {self.items:,} items have human labels, so the judge does not count."
        if not self.models:
            return head
        agreeing = [f"{one.name} {100 * one.agreement:.0f} %" for one in self.models]
        biases = [f"{one.name} {one.bias_words()}" for one in self.models]
        return (
            f"{head} Judge and labels agree: {shortened(agreeing, MAX_JUDGED)}. Mean score of the "
            f"judge minus the label: {shortened(biases, MAX_JUDGED)}."
        )

    def cautions(self) -> list[str]:
        """Return what speaks against the labels, in sentences."""
        sentences = []
        if self.labelled < min(FEW_LABELS, self.items):
            sentences.append(
                f"Only {self.labelled} items have human labels: error rates were measured for "
                f"{FEW_LABELS} and more."
            )
        if self.pvalue < UNLIKELY_SAMPLE:
            labelled, others = self.means
            sentences.append(
                "The labelled items do not look like a random sample: the judge's mean score is "
                f"{number(labelled)} on them and {number(others)} on the others. The result holds "
                "only for items like the labelled ones; label random items."
            )
        return sentences


def labelled_items(scores: ItemScores) -> Bools:
    """Return which items have labels of all models; raise if these are too few."""
    truth = scores.mean if scores.truth is None else scores.truth
    has: Bools = np.isfinite(truth)
    labelled: Bools = np.all(has, axis=0)
    count = int(has.any(axis=0).sum())
    clusters = len(np.unique(scores.cluster[labelled]))
    if clusters >= MIN_LABELLED:
        return labelled
    without = [name for row, name in enumerate(scores.models) if not has[row].any()]
    if without:
        raise ArgumentError(
            f"No answer of {shortened(without, 4)} has a human label, so the judge cannot be "
            "checked on that model; label the same items for all models, or leave it out."
        )
    unit = "clusters of items" if scores.clusters else "items"
    raise ArgumentError(
        f"Only {clusters} {unit} have human labels of all models ({count} items have a label of "
        f"some model); label at least {MIN_LABELLED} random {unit} for all models."
    )


def judge_check(scores: ItemScores, truth_name: str) -> JudgeCheck:
    """Compare the judge with the labels, model by model."""
    known = labelled_items(scores)
    judge, human = scores.mean, scores.truth[:, known]  # type: ignore[index]
    grouping = clusters_of(scores.cluster[known], int(known.sum()))
    models = []
    for name, f, y in zip(scores.models, judge[:, known], human, strict=True):
        d = f - y
        error, df = grouping.standard_error(grouping.totals(d))
        half = float(-t_quantile(0.025, float(df)) * error)
        models.append(
            JudgeBias(
                name=name,
                agreement=float((np.abs(d) <= 1e-9).mean()),
                bias=float(d.mean()),
                low=float(d.mean()) - half,
                high=float(d.mean()) + half,
            )
        )
    item = judge.mean(axis=0)
    means, pvalue = (float(item[known].mean()), float("nan")), 1.0
    if not known.all():
        means, pvalue = _sampled(item, known, scores.cluster)
    return JudgeCheck(
        truth=truth_name,
        labelled=int(known.sum()),
        items=len(known),
        models=tuple(models) if _same_scale(judge, human) else (),
        means=means,
        pvalue=pvalue,
    )


def _same_scale(judge: Floats, human: Floats) -> bool:
    """Return whether judge and labels have similar ranges, so that their difference is a bias."""
    ends = [(float(x.min()), float(x.max())) for x in (judge, human)]
    if all(low >= 0.0 and high <= 1.0 for low, high in ends):
        return True
    widths = [high - low for low, high in ends]
    unit = any(low >= 0.0 and high <= 1.0 for low, high in ends)
    return not unit and max(widths) <= 2.0 * min(widths)


def _sampled(item: Floats, known: Bools, cluster: Any) -> tuple[tuple[float, float], float]:
    """Return the means on labelled and other items, and the p-value of their difference."""
    parts = []
    for mask in (known, ~known):
        grouping = clusters_of(cluster[mask], int(mask.sum()))
        spread, df = grouping.standard_error(grouping.totals(item[mask]))
        parts.append((float(item[mask].mean()), float(spread), float(df)))
    (a, error_a, units), (b, error_b, _) = parts
    error = sqrt(error_a**2 + error_b**2)
    p = float(pvalue_of_t((a - b) / error, units, "two-sided")) if 0.0 < error < np.inf else 1.0
    return (a, b), p


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LabelledTest:
    """The prediction-powered test for a table of `labelled_losses`."""

    labelled: Bools = field(repr=False)
    clusters: Any = field(repr=False)
    unit: float

    def choice(self) -> Choice:
        """Return the test for a decision."""
        reason = "chosen because people labelled some of the items that the judge scored"
        entry = LABELLED_TESTS["prediction-powered"]
        return Choice(name=entry.name, function=self, axes=2, chosen=reason, entry=entry)

    def __call__(self, a: Any, b: Any, *, alternative: str = "two-sided") -> Any:
        """Return the result for rows of the table, of shape (..., 1, N + n)."""
        rows = [np.asarray(x).reshape(*np.shape(x)[:-2], np.shape(x)[-1]) for x in (a, b)]
        N, n = len(self.labelled), int(self.labelled.sum())
        judge = [row[..., :N] * (N / (N + n)) for row in rows]
        truth: Any = tuple(
            row[..., N:] * (n / (N + n)) + f[..., self.labelled]
            for row, f in zip(rows, judge, strict=True)
        )
        return prediction_powered(
            *judge, truth=truth, labelled=self.labelled, clusters=self.clusters, unit=self.unit,
            alternative=alternative,
        )  # fmt: skip


def labelled_losses(scores: ItemScores, weights: Any) -> tuple[Scores, LabelledTest]:
    """Return a table for `decide`, and the test that reads it.

    A row has the judge's scores of all N items, and human minus judge of the n labelled items. Both
    parts are scaled so that the mean of the row is the prediction-powered mean of the model. The
    judge's scores have one weight for all models; `LabelledTest` finds the best weight for each
    pair. `weights` are those of the items.
    """
    known = labelled_items(scores)
    labels = scores.truth[:, known]  # type: ignore[index]
    judge, human = scores.mean * weights, labels * weights[known]
    in_unit = labels.min() >= 0.0 and labels.max() <= 1.0
    unit = float(weights.max()) * (1.0 if in_unit else float(np.ptp(labels)) or 1.0)
    test = LabelledTest(labelled=known, clusters=scores.cluster, unit=unit)

    def rows(weight: float) -> Floats:
        f = weight * judge
        N, n = f.shape[1], human.shape[1]
        parts = [f * ((N + n) / N), (human - f[:, known]) * ((N + n) / n)]
        return np.concatenate(parts, axis=1)

    tables = [rows(weight) for weight in (_common_weight(judge[:, known], human), SMALLEST_WEIGHT)]
    pairs = tables[0][:-1, np.newaxis], tables[0][1:, np.newaxis]
    estimate = np.asarray(test(*pairs).estimate)
    # the means that agree best with the differences between the models
    gaps = [np.square(-np.diff(table.mean(axis=1)) - estimate).sum() for table in tables]
    table = Scores(
        tables[int(gaps[1] < gaps[0])][:, np.newaxis],
        dims=("learner", "dataset", "instance"),
        learners=scores.models,
        datasets=scores.tasks if len(scores.tasks) == 1 else [f"{len(scores.tasks)} tasks"],
        higher_is_better=scores.higher_is_better,
        loss_name=scores.metric,
        account=scores.notes,
    )
    return table, test


def _common_weight(judge: Floats, human: Floats) -> float:
    """Return the slope of the labels on the judge's scores, of differences between models."""
    f, y = (x - x.mean(axis=0) for x in (judge, human))
    f, y = (x - x.mean(axis=1, keepdims=True) for x in (f, y))
    squares = float(np.square(f).sum())
    slope = float((f * y).sum()) / squares if squares > 0.0 else 0.0
    return slope if abs(slope) > SMALLEST_WEIGHT else SMALLEST_WEIGHT
