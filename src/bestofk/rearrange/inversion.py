"""Tails of a sum of independent draws by inverting its transform along a shifted contour.

For sums that are too many to count. The cost of an arrangement is how far its sum stays below
the largest one, Y = sum_b y_b >= 0, so that an upper tail is F(D) = P(Y <= D) with D the cost of
the sum that is asked for. With psi(s) = log E e^{-s Y} + s D and any c > 0,

    F(D) = (1 / pi) integral_0^inf Re( e^{psi(c + iu)} / (c + iu) ) du,

and with 1/z replaced by r / (1 - e^{-r z}), over u up to pi / r, where Y and D are multiples
of r. A little beyond the saddlepoint of psi the integrand has no cancellation, so that the
relative error stays small in the farthest tail; the trapezoidal rule errs only by the tails at
distances of 2 pi / step, which Chernoff's bound keeps below any tolerance.

A draw that moves little within the range of u enters by its cumulants, so that a million of them
cost as much as their first moments. Sums that are not far apart share a contour.

References
----------
H. E. Daniels (1954). Saddlepoint approximations in statistics. Annals of Mathematical Statistics
25, 631-650. doi:10.1214/aoms/1177728652

J. Abate and W. Whitt (1992). The Fourier-series method for inverting transforms of probability
distributions. Queueing Systems 10, 5-87. doi:10.1007/BF01158520
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, inf

import numpy as np

from bestofk.checks import Floats
from bestofk.rearrange.contour import BLOCKS_AT_ONCE, Contour, Probability

UNDERFLOW = -743.0


@dataclass(slots=True, kw_only=True)
class Inversion:
    """P(Y <= D) for Y the sum of one draw from each column of `costs`.

    Parameters
    ----------
    costs : ndarray of shape (choices, blocks)
        Equally likely values, 0 the smallest in each block.
    counts : ndarray of shape (blocks,)
        How many blocks each column stands for.
    unit : float
        Of which all costs are multiples, and the sums asked for too; 0 where there is none.
    """

    costs: Floats
    counts: Floats
    unit: float = 0.0
    _contour: Contour | None = None

    def __post_init__(self) -> None:
        order = np.argsort(self.costs.max(axis=0), kind="stable")
        self.costs = np.ascontiguousarray(self.costs[:, order])
        self.counts = self.counts[order]

    def at_most(self, deficit: float) -> Probability:
        """P(Y <= deficit).

        The bounds allow for what the nodes may have missed, estimated from the size of the
        transform at places beyond them. Below the smallest float the probability is given as 0.
        """
        if self._contour is None or not self._contour.serves(deficit):
            s, bottom = self._saddle(deficit)
            if bottom < UNDERFLOW:
                return Probability(value=0.0, low=0.0, high=exp(UNDERFLOW))
            self._contour = Contour.next_to(self, deficit, s, bottom)
        return self._contour.integrated(deficit)

    def log_transform(self, s: float) -> tuple[float, float, float]:
        """Logarithm of E e^{-s Y}, and the mean and variance of Y under the tilt e^{-s Y}."""
        value, mean, variance = 0.0, 0.0, 0.0
        for i in range(0, len(self.counts), BLOCKS_AT_ONCE):
            part = slice(i, i + BLOCKS_AT_ONCE)
            costs, counts = self.costs[:, part], self.counts[part]
            weight = np.exp(-s * costs)
            total = weight.sum(axis=0)
            value += float(np.log(total / len(costs)) @ counts)
            first = (weight * costs).sum(axis=0) / total
            mean += float(first @ counts)
            variance += float(((weight * np.square(costs - first)).sum(axis=0) / total) @ counts)
        return value, mean, variance

    def _saddle(self, deficit: float) -> tuple[float, float]:
        """The s >= 0 at which psi is smallest, nearly, and psi there: Newton inside a bracket."""
        value, mean, variance = self.log_transform(0.0)
        if mean <= deficit:
            return 0.0, value
        low, high = 0.0, inf
        s = (mean - deficit) / variance
        for _ in range(100):
            value, mean, variance = self.log_transform(s)
            value += s * deficit
            if value < UNDERFLOW or abs(mean - deficit) < 1e-3 * variance**0.5:
                break
            low, high = (s, high) if mean > deficit else (low, s)
            step = s + (mean - deficit) / variance if variance > 0 else inf
            if not low < step < high or step > 8.0 * s:
                step = 4.0 * s if high == inf else (low + high) / 2.0
            s = step
        return s, value
