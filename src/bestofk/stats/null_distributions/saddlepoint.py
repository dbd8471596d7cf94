"""The saddlepoint approximation of the tails of a sum with random signs, for many sums at once."""

from __future__ import annotations

import numpy as np

from bestofk._base.checks import Floats
from bestofk.stats.tails import normal_sf

_NEWTON_STEPS = 60
_NEAR_THE_MIDDLE = 1e-2
"""Deviations in units of sd up to which the sum counts as normal."""
_LARGEST = 1.0 - 1e-9
"""Share of the largest sum beyond which there is no saddlepoint."""


def flipped_tail(sizes: Floats, at: Floats, step: Floats | float = 0.0) -> Floats:
    """Approximate P(sum of e_i sizes_i >= at) over random signs e_i, by Lugannani and Rice.

    - `sizes` (rows, n): The sizes.
    - `at` (rows,): The sums, at least 0.
    - `step` (rows,): Distance between neighbouring sums, if they lie on a lattice; `at` is then
      half a step below the sum. 0: there is no lattice.

    Notes
    -----
    With K(s) = sum_i log cosh(s sizes_i), s solves K'(s) = at; w = sqrt(2 (s at - K(s))), u = s
    sqrt(K''(s)), on a lattice with 2 sinh(s step / 2) / step instead of s; the tail is Phi(-w) +
    phi(w) (1 / u - 1 / w). Its relative error is a few thousandths if there are many sizes.

    References
    ----------
    R. Lugannani and S. Rice (1980). Saddle point approximation for the distribution of the sum of
    independent random variables. Advances in Applied Probability 12, 475-490.
    doi:10.2307/1426607

    Examples
    --------
    >>> d = np.array([[0.3, 0.1, 0.4, -0.1, 0.5, 0.9, -0.2, 0.6, 0.5, 0.3, 0.5, 0.8]])
    >>> round(float(flipped_tail(np.abs(d), d.sum(axis=1))[0]), 4)
    0.0017
    """
    sd = np.sqrt(np.square(sizes).sum(axis=1))
    sd = np.where(sd > 0, sd, 1.0)
    r, g = sizes / sd[:, None], step / sd
    largest = r.sum(axis=1) * _LARGEST
    x = np.minimum(at / sd, largest)
    tail = normal_sf(x)
    far = x > _NEAR_THE_MIDDLE
    r, x, g = r[far], x[far], np.broadcast_to(g, far.shape)[far]
    # K' is concave for s > 0 and K'(s) <= s, so Newton steps from x approach the root from below
    s = x.copy()
    for _ in range(_NEWTON_STEPS):
        e = np.exp(-2.0 * r * s[:, None])
        curvature = (np.square(2.0 * r) * e / np.square(1.0 + e)).sum(axis=1)
        missing = x - (r * (1.0 - e) / (1.0 + e)).sum(axis=1)
        move = np.where(curvature > 0, missing / np.where(curvature > 0, curvature, 1.0), 0.0)
        s += np.minimum(move, 4.0 * s + 1.0)
        if (np.abs(move) <= 1e-12 * s).all():
            break
    y = r * s[:, None]
    # log cosh y = y + log1p(exp(-2 y)) - log 2
    K = (y + np.log1p(np.exp(-2.0 * y)) - np.log(2.0)).sum(axis=1)
    w = np.sqrt(np.maximum(2.0 * (s * x - K), 0.0))
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        slope = np.where(g > 0, 2.0 * np.sinh(s * g / 2.0) / np.where(g > 0, g, 1.0), s)
        density = np.exp(-w * w / 2.0) / np.sqrt(2.0 * np.pi)
        more = density * (1.0 / (slope * np.sqrt(curvature)) - 1.0 / w)
    plain = normal_sf(w)
    # near the largest possible sum the correction is meaningless
    tail[far] = np.where(np.abs(more) < 3.0 * plain, plain + more, plain)
    return np.asarray(tail)
