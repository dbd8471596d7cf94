"""P-values of tables in which some learners lack losses."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

import bestofk as bk
from bestofk.decide import pairs


@pytest.fixture(scope="module")
def answers():
    """Right-or-wrong answers of two models to 60 items; a lacks eight of them."""
    wrong = np.zeros((2, 60))
    wrong[1, :18] = 1.0
    wrong[0, 18:22] = 1.0
    wrong[0, 50:58] = np.nan
    return bk.Scores(
        wrong, dims=("learner", "instance"), learners=["a", "b"], design="test-set",
        missing="allow", loss_name="zero-one",
    )  # fmt: skip


def test_all_pvalues_of_a_pair_are_those_of_the_worst_case(answers):
    evidence = bk.compare_scores(answers, missing="drop").decision.evidence
    # if the eight missing answers of a are wrong, 30 items differ, 18 of them in favour of a
    # McNemar's statistic with the continuity correction: (18 - 12 - 1)^2 / 30
    assert evidence.pvalue[0] == pytest.approx(float(stats.chi2.sf(25 / 30, 1)))


def test_one_sided_families_take_the_larger_pvalue(answers):
    decided = bk.compare_scores(answers, missing="drop", family="preference", prefer=["b", "a"])
    complete, _ = pairs.tested(replace(decided.decision.problem, missing=None), decided.settings)
    assert decided.decision.evidence.pvalue[0] >= complete.pvalue[0]
