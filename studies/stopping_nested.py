"""Measure how often stopping nested cross-validation early decides as the full plan 10x5+nested.

    python studies/stopping_nested.py                     10 studies of every setting and learner
    python studies/stopping_nested.py --studies 1000 --seed 37
    python studies/stopping_nested.py --learner c4.5 --setting graded --risk 0

The studies are those of `stopping_rates.py`, with views of 200 or 60 rows. In *pair* and *equal
pair* there are only two learners, so their pair has the whole risk. `bestofk.decide.order_many`
decides the full plan with nested-cv-t, and the race of `compare` is replayed on the same losses. In
*adversarial* there are no learners, and the runs differ far more than their folds suggest.

Every line shows the percentage of fits saved, and the percentages of studies with a different
decision, with any claim by the full plan and by the race (for equal learners, the family-wise
error), and with a claim by the race that the full plan does not make.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from bestofk.data.schema import Encoded
from bestofk.decide import order_many
from bestofk.decide.settings import Settings
from bestofk.decide.stopping import StopRule, replay
from bestofk.decide.stopping.rule import TARGETS, Target
from bestofk.learners.base import predict_subsets
from bestofk.learners.registry import learner
from bestofk.run.race import planned_race
from bestofk.splits.plans import plan
from stopping_rates import (
    SETTINGS as SIX,  # type: ignore[import-not-found]
    views,
)

Floats = npt.NDArray[np.float64]
RUNS, FOLDS, ROWS, FEW_ROWS, PAIRS = 10, 5, 200, 60, 10
PLAN = f"{RUNS}x{FOLDS}+nested"
NO_LEARNER = "none"
SETTINGS: dict[str, tuple[tuple[float, ...], int]] = {
    **{name: (errors, ROWS) for name, errors in SIX.items()},
    "equal pair": ((0.22, 0.22), ROWS),
    "pair": ((0.22, 0.28), ROWS),
    "graded, 60 rows": (SIX["graded"], FEW_ROWS),
    "null, 60 rows": (SIX["null"], FEW_ROWS),
    "adversarial": (SIX["graded"], ROWS),
}


def fold_losses(predicted: list[Floats], y: Floats, marks: Floats, folds: int) -> Floats:
    """Return error rates (runs, folds) from predictions fold by fold."""
    codes = iter(predicted)
    return np.array(
        [[np.mean(next(codes) != y[line == fold]) for fold in range(folds)] for line in marks]
    )


def study(rng: np.random.Generator, name: str, setting: str) -> Floats:
    """Draw losses (K, runs, folds and pairs of folds), learners in shuffled order."""
    errors, rows = SETTINGS[setting]
    if name == NO_LEARNER:
        effects = rng.permutation(errors)[:, np.newaxis, np.newaxis]
        # standard deviations of a run; independent folds would give 0.02
        by_run = 0.04 * rng.normal(size=(len(errors), RUNS, 1))
        noise = 0.02 * np.sqrt(FOLDS) * rng.normal(size=(len(errors), RUNS, FOLDS * FOLDS))
        return np.clip(effects + by_run + noise, 0.0, 1.0)
    columns, y = views(rng, tuple(rng.permutation(errors).tolist()), rows)
    splits = plan(PLAN, random_state=int(rng.integers(2**31))).materialise(rows, y)
    nested = list(range(RUNS, RUNS * (1 + PAIRS)))
    losses = np.empty((len(errors), RUNS, FOLDS * FOLDS))
    for one, X in zip(losses, columns, strict=True):
        data = Encoded(
            values=X, cardinality=np.zeros(X.shape[1], dtype=np.int64), y=y.astype(np.int64),
            classes=np.array(["0", "1"]),
        )  # fmt: skip
        model = learner(name)
        outer = model._predict_plan(data, splits.main)
        one[:, :FOLDS] = fold_losses(outer, y, splits.fold_of, FOLDS)
        inner = list(predict_subsets(model, data, splits, nested))
        one[:, FOLDS:] = fold_losses(inner, y, splits.subset_marks, 2).reshape(RUNS, -1)
    return losses


def measure(
    name: str,
    setting: str,
    *,
    studies: int,
    seed: int,
    risk: float,
    targets: Sequence[Target] = TARGETS,
) -> dict[str, dict[str, float]]:
    """Return for every target the measured percentages."""
    rng = np.random.default_rng(seed)
    tables = np.array([study(rng, name, setting) for _ in range(studies)])
    K, rows = tables.shape[1], SETTINGS[setting][1]
    design = plan(PLAN, random_state=1).materialise(rows, np.arange(rows) % 2).design
    full = order_many(
        tables[:, :, np.newaxis, :, :FOLDS, np.newaxis], design=design, prefer="listed",
        subset_values=tables[..., FOLDS:].reshape(studies, K, 1, RUNS * PAIRS, 2, 1),
    )  # fmt: skip
    result = {}
    # the best of two learners is their order
    for target in targets if K > 2 else targets[:1]:
        race = planned_race(
            [f"view {number}" for number in range(K)], design, Settings(prefer="listed"),
            StopRule(target=target, risk=risk), span=1.0,
        )  # fmt: skip
        assert race.foreseen.family is not None
        rates = dict.fromkeys(("saved", "differ", "plan", "race", "wrong"), 0.0)
        for losses, order, claims in zip(tables, full.ranking, full.claims, strict=True):
            raced = replay(
                losses, race.test, race.foreseen.family, race.rule, floor=(FOLDS / rows) ** 2
            )
            verdict = raced.look.verdict
            decided = verdict.order()[0] if target == "order" else verdict.candidates().nonzero()[0]
            rates["saved"] += 100 * (1.0 - raced.runs.sum() / (K * RUNS)) / studies
            rates["differ"] += 100 * (order[: len(decided)] != decided).any() / studies
            rates["plan"] += 100 * claims.any() / studies
            rates["race"] += 100 * verdict.sure.any() / studies
            # the race says which learner is worse first, the plan which is better
            rates["wrong"] += 100 * (verdict.sure & ~claims.T).any() / studies
        result[target] = rates
    return result


def main() -> None:
    """Print a line for every setting, learner and target."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--studies", type=int, default=10)
    parser.add_argument("--setting", choices=list(SETTINGS), action="append")
    parser.add_argument("--learner", action="append")
    parser.add_argument("--target", choices=TARGETS, action="append")
    parser.add_argument("--risk", type=float, default=0.05)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    for setting in options.setting or SETTINGS:
        learners = options.learner or ["c4.5", "naive-bayes", "nn", "logistic"]
        for name in [NO_LEARNER] if setting == "adversarial" else learners:
            begin = time.perf_counter()
            size = {"studies": options.studies, "seed": options.seed, "risk": options.risk}
            targets = options.target or TARGETS
            for target, rates in measure(name, setting, **size, targets=targets).items():
                words = " ".join(f"{key}={value:.4g}" for key, value in rates.items())
                print(f"{setting}; {name}; {target}; risk {options.risk:g}: {words}")
            print(f"  {time.perf_counter() - begin:.0f} s", flush=True)


if __name__ == "__main__":
    main()
