"""Hierarchical Bayesian test of two learners over data sets, by Gibbs sampling."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple
from warnings import warn

import numpy as np
from scipy import special

from bestofk._base.checks import Alternative, Floats, RandomState, generator, side, whole
from bestofk._base.errors import ArgumentError, BestOfKWarning
from bestofk.stats.pairwise.bayesian import (
    PosteriorResult,
    Probabilities,
    posterior_pvalue,
    ratio_of_sizes,
    rope_half_width,
)
from bestofk.stats.pairwise.differences import over_pairs, paired_losses, without_noise
from bestofk.stats.pairwise.result import FloatOrArray, scalar_or_array

CHAINS = 16
_WARM_UP = 100
_LARGEST_R_HAT = 1.05
_UPPER_SCALE = 1000.0
"""Bound of the scale of the data sets, in standard deviations of their means."""
_ALPHA, _BETA = (0.5, 5.0), (0.05, 0.15)
"""Bounds of the uniform priors of the shape and the rate of the gamma prior of nu - 1."""
_LEAST_SPREAD = 1e-3
"""Smallest standard deviation within a data set, relative to the mean one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HierarchicalResult(PosteriorResult):
    """The posterior over data sets, in addition to the fields of `PosteriorResult`.

    Attributes
    ----------
    next_dataset : Probabilities
        Probabilities that on the next data set `a` is better, both are equivalent, or `b` is.
    dataset_means : ndarray, shape (..., data sets)
        Posterior mean of the difference on each data set, drawn towards the overall mean.
    r_hat : float or ndarray
        Largest split R-hat of the location, the scale and the share above the region; near 1 if
        the chains agree.
    """

    next_dataset: Probabilities
    dataset_means: Floats
    r_hat: FloatOrArray


class _Posterior(NamedTuple):
    """The posterior of one pair."""

    wins: Floats
    """Shares of draws in which left, rope and right are the most probable."""
    masses: Floats
    """Mean probabilities of left, rope and right."""
    dataset_means: Floats
    r_hat: float


def hierarchical_bayes(
    a: Any,
    b: Any,
    *,
    rope: float = 0.0,
    rho: float | None = None,
    n_train: Any = None,
    n_test: Any = None,
    samples: int = 8_000,
    alternative: str = "two-sided",
    random_state: RandomState = 0,
) -> HierarchicalResult:
    """Bayesian hierarchical test of Corani et al. over data sets with cross-validation in each.

    There is no null hypothesis. The differences on the data sets vary about a common location. For
    the next data set, the difference is below, inside or above the region of practical
    equivalence. The result contains the probability of each of the three being the most probable.

    Parameters
    ----------
    a, b : array_like, shape (..., data sets, runs, folds)
        Losses on the same splits; leading axes broadcast.
    rope : float
        Differences from -rope to rope count as equivalence.
    rho : float, optional
        Correlation of the differences within a data set; by default
        ``n_test / (n_train + n_test)``, or 1 / folds without sizes.
    n_train, n_test : number, or sequence of numbers
        Rows in the training and in the test part; sequences are averaged.
    samples : int
        Number of draws from the posterior, a multiple of 16 or rounded up to one.
    alternative : {"two-sided", "greater", "less"}
        Only for `pvalue`; see `PosteriorResult`.
    random_state : int, Generator or None
        Source of the draws. Each pair of one call starts from the same seed.

    Returns
    -------
    HierarchicalResult
        `statistic` is the posterior mean of P(above) - P(below) on the next data set. There is no
        interval. `pvalue` is at least 1 / (samples + 1).

    Notes
    -----
    The n differences of data set i have mean delta_i, standard deviation sigma_i and correlation
    rho; ``delta_i ~ St(mu, tau, nu)``. The priors are those of the authors' program: mu is uniform
    between -D and D, with D the largest absolute difference; tau is uniform from 0 to 1000
    standard deviations of the data set means; nu - 1 is Gamma(alpha, beta) with alpha uniform on
    (0.5, 5) and beta on (0.05, 0.15). The prior of sigma_i is uniform, here without an upper bound.
    The means and variances of the data sets are sufficient, so the time does not depend on the
    number of folds.

    A data set without variance counts as if its standard deviation were 0.001 of the mean one. If
    all differences are equal, the whole mass is at their value.

    References
    ----------
    G. Corani, A. Benavoli, J. Demsar, F. Mangili and M. Zaffalon (2017). Statistical comparison of
    classifiers through Bayesian hierarchical modelling. Machine Learning 106, 1817-1837.
    doi:10.1007/s10994-017-5641-9

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> b = rng.normal(0.30, 0.03, (20, 1, 10))
    >>> a = b + rng.normal(0.03, 0.02, (20, 1, 1)) + rng.normal(0, 0.02, (20, 1, 10))
    >>> r = hierarchical_bayes(a, b, rope=0.01)
    >>> r.right > 0.95
    True
    """
    sides: Alternative = side(alternative)
    width = rope_half_width(rope)
    samples = whole(samples, "samples", at_least=1)
    seed = int(generator(random_state).integers(2**63))
    a, b = paired_losses(a, b, axes=3, shape_text="(data sets, runs, folds)")
    datasets, runs, folds = a.shape[-3:]
    n = runs * folds
    if datasets < 3 or n < 3:
        raise ArgumentError(
            "a must contain at least 3 data sets with at least 3 differences each; got "
            f"{datasets} with {n}."
        )
    if rho is None and n_train is None and n_test is None:
        rho = 1.0 / folds
    share = ratio_of_sizes(rho, n_train, n_test)
    rows_a, rows_b = (x.reshape(*x.shape[:-2], n) for x in (a, b))
    pairs: list[_Posterior] = []

    def kernel(d: Floats, noise: Floats) -> tuple[Floats, Floats]:
        mean = d.mean(axis=1)
        variance = np.square(d - mean[:, np.newaxis]).sum(axis=1) / (n - 1)
        mean, variance = without_noise(mean, variance, noise)
        largest = np.abs(d).max(axis=(0, 1))
        numbers = np.arange(len(pairs), len(pairs) + max(1, int(np.prod(d.shape[2:]))))
        flat = (np.reshape(x, (datasets, -1)).T for x in (mean, variance))
        for m, s, bound in zip(*flat, np.ravel(largest), strict=True):
            pairs.append(_posterior(m, s, float(bound), n, share, width, samples, seed))
        return np.reshape(numbers, d.shape[2:]), mean.mean(axis=0)

    numbers, estimate = over_pairs(rows_a, rows_b, kernel, axes=2, outputs=2)
    index = numbers.astype(np.intp)
    wins = np.array([pair.wins for pair in pairs]).reshape(-1, 3)[index]
    masses = np.array([pair.masses for pair in pairs]).reshape(-1, 3)[index]
    means = np.array([pair.dataset_means for pair in pairs]).reshape(-1, datasets)[index]
    r_hat = np.array([pair.r_hat for pair in pairs])[index]
    if np.max(r_hat, initial=1.0) > _LARGEST_R_HAT:
        warn(
            f"hierarchical-bayes: the chains do not agree yet (R-hat {np.max(r_hat):.2f}), so the "
            f"probabilities are rough; in Python, draw more than {samples} samples.",
            BestOfKWarning,
            stacklevel=2,
        )
    left, equivalent, right = np.moveaxis(wins, -1, 0)
    lead = masses[..., 2] - masses[..., 0]
    least = 1.0 / (samples + 1)
    return HierarchicalResult(
        test="hierarchical-bayes",
        statistic=scalar_or_array(lead),
        pvalue=posterior_pvalue(
            np.maximum(1.0 - right, least), np.maximum(1.0 - left, least), sides
        ),
        df=None,
        estimate=scalar_or_array(estimate),
        alternative=sides,
        direction=scalar_or_array(lead),
        left=scalar_or_array(left),
        rope=scalar_or_array(equivalent),
        right=scalar_or_array(right),
        rope_width=width,
        next_dataset=Probabilities(*(scalar_or_array(masses[..., k]) for k in range(3))),
        dataset_means=means,
        r_hat=scalar_or_array(r_hat),
        losses=(rows_a.mean(axis=-1), rows_b.mean(axis=-1)),
        note=f"The probabilities come from {samples} draws.",
    )


def _posterior(
    mean: Floats, variance: Floats, largest: float, n: int, share: float, region: float,
    samples: int, seed: int,
) -> _Posterior:  # fmt: skip
    """Return the posterior of one pair from the means and variances of its data sets."""
    unit = max(float(np.sqrt(variance).mean()), float(mean.std()))
    if unit == 0.0 or unit <= 1e-12 * largest:
        m = mean.mean()
        point = np.array([m < -region, abs(m) <= region, m > region], dtype=float)
        return _Posterior(point, point, mean, 1.0)
    # the same data sets in another order, or exchanged learners, give the same probabilities
    flip = -1.0 if mean.sum() < 0 else 1.0
    order = np.argsort(flip * mean, kind="stable")
    m, s2 = (flip * mean / unit)[order], (variance / unit**2)[order]
    s2 = np.maximum(s2, _LEAST_SPREAD**2)
    rng = np.random.default_rng(seed)
    rounds = -(-samples // CHAINS)
    mu, tau, nu, sets = _draw(m, s2, largest / unit, n, share, rounds, rng)
    high, low = ((x * region / unit - mu) / tau for x in (1.0, -1.0))
    above, below = special.stdtr(nu, -high), special.stdtr(nu, low)
    inside = np.maximum(1.0 - above - below, 0.0) if region else np.zeros_like(above)
    masses = np.stack([below, inside, above])[:: int(flip)]
    best = masses.argmax(axis=0)
    wins = np.bincount(best.ravel(), minlength=3) / best.size
    means = np.empty_like(mean)
    means[order] = flip * sets * unit
    r_hat = max(_split_r_hat(x) for x in (mu, np.log(tau), above))
    return _Posterior(wins, masses.mean(axis=(1, 2)), means, r_hat)


def _draw(
    m: Floats, s2: Floats, largest: float, n: int, share: float, rounds: int,
    rng: np.random.Generator,
) -> tuple[Floats, Floats, Floats, Floats]:  # fmt: skip
    """Draw (rounds, chains) locations, scales and degrees of freedom, and the data set means.

    The t distribution of the data sets is a scale mixture of normals with weights w. The steps
    for nu integrate over w, and those for mu and tau over delta.
    """
    q, C = len(m), CHAINS
    rho = share / (1.0 + share)
    v = 1.0 / n + rho * (n - 1) / n  # variance of the mean of n differences, in sigma^2
    within = (n - 1) * s2 / (1.0 - rho)
    among = float(m.std()) or float(np.sqrt(s2).mean())
    log_bound = float(np.log(_UPPER_SCALE * among))
    log_x, log_prior = _df_prior()
    mu, log_tau = np.full(C, m.mean()), np.log(among) + rng.normal(0.0, 1.0, C)
    x = rng.normal(2.0, 1.0, C)  # log(nu - 1)
    delta = np.broadcast_to(m, (C, q))
    total, draws = np.zeros(q), []

    def fit_df(x: Floats, squares: Floats) -> Floats:
        nu = 1.0 + np.exp(x)
        constant = special.gammaln((nu + 1) / 2) - special.gammaln(nu / 2) - np.log(nu) / 2
        logs = np.log1p(squares / nu[:, np.newaxis]).sum(axis=1)
        prior = np.interp(x, log_x, log_prior, left=-np.inf, right=-np.inf)
        return np.asarray(q * constant - (nu + 1) / 2 * logs + prior)

    def fit_scale(log_tau: Floats, gaps: Floats, own: Floats, w: Floats) -> Floats:
        total = own + np.exp(2.0 * log_tau)[:, np.newaxis] / w
        fit = log_tau - 0.5 * (np.log(total) + gaps / total).sum(axis=1)
        return np.where(log_tau < log_bound, fit, -np.inf)

    def move(x: Floats, fit: Any, *facts: Floats) -> Floats:
        """Make five Metropolis steps of random length."""
        now = fit(x, *facts)
        for _ in range(5):
            other = x + 0.1 * 30.0 ** rng.random(C) * rng.standard_normal(C)
            there = fit(other, *facts)
            accepted = -rng.standard_exponential(C) < there - now
            x, now = np.where(accepted, other, x), np.where(accepted, there, now)
        return x

    for number in range(_WARM_UP + rounds):
        squares = np.square((delta - mu[:, np.newaxis]) * np.exp(-log_tau)[:, np.newaxis])
        x = move(x, fit_df, squares)
        nu = (1.0 + np.exp(x))[:, np.newaxis]
        w = rng.standard_gamma(np.broadcast_to((nu + 1) / 2, (C, q))) * 2.0 / (nu + squares)
        w = np.maximum(w, 1e-300)
        around = within + np.square(m - delta) / v
        own = v * around / (2.0 * rng.standard_gamma((n - 1) / 2, (C, q)))
        log_tau = move(log_tau, fit_scale, np.square(m - mu[:, np.newaxis]), own, w)
        between = np.exp(2.0 * log_tau)[:, np.newaxis] / w
        precision = 1.0 / (own + between)
        error = 1.0 / np.sqrt(precision.sum(axis=1))
        centre = (precision * m).sum(axis=1) * error**2
        low, high = (special.ndtr((end - centre) / error) for end in (-largest, largest))
        mu = centre + error * special.ndtri(low + (high - low) * rng.random(C))
        shrunk = between * precision  # weight of the data set's own mean
        delta = mu[:, np.newaxis] + shrunk * (m - mu[:, np.newaxis])
        if number >= _WARM_UP:
            total += delta.mean(axis=0)
            draws.append((mu, np.exp(log_tau), nu[:, 0]))
        delta = delta + np.sqrt(own * shrunk) * rng.standard_normal((C, q))
    mus, taus, nus = (np.array(column) for column in zip(*draws, strict=True))
    return mus, taus, nus, total / rounds


@cache
def _df_prior() -> tuple[Floats, Floats]:
    """Return a grid of x = log(nu - 1), and the logarithm of the prior density of x on it."""
    x = np.linspace(-14.0, 8.0, 441)
    nodes, weights = np.polynomial.legendre.leggauss(24)
    alpha, beta = (
        low + (high - low) * (nodes[:, np.newaxis] + 1) / 2 for low, high in (_ALPHA, _BETA)
    )
    shape, rate = alpha[:, np.newaxis], beta[np.newaxis]
    log_density = shape * np.log(rate) - special.gammaln(shape) + shape * x - rate * np.exp(x)
    mixture = special.logsumexp(
        log_density, axis=(0, 1), b=np.multiply.outer(weights, weights)[..., np.newaxis]
    )
    return x, np.asarray(mixture)


def _split_r_hat(draws: Floats) -> float:
    """Return the R-hat of the halves of all chains (Gelman et al. 2013) of (rounds, chains)."""
    half = len(draws) // 2
    if half < 2:
        return float("inf")
    halves = np.concatenate([draws[:half], draws[-half:]], axis=1)
    within = halves.var(axis=0, ddof=1).mean()
    between = halves.mean(axis=0).var(ddof=1)
    return float(np.sqrt((half - 1) / half + between / within)) if within > 0 else 1.0
