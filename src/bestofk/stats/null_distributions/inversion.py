"""Tails of a sum of independent draws, by integrating its transform along a complex line.

These tails are numerical, not counted: each has bounds. The trapezoidal rule goes from node to node
until the transform has faded. Probes beyond the last node tell whether it grows again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import exp, inf, log, pi

import numpy as np
import numpy.typing as npt

from bestofk._base.checks import Floats

Complexes = npt.NDArray[np.complex128]

TOLERANCE = 1e-10
"""Relative error for which the step between nodes is chosen."""
MISSED = 1e-7
"""Relative size of the integral beyond the last node at which the sum over nodes stops."""
END_FACTOR = 2_000.0 * pi
"""Integrate up to END_FACTOR * c. Without a unit this does not separate sums that are very close
together, which leaves about 1 / 1,000 of the tail uncertain."""
NODES_AT_ONCE = 16
MAX_WORK = 2**23
"""Most nodes times draws."""
MIN_NODES = 256
PROBES, MAX_PROBES, PROBED_DRAWS, MAX_PROBED = 64, 512, 1_024, 2**15
NUMBERS_AT_ONCE = 2**18
LOG_MARGIN = 12.0
"""A tail is at least exp(-LOG_MARGIN) times Chernoff's bound."""
LOG_UNDERFLOW = -743.0
"""Below this logarithm a probability underflows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Probability:
    """A probability and its bounds."""

    value: float
    low: float
    high: float


def inverted_tail(costs: Floats, deficit: float, *, unit: float = 0.0) -> Probability:
    """Return P(Y <= deficit) for Y the sum of one draw from each column of `costs`.

    - `costs` (choices, blocks): Equally likely values; the smallest in each block is 0.
    - `deficit`: At least 0.
    - `unit`: Common unit of all costs and of the deficit; 0 if there is none.

    The bounds allow for the part of the integral beyond the nodes, estimated from the size of the
    transform there. A probability below the smallest float is 0.
    """
    draws = _Draws.of(costs)
    c, log_size, variance = _saddle(draws, deficit)
    if log_size < LOG_UNDERFLOW:
        return Probability(value=0.0, low=0.0, high=exp(LOG_UNDERFLOW))
    length = _period(draws, deficit, c, log_size, variance)
    end = END_FACTOR * c
    if unit:
        # a whole number of units, so that the nodes divide the circle evenly
        length = np.ceil(length / unit) * unit
        end = pi / unit
    step = 2.0 * pi / length
    tilted = draws.tilted(c)

    def kernel(u: Floats) -> Complexes:
        """Return 1 / z, or its sum over the multiples of the unit, at z = c + iu."""
        z = c + 1j * u
        return np.asarray(-unit / np.expm1(-unit * z) if unit else 1.0 / z)

    last = int(end / step * (1.0 + 1e-12))
    most = max(MAX_WORK // draws.costs.shape[1], MIN_NODES)
    # with an even number of nodes around the circle, the last one is its own mirror image
    closing = abs(last * step - end) < 1e-6 * step and unit > 0
    total, density, missed, done, checked = 0.0, 0.0, 0.0, 0, 0
    while done <= last:
        u = step * np.arange(done, min(done + max(NODES_AT_ONCE, done // 2), last + 1.0))
        waves = draws.transform(u, tilted) * np.exp(1j * u * deficit)
        waves[0] *= 0.5 if done == 0 else 1.0
        done += len(u)
        waves[-1] *= 0.5 if done > last and closing else 1.0
        terms = waves * kernel(u)
        density, total = density + float(waves.real.sum()), total + float(terms.real.sum())
        last_size = float(np.abs(terms[-(len(u) // 4) - 1 :]).max())
        exhausted = done >= most
        if done <= last and (exhausted or (last_size < MISSED * abs(total) and done >= checked)):
            missed = _beyond(draws, tilted, kernel, step * done, end) / (abs(total) * step)
            if missed < MISSED or exhausted:
                break
            checked = 2 * done
    value = step / pi * total * exp(log_size)
    # without a common unit, sums closer than 1 / end cannot be separated: this bounds the
    # difference between majorants and minorants of the step at D with that bandwidth
    blur = 0.0 if unit else 2.0 * pi / end * abs(density) / abs(total)
    error = float(min((missed if done <= last else 0.0) + blur + 10 * TOLERANCE, 1.0))
    return Probability(value=value, low=value * (1.0 - error), high=value * (1.0 + error))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Draws:
    """One draw from each column of `costs`, `counts` times, by ascending largest cost."""

    costs: Floats
    counts: Floats

    @classmethod
    def of(cls, costs: Floats) -> _Draws:
        """Merge equal columns of two choices."""
        if len(costs) == 2:
            sizes, numbers = np.unique(costs.max(axis=0), return_counts=True)
            return cls(
                costs=np.stack([np.zeros_like(sizes), sizes]), counts=numbers.astype(np.float64)
            )
        order = np.argsort(costs.max(axis=0), kind="stable")
        return cls(costs=np.ascontiguousarray(costs[:, order]), counts=np.ones(costs.shape[1]))

    def tilted(self, c: float) -> Floats:
        """Return the probabilities of the choices under the tilt e^{-c Y}."""
        weight = np.exp(-c * self.costs)
        return np.asarray(weight / weight.sum(axis=0))

    def moments(self, c: float) -> tuple[float, float, float]:
        """Return log E e^{-c Y}, and the mean and variance of Y under the tilt e^{-c Y}."""
        weight = np.exp(-c * self.costs)
        total = weight.sum(axis=0)
        weight /= total
        mean = (weight * self.costs).sum(axis=0)
        variance = (weight * np.square(self.costs - mean)).sum(axis=0)
        values = np.stack([np.log(total / len(weight)), mean, variance])
        value, mean_of_sum, variance_of_sum = np.einsum("ij,j->i", values, self.counts).tolist()
        return value, mean_of_sum, variance_of_sum

    def each(self, u: Floats, tilted: Floats, part: slice | npt.NDArray[np.intp]) -> Complexes:
        """Return E e^{-iuy} of some draws y under the tilt, of shape (nodes, draws)."""
        turned = np.zeros((len(u), self.counts[part].size), dtype=np.complex128)
        for row, chance in zip(self.costs[:, part], tilted[:, part], strict=True):
            if not row.any():
                turned.real += chance
                continue
            angle = u[:, None] * row
            turned.real += chance * np.cos(angle)
            turned.imag -= chance * np.sin(angle)
        return turned

    def transform(self, u: Floats, tilted: Floats) -> Complexes:
        """Return E e^{-iuY} under the tilt, of shape (nodes,)."""
        value = np.ones(len(u), dtype=np.complex128)
        size = max(NUMBERS_AT_ONCE // len(u), 1)
        for i in range(0, self.counts.size, size):
            part = slice(i, i + size)
            turned = self.each(u, tilted, part)
            if self.counts[part].max() > 1.0:
                turned **= self.counts[part]
            value *= turned.prod(axis=1)
        return value


def _saddle(draws: _Draws, deficit: float) -> tuple[float, float, float]:
    """Return the c > 0 that nearly minimises psi(c) - log c, psi(c), and the tilted variance.

    psi(c) = log E e^{-c Y} + c D is the logarithm of Chernoff's bound of P(Y <= D). The integrand
    at c + iu is largest at u = 0, and its size there is exp(psi(c)) / c.
    """
    variance = draws.moments(0.0)[2]
    low, high, c = 0.0, inf, 1.0 / variance**0.5
    for _ in range(100):
        value, mean, variance = draws.moments(c)
        slope, curvature = deficit - mean - 1.0 / c, variance + 1.0 / c**2
        value += c * deficit
        if value < LOG_UNDERFLOW or abs(slope) < 1e-2 * curvature**0.5:
            break
        low, high = (c, high) if slope < 0 else (low, c)
        newton = c - slope / curvature
        if low < newton < min(high, 8.0 * c):
            c = newton
        else:
            c = 4.0 * c if high == inf else (low + high) / 2.0
    return c, value, variance


def _period(draws: _Draws, deficit: float, c: float, psi: float, variance: float) -> float:
    """Return a period of the trapezoidal rule at which its error is negligible.

    The rule gives the sum over all m of F(D + m length) e^{-c m length}. For m > 0 the terms are
    at most e^{-c m length}. For m < 0 they are at most e^{psi(c') + (c' - c) m length} for any
    c' > c, by Chernoff's bound, and 0 if D + m length is below 0.
    """
    log_error = LOG_MARGIN - log(TOLERANCE)
    sd = max(variance, 1e-300) ** 0.5
    below = deficit * (1.0 + 1e-9) + 1e-3 / c
    for more in (0.5, 1.0, 2.0, 4.0, 8.0):
        tilt = c + more / sd
        further = draws.moments(tilt)[0] + tilt * deficit
        below = min(below, (further - psi + log_error) * sd / more)
    return float(max((log_error - psi) / c, below))


def _beyond(
    draws: _Draws, tilted: Floats, kernel: Callable[[Floats], Complexes], start: float, end: float
) -> float:
    """Estimate the integral of |transform| |kernel| from `start` to `end`.

    Spread some points evenly over log u, where the transform fades, and some over u, where it may
    grow again, as it does if nearly all costs are multiples of one number. Of many draws, every
    k-th by size counts k times.
    """
    spread = log(end / start)
    every = -(-draws.counts.size // PROBED_DRAWS)
    some = np.arange(draws.counts.size - 1, -1, -every)
    counts = np.add.reduceat(draws.counts[::-1], np.arange(0, draws.counts.size, every))
    more = int(np.clip(MAX_PROBED // (some.size * len(tilted)), PROBES, MAX_PROBES))
    fading = start * np.exp(spread * _even_fractions(PROBES, 0.6180339887498949))
    returning = start + (end - start) * _even_fractions(more, 0.7548776662466927)
    u = np.concatenate([fading, returning])
    weights = np.abs(kernel(u))
    weights[:PROBES] *= fading * spread / PROBES
    weights[PROBES:] *= (end - start) / more
    with np.errstate(divide="ignore"):
        logs = np.log(np.abs(draws.each(u, tilted, some)))
    return float(np.einsum("i,i->", np.exp(np.einsum("ij,j->i", logs, counts)), weights))


def _even_fractions(count: int, ratio: float) -> Floats:
    """Return `count` nearly evenly spread numbers between 0 and 1, the same in every call."""
    return np.asarray((np.arange(1, count + 1) * ratio) % 1.0, dtype=np.float64)
