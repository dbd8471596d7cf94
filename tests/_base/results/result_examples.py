"""One example of every result, each from a real call."""

from __future__ import annotations

import functools
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import bestofk as bk
import bestofk.decide
import bestofk.evals
from bestofk import decide as ordering, papers
from bestofk._base.results import Presented
from bestofk.decide.stopping.items import settle_items
from bestofk.papers import lab, stats as paper_tests
from bestofk.papers.decide.interval_table import IntervalTable, run_interval_test
from bestofk.papers.error_estimates import estimate
from bestofk.papers.one_test import run_test
from bestofk.papers.stats.interval_tests import interval_test
from bestofk.release.rehearsal import rehearse
from bestofk.stats import intervals, multiple, pairwise

NAMES = ("tree", "forest", "bayes", "net")


def interval_table():
    return IntervalTable(
        learners=("a", "b", "c"),
        units=tuple("12345678"),
        ends=np.sort(table(6, 8).reshape(2, 3, 8), axis=0),
    )


def battles():
    rng = np.random.default_rng(0)
    rows = [(a, b, a if rng.random() < 0.6 else b)
            for a, b in (("a", "b"), ("b", "c"), ("a", "c")) for _ in range(30)]  # fmt: skip
    return pd.DataFrame(rows, columns=["model_a", "model_b", "winner"])


def table(K: int = 4, n: int = 8, seed: int = 3) -> np.ndarray:
    """Losses (K, n), the last learners clearly better."""
    rng = np.random.default_rng(seed)
    shift = np.linspace(0.3, 0.0, K)[:, None]
    return np.round(np.clip(0.3 + shift + 0.04 * rng.standard_normal((K, n)), 0, 1), 4)


def scores() -> bk.Scores:
    """Accuracies of four learners in 10 folds."""
    return bk.Scores(1.0 - table(n=10), learners=NAMES, higher_is_better=True,
                     loss_name="accuracy")  # fmt: skip


def correct(K: int = 3, n: int = 40) -> np.ndarray:
    rng = np.random.default_rng(5)
    return (rng.random((K, n)) < np.array([0.9, 0.6, 0.55])[:K, None]).astype(float)


@functools.cache
def decision() -> Any:
    return bk.compare_scores(scores(), prefer=list(NAMES), margin=0.02, rope=0.01)


@functools.cache
def study() -> Any:
    return bk.compare(
        ["max", "nmc", "naive-bayes"],
        "iris",
        cv="5x2",
        n_jobs=1,
        progress=False,
    )


@functools.cache
def simulation() -> Any:
    return lab.simulate(["max", "naive-bayes"], "binary(rows=60)", "kfold:5", sets=12, repeats=3,
                        n_jobs=1)  # fmt: skip


def _study_with_a_failure() -> Any:
    from sklearn.base import BaseEstimator, ClassifierMixin

    class Broken(ClassifierMixin, BaseEstimator):
        def fit(self, X: Any, y: Any) -> Any:
            raise ValueError("the data are cursed")

        def predict(self, X: Any) -> Any:
            return X

    learners = {"max": "max", "nmc": "nmc", "broken": Broken()}
    return bk.compare(
        learners, "iris", cv="kfold:3", progress=False, execution=bk.Execution(engine="serial")
    )


@functools.cache
def sliced():
    rng = np.random.default_rng(0)
    rows = [(name, item, item % 3, int(rng.random() < share))
            for item in range(90) for name, share in (("a", 0.9), ("b", 0.4))]  # fmt: skip
    frame = pd.DataFrame(rows, columns=["model", "item", "part", "accuracy"])
    return bestofk.decide.order_by(frame, "part")


@functools.cache
def _stopped() -> Any:
    return bk.compare(
        {"max": "max", "nmc": "nmc(scale=None)", "naive-bayes": "naive-bayes", "c4.5": "c4.5"},
        data="wine", n_jobs=1, progress=False, prefer="listed", stop="settled",
    )  # fmt: skip


def _judged() -> Any:
    """Two models with a judge's scores of 120 items, of which 60 have human labels."""
    rng = np.random.default_rng(2)
    rows = ["model,item,judge_score,human_score"]
    for name, gain in (("a", 0.3), ("b", 0.0)):
        for item, quality in enumerate(rng.normal(3 + gain, 1, 120)):
            label = round(quality, 1) if item % 2 else ""
            rows.append(f"{name},{item},{quality + rng.normal(0, 0.5):.1f},{label}")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "judged.csv")
        path.write_text("\n".join(rows))
        evals = bk.read_evals(
            path, metric="judge_score", truth="human_score", higher_is_better=True
        )
    return bk.compare_evals(evals)


def _roc() -> Any:
    rng = np.random.default_rng(2)
    truth = rng.random(60) < 0.4
    return papers.decide.roc_hull(truth + rng.standard_normal((3, 60)), truth, names=NAMES[:3])


def _multinomial() -> Any:
    rng = np.random.default_rng(4)
    p = rng.random((3, 40))
    p[0] = np.clip(p[0] + 0.5, 0, 1)
    return papers.decide.multinomial_selection(p, names=NAMES[:3])


MADE: dict[str, Callable[[], Any]] = {
    "kfold_t": lambda: pairwise.kfold_t(*table(2)),
    "kfold_t of many": lambda: pairwise.kfold_t(table()[:3], table()[3]),
    "five_by_two_f": lambda: pairwise.five_by_two_f(
        table(2, 10)[0].reshape(5, 2), table(2, 10)[1].reshape(5, 2)
    ),
    "kfold_t without spread": lambda: pairwise.kfold_t(np.full(5, 0.3), np.full(5, 0.2)),
    "correlated_t": lambda: pairwise.correlated_t(*table(2), rope=0.01, rho=0.1),
    "signed_rank_bayes": lambda: pairwise.signed_rank_bayes(*table(2), rope=0.01),
    "hierarchical_bayes": lambda: pairwise.hierarchical_bayes(
        *np.random.default_rng(0).normal([[[[0.3]]], [[[0.4]]]], 0.01, (2, 6, 1, 5)), rope=0.01
    ),
    "anova": lambda: paper_tests.anova(table()),
    "anova of many": lambda: paper_tests.anova(np.stack([table(), table(seed=4)])),
    "repeated_measures_anova": lambda: paper_tests.repeated_measures_anova(table()),
    "kruskal_wallis": lambda: multiple.kruskal_wallis(table()),
    "friedman": lambda: multiple.friedman(table()),
    "nemenyi": lambda: multiple.nemenyi(table()),
    "newman_keuls": lambda: paper_tests.newman_keuls(table()),
    "tukey": lambda: paper_tests.tukey(table()),
    "cochran_q": lambda: multiple.cochran_q(correct()),
    "looney": lambda: paper_tests.looney(correct()),
    "bootstrap_a": lambda: paper_tests.bootstrap_a(table()),
    "bootstrap_b": lambda: paper_tests.bootstrap_b(
        np.stack([table(), table(seed=9)], -1)[:, :, None]
    ),
    "order": decision,
    "compare_evals": lambda: bk.compare_evals(
        bestofk.evals.example_evals("inspect-sums"), prefer="tokens", margin=0.1
    ),
    "a judge": lambda: _judged().outcome.judge,
    "order without a preference": lambda: bk.compare_scores(table(n=10)),
    "order along the preference": lambda: bk.compare_scores(
        scores(), prefer=list(NAMES), family="preference"
    ),
    "most wins": lambda: bk.compare_scores(table(n=10), rule="most-wins"),
    "slices": sliced,
    "one test": lambda: run_test(scores(), "kfold-t"),
    "one test of a pair": lambda: run_test(scores(), "kfold-t", pair=("tree", "bayes")),
    "one test of all": lambda: run_test(scores(), "friedman"),
    "roc_hull": _roc,
    "multinomial_selection": _multinomial,
    "study": study,
    "study with a failure": _study_with_a_failure,
    "study that stopped": _stopped,
    "settled items": lambda: settle_items(
        (np.random.default_rng(0).random((3, 200)) < [[0.9], [0.1], [0.8]]).astype(float),
        planned=400,
        names=NAMES[:3],
        prefer="listed",
    ),
    "sample_size": lambda: bk.sample_size(scores()),
    "interval": lambda: intervals.wilson(3, 40),
    "interval_test": lambda: interval_test(np.sort(table(2, 8), axis=0), [table(1, 8)[0]] * 2),
    "run_interval_test": lambda: run_interval_test(interval_table()),
    "compare_battles": lambda: ordering.compare_battles(battles()),
    "order_intervals": lambda: papers.decide.order_intervals(interval_table()),
    "estimate": lambda: estimate(
        "max", bk.read_data("iris"), methods=["resubstitution", "holdout"]
    ),
    "intervals": lambda: intervals.clopper_pearson([3, 5], 40),
    "type1_error": lambda: lab.type1_error("kfold-t", simulation=simulation()),
    "power": lambda: lab.power("kfold-t", simulation=simulation()),
    "replicability": lambda: lab.replicability("kfold-t", simulation=simulation()),
    "false_claims": lambda: lab.false_claims(sets=10, n_jobs=1),
    "calibrate": lambda: lab.calibrate("kfold-t", simulation=simulation()),
    "losses": scores,
    "rehearsal": lambda: rehearse([1.0] * 60 + [0.0] * 40),
    "gate": lambda: bk.gate([1.0] * 60 + [0.0] * 40, [1.0] * 75 + [0.0] * 25),
}
"""The call that creates each result."""


def held_in(value: Any) -> Iterator[Any]:
    """Yield a result and the results in its fields."""
    yield value
    value = getattr(value, "outcome", value)
    if is_dataclass(value):
        for item in fields(value):
            inner = getattr(value, item.name)
            for each in inner if isinstance(inner, tuple) else (inner,):
                if isinstance(each, Presented):
                    yield from held_in(each)
