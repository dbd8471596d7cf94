"""Welch's t tests for independent training runs of two learners."""

from __future__ import annotations

from typing import Any

import numpy as np

from bestofk._base.checks import Alternative, Floats, refuse, refuse_named_table, side
from bestofk._base.errors import ArgumentError
from bestofk.stats.pairwise.differences import refuse_extreme_losses, resolution_step, widening
from bestofk.stats.pairwise.result import PairwiseResult
from bestofk.stats.pairwise.skew_corrected import mean_result


def welch_t(
    a: Any, b: Any, *, alternative: str = "two-sided", resolution: float | None = None
) -> PairwiseResult:
    """Welch's t test for independent training runs of two learners.

    Test the null hypothesis that the two learners have the same expected loss on one test set,
    over the randomness of their training (``alternative="greater"``: that the loss of `a` is at
    most that of `b`). The runs are not paired, and the variances may differ.

    Parameters
    ----------
    a, b : array_like, shape (..., n)
        Losses of the runs, at least 2 of each learner; NaN stands for no run. Leading axes
        broadcast.
    alternative : {"two-sided", "greater", "less"}
        ``"greater"``: the loss of `a` is greater.
    resolution : float, optional
        The step r of which all losses are multiples, such as 1 / n_test for error rates. None: the
        step is unknown and adds no variance.

    Returns
    -------
    PairwiseResult
        `statistic` is t; `df` is None if the pairs have different degrees of freedom. If all runs
        have the same loss, p = 1.

    Notes
    -----
    With means m, unbiased variances S^2 and numbers of runs n::

        t = (m_a - m_b) / se,    se^2 = v_a + v_b + 2 (r / n_a)^2 + 2 (r / n_b)^2,    v = S^2 / n

    and the degrees of freedom (v_a + v_b)^2 / (v_a^2 / (n_a - 1) + v_b^2 / (n_b - 1)). The terms
    with r allow for coarse losses, as in `paired_t`. Without a resolution, runs of each learner
    that are all equal show no randomness: p is then that of the most extreme of all
    C(n_a + n_b, n_a) assignments of the runs to the learners.

    References
    ----------
    B. L. Welch (1947). The generalization of Student's problem when several different population
    variances are involved. Biometrika 34, 28-35. doi:10.2307/2332510

    Examples
    --------
    >>> r = welch_t([0.21, 0.24, 0.22, 0.23, 0.20], [0.18, 0.19, 0.21])
    >>> round(r.statistic, 4), round(r.pvalue, 4)
    (2.3591, 0.0709)
    """
    return _welch(a, b, alternative, resolution, corrected=False)


def skew_corrected_welch_t(
    a: Any,
    b: Any,
    *,
    alternative: str = "two-sided",
    resolution: float | None = None,
    widened: float = 1.0,
) -> PairwiseResult:
    """Welch's t test for independent training runs, corrected for skewness.

    The hypotheses are those of `welch_t`. The losses of the runs may be skewed.

    Parameters
    ----------
    a, b : array_like, shape (..., n)
        Losses of the runs, as for `welch_t`.
    alternative : {"two-sided", "greater", "less"}
        ``"greater"``: the loss of `a` is greater.
    resolution : float, optional
        As for `welch_t`.
    widened : float
        As for `skew_corrected_t`.

    Returns
    -------
    PairwiseResult
        `statistic` is compared with t with the degrees of freedom of `welch_t`. The interval
        contains the differences that the test does not reject.

    Notes
    -----
    With t and se of `welch_t`, and G S^3 the bias-corrected third cumulant of the runs of a
    learner (0 for two runs), the skewness of the difference of the means is::

        g = (G_a S_a^3 / n_a^2 - G_b S_b^3 / n_b^2) / se^3

    Hall's statistic is ``h = t + g t^2 / 3 + g^2 t^3 / 27 + g / 6``. The statistic is t or h,
    whichever is closer to 0, and 0 if their signs differ, as for `skew_corrected_t`.

    References
    ----------
    X.-H. Zhou and P. Dinh (2005). Nonparametric confidence intervals for the one- and two-sample
    problems. Biostatistics 6, 187-200. doi:10.1093/biostatistics/kxi002

    Examples
    --------
    >>> r = skew_corrected_welch_t([0.21, 0.22, 0.22, 0.23, 0.42], [0.18, 0.19, 0.21])
    >>> round(r.statistic, 4), round(r.pvalue, 4)
    (1.6227, 0.1738)
    >>> low, high = r.confidence_interval(0.95)
    >>> round(low, 3), round(high, 3)
    (-0.044, 0.359)
    """
    return _welch(a, b, alternative, resolution, corrected=True, factor=widening(widened))


def _welch(
    a: Any,
    b: Any,
    alternative: str,
    resolution: float | None,
    *,
    corrected: bool,
    factor: float = 1.0,
) -> PairwiseResult:
    from scipy.special import comb

    sides: Alternative = side(alternative)
    step = resolution_step(resolution)
    first, second = _runs(a, "a"), _runs(b, "b")
    try:
        np.broadcast_shapes(first.shape[:-1], second.shape[:-1])
    except ValueError:
        raise ArgumentError(
            f"a and b must have leading axes that broadcast; got the shapes {first.shape} and "
            f"{second.shape}."
        ) from None
    refuse_extreme_losses(*(np.nan_to_num(x) for x in (first, second)))
    (mean_a, v_a, cubes_a, n_a), (mean_b, v_b, cubes_b, n_b) = _moments(first), _moments(second)
    estimate = mean_a - mean_b
    scale = np.maximum(np.abs(mean_a), np.abs(mean_b))
    estimate = np.where(np.abs(estimate) <= 1e-13 * scale, 0.0, estimate)
    coarse = np.sqrt(2.0) * step * np.hypot(1.0 / n_a, 1.0 / n_b)
    se = np.hypot(np.sqrt(v_a + v_b), coarse)
    with np.errstate(divide="ignore", invalid="ignore"):
        df = (v_a + v_b) ** 2 / (v_a**2 / (n_a - 1) + v_b**2 / (n_b - 1))
        skewness = np.where(se > 0, (cubes_a - cubes_b) / se**3, 0.0) if corrected else 0.0 * se
    error = factor * se
    df = np.where(np.isfinite(df), df, np.minimum(n_a, n_b) - 1.0)
    estimate, error, df = np.broadcast_arrays(estimate, error, df)
    fewest = (2.0 if sides == "two-sided" else 1.0) / comb(n_a + n_b, n_a)
    same = first.shape[-1] == second.shape[-1] and np.all(
        (first == second) | (np.isnan(first) & np.isnan(second)), axis=-1
    )
    return mean_result(
        "skew-corrected-welch-t" if corrected else "welch-t",
        (first, second),
        estimate,
        error,
        df,
        sides,
        count=1.0,
        skewness=skewness,
        least=np.minimum(fewest, 1.0),
        identical=same | ((error == 0) & (estimate == 0)),
    )


def _runs(value: Any, name: str) -> Floats:
    """Return the losses of at least 2 runs; NaN stands for no run."""
    refuse_named_table(value, name)
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise refuse(name, "an array of numbers", value) from None
    if array.ndim < 1 or np.isinf(array).any():
        raise refuse(name, "an array of finite losses", value)
    if (np.isfinite(array).sum(axis=-1) < 2).any():
        raise ArgumentError(f"{name} must hold at least 2 runs of each learner.")
    return array


def _moments(x: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Return the mean, its variance and third cumulant, and the number of runs (last axis)."""
    count = np.isfinite(x).sum(axis=-1).astype(np.float64)
    mean = np.nansum(x, axis=-1) / count
    centred = x - mean[..., np.newaxis]
    variance = np.nansum(np.square(centred), axis=-1) / (count - 1)
    variance = np.where(variance <= np.square(1e-13 * np.abs(mean)), 0.0, variance)
    cubes = np.nansum(centred * np.square(centred), axis=-1) / count
    # the bias correction of the sample skewness
    cubes = cubes * count**2 / np.maximum((count - 1) * (count - 2), 1.0)
    cubes = np.where((count > 2) & (variance > 0), cubes, 0.0)
    return mean, variance / count, cubes / count**2, count
