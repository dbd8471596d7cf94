"""Compact letters, Nemenyi's test and adjusted pairwise tests."""

import math

import numpy as np
import pytest
import scikit_posthocs
from hypothesis import given, settings, strategies as st

from bestofk._base.errors import ArgumentError
from bestofk.stats import multiple
from bestofk.stats.multiple import nemenyi
from bestofk.stats.multiple.post_hoc import _bars, compact_letters


def shared(letters, n):
    """(n, n): do two learners share a letter?"""
    result = np.zeros((n, n), dtype=bool)
    for i in range(n):
        for j in range(n):
            result[i, j] = bool(set(letters.of(i)) & set(letters.of(j)))
    return result


@st.composite
def differences(draw):
    n = draw(st.integers(1, 11))
    bits = draw(st.lists(st.booleans(), min_size=n * n, max_size=n * n))
    upper = np.triu(np.array(bits, dtype=bool).reshape(n, n), 1)
    return upper | upper.T


@settings(max_examples=150, deadline=None)
@given(differences())
def test_a_letter_is_shared_exactly_where_nothing_differs(different):
    n = len(different)
    letters = compact_letters(different, order=range(n)[::-1])
    assert (shared(letters, n) == ~different).all()
    # no letter is idle: without it some pair, or some learner, would have none
    for skip in range(len(letters.groups)):
        rest = [g for k, g in enumerate(letters.groups) if k != skip]
        covered = np.zeros((n, n), dtype=bool)
        for group in rest:
            covered[np.ix_(group, group)] = True
        assert (covered != ~different).any()


def test_on_a_line_letters_are_the_longest_windows():
    """Where a threshold decides, the letters are Nemenyi's groups and those who stand alone."""
    rng = np.random.default_rng(4)
    for n in (3, 8, 25):
        result = multiple.nemenyi(rng.random((n, 30)) + np.linspace(0, 2, n)[:, None])
        apart = np.array([[result.different(i, j) for j in range(n)] for i in range(n)])
        letters = compact_letters(apart, order=result.order)
        together = {frozenset(group) for group in result.groups}
        alone = {frozenset({k}) for k in range(n) if apart[k].sum() == n - 1}
        assert {frozenset(group) for group in letters.groups} == together | alone


def test_letters_of_piephos_kind():
    """a-b and c-d alike, b-c alike: three letters in a chain, worked out by hand."""
    different = np.ones((4, 4), dtype=bool)
    for i, j in ((0, 1), (1, 2), (2, 3)):
        different[i, j] = different[j, i] = False
    np.fill_diagonal(different, False)
    letters = compact_letters(different)
    assert [letters.of(k) for k in range(4)] == [("a",), ("a", "b"), ("b", "c"), ("c",)]
    assert "1 (ab)" in letters.explain(names=["0", "1", "2", "3"])


def test_many_letters_have_names_of_their_own():
    different = ~np.eye(60, dtype=bool)
    letters = compact_letters(different)
    assert len(set(letters.letters)) == 60
    assert letters.letters[52] == "a1"


def test_what_is_refused():
    with pytest.raises(ArgumentError, match="square"):
        compact_letters(np.zeros((2, 3)))
    with pytest.raises(ArgumentError, match="symmetric"):
        compact_letters([[0, 1], [0, 0]])
    with pytest.raises(ArgumentError, match="each of 2 learners once"):
        compact_letters(np.zeros((2, 2)), order=[0, 0])


@pytest.mark.parametrize("shape", [(3, 4), (5, 12), (10, 30)])
def test_nemenyi_equals_scikit_posthocs(shape):
    rng = np.random.default_rng(sum(shape))
    losses = rng.integers(0, 9, shape) + np.arange(shape[0])[:, None]
    expected = scikit_posthocs.posthoc_nemenyi_friedman(losses.T).to_numpy()
    np.testing.assert_allclose(nemenyi(losses).pvalues, expected, rtol=1e-6, atol=1e-11)


def test_nemenyi_groups_and_differences():
    # Ranks 1, 2, 3, 4 on every one of 12 blocks; CD = 3.633 sqrt(20 / 144) = 1.354.
    losses = np.tile(np.array([[3.0], [1.0], [4.0], [2.0]]), (1, 12))
    result = nemenyi(losses)
    assert result.critical_difference == pytest.approx(3.633 * math.sqrt(20 / 144), abs=1e-3)
    assert result.order == (1, 3, 0, 2)
    assert result.groups == ((1, 3), (3, 0), (0, 2))
    assert result.different(1, 0)
    assert not result.different(1, 3)
    text = result.explain(names=["a", "b", "c", "d"])
    assert "b below c" in text
    assert "Of the 6 pairs, 3 differ" in text


def test_nemenyi_difference_is_pvalue_below_alpha():
    losses = np.random.default_rng(9).random((7, 25)) + np.arange(7)[:, None] * 0.15
    result = nemenyi(losses, alpha=0.1)
    for i, j in zip(*np.triu_indices(7, 1), strict=True):
        assert result.different(i, j) == (result.pvalues[i, j] < 0.1)


def test_nemenyi_of_three_hundred_learners():
    losses = np.random.default_rng(3).random((300, 20)) + np.arange(300)[:, None] / 100
    result = nemenyi(losses)
    assert result.pvalues.shape == (300, 300)
    assert result.pvalues[0, 299] < 1e-9
    assert "more." in result.explain()


def test_a_bar_holds_two_at_least_and_no_bar_lies_inside_another():
    order = np.array([2, 0, 3, 1])
    assert _bars(order, np.array([1.0, 2.0, 3.0, 9.0]), 2.5) == ((2, 0, 3),)
    assert _bars(order, np.array([1.0, 5.0, 5.5, 9.0]), 1.0) == ((0, 3),)
    assert _bars(order, np.array([1.0, 2.0, 3.0, 4.0]), 1.0) == ((2, 0), (0, 3), (3, 1))
    assert _bars(order, np.array([1.0, 3.0, 5.0, 7.0]), 1.0) == ()
