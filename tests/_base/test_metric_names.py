"""Results about scores give numbers in the user's metric."""

import re

import numpy as np
import pytest

import bestofk as bk
from bestofk.papers.one_test import run_test
from bestofk.stats.multiple.registry import MULTIPLE_TESTS
from bestofk.stats.pairwise.registry import PAIRWISE_TESTS


def scores(design):
    rng = np.random.default_rng(11)
    shape = (3, 5, 2) if design == "5x2" else (3, 12)
    values = 83.0 + rng.normal(0, 1, shape) + np.reshape([0, 3, 5], (3, *([1] * (len(shape) - 1))))
    names = None if design == "5x2" else [f"d{i}" for i in range(12)]
    return bk.Scores(
        values,
        learners=["a", "b", "c"],
        datasets=names,
        higher_is_better=True,
        loss_name="points",
    )


ENTRIES = [*MULTIPLE_TESTS.values(), *PAIRWISE_TESTS.values()]
COVERED = [(design, entry.name) for design in ("5x2", "datasets") for entry in ENTRIES
           if design in entry.covers and not entry.zero_one]  # fmt: skip


@pytest.mark.parametrize(("design", "test"), COVERED)
def test_numbers_of_tests_are_in_the_metric(design, test):
    value = run_test(scores(design), test).to_dict()
    assert value["metric"] == {"name": "points", "higher_is_better": True}
    assert all(mean > 0 for mean in value.get("means", ()))


def test_sentences_of_tests_are_about_the_loss_that_they_name():
    text = run_test(scores("5x2"), "anova").explain()
    assert re.match(r"c has the smallest mean loss \(-8\d\.\d+\), a the largest \(-8\d", text)
    assert text.endswith("The loss is -points.")
