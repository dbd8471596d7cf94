"""Error estimates of one learner against independent computations, and their command."""

import json

import numpy as np
import pytest
from click.testing import CliRunner
from scipy.stats import binom
from sklearn.datasets import load_iris
from sklearn.model_selection import LeaveOneOut, cross_val_predict
from sklearn.neighbors import KNeighborsClassifier

import bestofk as bk
import error_estimators
from bestofk._base.errors import ArgumentError
from bestofk.cli.app import bestofk
from bestofk.papers.error_estimates import METHODS, broken_rules, estimate
from bestofk.splits.plans import plan as make_plan
from bestofk.stats.intervals import normal

X, Y = load_iris(return_X_y=True)


def test_resubstitution_and_leave_one_out_equal_scikit_learn():
    learner = KNeighborsClassifier(n_neighbors=5)
    few = slice(None, None, 3)
    result = estimate(learner, X[few], Y[few], methods=["resubstitution", "leave-one-out"])
    own = learner.fit(X[few], Y[few]).predict(X[few])
    assert result["resubstitution"].errors == (own != Y[few]).sum()
    predicted = cross_val_predict(learner, X[few], Y[few], cv=LeaveOneOut())
    assert result["leave-one-out"].errors == (predicted != Y[few]).sum() > 0
    assert result["leave-one-out"].n == 50


def test_bootstrap_estimates_fit_together():
    result = estimate("nn", X, Y)
    assert [one.method for one in result.estimates] == list(METHODS)
    apparent, outside = result["resubstitution"].error, result["bootstrap"].error
    assert apparent == 0
    assert result[".632"].error == pytest.approx(0.632 * outside)
    # gamma = 2/3 with three equal classes and no training error
    overfitting = outside / (2 / 3)
    weight = 0.632 / (1 - 0.368 * overfitting)
    assert result[".632+"].error == pytest.approx(weight * outside)
    assert result["holdout"].n == 50


def test_intervals_are_those_of_the_counts():
    one = estimate("max", X, Y, methods=["holdout"], level=0.9, test_share=0.7)["holdout"]
    k, n = int(one.errors), one.n
    low, high = one.intervals["Clopper-Pearson"]
    # by definition: both tails have 5 %
    assert binom.sf(k - 1, n, low) == pytest.approx(0.05)
    assert binom.cdf(k, n, high) == pytest.approx(0.05)
    assert binom.cdf(k, n, one.intervals["Langford"][1]) == pytest.approx(0.1)
    # 105 rows are tested: 5 % of z beyond 1.6449 on each side
    error, z2 = k / n, 1.6448536269514722**2 / n
    half = np.sqrt(z2 * error * (1 - error))
    assert one.intervals["normal"] == pytest.approx((error - half, error + half))
    # Wilson: the p with |p - error| = z sqrt(p (1 - p) / n) solve a quadratic equation
    roots = np.sort(np.roots([1 + z2, -2 * error - z2, error**2]))
    assert one.intervals["Wilson"] == pytest.approx(tuple(roots))


def test_repeated_cross_validation_is_the_mean_of_its_folds():
    learner = KNeighborsClassifier(n_neighbors=3)
    # 43 rows in 5 folds: the folds differ in size
    x, y = X[50::3], Y[50::3]
    x, y = np.concatenate([x, X[:9]]), np.concatenate([y, Y[:9]])
    result = estimate(learner, x, y, methods=["repeated-cross-validation"], folds=5)
    splits = list(make_plan("10x5", random_state=0).materialise(len(y), y))
    rates = [(learner.fit(x[a], y[a]).predict(x[b]) != y[b]).mean() for _, _, a, b in splits]
    assert (len(splits), len({len(b) for _, _, _, b in splits})) == (50, 2)
    assert result["repeated-cross-validation"].error == pytest.approx(np.mean(rates))


def test_a_finite_population_narrows_the_normal_interval():
    options = {"methods": ["holdout"], "test_share": 0.7}
    plain = estimate("max", X, Y, **options)["holdout"]
    finite = estimate("max", X, Y, **options, population=200)["holdout"]
    width = np.diff(finite.intervals["normal"])[0]
    ends = normal(int(plain.errors), plain.n)
    assert width / (ends.high - ends.low) == pytest.approx(np.sqrt((200 - plain.n) / 199))
    assert any("of the population" in rule for rule in finite.broken_rules)
    with pytest.raises(ArgumentError, match="population must be at least 150"):
        estimate("nn", X, Y, methods=["holdout"], population=100)


def test_rules_of_thumb():
    assert broken_rules(0.3, 200) == ()
    assert len(broken_rules(0.98, 60)) == 3
    text = estimate("nn", X, Y, methods=["holdout"], population=1000).explain()
    assert "There is no normal interval: n = 50 is not above 100" in text


def test_wrong_calls_are_refused():
    with pytest.raises(ArgumentError, match="methods"):
        estimate("nn", X, Y, methods=["jackknife"])
    with pytest.raises(ArgumentError, match="one data set with labels"):
        estimate("nn", X, np.linspace(0, 1, 150))


def test_the_command_prints_every_method():
    done = CliRunner().invoke(
        bestofk,
        ["papers", "estimate", "iris", "--learner", "max", "--json"],
        catch_exceptions=False,
    )
    found = json.loads(done.output)["estimates"]
    assert [one["method"] for one in found] == list(METHODS)
    # two of three equal classes are wrong
    assert found[0]["error"] == pytest.approx(2 / 3)
    assert bk.papers.estimate is estimate


def test_bias_on_labels_that_nothing_predicts():
    """The true error is 1/2; the nearest neighbour's own error is 0, so .632 is 0.316."""

    def coin(n, rng):
        return rng.normal(size=(n, 3)), rng.integers(0, 2, size=n)

    study = error_estimators.study_estimators(
        "nn", coin, rows=30, sets=30, methods=["resubstitution", "bootstrap", ".632", ".632+"]
    )
    bias = dict(zip(study.method, study.bias, strict=True))
    assert bias["resubstitution"] == pytest.approx(-0.5, abs=0.02)
    assert bias[".632"] == pytest.approx(-0.184, abs=0.03)
    assert abs(bias["bootstrap"]) < 0.03
    # .632+ corrects most of it
    assert abs(bias[".632+"]) < abs(bias[".632"]) / 2


def test_the_full_bootstrap_tests_all_rows():
    few = slice(None, None, 2)
    learner = KNeighborsClassifier(n_neighbors=3)
    result = estimate(learner, X[few], Y[few], methods=["full-bootstrap"], samples=4)
    y = Y[few]
    errors = []
    for _, _, train, _ in make_plan("bootstrap:4", random_state=0).materialise(len(y), y):
        errors.append((learner.fit(X[few][train], y[train]).predict(X[few]) != y).mean())
    assert result["full-bootstrap"].error == pytest.approx(np.mean(errors))
