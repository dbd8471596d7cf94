"""Checks of the entries of plugins; bestofk runs them on its own entries too."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np

from bestofk._base.checks import Floats
from bestofk._base.errors import InputError
from bestofk.decide.compare_scores import compare_scores
from bestofk.decide.registry import RULES
from bestofk.decide.result import Result, decision_of
from bestofk.learners.registry import LEARNERS, learner
from bestofk.losses.losses import Scores
from bestofk.splits.plans import PLANS, plan
from bestofk.splits.splits import Splits
from bestofk.stats.pairwise.entry import PairwiseTest
from bestofk.stats.pairwise.registry import PAIRWISE_TESTS
from bestofk.stats.pairwise.result import PairwiseResult

_MIRROR = {"two-sided": "two-sided", "greater": "less", "less": "greater"}
_ROWS = 43


def _hold(condition: Any, sentence: str) -> None:
    if not condition:
        raise AssertionError(sentence)


def _refused(sentence: str, function: Callable[..., Any], *arguments: Any) -> None:
    try:
        function(*arguments)
    except Exception:
        return
    raise AssertionError(sentence)


# A pairwise test


def losses_of(entry: PairwiseTest, seed: int, *, shift: float = 0.0, lead: Any = ()) -> Floats:
    """Draw losses of one learner in a shape that the test covers."""
    units: tuple[int, ...] = (40,) if entry.zero_one else (11,)
    if entry.covers == ("5x2",):
        units = (5, 2)
    elif entry.nested:
        units = (32,)  # 8 + 24 losses
    elif entry.axes > 1:
        units = (5, 2, 3) if entry.axes == 3 else (4, 3)
    rng = np.random.default_rng(seed)
    if entry.zero_one:
        return (rng.random((*lead, *units)) < 0.3 + shift).astype(float)
    return rng.normal(0.3 + shift, 0.05, (*lead, *units))


def options_of(entry: PairwiseTest) -> dict[str, Any]:
    """Return the arguments that the test needs for the losses of `losses_of`."""
    options = dict(entry.arguments)
    if entry.needs_sizes:
        options |= {"n_train": 70, "n_test": 13}
    if entry.nested:
        options |= {"runs": 2, "folds": 4}
    if entry.takes("random_state"):
        options |= {"random_state": 3}
    return options


def check_pairwise_test(name: str, **options: Any) -> None:
    """Raise an AssertionError if a registered pairwise test breaks a rule of pairwise tests.

    A learner never beats itself, not even by a rounding error. Swapping the learners swaps the
    result. One-sided p-values fit together. A clearly greater loss is found. The unit of the loss
    does not matter. Many pairs at once give the results of one pair after another. Inputs are never
    written. What is no loss is refused.

    Parameters
    ----------
    name : str
        A name of ``bestofk list tests``.
    **options
        More for the test, such as fewer draws.

    Examples
    --------
    >>> check_pairwise_test("wilcoxon")
    """
    entry = PAIRWISE_TESTS[name]
    function, options = entry.load(), {**options_of(entry), **options}
    drawn = entry.bayesian and entry.takes("random_state")
    has_atoms = drawn or entry.smallest_pvalue is not None

    def test(a: Any, b: Any, alternative: str = "two-sided") -> PairwiseResult:
        result: PairwiseResult = function(a, b, alternative=alternative, **options)
        return result

    for alternative in entry.sides:
        _check_one_side(entry, test, alternative, has_atoms=has_atoms)
    a, b = losses_of(entry, 1, shift=0.5), losses_of(entry, 2)
    both = test(a, b)
    _hold(both.test == name, f"the result must name the test {name!r}; got {both.test!r}.")
    if {"greater", "less"} <= set(entry.sides):
        greater, less = (test(a, b, word).pvalue for word in ("greater", "less"))
        _hold(greater < 0.15 and less > 0.8, "a clearly greater loss of a must be found.")
        a, b = losses_of(entry, 3, shift=0.02), losses_of(entry, 53)
        greater, less = (test(a, b, word).pvalue for word in ("greater", "less"))
        _hold(greater + less >= 1 - 1e-12, "one-sided p-values must add up to 1 or more.")
        if not has_atoms:
            np.testing.assert_allclose(greater + less, 1.0, atol=1e-12)
            two = min(1.0, 2 * min(greater, less))
            np.testing.assert_allclose(test(a, b).pvalue, two, rtol=1e-10)
    else:
        _hold(both.pvalue < 0.05, "a clearly greater loss of a must be found.")
    _check_refusals(entry, test)


def _check_one_side(entry: PairwiseTest, test: Any, alternative: str, *, has_atoms: bool) -> None:
    a, b = losses_of(entry, 0, shift=0.03), losses_of(entry, 50)
    equal = [test(a, a.copy(), alternative)]
    if not entry.zero_one:
        same = np.full(a.shape, 0.3)
        equal.append(test(same * 0 + 0.1 + 0.2, same, alternative))  # 0.30000000000000004
    for result in equal:
        _hold((result.pvalue, result.statistic) == (1.0, 0.0), "equal losses must have p = 1.")
    for values in (a, b):
        values.flags.writeable = False
    ab, ba = test(a, b, alternative), test(b, a, _MIRROR[alternative])
    np.testing.assert_allclose((ab.pvalue, ab.estimate), (ba.pvalue, -ba.estimate), rtol=1e-10)
    for field in ("statistic", "pvalue", "estimate"):
        _hold(isinstance(getattr(ab, field), float), f"{field} of one pair must be a float.")
    if not has_atoms or entry.bayesian:  # counts and rank sums have no sign, nor has an F
        sign = 1 if isinstance(ab.df, tuple) else -1
        np.testing.assert_allclose(ab.statistic, sign * ba.statistic, rtol=1e-9, atol=1e-12)
    better, worse = ("a", "b") if ab.estimate < 0 else ("b", "a")
    smaller = f"{better} has a smaller {entry.estimand} loss than {worse}"
    _hold(smaller in ab.explain(names=("a", "b")), f"explain() must say that {smaller}.")
    if not entry.zero_one:
        # losses in hundredths have ties among their differences
        plain, other = (
            test(*(unit * np.round(x, 2) + 7 * (unit > 1) for x in (a, b)), alternative)
            for unit in (1, 1000)
        )
        np.testing.assert_allclose(other.pvalue, plain.pvalue, rtol=1e-8)
        np.testing.assert_allclose(other.estimate, 1000 * plain.estimate, rtol=1e-8, atol=1e-9)
    rows, columns = losses_of(entry, 0, lead=(3, 1)), losses_of(entry, 1, lead=(2,))
    rows[2, 0] = columns[1]  # a pair without any difference among others
    many = test(rows, columns, alternative)
    for i, j in np.ndindex(3, 2):
        one = test(rows[i, 0], columns[j], alternative)
        for field in ("statistic", "pvalue", "estimate"):
            np.testing.assert_allclose(
                getattr(many, field)[i, j], getattr(one, field), rtol=1e-12, atol=1e-15
            )


def _check_refusals(entry: PairwiseTest, test: Any) -> None:
    a, b = losses_of(entry, 0), losses_of(entry, 1)
    missing = a.copy()
    missing.flat[1] = np.nan
    if entry.covers != ("seeds",):
        _refused("a missing loss must be refused.", test, missing, b)
        _refused("losses of other shapes must be refused.", test, a[..., :-1], b)
    _refused("infinite losses must be refused.", test, np.full_like(a, np.inf), b)
    _refused("a single number must be refused.", test, 0.3, 0.2)
    for word in {"bigger", *_MIRROR} - set(entry.sides):
        _refused(f"the alternative {word!r} must be refused.", test, a, b, word)


# A rule

_NAMES = ("tree", "bayes", "mean", "forest")


def check_rule(name: str) -> None:
    """Raise an AssertionError if a registered rule breaks a rule of decisions.

    It recommends one of the learners or none, says why, and can be written as JSON. The order of
    the rows and the unit of the loss do not matter. Losses are never written, and decisions repeat.

    Parameters
    ----------
    name : str
        A name of ``bestofk list rules``.

    Examples
    --------
    >>> check_rule("multitest")
    """
    entry = RULES[name]
    means = np.array([0.30, 0.12, 0.21, 0.205])[:, None, None]  # unsorted, and two of them close
    values = means + 0.04 * np.random.default_rng(5).normal(size=(4, 4, 5))

    def decide(*, reverse: bool = False, unit: float = 1.0) -> Result:
        step = -1 if reverse else 1
        losses = Scores(unit * values[::step], learners=list(_NAMES[::step]))
        losses.losses.flags.writeable = False
        options = {"margin": 0.02 * unit} if "margin" in entry.options else {}
        return compare_scores(losses, rule=name, prefer=list(_NAMES), **options)  # type: ignore[arg-type]

    first = decide()
    ranking = decision_of(first).ranking
    _hold(decision_of(first).rule == name, f"the decision must name the rule {name!r}.")
    _hold(first.recommended in {None, *_NAMES}, "the recommended learner must be one of them.")
    _hold(set(ranking) <= set(_NAMES), "the order must consist of the learners.")
    _hold(len(set(ranking)) == len(ranking), "no learner may be twice in the order.")
    _hold(first.headline and first.explain(), "a decision must have a headline and reasons.")
    json.dumps(first.to_dict(), allow_nan=False)
    _hold(decide().explain() == first.explain(), "the same losses must give the same decision.")
    changed = (decide(reverse=True), decide(unit=100.0), decide(unit=2.0**-20))
    for other in changed:
        same = (other.recommended, decision_of(other).ranking) == (first.recommended, ranking)
        _hold(same, "the order of the rows and the unit of the loss must not matter.")


# A learner


def check_learner(name: str) -> None:
    """Raise an AssertionError if a registered learner breaks a rule of learners.

    It follows the conventions of scikit-learn (`sklearn.utils.estimator_checks.check_estimator`
    checks more of them). It predicts every row by itself, and only classes of the training rows.
    Its copies and pickles predict the same. Inputs are never written.

    Parameters
    ----------
    name : str
        A name of ``bestofk list learners``.

    Examples
    --------
    >>> check_learner("naive-bayes")
    """
    import pandas as pd
    from sklearn.base import clone

    entry, rng = LEARNERS[name], np.random.default_rng(0)
    codes = rng.integers(0, 2, _ROWS)
    X = pd.DataFrame({"a": codes + 0.1 * rng.normal(size=_ROWS), "b": rng.normal(size=_ROWS)})
    if entry.task == "classification":
        y: Any = np.where(codes == 1, "yes", "no")
    else:
        y = X["a"].to_numpy() + 0.1
    model = learner(name)
    parameters = model.get_params()
    _hold(clone(model).get_params().keys() == parameters.keys(), "clone must keep the parameters.")
    kept_X, kept_y = X.copy(), y.copy()
    _refused("predict before fit must be refused.", model.predict, X)
    fitted = clone(model).fit(X, y)
    predicted = np.asarray(fitted.predict(X))
    _hold(X.equals(kept_X) and (y == kept_y).all(), "fit and predict must not write their input.")
    _hold(predicted.shape == (_ROWS,), f"predict must return one value per row; got {predicted!r}.")
    if entry.task == "classification":
        _hold(set(predicted) <= set(y), "only classes of the training rows may be predicted.")
    order = rng.permutation(_ROWS)
    same = _equal(fitted.predict(X.iloc[order]), predicted[order])
    _hold(same, "the prediction of a row must not depend on the other rows.")
    again = pickle.loads(pickle.dumps(fitted))
    _hold(_equal(again.predict(X), predicted), "a pickled model must predict the same.")


def _equal(a: Any, b: Any) -> bool:
    a, b = np.asarray(a), np.asarray(b)
    return np.allclose(a, b, rtol=1e-9) if b.dtype.kind == "f" else bool((a == b).all())


# A plan


def check_plan(name: str) -> None:
    """Raise an AssertionError if a registered plan breaks a rule of plans.

    Its example is understood and written back. No row trains and tests in one split. The same seed
    gives the same splits. Cross-validation tests every row once per run. No group trains and tests
    in one split; a plan that does not know groups refuses them.

    Parameters
    ----------
    name : str
        A name of ``bestofk list plans``.

    Examples
    --------
    >>> check_plan("rxk")
    """
    import pandas as pd

    entry = PLANS[name]
    X = pd.DataFrame({"x": np.arange(_ROWS), "fold": np.arange(_ROWS) % 4})
    y = np.array(["a", "b", "b"])[np.arange(_ROWS) % 3]
    made = plan(entry.example, random_state=7)
    _hold(plan(made.spec, random_state=7).spec == made.spec, "the plan must be written back.")
    _hold(pickle.loads(pickle.dumps(made)).spec == made.spec, "a plan must survive pickling.")

    def splits(groups: Any = None) -> Splits:
        return plan(entry.example, random_state=7).materialise(_ROWS, y, groups, X=X)

    many = np.arange(_ROWS) * 5 % 14
    groups = many if entry.needs == "groups" else None
    first = splits(groups)
    _hold(first.design.kind == entry.kind, f"the splits must be of the kind {entry.kind!r}.")
    _hold(first.fingerprint == splits(groups).fingerprint, "a seed must give the same splits.")
    tested = np.zeros((first.runs, _ROWS), dtype=int)
    for run, _, train, test in first:
        _hold(len(train) and len(test), "every split must have rows to train and to test.")
        rows = {*train.tolist(), *test.tolist()}
        _hold(rows <= {*range(_ROWS)}, f"rows must be numbers from 0 to {_ROWS - 1}.")
        _hold(not {*train.tolist()} & {*test.tolist()}, "no row may train and test in one split.")
        if run < first.runs:
            tested[run, test] += 1
    if entry.kind in ("cv", "loo"):
        _hold((tested == 1).all(), "cross-validation must test every row once per run.")
    try:
        grouped = splits(many)
    except InputError as error:
        _hold("No group may train and test in one split" in str(error), str(error))
        return
    for _, _, train, test in grouped:
        _hold(not {*many[train]} & {*many[test]}, "no group may train and test in one split.")
