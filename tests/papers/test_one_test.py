import numpy as np
import pytest

import bestofk as bk
import bestofk.decide
from bestofk._base.errors import ArgumentError, DesignError, UnknownNameError
from bestofk.papers import stats as paper_tests
from bestofk.papers.one_test import run_test
from bestofk.splits.design import Design
from bestofk.stats import multiple

DIMS = ("learner", "dataset", "run", "fold", "repetition")


def drawn(*shape, seed=5):
    return np.random.default_rng(seed).random(shape)


def many_sets():
    return bk.Scores(drawn(3, 6, 2, 4, 3), dims=DIMS, learners=["a", "b", "c"])


def test_bootstraps_see_data_sets_folds_and_repetitions():
    losses = many_sets()
    folded = losses.losses.reshape(3, 6, 8, 3)
    a = run_test(losses, "bootstrap-a").result
    np.testing.assert_array_equal(a.pvalues, paper_tests.bootstrap_a(folded).pvalues)
    b = run_test(losses, "bootstrap-b").result
    np.testing.assert_array_equal(b.pvalues, paper_tests.bootstrap_b(folded).pvalues)
    assert b.pvalues.shape == (3, 2)


def test_blocks_are_the_means_of_the_data_sets():
    losses = many_sets()
    means = losses.losses.mean(axis=(2, 3, 4))
    report = run_test(losses, "friedman")
    assert report.result.statistic == multiple.friedman(means).statistic
    assert "means on 6 data sets" in report.explain()


def test_right_answers_of_one_test_set():
    wrong = np.random.default_rng(5).integers(0, 2, (3, 1, 1, 50, 1))
    losses = bk.Scores(wrong, dims=DIMS, design=Design(kind="test-set", folds=50))
    expected = multiple.cochran_q(1 - wrong[:, 0, 0, :, 0])
    assert run_test(losses, "cochran-q").result.statistic == expected.statistic
    graded = bk.Scores(wrong / 3, dims=DIMS, design=Design(kind="test-set", folds=50))
    with pytest.raises(DesignError, match="0 or 1 per instance"):
        run_test(graded, "cochran-q")


def test_arguments_that_do_not_apply():
    losses = many_sets()
    for name, value in {"pair": ("a", "b"), "df": 3, "alternative": "less"}.items():
        with pytest.raises(ArgumentError, match=f"{name} does not apply to 'friedman'"):
            run_test(losses, "friedman", **{name: value})
    with pytest.raises(UnknownNameError, match="no learner 'd'"):
        run_test(losses, "sign", pair=("a", "d"))


def test_uncalibrated_degrees_of_freedom_are_cautioned_about():
    caution = "Caution: The degrees of freedom of use-all-data are not calibrated"
    assert caution in run_test("breast-cancer-10x10", "use-all-data").explain()
    assert caution not in run_test("breast-cancer-10x10", "use-all-data", df=10).explain()
