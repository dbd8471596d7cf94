"""Tails by inversion: against whole numbers, subsets, binomial tails and other integrals."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate, stats

from bestofk.stats.null_distributions.inversion import inverted_tail
from bestofk.stats.null_distributions.sign_flips import upper_tail
from bestofk.stats.null_distributions.sums import StepGrid, step_grid, sum_tails


def flipped(d):
    """Costs and deficit of the observed signs of d: P(T* >= T) = P(Y <= D)."""
    sizes = np.abs(d[d != 0])
    return np.stack([np.zeros_like(sizes), sizes]), float(-d[d < 0].sum())


def subset_tail(d):
    """P(T* >= T) by merging all sums of one half of the sizes with those of the other."""
    sizes = np.sort(np.abs(d))[::-1]
    first, second = (_all_sums(sizes[half::2]) for half in (0, 1))
    # sorted keys are found in a tenth of the time
    least = d[d > 0].sum() * (1 - 1e-13) - first[::-1]
    above = second.size - np.searchsorted(second, least)
    return int(above.sum()) / 2.0 ** len(d)


def _all_sums(sizes):
    """Sorted; of two sorted runs a stable sort is a merge."""
    sums = np.zeros(1)
    for size in sizes:
        sums = np.sort(np.concatenate([sums, sums + size]), kind="stable")
    return sums


def gil_pelaez(d):
    """P(T* >= T) = 1/2 + (1/pi) int sin(-uT) prod cos(u d_i) / u du, by Simpson's rule."""
    sizes, total = np.abs(d[d != 0]), float(d.sum())

    def size(u):
        with np.errstate(divide="ignore"):
            return np.log(np.abs(np.cos(u * sizes))).sum()

    end = 1 / np.sqrt((sizes**2).sum())
    while max(size(end), size(1.3 * end), size(1.7 * end)) > -34:
        end *= 1.5
    # two large sizes may keep few others from fading for long
    nodes = 4_000 if len(sizes) < 1_000 else 400
    u = np.linspace(0, end, nodes + 1)
    values = np.empty(nodes + 1)
    values[0] = -total
    for part in np.array_split(np.arange(1, nodes + 1), 1 + len(sizes) // 500):
        cosines = np.cos(np.outer(u[part], sizes))
        values[part] = cosines.prod(axis=1) * np.sin(-u[part] * total) / u[part]
    return 0.5 + integrate.simpson(values, x=u) / np.pi


SHAPES = {
    "normal": lambda rng, n: rng.normal(size=n),
    "two degrees of freedom": lambda rng, n: rng.standard_t(2, n),
    "lognormal": lambda rng, n: rng.lognormal(0, 1, n),
    "zero-inflated": lambda rng, n: np.where(rng.random(n) < 0.8, 0.0, rng.normal(size=n)),
    "half ones": lambda rng, n: np.where(rng.random(n) < 0.5, 1.0, rng.random(n)),
    "bathtub": lambda rng, n: rng.beta(0.3, 0.3, n),
}


def leaning(rng, sizes, z):
    """Sizes with signs that lean to one side, so that T is about z standard deviations."""
    lean = z * sizes / np.sqrt((sizes**2).sum())
    d = np.where(rng.random(len(sizes)) < (1 + np.tanh(lean)) / 2, sizes, -sizes)
    return d if d.sum() >= 0 else -d


@pytest.mark.parametrize(
    ("n", "deviations"), [(500, (0.0, 1.5, 3.0)), (2_000, (0.0, 3.0)), (20_000, (1.5,))]
)
@pytest.mark.parametrize("name", SHAPES)
def test_another_integral_agrees(name, n, deviations):
    """Without a tilt and by another rule: ten digits of p, so six of its own at p = 1e-4."""
    rng = np.random.default_rng([n, len(name)])
    for z in deviations:
        d = leaning(rng, np.abs(SHAPES[name](rng, n)), z)
        p, bounds = upper_tail(d[None], 0 * d[None])
        truth = gil_pelaez(d)
        assert p[0] == pytest.approx(truth, rel=1e-6, abs=1e-11)
        assert bounds[0, 0] <= p[0] <= bounds[0, 1] < 1.01 * bounds[0, 0]


@pytest.mark.parametrize(("n", "shares"), [(37, (0.5, 0.8)), (38, (0.65, 1.0))])
@pytest.mark.parametrize(
    "name", ["normal", "cauchy", "wide", "one large", "nearly ones", "four sizes and noise"]
)
def test_all_subsets_agree(n, shares, name):
    """As few differences as the inversion ever sees, of sizes that suit it badly."""
    rng = np.random.default_rng([n, len(name)])
    draw = {
        "normal": lambda: rng.normal(size=n),
        "cauchy": lambda: rng.standard_cauchy(n),
        "wide": lambda: 10 ** rng.uniform(-6, 6, n),
        "one large": lambda: np.r_[30.0, rng.normal(size=n - 1)],
        "nearly ones": lambda: 1 + 1e-3 * rng.normal(size=n),
        "four sizes and noise": lambda: rng.integers(1, 5, n) + 0.1 * rng.random(n),
    }[name]
    for share in shares:
        sizes = np.abs(draw())
        d = np.where(rng.random(n) < share, sizes, -sizes)
        d = d if d.sum() >= 0 else -d
        truth = subset_tail(d)
        p, bounds = upper_tail(d[None], 0 * d[None])
        assert p[0] == pytest.approx(truth, rel=2e-3)
        assert bounds[0, 0] <= truth * (1 + 1e-9)
        assert truth <= bounds[0, 1] * (1 + 1e-9)


@pytest.mark.parametrize("n", [10_000, 100_000, 1_000_000])
@pytest.mark.parametrize("z", [0, 3, 30])
def test_ones_are_a_binomial_tail_at_any_number(n, z):
    """The inverted transform itself, against scipy's binomial distribution, down to 1e-200."""
    wins = (n + int(z * np.sqrt(n))) // 2
    costs = np.repeat([[0.0], [1.0]], n, axis=1)
    p = inverted_tail(costs, float(n - wins), unit=1.0)
    truth = stats.binom.sf(wins - 1, n, 0.5)
    assert p.value == pytest.approx(truth, rel=1e-7)
    assert p.low <= truth <= p.high
    d = np.repeat([1.0, -1.0], [wins, n - wins])[None]
    assert upper_tail(d, 0 * d)[0][0] == pytest.approx(truth, rel=1e-7)


@pytest.mark.parametrize(("choices", "blocks"), [(3, 40), (5, 64), (4, 700)])
def test_draws_from_several_values_agree_with_whole_numbers(choices, blocks, monkeypatch):
    """The convolution of whole numbers is exact; inverted, every tail comes out the same."""
    rng = np.random.default_rng(blocks)
    values = rng.integers(0, 30, (choices, blocks)).astype(float)
    values[0] += rng.integers(0, 6, blocks)
    rows = np.arange(choices)
    grid = step_grid(values, choices=choices, queries=choices)
    assert grid.method == "convolve"
    truth = sum_tails(grid, rows, rows)
    again = sum_tails(StepGrid(positions=grid.positions, method="invert"), rows, rows)
    np.testing.assert_allclose(again.lower, truth.lower, rtol=1e-4)
    np.testing.assert_allclose(again.upper, truth.upper, rtol=1e-4)
    # without the common unit only what falls between two sums is open: half an atom here
    jitter = values + 1e-7 * rng.random(values.shape)
    blind = step_grid(jitter, choices=choices, queries=choices)
    assert (blind.method, blind.exact) == ("invert", False)
