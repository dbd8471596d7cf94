"""Measure false claims and savings if items arrive one after the other.

    python studies/stopping_items.py                 200 studies of every setting
    python studies/stopping_items.py --studies 1000 --setting null

Six learners, 2,000 items, losses of 0 and 1; some items are hard for all learners. *null* has six
equal learners, *typical* two nearly equal and four clearly worse, *graded* steps of 0.02. For each
study record whether the test of all items rules a learner out (paired t tests of each learner
against the others), and whether it ever does if repeated every 50 items. Also record how much
`settle_items` saves, with and without risk, and whether it recommends the learner of all items.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
import numpy.typing as npt

from bestofk.decide.stopping import settle_items
from bestofk.stats.tails import pvalue_of_t

Floats = npt.NDArray[np.float64]
LEARNERS, ITEMS, EVERY, ALPHA = 6, 2000, 50, 0.05
SETTINGS = {
    "typical": (0.20, 0.205, 0.33, 0.36, 0.39, 0.42),
    "graded": (0.20, 0.22, 0.24, 0.26, 0.28, 0.30),
    "null": (0.22,) * 6,
}


def study(rng: np.random.Generator, setting: str) -> Floats:
    """Draw losses (K, items) of 0 and 1, learners in shuffled order."""
    errors = rng.permutation(SETTINGS[setting])[:, np.newaxis]
    # difficulty of the items, shared by all learners
    hard = rng.beta(1.0, 3.0, ITEMS) / 0.25
    return (rng.random((LEARNERS, ITEMS)) < np.clip(errors * hard, 0.0, 1.0)).astype(np.float64)


def tested(losses: Floats) -> tuple[Floats, npt.NDArray[np.bool_]]:
    """Return mean differences and claims (looks, pairs) at alpha / (K - 1), every 50 items."""
    first, second = np.triu_indices(LEARNERS, 1)
    d = losses[first] - losses[second]
    n = np.arange(EVERY, ITEMS + 1, EVERY)
    total, squares = (np.cumsum(x, axis=1)[:, n - 1] for x in (d, np.square(d)))
    mean = total / n
    error = np.sqrt(np.maximum(squares / n - mean**2, 1e-300) / (n - 1))
    looks = zip((mean / error).T, n.tolist(), strict=True)
    p = np.stack([pvalue_of_t(t, m - 1.0, "two-sided") for t, m in looks])
    return mean.T, np.asarray(p <= ALPHA / (LEARNERS - 1))


def recommended(means: Floats, claims: npt.NDArray[np.bool_]) -> int:
    """Return the first learner that no other is shown to beat."""
    beaten = np.zeros(LEARNERS, dtype=bool)
    first, second = np.triu_indices(LEARNERS, 1)
    beaten[first[claims & (means > 0)]] = True
    beaten[second[claims & (means < 0)]] = True
    return int(np.argmin(beaten))


def measure(setting: str, studies: int, seed: int) -> str:
    """Return the shares of studies with a claim, and of items saved."""
    rng = np.random.default_rng(seed)
    names = ("fixed", "peeking", "saved", "differ", "saved_exact", "differ_exact")
    totals = dict.fromkeys(names, 0.0)
    for _ in range(studies):
        losses = study(rng, setting)
        means, claims = tested(losses)
        totals["fixed"] += bool(claims[-1].any())
        totals["peeking"] += bool(claims.any())
        full = recommended(means[-1], claims[-1])
        for risk, kind in ((0.05, ""), (0.0, "_exact")):
            stopped = settle_items(losses, planned=ITEMS, every=EVERY, prefer="listed", risk=risk)
            totals[f"saved{kind}"] += stopped.saved
            totals[f"differ{kind}"] += stopped.settled and stopped.recommended != str(full)
    return " ".join(f"{name}={value / studies:.4f}" for name, value in totals.items())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--studies", type=int, default=200)
    parser.add_argument("--setting", choices=list(SETTINGS), action="append")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    for setting in options.setting or list(SETTINGS):
        begin = time.perf_counter()
        words = measure(setting, options.studies, options.seed)
        print(f"{setting} {words}; {time.perf_counter() - begin:.0f} s", flush=True)


if __name__ == "__main__":
    main()
