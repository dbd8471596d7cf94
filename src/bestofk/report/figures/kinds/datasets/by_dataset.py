"""The mean of every learner on every data set, as the figures over data sets take it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bestofk.checks import Floats
from bestofk.errors import ArgumentError
from bestofk.losses.metric import Metric
from bestofk.report.figures.captions import losses_of


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ByDataset:
    """Means of learners on data sets.

    Attributes
    ----------
    learners, datasets : tuple of str
    losses : (K, D) array
        Smaller is better; NaN where there is none.
    metric : Metric
        How a loss is shown.
    """

    learners: tuple[str, ...]
    datasets: tuple[str, ...]
    losses: Floats
    metric: Metric

    @property
    def behind(self) -> Floats:
        """(K, D): how far each learner is behind the best on each data set; 0 for the best."""
        found: Floats = self.losses - np.nanmin(self.losses, axis=0)
        return found


def by_dataset(value: Any, losses: Any, kind: str) -> ByDataset:
    """The means of learners on data sets that all of them have."""
    table = losses_of(value, losses)
    if table is None:
        raise ArgumentError(
            f"figure {kind!r}: a Losses or a Study is needed, or losses=; got "
            f"{type(value).__name__}."
        )
    if len(table.datasets) < 2:
        raise ArgumentError(
            f"figure {kind!r}: it compares learners over several data sets, and there is one: draw "
            "'losses' or 'matrix'."
        )
    values = table.values
    absent = np.isnan(values)
    count = (~absent).sum(axis=(2, 3, 4))
    total = np.where(absent, 0.0, values).sum(axis=(2, 3, 4))
    means = np.where(count > 0, total / np.maximum(count, 1), np.nan)
    whole = np.flatnonzero(np.isfinite(means).all(axis=0))
    if len(whole) < 2:
        raise ArgumentError(
            f"figure {kind!r}: fewer than two data sets have losses of all learners."
        )  # fmt: skip
    return ByDataset(
        learners=table.algorithms,
        datasets=tuple(table.datasets[d] for d in whole),
        losses=means[:, whole],
        metric=table.metric,
    )
