"""What a race over data sets saves, and whether all data sets ever decide otherwise.

    python benchmarks/stopping_datasets.py                      60 tables of each setting
    python benchmarks/stopping_datasets.py --tables 50 --seed 7

Six learners on 12 and on 20 data sets, the preference shuffled, Holm's correction. The loss on a
data set is its difficulty, what the learner adds, and a normal part of its own with a standard
deviation of 0.03, as an error rate of 200 rows, so that there are ties. *Typical*: two learners
that are nearly alike and four that are 0.05 to 0.08 worse; *graded*: steps of 0.02; *null*: six
alike.
"""

from __future__ import annotations

import argparse

import numpy as np
import numpy.typing as npt

from bestofk.ordering import order_many
from bestofk.ordering.evidence.family import Family
from bestofk.stopping import StoppingRule, replay
from bestofk.stopping.planned_units import PlannedUnits

SETTINGS = {
    "typical": [0.0, 0.002, 0.05, 0.06, 0.07, 0.08],
    "graded": [0.0, 0.02, 0.04, 0.06, 0.08, 0.1],
    "null": [0.0] * 6,
}
KINDS = {"wilcoxon": "ranks", "sign": "signs"}
ROWS = 200


def table(rng: np.random.Generator, setting: str, datasets: int) -> npt.NDArray[np.float64]:
    """Losses (learners, data sets), the learners in the order of preference."""
    own = rng.permutation(SETTINGS[setting])[:, np.newaxis]
    rates = 0.2 + 0.1 * rng.random(datasets) + own + rng.normal(0, 0.03, (6, datasets))
    return np.asarray(np.round(np.clip(rates, 0.0, 1.0) * ROWS) / ROWS)


def main() -> None:
    """Print a line for each setting."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    family = Family(learners=6, alpha=0.05, correction="holm")
    for test, kind in KINDS.items():
        for datasets in (12, 20):
            for setting in SETTINGS:
                rng = np.random.default_rng(asked.seed)
                losses = np.stack([table(rng, setting, datasets) for _ in range(asked.tables)])
                full = order_many(losses, prior="listed", test=test).recommended
                planned = PlannedUnits(kind=kind, runs=datasets, span=1.0)  # type: ignore[arg-type]
                used, differs = 0, 0
                for one, best in zip(losses, full, strict=True):
                    raced = replay(
                        one[:, :, np.newaxis], planned, family, StoppingRule(risk=0.0)
                    )  # fmt: skip
                    used += int(raced.runs.sum())
                    found = np.flatnonzero(raced.looks[-1].verdict.candidates())
                    differs += int(raced.settled and found.tolist() != [int(best)])
                saved = 1.0 - used / (asked.tables * 6 * datasets)
                print(
                    f"{test:8} {datasets} data sets, {setting:7}: {100 * saved:.0f} % of the fits "
                    f"saved, another one recommended in {differs} of {asked.tables}"
                )


if __name__ == "__main__":
    main()
