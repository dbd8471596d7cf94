"""Measure level, power and cautions of nested-cv-t with three, five and ten runs.

    BESTOFK_DATA=FOLDER python studies/default_plan.py [--write] [--smoke]

Draw data sets on which learners are equal by construction. Each learner sees its own columns,
drawn independently given the class of the row, so that all learners have the same expected error.
The columns are *normal* (four, Bayes error .25; the first of four learners has a smaller one, to
measure power), *marks* (ten binary columns, some of them rare at any number of rows, and two normal
ones), or rows of a real data set. GaussianNB, LDA and QDA are computed from sums over folds, which
gives the predictions of scikit-learn in a fraction of the time (QDA with a ridge of 1e-6).

Variants of the standard error were compared on the same sources with other seeds. `--write` writes
studies/results/default_plan.md and .csv; `--smoke` draws two data sets of every case. Takes about
15 minutes on one core.
"""

from __future__ import annotations

import argparse
import csv
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.spatial import cKDTree
from scipy.special import ndtri
from sklearn.tree import DecisionTreeClassifier

from bestofk.papers.data import locate
from bestofk.stats.pairwise.nested_cv import inner_means, nested_cv_t, unstable_learners
from bestofk.stats.pairwise.resampled import corrected_repeated_kfold_t
from bestofk.stats.tails import pvalue_of_t

RESULTS = Path(__file__).parent / "results"
SEED = 4040
FOLDS, COPIES, ALPHA = 5, 4, 0.05
FIRST, SECOND = np.triu_indices(FOLDS, 1)
MODELS = FOLDS + len(FIRST)
LEFT_OUT = np.zeros((MODELS, FOLDS), dtype=bool)
"""The folds that every model of a run leaves out: one, or a pair."""
LEFT_OUT[np.arange(FOLDS), np.arange(FOLDS)] = True
LEFT_OUT[FOLDS + np.arange(len(FIRST)), FIRST] = True
LEFT_OUT[FOLDS + np.arange(len(FIRST)), SECOND] = True


# Learners: losses of all models of all runs


def rates(wrong, fold_of):
    """Return error rates of runs (runs, folds) and of pairs (runs * pairs, 2).

    `wrong` has shape (rows, runs, models).
    """
    outer, inner = [], []
    for run, folds in enumerate(fold_of):
        member = (folds == np.arange(FOLDS)[:, np.newaxis]).astype(np.float64)
        means = member @ wrong[:, run] / member.sum(axis=1, keepdims=True)
        outer.append(np.diag(means[:, :FOLDS]))
        pairs = FOLDS + np.arange(len(FIRST))
        inner.append(np.stack([means[FIRST, pairs], means[SECOND, pairs]], axis=1))
    return np.array(outer), np.concatenate(inner)


def moments(X, y, fold_of, square):
    """Return counts, sums and sums of squares by model and class, for the training rows."""

    def by_model(part):
        folds = np.array([[[part(X[(run == fold) & (y == label)]) for label in (0, 1)]
                           for fold in range(FOLDS)] for run in fold_of])  # fmt: skip
        kept = np.einsum("mk,rk...->rm...", (~LEFT_OUT).astype(np.float64), folds)
        return kept.reshape(-1, *kept.shape[2:])

    return by_model(len), by_model(lambda rows: rows.sum(axis=0)), by_model(square)


def from_scores(scores, y, fold_of):
    """Return the rates of models that predict class 1 if their score is positive."""
    wrong = ((scores > 0) != (y[:, np.newaxis] == 1)).astype(np.float64)
    return rates(wrong.reshape(len(y), len(fold_of), MODELS), fold_of)


def gaussian_nb(X, y, fold_of):
    n, sums, squares = moments(X, y, fold_of, lambda rows: np.square(rows).sum(axis=0))
    everything = n.sum(axis=1)[:, np.newaxis]
    spread = squares.sum(axis=1) / everything - np.square(sums.sum(axis=1) / everything)
    mean = sums / n[..., np.newaxis]
    variance = np.maximum(squares / n[..., np.newaxis] - np.square(mean), 0.0)
    variance += 1e-9 * spread.max(axis=1)[:, np.newaxis, np.newaxis]
    constant = np.log(n) - 0.5 * (np.square(mean) / variance + np.log(variance)).sum(axis=2)
    quadratic, linear = -0.5 / variance, mean / variance
    return from_scores(
        np.square(X) @ (quadratic[:, 1] - quadratic[:, 0]).T
        + X @ (linear[:, 1] - linear[:, 0]).T
        + (constant[:, 1] - constant[:, 0]),
        y, fold_of,
    )  # fmt: skip


def _covariances(X, y, fold_of):
    n, sums, squares = moments(X, y, fold_of, lambda rows: rows.T @ rows)
    mean = sums / n[..., np.newaxis]
    outer = mean[..., np.newaxis] * mean[..., np.newaxis, :]
    return n, mean, squares / n[..., np.newaxis, np.newaxis] - outer


def lda(X, y, fold_of):
    n, mean, covariance = _covariances(X, y, fold_of)
    shares = (n / n.sum(axis=1, keepdims=True))[..., np.newaxis, np.newaxis]
    pooled = (shares * covariance).sum(axis=1)
    weights = np.linalg.solve(pooled, (mean[:, 1] - mean[:, 0])[..., np.newaxis])[..., 0]
    constant = np.log(n[:, 1] / n[:, 0]) - (weights * mean.sum(axis=1)).sum(axis=1) / 2
    return from_scores(X @ weights.T + constant, y, fold_of)


def qda(X, y, fold_of):
    n, mean, covariance = _covariances(X, y, fold_of)
    columns = X.shape[1]
    scale = np.trace(covariance.mean(axis=1), axis1=1, axis2=2) / columns
    covariance += 1e-6 * scale[:, np.newaxis, np.newaxis, np.newaxis] * np.eye(columns)
    inverse = np.linalg.inv(covariance)
    linear = np.einsum("mcpq,mcq->mcp", inverse, mean)
    logs = np.linalg.slogdet(covariance)[1]
    constant = np.log(n) - 0.5 * (np.einsum("mcp,mcp->mc", linear, mean) + logs)
    quadratic = -0.5 * (inverse[:, 1] - inverse[:, 0]).reshape(len(n), -1)
    products = (X[:, :, np.newaxis] * X[:, np.newaxis]).reshape(len(X), -1)
    return from_scores(
        products @ quadratic.T
        + X @ (linear[:, 1] - linear[:, 0]).T
        + (constant[:, 1] - constant[:, 0]),
        y, fold_of,
    )  # fmt: skip


def nearest_neighbour(X, y, fold_of):
    wrong = np.empty((len(y), len(fold_of), MODELS))
    for run, folds in enumerate(fold_of):
        distance, label = np.empty((2, len(y), FOLDS))
        for fold in range(FOLDS):
            rows = np.flatnonzero(folds == fold)
            distance[:, fold], nearest = cKDTree(X[rows]).query(X)
            label[:, fold] = y[rows[nearest]]
        for model, left_out in enumerate(LEFT_OUT):
            best = np.where(left_out, np.inf, distance).argmin(axis=1)
            wrong[:, run, model] = label[np.arange(len(y)), best] != y
    return rates(wrong, fold_of)


def tree(X, y, fold_of):
    values = np.ascontiguousarray(X, dtype=np.float32)
    wrong = np.zeros((len(y), len(fold_of), MODELS))
    for run, folds in enumerate(fold_of):
        for model, left_out in enumerate(LEFT_OUT):
            tested = left_out[folds]
            fitted = DecisionTreeClassifier(random_state=run)
            fitted.fit(values[~tested], y[~tested], check_input=False)
            wrong[tested, run, model] = (
                fitted.predict(values[tested], check_input=False) != y[tested]
            )
    return rates(wrong, fold_of)


LEARNERS = {
    "GaussianNB": gaussian_nb, "LDA": lda, "QDA": qda, "1-NN": nearest_neighbour, "tree": tree,
}  # fmt: skip


# Data: columns given the classes


def normal(rng, y, gap):
    half = -float(ndtri(0.25 - gap)) / 2
    return rng.standard_normal((len(y), 4)) + np.where(y == 1, half, -half)[:, np.newaxis]


def marks(rng, y, _gap):
    frequency = 0.4 * 3.0 ** -np.arange(10)
    shares = np.where(y[:, np.newaxis] == 1, frequency / 8, frequency)
    columns = rng.standard_normal((len(y), 2)) + np.where(y == 1, 0.6, -0.6)[:, np.newaxis]
    return np.hstack([(rng.random(shares.shape) < shares).astype(np.float64), columns])


REAL = {
    "ecoli": ("uci", "ecoli", "cp"),
    "flare": ("uci", "flare", "0"),
    "horse": ("uci", "horse", "yes"),
    "cylinder": ("uci", "cylinder", "band"),
    "vote": ("uci", "vote", "democrat"),
    "ionosphere": ("uci", "ironosphere", "g"),
    "tic-tac-toe": ("uci", "tictactoe", "positive"),
    "wave": ("uci", "wave", "1"),
    "yeast3": ("keel", "yeast3", "positive"),
    "led7digit": ("keel", "led7digit-0-2-4-5-6-7-8-9_vs_1", "positive"),
    "vowel0": ("keel", "vowel0", "positive"),
    "haberman": ("keel", "haberman", "positive"),
}
"""{data: (collection, file, the class that is 1)}; nominal columns become binary ones."""


class RealRows:
    """Draws rows of a real data set, of the given classes."""

    def __init__(self, name):
        collection, file, label = REAL[name]
        table = pd.read_csv(locate(collection, [file])[file], dtype={"class": str})
        positive = (table.pop("class") == label).to_numpy()
        table = table.fillna(table.median(numeric_only=True))
        values = pd.get_dummies(table).to_numpy(np.float64)
        self.by_class = values[~positive], values[positive]
        self.share = float(positive.mean())

    def __call__(self, rng, y, _gap):
        first, second = (rows[rng.integers(len(rows), size=len(y))] for rows in self.by_class)
        return np.where(y[:, np.newaxis] == 1, second, first)


@dataclass(frozen=True, kw_only=True)
class Case:
    """Data sets of one kind with copies of one learner."""

    rows: int
    learner: str
    data: str
    sets: int

    @property
    def gap(self):
        """How much smaller the Bayes error of the first copy is."""
        return 1.2 / np.sqrt(self.rows) if self.data == "normal" else 0.0

    @property
    def runs(self):
        """The numbers of runs that are measured; the last is the default plan of that size."""
        return (3, 5) if self.rows > 2000 else (3, 5, 10)


def cases():
    """Return all cases, and how many data sets they draw; slow learners come last."""
    sets = {200: 500, 500: 300, 1000: 200, 5000: 200, 20000: 100}
    slow = {"1-NN": {200: 300, 500: 150, 1000: 200, 5000: 100, 20000: 40},
            "tree": {200: 100, 500: 50, 1000: 50, 5000: 10, 20000: 3}}  # fmt: skip
    for rows in sets:
        for name in ("GaussianNB", "LDA", "QDA"):
            yield Case(rows=rows, learner=name, data="normal", sets=sets[rows])
        for name in ("GaussianNB", "QDA"):
            yield Case(rows=rows, learner=name, data="marks", sets=sets[rows])
    for data in REAL:
        yield Case(rows=300, learner="GaussianNB", data=data, sets=150)
    for data in ("ecoli", "yeast3", "led7digit", "wave"):
        yield Case(rows=300, learner="QDA", data=data, sets=150)
    for rows in sets:
        for name, counts in slow.items():
            yield Case(rows=rows, learner=name, data="normal", sets=counts[rows])


def deal(rng, y, runs):
    """Return the fold of every row in every run; each class is dealt out in turn."""
    fold_of = np.empty((runs, len(y)), dtype=np.int64)
    for run in fold_of:
        order = np.concatenate([rng.permutation(np.flatnonzero(y == label)) for label in (0, 1)])
        run[order] = np.arange(len(y)) % FOLDS
    return fold_of


def draw(case):
    """Return losses (sets, copies, runs, folds) and of pairs (sets, copies, runs * pairs, 2)."""
    columns = {"normal": normal, "marks": marks}.get(case.data) or RealRows(case.data)
    share = getattr(columns, "share", 0.5)
    drawn = []
    for number in range(case.sets):
        rng = np.random.default_rng([SEED, case.rows, number, *case.learner.encode()])
        y = (rng.random(case.rows) < share).astype(np.int64)
        y[: 4 * FOLDS] = np.arange(4 * FOLDS) % 2  # both classes in every training set
        fold_of = deal(rng, y, case.runs[-1])
        drawn.append([
            LEARNERS[case.learner](columns(rng, y, 0.0 if copy else case.gap), y, fold_of)
            for copy in range(COPIES)
        ])  # fmt: skip
    outer, inner = (np.array([[copy[part] for copy in one] for one in drawn]) for part in (0, 1))
    return outer, inner


# Tests


def former_pvalue(d, runs):
    """Return the p-value without the third estimate of `nested_cv_t`."""
    outer, inner = d[..., : runs * FOLDS], d[..., runs * FOLDS :]
    outer = np.moveaxis(outer.reshape(*outer.shape[:-1], runs, FOLDS), (-2, -1), (0, 1))
    inner = np.moveaxis(inner.reshape(*inner.shape[:-1], -1, 2), (-2, -1), (0, 1))
    between = outer.var(axis=1, ddof=1).mean(axis=0)
    mse = np.square(inner_means(inner, FOLDS) - outer).mean(axis=(0, 1)) - between
    mse -= outer.mean(axis=1).var(axis=0, ddof=1) / 2
    variance = np.maximum((FOLDS - 1) / FOLDS * mse, between / FOLDS)
    t = outer.mean(axis=(0, 1)) / np.sqrt(np.maximum(variance, 1e-12))
    return np.asarray(pvalue_of_t(t, runs * MODELS - 1, "two-sided"))


def percent(values):
    """Return the mean over data sets in percent, and its Monte Carlo standard error."""
    by_set = values.reshape(len(values), -1).mean(axis=1)
    error = by_set.std() / np.sqrt(len(values))
    return round(100 * float(by_set.mean()), 2), round(100 * float(error), 2)


def measured(case, outer, inner, runs):
    """Return one row of the table."""
    sets = len(outer)
    flat = np.concatenate([
        outer[:, :, :runs].reshape(sets, COPIES, -1),
        inner[:, :, : runs * len(FIRST)].reshape(sets, COPIES, -1),
    ], axis=2)  # fmt: skip
    equal = np.arange(1 if case.gap else 0, COPIES)
    first, second = (equal[at] for at in np.triu_indices(len(equal), 1))
    a, b = flat[:, first], flat[:, second]
    now = nested_cv_t(a, b, runs=runs, folds=FOLDS, rows=case.rows)
    p = np.asarray(now.pvalue)
    ahead = (a - b)[..., : runs * FOLDS].mean(axis=2) > 0
    cut = p * (len(equal) - 1) <= ALPHA
    ruled_out = [((cut & ahead & (first == one)) | (cut & ~ahead & (second == one))).any(axis=1)
                 for one in equal]  # fmt: skip
    corrected = corrected_repeated_kfold_t(outer[:, first, :runs], outer[:, second, :runs])
    cautioned = np.array(
        [bool(unstable_learners(one[equal], runs=runs, folds=FOLDS)) for one in flat]
    )
    row = {
        "rows": case.rows, "learner": case.learner, "data": case.data, "sets": sets, "runs": runs,
        "fits": runs * MODELS, "error": round(float(outer.mean()), 3),
    }  # fmt: skip
    row["corrected t"], _ = percent(np.asarray(corrected.pvalue) <= ALPHA)
    row["former"], _ = percent(former_pvalue(a - b, runs) <= ALPHA)
    row["now"], row["now error"] = percent(p <= ALPHA)
    row["best ruled out"], _ = percent(np.stack(ruled_out, axis=1))
    row["caution"], _ = percent(cautioned)
    if case.gap:
        others = flat[:, equal]
        better = np.broadcast_to(flat[:, :1], others.shape)
        p = nested_cv_t(better, others, runs=runs, folds=FOLDS, rows=case.rows).pvalue
        row["power former"], _ = percent(former_pvalue(better - others, runs) <= ALPHA)
        row["power now"], row["power error"] = percent(np.asarray(p) <= ALPHA)
    return row


def table(titles, rows):
    lines = [titles, ["---"] * len(titles), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)


def page(rows):
    """Return the page: level, power, and the share of results with a caution."""
    by_case = {}
    order = [*LEARNERS]
    for row in sorted(rows, key=lambda row: (row["rows"], row["data"] != "normal", row["data"],
                                             order.index(row["learner"]))):  # fmt: skip
        by_case.setdefault((row["rows"], row["learner"], row["data"]), {})[row["runs"]] = row

    def cells(runs, column, error=""):
        return [
            "" if count not in runs else f"{runs[count][column]:.1f}"
            + (f" ± {runs[count][error]:.1f}" if error else "")
            for count in (3, 5, 10)
        ]  # fmt: skip

    level, power = [], []
    for (n, learner, data), runs in by_case.items():
        last = runs[max(runs)]
        case = [f"{n:,}", learner, data, last["sets"]]
        level.append([
            *case, f"{last['corrected t']:.1f}", f"{last['former']:.1f}",
            *cells(runs, "now", "now error"), f"{last['best ruled out']:.1f}",
            f"{last['caution']:.0f}",
        ])  # fmt: skip
        if data == "normal":
            power.append([*case[:2], last["sets"], *cells(runs, "power former"),
                          *cells(runs, "power now", "power error")])  # fmt: skip
    defaults = [runs[max(runs)] for runs in by_case.values()]
    harmful = [row["caution"] for row in defaults if row["now"] > 8]
    fine = [row["caution"] for row in defaults if row["now"] <= 8]
    stable = [row["caution"] for row in defaults if row["former"] <= 8]
    failing = [row["caution"] for row in defaults if row["former"] > 8]
    shares = table(
        ["cases of the default plan", "number", "results with a caution (%)", "median case (%)"],
        [[words, len(some), f"{np.mean(some):.0f}", f"{np.median(some):.0f}"] if some
         else [words, 0, "", ""]
         for words, some in (
             ("more than 8 % false claims", harmful), ("at most 8 %", fine),
             ("more than 8 % without the third estimate", failing),
             ("at most 8 % without it", stable))],
    )  # fmt: skip
    return f"""Made by `python studies/default_plan.py --write`. All rates are percentages, \
two-sided at 5 percent, with their Monte Carlo standard error.

**Equal learners**: a difference is found between two of them. *Corrected t*, *former* (without \
the third estimate of the variance), *best ruled out* (one of three or four equal learners, \
nominal 2.5) and *caution* (results that call a learner unstable) are for the most runs of the row.

{
        table(
            [
                "rows",
                "learner",
                "data",
                "sets",
                "corrected t",
                "former",
                "3 runs",
                "5 runs",
                "10 runs",
                "best ruled out",
                "caution",
            ],
            level,
        )
    }

**A learner that is better** by 1.2 / sqrt(rows): its difference to another one is found.

{
        table(
            [
                "rows",
                "learner",
                "sets",
                "former, 3 runs",
                "5 runs",
                "10 runs",
                "now, 3 runs",
                "5 runs",
                "10 runs",
            ],
            power,
        )
    }

**Cautions**, by what the learners of a case would need:

{shares}
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="write the page and the table")
    parser.add_argument("--smoke", action="store_true", help="draw two data sets of every case")
    options = parser.parse_args()
    rows = []
    for case in cases():
        begin = time.process_time()
        if options.smoke:
            case = Case(rows=case.rows, learner=case.learner, data=case.data, sets=2)
            if case.rows > 1000:
                continue
        outer, inner = draw(case)
        rows += [measured(case, outer, inner, runs) for runs in case.runs]
        print(rows[-1], f"{time.process_time() - begin:.0f} s", file=sys.stderr, flush=True)
        if options.write:
            write(rows)
    print(page(rows))


def write(rows):
    (RESULTS / "default_plan.md").write_text(page(rows))
    with (RESULTS / "default_plan.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(max(rows, key=len)), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
