"""Which tests keep their level when learners are unstable, and what power that costs.

    python benchmarks/unstable_learners.py [--sets 400] [--work FOLDER] [--write] [--smoke]

Draws data sets on which learners are equal by construction, or differ by a known gap, and counts
how often each test finds a difference. *Own blocks*: each learner sees its own block of columns,
all blocks alike, so that equality holds although there is signal. *Without signal*: labels by
coin, binary columns. `--work` keeps the losses of every scenario, so that an interrupted run
resumes where it stopped; `--write` writes docs/measured/unstable.md and unstable.csv; `--smoke`
draws a few data sets of a few scenarios. About 35 minutes of processor time on one core.
"""

from __future__ import annotations

import argparse
import csv
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bestofk.adjust import adjust
from bestofk.data.encoded import Encoded
from bestofk.learners.registry import learner
from bestofk.learners.whole_plan import predict_subsets
from bestofk.pairwise.bayle import bayle_cv_z
from bestofk.pairwise.conservative_z import conservative_z
from bestofk.pairwise.half_sampling import half_sampling_t
from bestofk.pairwise.nested_cv import nested_cv_t, nested_cv_z
from bestofk.pairwise.pooled_half_sampling import study_factor
from bestofk.pairwise.resampled import corrected_repeated_kfold_t
from bestofk.pairwise.subset_parts import corrected_variance, variance_at_half
from bestofk.plans.making import plan
from bestofk.tails import pvalue_of_t

DOCS = Path(__file__).parent.parent / "docs" / "measured"
HALVINGS = 10
COLUMNS, BAYES_ERROR = 4, 0.25
GAPS = {100: 0.12, 300: 0.07, 1000: 0.04}
"""How much smaller the Bayes error of the first learner is, where power is measured."""


class SevenNeighbours:
    """The majority of the seven nearest rows, over whole plans; the library has no k > 1."""

    def _predict_plan(self, encoded, splits):
        values, y = encoded.values, encoded.y
        distance = np.square(values[:, None] - values[None]).sum(axis=-1)

        def votes(apart):
            nearest = np.argpartition(np.where(apart, np.inf, distance), 6, axis=1)[:, :7]
            return (2 * y[nearest].sum(axis=1) > 7).astype(np.int64)

        if splits.fold_of is None:
            return [votes(tested[None])[tested] for tested in splits.marks]
        predicted = []
        for fold_of in splits.fold_of:
            voted = votes(fold_of[:, None] == fold_of[None])
            predicted += [voted[fold_of == fold] for fold in range(splits.folds)]
        return predicted


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """Data sets of one kind, and which pairs of learners are equal on them."""

    name: str
    rows: int
    learners: tuple[str, ...]
    signal: str
    """``"blocks"``: own blocks; ``"uniform"`` or ``"coins"``: binary columns without signal."""
    gap: float = 0.0
    sets: int = 0
    """Data sets, where cost forbids as many as asked for."""
    one: tuple[int, int] | None = None
    """The pair that counts as *one pair*; None: the mean over all equal (or unequal) pairs."""

    def draw(self, rng):
        """One encoded data set for each learner."""
        K, n = len(self.learners), self.rows
        y = (rng.random(n) < 0.5).astype(np.int64)
        classes = np.array(["0", "1"])
        if self.signal != "blocks":
            shares = rng.random(10) if self.signal == "uniform" else 0.5
            values = (rng.random((n, 10)) < shares).astype(np.float64)
            same = Encoded(values=values, cardinality=np.full(10, 2), y=y, classes=classes)
            return [same] * K
        from scipy.special import ndtri

        made = []
        for k in range(K):
            error = BAYES_ERROR - (self.gap if k == 0 else 0.0)
            half = -float(ndtri(error)) / np.sqrt(COLUMNS)
            values = rng.standard_normal((n, COLUMNS)) + np.where(y, half, -half)[:, None]
            cardinality = np.zeros(COLUMNS, dtype=np.int64)
            made.append(Encoded(values=values, cardinality=cardinality, y=y, classes=classes))
        return made

    def pairs(self):
        """Positions among all pairs i < j: those that are counted, and those of *one pair*."""
        i, j = np.triu_indices(len(self.learners), 1)
        if self.gap:
            counted = np.flatnonzero(i == 0)
        elif self.signal == "blocks":
            alike = np.array(self.learners)
            counted = np.flatnonzero(alike[i] == alike[j])
        else:
            counted = np.arange(len(i))
        if self.one is None:
            return counted, counted
        return counted, np.flatnonzero((i == self.one[0]) & (j == self.one[1]))


PANEL = ("nmc", "logistic", "naive-bayes", "nn", "c4.5", "7-nn")
STABLE = ("nmc", "naive-bayes", "logistic")
TEN_FOLDS = tuple(f"{name}, own blocks" for name in (*STABLE, "nn", "7-nn"))
"""Where halves are cross-validated with ten folds too, at 100 rows."""


def scenarios():
    """All of them: nulls first, then gaps."""
    made = []
    for rows, learners in (
        (100, ("nmc", "naive-bayes", "logistic", "nn", "7-nn", "c4.5")),
        (300, ("nmc", "naive-bayes", "logistic", "nn", "c4.5")),
        (1000, ("nmc", "naive-bayes")),
    ):
        for name in learners:
            made.append(Scenario(name=f"{name}, own blocks", rows=rows, learners=(name,) * 6,
                                 signal="blocks"))  # fmt: skip
    for rows in (100, 300):
        for signal, words in (("uniform", "U(0, 1)"), ("coins", "fair coins")):
            made.append(Scenario(name=f"six learners, {words}, no signal", rows=rows,
                                 learners=PANEL, signal=signal))  # fmt: skip
    made += [
        Scenario(name="2 nn and 4 nmc, own blocks", rows=100, learners=("nn",) * 2 + ("nmc",) * 4,
                 signal="blocks", one=(0, 1)),
        Scenario(name="3 nn and 3 nmc, own blocks", rows=100, learners=("nn",) * 3 + ("nmc",) * 3,
                 signal="blocks"),
    ]  # fmt: skip
    for rows, learners in (
        (100, ("nmc", "naive-bayes", "logistic", "nn", "c4.5")),
        (300, ("nmc", "naive-bayes", "logistic", "nn", "c4.5")),
        (1000, ("nmc",)),
    ):
        for name in learners:
            made.append(Scenario(name=f"{name}, gap", rows=rows, learners=(name,) * 6,
                                 signal="blocks", gap=GAPS[rows], sets=250))  # fmt: skip
    return made


def _fold_losses(predicted, y, marks, folds):
    """(runs, folds) zero-one losses from predictions fold by fold."""
    losses = []
    codes = iter(predicted)
    for line in marks:
        losses.append([float(np.mean(next(codes) != y[line == fold])) for fold in range(folds)])
    return np.array(losses)


def _drawn(scenario, number):
    """One data set for each learner, the learners, and the seed of the plan."""
    rng = np.random.default_rng([scenario.rows, number, *scenario.name.encode()])
    sets = scenario.draw(rng)
    estimators = [SevenNeighbours() if name == "7-nn" else learner(name)
                  for name in scenario.learners]  # fmt: skip
    return sets, estimators, int(rng.integers(2**31))


def record(scenario, number):
    """Losses in 10x10 and on halves of the rows, and the processor time of both."""
    sets, estimators, seed = _drawn(scenario, number)
    n, y, K = scenario.rows, sets[0].y, len(estimators)
    main = plan("10x10", random_state=seed).materialise(n, y)
    ten = n == 100 and scenario.name in TEN_FOLDS
    halves = {
        folds: plan(f"10x10+halves:{HALVINGS}x{folds}", random_state=seed).materialise(n, y)
        for folds in ((5, 10) if ten else (5,))
    }
    out = {
        "main": np.empty((K, 10, 10)),
        "instances": np.empty((K, n)),
        "seconds": np.zeros((K, 1 + len(halves))),
        "fold_of": np.array(main.fold_of[0]),
    }
    for k, (estimator, encoded) in enumerate(zip(estimators, sets, strict=True)):
        begin = time.process_time()
        predicted = estimator._predict_plan(encoded, main)
        out["seconds"][k, 0] = time.process_time() - begin
        out["main"][k] = _fold_losses(predicted, y, main.fold_of, 10)
        for fold in range(10):
            tested = main.fold_of[0] == fold
            out["instances"][k, tested] = predicted[fold] != y[tested]
        for place, (folds, splits) in enumerate(halves.items()):
            table = out.setdefault(f"halves{folds}", np.empty((K, 2 * HALVINGS, folds)))
            begin = time.process_time()
            predicted = list(predict_subsets(estimator, encoded, splits, list(range(10, 30))))
            out["seconds"][k, 1 + place] = time.process_time() - begin
            table[k] = _fold_losses(predicted, y, splits.subset_marks, folds)
    return out


def record_nested(scenario, number):
    """Losses in 10x5 and with pairs of folds left out together."""
    sets, estimators, seed = _drawn(scenario, number)
    y, K = sets[0].y, len(estimators)
    splits = plan("10x5+nested", random_state=seed).materialise(scenario.rows, y)
    out = {"outer": np.empty((K, 10, 5)), "inner": np.empty((K, 100, 2))}
    for k, (estimator, encoded) in enumerate(zip(estimators, sets, strict=True)):
        predicted = estimator._predict_plan(encoded, splits.main)
        out["outer"][k] = _fold_losses(predicted, y, splits.fold_of, 5)
        predicted = list(predict_subsets(estimator, encoded, splits, list(range(10, 110))))
        out["inner"][k] = _fold_losses(predicted, y, splits.subset_marks, 2)
    return out


def records(scenario, sets, work):
    """The records of a scenario, from the folder where it has them."""
    count = min(sets, scenario.sets or sets)
    label = "".join(c if c.isalnum() else "-" for c in scenario.name)
    table = {}
    for prefix, function in (("", record), ("N-", record_nested)):
        path = None if work is None else work / f"{prefix}{label}-{scenario.rows}-{count}.npz"
        if path is not None and path.exists():
            table |= dict(np.load(path))
            continue
        made = [function(scenario, number) for number in range(count)]
        part = {name: np.stack([one[name] for one in made]) for name in made[0]}
        table |= part
        if path is not None:
            work.mkdir(parents=True, exist_ok=True)
            np.savez_compressed(path, **part)
    return table


def _differences(table):
    i, j = np.triu_indices(table.shape[1], 1)
    return table[:, i], table[:, j]


def _flat(table, folds, halvings):
    """Both parts in one axis, as the registered tests take them."""
    sets, K = table["main"].shape[:2]
    halves = table[f"halves{folds}"][:, :, : 2 * halvings]
    return np.concatenate(
        [table["main"].reshape(sets, K, -1), halves.reshape(sets, K, -1)], axis=2
    )  # fmt: skip


def _variances(table, folds, halvings):
    """Mean difference, corrected variance and half the variance at half, (sets, pairs)."""
    a, b = _differences(table["main"])
    d = np.moveaxis(a - b, (2, 3), (0, 1))
    a, b = _differences(table[f"halves{folds}"][:, :, : 2 * halvings])
    halves = np.moveaxis(a - b, (2, 3), (0, 1))
    return d.mean(axis=(0, 1)), corrected_variance(d), variance_at_half(halves) / 2


def _by_variance(mean, variance, df):
    return np.asarray(pvalue_of_t(mean / np.sqrt(np.maximum(variance, 1e-12)), df, "two-sided"))


def corrected(table):
    return corrected_repeated_kfold_t(*_differences(table["main"])).pvalue


def registered(function, folds, halvings):
    """A registered test that takes both parts."""

    def pvalues(table):
        a, b = _differences(_flat(table, folds, halvings))
        return function(
            a, b, runs=10, folds=10, halvings=halvings, half_folds=folds
        ).pvalue  # fmt: skip

    return pvalues


def per_study(folds, halvings, *, share=1.0, floor=False, df=99):
    """One factor per study; `share` of it and the rest of the pair's own, perhaps at least 1."""

    def pvalues(table):
        mean, variance, halved = _variances(table, folds, halvings)
        if share == 1.0:
            halves = table[f"halves{folds}"][:, :, : 2 * halvings]
            pooled = [study_factor(m, h) for m, h in zip(table["main"], halves, strict=True)]
            factor = np.array(pooled)[:, np.newaxis]
        else:
            own = halved / np.maximum(variance, 1e-12)
            factor = share * own.mean(axis=1, keepdims=True) + (1 - share) * own
        if floor:
            factor = np.maximum(factor, 1.0)
        return _by_variance(mean, factor * variance, df)

    return pvalues


def per_learner(folds, halvings, *, df=99):
    """The factor of a pair is the mean of those of its learners, by least squares."""

    def pvalues(table):
        mean, variance, halved = _variances(table, folds, halvings)
        K = table["main"].shape[1]
        i, j = np.triu_indices(K, 1)
        members = np.zeros((len(i), K))
        members[np.arange(len(i)), i] = members[np.arange(len(i)), j] = 0.5
        own = halved / np.maximum(variance, 1e-12)
        factor = np.maximum(own @ (members @ np.linalg.pinv(members)).T, 0.1)
        return _by_variance(mean, factor * variance, df)

    return pvalues


def raised(folds, halvings):
    """The larger of the corrected variance and that from halves, three df a halving."""

    def pvalues(table):
        mean, variance, halved = _variances(table, folds, halvings)
        return _by_variance(mean, np.maximum(variance, halved), 3 * halvings)

    return pvalues


def nested(function, runs):
    """A registered test on pairs of folds left out together, in the first runs."""

    def pvalues(table):
        sets, K = table["outer"].shape[:2]
        parts = table["outer"][:, :, :runs], table["inner"][:, :, : 10 * runs]
        flat = np.concatenate([part.reshape(sets, K, -1) for part in parts], axis=2)
        return function(*_differences(flat), runs=runs, folds=5).pvalue

    return pvalues


def bayle(table):
    made = []
    for instances, fold_of in zip(table["instances"], table["fold_of"], strict=True):
        i, j = np.triu_indices(len(instances), 1)
        made.append(bayle_cv_z(instances[i], instances[j], fold_of=fold_of).pvalue)
    return np.array(made)


TESTS = {
    "corrected-repeated-kfold-t": ("10x10", 100, corrected),
    "nested-cv-t": ("10x5+nested", 150, nested(nested_cv_t, 10)),
    "nested-cv-t, 5 runs": ("5x5+nested", 75, nested(nested_cv_t, 5)),
    "nested-cv-z": ("10x5+nested", 150, nested(nested_cv_z, 10)),
    "half-sampling-t": ("10x10+halves:10x5", 200, registered(half_sampling_t, 5, 10)),
    "half-sampling-t, 5 halvings": ("10x10+halves:5x5", 150, registered(half_sampling_t, 5, 5)),
    "half-sampling-t, 10 folds": ("10x10+halves:10x10", 300, registered(half_sampling_t, 10, 10)),
    "half-sampling-t, 5 halvings, 10 folds": (
        "10x10+halves:5x10", 200, registered(half_sampling_t, 10, 5)),
    "pooled-half-sampling-t": ("10x10+halves:10x5", 200, per_study(5, 10)),
    "pooled-half-sampling-t, 5 halvings": ("10x10+halves:5x5", 150, per_study(5, 5)),
    "conservative-z": ("10x10+halves:10x5", 200, registered(conservative_z, 5, 10)),
    "bayle-cv-z": ("kfold:10", 10, bayle),
    "(idea) one factor per learner": ("10x10+halves:10x5", 200, per_learner(5, 10)),
    "(idea) the larger of corrected and halves": ("10x10+halves:10x5", 200, raised(5, 10)),
    "(idea) half own, half study's factor": (
        "10x10+halves:10x5", 200, per_study(5, 10, share=0.5, floor=True, df=40)),
}  # fmt: skip
"""Name: (plan, fits, p-values of all pairs from the records of a scenario)."""


def shares(scenario, table, test):
    """Share of data sets in which one pair, and in which (nulls: any; gaps: each) of all by Holm."""
    _, _, pvalues = TESTS[test]
    if "10 folds" in test and "halves10" not in table:
        return None
    p = pvalues(table)
    counted, one = scenario.pairs()
    adjusted = np.stack([adjust(row, "holm") for row in p])
    found, alone = adjusted <= 0.05, p <= 0.05
    if scenario.gap:
        a, b = _differences(table["main"].mean(axis=(2, 3)))
        right = a < b
        return float((alone & right)[:, one].mean()), float((found & right)[:, counted].mean())
    return float(alone[:, one].mean()), float(found[:, counted].any(axis=1).mean())
