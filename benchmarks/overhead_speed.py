"""What running learners through bestofk costs beside their own fits and predictions.

Rows, where a ratio above 1 means that ours is faster:

- ``overhead-DATA``: five learners of scikit-learn in ten folds, `compare`'s engine in this process
  against bare fit-and-predict calls on folds that were sliced before. The promise is a ratio of
  at least 1/1.10 = 0.909 on the small sets, 1/1.05 = 0.952 at 10,000 x 20, 1/1.02 = 0.980 at
  100,000 x 20 (three folds of the three learners that are quick there, which is the harder case).
- ``whole-call-iris``: the whole call of `compare` (ten runs of ten folds, five quick learners, one
  thread) against bare fits and predictions of the same learners, which are not even copied, on
  folds that were sliced before. The promise is a ratio of at least 1/1.15 = 0.870.
- ``cross-validate-DATA``: the same against scikit-learn's `cross_validate`, learner by learner,
  on the same splits with its default score (promise: above 1).
- ``outside-DATA``, for 10,000 rows and more: the same two, but only the seconds outside of fit and
  predict. There the fits are more than 98 percent of the time and differ by a few percent from
  turn to turn, which hides what the row above asks.

``python benchmarks/run.py overhead_speed:iris,digits`` measures some of the data sets. The sides
take turns, with other seeds of the learners in every round (trees of different seeds differ in what
they cost, and no side may have the luck of one seed); the ratio is the median of the rounds'
ratios. Seconds are those of the processor with
one thread, which a busy machine disturbs less than the clock on the wall.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import count
from statistics import median
from typing import Any

import numpy as np

Row = tuple[str, float, float, float]
ROUNDS = {"iris": 15, "cancer": 15, "digits": 11, "10000x20": 7, "100000x20": 3}
QUICK_ON_MANY_ROWS = ("bayes", "logistic", "tree")


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


def data_sets() -> dict[str, tuple[Any, Any]]:
    from sklearn.datasets import load_breast_cancer, load_digits, load_iris, make_classification

    scaled = {}
    for name, load in (
        ("iris", load_iris),
        ("cancer", load_breast_cancer),
        ("digits", load_digits),
    ):
        X, y = load(return_X_y=True)
        scaled[name] = ((X - X.mean(axis=0)) / (X.std(axis=0) + (X.std(axis=0) == 0)), y)
    for n in (10_000, 100_000):
        scaled[f"{n}x20"] = make_classification(n, 20, n_informative=8, random_state=0)
    return scaled


def experiment_of(X: Any, y: Any, plan: str, chosen: dict[str, Any]) -> Any:
    import bestofk as bk
    from bestofk.data import as_dataset
    from bestofk.run.experiment import Experiment
    from bestofk.run.inputs import named_estimators
    from bestofk.run.metrics import as_loss

    data = as_dataset(X, y, task="classification")
    return Experiment(
        contenders=named_estimators(chosen),
        datasets=(data,),
        splits=(bk.plan(plan, random_state=0).materialise(data.n, data.y),),
        loss=as_loss("zero-one", classes=data.classes),
        repetitions=1,
        random_state=0,
    )


def run_serially(experiment: Any) -> float:
    from bestofk.run.engines.engine import Engine
    from bestofk.run.evaluation.task import ComparisonTask

    places = list(experiment.places())
    engine, task = Engine(name="serial"), ComparisonTask(experiment)
    return sum(cell.loss for cell in engine.run(task, places, total=len(places)))


def bare(folds: list[tuple[Any, Any, Any, Any]], chosen: Sequence[str]) -> Callable[[], float]:
    """Fits, predictions and the error on folds that are sliced already, and nothing else."""
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


def turns(
    *sides: Callable[[], object],
    rounds: int,
    clock: Callable[[], float] = time.process_time,
    warm: bool = True,
) -> list[list[float]]:
    """Seconds of every side in every round, after one turn that does not count."""
    for side in sides if warm else ():
        side()
    seconds: list[list[float]] = [[] for _ in sides]
    for number in range(rounds):
        # in turn and turned round, so that a busy moment hits all
        for place in range(len(sides)) if number % 2 else reversed(range(len(sides))):
            begin = clock()
            sides[place]()
            seconds[place].append(clock() - begin)
    return seconds


def row(name: str, ours: list[float], peer: list[float]) -> Row:
    """The median of the rounds' ratios, and of the seconds of both sides."""
    ratio = median(theirs / mine for mine, theirs in zip(ours, peer, strict=True))
    return name, ratio, median(ours), median(peer)


@contextmanager
def one_thread() -> Iterator[None]:
    """No threads of libraries, and no warnings."""
    from threadpoolctl import threadpool_limits

    learners()  # libraries that are not loaded yet would not be limited
    with warnings.catch_warnings(), threadpool_limits(limits=1):
        warnings.simplefilter("ignore")
        yield


def compared(experiment: Any) -> Callable[[], float]:
    """Our engine, in this process."""
    seeds = count()
    return lambda: run_serially(replace(experiment, random_state=next(seeds)))


def validated(X: Any, y: Any, pairs: Any, chosen: Sequence[str]) -> Callable[[], None]:
    """scikit-learn's own, learner by learner."""
    from sklearn.model_selection import cross_validate

    seeds = count()

    def go() -> None:
        seeded = learners(next(seeds))
        for name in chosen:
            cross_validate(seeded[name], X, y, cv=pairs)

    return go


def overhead(only: Sequence[str]) -> Iterator[Row]:
    for name, (X, y) in data_sets().items():
        if only and name not in only:
            continue
        many = name == "100000x20"
        chosen = QUICK_ON_MANY_ROWS if many else tuple(learners())
        first = {learner: learners()[learner] for learner in chosen}
        experiment = experiment_of(X, y, "kfold:3" if many else "kfold:10", first)
        pairs = [(train, test) for _, _, train, test in experiment.splits[0]]
        folds = [(X[train], y[train], X[test], y[test]) for train, test in pairs]
        sides = (
            compared(experiment), bare(folds, chosen), validated(X, y, pairs, chosen),
        )  # fmt: skip
        ours, peer, sklearn = turns(*sides, rounds=ROUNDS[name])
        yield row(f"overhead-{name}", ours, peer)
        yield row(f"cross-validate-{name}", ours, sklearn)
        if len(y) >= 10_000:
            kinds = [type(learner) for learner in first.values()]
            yield row(f"outside-{name}", *outside([sides[0], sides[2]], kinds))


@contextmanager
def inside(classes: Sequence[type]) -> Iterator[list[float]]:
    """Seconds that the outermost calls of fit and predict take, in the one cell of a list."""
    spent, deep, kept = [0.0], [False], []
    for kind in classes:
        for name in ("fit", "predict"):
            original = getattr(kind, name)

            def timed(self: Any, *given: Any, original: Any = original, **named: Any) -> Any:
                if deep[0]:
                    return original(self, *given, **named)
                deep[0], begin = True, time.process_time()
                try:
                    return original(self, *given, **named)
                finally:
                    spent[0] += time.process_time() - begin
                    deep[0] = False

            kept.append((kind, name, original))
            setattr(kind, name, timed)
    try:
        yield spent
    finally:
        for kind, name, original in kept:
            setattr(kind, name, original)


def outside(
    sides: Sequence[Callable[[], object]], classes: Sequence[type], rounds: int = 3
) -> list[list[float]]:
    """Seconds of every side in every round that are not spent in fit and predict."""
    seconds: list[list[float]] = [[] for _ in sides]
    with inside(classes) as spent:
        for _ in range(rounds):
            for place, side in enumerate(sides):
                spent[0], begin = 0.0, time.process_time()
                side()
                seconds[place].append(time.process_time() - begin - spent[0])
    return seconds


def quick_learners() -> dict[str, Any]:
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


def whole_call() -> Row:
    """`compare` as users call it, in this process."""
    import bestofk as bk

    X, y = data_sets()["iris"]
    chosen = quick_learners()
    splits = bk.plan("10x10", random_state=0).materialise(len(y), y)
    folds = [(X[train], y[train], X[test], y[test]) for _, _, train, test in splits]

    def ours() -> None:
        bk.compare(chosen, X, y, cv="10x10", n_jobs=1, progress=False)

    def by_hand() -> None:
        for X_train, y_train, X_test, y_test in folds:
            for model in chosen.values():
                np.count_nonzero(model.fit(X_train, y_train).predict(X_test) != y_test)

    return row("whole-call-iris", *turns(ours, by_hand, rounds=ROUNDS["iris"]))


def measure(only: Sequence[str] = ()) -> Iterator[Row]:
    with one_thread():
        if not only or "iris" in only:
            yield whole_call()
        yield from overhead(only)
