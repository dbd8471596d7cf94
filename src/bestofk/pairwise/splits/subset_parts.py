"""Losses of whole runs followed by those of runs on parts of the rows, taken apart again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bestofk.checks import Floats, whole
from bestofk.errors import ArgumentError
from bestofk.pairwise.differences import over_pairs, paired_losses

Kernel = Callable[[Floats, Floats, Floats], tuple[Floats, ...]]
Prepared = Callable[[Kernel, tuple[int, ...]], tuple[Floats, ...]]


def two_parts(
    a: Any, b: Any, *, runs: Any, folds: Any, subset_runs: Any, subset_folds: Any
) -> Prepared:
    """What applies a kernel to the differences of both parts.

    Parameters
    ----------
    a, b : array_like, shape (..., runs * folds + subset_runs * subset_folds)
        First the losses of every fold of every run, then those of the runs on parts of the rows.
    runs, folds, subset_runs, subset_folds : int
        The sizes of the two parts.

    Returns
    -------
    callable
        ``apply(kernel, units)`` calls ``kernel(whole, part, noise)`` with differences of shape
        (runs, folds, block) and (subset_runs, subset_folds, block); see `over_pairs`.
    """
    sizes = (
        whole(runs, "runs", at_least=1),
        whole(folds, "folds", at_least=2),
        whole(subset_runs, "the number of runs on parts of the rows", at_least=1),
        whole(subset_folds, "the folds of runs on parts of the rows", at_least=1),
    )
    split = sizes[0] * sizes[1]
    n = split + sizes[2] * sizes[3]
    a, b = paired_losses(a, b, axes=1, shape_words="(losses of both parts,)")
    if a.shape[-1] != n:
        raise ArgumentError(
            f"a must hold {split} losses of {sizes[0]} runs of {sizes[1]} folds and then "
            f"{n - split} of {sizes[2]} runs of {sizes[3]} folds on parts of the rows; got "
            f"{a.shape[-1]}."
        )

    def apply(kernel: Kernel, units: tuple[int, ...]) -> tuple[Floats, ...]:
        def of_both(d: Floats, noise: Floats) -> tuple[Floats, ...]:
            block = d.shape[1:]
            return kernel(
                d[:split].reshape(*sizes[:2], *block), d[split:].reshape(*sizes[2:], *block), noise
            )

        return over_pairs(a, b, of_both, axes=1, units=units)

    return apply


def variance_at_half(part: Floats) -> Floats:
    """Variance of a cross-validated mean difference on half of the rows.

    `part` is (2 * halvings, folds, ...), the two sides of a halving one after the other. The
    sides share no row, so half of their squared difference is unbiased.
    """
    sides = part.mean(axis=1)
    variance: Floats = (np.square(sides[0::2] - sides[1::2]) / 2.0).mean(axis=0)
    return variance


def corrected_variance(whole_runs: Floats) -> Floats:
    """The variance of the mean that Nadeau and Bengio's correction gives, by first two axes."""
    runs, folds = whole_runs.shape[:2]
    n = runs * folds
    s_squared = np.square(whole_runs - whole_runs.mean(axis=(0, 1))).sum(axis=(0, 1)) / (n - 1)
    corrected: Floats = (1.0 / n + 1.0 / (folds - 1)) * s_squared
    return corrected
