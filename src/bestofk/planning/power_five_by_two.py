"""Power of the tests on five halvings: Alpaydin's combined F and Dietterich's t."""

from __future__ import annotations

from typing import Any

import numpy as np

from bestofk.checks import Floats
from bestofk.planning.power_t import legendre

_NODES = 64
_REACH = 8.0


def five_by_two_f_power(effect: Any, level: float, correlation: float = 0.5) -> Floats:
    """The probability that the combined 5x2cv F test rejects.

    Parameters
    ----------
    effect : array_like
        The true difference over the standard deviation of the difference on one fold.
    level : float
        Level of the test.
    correlation : float
        Correlation of two differences of different runs, from 0 to 1/2. The two folds of a run
        are taken to be independent, as the test takes them.

    Returns
    -------
    ndarray
        Of the shape of `effect`.

    Notes
    -----
    With m_i the mean difference of run i and s_i^2 the spread within it,
    ``f = 1/2 + sum_i m_i^2 / sum_i s_i^2``. In units of the variance of one difference,
    sum s_i^2 is chi-squared with 5 df, and sum m_i^2 is 5 m^2 + (1/2 - r) V with
    m normal about the effect with variance r + (1/2 - r) / 5 and V chi-squared with 4 df, all
    three independent; r is the correlation. Where the loss on a row hardly depends on which of
    the others trained, two halves of different runs share half of their test rows and r is
    1/2 = n_test / (n_train + n_test): then all runs have the same mean.

    Under the null hypothesis the test rejects less often than its level: 3.3 percent of the time
    at 5 percent for r = 1/2 and 1.7 for r = 0.

    References
    ----------
    E. Alpaydin (1999). Combined 5x2 cv F test for comparing supervised classification learning
    algorithms. Neural Computation 11, 1885-1892. doi:10.1162/089976699300016007

    Examples
    --------
    >>> [round(float(p), 4) for p in five_by_two_f_power([0.0, 2.0, 4.0], 0.05)]
    [0.0334, 0.5247, 0.9818]
    """
    from scipy import special

    from bestofk.tails import f_upper_quantile

    effect = np.asarray(effect, dtype=float)
    bound = float(f_upper_quantile(level, 10.0, 5.0)) - 0.5
    z, z_weight = _normal()
    rest = max(0.5 - correlation, 0.0)
    m = effect[..., np.newaxis] + np.sqrt(correlation + rest / 5.0) * z
    if rest == 0.0:
        return np.asarray((special.chdtr(5.0, 5.0 * np.square(m) / bound) * z_weight).sum(axis=-1))
    v, v_weight = _chi_squared_4()
    squares = 5.0 * np.square(m)[..., np.newaxis] + rest * v
    return np.asarray((special.chdtr(5.0, squares / bound) * v_weight).sum(-1) @ z_weight)


def five_by_two_t_power(effect: Any, level: float) -> Floats:
    """The probability that Dietterich's 5x2cv t test rejects; `effect` as for the F test.

    Notes
    -----
    The numerator is the difference on the first fold, m_1 + u / sqrt 2 with u the scaled
    difference of the two folds of the first run, which stands in the denominator
    sqrt((u^2 + chi2_4) / 5) too: the statistic is not quite a t.

    Examples
    --------
    >>> [round(float(p), 4) for p in five_by_two_t_power([0.0, 2.0, 4.0], 0.05)]
    [0.0281, 0.3885, 0.8836]
    """
    from scipy import special

    effect = np.asarray(effect, dtype=float)
    z, weight = _normal()
    c_squared = float(np.square(special.stdtrit(5.0, level / 2.0)))
    u = z[:, np.newaxis]
    first = effect[..., np.newaxis, np.newaxis] + np.sqrt(0.5) * (z + u)
    room = np.maximum(5.0 * np.square(first) / c_squared - u * u, 0.0)
    return np.asarray((special.chdtr(4.0, room) @ weight) @ weight)


def _normal() -> tuple[Floats, Floats]:
    """Nodes and weights for the mean of a function of a standard normal variable."""
    x, w = legendre(_NODES)
    z = _REACH * (2.0 * x - 1.0)
    return z, 2.0 * _REACH * w * np.exp(-0.5 * z * z) / np.sqrt(2.0 * np.pi)


def _chi_squared_4() -> tuple[Floats, Floats]:
    """The same for chi-squared with 4 degrees of freedom, whose density is v exp(-v/2) / 4."""
    x, w = legendre(_NODES)
    root = _REACH * x
    v = root * root
    return v, _REACH * w * 2.0 * root * v * np.exp(-0.5 * v) / 4.0
