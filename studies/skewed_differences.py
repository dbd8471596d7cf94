"""Measure tests of the mean on skewed, heavy-tailed and dependent differences of equal learners.

    python studies/skewed_differences.py --write      skewed.csv, skewed.md, series.md in results
    python studies/skewed_differences.py --smoke      print the tables from few simulations
    python studies/skewed_differences.py --part time  only the series
    python studies/skewed_differences.py --part dieboldmariano  next to that package

The first table has the percentage of 10,000 samples of n paired differences with mean 0 that each
test calls different at level 0.05, and the power at a mean of three standard errors. *Hall* is
Hall's transformation alone, and *skew-corrected t* the test that bestofk uses. *Bootstrap-t* (1,000
samples) takes its quantiles from studentised bootstrap means.

The second table has the percentage of 2,000 tables of K learners with at least one false claim by
`bk.compare_scores` (Holm's correction), for learners with equal means whose losses are skewed in
opposite directions, or of which one is not skewed. These rates are quoted by the cautions of the
test.

The third table has the same as the first for autoregressive series of n differences.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
from scipy.special import stdtr

from bestofk.stats.adjust import adjust
from bestofk.stats.pairwise import (
    diebold_mariano,
    ewc_t,
    paired_t,
    permutation,
    skew_corrected_t,
    wilcoxon,
)
from bestofk.stats.pairwise.skew_corrected import sample_skewness
from case_table import write_csv

ALPHA = 0.05
SAMPLES, TABLES, SERIES, RESAMPLES = 10_000, 2_000, 4_000, 1_000
SIZES = (3, 5, 8, 12, 20, 30, 60, 120)
LEARNERS = (2, 5, 10)
OUT = Path("studies/results")


def draw(rng, shape, size):
    """Draw differences with mean 0 and, if it exists, standard deviation 1."""
    if shape == "normal":
        return rng.standard_normal(size)
    if shape == "exponential":
        return rng.standard_exponential(size) - 1.0
    if shape == "lognormal":
        return (rng.lognormal(size=size) - np.exp(0.5)) / np.sqrt(np.exp(2.0) - np.exp(1.0))
    if shape == "t with 3 df":
        return rng.standard_t(3, size=size) / np.sqrt(3.0)
    if shape == "contaminated":
        # one in ten is larger by five standard deviations of the others
        outlier = rng.random(size) < 0.1
        return (rng.standard_normal(size) + 5.0 * outlier - 0.5) / np.sqrt(3.25)
    # rare large losses on a lattice: 2 in one of five, else 0 or -1
    return rng.choice([-1.0, 0.0, 2.0], p=[0.4, 0.4, 0.2], size=size) / np.sqrt(1.2)


SHAPES = ("normal", "exponential", "lognormal", "t with 3 df", "three values")


def hall(d):
    """Return p-values of Hall's transformation alone."""
    n = d.shape[-1]
    mean = d.mean(axis=-1)
    centred = d - mean[..., None]
    s = np.sqrt(np.square(centred).sum(axis=-1) / (n - 1))
    w = mean / np.where(s > 0, s, 1e-12)
    g = sample_skewness(centred, axis=-1)
    h = np.sqrt(n) * (w + g * w * w / 3 + g * g * w**3 / 27 + g / (6 * n))
    return 2 * stdtr(n - 1.0, -np.abs(h))


def bootstrap_t(d, rng):
    """Return p-values from studentised bootstrap means (equal tails)."""
    n = d.shape[-1]
    p = np.empty(len(d))
    for row, x in enumerate(d):
        t = x.mean() / max(x.std(ddof=1), 1e-12) * np.sqrt(n)
        b = x[rng.integers(0, n, (RESAMPLES, n))]
        with np.errstate(divide="ignore", invalid="ignore"):
            tb = (b.mean(axis=1) - x.mean()) / b.std(axis=1, ddof=1) * np.sqrt(n)
        tb = np.nan_to_num(tb, nan=0.0)
        above = ((tb >= t).sum() + 1) / (RESAMPLES + 1)
        p[row] = min(1.0, 2 * min(above, 1 + 1 / (RESAMPLES + 1) - above))
    return p


TESTS = {
    "paired t": lambda d, _: paired_t(d, 0 * d).pvalue,
    "wilcoxon": lambda d, _: wilcoxon(d, 0 * d).pvalue,
    "sign flips": lambda d, _: permutation(d[:2000], 0 * d[:2000]).pvalue,
    "hall": lambda d, _: hall(d),
    "bootstrap-t": lambda d, rng: bootstrap_t(d[:1000], rng),
    "skew-corrected t": lambda d, _: skew_corrected_t(d, 0 * d).pvalue,
}


def single(samples, seed=1):
    """Yield one row per number of differences and shape."""
    for n in SIZES:
        for shape in (*SHAPES, "power, normal"):
            rng = np.random.default_rng([seed, n, *shape.encode()])
            d = draw(rng, shape.removeprefix("power, "), (samples, n))
            if shape.startswith("power"):
                d = d + 3.0 / np.sqrt(n)
            row = {"table": "two learners", "n": str(n), "differences": shape}
            for name, test in TESTS.items():
                if name in ("sign flips", "bootstrap-t") and n > 60:
                    row[name] = ""
                    continue
                row[name] = f"{100 * np.mean(np.asarray(test(d, rng)) <= ALPHA):.1f}"
            yield row


def families(tables, seed=2):
    """Yield one row per null of K learners: percent with any false claim, by K."""
    for n in (6, 8, 12, 20, 30, 60, 120):
        for shape in ("normal", "exponential", "lognormal", "t with 3 df"):
            for null in ("opposite skews", "one without noise"):
                row = {"table": "any false claim", "n": str(n), "differences": f"{shape}, {null}"}
                for K in LEARNERS:
                    rng = np.random.default_rng([seed, n, K, *f"{shape}{null}".encode()])
                    x = draw(rng, shape, (tables, K, n))
                    if null == "opposite skews":
                        x[:, ::2] *= -1.0
                    else:
                        x[:, 0] *= 0.0
                    i, j = np.triu_indices(K, 1)
                    p = np.asarray(skew_corrected_t(x[:, i], x[:, j]).pvalue)
                    claims = adjust(p, "holm").min(axis=-1) <= ALPHA
                    row[f"K = {K}"] = f"{100 * claims.mean():.1f}"
                yield row


def series(count, seed=3):
    """Yield one row per length and autocorrelation of a series."""
    for n in (12, 30, 50, 100, 200, 500):
        for rho in (0.0, 0.3, 0.5, 0.8, 0.9, 0.95):
            rng = np.random.default_rng([seed, n, int(100 * rho)])
            d = rng.standard_normal((count, n))
            d[:, 0] /= np.sqrt(1 - rho**2)
            for t in range(1, n):
                d[:, t] += rho * d[:, t - 1]
            row = {"table": "series", "n": str(n), "differences": f"autocorrelation {rho:g}"}
            row["paired t"] = f"{100 * np.mean(paired_t(d, 0 * d).pvalue <= ALPHA):.1f}"
            row["ewc-t"] = f"{100 * np.mean(ewc_t(d, 0 * d).pvalue <= ALPHA):.1f}"
            dm = diebold_mariano(d, 0 * d)
            row["diebold-mariano"] = f"{100 * np.mean(dm.pvalue <= ALPHA):.1f}"
            # three standard errors of the mean
            moved = d + 3.0 / (1.0 - rho) / np.sqrt(n)
            for name, test in (("ewc-t", ewc_t), ("diebold-mariano", diebold_mariano)):
                row[f"power: {name}"] = f"{100 * np.mean(test(moved, 0 * d).pvalue <= ALPHA):.1f}"
            row["effective sample"] = f"{n * (1 - rho) / (1 + rho):.0f}"
            yield row


def against_dieboldmariano(count=500, n=200):
    """Print agreement with dm_test of the package dieboldmariano, and the time of both."""
    from dieboldmariano import dm_test

    rng = np.random.default_rng(4)
    a, b = rng.normal(0.1, 1.0, (count, n)), rng.normal(0.0, 1.0, (count, n))
    start = time.process_time()
    ours = diebold_mariano(a, b, horizon=3).pvalue
    middle = time.process_time()
    theirs = [
        dm_test([0.0] * n, x, y, loss=lambda _, loss: loss, h=3)[1]
        for x, y in zip(a.tolist(), b.tolist(), strict=True)
    ]
    end = time.process_time()
    print(
        f"{count} series of {n}: largest difference of p {np.abs(ours - theirs).max():.1e}; "
        f"bestofk {middle - start:.3f} s, dieboldmariano {end - middle:.3f} s of CPU time"
    )


def markdown(rows, columns):
    """Return the lines of a table."""
    lines = [f"| {' | '.join(columns)} |", "|---|---|" + "---:|" * (len(columns) - 2)]
    return [*lines, *(f"| {' | '.join(row[column] for column in columns)} |" for row in rows)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--smoke", action="store_true")
    parser.add_argument("--part", choices=["time", "dieboldmariano"])
    options = parser.parse_args()
    if options.part == "dieboldmariano":
        against_dieboldmariano()
        return
    few = options.smoke
    pages = {}
    rows = []
    if options.part is None:
        one = list(single(200 if few else SAMPLES))
        many = list(families(50 if few else TABLES))
        rows += one + many
        pages["skewed.md"] = [
            *markdown(one, ["n", "differences", *TESTS]),
            "",
            "Percent of samples of n differences that each test calls different from 0 at level "
            "0.05; the mean is 0, except in the lines on power (3 standard errors).",
            "",
            *markdown(many, ["n", "differences", *(f"K = {K}" for K in LEARNERS)]),
            "",
            "Percent of tables with at least one false claim by the skewness-corrected t test with "
            "Holm's correction, K learners with equal means. Made by "
            "`python studies/skewed_differences.py --write`.",
            "",
        ]
    correlated = list(series(100 if few else SERIES))
    rows += correlated
    pages["series.md"] = [
        *markdown(
            correlated,
            [
                "n",
                "differences",
                "effective sample",
                "paired t",
                "diebold-mariano",
                "ewc-t",
                "power: diebold-mariano",
                "power: ewc-t",
            ],
        ),
        "",
    ]
    for name, lines in pages.items():
        if options.write:
            (OUT / name).write_text("\n".join(lines), encoding="utf-8")
        else:
            print("\n".join(lines))
    if options.write and options.part is None:
        write_csv(OUT / "skewed.csv", rows)


if __name__ == "__main__":
    main()
