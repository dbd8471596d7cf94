"""False statements over all slices, and how often a planted slice is found.

Usage: python studies/slice_claims.py [--tables 1000] [--seed 0]
       python studies/slice_claims.py --compare [--tables 400]    `bestofk.compare` on data
"""

from __future__ import annotations

import argparse

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

import bestofk as bk
from bestofk.decide.slices import order_slices

CASES = {
    "3 equal models, 5 slices of 100 items": (3, 5, 100, 0.0),
    "2 equal models, 20 slices of 50 items": (2, 20, 50, 0.0),
    "5 equal models, 10 slices of 200 items": (5, 10, 200, 0.0),
    "3 models, the best one 30 points worse in one of 5 slices of 100 items": (3, 5, 100, 0.3),
}
"""Name: models, slices, items per slice, and the planted drop of the first model."""


def outcome(case: tuple[int, int, int, float], rng: np.random.Generator) -> tuple[bool, bool]:
    """Return whether any statement is false, and whether the planted slice is found."""
    K, S, n, drop = case
    wrong = np.full((K, S, 1), 0.3)
    if drop:
        wrong[0], wrong[0, 0] = 0.2, 0.2 + drop
    losses = (rng.random((K, S, n)) < wrong + rng.uniform(-0.15, 0.15, (1, S, n))).astype(float)

    def decide(name: str, alpha: float) -> bk.Decision:
        values = losses.reshape(K, -1) if not name else losses[:, int(name)]
        return bk.compare_scores(bk.Scores(values, dims=("learner", "instance")), alpha=alpha)

    slices = order_slices(decide("", 0.05), tuple(map(str, range(S))), decide, by="slice")
    false = found = False
    for one in slices.slices:
        rates = wrong[:, int(one.name), 0]
        # of equal learners the first is the best
        best, candidates = int(rates.argmin()), set(map(int, one.decision.candidates))
        false |= best not in candidates
        for row in one.decision.standings:
            regret = rates[int(row.name)] - rates[best]
            if row.at_most is not None and row.at_least is not None:
                false |= not row.at_least <= regret <= row.at_most
        found |= bool(drop) and one.name == "0" and 0 not in candidates
    return bool(false), found


class NearestMean(ClassifierMixin, BaseEstimator):
    """The class with the nearest mean of two columns."""

    def __init__(self, column: int = 0) -> None:
        self.column = column

    def fit(self, X: np.ndarray, y: np.ndarray) -> NearestMean:
        X = X[:, self.column : self.column + 2]
        means = X[y == 0].mean(axis=0), X[y == 1].mean(axis=0)
        self.direction = means[1] - means[0]
        self.middle = (means[0] + means[1]) / 2
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        X = X[:, self.column : self.column + 2]
        return ((X - self.middle) @ self.direction > 0).astype(int)


SERIAL = bk.Execution(engine="serial", n_jobs=1)
COMPARED = {
    "2 equal learners, 4 slices of 75 rows": (75, 0.0),
    "2 equal learners, 4 slices of 25 rows": (25, 0.0),
    "2 learners, one useless in 1 of 4 slices of 75 rows": (75, 1.0),
}
"""Name: rows per slice, and whether the planted slice misleads one learner."""


def outcome_of_compare(case: tuple[int, float], seed: int) -> tuple[bool, bool]:
    """Return whether the best is ruled out, and whether the planted slice is found.

    Both learners are the same, with other columns that are drawn alike. In the planted slice, the
    columns of the first learner have the other sign.
    """
    n, turned = case
    rng = np.random.default_rng(seed)
    part = np.repeat(np.arange(4), n)
    y = rng.integers(0, 2, 4 * n)
    X = rng.normal(size=(4 * n, 4)) + 0.6 * y[:, None]
    X[:, :2] *= np.where(part == 0, 1 - 2 * turned, 1.0)[:, None]
    learners = {"first": NearestMean(0), "last": NearestMean(2)}
    study = bk.compare(learners, X, y, by=part, progress=False, execution=SERIAL)
    candidates = {one.name: one.decision.candidates for one in study.outcome.slices.slices}
    best = {name: "last" if turned and name == "0" else "first" for name in candidates}
    found = turned > 0 and "first" not in candidates["0"]
    return any(best[name] not in candidates[name] for name in candidates), found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--compare", action="store_true")
    options = parser.parse_args()
    if options.compare:
        for name, compared in COMPARED.items():
            seeds = range(options.seed, options.seed + options.tables)
            rates = np.mean([outcome_of_compare(compared, seed) for seed in seeds], axis=0)
            planted = f", planted slice found in {100 * rates[1]:.1f} %" if compared[1] else ""
            print(f"{name}: any false statement in {100 * rates[0]:.1f} %{planted}", flush=True)
        return
    for number, (name, case) in enumerate(CASES.items()):
        rng = np.random.default_rng([options.seed, number])
        rates = np.mean([outcome(case, rng) for _ in range(options.tables)], axis=0)
        planted = f", planted slice found in {100 * rates[1]:.1f} %" if case[3] else ""
        print(f"{name}: any false statement in {100 * rates[0]:.1f} %{planted}")


if __name__ == "__main__":
    main()
