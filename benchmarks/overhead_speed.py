"""What running learners through bestofk costs beside their own fits and predictions.

Rows, where a ratio above 1 means that ours is faster:

- ``overhead-DATA``: five learners of scikit-learn in ten folds, `compare`'s engine in this process
  against bare fit-and-predict calls on folds that were sliced before. The promise is a ratio of
  at least 1/1.10 = 0.909 on the small sets, 1/1.05 = 0.952 at 10,000 x 20.
- ``cross-validate-DATA``: the same against scikit-learn's `cross_validate`, learner by learner.
- ``mlxtend-5x2cv``: 5x2 losses of five learners and all 10 pairwise tests against mlxtend's
  `paired_ttest_5x2cv` pair by pair (promise: 3.5).
- ``two-workers``: two worker processes against one (promise: 1.8, on two idle cores).

The sides take turns and the ratio is that of their medians. All but the last are seconds of the
processor with one thread, which a busy machine disturbs less than the clock on the wall.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from itertools import combinations
from statistics import median
from typing import Any

import numpy as np

Row = tuple[str, float, float, float]
ROUNDS = 7


def learners() -> dict[str, Any]:
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.naive_bayes import GaussianNB
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.tree import DecisionTreeClassifier

    return {
        "bayes": GaussianNB(),
        "logistic": LogisticRegression(max_iter=1000),
        "tree": DecisionTreeClassifier(random_state=0),
        "neighbours": KNeighborsClassifier(),
        "forest": RandomForestClassifier(n_estimators=20, random_state=0),
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
    scaled["10000x20"] = make_classification(10_000, 20, n_informative=8, random_state=0)
    return scaled


def experiment_of(X: Any, y: Any, plan: str, chosen: dict[str, Any]) -> Any:
    import bestofk as bk
    from bestofk.data import as_dataset
    from bestofk.run.contenders import as_contenders
    from bestofk.run.experiment import Experiment
    from bestofk.run.scoring import as_loss

    data = as_dataset(X, y)
    return Experiment(
        contenders=as_contenders(chosen),
        datasets=(data,),
        splits=(bk.plan(plan, random_state=0).materialise(data.n, data.y),),
        loss=as_loss("zero-one", classes=data.classes),
        repetitions=1,
        random_state=0,
    )


def run_serially(experiment: Any) -> float:
    from bestofk.run.engines import Engine

    places = list(experiment.places())
    engine = Engine(name="serial")
    return sum(cell.loss for cell in engine.run(experiment, places, total=len(places)))


def bare(folds: list[tuple[Any, Any, Any, Any]], chosen: dict[str, Any]) -> Callable[[], float]:
    """Fits, predictions and the error on folds that are sliced already, and nothing else."""

    def go() -> float:
        total = 0.0
        for X, y, X_test, y_test in folds:
            for learner in chosen.values():
                model = type(learner)(**learner.get_params())
                predicted = model.fit(X, y).predict(X_test)
                total += np.count_nonzero(predicted != y_test) / len(y_test)
        return total

    return go


def turns(
    *sides: Callable[[], object],
    rounds: int = ROUNDS,
    clock: Callable[[], float] = time.process_time,
) -> list[float]:
    """Median seconds of every side, after one turn that does not count."""
    for side in sides:
        side()
    seconds: list[list[float]] = [[] for _ in sides]
    for number in range(rounds):
        # in turn and turned round, so that a busy moment hits all
        for place in range(len(sides)) if number % 2 else reversed(range(len(sides))):
            begin = clock()
            sides[place]()
            seconds[place].append(clock() - begin)
    return [median(spent) for spent in seconds]


def overhead() -> Iterator[Row]:
    from sklearn.model_selection import cross_validate

    for name, (X, y) in data_sets().items():
        chosen = learners()
        experiment = experiment_of(X, y, "kfold:10", chosen)
        splits = experiment.splits[0]
        pairs = [(train, test) for _, _, train, test in splits]
        folds = [(X[train], y[train], X[test], y[test]) for train, test in pairs]

        def validated(X: Any = X, y: Any = y, pairs: Any = pairs) -> None:
            for learner in learners().values():
                cross_validate(learner, X, y, cv=pairs)

        ours, peer, sklearn = turns(
            lambda experiment=experiment: run_serially(experiment),
            bare(folds, chosen),
            validated,
            rounds=3 if name == "10000x20" else ROUNDS,
        )
        yield f"overhead-{name}", peer / ours, ours, peer
        yield f"cross-validate-{name}", sklearn / ours, ours, sklearn


def all_pairs() -> Iterator[Row]:
    """Five learners, ten pairs: K fits a split, not K (K - 1)."""
    from mlxtend.evaluate import paired_ttest_5x2cv

    import bestofk as bk

    X, y = data_sets()["cancer"]

    def ours() -> None:
        bk.compare(learners(), X, y, plan="5x2", engine="serial", progress=False)

    def theirs() -> None:
        for a, b in combinations(learners().values(), 2):
            paired_ttest_5x2cv(a, b, X, y, random_seed=0)

    mine, peer = turns(ours, theirs, rounds=3)
    yield "mlxtend-5x2cv", peer / mine, mine, peer


def two_workers() -> Iterator[Row]:
    import bestofk as bk

    X, y = data_sets()["10000x20"]
    chosen = {name: learner for name, learner in learners().items() if name in ("tree", "forest")}

    def go(jobs: int) -> None:
        bk.compare(chosen, X, y, plan="3x10", engine="processes", jobs=jobs, progress=False)

    mine, peer = turns(lambda: go(2), lambda: go(1), rounds=3, clock=time.perf_counter)
    yield "two-workers", peer / mine, mine, peer


def measure() -> Iterator[Row]:
    from threadpoolctl import threadpool_limits

    learners(), data_sets()  # libraries that are not loaded yet would not be limited
    with warnings.catch_warnings(), threadpool_limits(limits=1):
        warnings.simplefilter("ignore")
        yield from overhead()
        yield from all_pairs()
        yield from two_workers()
