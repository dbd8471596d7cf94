"""The shift at which a permutation test begins to accept, found quickly for many differences.

The exact tail takes up to seconds for a pair, and an end of an interval needs it at some sixty
shifts. Here it is the saddlepoint approximation of Lugannani and Rice. Its relative error can be
some ten percent where few differences carry the sum; an end moves by at most a few percent of
its distance from the mean.
"""

from __future__ import annotations

import numpy as np

from bestofk.checks import Floats

HALVINGS = 36
STEPS = 40
NORMAL_FROM = 2000


def upper_tail_by_saddlepoint(d: Floats) -> Floats:
    """P(sum of flipped d >= sum of d) for rows of differences; near 1/2 where the sum is near 0.

    Notes
    -----
    With K(t) = sum_i log cosh(t d_i), t solves K'(t) = T = sum_i d_i; w = sign(t) sqrt(2 (t T -
    K(t))), u = t sqrt(K''(t)); the tail is 1 - Phi(w) + phi(w) (1/u - 1/w).

    References
    ----------
    R. Lugannani and S. Rice (1980). Saddle point approximation for the distribution of the sum of
    independent random variables. Advances in Applied Probability 12, 475-490.
    doi:10.2307/1426607

    Examples
    --------
    >>> d = np.array([[0.3, 0.1, 0.4, -0.1, 0.5, 0.9, -0.2, 0.6, 0.5, 0.3, 0.5, 0.8]])
    >>> round(float(upper_tail_by_saddlepoint(d)[0]), 4)
    0.0017
    """
    from scipy.special import ndtr

    total = d.sum(axis=1)
    size = np.abs(d)
    n = (size > 0).sum(axis=1)
    largest = size.sum(axis=1)
    flat = largest == 0
    unit = np.where(flat, 1.0, np.sqrt(np.square(d).sum(axis=1)))
    x, T = d / unit[:, None], total / unit
    # K' is concave and K'(t) <= t in this unit: Newton's steps from T approach the root from below
    goal = np.minimum(np.abs(T), largest / unit * (1 - 1e-9))
    t = goal.copy()
    for _ in range(STEPS):
        bent = np.tanh(t[:, None] * x)
        missing = goal - (x * bent).sum(axis=1)
        slope = (np.square(x) * (1.0 - np.square(bent))).sum(axis=1)
        step = np.where(slope > 0, missing / np.where(slope > 0, slope, 1.0), 0.0)
        t = t + np.minimum(step, 4.0 * t + 1.0)
        if (np.abs(step) <= 1e-9 * (1.0 + t)).all():
            break
    y = np.abs(t[:, None] * x)
    K = (y + np.log1p(np.exp(-2 * y)) - np.log(2.0)).sum(axis=1)
    curvature = (np.square(x) / np.square(np.cosh(np.minimum(y, 300.0)))).sum(axis=1)
    w = np.sqrt(np.maximum(2 * (t * goal - K), 0.0))
    u = t * np.sqrt(curvature)
    near = (w < 1e-3) | (u <= 0)
    w_, u_ = np.where(near, 1.0, w), np.where(near, 1.0, u)
    plain = ndtr(-w)
    density = np.exp(-0.5 * w_ * w_) / np.sqrt(2 * np.pi)
    more = np.where(near, 0.0, density * (1 / u_ - 1 / w_))
    # at the edge of what flips can reach the correction has no meaning
    tail = np.where(np.abs(more) < 3 * plain, plain + more, plain)
    tail = np.where(np.abs(T) >= largest / unit * (1 - 1e-9), 0.0, tail)
    # nothing is rarer than all flips at once
    tail = np.clip(tail, 0.5 ** np.minimum(n, 1000), 1.0)
    tail = np.where(T >= 0, tail, 1.0 - tail)
    return np.asarray(np.where(flat, 1.0, tail))


def least_shift(d: Floats, alpha: float) -> Floats:
    """For rows of differences, the smallest shift at which the upper tail of d - shift > alpha.

    From `NORMAL_FROM` differences on the sum over its own spread is as good as normal.
    """
    from scipy.special import ndtri

    n = d.shape[1]
    mean, z = d.mean(axis=1), -float(ndtri(alpha))
    # (sum d - n shift) / sqrt(sum (d - shift)^2) = z
    reach = z * d.std(axis=1) / np.sqrt(max(n - z * z, 0.25))
    if n >= NORMAL_FROM:
        return np.asarray(mean - reach)
    spread = np.maximum(np.ptp(d, axis=1), np.abs(d).max(axis=1))
    low, high = mean - 2.0 * np.abs(reach), mean + 0.5 * np.abs(reach)
    outside = (upper_tail_by_saddlepoint(d - low[:, None]) > alpha) | (
        upper_tail_by_saddlepoint(d - high[:, None]) <= alpha
    )
    low = np.where(outside, d.min(axis=1) - spread, low)
    high = np.where(outside, d.max(axis=1), high)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        accepted = upper_tail_by_saddlepoint(d - middle[:, None]) > alpha
        high = np.where(accepted, middle, high)
        low = np.where(accepted, low, middle)
    return np.asarray(high)
