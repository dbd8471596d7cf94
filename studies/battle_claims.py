"""False claims and coverage of ranks from battles between pairs of models.

Draw battles of K models with known strengths. A prompt shifts the strengths of all models by
normal numbers, so the battles of one prompt depend on each other.

Usage: python studies/battle_claims.py [--tables 1000] [--seed 1] [--write]
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from scipy.special import expit

from bestofk._base.errors import TableError
from bestofk.decide.battles import Battles, compare_battles

PAGE = Path("studies/results/battles.md")
CASES = {
    "4 models, 60 battles, all equal": (4, 60, 0, 0.0, True),
    "10 models, 200 battles, all equal": (10, 200, 0, 0.0, True),
    "10 models, 2,000 battles, all equal": (10, 2000, 0, 0.0, True),
    "10 models, 2,000 battles, two groups of equals": (10, 2000, 0, 1.0, True),
    "30 models, 600 battles, all equal": (30, 600, 0, 0.0, True),
    "10 models, 2,000 battles, 200 prompts, all equal": (10, 2000, 200, 0.0, True),
    "10 models, 2,000 battles, 40 prompts, all equal": (10, 2000, 40, 0.0, True),
    "10 models, 2,000 battles, 40 prompts, two groups of equals": (10, 2000, 40, 1.0, True),
    "10 models, 1,000 battles, 40 prompts of unequal size": (10, 1000, -40, 0.0, True),
    "10 models, 1,000 battles, 20 prompts of unequal size": (10, 1000, -20, 0.0, True),
    "10 models, 1,000 battles, 10 prompts of unequal size": (10, 1000, -10, 0.0, True),
    "10 models, 2,000 battles, 40 prompts, prompts ignored": (10, 2000, 40, 0.0, False),
}
"""Models, battles, prompts (below 0: of unequal size), gap of two groups, clusters used."""


def drawn(case: tuple[int, int, int, float, bool], rng: np.random.Generator):
    """Return battles, and the strength of each model; a fifth of the battles are ties."""
    K, n, prompts, gap, clustered = case
    strengths = gap * (np.arange(K) >= K // 2)
    first = rng.integers(0, K, n)
    second = (first + rng.integers(1, K, n)) % K
    logits = strengths[first] - strengths[second]
    clusters = None
    if prompts:
        # unequal: each prompt has about 1.15 times the battles of the one before, for 20 prompts
        shares = np.exp(np.linspace(0.0, 2.7 * (prompts < 0), abs(prompts)))
        clusters = rng.choice(abs(prompts), n, p=shares / shares.sum())
        shift = rng.normal(0.0, 1.0, (abs(prompts), K))
        logits = logits + shift[clusters, first] - shift[clusters, second]
        clusters = np.unique(clusters, return_inverse=True)[1]
    wins = rng.random(n) < expit(logits)
    outcome = np.where(rng.random(n) < 0.2, 1, np.where(wins, 2, 0))
    names = tuple(map(str, range(K)))
    return Battles(models=names, first=first, second=second, outcome=outcome,
                   clusters=clusters if clustered else None), strengths  # fmt: skip


def measured(name: str, tables: int, seed: int) -> str:
    """Return the row of one case."""
    rng = np.random.default_rng([seed, list(CASES).index(name)])
    false = missed = best_missed = undefined = 0
    for _ in range(tables):
        battles, truth = drawn(CASES[name], rng)
        try:
            decision = compare_battles(battles)
        except TableError:
            undefined += 1
            continue
        ranks = decision.decision.ranks
        true = truth[[int(one) for one in decision.decision.ranking]]
        false += any(truth[int(a)] <= truth[int(b)] for a, b in decision.decision.claims)
        best = 1 + (true[None, :] > true[:, None]).sum(axis=1)
        worst = len(true) - (true[None, :] < true[:, None]).sum(axis=1)
        missed += bool((ranks.low > best).any() or (ranks.high < worst).any())
        best_missed += str(int(truth.argmax())) not in decision.candidates
    shares = " | ".join(
        f"{100 * count / (tables - undefined):.1f}" for count in (false, missed, best_missed)
    )
    return f"| {name} | {shares} | {undefined} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--write", action="store_true", help="write the page of the docs")
    options = parser.parse_args()
    lines = [
        "| tables | any false claim (%) | ranks missed (%) | best missed (%) | undefined |",
        "|---|---:|---:|---:|---:|",
    ]
    lines += [measured(name, options.tables, options.seed) for name in CASES]
    lines += [
        "",
        f"Percent of {options.tables:,} tables with any false claim, with any interval of ranks "
        "that misses, and whose set of the best misses the best model; 5 are allowed. Made by "
        "`python studies/battle_claims.py --write`.",
    ]
    text = "\n".join(lines) + "\n"
    print(text)
    if options.write:
        PAGE.write_text(text)


if __name__ == "__main__":
    main()
