"""FURIA by hand: growing, pruning, fuzzification, certainty, prediction and stretching."""

import numpy as np
import pandas as pd
import pytest

from bestofk.papers.learners.furia import (
    AT_LEAST,
    AT_MOST,
    EQUAL,
    Antecedent,
    Furia,
    RuleSearch,
    fuzzified,
    merged,
)


def search(values, positive, cardinality=None):
    values = np.asarray(values, dtype=float)
    cardinality = np.zeros(values.shape[1], dtype=np.int64) if cardinality is None else cardinality
    positive, rng = np.asarray(positive, dtype=bool), np.random.default_rng(0)
    return RuleSearch(values, np.asarray(cardinality), positive, rng)


def condition(column, kind, core, support=None):
    return Antecedent(column, kind, core, core if support is None else support)


def test_a_rule_grows_by_the_largest_information_gain():
    """Two columns: x0 <= 2 keeps 3 of 3 positive rows, x1 >= 5 keeps 2 of 2; FOIL prefers x0."""
    values = [[1, 0], [2, 5], [2, 6], [3, 0], [4, 1], [5, 2]]
    learner = search(values, [1, 1, 1, 0, 0, 0])
    rule = learner.grown((), np.ones(6, dtype=bool))
    assert rule == (condition(0, AT_MOST, 2.0),)
    # gain by hand: 3 (log2(3/3) - log2(3/6)) = 3 bits


def test_a_rule_grows_until_no_other_class_is_covered():
    """XOR-like corner: positive rows have x0 <= 1 and x1 >= 1."""
    values = [[0, 1], [1, 1], [1, 2], [0, 0], [1, 0], [2, 1], [2, 2], [3, 0]]
    learner = search(values, [1, 1, 1, 0, 0, 0, 0, 0])
    rule = learner.grown((), np.ones(8, dtype=bool))
    assert set(rule) == {condition(0, AT_MOST, 1.0), condition(1, AT_LEAST, 1.0)}


def test_nominal_values_and_missing_cells(monkeypatch):
    """A missing cell meets no condition, as in RIPPER."""
    monkeypatch.setattr("bestofk.papers.learners.furia.MIN_ROWS", 1)
    values = [[0, np.nan], [0, 1], [1, 2], [1, 3], [2, 2], [np.nan, 2]]
    learner = search(values, [1, 1, 0, 0, 0, 0], cardinality=[3, 0])
    assert learner.grown((), np.ones(6, dtype=bool)) == (condition(0, EQUAL, 0.0),)
    only_numbers = search(np.array(values)[:, 1:], [1, 1, 0, 0, 0, 0])
    # x0 <= 1 covers the second row only: the first one is unknown
    assert only_numbers.grown((), np.ones(6, dtype=bool)) == (condition(0, AT_MOST, 1.0),)


def test_pruning_keeps_the_antecedents_that_are_right_most_often():
    rule = (condition(0, AT_MOST, 5.0), condition(1, AT_MOST, 5.0))
    values = [[1, 1], [1, 9], [1, 9], [9, 1]]
    learner = search(values, [1, 1, 1, 0])
    everything = np.ones(4, dtype=bool)
    # the first antecedent is right on all four rows, both together on two
    assert learner._pruned(rule, everything) == rule[:1]
    # with these labels both together are right on all rows
    assert search(values, [1, 0, 0, 0])._pruned(rule, everything) == rule
    # no rule at all is right on all rows
    assert search(values, [0, 0, 0, 0])._pruned(rule, everything) == ()


def test_description_length_by_hand():
    """One rule of one condition out of 2 x 4, covering 2 of 4 rows without an exception.

    log2(4 + 1) for the number of exceptions; no bits for no exceptions; half of 0 + the bits to
    name 1 of 8 conditions, log2(8) + 7 log2(8/7).
    """
    learner = search([[1], [2], [3], [4]], [1, 1, 0, 0])
    expected = np.log2(5) + 0.5 * (np.log2(8) + 7 * np.log2(8 / 7))
    assert learner.description_length([(condition(0, AT_MOST, 2.0),)]) == pytest.approx(expected)
    # without rules, 2 of 4 rows are exceptions, expected with probability 0.5 x 2 / 4
    assert learner.description_length([]) == pytest.approx(
        np.log2(5) + 2 * np.log2(4) + 2 * np.log2(4 / 3)
    )


def test_the_support_is_the_widest_of_the_largest_purity():
    """x <= 3 with positive rows 1, 2, 3, 4 and a negative row 6: the support ends at 6.

    Purity at 4: 3 / 3. At 6, row 4 has membership 2/3: 3.667 / 3.667 = 1, wider. At 8, rows 4 and
    6 have memberships 0.8 and 0.4: 3.8 / 4.2.
    """
    values = np.array([[1.0], [2], [3], [4], [6], [8]])
    positive = np.array([1, 1, 1, 1, 0, 1], dtype=bool)
    (antecedent,) = fuzzified((condition(0, AT_MOST, 3.0),), values, positive)
    assert antecedent == condition(0, AT_MOST, 3.0, 6.0)
    assert antecedent.membership(values).round(3).tolist() == [1, 1, 1, 0.667, 0, 0]


def test_only_rows_of_the_other_antecedents_count():
    """The row at 4 is negative but outside the other condition, so it does not stop the support."""
    values = np.array([[1.0, 0], [2, 0], [4, 9], [5, 0], [7, 0]])
    positive = np.array([1, 1, 0, 1, 0], dtype=bool)
    rule = (condition(0, AT_MOST, 2.0), condition(1, AT_MOST, 0.0))
    first, second = fuzzified(rule, values, positive)
    assert first.support == 7.0
    # of the second, the negative row (4, 9) is outside the core of the first, but inside its
    # support: the purer first antecedent is widened first
    assert second.support == 9.0


def test_purities_equal_brute_force():
    """Compare the supports with a direct evaluation of the purity at every candidate."""
    rng = np.random.default_rng(1)
    for _ in range(50):
        x = rng.integers(0, 12, size=(25, 1)).astype(float)
        positive = rng.random(25) < 0.8 - 0.05 * x[:, 0]
        core = float(np.sort(x[:, 0])[5])
        best = (-1.0, core)
        for support in np.unique(x[x > core]):
            degrees = condition(0, AT_MOST, core, support).membership(x)
            purity = degrees[positive].sum() / degrees.sum()
            if purity >= best[0] - 1e-12:
                best = max(best[0], purity), float(support)
        (antecedent,) = fuzzified((condition(0, AT_MOST, core),), x, positive)
        assert antecedent.support == best[1]


def test_repeated_conditions_are_merged():
    rule = (condition(0, AT_MOST, 5.0), condition(1, AT_LEAST, 1.0), condition(0, AT_MOST, 3.0))
    assert merged(rule) == (condition(1, AT_LEAST, 1.0), condition(0, AT_MOST, 3.0))


def by_hand():
    """Fit to six rows: x0 <= 3 is low, x0 >= 6 is high, each fuzzy to the other core."""
    return Furia().fit([[1.0], [2.0], [3.0], [6.0], [7.0], [8.0]], ["low"] * 3 + ["high"] * 3)


def test_certainty_and_prediction_by_hand():
    """CF = (2 x 3/6 + 3) / (2 + 3) = 0.8 for both rules; 4 is 2/3 low and 1/3 high."""
    model = by_hand()
    assert [float(c) for cs in model.certainties_ for c in cs] == [0.8, 0.8]
    assert model.predict_proba([[4.0]]).round(6).tolist() == [[0.333333, 0.666667]]
    assert model.predict([[4.0], [5.0], [0.0]]).tolist() == ["low", "high", "low"]
    assert model.complexity() == 4


def test_a_missing_cell_is_covered_by_no_rule():
    # nothing is left to stretch: equal shares, ties go to the first class
    assert by_hand().predict([[np.nan]]).tolist() == ["high"]
    assert by_hand().predict_proba([[np.nan]]).tolist() == [[0.5, 0.5]]


def test_stretching_keeps_the_antecedents_before_the_first_violated_one():
    """Two rules of two and one antecedents; the row meets only the first of the two.

    Its weight is (p + 1) / (p + n + 2) (1 + 1) / (2 + 2) with the memberships of the first
    antecedent alone; the other rule keeps nothing.
    """
    model = by_hand()
    first, second = condition(0, AT_MOST, 5.0), condition(0, AT_LEAST, 4.0)
    model.rules_ = [[(first, second)], [(condition(0, AT_LEAST, 9.0),)]]
    model.certainties_ = [np.array([0.7]), np.array([0.9])]
    model._worths = [[np.array([0.1, 0.3, 0.9])], [np.array([0.2, 0.9])]]
    assert model.predict_proba([[1.0]]).tolist() == [[1.0, 0.0]]
    # both rules keep nothing at 7 (first violated at once): shares of the classes
    assert model.predict_proba([[7.0]]).tolist() == [[0.5, 0.5]]


def test_weights_of_stretched_rules_by_hand():
    model = by_hand()
    # x0 >= 6, fuzzy to 3: p = 3, n = 0 with membership; k = 1 of m = 1
    assert model._worths[0][0].tolist() == pytest.approx([4 / 8 * 1 / 3, 4 / 5 * 2 / 3])


def test_rules_of_mixed_columns():
    X = pd.DataFrame({"sky": ["sun", "sun", "rain", "rain"] * 5, "wind": [1.0, 2.0, 3.0, 4.0] * 5})
    model = Furia().fit(X, ["out", "out", "in", "in"] * 5)
    assert (model.predict(X) == ["out", "out", "in", "in"] * 5).all()


def test_optimizations_depend_on_the_seed_only():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(150, 4))
    y = (X[:, 0] + X[:, 1] * X[:, 2] + 0.5 * rng.normal(size=150) > 0).astype(int)
    once = Furia(random_state=5).fit(X, y).rules_
    assert once == Furia(random_state=5).fit(X, y).rules_
    assert once != Furia(random_state=6).fit(X, y).rules_
