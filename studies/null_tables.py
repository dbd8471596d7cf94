"""Measure false claims about equal learners by the default path of `compare`, `compare_scores` and
`evals`.

    python studies/null_tables.py                  print the table
    python studies/null_tables.py --smoke          print the table from few studies
    python studies/null_tables.py --only WORDS     print the nulls whose names contain WORDS
    python studies/null_tables.py --paths          check that `compare` decides as the study does

Every study draws K learners (or models) with equal means and decides by the defaults. A study errs
if it claims any difference. *Without caution* counts the false claims in results that do not carry
a caution about their error rate. `compare_scores` and `evals` decide 1,000 tables each; a rate of 5
percent has a standard error of 0.7. `compare` decides 400 data sets each (1.1), with more of both
for rates close to the level. Every learner sees a block of columns of its own, so that the learners
are equal by construction; the plan is the default (10x5+nested) unless the name of the null says
otherwise.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

import bestofk as bk
from bestofk.decide.order_tables import order_many
from bestofk.evals.choosing import _decide
from bestofk.evals.item_scores import ItemScores
from bestofk.papers.lab.problems.classes import ColumnBlocks
from bestofk.papers.lab.simulation import _task, simulate
from bestofk.run.inputs import default_plan
from bestofk.splits.design import Design
from bestofk.splits.plans import plan as make_plan
from bestofk.stats.intervals import clopper_pearson
from skewed_differences import draw as shaped

STUDIES, FITTED = 1_000, 400
LEARNERS = (2, 5, 10)
OUT = Path("studies/results")


def graded_skewed(rng, K, n):
    """Scores between 0 and 1 with mean 0.2; every second model is right on few items only."""
    scores = 0.2 + 0.05 * rng.standard_normal((K, n))
    scores[1::2] = rng.beta(0.2, 0.8, scores[1::2].shape)
    return scores


def graded_rarely_right(rng, K, n):
    """Scores with mean 0.05; every second model is right on one of twenty items only."""
    scores = 0.05 + 0.01 * rng.standard_normal((K, n))
    scores[1::2] = rng.beta(0.05, 0.95, scores[1::2].shape)
    return scores


def graded_symmetric(rng, K, n):
    """Scores with a normal luck of each model."""
    return 0.5 + 0.1 * rng.standard_normal((K, n))


def right_or_wrong(rng, K, n):
    """Right or wrong answers; hard items are hard for all models."""
    easy = rng.beta(2.0, 1.0, n)
    return (rng.random((K, n)) < easy).astype(float)


def in_clusters(draw, size):
    """Half of the items of a cluster share the scores of the cluster."""

    def of(rng, K, n):
        clusters = np.repeat(np.arange(n // size), size)
        shared, own = draw(rng, K, n // size)[:, clusters], draw(rng, K, n)
        return np.where(rng.random((K, n)) < 0.5, shared, own)

    return of


def series(rho, skewed=False):
    """Losses of K learners whose deviations from a common series are autoregressive."""

    def of(rng, K, n):
        e = rng.standard_exponential((K, n + 50)) - 1.0 if skewed else rng.normal(size=(K, n + 50))
        for t in range(1, n + 50):
            e[:, t] += rho * e[:, t - 1]
        return e[:, 50:]

    return of


def of_shape(shape, opposite=False, sds=1.0):
    """Losses with mean 0, skewed in opposite directions, or with sds from 1 / `sds` to `sds`."""

    def of(rng, K, n):
        losses = shaped(rng, shape, (K, n)) * np.geomspace(1 / sds, sds, K)[:, np.newaxis]
        losses[1::2] *= -1.0 if opposite else 1.0
        return losses

    return of


def out_of(items, error=0.2):
    """Error rates on few items."""
    return lambda rng, K, n: rng.binomial(items, error, (K, n)) / items


def fewer_runs(share):
    """Normal losses; every second learner has fewer runs and three times the deviation."""

    def of(rng, K, n):
        losses = rng.standard_normal((K, n))
        losses[1::2] *= 3.0
        losses[1::2, max(2, int(share * n)) :] = np.nan
        return losses

    return of


def correlated(rho):
    """Normal losses of splits that share a part rho of their variance."""
    return lambda rng, K, n: (
        np.sqrt(rho) * rng.normal(size=(K, 1)) + np.sqrt(1 - rho) * rng.normal(size=(K, n))
    )


class RareClass(ColumnBlocks):
    """Column blocks of which one row in ten belongs to the second class."""

    __slots__ = ()

    def encoded(self, rng):
        encoded = ColumnBlocks.encoded(replace(self, rows=10 * self.rows), rng)
        other = np.flatnonzero(encoded.y == 0)
        rare = np.flatnonzero(encoded.y == 1)
        count = min(max(rng.binomial(self.rows, 0.1), 5), self.rows)
        rows = rng.permutation(np.concatenate([other[: self.rows - count], rare[:count]]))
        return replace(encoded, values=encoded.values[rows], y=encoded.y[rows])


@lru_cache(maxsize=1)
def _blocks(problem, learner, n, plan, studies):
    rows = {"learners": max(LEARNERS), "rows": n}
    cv = plan or default_plan(rows=n)
    return simulate([learner], problem(**rows), cv, sets=studies, n_jobs=1, engine="serial")


def blocks(learner, *, problem=ColumnBlocks, plan=""):
    """Yield losses of copies of a learner, each on its own columns; fit once for all K."""

    def of(K, n, studies):
        all_of_them = _blocks(problem, learner, n, plan, studies)
        subset = all_of_them.subset_losses
        some = replace(
            all_of_them, learners=all_of_them.learners[:K], losses=all_of_them.losses[:, :, :K],
            subset_losses=None if subset is None else subset[:, :, :K],
        )  # fmt: skip
        return (some.table(number) for number in range(studies))

    return of


def least_squares(X, y, train):
    """Return predictions for all rows by a linear model of some rows."""
    A = np.c_[np.ones(len(X)), X]
    return A @ np.linalg.solve(
        A[train].T @ A[train] + 1e-9 * np.eye(A.shape[1]), A[train].T @ y[train]
    )


def low_or_high(X, _y, _train):
    """Return the true mean and own noise, less 1, or more 1 for every second learner."""
    return np.sign(X[0, 0]) + 0.3 * X[:, 1]


def regression(predict, noise, plan=""):
    """Yield squared errors of copies of a regressor, each with its own five columns."""

    def of(K, n, studies):
        rng = np.random.default_rng([7, K, n, *noise.encode()])
        for study in range(studies):
            X, y = rng.normal(size=(K, n, 5)), shaped(rng, noise, n)
            if predict is low_or_high:
                X[:, 0, 0] = np.where(np.arange(K) % 2, 1.0, -1.0)
            else:
                y = y + X[:, :, 0].sum(axis=0)
            cv = make_plan(plan or default_plan(rows=n), random_state=study)
            splits = cv.materialise(n)
            losses, last = np.empty((K, len(splits))), None
            for at, (_, _, train, test) in enumerate(splits):
                if last is None or (predict is not low_or_high and not np.array_equal(train, last)):
                    errors = np.array([np.square(predict(x, y, train) - y) for x in X])
                    last = train
                losses[:, at] = errors[:, test].mean(axis=1)
            design = splits.design
            full = design.runs * design.folds
            nested = losses[:, full:].reshape(K, 1, -1, 2, 1) if design.nested_runs else None
            yield bk.Scores(
                losses[:, :full].reshape(K, 1, design.runs, design.folds, 1),
                dims=("learner", "dataset", "run", "fold", "repetition"),
                learners=[f"l{k}" for k in range(K)], design=design, subset_values=nested,
            )  # fmt: skip

    return of


@dataclass(frozen=True, kw_only=True)
class Null:
    """One kind of study: tables that `draw` makes, or losses that learners of `fit` have."""

    name: str
    n: int
    draw: Callable[..., Any] | None = None
    """(rng, K, n) -> one number per learner and unit."""
    fit: Callable[..., Any] | None = None
    """(K, n, studies) -> iterator of `Scores`."""
    design: str = ""
    """Design of a drawn table in `compare_scores`; empty: the scores of `evals`."""
    test: str = "auto"
    cluster: int = 0
    times: int = 1
    """Factor of the number of studies, for a rate close to the level."""

    @property
    def command(self) -> str:
        return (self.design and "order") or (self.fit and "compare") or "evals"

    def decisions(self, K: int, studies: int, seed: int, claiming: bool = False) -> Iterator[Any]:
        """Yield the decisions by default or by the named test; all, or those with a claim."""
        if self.command == "evals":
            rng = np.random.default_rng([seed, K, self.n, *self.name.encode()])
            yield from (chosen(self, self.draw(rng, K, self.n)) for _ in range(studies))
            return
        if self.fit is not None:
            tables = list(self.fit(K, self.n, studies))
        else:
            rng = np.random.default_rng([seed, K, self.n, *self.name.encode()])
            tables = [losses_of(self, self.draw(rng, K, self.n)) for _ in range(studies)]
        if claiming and not np.isnan(tables[0].losses).any():
            first = tables[0]
            subset = first.subset_values is not None
            claims = order_many(
                np.stack([table.losses for table in tables]), design=first.design, test=self.test,
                learners=first.learners,
                subset_values=np.stack([one.subset_values for one in tables]) if subset else None,
            ).claims  # fmt: skip
            claims[0] = True  # the first says which test it is
            tables = [tables[at] for at in np.flatnonzero(claims.any(axis=(1, 2)))]
        yield from (
            bk.compare_scores(table, test=self.test, missing="allow").decision for table in tables
        )


NULLS = (
    *(Null(name="graded scores, skewed", draw=graded_skewed, n=n) for n in (20, 50, 200)),
    *(
        Null(name="graded scores, rarely right", draw=graded_rarely_right, n=n)
        for n in (8, 20, 50, 200)
    ),
    *(Null(name="graded scores, symmetric", draw=graded_symmetric, n=n) for n in (20, 200)),
    *(Null(name="right or wrong", draw=right_or_wrong, n=n) for n in (20, 50, 200)),
    *(
        Null(name="graded scores, skewed, clusters of 5", n=n, cluster=5,
             draw=in_clusters(graded_skewed, 5)) for n in (100, 250)
    ),
    *(
        Null(name="right or wrong, clusters of 5", n=n, cluster=5,
             draw=in_clusters(right_or_wrong, 5)) for n in (40, 100, 250)
    ),
    *(
        Null(name=f"losses in order of time, autocorrelation {rho:g}", draw=series(rho), n=n,
             design="time", times=4 if (n, rho) == (200, 0.5) else 1)
        for n in (50, 100, 200) for rho in (0.0, 0.5, 0.8, 0.95)
    ),
    *(
        Null(name=f"data sets, {name}", draw=draw, n=n, design="scores")
        for name, draw, sizes in (
            ("normal", of_shape("normal"), (3, 6, 12, 30, 60)),
            ("t with 3 df", of_shape("t with 3 df"), (3, 6, 12, 30)),
            ("exponential, opposite skews", of_shape("exponential", True), (3, 6, 12, 30, 120)),
            ("lognormal, opposite skews", of_shape("lognormal", True), (3, 6, 12, 30, 60, 120)),
            ("contaminated, opposite skews", of_shape("contaminated", True), (12, 30, 60)),
            ("variances differ", of_shape("normal", sds=3.0), (6, 12)),
            ("error rates on 20 items", out_of(20), (6, 12, 30)),
        ) for n in sizes
    ),
    *(
        Null(name=f"{name}, normal", draw=correlated(0.1), n=n, design=design)
        for name, design, n in (("10 folds", "cv", 10), ("10 runs of 10 folds", "10x10", 100),
                                ("30 random splits", "resample", 30))
    ),
    *(
        Null(name=f"training runs, {name}", draw=draw, n=n, design="seeds")
        for name, draw, sizes in (
            ("normal", of_shape("normal"), (3, 5, 10)),
            ("variances differ", of_shape("normal", sds=3.0), (3, 5, 10)),
            ("every second learner has two", fewer_runs(0.0), (5, 10)),
            ("every second learner has a third", fewer_runs(1 / 3), (9, 15, 30)),
            ("t with 3 df", of_shape("t with 3 df"), (5, 10)),
            ("exponential, opposite skews", of_shape("exponential", True), (5, 10, 30)),
            ("contaminated, opposite skews", of_shape("contaminated", True), (10, 30)),
            ("lognormal, opposite skews", of_shape("lognormal", True), (3, 5, 10, 30, 60)),
            ("error rates on 20 items", out_of(20), (3, 5, 10)),
            ("error rates on 5 items", out_of(5), (3, 5, 10)),
        ) for n in sizes
    ),
    *(
        Null(name=f"one test set, {name}", draw=draw, n=n, design="test-set")
        for name, draw, sizes in (
            ("right or wrong", right_or_wrong, (50, 200)),
            ("t with 3 df", of_shape("t with 3 df"), (50, 200)),
            ("exponential, opposite skews", of_shape("exponential", True), (50,)),
            ("contaminated, opposite skews", of_shape("contaminated", True), (50,)),
            ("lognormal, opposite skews", of_shape("lognormal", True), (20, 50, 200)),
        ) for n in sizes
    ),
    *(
        Null(name=learner, fit=blocks(learner), n=n)
        for learner, n in (("naive-bayes", 30), ("naive-bayes", 500), ("logistic", 30), ("nn", 30))
    ),
    *(
        Null(name=f"{learner}, one row in ten of the second class", n=100,
             fit=blocks(learner, problem=RareClass))
        for learner in ("naive-bayes", "nn")
    ),
    Null(name="least squares, lognormal noise", n=30,
         fit=regression(least_squares, "lognormal")),
    *(
        Null(name=f"forecasts too low or too high, {noise} target", n=n,
             fit=regression(low_or_high, noise),
             times=5 if (noise, n) == ("lognormal", 300) else 1)
        for noise in ("normal", "exponential", "contaminated", "lognormal")
        for n in ((30, 100) if noise == "contaminated" else (30, 100, 300))
    ),
    *(
        Null(name=f"forecasts too low or too high, lognormal target, {plan}", n=n,
             fit=regression(low_or_high, "lognormal", plan))
        for plan in ("10x10", "resample:30:0.1", "5x2") for n in (30, 100)
    ),
    *(
        Null(name=f"{learner}, {plan}, {test}", n=100, test=test, fit=blocks(learner, plan=plan))
        for learner in ("naive-bayes", "nn", "c4.5")
        for plan, test in (("kfold:10", "auto"), ("5x2", "5x2cv-f"), ("5x2", "5x2cv-t"))
    ),
)  # fmt: skip

DESIGNS = {
    "time": lambda n: Design(kind="time", folds=n),
    "cv": lambda n: Design(kind="cv", folds=n),
    "10x10": lambda _: Design(kind="cv", runs=10, folds=10),
    "resample": lambda n: Design(kind="resample", folds=n, n_train=(270,), n_test=(30,)),
    "seeds": lambda n: Design(kind="seeds", folds=n),
    "test-set": lambda n: Design(kind="test-set", folds=n),
}


def losses_of(null: Null, table):
    """Return a drawn table as losses of its design."""
    K, n = table.shape
    names = [f"m{k}" for k in range(K)]
    if null.design == "scores":
        return bk.Scores(table, dims=("learner", "dataset"), learners=names)
    design = DESIGNS[null.design](n)
    values = table.reshape(K, 1, design.runs, design.folds, 1)
    dims = ("learner", "dataset", "run", "fold", "repetition")
    return bk.Scores(values, dims=dims, learners=names, design=design, missing="allow")


def chosen(null: Null, table):
    """Return the decision of `evals`."""
    K, n = table.shape
    clusters = np.repeat(np.arange(n // null.cluster), null.cluster) if null.cluster else None
    codes = np.arange(n) if clusters is None else clusters
    scores = ItemScores(
        models=tuple(f"m{k}" for k in range(K)), tasks=("task",),
        items=tuple(map(str, range(n))),
        clusters=() if clusters is None else tuple(map(str, range(n // null.cluster))),
        task=np.zeros(n, dtype=int), cluster=codes, mean=np.array(table),
        count=np.ones((K, n), dtype=int), variance=np.full((K, n), np.nan), metric="score",
        higher_is_better=True,
    )  # fmt: skip
    return _decide(scores, test="auto", macro=False, rule="best")


Rows = list[dict[str, str]]


def measure(studies: int, fitted: int, only: str = "", seed: int = 4) -> Rows:
    """Return one row per null and number of learners."""
    rows = []
    for null in NULLS:
        if only not in null.name:
            continue
        count = null.times * (studies if null.fit is None else fitted)
        for K in LEARNERS:
            false = bare = 0
            tests = set()
            for decision in null.decisions(K, count, seed, claiming=True):
                tests.add(decision.test)
                wrong = bool(decision.claims)
                false += wrong
                bare += wrong and not decision.caution
            ends = clopper_pearson(false, count)
            rows.append({
                "command": null.command, "null": null.name, "n": str(null.n), "learners": str(K),
                "test": ", ".join(sorted(tests)), "any false claim": f"{100 * false / count:.1f}",
                "low": f"{100 * ends.low:.1f}", "high": f"{100 * ends.high:.1f}",
                "without caution": f"{100 * bare / count:.1f}", "studies": str(count),
            })  # fmt: skip
            print(rows[-1], file=sys.stderr, flush=True)
    return rows


def page(rows: Rows) -> list[str]:
    """Return the lines of the page."""
    heads = [f"K = {K}" for K in LEARNERS]
    lines = []
    for command in ("compare", "order", "evals"):
        of_command = [row for row in rows if row["command"] == command]
        if not of_command:
            continue
        lines += [
            f"**`{command}`** ({of_command[0]['studies']} studies each, or more)", "",
            f"| null | n | test | {' | '.join(heads)} | without caution |",
            f"|---|---:|---|{'---:|' * len(heads)}---:|",
        ]  # fmt: skip
        for start in range(0, len(of_command), len(LEARNERS)):
            group = of_command[start : start + len(LEARNERS)]
            rates = " | ".join(row["any false claim"] for row in group)
            bare = " / ".join(row["without caution"] for row in group)
            first = group[0]
            lines.append(f"| {first['null']} | {first['n']} | {first['test']} | {rates} | {bare} |")
        lines.append("")
    return [
        *lines,
        "Percent of studies of K equal models (or learners) with at least one false claim by the "
        "defaults; 5 are allowed. *n*: rows, data sets, runs or items. *Without caution*: the "
        "same, counting only results without a caution about their error rate. Made by "
        "`python studies/null_tables.py`.",
        "",
    ]


def compare_paths() -> None:
    """Print whether `compare` and the study agree on data sets of equal and unequal learners."""
    models = {"naive-bayes": GaussianNB(), "nn": KNeighborsClassifier(1)}
    agreed = claimed = count = 0
    for learner, model in models.items():
        for plan, test in (("10x5+nested", "auto"), ("kfold:10", "auto"), ("5x2", "5x2cv-f")):
            for errors in ((0.2, 0.2), (0.1, 0.4)):
                task = _task([learner], ColumnBlocks(rows=60, bayes_error=errors), plan, 0)
                simulated = simulate(
                    [learner], task.problem, plan, sets=2, n_jobs=1, engine="serial"
                )
                for number in range(2):
                    data = task.encoded(number)
                    splits = task.splits(number, 0, data)
                    blocks_of = {
                        f"l{k}": make_pipeline(
                            ColumnTransformer(
                                [("own", "passthrough", list(range(5 * k, 5 * k + 5)))]
                            ),
                            model,
                        )
                        for k in range(2)
                    }
                    cv = replace(task.plan, seed=splits.seed)
                    study = bk.compare(
                        blocks_of, data.values, data.y, cv=cv, test=test, progress=False
                    )
                    one, other = (
                        study.decision,
                        bk.compare_scores(simulated.table(number), test=test).decision,
                    )
                    verdicts = [[len(d.claims), d.test, bool(d.caution)] for d in (one, other)]
                    count, claimed = count + 1, claimed + bool(one.claims)
                    agreed += verdicts[0] == verdicts[1]
    print(f"same test, number of claims and caution on {agreed} of {count}; {claimed} with claims")


def main() -> None:
    if "--paths" in sys.argv:
        compare_paths()
        return
    smoke = "--smoke" in sys.argv
    only = sys.argv[sys.argv.index("--only") + 1] if "--only" in sys.argv else ""
    print("\n".join(page(measure(*((4, 2) if smoke else (STUDIES, FITTED)), only))))


if __name__ == "__main__":
    main()
