"""Regression tests for the cases of an independent audit."""

import numpy as np
import pytest

import bestofk as bk
from bestofk import decide as ordering
from bestofk._base.errors import DesignError


def test_dietterichs_t_says_that_the_order_decides_it(five_by_two):
    decision = ordering.multitest(five_by_two([0.3, 0.2]), test="5x2cv-t")
    assert "The numerator of 5x2cv-t is the first fold listed" in str(decision)


def test_posteriors_are_refused_on_few_data_sets_and_promise_nothing(on_data_sets):
    rng = np.random.default_rng(4)
    few = on_data_sets(rng.random((3, 9)))
    with pytest.raises(DesignError, match="fewer than 10 data sets; got 9"):
        bk.compare_scores(few, test="signed-rank-bayes")
    enough = on_data_sets(rng.random((3, 10)))
    text = bk.compare_scores(
        enough, test="signed-rank-bayes", test_options={"samples": 500}
    ).explain()
    assert "no error rate is promised" in text
    assert "wrong claim" not in text
