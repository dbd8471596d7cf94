"""Section 4.2 on constructed losses: tables and verdicts next to the print."""

from __future__ import annotations

import numpy as np
import pytest

from bestofk.papers.intervals.experiments import (
    KEEL_DATASETS as DATASETS,
    LEARNERS,
    balanced_error,
)
from bestofk.papers.intervals.tables import (
    average_table,
    multiple_table,
    pairs_table,
    verdict,
)


@pytest.fixture(scope="module")
def losses():
    """Five learners on 10 data sets, 2 folds, 3 repetitions; the first far ahead."""
    rng = np.random.default_rng(0)
    table = rng.uniform(0.2, 0.3, size=(5, 10, 2, 1)) + rng.normal(0, 0.002, size=(5, 10, 2, 3))
    table[0] -= 0.15
    return table


def test_there_are_64_data_sets():
    assert len(set(DATASETS)) == 64


def test_balanced_error_is_the_mean_over_classes():
    # 1 of 4 and 1 of 1 wrong
    assert balanced_error(np.array([0, 0, 0, 0, 1]), np.array([0, 0, 0, 1, 0])) == 0.625


def test_averages_are_scores(losses):
    table = average_table({"AUC": losses, "error": losses})
    assert table.rows == LEARNERS
    assert np.allclose(table.ours[:, 0], 1 - losses.mean(axis=(1, 2, 3)))
    assert table.printed[0].tolist() == [0.81, 0.94]


def test_multiple_comparisons_find_the_learner_that_is_ahead(losses):
    table = multiple_table("error", losses)
    assert table.rows == ("ANOVA", "Friedman", "Bootstrap-B", "Bootstrap-B, vertex")
    assert table.columns == ("all", *LEARNERS)
    assert verdict(table.ours[0, 0]) == verdict(table.ours[3, 1]) == "significant"
    assert table.printed[2, 1] == "[0.0001, 0.0001]"
    assert int(table.compared.sum()) == 7


def test_pairs_are_those_of_the_first_learner(losses):
    table = pairs_table("AUC", losses)
    assert table.columns == tuple(f"FURIA vs {name}" for name in LEARNERS[1:])
    assert all(verdict(p) == "significant" for p in table.ours[:2].ravel())
    assert table.printed[2, 3] == "[0.03, 0.40]"
