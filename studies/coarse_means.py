"""Measure how often the paired t test rejects equal learners whose losses have few values.

    python studies/coarse_means.py [TABLES]

For every number of data sets, print the largest percentage of rejections over 56 distributions of
the difference of two equal learners on a lattice: one or two steps up or down, error counts on 1 to
50 rows, rounded normal losses. Do so without and with `resolution`, at three levels (0.005 is the
first step for ten pairs). Then print the power at a difference of one standard deviation, for
coarse and fine losses.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
from scipy import stats

from bestofk.stats.pairwise import paired_t

DATA_SETS = (3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 20, 30)
LEVELS = (0.05, 0.01, 0.005)
Lattice = tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]


def lattices() -> Iterator[Lattice]:
    """Yield values of the difference in steps, and their probabilities."""
    for share in (0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5):
        yield np.array([-1, 0, 1]), np.array([share, 1 - 2 * share, share])
    yield np.array([-2, -1, 0, 1, 2]), np.array([0.25, 0.125, 0.25, 0.125, 0.25])
    yield np.array([-2, -1, 0, 1, 2]), np.array([0.1, 0.4, 0.0, 0.4, 0.1])
    for rows in (1, 2, 3, 5, 10, 20, 50):
        for error in (0.02, 0.05, 0.1, 0.3, 0.5):
            counts = stats.binom.pmf(np.arange(rows + 1), rows, error)
            yield np.arange(-rows, rows + 1), np.convolve(counts, counts[::-1])
    for spread in (0.2, 0.3, 0.4, 0.5, 0.7, 1.0, 2.0, 4.0):
        cells = np.diff(stats.norm.cdf(np.arange(-25.5, 26.5), scale=spread))
        yield np.arange(-50, 51), np.convolve(cells, cells)


def rejections(n: int, tables: int, seed: int) -> npt.NDArray[np.float64]:
    """Return rejection rates, shape (lattices, without and with resolution, levels)."""
    rates = []
    for number, (values, p) in enumerate(lattices()):
        rng = np.random.default_rng([seed, n, number])
        d = rng.choice(values, size=(tables, n), p=p / p.sum()).astype(float)
        rows = []
        for resolution in (None, 1.0):
            pvalues = np.asarray(paired_t(d, np.zeros(n), resolution=resolution).pvalue)
            rows.append([(pvalues <= level).mean() for level in LEVELS])
        rates.append(rows)
    return np.array(rates)


def power(n: int, step: float, tables: int, seed: int) -> tuple[float, float]:
    """Return the power without and with the resolution, at a gap of one standard deviation."""
    rng = np.random.default_rng([seed, n])
    d = np.round(rng.normal(1.0, 1.0, (tables, n)) / step) * step
    both = (paired_t(d, np.zeros(n), resolution=r).pvalue for r in (None, step))
    without, with_step = (float((np.asarray(p) <= 0.05).mean()) for p in both)
    return without, with_step


def lines(tables: int) -> Iterator[str]:
    heads = [f"{how}, level {level:g}" for level in LEVELS for how in ("without", "with")]
    yield "| data sets | " + " | ".join(heads) + " |"
    yield "|---:|" + "---:|" * len(heads)
    for n in DATA_SETS:
        worst = 100 * rejections(n, tables, seed=0).max(axis=0)
        yield f"| {n} | " + " | ".join(f"{x:.1f}" for x in worst.T.ravel()) + " |"
    yield ""
    yield "| data sets | step, in standard deviations | power without | power with |"
    yield "|---:|---:|---:|---:|"
    for n in (7, 12, 30):
        for step in (1.0, 0.5, 0.1):
            without, with_step = power(n, step, tables, seed=1)
            yield f"| {n} | {step} | {100 * without:.1f} | {100 * with_step:.1f} |"


if __name__ == "__main__":
    for line in lines(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000):
        print(line)
