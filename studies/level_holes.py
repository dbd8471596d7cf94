"""Measure how often equal learners are told apart on nulls that once broke the level.

    python studies/level_holes.py [NULL ...] [--sets 2000] [--seed 1] [--write] [--smoke]

Each null is a function that yields a case, the decisions of the rule that failed and of today's
rule on the same data, and which of them carry a caution. NULL is one or more of `groups`, `time`,
`auc`, `f1`, `clusters`, `predictions` and `missing`; without it, all of them run (about ten
minutes of CPU time). ``--write`` writes studies/results/level_holes.md.

- groups: the large groups favour one learner and the small ones the other, with equal means over
  rows. The rule that failed deals large groups first and counts every group. Models are fixed, so
  the nested losses are those of the folds.
- time: the sign of the difference is redrawn every 20 or 40 steps, plus noise. The rule that
  failed chooses the number of cosines by the lag-1 autocorrelation.
- auc: scores with equal AUC and few positives; "unlike": one model ranks its positives less
  evenly. The rule that failed uses the normal distribution.
- f1: the same for F1 and the jackknife. The rule that failed uses n - 1 degrees of freedom.
- clusters: right-or-wrong items in clusters; large clusters favour one model and small ones the
  other. The rule that failed flips the signs of whole clusters. With few clusters and several
  runs, it is the t test alone.
- predictions: cross-validated predictions of two linear rules, each on its own columns. The rule
  that failed takes them as one test set (McNemar's test).
- missing: one model lacks items that it gets wrong. The rule that failed compares the other items.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

import bestofk as bk
from bestofk.decide.choose_test import SERIES_ALLOWANCE
from bestofk.decide.pairs import tested
from bestofk.splits import plan
from bestofk.stats.adjust import adjust
from bestofk.stats.pairwise import (
    auc_components,
    cluster_sign_flip,
    corrected_repeated_kfold_t,
    delong,
    ewc_t,
    jackknife_components,
    jackknife_t,
    mcnemar,
    nested_cv_t,
    skew_corrected_t,
)
from bestofk.stats.pairwise.clustered import cluster_t
from bestofk.stats.pairwise.cosine import lag_one, number_of_cosines, variance_inflation
from bestofk.stats.pairwise.skew_corrected import unit_widening

ALPHA = 0.05
PAGE = Path(__file__).resolve().parent / "results" / "level_holes.md"
Array = np.ndarray[Any, Any]


@dataclass(frozen=True, kw_only=True)
class Case:
    """Whether each data set led to a false claim: by the rule that failed, and by today's."""

    name: str
    before: Array
    now: Array
    cautious: Array | None = None
    """Whether today's result carries a caution; None if this null has no caution."""

    def row(self) -> list[str]:
        n = len(self.now)
        cells = [self.name, str(n)]
        for claims in (self.before, self.now):
            rate = float(np.mean(claims))
            cells.append(f"{100 * rate:.1f} ± {100 * np.sqrt(rate * (1 - rate) / n):.1f}")
        cells.append("" if self.cautious is None else f"{100 * np.mean(self.cautious):.0f}")
        return cells


# Groups of unequal size


def groups(rng: np.random.Generator, sets: int) -> Iterator[Case]:
    sets = max(sets // 4, 2)
    for count in (20, 40, 100):
        for share in (0.1, 0.2, 0.5):
            for labelled in (False, True):
                before, now = np.zeros((2, sets), dtype=bool)
                for at in range(sets):
                    large = rng.random(count) < share
                    sizes = np.where(large, 16, 4)
                    # share * 16 * 0.2 = (1 - share) * 4 * lead
                    lead = np.where(large, 0.2, -0.2 * 4 * share / (1 - share))
                    noise = rng.normal(size=sizes.sum())
                    of = np.repeat(np.arange(count), sizes)
                    d = lead[of] + 0.5 * noise
                    y = rng.integers(0, 2, len(of)) if labelled else None
                    made = plan("10x5+nested", random_state=at).materialise(len(of), y, of)
                    now[at] = nested(made.marks, d, made.design.groups)
                    before[at] = nested(largest_first(rng, sizes, 10, 5)[:, of], d, count)
                words = f"{count} groups of 4 or 16 rows, {100 * share:.0f} % large"
                yield Case(name=words + (", labels" if labelled else ""), before=before, now=now)


def nested(fold_of: Array, d: Array, units: int) -> bool:
    """Return whether nested-cv-t claims a difference; d has one difference per row."""
    runs, folds = len(fold_of), int(fold_of.max()) + 1
    outer = np.array([np.bincount(run, weights=d) / np.bincount(run) for run in fold_of])
    first, second = np.triu_indices(folds, 1)
    pairs = np.stack([outer[:, first], outer[:, second]], axis=-1)
    sample = np.concatenate([outer.ravel(), pairs.ravel()])
    result = nested_cv_t(sample, 0 * sample, runs=runs, folds=folds, rows=units)
    return bool(result.pvalue <= ALPHA)


def largest_first(rng: np.random.Generator, sizes: Array, runs: int, folds: int) -> Array:
    """Return the fold of every group if large groups are dealt first, as they once were."""
    fold_of = np.empty((runs, len(sizes)), dtype=int)
    for run in fold_of:
        loads = np.zeros(folds)
        shuffled = rng.permutation(len(sizes))
        for group in shuffled[np.argsort(-sizes[shuffled], kind="stable")]:
            run[group] = loads.argmin()
            loads[run[group]] += sizes[group]
    return fold_of


# Series


def time(rng: np.random.Generator, sets: int) -> Iterator[Case]:
    for n, steps in ((100, 20), (200, 20), (200, 40), (500, 40)):
        for size in (0.5, 1.0, 2.0):
            signs = rng.choice([-size, size], (sets, -(-n // steps))).repeat(steps, axis=1)[:, :n]
            words = f"{n} steps, sign drawn every {steps}, difference {size:g}"
            yield series(f"{words} and noise 1", signs + rng.normal(size=(sets, n)))
    for n in (50, 100, 200):
        for rho in (0.0, 0.5):
            d = rng.normal(size=(sets, n))
            d[:, 0] /= np.sqrt(1 - rho**2)
            for at in range(1, n):
                d[:, at] += rho * d[:, at - 1]
            yield series(f"{n} steps, autocorrelation {rho:g}", d)


def series(name: str, d: Array) -> Case:
    n = d.shape[1]
    centred = (d - d.mean(axis=1, keepdims=True)).T
    rho = lag_one(centred)
    B = number_of_cosines(rho, n).astype(int)
    cosines = np.sqrt(2 / n) * np.cos(
        np.pi * np.outer(np.arange(1, B.max() + 1), np.arange(n) + 0.5) / n
    )
    totals = np.cumsum(np.square(cosines @ centred), axis=0)
    variance = totals[B - 1, np.arange(len(d))] / B
    lag_one_only = 2 * stats.t.sf(np.abs(d.mean(axis=1)) / np.sqrt(variance / n), B)
    # the sign "slow changes" of bestofk.decide.cautions
    slow, above = variance_inflation(centred), np.maximum(rho, 0.0)
    return Case(
        name=name,
        before=lag_one_only <= ALPHA,
        now=ewc_t(d, 0 * d, allowance=SERIES_ALLOWANCE).pvalue <= ALPHA,
        cautious=(slow > np.maximum(1.5 * (1 + above) / (1 - above), 2)) & (n / slow < 30),
    )


# Rare classes


def auc(rng: np.random.Generator, sets: int) -> Iterator[Case]:
    for positives, rows in ((4, 200), (6, 200), (6, 36), (10, 200), (20, 200), (100, 200)):
        for unlike in (False, True):
            for models in (2, 5) if positives == 6 and rows == 200 else (2,):
                first, second = np.triu_indices(models, 1)
                before, now = np.zeros((2, sets), dtype=bool)
                for at in range(sets):
                    y = np.arange(rows) < positives
                    noise = np.sqrt(0.3) * rng.normal(size=rows)
                    noise = noise + np.sqrt(0.7) * rng.normal(size=(models, rows))
                    spread = np.ones((models, 1))
                    if unlike:
                        spread[1::2] = 3.0
                    # the AUC is P(N(0, 1 + spread^2) < gain), the same for every model
                    gain = 0.7 * np.sqrt(1 + spread**2)
                    parts = auc_components(y, np.where(y, gain + spread * noise, noise))
                    result = delong(parts[first], parts[second])
                    now[at] = adjust(result.pvalue, "holm").min() <= ALPHA
                    normal = 2 * stats.norm.sf(np.abs(result.statistic))
                    before[at] = adjust(normal, "holm").min() <= ALPHA
                words = f"AUC, {positives} positives of {rows}, {models} models"
                yield Case(name=words + (", unlike" if unlike else ""), before=before, now=now)


def f1(rng: np.random.Generator, sets: int) -> Iterator[Case]:
    for positives, rows in ((6, 200), (10, 200), (30, 200)):
        before, now = np.zeros((2, sets), dtype=bool)
        y = (np.arange(rows) < positives).astype(float)
        for at in range(sets):
            predicted = (rng.random((2, rows)) < np.where(y == 1, 0.7, 0.03)).astype(float)
            hits, both = predicted * y, predicted + y
            total, sizes = hits.sum(axis=1, keepdims=True), both.sum(axis=1, keepdims=True)
            without = 2 * (total - hits) / np.maximum(sizes - both, 1)
            parts = [
                jackknife_components(float(value), left_out)
                for value, left_out in zip((2 * total / sizes)[:, 0], without, strict=True)
            ]
            result = jackknife_t(*parts)
            now[at] = result.pvalue <= ALPHA
            before[at] = 2 * stats.t.sf(abs(result.statistic), rows - 1) <= ALPHA
        yield Case(name=f"F1, {positives} positives of {rows}", before=before, now=now)


# Clusters


def clusters(rng: np.random.Generator, sets: int) -> Iterator[Case]:
    sets = max(sets // 2, 2)
    for count in (12, 20, 30, 60):
        for large_size, share in ((16, 0.2), (16, 0.1), (40, 0.1)):
            before, now = np.zeros((2, sets), dtype=bool)
            for at in range(sets):
                large = rng.random(count) < share
                of = np.repeat(np.arange(count), np.where(large, large_size, 2))
                lead = np.where(large, 0.2, -0.2 * large_size * share / (2 * (1 - share)))[of]
                chance = 0.5 + np.outer([0.5, -0.5], lead)
                a, b = (rng.random((2, len(of))) < chance).astype(float)
                before[at] = cluster_sign_flip(a, b, clusters=of).pvalue <= ALPHA
                widened = unit_widening(count)
                now[at] = cluster_t(a, b, clusters=of, unit=1.0, widened=widened).pvalue <= ALPHA
            words = f"{count} clusters of 2 or {large_size} items, {100 * share:.0f} % large"
            yield Case(name=words, before=before, now=now)
    for count in (8, 15, 24):
        luck = 1.5 * rng.normal(size=(sets, 2, count)) + 2.0 * rng.normal(size=(sets, 1, count))
        runs = rng.random((sets, 2, count, 4)) < 1 / (1 + np.exp(-luck[..., np.newaxis]))
        a, b = np.moveaxis(runs.mean(axis=-1), 1, 0)
        now = cluster_t(a, b, unit=1.0, widened=unit_widening(count)).pvalue <= ALPHA
        before = skew_corrected_t(a, b).pvalue <= ALPHA
        yield Case(name=f"{count} questions with 4 runs each", before=before, now=now)


# Predictions of a cross-validation


def predictions(rng: np.random.Generator, sets: int) -> Iterator[Case]:
    sets = max(sets // 2, 2)
    for n, columns in ((60, 10), (200, 10), (200, 40)):
        before, now = np.zeros((2, sets), dtype=bool)
        for at in range(sets):
            y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
            X = rng.normal(size=(2, n, columns))
            X[:, :, 0] += 0.7 * y
            X = np.concatenate([X, np.ones((2, n, 1))], axis=2)
            fold_of = plan("kfold:10", random_state=at).materialise(n, y.astype(int)).marks[0]
            wrong = np.empty((2, n))
            for fold in range(10):
                train = fold_of != fold
                A = X[:, train]
                normal = np.swapaxes(A, 1, 2) @ A + 1e-6 * np.eye(columns + 1)
                weights = np.linalg.solve(normal, np.swapaxes(A, 1, 2) @ y[train][:, np.newaxis])
                scores = (X[:, ~train] @ weights)[..., 0]
                wrong[:, ~train] = (scores * y[~train] <= 0).astype(float)
            before[at] = mcnemar(*wrong, exact=True).pvalue <= ALPHA
            folds = np.stack([wrong[:, fold_of == fold].mean(axis=1) for fold in range(10)], axis=1)
            result = corrected_repeated_kfold_t(*folds[:, np.newaxis])
            now[at] = result.pvalue <= ALPHA
        yield Case(name=f"linear rule, {n} rows, {columns} columns", before=before, now=now)


# Missing items


def missing(rng: np.random.Generator, sets: int) -> Iterator[Case]:
    sets = max(sets // 10, 2)
    for lost in (0.1, 0.3):
        before, now = np.zeros((2, sets), dtype=bool)
        for at in range(sets):
            wrong = (rng.random((2, 100)) < 0.5).astype(float)
            wrong[0, (wrong[0] == 1) & (rng.random(100) < lost)] = np.nan
            table = bk.Scores(
                wrong, dims=("learner", "instance"), learners=["a", "b"], missing="allow",
                design="test-set", loss_name="zero-one",
            )  # fmt: skip
            decision = bk.compare_scores(table, missing="drop")
            now[at] = decision.decision.evidence.pvalue[0] <= ALPHA
            common, _ = tested(replace(decision.decision.problem, missing=None), decision.settings)
            before[at] = common.pvalue[0] <= ALPHA
        words = f"100 items, one model lacks {100 * lost:.0f} % of those that it gets wrong"
        yield Case(name=words, before=before, now=now)


NULLS = {
    "groups": groups, "time": time, "auc": auc, "f1": f1, "clusters": clusters,
    "predictions": predictions, "missing": missing,
}  # fmt: skip
HEAD = ["null", "data sets", "before", "now", "caution"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("nulls", nargs="*", metavar="NULL", help=", ".join(NULLS))
    parser.add_argument("--sets", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--smoke", action="store_true")
    options = parser.parse_args()
    lines = [f"| {' | '.join(HEAD)} |", "|---|---:|---:|---:|---:|"]
    for name in options.nulls or NULLS:
        rng = np.random.default_rng([options.seed, *name.encode()])
        for case in NULLS[name](rng, 20 if options.smoke else options.sets):
            lines.append(f"| {' | '.join([f'{name}: {case.name}', *case.row()[1:]])} |")
            print(lines[-1], flush=True)
    if options.write:
        command = (
            f"python studies/level_holes.py --sets {options.sets} --seed {options.seed} --write"
        )
        PAGE.write_text("\n".join([*lines, "", f"Made by `{command}`."]) + "\n")


if __name__ == "__main__":
    main()
