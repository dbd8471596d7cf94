"""Bayesian tests with a region of practical equivalence: correlated t and signed rank."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from bestofk._base.checks import (
    Alternative,
    Floats,
    RandomState,
    at_least_zero,
    generator,
    positive,
    refuse,
    side,
    whole,
)
from bestofk._base.errors import ArgumentError
from bestofk._base.results import open_level
from bestofk.stats.pairwise.differences import (
    least_variance,
    moments_of,
    over_pairs,
    paired_losses,
    ratio,
    resolution_step,
)
from bestofk.stats.pairwise.resampled import rows_ratio
from bestofk.stats.pairwise.result import (
    FloatOrArray,
    PairwiseResult,
    comparison,
    scalar_or_array,
    two_names,
)
from bestofk.stats.pairwise.signed_ranks import doubled_midranks
from bestofk.stats.tails import t_sf


class Probabilities(NamedTuple):
    """Three posterior probabilities about two learners, which add up to 1.

    Attributes
    ----------
    a_better, equivalent, b_better : float or ndarray
        Probability that the loss of `a` is smaller by more than the region of practical
        equivalence, that the two are equivalent, and that the loss of `b` is smaller.
    """

    a_better: FloatOrArray
    equivalent: FloatOrArray
    b_better: FloatOrArray


@dataclass(frozen=True, slots=True, kw_only=True)
class PosteriorResult(PairwiseResult):
    """Posterior probabilities about two learners, in addition to the fields of `PairwiseResult`.

    Attributes
    ----------
    left, rope, right : float or ndarray
        Probability that the loss of `a` is smaller than that of `b` by more than the region of
        practical equivalence, that the two are equivalent, and that the loss of `a` is larger.
    rope_width : float
        Half the width of the region: differences from -rope_width to rope_width.
    pvalue : float or ndarray
        Replaces a p-value in rules: 1 - right (``"greater"``), 1 - left (``"less"``), or
        twice the smaller of the two, at most 1 (``"two-sided"``). It is a posterior probability
        and does not control an error rate.
    """

    left: FloatOrArray
    rope: FloatOrArray
    right: FloatOrArray
    rope_width: float

    @property
    def probabilities(self) -> Probabilities:
        """Probabilities that `a` is better, that both are equivalent, and that `b` is better."""
        return Probabilities(self.left, self.rope, self.right)

    def _columns(self) -> dict[str, Any]:
        """Return one row per comparison."""
        probabilities = {
            name: np.broadcast_to(np.asarray(p, dtype=float), np.shape(self.pvalue)).ravel()
            for name, p in self.probabilities._asdict().items()
        }
        # super() without arguments fails in a dataclass with slots
        return {**PairwiseResult._columns(self), **probabilities}

    def explain(self, *, names: Sequence[str] | None = None, alpha: float | None = None) -> str:
        """Describe the result in sentences, ready to print.

        Parameters
        ----------
        names : two str, optional
            Names of the two learners; ``a`` and ``b`` by default.
        alpha : float, optional
            A statement counts as decided if its probability is at least 1 - alpha; 0.05 by
            default.
        """
        a, b = two_names(names)
        alpha = open_level(alpha)
        if np.ndim(self.pvalue):
            return _explain_many(self, a, b, alpha)
        first = comparison(a, b, float(self.estimate), "mean loss", self.test)
        margin = f" by more than {self.rope_width:g}" if self.rope_width else ""
        claims = {
            f"{a} has the smaller loss{margin}": float(self.left),
            f"{b} has the smaller loss{margin}": float(self.right),
        }
        equivalent = (
            f"the two differ by at most {self.rope_width:g}"
            if self.rope_width
            else "the two have the same loss"
        )
        if self.rope_width or float(self.rope) > 0:
            claims[equivalent] = float(self.rope)
        listed = ", that ".join(f"{claim} {_is(p)}" for claim, p in claims.items())
        sentences = f"{first} Given the data, the probability that {listed}."
        sure = [claim for claim, p in claims.items() if p >= 1 - alpha]
        verdict = (
            f"With probability at least {1 - alpha:g}, {sure[0]}."
            if sure
            else f"None of these reaches {1 - alpha:g}: the comparison is undecided."
        )
        return f"{sentences} {verdict} {self.note}".rstrip()


def _is(p: float) -> str:
    """Format a probability with four digits, never as 0 or 1."""
    if 1e-4 <= p < 0.99995:
        return f"is {p:.4f}"
    return "is below 0.0001" if p < 0.5 else "is above 0.9999"


def _explain_many(result: PosteriorResult, a: str, b: str, alpha: float) -> str:
    count = np.size(result.pvalue)
    if count == 0:
        return f"There are no comparisons of {a} with {b}."
    sure = {
        f"{a} has the smaller loss": np.asarray(result.left),
        f"{b} has the smaller loss": np.asarray(result.right),
        "the two are equivalent": np.asarray(result.rope),
    }
    parts = ", ".join(f"{claim} in {int((p >= 1 - alpha).sum())}" for claim, p in sure.items())
    sentences = (
        f"{count} comparisons of {a} with {b} ({result.test}): with probability at least "
        f"{1 - alpha:g}, {parts} of them."
    )
    return f"{sentences} {result.note}".rstrip()


def rope_half_width(rope: Any) -> float:
    """Return the half-width of the region of practical equivalence as a finite number >= 0."""
    return at_least_zero(rope, "rope", "a number of at least 0")


def posterior_pvalue(not_right: Any, not_left: Any, alternative: Alternative) -> FloatOrArray:
    """Return the p-value from the probabilities that the loss of a is not greater, not smaller."""
    if alternative == "greater":
        return scalar_or_array(not_right)
    if alternative == "less":
        return scalar_or_array(not_left)
    return scalar_or_array(np.minimum(1.0, 2.0 * np.minimum(not_right, not_left)))


def correlated_t(
    a: Any,
    b: Any,
    *,
    rope: float = 0.0,
    rho: float | None = None,
    n_train: Any = None,
    n_test: Any = None,
    alternative: str = "two-sided",
    resolution: float | None = None,
) -> PosteriorResult:
    """Bayesian correlated t test of Corani and Benavoli.

    There is no null hypothesis. The test divides the posterior of the expected difference of
    losses into *a is better*, *practically equivalent* and *b is better*.

    Parameters
    ----------
    a, b : array_like, shape (..., n)
        Losses on the same n splits (all folds of all runs in one axis); leading axes broadcast.
    rope : float
        Differences from -rope to rope count as equivalence.
    rho : float, optional
        Correlation of the differences; by default ``n_test / (n_train + n_test)``.
    n_train, n_test : number, or sequence of numbers
        Rows in the training and in the test part, required without `rho`; sequences are averaged.
    alternative : {"two-sided", "greater", "less"}
        Only for `pvalue`; see `PosteriorResult`.
    resolution : float, optional
        As for `kfold_t`.

    Returns
    -------
    PosteriorResult
        `confidence_interval` returns the credible interval.

    Notes
    -----
    With m and S^2 the mean and unbiased variance of the n differences, the posterior is
    ``St(m, (1/n + rho / (1 - rho)) S^2, n - 1)``. With ``rope=0`` its tails are the p-values of
    the corrected resampled t test. If all differences are equal, the whole mass is at m. If the
    learners never differ, it is in the region of equivalence, and p = 1. With a resolution r, S^2
    is at least 2 r^2 / n, unless the learners never differ.

    References
    ----------
    G. Corani and A. Benavoli (2015). A Bayesian approach for comparing cross-validated
    algorithms on multiple data sets. Machine Learning 100, 285-304.
    doi:10.1007/s10994-015-5486-z

    Examples
    --------
    >>> r = correlated_t(
    ...     [0.30, 0.25, 0.28, 0.27], [0.26, 0.24, 0.23, 0.25], rope=0.01, rho=0.25)
    >>> round(r.left, 4), round(r.rope, 4), round(r.right, 4)
    (0.0321, 0.0914, 0.8765)
    """
    sides: Alternative = side(alternative)
    width = rope_half_width(rope)
    a, b = paired_losses(a, b, axes=1, at_least=2)
    n = a.shape[-1]
    df = float(n - 1)
    least = least_variance(resolution_step(resolution), n)
    factor = 1.0 / n + ratio_of_sizes(rho, n_train, n_test)

    def kernel(d: Floats, noise: Floats) -> tuple[Floats, ...]:
        mean, variance, _ = moments_of(d, noise)
        if least:
            identical = (variance == 0) & (mean == 0)
            variance = np.where(identical, 0.0, np.maximum(variance, least))
        se = np.sqrt(variance * factor)
        point = se == 0  # the posterior is a point mass
        t, _ = ratio(mean, se)
        scale = np.where(point, 1.0, se)
        # compute each probability and its complement from their own tails, so that both are exact
        over, under = (mean - width) / scale, (mean + width) / scale
        right = np.where(point, mean > width, t_sf(-over, df))
        left = np.where(point, mean < -width, t_sf(under, df))
        not_right = np.where(point, mean <= width, t_sf(over, df))
        not_left = np.where(point, mean >= -width, t_sf(-under, df))
        equivalent = np.where(point, np.abs(mean) <= width, np.maximum(1.0 - left - right, 0.0))
        if width == 0:
            equivalent = np.where(point, equivalent, 0.0)
        return t, mean, se, left, equivalent, right, not_right, not_left

    t, mean, se, left, equivalent, right, not_right, not_left = over_pairs(
        a, b, kernel, axes=1, outputs=8
    )
    return PosteriorResult(
        test="correlated-t",
        statistic=scalar_or_array(t),
        pvalue=posterior_pvalue(not_right, not_left, sides),
        df=df,
        estimate=scalar_or_array(mean),
        alternative=sides,
        pivot=scalar_or_array(mean),
        standard_error=scalar_or_array(se),
        left=scalar_or_array(left),
        rope=scalar_or_array(equivalent),
        right=scalar_or_array(right),
        rope_width=width,
        losses=(a, b),
    )


def ratio_of_sizes(rho: float | None, n_train: Any, n_test: Any) -> float:
    """Return rho / (1 - rho), which is n_test / n_train for the default rho."""
    if rho is None:
        if n_train is None or n_test is None:
            raise ArgumentError("correlated_t requires rho, or both n_train and n_test.")
        return rows_ratio(n_train, n_test)
    try:
        share = float(rho)
    except (TypeError, ValueError):
        raise refuse("rho", "a number from 0 to below 1", rho) from None
    if not 0.0 <= share < 1.0:
        raise refuse("rho", "a number from 0 to below 1", rho)
    return share / (1.0 - share)


# Bayesian signed rank test

_WEIGHTS_AT_ONCE = 1 << 18


class _Sorted(NamedTuple):
    """The sorted differences of one pair, and for each the range of its partners."""

    order: npt.NDArray[np.intp]
    above: tuple[npt.NDArray[np.intp], ...]
    """First position at which the sum of two is above the rope (strictly, and at the bound)."""
    below: tuple[npt.NDArray[np.intp], ...]


def signed_rank_bayes(
    a: Any,
    b: Any,
    *,
    rope: float = 0.0,
    prior: float = 0.5,
    samples: int = 50_000,
    alternative: str = "two-sided",
    random_state: RandomState = 0,
) -> PosteriorResult:
    """Bayesian signed rank test of Benavoli et al., based on the Dirichlet process.

    There is no null hypothesis. For two data sets drawn at random from the posterior, the Walsh
    average of their differences is below, inside or above the region of practical equivalence. The
    result contains the probability of each of the three being the most probable one.

    Parameters
    ----------
    a, b : array_like, shape (..., n)
        Mean losses on the same n data sets; leading axes broadcast.
    rope : float
        Differences from -rope to rope count as equivalence.
    prior : float
        Strength s of the prior, the weight of one pseudo-difference at 0.
    samples : int
        Number of draws from the posterior.
    alternative : {"two-sided", "greater", "less"}
        Only for `pvalue`; see `PosteriorResult`.
    random_state : int, Generator or None
        Source of the draws. All pairs of one call share them.

    Returns
    -------
    PosteriorResult
        `statistic` is the posterior mean of P(above) - P(below), from -1 to 1. Draws in which
        neither side leads count for the region of equivalence; for equal learners the whole mass
        is there, and p = 1. There is no interval. `pvalue` is at least 1 / (samples + 1), because
        no number of draws gives certainty.

    Notes
    -----
    With z_0 = 0 the pseudo-difference and weights w ~ Dirichlet(s, 1, ..., 1),
    ``theta_r = sum_ij w_i w_j H(z_i + z_j - 2 rope)``, ``theta_l`` alike and
    ``theta_e = 1 - theta_l - theta_r``, where H is 1 above 0 and 1/2 at 0. Sorting z once and
    summing cumulatively makes each draw O(n).

    The probabilities are not p-values. For equal learners on few data sets, a probability of at
    least 0.975 that one of them is better is common: in 50 percent of tables with two data sets,
    12 percent with five, 7 percent with ten or twelve (``python benchmarks/posterior_rates.py``).
    Use at least ten data sets.

    References
    ----------
    A. Benavoli, F. Mangili, G. Corani, M. Zaffalon and F. Ruggeri (2014). A Bayesian Wilcoxon
    signed-rank test based on the Dirichlet process. Proceedings of ICML 2014, PMLR 32, 1026-1034.

    A. Benavoli, G. Corani, J. Demsar and M. Zaffalon (2017). Time for a change: a tutorial for
    comparing multiple classifiers through Bayesian analysis. Journal of Machine Learning
    Research 18(77), 1-36.

    Examples
    --------
    >>> a = [0.31, 0.22, 0.45, 0.18, 0.27, 0.40, 0.33]
    >>> b = [0.29, 0.20, 0.41, 0.19, 0.22, 0.36, 0.32]
    >>> r = signed_rank_bayes(a, b, rope=0.01, random_state=0)
    >>> r.right > 0.9
    True
    """
    sides: Alternative = side(alternative)
    width = rope_half_width(rope)
    prior = positive(prior, "prior")
    samples = whole(samples, "samples", at_least=1)
    rng = generator(random_state)
    a, b = paired_losses(a, b, axes=1)
    n = a.shape[-1]

    pairs: list[_Sorted] = []

    def prepare(d: Floats, noise: Floats) -> tuple[Floats, Floats]:
        numbers = np.arange(len(pairs), len(pairs) + max(1, int(np.prod(d.shape[1:]))))
        flat, flat_noise = (np.reshape(x, (n, -1)).T for x in (d, noise))
        pairs.extend(_sorted_pairs(flat, flat_noise, width))
        mean = d.mean(axis=0)
        mean = np.where(mean * mean <= noise.mean(axis=0), 0.0, mean)
        return np.reshape(numbers, d.shape[1:]), mean

    numbers, estimate = over_pairs(a, b, prepare, axes=1, outputs=2, each=True)
    left, equivalent, right, lead = _winners(pairs, n, prior, samples, width, rng)
    index = numbers.astype(np.intp)
    p_left, p_rope, p_right = (x[index] / samples for x in (left, equivalent, right))
    least = 1.0 / (samples + 1)
    return PosteriorResult(
        test="signed-rank-bayes",
        statistic=scalar_or_array(lead[index]),
        pvalue=posterior_pvalue(
            np.maximum((samples - right[index]) / samples, least),
            np.maximum((samples - left[index]) / samples, least),
            sides,
        ),
        df=None,
        estimate=scalar_or_array(estimate),
        alternative=sides,
        direction=scalar_or_array(lead[index]),
        left=scalar_or_array(p_left),
        rope=scalar_or_array(p_rope),
        right=scalar_or_array(p_right),
        rope_width=width,
        losses=(a, b),
        note=f"The probabilities come from {samples} draws.",
    )


def _weights(rng: np.random.Generator, n: int, prior: float, size: int) -> Floats:
    """Draw (n + 1, size) weights of the differences and, last, of the pseudo-difference."""
    weights = np.empty((n + 1, size))
    weights[:n] = rng.standard_exponential((n, size))
    weights[n] = rng.standard_gamma(prior, size)
    weights /= weights.sum(axis=0)
    return weights


def _masses(w: Floats, pair: _Sorted) -> tuple[Floats, Floats]:
    """Return the shares above and below the region for each draw."""
    up = _mass_above(w, pair.above)
    # reversed, below becomes above
    down = _mass_above(w[::-1], tuple(len(w) - p[::-1] for p in pair.below))
    return up, down


def _sorted_pairs(d: Floats, noise: Floats, width: float) -> list[_Sorted]:
    """Sort the rows of `d`, each with a pseudo-difference of 0 at position n."""
    if width == 0:
        # only the order of |z| matters: ranks make ties of opposite sign cancel exactly
        ranks, signs = doubled_midranks(d, noise)
        z, slack = (ranks * signs).astype(np.float64), np.zeros(len(d))
    else:
        z = np.where(d * d <= noise, 0.0, d)
        slack = 4.0 * np.sqrt(noise.max(axis=1)) + 1e-15 * width
    z = np.column_stack([z, np.zeros(len(z))])
    order = np.argsort(z, axis=1, kind="stable")
    z = np.take_along_axis(z, order, axis=1)
    return [
        _Sorted(
            order=row_order,
            above=_positions(row, 2.0 * width, row_slack, "above", half=width > 0),
            below=_positions(row, 2.0 * width, row_slack, "below", half=width > 0),
        )
        for row, row_order, row_slack in zip(z, order, slack, strict=True)
    ]


def _positions(
    z: Floats, bound: float, slack: float, which: str, *, half: bool
) -> tuple[npt.NDArray[np.intp], ...]:
    """Return where in z the partners begin (above) or end (below).

    If `half` is set and some sums are at the bound, return the positions excluding and including
    them, so that they count half. Without a region of equivalence, a sum at the bound counts half
    for each side and hence for neither.
    """
    if which == "above":
        strict = np.searchsorted(z, bound - z + slack, side="right")
        at = np.searchsorted(z, bound - z - slack, side="left")
    else:
        strict = np.searchsorted(z, -bound - z - slack, side="left")
        at = np.searchsorted(z, -bound - z + slack, side="right")
    if not half or (strict == at).all():
        return (strict,)
    return strict, at


def _winners(
    pairs: list[_Sorted],
    n: int,
    prior: float,
    samples: int,
    width: float,
    rng: np.random.Generator,
) -> tuple[Floats, Floats, Floats, Floats]:
    """Count the draws that left, rope and right win, and return the mean lead of right, by pair."""
    left, equivalent, right, lead = (np.zeros(len(pairs)) for _ in range(4))
    step = max(1, _WEIGHTS_AT_ONCE // (n + 1))
    for start in range(0, samples, step):
        size = min(step, samples - start)
        weights = _weights(rng, n, prior, size)
        for row, pair in enumerate(pairs):
            up, down = _masses(weights[pair.order], pair)
            gap = up - down
            lead[row] += gap.sum()
            up_wins, down_wins = gap > 1e-12, gap < -1e-12
            if width > 0:
                middle = 1.0 - up - down
                up_wins &= up > middle
                down_wins &= down > middle
            right[row] += up_wins.sum()
            left[row] += down_wins.sum()
            equivalent[row] += size - up_wins.sum() - down_wins.sum()
    return left, equivalent, right, lead / samples


def _mass_above(w: Floats, begins: tuple[npt.NDArray[np.intp], ...]) -> Floats:
    """Return sum_i w_i * (sum of w from begins_i on), averaged over the elements of `begins`."""
    tails = np.zeros((len(w) + 1, w.shape[1]))
    np.cumsum(w[::-1], axis=0, out=tails[1:])
    # tails[k] is the sum of the last k
    masses = [np.einsum("ij,ij->j", w, tails[len(w) - begin]) for begin in begins]
    return np.asarray(sum(masses) / len(masses))
