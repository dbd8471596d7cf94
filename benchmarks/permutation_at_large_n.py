"""Accuracy and time of the permutation test's p-value from 100 to 1,000,000 differences.

    python benchmarks/permutation_at_large_n.py           the table (a minute)
    python benchmarks/permutation_at_large_n.py --smoke   up to 1,000 differences

The truth is another integral, without a tilt and by another rule (Gil-Pelaez, Simpson), which
has about ten digits after the point; of 0/1-like differences it is scipy's binomial tail.
"""

from __future__ import annotations

import sys
from time import process_time

import numpy as np
from scipy import integrate, stats

from bestofk.stats.pairwise import permutation

SHAPES = {
    "normal": lambda rng, n: rng.normal(size=n),
    "t with 2 df": lambda rng, n: rng.standard_t(2, n),
    "lognormal": lambda rng, n: rng.lognormal(0, 1, n),
    "half zeros": lambda rng, n: np.where(rng.random(n) < 0.5, 0.0, rng.normal(size=n)),
    "two decimals": lambda rng, n: rng.normal(size=n).round(2),
    "-1, 0, 1": lambda rng, n: rng.choice([0.0, 1.0], n),
}


def gil_pelaez(d: np.ndarray) -> float:
    """P(T* >= T) = 1/2 + (1/pi) integral of sin(-uT) prod cos(u d_i) / u."""
    sizes, total = np.abs(d[d != 0]), float(d.sum())

    def fades(u: float) -> bool:
        with np.errstate(divide="ignore"):
            return max(float(np.log(np.abs(np.cos(w * sizes))).sum()) for w in (u, 1.3 * u)) < -32

    end = float(4 / np.sqrt(sizes @ sizes))
    while not fades(end):
        end *= 1.2
    nodes = 4_000 if len(sizes) <= 1_000 else 400
    u = np.linspace(0, end, nodes + 1)
    values = np.empty(nodes + 1)
    values[0] = -total
    for i in range(1, nodes + 1):
        cosines = np.cos(u[i] * sizes)
        with np.errstate(divide="ignore"):
            size = np.exp(np.log(np.abs(cosines)).sum())
        sign = -1.0 if (cosines < 0).sum() % 2 else 1.0
        values[i] = sign * size * np.sin(-u[i] * total) / u[i]
    return float(0.5 + integrate.simpson(values, x=u) / np.pi)


def truth(d: np.ndarray, shape: str) -> float:
    """Two-sided."""
    if shape == "-1, 0, 1":
        wins, losses = int((d > 0).sum()), int((d < 0).sum())
        return float(2 * stats.binom.sf(max(wins, losses) - 1, wins + losses, 0.5))
    atom = 0.0
    if shape == "two decimals":  # half of the chance of the sum itself is missing
        atom = 0.02 / np.sqrt(2 * np.pi * float(d @ d)) * np.exp(-(d.sum() ** 2) / (d @ d) / 2) / 2
    return 2 * (gil_pelaez(d if d.sum() > 0 else -d) + atom)


def main(smoke: bool) -> None:
    """Print one line per shape and size."""
    print(f"{'differences':14s} {'n':>9s} {'p':>10s} {'truth':>10s}  off by  bounds  seconds")
    for n in (100, 1_000) if smoke else (100, 1_000, 10_000, 100_000, 1_000_000):
        for number, (shape, draw) in enumerate(SHAPES.items()):
            rng = np.random.default_rng((n, number))
            sizes = np.abs(draw(rng, n))
            lean = 2.5 * sizes / np.sqrt(sizes @ sizes)
            d = np.where(rng.random(n) < (1 + np.tanh(lean)) / 2, sizes, -sizes)
            start = process_time()
            result = permutation(d, 0 * d)
            seconds = process_time() - start
            p, want = float(result.pvalue), truth(d, shape)
            width = 0.0 if result.bounds is None else float(result.bounds.high) / p - 1
            print(f"{shape:14s} {n:9,d} {p:10.4g} {want:10.4g}  {abs(p / want - 1):.0e}  "
                  f"{100 * width:.2f} %  {seconds:.3f}", flush=True)  # fmt: skip


if __name__ == "__main__":
    main("--smoke" in sys.argv[1:])
