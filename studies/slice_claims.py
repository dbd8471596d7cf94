"""False claims over all slices, and how often a planted slice is found.

Usage: python studies/slice_claims.py [--tables 1000] [--seed 0]
"""

from __future__ import annotations

import argparse

import numpy as np

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
    """Return whether a false claim is made, and whether the planted slice is found."""
    K, S, n, drop = case
    wrong = np.full((K, S, 1), 0.3)
    if drop:
        wrong[0], wrong[0, 0] = 0.2, 0.2 + drop
    losses = (rng.random((K, S, n)) < wrong + rng.uniform(-0.15, 0.15, (1, S, n))).astype(float)

    def decide(name: str | None = None) -> bk.Decision:
        values = losses.reshape(K, -1) if name is None else losses[:, int(name)]
        return bk.order(bk.Losses(values, dims=("algorithm", "instance")))

    slices = order_slices(decide(), tuple(map(str, range(S))), decide, by="slice")
    false = found = False
    for one in slices.slices:
        for better, worse, _ in one.claims:
            gap = wrong[int(better), int(one.name), 0] - wrong[int(worse), int(one.name), 0]
            false |= bool(gap >= 0)
            found |= bool(drop) and one.name == "0" and int(worse) == 0
    return false, found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    for number, (name, case) in enumerate(CASES.items()):
        rng = np.random.default_rng([options.seed, number])
        rates = np.mean([outcome(case, rng) for _ in range(options.tables)], axis=0)
        planted = f", planted slice found in {100 * rates[1]:.1f} %" if case[3] else ""
        print(f"{name}: any false claim in {100 * rates[0]:.1f} %{planted}")


if __name__ == "__main__":
    main()
