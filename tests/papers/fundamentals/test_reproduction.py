"""Ler's worked example, constants and counts, against the text and against counting by hand."""

from __future__ import annotations

import json
from itertools import combinations

import numpy as np
import pytest
from click.testing import CliRunner

from bestofk.cli.app import bestofk
from bestofk.papers.comparison import Request
from bestofk.papers.fundamentals import (
    consistent,
    constants_table,
    disjunctions,
    instance_space,
    mistakes,
    reproduce,
    target,
    targets_left,
    toy_instances,
)


@pytest.mark.parametrize("table", ["1", "2", "3"])
def test_the_example_agrees_with_the_print_everywhere(table):
    (compared,) = reproduce(Request(tables=(table,))).tables
    assert compared.within.all()


def test_two_hypotheses_are_consistent_and_both_are_far_from_the_target():
    x = toy_instances()
    assert consistent(disjunctions(), x, target(x)) == (3, 9)
    # by hand: x2 or x3 differs at 0001, 0100, 1001, 1101, 1110, 1111
    assert mistakes((1, 2)) == 6
    assert mistakes((1, 2, 3)) == 4


def test_a_repeated_instance_tells_nothing_new():
    x = toy_instances()
    assert len(np.unique(x, axis=0)) == 4
    assert targets_left(x, target(x)) == 2 ** (16 - 4)
    other = instance_space()[:5]
    assert targets_left(other, target(other)) == 2 ** (16 - 5)


def test_only_the_last_constant_is_not_a_rounded_quantile():
    table = constants_table("4")
    # standard normal quantiles from tables: 0.67449, 1.15035, 1.64485, 1.95996, 2.57583, 2.80703,
    # 3.29053
    expected = [0.67449, 1.15035, 1.64485, 1.95996, 2.57583, 2.80703, 3.29053]
    assert np.abs(table.ours[:, 0] - expected).max() < 1e-5
    assert table.within[:, 0].tolist() == [True] * 6 + [False]


@pytest.mark.parametrize(("n", "k"), [(12, 3), (20, 10)])
def test_two_training_sets_share_n_times_k_minus_2_over_k(n, k):
    # the text says n (k - 2) / (k - 1), which for 20 rows and 10 folds is not a whole number
    folds = np.arange(n) % k
    train = [set(np.flatnonzero(folds != fold)) for fold in range(k)]
    shared = {len(a & b) for a, b in combinations(train, 2)}
    assert shared == {n * (k - 2) // k}


def test_counts_of_mcnemars_test_by_hand():
    # x2 or x3 is wrong at 0001, 0100, 1001, 1101, 1110 and 1111; with x4 it is right at 0001, 1001
    observed, expected = reproduce(Request(tables=("B.1", "B.2"))).tables
    assert observed.ours.tolist() == [["4", "2"], ["0", "10"]]
    assert expected.ours.tolist() == [["4", "1"], ["1", "10"]]
    # (|2 - 0| - 1)^2 / 2, and chi-squared with 1 df above it
    assert "statistic is 0.5, p = 0.480" in observed.note


def test_the_command_says_what_the_text_got_wrong():
    done = CliRunner().invoke(bestofk, ["papers", "reproduce", "fundamentals", "--json"])
    assert done.exit_code == 0
    account = json.loads(done.output)
    assert account["details"] == {"targets_left": 4096}
    assert "4096" in account["sentences"][0]
    (again,) = reproduce(Request(tables=("A.1",))).tables
    # Table A.1 prints these constants a second time
    assert again.printed[:, 0].tolist() == [0.67, 1.15, 1.64, 1.96, 2.58, 2.81, 3.30]
