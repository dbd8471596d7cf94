"""Tails of a sum of independent draws, by integrating its transform along a complex contour.

The trapezoidal rule goes from node to node until the transform has faded. Then the transform is
probed beyond the last node, in case it grows again.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from math import comb, exp, factorial, inf, log, pi

import numpy as np
import numpy.typing as npt

from bestofk._base.checks import Floats

Complexes = npt.NDArray[np.complex128]

TOLERANCE = 1e-9
"""Relative error for which the step between nodes is chosen."""
REMAINDER_TOLERANCE = 1e-3
"""Relative error at which the search for a remainder beyond the nodes stops."""
END_FACTOR = 2_000.0 * pi
"""Search for the remainder up to END_FACTOR * c. Without a unit this does not separate sums that
are very close together, which leaves about 1 / 1,000 of the tail uncertain."""
NODES_AT_ONCE = 16
MAX_WORK = 2**23
MAX_CUMULANTS = 12
SMALL_TURN = 0.6
"""Use cumulants for draws whose reach times u is below this."""
PROBES, MAX_PROBES = 64, 1_024
PROBED_DRAWS_AT_ONCE, MAX_PROBED_DRAWS = 8, 256
BLOCKS_AT_ONCE = 2**15
NUMBERS_AT_ONCE = 2**18
MIN_DISTANCE, MAX_DISTANCE = 1.0, 3.0
"""A contour covers the sums that are this many standard deviations above its mean."""
LOG_UNDERFLOW = -743.0
"""Below this logarithm a probability underflows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Probability:
    """A probability and its bounds."""

    value: float
    low: float
    high: float


@dataclass(slots=True, kw_only=True)
class Inversion:
    """P(Y <= D) for Y the sum of one draw from each column of `costs`.

    The exponent to minimise is psi(s) = log E e^{-s Y} + s D.

    - `costs` (choices, blocks): Equally likely values; the smallest in each block is 0.
    - `counts` (blocks,): Number of blocks that each column represents.
    - `unit`: Common unit of all costs and of all sums D; 0 if there is none.
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
        """Return P(Y <= deficit).

        The bounds allow for the part of the integral beyond the nodes, estimated from the size of
        the transform there. A probability below the smallest float is 0.
        """
        if self._contour is None or not self._contour.covers(deficit):
            s, bottom = self._saddle(deficit)
            if bottom < LOG_UNDERFLOW:
                return Probability(value=0.0, low=0.0, high=exp(LOG_UNDERFLOW))
            self._contour = Contour.for_sum(self, deficit, s, bottom)
        return self._contour.integrate(deficit)

    def log_transform(self, s: float) -> tuple[float, float, float]:
        """Return log E e^{-s Y}, and the mean and variance of Y under the tilt e^{-s Y}."""
        value, mean, variance = 0.0, 0.0, 0.0
        for i in range(0, len(self.counts), BLOCKS_AT_ONCE):
            part = slice(i, i + BLOCKS_AT_ONCE)
            costs, counts = self.costs[:, part], self.counts[part]
            weight = np.exp(-s * costs)
            total = weight.sum(axis=0)
            value += _dot(np.log(total / len(costs)), counts)
            first = (weight * costs).sum(axis=0) / total
            mean += _dot(first, counts)
            variance += _dot((weight * np.square(costs - first)).sum(axis=0) / total, counts)
        return value, mean, variance

    def _saddle(self, deficit: float) -> tuple[float, float]:
        """Return the s >= 0 that nearly minimises psi, and psi(s), by bracketed Newton steps."""
        value, mean, variance = self.log_transform(0.0)
        if mean <= deficit:
            return 0.0, value
        low, high = 0.0, inf
        s = (mean - deficit) / variance
        for _ in range(100):
            value, mean, variance = self.log_transform(s)
            value += s * deficit
            if value < LOG_UNDERFLOW or abs(mean - deficit) < 1e-3 * variance**0.5:
                break
            low, high = (s, high) if mean > deficit else (low, s)
            step = s + (mean - deficit) / variance if variance > 0 else inf
            if not low < step < high or step > 8.0 * s:
                step = 4.0 * s if high == inf else (low + high) / 2.0
            s = step
        return s, value


def _dot(values: Floats, counts: Floats) -> float:
    """Return the inner product without the threads of a linear algebra library."""
    return float(np.einsum("i,i->", values, counts))


@dataclass(slots=True, kw_only=True)
class Contour:
    """The line c + iu with the transform at the nodes evaluated so far.

    - `tilted`: Probabilities of the choices of each draw under the tilt c.
    - `centres`, `variances`: Mean and variance of each draw under the tilt.
    - `log_size`, `mean`, `variance`: log E e^{-c Y}, and the mean and variance of Y under the tilt.
    - `step`: Distance between nodes.
    - `end`: The u at which the integration ends.
    """

    sums: Inversion
    c: float
    tilted: Floats
    centres: Floats
    variances: Floats
    reach: Floats
    log_size: float
    mean: float
    variance: float
    step: float
    end: float
    work: int = 0
    known: list[tuple[Floats, Complexes]] = field(default_factory=list)
    probed: dict[int, float] = field(default_factory=dict)
    sampled: dict[int, tuple[Floats, Complexes]] = field(default_factory=dict)

    @classmethod
    def for_sum(cls, sums: Inversion, deficit: float, s: float, bottom: float) -> Contour:
        """Return the contour for a sum with saddlepoint s, at which psi is `bottom`."""
        c = _beyond_the_saddle(sums, deficit, s, bottom)
        costs = sums.costs
        weight = np.exp(-c * costs)
        tilted = weight / weight.sum(axis=0)
        centres = (tilted * costs).sum(axis=0)
        log_size, mean, variance = sums.log_transform(c)
        length = _period(sums, deficit, c, bottom, variance)
        end = END_FACTOR * c
        if sums.unit:
            # a whole number of units, so that the nodes divide the circle evenly
            length = np.ceil(length / sums.unit) * sums.unit
            end = pi / sums.unit
        return cls(
            sums=sums,
            c=c,
            tilted=tilted,
            centres=centres,
            variances=(tilted * np.square(costs - centres)).sum(axis=0),
            reach=costs.max(axis=0),
            log_size=log_size,
            mean=mean,
            variance=variance,
            step=2.0 * pi / length,
            end=end,
        )

    def covers(self, deficit: float) -> bool:
        """Return whether this contour is accurate for that sum, too."""
        away = (deficit - self.mean) / max(self.variance, 1e-300) ** 0.5
        return bool(MIN_DISTANCE <= away <= MAX_DISTANCE)

    def kernel(self, u: Floats) -> Complexes:
        """Return 1 / z, or its sum over the multiples of the unit, at z = c + iu."""
        z = self.c + 1j * u
        unit = self.sums.unit
        return np.asarray(-unit / np.expm1(-unit * z) if unit else 1.0 / z)

    def integrate(self, deficit: float) -> Probability:
        """Return F(deficit): sum from node to node until the remainder is negligible."""
        last = int(self.end / self.step * (1.0 + 1e-12))
        # with an even number of nodes around the circle, the last one is its own mirror image
        closing = abs(last * self.step - self.end) < 1e-6 * self.step and self.sums.unit > 0
        total, density, missed, done, checked = 0.0, 0.0, 0.0, 0, 0
        for u, transform in self._nodes(last):
            waves = np.exp(transform + 1j * u * (deficit - self.mean))
            waves[0] *= 0.5 if done == 0 else 1.0
            density += float(waves.real.sum())
            terms = waves * self.kernel(u)
            done += len(u)
            if done > last:
                terms[-1] *= 0.5 if closing else 1.0
                total, missed = total + float(terms.real.sum()), 0.0
                break
            total += float(terms.real.sum())
            last_size = float(np.abs(terms[-(len(u) // 4) - 1 :]).max()) * NODES_AT_ONCE
            exhausted = self.work > MAX_WORK
            if (last_size < REMAINDER_TOLERANCE / 10 * abs(total) and done >= checked) or exhausted:
                missed = self._beyond(done, abs(total)) / (abs(total) * self.step)
                if missed > REMAINDER_TOLERANCE:
                    remainder = self._remainder(done, deficit)
                    missed = min(missed, remainder / (abs(total) * self.step))
                if missed < 3.0 * REMAINDER_TOLERANCE or exhausted:
                    break
                checked = 2 * done
        value = self.step / pi * total * exp(self.log_size + self.c * deficit)
        # without a common unit, sums closer than 1 / end cannot be separated: this bounds the
        # difference between majorants and minorants of the step at D with that bandwidth
        blur = 0.0 if self.sums.unit else 2.0 * pi / self.end * abs(density) / abs(total)
        error = float(min(missed + blur + 10 * TOLERANCE, 1.0))
        return Probability(value=value, low=value * (1.0 - error), high=value * (1.0 + error))

    def _nodes(self, last: int) -> Iterator[tuple[Floats, Complexes]]:
        """Yield nodes u and the centred log E e^{-(c + iu) Y}; the known ones first."""
        yield from list(self.known)
        done = sum(len(u) for u, _ in self.known)
        while done <= last:
            u = self.step * np.arange(done, min(done + max(NODES_AT_ONCE, done // 2), last + 1.0))
            self.known.append((u, self._log_transform(u)))
            self.work += len(u) * max(int((self.reach * u[-1] > SMALL_TURN).sum()), NODES_AT_ONCE)
            done += len(u)
            yield self.known[-1]

    def _log_transform(self, u: Floats) -> Complexes:
        slow = int(np.searchsorted(self.reach, SMALL_TURN / max(float(u[-1]), 1e-300)))
        value = self._directly(u, slow)
        if slow:
            turn = float(self.reach[slow - 1] * u[-1]) / pi
            value = value + self._by_cumulants(u, slow, _orders(turn))
        return value

    def _directly(self, u: Floats, first: int = 0) -> Complexes:
        """Return the centred log transform of the draws from index `first` on."""
        costs, counts = self.sums.costs, self.sums.counts
        value = 1j * u * _dot(self.centres[first:], counts[first:])
        size = max(NUMBERS_AT_ONCE // len(u), 1)
        for i in range(first, costs.shape[1], size):
            part = slice(i, i + size)
            turned = _transforms(u, costs[:, part], self.tilted[:, part])
            with np.errstate(divide="ignore"):
                if counts[part].max() == 1.0:
                    # multiply eight draws at a time, because logarithms take most of the time
                    for _ in range(3):
                        half = turned.shape[1] // 2
                        turned[:, :half] *= turned[:, half : 2 * half]
                        turned = np.delete(turned, np.s_[half : 2 * half], axis=1)
                    value = value + np.log(turned).sum(axis=1)
                else:
                    value = value + np.einsum("ij,j->i", np.log(turned), counts[part])
        return np.asarray(value)

    def _by_cumulants(self, u: Floats, slow: int, orders: int) -> Complexes:
        """Return sum_j kappa_j (-iu)^j / j! of the first `slow` draws for j >= 2."""
        kappas = np.zeros(orders + 1)
        for i in range(0, slow, BLOCKS_AT_ONCE):
            part = slice(i, min(i + BLOCKS_AT_ONCE, slow))
            moved = self.sums.costs[:, part] - self.centres[part]
            kappas += _cumulants(moved, self.tilted[:, part], self.sums.counts[part], orders)
        value = np.zeros(len(u), dtype=np.complex128)
        for j in range(orders, 1, -1):
            value = value * (-1j * u) + kappas[j] / factorial(j)
        return np.asarray(value * (-1j * u) ** 2)

    def _remainder(self, done: int, deficit: float) -> float:
        """Estimate the size of the integral beyond the nodes, plus three standard errors.

        Sample the integrand at points spread evenly over log u, including phases: the transform
        of a sum of few draws does not fade, but its phase rotates.
        """
        if done not in self.sampled:
            start = self.step * done
            spread = log(self.end / start)
            count = int(np.clip(2**20 // len(self.reach), PROBES, MAX_PROBES))
            u = start * np.exp(spread * _even_fractions(count, 0.6180339887498949))
            weights = self.kernel(u) * u * spread
            self.sampled[done] = u, np.exp(self._directly(u)) * weights
        u, terms = self.sampled[done]
        values = (terms * np.exp(1j * u * (deficit - self.mean))).real
        return float(abs(values.mean()) + 3.0 * values.std() / len(u) ** 0.5)

    def _beyond(self, done: int, total: float) -> float:
        """Estimate the integral of |transform| |kernel| beyond the nodes.

        Spread some points evenly over log u, where the transform fades, and some over u, where it
        may grow again, as it does if nearly all costs are multiples of one number. The size at u
        is at most exp(-(2 / pi^2) u^2 V), with V the variance of draws that rotate by less than
        pi, times the size of any other draws. Include more draws until the estimate is small
        compared with the `total` at the nodes.
        """
        if done in self.probed:
            return self.probed[done]
        start = self.step * done
        spread = log(self.end / start)
        more = int(np.clip(MAX_PROBES * 2 // len(self.tilted), PROBES, MAX_PROBES))
        fading = start * np.exp(spread * _even_fractions(PROBES, 0.6180339887498949))
        returning = start + (self.end - start) * _even_fractions(more, 0.7548776662466927)
        u = np.concatenate([fading, returning])
        turns = np.searchsorted(self.reach, pi / u, side="right")
        weights = np.abs(self.kernel(u))
        weights[:PROBES] *= fading * spread / PROBES
        weights[PROBES:] *= (self.end - start) / more
        rest, counts = self.variances * self.sums.counts, self.sums.counts
        spread_out = (_even_fractions(MAX_PROBED_DRAWS, 0.6180339887498949) * len(rest)).astype(
            np.intp
        )
        some = np.unique(np.append(spread_out, len(rest) - 1))[::-1]
        logs, sizes = np.zeros(len(u)), np.zeros(len(u))
        large = np.arange(len(u))
        estimate = inf
        for i in range(0, len(some), PROBED_DRAWS_AT_ONCE):
            few = some[i : i + PROBED_DRAWS_AT_ONCE]
            turned = _transforms(u[large], self.sums.costs[:, few], self.tilted[:, few])
            with np.errstate(divide="ignore"):
                logs[large] += np.einsum("ij,j->i", np.log(np.abs(turned)), counts[few])
            rest[few] = 0.0
            spent = np.concatenate([[0.0], np.cumsum(rest)])
            sizes = np.minimum(logs - 2.0 / pi**2 * np.square(u) * spent[turns], 0.0)
            estimate = _dot(np.exp(sizes), weights)
            large = np.flatnonzero(sizes > -25.0)
            if estimate < REMAINDER_TOLERANCE / 10 * total * self.step:
                break
        self.probed[done] = estimate
        return estimate


def _beyond_the_saddle(sums: Inversion, deficit: float, s: float, bottom: float) -> float:
    """Return a c > s at which psi is 0.7 to 2 larger: away from the pole at 0, near the saddle."""
    low, high = s, inf
    step = 1.5 / float(sums.log_transform(s)[2] ** 0.5)
    c = s + step
    for _ in range(100):
        rise = sums.log_transform(c)[0] + c * deficit - bottom
        if 0.7 <= rise <= 2.0:
            break
        low, high = (c, high) if rise < 0.7 else (low, c)
        step *= 2.0
        c = s + step if high == inf else (low + high) / 2.0
    return c


def _period(sums: Inversion, deficit: float, c: float, bottom: float, variance: float) -> float:
    """Return a period of the trapezoidal rule at which its error is negligible.

    The rule gives the sum over all m of F(D + m length) e^{-c m length}. For m > 0 the terms are
    at most e^{-c m length}. For m < 0 they are at most e^{psi(c') + (c' - c) m length} for any
    c' > c, by Chernoff's bound, and 0 if D + m length is below 0.
    """
    # the tail is e^bottom times a factor for the width of the saddle, which exceeds e^-12
    log_error = 12.0 - log(TOLERANCE)
    above = (log_error - bottom) / c
    sd = max(variance, 1e-300) ** 0.5
    # sums that share the contour are up to 2 standard deviations higher
    below = deficit * (1.0 + 1e-9) + (MAX_DISTANCE - MIN_DISTANCE) * sd + 1e-3 / c
    for more in (0.5, 1.0, 2.0, 4.0, 8.0):
        tilt = c + more / sd
        psi = sums.log_transform(tilt)[0] + tilt * deficit
        below = min(below, (psi - bottom + log_error) * sd / more)
    return float(max(above, below))


def _transforms(u: Floats, costs: Floats, chances: Floats) -> Complexes:
    """Return E e^{-iuy} of each draw, of shape (nodes, draws)."""
    if len(costs) > costs.shape[1]:
        columns = zip(costs.T, chances.T, strict=True)
        return np.stack([np.exp(-1j * u[:, None] * y) @ chance for y, chance in columns], axis=1)
    turned = np.zeros((len(u), costs.shape[1]), dtype=np.complex128)
    for row, chance in zip(costs, chances, strict=True):
        if not row.any():
            turned.real += chance
            continue
        angle = u[:, None] * row
        turned.real += chance * np.cos(angle)
        turned.imag -= chance * np.sin(angle)
    return turned


def _even_fractions(count: int, ratio: float) -> Floats:
    """Return `count` nearly evenly spread numbers between 0 and 1, the same in every call."""
    return np.asarray((np.arange(1, count + 1) * ratio) % 1.0, dtype=np.float64)


def _orders(turn: float) -> int:
    """Return the number of cumulants needed if the draws turn by at most `turn` half circles."""
    if turn <= 1e-12:
        return 2
    return int(np.clip(np.ceil(log(1e-11) / log(turn)), 4, MAX_CUMULANTS))


def _cumulants(moved: Floats, chances: Floats, counts: Floats, orders: int) -> Floats:
    """Return the sums of the cumulants of all draws up to an order, from centred values."""
    moments = [np.ones(moved.shape[1]), np.zeros(moved.shape[1])]
    power = moved * chances
    for _ in range(2, orders + 1):
        power = power * moved
        moments.append(power.sum(axis=0))
    kappas = [np.zeros(0), np.zeros(0)]
    for n in range(2, orders + 1):
        kappa = moments[n].copy()
        for m in range(2, n - 1):
            kappa -= comb(n - 1, m - 1) * kappas[m] * moments[n - m]
        kappas.append(kappa)
    return np.array([0.0, 0.0, *(_dot(kappa, counts) for kappa in kappas[2:])])
