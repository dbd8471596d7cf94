"""Measure how often the underlines of Newman-Keuls overlap, by number of learners.

    python studies/overlapping_underlines.py [--tables N]

Section 4.4 of Yildiz and Alpaydin (2006) expects more overlapping underlines with more learners.
The expected errors of K learners are drawn from 20 to 40 percent, the errors on 10 folds vary
around them with a standard deviation of 3 points, and the preference is random. The table shows
the share of tables with overlapping underlines, and of tables in which each rule finds no
best learner. It takes a few seconds.
"""

from __future__ import annotations

import argparse

import numpy as np

from bestofk.papers.multitest.tables import NOT_FOUND, decide
from bestofk.papers.stats.range_tests import underline_ends

LEARNERS = (3, 5, 10, 20, 40)
SPREAD, LOW, HIGH = 0.03, 0.2, 0.4


def overlapping(ends):
    """Return whether a line starts before an earlier one ends, by table."""
    reach = np.maximum.accumulate(ends, axis=-1)[..., :-1]
    starts = np.arange(1, ends.shape[-1])
    return ((ends[..., 1:] > reach) & (reach > starts)).any(axis=-1)


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=1000)
    tables = parser.parse_args().tables
    print("| learners | overlap | no best: Newman-Keuls | TestFirst | Anova | MultiTest |")
    print("| ---: | ---: | ---: | ---: | ---: | ---: |")
    for K in LEARNERS:
        rng = np.random.default_rng(K)
        losses = rng.uniform(LOW, HIGH, (tables, K, 1, 1))
        losses = losses + rng.normal(0, SPREAD, (tables, K, 5, 2))
        _, ends = underline_ends(losses.reshape(tables, K, 10))
        chosen = decide(losses).chosen
        shares = [overlapping(ends).mean()]
        shares += [(chosen[name] == NOT_FOUND).mean()
                   for name in ("Newman-Keuls", "TestFirst", "Anova", "MultiTest")]  # fmt: skip
        print(f"| {K} | " + " | ".join(f"{100 * share:.1f}" for share in shares) + " |")


if __name__ == "__main__":
    main()
