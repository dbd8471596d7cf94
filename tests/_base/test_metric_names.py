"""Tests describe scores as they describe the corresponding losses, in the user's direction."""

import re

import numpy as np
import pytest

import bestofk as bk
from bestofk._base.errors import BestOfKError
from bestofk._base.formatting import spoken
from bestofk.decide.one_test import run_test
from bestofk.stats.multiple.registry import MULTIPLE_TESTS
from bestofk.stats.pairwise.registry import PAIRWISE_TESTS


def scores(design):
    rng = np.random.default_rng(11)
    shape = (3, 5, 2) if design == "5x2" else (3, 12)
    values = 83.0 + rng.normal(0, 1, shape) + np.reshape([0, 3, 5], (3, *([1] * (len(shape) - 1))))
    names = None if design == "5x2" else [f"d{i}" for i in range(12)]
    return bk.Losses(
        values,
        algorithms=["a", "b", "c"],
        datasets=names,
        higher_is_better=True,
        loss_name="points",
    )


@pytest.mark.parametrize("design", ["5x2", "datasets"])
@pytest.mark.parametrize("test", [*MULTIPLE_TESTS, *PAIRWISE_TESTS])
@pytest.mark.parametrize("pair", [None, ("a", "b")])
def test_texts_about_scores_do_not_mention_losses(design, test, pair):
    if pair is not None and test in MULTIPLE_TESTS:
        pytest.skip("a test of all learners")
    try:
        report = run_test(scores(design), test, pair=pair)
    except BestOfKError:
        pytest.skip("does not cover the design")
    words = report.explain()
    assert not re.search(r"\bloss(es)?\b", words), words
    assert not re.search(r"-8\d", words), words
    value = report.to_dict()
    assert value["metric"] == {"name": "points", "higher_is_better": True}
    assert all(mean > 0 for mean in value.get("means", ()))


def test_the_best_comes_first_with_the_largest_mean():
    text = run_test(scores("5x2"), "anova").explain()
    assert re.match(r"c has the largest mean points \(8\d\.\d+\), a the smallest \(8\d", text)
    assert "Larger points is better." in text
    assert spoken().name == "loss"


def test_other_results_mention_scores():
    for design in ("5x2", "datasets"):
        table = scores(design)
        for text in (
            bk.order(table).explain(),
            bk.plan_size(table).explain(),
            bk.order(table).to_markdown(),
            bk.order(table).to_latex(),
        ):
            assert not re.search(r"-8\d\.", text), text
            assert "mean loss" not in text
