"""One variance factor for all pairs of a study, from halves of the rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from bestofk.pairwise.differences import paired_losses
from bestofk.pairwise.splits.subset_parts import corrected_variance, variance_at_half


def study_factor(losses: Any, halves: Any) -> float:
    """How much larger than the corrected variance that from halves of the rows is, over all pairs.

    Parameters
    ----------
    losses : array_like, shape (K, runs, folds)
        Losses of K learners on all rows.
    halves : array_like, shape (K, 2 * halvings, half_folds)
        Losses of the same learners on the halves, the two sides of a halving one after the other.

    Returns
    -------
    float
        The mean over all pairs of half the variance on half of the rows, divided by the mean
        corrected variance; 1 where both are 0.

    Examples
    --------
    >>> losses = [[[0.30, 0.25], [0.27, 0.29]], [[0.26, 0.24], [0.25, 0.26]]]
    >>> halves = [[[0.35, 0.33], [0.30, 0.36]], [[0.26, 0.32], [0.30, 0.30]]]
    >>> round(study_factor(losses, halves), 4)
    0.48
    """
    first, second = paired_losses(losses, losses, axes=2)
    part = paired_losses(halves, halves, axes=2)[0]
    i, j = np.triu_indices(len(first), 1)
    corrected = corrected_variance(np.moveaxis(first[i] - second[j], 0, -1)).mean()
    halved = variance_at_half(np.moveaxis(part[i] - part[j], 0, -1)).mean() / 2.0
    if corrected == 0.0:
        return 1.0
    return max(float(halved / corrected), np.finfo(np.float64).tiny)
