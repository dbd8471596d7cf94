"""Measure which tests keep their level for unstable learners, and what power that costs.

    python studies/unstable_learners.py [--sets 400] [--work FOLDER] [--write] [--smoke]
    python studies/unstable_learners.py --confirm [--sets 800] [--work FOLDER] [--write]

Draw data sets on which learners are equal by construction, or differ by a known gap, and count how
often each test finds a difference. *Own blocks*: each learner sees its own block of columns, all
blocks from the same distribution, so that learners are equal although there is signal. *Without
signal*: random labels, binary columns. `--work` keeps the losses of every scenario, so that an
interrupted run resumes; `--write` writes docs/measured/unstable.md and unstable.csv; `--smoke`
draws a few data sets of a few scenarios. Takes about an hour of CPU time on one core.

`--confirm` draws new data sets, which played no part in any choice, and checks only whether nested
cross-validation can be the default: at most 6 percent of the nulls rejected, at most 5 points of
power lost on stable learners, at most twice the CPU time of 10x10. It writes
docs/measured/unstable_confirmed.md and .csv.
"""

from __future__ import annotations

import argparse
import csv
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from bestofk.data.schema import Encoded
from bestofk.learners.predict import predict_subsets
from bestofk.learners.registry import learner
from bestofk.splits.plans import plan
from bestofk.stats.adjust import adjust
from bestofk.stats.pairwise.half_sampling import (
    corrected_variance,
    half_sampling_t,
    study_factor,
    variance_at_half,
)
from bestofk.stats.pairwise.nested_cv import nested_cv_t, nested_cv_z
from bestofk.stats.pairwise.resampled import corrected_repeated_kfold_t
from bestofk.stats.pairwise.z_tests import bayle_cv_z, conservative_z
from bestofk.stats.tails import pvalue_of_t

DOCS = Path(__file__).parent.parent / "docs" / "measured"
HALVINGS = 10
COLUMNS, BAYES_ERROR = 4, 0.25
GAPS = {100: 0.12, 300: 0.07, 1000: 0.04}
"""How much smaller the Bayes error of the first learner is, to measure power."""


class SevenNeighbours:
    """Predict the majority of the seven nearest rows, over whole plans."""

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
    """Data sets of one kind, and the pairs of learners that are equal on them."""

    name: str
    rows: int
    learners: tuple[str, ...]
    signal: str
    """``"blocks"``: own blocks; ``"uniform"`` or ``"coins"``: binary columns without signal."""
    gap: float = 0.0
    sets: int = 0
    """Limit of the number of data sets, for expensive scenarios."""
    one: tuple[int, int] | None = None
    """The pair that counts as *one pair*; None for the mean over all equal (or unequal) pairs."""

    def draw(self, rng):
        """Return one encoded data set for each learner."""
        K, n = len(self.learners), self.rows
        y = (rng.random(n) < 0.5).astype(np.int64)
        classes = np.array(["0", "1"])
        if self.signal != "blocks":
            shares = rng.random(10) if self.signal == "uniform" else 0.5
            values = (rng.random((n, 10)) < shares).astype(np.float64)
            same = Encoded(values=values, cardinality=np.full(10, 2), y=y, classes=classes)
            return [same] * K
        from scipy.special import ndtri

        result = []
        for k in range(K):
            error = BAYES_ERROR - (self.gap if k == 0 else 0.0)
            half = -float(ndtri(error)) / np.sqrt(COLUMNS)
            values = rng.standard_normal((n, COLUMNS)) + np.where(y, half, -half)[:, None]
            cardinality = np.zeros(COLUMNS, dtype=np.int64)
            result.append(Encoded(values=values, cardinality=cardinality, y=y, classes=classes))
        return result

    def pairs(self):
        """Return positions among all pairs i < j: the counted pairs, and those of *one pair*."""
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
"""Scenarios whose halves are also cross-validated with ten folds, at 100 rows."""


def scenarios():
    """Return all scenarios: nulls first, then gaps."""
    result = []
    for rows, learners in (
        (30, ("nmc", "nn")),
        (100, ("nmc", "naive-bayes", "logistic", "nn", "7-nn", "c4.5")),
        (300, ("nmc", "naive-bayes", "logistic", "nn", "c4.5")),
        (1000, ("nmc", "naive-bayes")),
    ):
        result += [
            Scenario(name=f"{name}, own blocks", rows=rows, learners=(name,) * 6, signal="blocks")
            for name in learners
        ]
    for rows in (100, 300):
        for signal, words in (("uniform", "U(0, 1)"), ("coins", "fair coins")):
            result.append(Scenario(name=f"six learners, {words}, no signal", rows=rows,
                                 learners=PANEL, signal=signal))  # fmt: skip
    result += [
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
        result += [
            Scenario(name=f"{name}, gap", rows=rows, learners=(name,) * 6, signal="blocks",
                     gap=GAPS[rows], sets=250)
            for name in learners
        ]  # fmt: skip
    return result


def _fold_losses(predicted, y, marks, folds):
    """Return zero-one losses (runs, folds) from predictions fold by fold."""
    codes = iter(predicted)
    return np.array(
        [[np.mean(next(codes) != y[line == fold]) for fold in range(folds)] for line in marks]
    )


def _drawn(scenario, number, seed):
    """Return one data set for each learner, the learners, and the seed of the plan."""
    fresh = [seed] if seed else []
    rng = np.random.default_rng([*fresh, scenario.rows, number, *scenario.name.encode()])
    sets = scenario.draw(rng)
    estimators = [SevenNeighbours() if name == "7-nn" else learner(name)
                  for name in scenario.learners]  # fmt: skip
    return sets, estimators, int(rng.integers(2**31))


def record(scenario, number, fresh):
    """Compute losses in 10x10 and on halves of the rows, and the CPU time of both."""
    sets, estimators, seed = _drawn(scenario, number, fresh)
    n, y, K = scenario.rows, sets[0].y, len(estimators)
    main = plan("10x10", random_state=seed).materialise(n, y)
    ten = n == 100 and scenario.name in TEN_FOLDS
    halves = {
        folds: plan(f"10x10+halves:{HALVINGS}x{folds}", random_state=seed).materialise(n, y)
        for folds in (() if fresh else (5, 10) if ten else (5,))
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
        for number, (folds, splits) in enumerate(halves.items()):
            table = out.setdefault(f"halves{folds}", np.empty((K, 2 * HALVINGS, folds)))
            begin = time.process_time()
            predicted = list(predict_subsets(estimator, encoded, splits, list(range(10, 30))))
            out["seconds"][k, 1 + number] = time.process_time() - begin
            table[k] = _fold_losses(predicted, y, splits.subset_marks, folds)
    return out


def record_nested(scenario, number, fresh):
    """Compute losses in 10x5 and with pairs of folds left out together."""
    sets, estimators, seed = _drawn(scenario, number, fresh)
    y, K = sets[0].y, len(estimators)
    splits = plan("10x5+nested", random_state=seed).materialise(scenario.rows, y)
    out = {"outer": np.empty((K, 10, 5)), "inner": np.empty((K, 100, 2))}
    for k, (estimator, encoded) in enumerate(zip(estimators, sets, strict=True)):
        predicted = estimator._predict_plan(encoded, splits.main)
        out["outer"][k] = _fold_losses(predicted, y, splits.fold_of, 5)
        predicted = list(predict_subsets(estimator, encoded, splits, list(range(10, 110))))
        out["inner"][k] = _fold_losses(predicted, y, splits.subset_marks, 2)
    return out


def records(scenario, sets, work, seed):
    """Return the records of a scenario, from the folder if it has them."""
    count = min(sets, scenario.sets or sets)
    label = "".join(c if c.isalnum() else "-" for c in scenario.name)
    table = {}
    own = f"{seed}-" if seed else ""
    for prefix, function in ((own, record), (f"{own}N-", record_nested)):
        path = None if work is None else work / f"{prefix}{label}-{scenario.rows}-{count}.npz"
        if path is not None and path.exists():
            table |= dict(np.load(path))
            continue
        result = [function(scenario, number, seed) for number in range(count)]
        part = {name: np.stack([one[name] for one in result]) for name in result[0]}
        table |= part
        if path is not None:
            work.mkdir(parents=True, exist_ok=True)
            np.savez_compressed(path, **part)
    return table


def _differences(table):
    i, j = np.triu_indices(table.shape[1], 1)
    return table[:, i], table[:, j]


def _flat(table, folds, halvings):
    """Join both parts along one axis, as the registered tests expect."""
    sets, K = table["main"].shape[:2]
    halves = table[f"halves{folds}"][:, :, : 2 * halvings]
    return np.concatenate(
        [table["main"].reshape(sets, K, -1), halves.reshape(sets, K, -1)], axis=2
    )  # fmt: skip


def _variances(table, folds, halvings):
    """Return mean difference, corrected variance and half the variance at half (sets, pairs)."""
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
    """Return a registered test of both parts."""

    def pvalues(table):
        a, b = _differences(_flat(table, folds, halvings))
        return function(
            a, b, runs=10, folds=10, halvings=halvings, half_folds=folds
        ).pvalue  # fmt: skip

    return pvalues


def per_study(folds, halvings, *, share=1.0, floor=False, df=99):
    """Return a test with a mix of one factor per study (`share`) and the factor of the pair."""

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
    """Return a test whose pair factor is the mean of its learners' factors (least squares)."""

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
    """Use the larger of the corrected variance and that of halves, three df per halving."""

    def pvalues(table):
        mean, variance, halved = _variances(table, folds, halvings)
        return _by_variance(mean, np.maximum(variance, halved), 3 * halvings)

    return pvalues


def nested(function, runs):
    """Return a registered test on pairs of folds left out together, in the first runs."""

    def pvalues(table):
        sets, K = table["outer"].shape[:2]
        parts = table["outer"][:, :, :runs], table["inner"][:, :, : 10 * runs]
        flat = np.concatenate([part.reshape(sets, K, -1) for part in parts], axis=2)
        facts = {"rows": table["instances"].shape[2]} if function is nested_cv_t else {}
        return function(*_differences(flat), runs=runs, folds=5, **facts).pvalue

    return pvalues


def bayle(table):
    result = []
    for instances, fold_of in zip(table["instances"], table["fold_of"], strict=True):
        i, j = np.triu_indices(len(instances), 1)
        result.append(bayle_cv_z(instances[i], instances[j], fold_of=fold_of).pvalue)
    return np.array(result)


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
"""{name: (plan, fits, function from records of a scenario to p-values of all pairs)}."""


PAIRS_WITHOUT_SIGNAL = {"nmc against logistic": (0, 1), "nn against c4.5": (3, 4)}


def shares(scenario, table, test):
    """Return (question, share of data sets) of one test on one scenario; empty if not run."""
    _, _, pvalues = TESTS[test]
    if "10 folds" in test and "halves10" not in table:
        return []
    p = np.asarray(pvalues(table))
    counted, one = scenario.pairs()
    alone = p <= 0.05
    claimed = np.stack([adjust(row, "holm") for row in p]) <= 0.05
    if scenario.gap:
        a, b = _differences(table["main"].mean(axis=(2, 3)))
        right = a < b
        return [
            ("one pair", (alone & right)[:, one].mean()),
            ("each of 15, Holm", (claimed & right)[:, counted].mean()),
        ]
    rows = [("any of 15, Holm", claimed[:, counted].any(axis=1).mean())]
    if scenario.learners != PANEL:
        return [("one pair", alone[:, one].mean()), *rows]
    i, j = np.triu_indices(len(PANEL), 1)
    for words, pair in PAIRS_WITHOUT_SIGNAL.items():
        rows.append((words, alone[:, (i == pair[0]) & (j == pair[1])].mean()))
    return [*rows, ("worst of 15 pairs", alone.mean(axis=0).max())]


def lines(sets, work, selected, seed=0):
    """Return one row of the table for every scenario, test and question."""
    result = []
    tests = CONFIRMED if seed else TESTS
    for scenario in selected:
        table = records(scenario, sets, work, seed)
        for test in tests:
            spec, fits, _ = TESTS[test]
            result += [
                {
                    "data": scenario.name,
                    "rows": scenario.rows,
                    "sets": len(table["main"]),
                    "null": not scenario.gap,
                    "question": question,
                    "test": test,
                    "plan": spec,
                    "fits": fits,
                    "percent": round(100 * float(share), 2),
                }
                for question, share in shares(scenario, table, test)
            ]
        print(f"{scenario.name}, {scenario.rows} rows", file=sys.stderr, flush=True)
    return result


JUDGED = ("one pair", "any of 15, Holm", *PAIRS_WITHOUT_SIGNAL)
MOST, LOSS, TIMES = 6.0, 5.0, 2.0
CONFIRMED = ("corrected-repeated-kfold-t", "nested-cv-t")
SEED = 2311
"""Seed of ``--confirm``, used once, after all choices were made."""


def summary(measured):
    """Return for each test the worst level, and the power lost against the corrected test."""

    def of(test, **selected):
        return {
            (one["data"], one["rows"], one["question"]): one["percent"]
            for one in measured
            if one["test"] == test and all(one[name] == value for name, value in selected.items())
        }

    plain = of("corrected-repeated-kfold-t", null=False)
    rows = []
    for test in dict.fromkeys(one["test"] for one in measured):
        spec, fits, _ = TESTS[test]
        nulls = {at: rate for at, rate in of(test, null=True).items() if at[2] in JUDGED}
        gaps = of(test, null=False)
        stable = {at: plain[at] - gaps[at] for at in gaps if at[0].split(",")[0] in STABLE}
        alone = [lost for at, lost in stable.items() if at[2] == "one pair"]
        both = [lost for at, lost in stable.items() if at[2] != "one pair"]
        worst = max(nulls, key=nulls.get)
        rows.append(
            {
                "test": test,
                "plan": spec,
                "fits": fits,
                "worst level": nulls[worst],
                "situation": f"{worst[0]}, {worst[1]} rows, {worst[2]}",
                "holds": nulls[worst] <= MOST,
                "power": float(np.mean(list(gaps.values()))) if gaps else float("nan"),
                "lost": float(np.mean(alone)) if alone else float("nan"),
                "lost of 15": float(np.mean(both)) if both else float("nan"),
                "most lost": max(stable.values(), default=float("nan")),
            }
        )
    return rows


def _table(rows, heads):
    text = [f"| {' | '.join(heads)} |", f"| {' | '.join('---' for _ in heads)} |"]
    return text + [f"| {' | '.join(row)} |" for row in rows]


def page(measured, costs, command):
    """Return the text of docs/measured/unstable.md."""
    rows = summary(measured)
    nulls = max(one["sets"] for one in measured if one["null"])
    gaps = max((one["sets"] for one in measured if not one["null"]), default=0)
    standard_error = 100 * (0.05 * 0.95 / nulls) ** 0.5
    text = [
        f"Made by `{command}`. All rates are percentages of data sets, two-sided at 5 percent; "
        f"{nulls} data sets for each null and {gaps} for each gap, so that "
        f"a rate of 5 has a standard error of {standard_error:.1f}. The worst of many rates is "
        "above 5 by chance too.",
        "",
        "**Summary.** *Worst level*: the largest rate among one pair of equal learners, any of 15 "
        "pairs (six learners, Holm), nmc against logistic and nn against c4.5 without signal. "
        "*Power*: mean over all gaps. *Lost*: points less than corrected-repeated-kfold-t in 10x10 "
        "has, mean over stable learners (nmc, naive-bayes, logistic), one pair / each of 15 pairs; "
        "*at most*: in the worst of these cases.",
        "",
        *_table(
            [
                [
                    row["test"],
                    row["plan"],
                    str(row["fits"]),
                    f"{row['worst level']:.1f} ({row['situation']})",
                    "yes" if row["holds"] else "no",
                    f"{row['power']:.0f}",
                    f"{row['lost']:.1f} / {row['lost of 15']:.1f}",
                    f"{row['most lost']:.1f}",
                ]
                for row in rows
            ],
            ["test", "plan", "fits", "worst level", f"at most {MOST:g}", "power", "lost",
             "at most"],
        ),
        "",
        "**Processor time** of `compare` against that in plan 10x10:",
        "",
        *_table(
            [[one["learners"], str(one["rows"]), f"{one['nested']:.2f}", f"{one['halves']:.2f}"]
             for one in costs],
            ["learners", "rows", "10x5+nested", "10x10+halves:10x5"],
        ),
        "",
    ]  # fmt: skip
    for null, title in ((True, "Equal learners"), (False, "Learners that differ")):
        part = [one for one in measured if one["null"] is null]
        tests = [test for test in TESTS if any(one["test"] == test for one in part)]
        cells = {}
        for one in part:
            at = (one["data"], one["rows"], one["question"])
            cells.setdefault(at, {})[one["test"]] = f"{one['percent']:.1f}"
        body = [
            [data, str(rows_), question, *(shares.get(test, "") for test in tests)]
            for (data, rows_, question), shares in cells.items()
        ]
        text += [f"**{title}**", "", *_table(body, ["data", "rows", "question", *tests]), ""]
    return "\n".join(text)


def cost(sizes=(100, 300), repeats=3):
    """Return the CPU time of `compare` (least of the repeats) as a ratio to that of 10x10."""
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.tree import DecisionTreeClassifier

    import bestofk as bk
    from bestofk.lab.problems.classes import GaussianClasses

    panels = {
        "nmc, logistic, naive-bayes, nn, c4.5": ["nmc", "logistic", "naive-bayes", "nn", "c4.5"],
        "scikit-learn: logistic, tree, neighbours": [
            LogisticRegression(), DecisionTreeClassifier(), KNeighborsClassifier()],
        "scikit-learn: forest of 20, tree": [
            RandomForestClassifier(n_estimators=20), DecisionTreeClassifier()],
    }  # fmt: skip

    def seconds(learners, data, spec):
        begin = time.process_time()
        bk.compare(
            learners,
            data.values,
            data.y,
            cv=spec,
            progress=False,
            execution=bk.Execution(engine="serial"),
        )
        return time.process_time() - begin

    result = []
    for words, learners in panels.items():
        for rows in sizes:
            data = GaussianClasses(rows=rows, attributes=8).encoded(np.random.default_rng(rows))
            seconds(learners, data, "2x5+nested")
            took = {
                spec: min(seconds(learners, data, spec) for _ in range(repeats))
                for spec in ("10x10", "10x5+nested", "10x10+halves:10x5")
            }
            plain, nested_, halves = took.values()
            result.append({"learners": words, "rows": rows, "nested": nested_ / plain,
                         "halves": halves / plain})  # fmt: skip
            print(f"{words}, {rows} rows: {result[-1]}", file=sys.stderr, flush=True)
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=None)
    parser.add_argument("--work", type=Path, help="keep the losses of every scenario here")
    parser.add_argument("--write", action="store_true", help="write docs/measured/unstable.*")
    parser.add_argument("--smoke", action="store_true", help="a few data sets of a few scenarios")
    parser.add_argument("--confirm", action="store_true", help="fresh data sets, one question")
    options = parser.parse_args()
    selected, sets, seed = scenarios(), options.sets, SEED if options.confirm else 0
    if options.smoke:
        few = {"nmc, own blocks", "six learners, U(0, 1), no signal", "nmc, gap"}
        selected, sets = [one for one in selected if one.rows == 100 and one.name in few], 3
    elif options.confirm:
        sets = sets or 800
        selected = [replace(one, sets=one.sets and sets // 2) for one in selected]
    else:
        sets = sets or 400
    measured = lines(sets, options.work, selected, seed)
    costs = cost((100,), repeats=1) if options.smoke else cost()
    option = " --confirm" if options.confirm else ""
    text = page(
        measured, costs, f"python studies/unstable_learners.py{option} --sets {sets} --write"
    )
    name = "unstable_confirmed" if options.confirm else "unstable"
    if not options.write:
        print(text)
        return
    (DOCS / f"{name}.md").write_text(text, encoding="utf-8")
    with (DOCS / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(measured[0]))
        writer.writeheader()
        writer.writerows(measured)


if __name__ == "__main__":
    main()
