"""Plans for evaluations: percentiles of the latency, the chance to decide, and repeated looks.

Usage: python studies/evals_plans.py [--sets 1000] [--seed 0] [--part chance]
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from itertools import pairwise
from math import exp, sqrt

import numpy as np

import bestofk as bk
from bestofk.stats.tails import normal_quantile
from judge_claims import as_evals

LATENCIES = ((60, 1), (200, 1), (1000, 1), (200, 5))
"""Items and epochs."""


def percentile_coverage(sets: int, rng: np.random.Generator) -> None:
    """Print how often the interval of a percentile of lognormal latencies misses it."""
    for items, epochs in LATENCIES:
        for share in (0.5, 0.9, 0.95, 0.99):
            missed = open_ = 0
            for _ in range(sets):
                logs = as_evals(np.zeros((1, items, epochs)), 0)
                latent = rng.normal(0, 1, (1, items, 1)) + rng.normal(0, 0.5, (1, items, epochs))
                logs = replace(logs, latency=np.exp(latent).ravel())
                low, high = logs.percentile_intervals(f"p{100 * share:g}_latency")["m0"]
                true = exp(sqrt(1.25) * float(normal_quantile(share)))
                missed += not low <= true <= high
                open_ += high == np.inf
            print(
                f"p{100 * share:g} of {items} items, {epochs} epochs: missed in "
                f"{100 * missed / sets:.1f} %, open in {100 * open_ / sets:.0f} %",
                flush=True,
            )


CHANCES = {"right or wrong": 0.0, "1 to 5": 0.0, "1 to 5, clusters of 5": 0.5}
"""Spread of a model's ability between clusters, by kind of score."""


def answers(kind: str, items: int, gap: float, rng: np.random.Generator) -> np.ndarray:
    """Return the scores (2, items, 1) of two models whose latent abilities differ by `gap`."""
    latent = rng.normal(0.0, 1.0, items) + rng.normal(0.0, 0.8, (2, items))
    latent[0] += gap
    spread = CHANCES[kind]
    if spread:
        latent += np.repeat(rng.normal(0.0, spread, (2, items // 5)), 5, axis=1)
    graded = kind.startswith("1")
    scores = np.clip(np.rint(3.4 + latent), 1, 5) if graded else (latent > -0.5).astype(float)
    return scores[..., np.newaxis]


def chance_to_decide(sets: int, rng: np.random.Generator, done: int = 200, more: int = 800) -> None:
    """Print promised and simulated chances to decide with more items, for undecided pairs.

    The true gaps are uniform, and wide enough that the largest are decided at once.
    """
    bins = np.array([0.0, 0.2, 0.4, 0.6, 0.8, 1.0])
    for kind, spread in CHANCES.items():
        promised, happened = [], []
        while len(promised) < sets:
            scores = answers(kind, done + more, rng.uniform(-0.4, 0.4), rng)
            clusters = [(done + more) // 5 if spread else 0, done // 5 if spread else 0]
            first = bk.compare_evals(as_evals(scores[:, :done], clusters[1]), more=more)
            if first.decision.claims or first.more is None:
                continue
            promised.append(first.more.chance)
            everything = bk.compare_evals(as_evals(scores, clusters[0])).decision
            happened.append(bool(everything.claims))
        p, y = np.array(promised), np.array(happened)
        for low, high in pairwise(bins):
            here = (p >= low) & (p <= high)
            if here.sum() >= 30:
                print(
                    f"{kind}, {done} items and {more} more, promised {p[here].mean():.2f}: decided "
                    f"in {y[here].mean():.2f} of {here.sum()}",
                    flush=True,
                )
        print(f"{kind}: promised {p.mean():.2f}, decided in {y.mean():.2f} of {len(p)}", flush=True)


def looks(sets: int, rng: np.random.Generator) -> None:
    """Print how often equal models are called different at any of several looks."""
    for counts in ((1000,), (200, 1000), (200, 400, 600, 800, 1000)):
        claims = 0
        for _ in range(sets):
            d = rng.normal(0.0, 1.0, 1000)
            claims += any(
                abs(d[:n].mean()) > -float(normal_quantile(0.025)) * d[:n].std(ddof=1) / sqrt(n)
                for n in counts
            )
        print(f"{len(counts)} looks at equal models: a claim in {100 * claims / sets:.1f} %")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--part", choices=["looks", "percentiles", "chance"])
    options = parser.parse_args()
    parts = {
        "looks": lambda rng: looks(20 * options.sets, rng),
        "percentiles": lambda rng: percentile_coverage(options.sets, rng),
        "chance": lambda rng: chance_to_decide(options.sets, rng),
    }
    for number, (name, measure) in enumerate(parts.items()):
        if options.part in (None, name):
            measure(np.random.default_rng([options.seed, number]))


if __name__ == "__main__":
    main()
