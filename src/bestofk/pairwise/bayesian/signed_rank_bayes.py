"""Bayesian signed rank test with a region of practical equivalence."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from bestofk.checks import (
    Alternative,
    Floats,
    RandomState,
    generator,
    one_of,
    positive,
    side,
    whole,
)
from bestofk.pairwise.bayesian.posterior import PosteriorResult, posterior_pvalue, rope_half_width
from bestofk.pairwise.differences import loss_unit, over_pairs, paired_losses
from bestofk.pairwise.result import scalar_or_array
from bestofk.pairwise.units.wilcoxon import doubled_midranks

_CHUNK = 1 << 18  # weights drawn at a time
_PLACES = {"left": -np.inf, "rope": 0.0, "right": np.inf}


class _Sorted(NamedTuple):
    """One pair's differences in order, and where each finds its partners."""

    order: npt.NDArray[np.intp]
    above: tuple[npt.NDArray[np.intp], ...]
    """From which position on the sum of two lies above the rope (strictly; or at it)."""
    below: tuple[npt.NDArray[np.intp], ...]


def signed_rank_bayes(
    a: Any,
    b: Any,
    *,
    rope: float = 0.0,
    prior: float = 0.5,
    prior_place: str = "rope",
    samples: int = 50_000,
    alternative: str = "two-sided",
    random_state: RandomState = 0,
) -> PosteriorResult:
    """Bayesian signed rank test of Benavoli et al., from the Dirichlet process.

    No null hypothesis is tested: for two data sets drawn at random from the posterior, the
    Walsh average of their differences is below, inside or above the region of practical
    equivalence; the result says how probable it is that each of the three is the most probable.

    Parameters
    ----------
    a, b : array_like, shape (..., n)
        Mean losses on the same n data sets; leading axes broadcast.
    rope : float
        Differences from -rope to rope count as none.
    prior : float
        Strength s of the prior, the weight of one pseudo-difference.
    prior_place : {"left", "rope", "right"}
        Where it lies: for `a`, at 0, or for `b`.
    samples : int
        Draws from the posterior.
    alternative : {"two-sided", "greater", "less"}
        Only for `pvalue`; see `PosteriorResult`.
    random_state : int, Generator or None
        Source of the draws. All pairs of one call share them.

    Returns
    -------
    PosteriorResult
        `statistic` is the posterior mean of P(above) - P(below), from -1 to 1. Draws in which
        neither side leads count for the region of equivalence, so that of equal learners the
        whole mass lies there, and p = 1. There is no interval. `pvalue` is at least
        1 / (samples + 1), since no number of draws makes a thing certain.

    Notes
    -----
    With z_0 the pseudo-difference and weights w ~ Dirichlet(s, 1, ..., 1),
    ``theta_r = sum_ij w_i w_j H(z_i + z_j - 2 rope)``, ``theta_l`` alike and
    ``theta_e = 1 - theta_l - theta_r``, where H is 1 above 0 and 1/2 at 0. Sorting z once and
    summing cumulatively makes each draw O(n).

    The probabilities are not p-values. Of equal learners on few data sets a probability of 0.975
    or more that one of them is better is common: in 50 percent of tables of two data sets, 12 of
    five, 7 of ten or twelve (``python studies/posterior_rates.py``). Use at least ten.

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
    place = _PLACES[one_of(prior_place, "prior_place", tuple(_PLACES))]
    samples = whole(samples, "samples", at_least=1)
    rng = generator(random_state)
    a, b = paired_losses(a, b, axes=1)
    n = a.shape[-1]

    region = width / loss_unit(a, b)
    pairs: list[_Sorted] = []

    def prepare(d: Floats, noise: Floats) -> tuple[Floats, Floats]:
        numbers = np.arange(len(pairs), len(pairs) + max(1, int(np.prod(d.shape[1:]))))
        flat, flat_noise = (np.reshape(x, (n, -1)).T for x in (d, noise))
        pairs.extend(_sorted_pairs(flat, flat_noise, region, place))
        mean = d.mean(axis=0)
        mean = np.where(mean * mean <= noise.mean(axis=0), 0.0, mean)
        return np.reshape(numbers, d.shape[1:]), mean

    numbers, estimate = over_pairs(a, b, prepare, axes=1, units=(0, 1), each=True)
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


def share_draws(
    a: Any, b: Any, *, rope: float = 0.0, draws: int = 1000, random_state: RandomState = 0
) -> Floats:
    """Draws of the shares below, inside and above the region from the posterior of one pair.

    Parameters
    ----------
    a, b : array_like, shape (n,)
        Mean losses on the same n data sets.
    rope : float
        Differences from -rope to rope count as none.
    draws : int
        How many.
    random_state : int, Generator or None
        Source of the draws.

    Returns
    -------
    (draws, 3) array
        ``theta_l``, ``theta_e`` and ``theta_r`` of each draw, with the default prior; see
        `signed_rank_bayes`, whose probabilities say how often each of them is the largest.

    Examples
    --------
    >>> share_draws([0.3, 0.4], [0.1, 0.1], rope=0.01, draws=4).sum(axis=1).round(12).tolist()
    [1.0, 1.0, 1.0, 1.0]
    """
    width = rope_half_width(rope)
    a, b = paired_losses(a, b, axes=1)
    d = np.ravel(a - b)
    n = len(d)
    noise = np.square(1e-14 * np.maximum(np.abs(np.ravel(a)), np.abs(np.ravel(b))))
    (pair,) = _sorted_pairs(d[None], noise[None], width, 0.0)
    w = _weights(generator(random_state), n, 0.5, draws)[pair.order]
    up, down = _masses(w, pair)
    return np.stack([down, 1.0 - up - down, up], axis=1)


def _weights(rng: np.random.Generator, n: int, prior: float, size: int) -> Floats:
    """(n + 1, size) weights of the differences and, last, of the pseudo-difference."""
    weights = np.empty((n + 1, size))
    weights[:n] = rng.standard_exponential((n, size))
    weights[n] = rng.standard_gamma(prior, size)
    weights /= weights.sum(axis=0)
    return weights


def _masses(w: Floats, pair: _Sorted) -> tuple[Floats, Floats]:
    """The shares above and below the region, of every draw."""
    up = _mass_above(w, pair.above)
    # seen from the other end, below is above
    down = _mass_above(w[::-1], tuple(len(w) - p[::-1] for p in pair.below))
    return up, down


def _sorted_pairs(d: Floats, noise: Floats, width: float, place: float) -> list[_Sorted]:
    """The rows of `d` prepared; row position n stands for the pseudo-difference."""
    if width == 0:
        # only the order of |z| matters: ranks make ties of opposite sign cancel exactly
        ranks, signs = doubled_midranks(d, noise)
        z, slack = (ranks * signs).astype(np.float64), np.zeros(len(d))
    else:
        z = np.where(d * d <= noise, 0.0, d)
        slack = 4.0 * np.sqrt(noise.max(axis=1)) + 1e-15 * width
    z = np.column_stack([z, np.full(len(z), place)])
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
    """Where in z the partners begin (above) or end (below); twice where some lie at the bound.

    Without a region of equivalence what lies at the bound counts half for both sides, and
    so for neither.
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
    """Draws that each of left, rope and right wins, and the mean lead of right, for each pair."""
    left, equivalent, right, lead = (np.zeros(len(pairs)) for _ in range(4))
    step = max(1, _CHUNK // (n + 1))
    for start in range(0, samples, step):
        size = min(step, samples - start)
        weights = _weights(rng, n, prior, size)
        for number, pair in enumerate(pairs):
            up, down = _masses(weights[pair.order], pair)
            gap = up - down
            lead[number] += gap.sum()
            up_wins, down_wins = gap > 1e-12, gap < -1e-12
            if width > 0:
                middle = 1.0 - up - down
                up_wins &= up > middle
                down_wins &= down > middle
            right[number] += up_wins.sum()
            left[number] += down_wins.sum()
            equivalent[number] += size - up_wins.sum() - down_wins.sum()
    return left, equivalent, right, lead / samples


def _mass_above(w: Floats, begins: tuple[npt.NDArray[np.intp], ...]) -> Floats:
    """sum_i w_i * (sum of w from begins_i on), averaged over the given tuples of beginnings."""
    tails = np.zeros((len(w) + 1, w.shape[1]))
    np.cumsum(w[::-1], axis=0, out=tails[1:])
    # tails[k] is the sum of the last k
    masses = [np.einsum("ij,ij->j", w, tails[len(w) - begin]) for begin in begins]
    return np.asarray(sum(masses) / len(masses))
