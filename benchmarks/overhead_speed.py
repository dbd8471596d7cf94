"""Measure what `compare` costs in addition to fitting and predicting.

- ``overhead-DATA``: five scikit-learn learners in ten folds, `compare`'s serial engine against bare
  fit-and-predict calls on folds that were sliced before. Limits: a ratio of at least 1/1.10 = 0.909
  on the small sets, 1/1.05 = 0.952 at 10,000 x 20, 1/1.02 = 0.980 at 100,000 x 20 (three folds and
  the three learners that are fast there, which is the harder case).
- ``cross-validate-DATA``: the same against scikit-learn's `cross_validate`, learner by learner, on
  the same splits with its default score (limit: above 1).
- ``outside-DATA``, for 10,000 rows and more: the same two, but only the seconds outside of fit and
  predict. Fits take more than 98 percent of the time there and vary by a few percent between turns.
- ``scored-5x2-DATA`` and ``scored-10x10-DATA`` (parts ``5x2`` and ``10x10``, or ``whole``): the
  whole call of `compare` (five fast learners, one thread) against `clone`, `fit` and `score` on the
  same splits. Limits for 5x2: 1/1.15, 1/1.10 and 1/1.05 on iris, cancer and digits; else 1/1.05.
- ``bare-PLAN-DATA``: the same calls against `clone`, `fit`, `predict` and a count of the errors.
- ``first-call-5x2`` (part ``calls``, with the same learners): the seconds in fit and predict over
  those of the first call of `compare` in a process (only if measured alone; limit: 1/1.5). Garbage
  of the imports before it is collected first.
- ``nested-default``: the same for a later call with the default plan (limit: 1/1.1).
- ``fixed``, ``per-cell``: 10 ms and 0.12 ms over the seconds outside of fit and predict per call
  and per cell, from the fastest calls with 5x2 and 10x10 (limit: 1).
- ``mlxtend-5x2cv``: 5x2 losses of five learners and all 10 pairwise tests against mlxtend's
  `paired_ttest_5x2cv` for every pair (limit: 3.5; K fits per split instead of K (K - 1)).

``python benchmarks/run.py overhead_speed:iris,calls,whole,mlxtend`` measures some of the parts.
The sides alternate, with a new seed of the learners in every round; ratios are medians over the
rounds. Seconds are CPU seconds with one thread.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import combinations, count
from typing import Any

import numpy as np

from bestofk.splits.plans import plan as make_plan
from timing import Row, one_thread, row, turns

ROUNDS = {"iris": 15, "cancer": 15, "digits": 7, "10000x20": 7, "100000x20": 3}
WHOLE = {"5x2": ("iris", "cancer", "digits", "10000x20"), "10x10": ("iris", "cancer", "digits")}
CALLS = {"5x2": 50, "10x10": 500}
"""Cells of the shorter and the longer plan."""
CALL_ROUNDS = 12
FAST_ON_MANY_ROWS = ("bayes", "logistic", "tree")


def learners(seed: int = 0) -> dict[str, Any]:
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.naive_bayes import GaussianNB
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.tree import DecisionTreeClassifier

    return {
        "bayes": GaussianNB(),
        "logistic": LogisticRegression(max_iter=1000),
        "tree": DecisionTreeClassifier(random_state=seed),
        "neighbours": KNeighborsClassifier(),
        "forest": RandomForestClassifier(n_estimators=20, random_state=seed),
    }


def data_sets(names: Sequence[str] = tuple(ROUNDS)) -> dict[str, tuple[Any, Any]]:
    from sklearn.datasets import load_breast_cancer, load_digits, load_iris, make_classification

    scaled = {}
    for name, load in (
        ("iris", load_iris),
        ("cancer", load_breast_cancer),
        ("digits", load_digits),
    ):
        if name not in names:
            continue
        X, y = load(return_X_y=True)
        scaled[name] = ((X - X.mean(axis=0)) / (X.std(axis=0) + (X.std(axis=0) == 0)), y)
    for n in (10_000, 100_000):
        if f"{n}x20" not in names:
            continue
        scaled[f"{n}x20"] = make_classification(n, 20, n_informative=8, random_state=0)
    return scaled


def live_of(X: Any, y: Any, plan: str, chosen: dict[str, Any]) -> Any:
    from bestofk.data import read_data
    from bestofk.run.inputs import named_estimators
    from bestofk.run.live import Live
    from bestofk.run.metrics import as_loss

    data = read_data(X, y, task="classification")
    splits = make_plan(plan, random_state=0).materialise(data.n, data.y)
    metric = as_loss("zero-one", classes=data.classes)
    return Live.of(named_estimators(chosen), [data], [splits], [metric], stored=False)


def run_serially(live: Any) -> float:
    from bestofk.run.engine import Engine, Execution

    cells = list(live.record.cells())
    return sum(cell.loss for cell in Engine(Execution(engine="serial")).run(live, cells))


def bare(folds: list[tuple[Any, Any, Any, Any]], chosen: Sequence[str]) -> Callable[[], float]:
    """Fit, predict and compute the error on sliced folds, and nothing else."""
    seeds = count()

    def go() -> float:
        total, seeded = 0.0, learners(next(seeds))
        for X, y, X_test, y_test in folds:
            for learner in [seeded[name] for name in chosen]:
                model = type(learner)(**learner.get_params())
                predicted = model.fit(X, y).predict(X_test)
                total += np.count_nonzero(predicted != y_test) / len(y_test)
        return total

    return go


def compared(live: Any) -> Callable[[], float]:
    """Run the serial engine of `compare`."""
    seeds = count()
    return lambda: run_serially(live.recorded(random_state=next(seeds)))


def validated(X: Any, y: Any, pairs: Any, chosen: Sequence[str]) -> Callable[[], None]:
    """Run `cross_validate`, learner by learner."""
    from sklearn.model_selection import cross_validate

    seeds = count()

    def go() -> None:
        seeded = learners(next(seeds))
        for name in chosen:
            cross_validate(seeded[name], X, y, cv=pairs)

    return go


def overhead(only: Sequence[str]) -> Iterator[Row]:
    for name, (X, y) in data_sets(only or tuple(ROUNDS)).items():
        many = name == "100000x20"
        chosen = FAST_ON_MANY_ROWS if many else tuple(learners())
        first = {learner: learners()[learner] for learner in chosen}
        live = live_of(X, y, "kfold:3" if many else "kfold:10", first)
        pairs = [(train, test) for _, _, train, test in live.splits[0]]
        folds = [(X[train], y[train], X[test], y[test]) for train, test in pairs]
        sides = (
            compared(live), bare(folds, chosen), validated(X, y, pairs, chosen),
        )  # fmt: skip
        ours, peer, sklearn = turns(*sides, rounds=ROUNDS[name])
        yield row(f"overhead-{name}", ours, peer)
        yield row(f"cross-validate-{name}", ours, sklearn)
        if len(y) >= 10_000:
            kinds = [type(learner) for learner in first.values()]
            yield row(f"outside-{name}", *outside([sides[0], sides[2]], kinds))


@contextmanager
def inside(classes: Sequence[type]) -> Iterator[list[float]]:
    """Sum the seconds of the outermost calls of fit and predict in a list with one number."""
    spent, nested, originals = [0.0], [False], []
    for kind in classes:
        for name in ("fit", "predict"):
            original = getattr(kind, name)

            def timed(self: Any, *arguments: Any, original: Any = original, **named: Any) -> Any:
                if nested[0]:
                    return original(self, *arguments, **named)
                nested[0], begin = True, time.process_time()
                try:
                    return original(self, *arguments, **named)
                finally:
                    spent[0] += time.process_time() - begin
                    nested[0] = False

            originals.append((kind, name, original))
            setattr(kind, name, timed)
    try:
        yield spent
    finally:
        for kind, name, original in originals:
            setattr(kind, name, original)


def outside(
    sides: Sequence[Callable[[], object]], classes: Sequence[type], rounds: int = 3
) -> list[list[float]]:
    """Return the seconds of every side in every round outside of fit and predict."""
    seconds: list[list[float]] = [[] for _ in sides]
    with inside(classes) as spent:
        for _ in range(rounds):
            for index, side in enumerate(sides):
                spent[0], begin = 0.0, time.process_time()
                side()
                seconds[index].append(time.process_time() - begin - spent[0])
    return seconds


def fast_learners() -> dict[str, Any]:
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    from sklearn.linear_model import LogisticRegression
    from sklearn.naive_bayes import GaussianNB
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.tree import DecisionTreeClassifier

    return {
        "bayes": GaussianNB(),
        "logistic": LogisticRegression(max_iter=1000),
        "tree": DecisionTreeClassifier(random_state=0),
        "neighbours": KNeighborsClassifier(),
        "discriminant": LinearDiscriminantAnalysis(),
    }


def whole_call(name: str, plan: str) -> Iterator[Row]:
    """Call `compare` as users do, with one job."""
    from sklearn.base import clone

    import bestofk as bk

    X, y = data_sets([name])[name]
    chosen = fast_learners()
    splits = make_plan(plan, random_state=0).materialise(len(y), y)

    def ours() -> None:
        bk.compare(chosen, X, y, cv=plan, n_jobs=1, progress=False)

    def by_hand(error: Callable[[Any, Any, Any], float]) -> None:
        for _, _, train, test in splits:
            X_train, y_train, X_test, y_test = X[train], y[train], X[test], y[test]
            for model in chosen.values():
                error(clone(model).fit(X_train, y_train), X_test, y_test)

    def score(model: Any, X_test: Any, y_test: Any) -> float:
        return 1 - model.score(X_test, y_test)

    def counted(model: Any, X_test: Any, y_test: Any) -> float:
        return np.count_nonzero(model.predict(X_test) != y_test) / len(y_test)

    sides = ours, partial(by_hand, score), partial(by_hand, counted)
    own, scored, predicted = turns(*sides, rounds=ROUNDS[name])
    yield row(f"scored-{plan}-{name}", own, scored)
    yield row(f"bare-{plan}-{name}", own, predicted)


def calls() -> Iterator[Row]:
    """Measure whole calls of `compare` against the seconds in fit and predict."""
    import bestofk as bk

    X, y = data_sets(["iris"])["iris"]
    chosen = fast_learners()
    for model in chosen.values():
        model.fit(X, y).predict(X)

    def call(plan: str | None) -> tuple[float, float]:
        with inside([type(model) for model in chosen.values()]) as spent:
            begin = time.process_time()
            bk.compare(chosen, X, y, cv=plan, n_jobs=1, progress=False)
            return time.process_time() - begin, spent[0]

    short, long = CALLS
    gc.collect()
    total, fits = call(short)
    yield f"first-call-{short}", fits / total, total, fits
    later = [call(None) for _ in range(CALL_ROUNDS // 4)]
    total, fits = min(later, key=lambda both: both[0] / both[1])
    yield "nested-default", fits / total, total, fits
    least = dict.fromkeys(CALLS, float("inf"))
    for _ in range(CALL_ROUNDS):
        for plan in least:
            total, fits = call(plan)
            least[plan] = min(least[plan], total - fits)
    cell = (least[long] - least[short]) / (CALLS[long] - CALLS[short])
    fixed = least[short] - CALLS[short] * cell
    yield "fixed", 0.010 / fixed, fixed, 0.010
    yield "per-cell", 0.00012 / cell, cell, 0.00012


def mlxtend_pairs() -> Row:
    """Run 5x2 cross-validation and test all pairs."""
    from mlxtend.evaluate import paired_ttest_5x2cv

    import bestofk as bk

    X, y = data_sets(["cancer"])["cancer"]

    def ours() -> None:
        bk.compare(
            learners(), X, y, cv="5x2", progress=False, execution=bk.Execution(engine="serial")
        )

    def theirs() -> None:
        for a, b in combinations(learners().values(), 2):
            paired_ttest_5x2cv(a, b, X, y, random_seed=0)

    return row("mlxtend-5x2cv", *turns(ours, theirs, rounds=CALL_ROUNDS // 4))


def measure(only: Sequence[str] = ()) -> Iterator[Row]:
    with one_thread():
        if "calls" in only or not only:
            yield from calls()
        for plan, names in WHOLE.items():
            if not only or "whole" in only or plan in only:
                for name in names:
                    yield from whole_call(name, plan)
        yield from overhead(only)
        if not only or "mlxtend" in only:
            yield mlxtend_pairs()
