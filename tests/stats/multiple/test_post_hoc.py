"""Compact letters, Nemenyi's test and adjusted pairwise tests."""

import math
from importlib import import_module
from itertools import pairwise

import numpy as np
import pytest
import scikit_posthocs
from hypothesis import given, settings, strategies as st
from scipy import stats
from statsmodels.stats.multitest import multipletests

from bestofk._base.errors import ArgumentError, UnknownNameError
from bestofk.stats import multiple
from bestofk.stats.multiple import nemenyi, posthoc
from bestofk.stats.multiple.post_hoc import _bars, compact_letters

module = import_module("bestofk.stats.multiple.post_hoc")


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
@given(differences(), st.booleans())
def test_a_letter_is_shared_exactly_where_nothing_differs(different, greedy):
    n = len(different)
    limit = module._MAX_COLUMNS
    try:
        module._MAX_COLUMNS = 0 if greedy else limit
        letters = compact_letters(different, order=range(n)[::-1])
    finally:
        module._MAX_COLUMNS = limit
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


LOSSES = np.random.default_rng(11).random((5, 9)) + np.array([[0.4], [0.0], [0.9], [0.1], [0.5]])
PAIRS = [(i, j) for i in range(5) for j in range(i + 1, 5)]
SCIPY = {
    "t": lambda a, b: stats.ttest_rel(a, b).pvalue,
    "wilcoxon": lambda a, b: stats.wilcoxon(a, b, method="exact").pvalue,
    "sign": lambda a, b: stats.binomtest(int((a > b).sum()), int((a != b).sum())).pvalue,
    "permutation": lambda a, b: (
        stats.permutation_test(
            (a - b,), np.mean, permutation_type="samples", n_resamples=np.inf
        ).pvalue
    ),
}


@pytest.mark.parametrize("test", SCIPY)
@pytest.mark.parametrize(
    ("correction", "theirs"),
    [
        ("holm", "holm"),
        ("bonferroni", "bonferroni"),
        ("hochberg", "simes-hochberg"),
        ("benjamini-hochberg", "fdr_bh"),
    ],
)
def test_equals_a_loop(test, correction, theirs):
    raw = np.array([SCIPY[test](LOSSES[i], LOSSES[j]) for i, j in PAIRS])
    result = posthoc(LOSSES, test, correction)
    assert [tuple(pair) for pair in result.pairs.tolist()] == PAIRS
    np.testing.assert_allclose(result.pvalues, raw, rtol=1e-7)
    np.testing.assert_allclose(
        result.adjusted_pvalues, multipletests(raw, method=theirs)[1], rtol=1e-7
    )
    means = LOSSES.mean(axis=1)
    np.testing.assert_allclose(result.estimates, [means[i] - means[j] for i, j in PAIRS])


def test_matrix_and_condensed_agree():
    result = posthoc(LOSSES, "wilcoxon", "holm")
    for adjusted, condensed in ((True, result.adjusted_pvalues), (False, result.pvalues)):
        square = result.matrix(adjusted=adjusted)
        assert np.array_equal(square, square.T)
        assert (np.diag(square) == 1.0).all()
        assert square[np.triu_indices(5, 1)].tolist() == condensed.tolist()


def test_against_a_control():
    result = posthoc(LOSSES, "t", "holm", control=3)
    raw = [SCIPY["t"](LOSSES[3], LOSSES[j]) for j in (0, 1, 2, 4)]
    assert result.pairs.tolist() == [[3, 0], [3, 1], [3, 2], [3, 4]]
    np.testing.assert_allclose(result.pvalues, raw, rtol=1e-10)
    # Four tests, not ten: the family is that of the control.
    np.testing.assert_allclose(
        result.adjusted_pvalues, multipletests(raw, method="holm")[1], rtol=1e-10
    )
    with pytest.raises(ArgumentError, match="needs all pairs"):
        result.matrix()
    assert "against learner 3" in result.explain()


def test_a_foreign_function():
    ours, theirs = posthoc(LOSSES, "t"), posthoc(LOSSES, stats.ttest_rel)
    np.testing.assert_allclose(theirs.adjusted_pvalues, ours.adjusted_pvalues, rtol=1e-10)
    np.testing.assert_allclose(theirs.statistics, ours.statistics, rtol=1e-10)
    bare = posthoc(LOSSES, lambda a, b: 0.5, "none", control=0)
    assert bare.adjusted_pvalues.tolist() == [0.5] * 4
    for end in (0.0, 1.0):
        assert (posthoc(LOSSES, lambda a, b, p=end: p, "none").pvalues == end).all()
    with pytest.raises(ArgumentError, match="one p-value between 0 and 1"):
        posthoc(LOSSES, lambda a, b: 1.5)
    with pytest.raises(ArgumentError, match="one p-value between 0 and 1"):
        posthoc(LOSSES, lambda a, b: float("nan"))


def test_a_test_on_runs_and_folds():
    losses = np.random.default_rng(1).random((3, 5, 2))
    result = posthoc(losses, "5x2cv-t", "none")
    d = losses[0] - losses[2]
    t = d[0, 0] / np.sqrt(d.var(axis=1, ddof=1).mean())
    assert result.statistics[1] == pytest.approx(t, rel=1e-12)
    with pytest.raises(ArgumentError, match=r"\(K learners, runs, folds\)"):
        posthoc(LOSSES, "5x2cv-t")


def test_identical_learners():
    for test in SCIPY:
        assert (posthoc(np.tile(LOSSES[0], (3, 1)), test).adjusted_pvalues == 1.0).all()


def test_three_hundred_learners():
    losses = np.random.default_rng(2).random((300, 10)) + np.arange(300)[:, None] / 50
    result = posthoc(losses, "t", "holm")
    assert result.pvalues.shape == (44850,)
    at = PAIRS_OF_300.index((17, 230))
    assert result.pvalues[at] == pytest.approx(SCIPY["t"](losses[17], losses[230]), rel=1e-9)


PAIRS_OF_300 = [(i, j) for i in range(300) for j in range(i + 1, 300)]


def test_explains_in_the_right_direction():
    losses = np.array([[0.9], [0.1], [0.5]]) + np.random.default_rng(12).random((3, 12)) / 50
    text = posthoc(losses, "t").explain(names=["svm", "tree", "knn"])
    for message in ("tree below svm", "tree below knn", "knn below svm", "adjusted by holm"):
        assert message in text


def test_refuses():
    with pytest.raises(UnknownNameError, match="wilcoxon"):
        posthoc(LOSSES, "wilcoxn")
    with pytest.raises(ArgumentError, match="correction must be one of"):
        posthoc(LOSSES, "t", "holmes")
    with pytest.raises(ArgumentError, match="control must be a learner from 0 to 4"):
        posthoc(LOSSES, "t", control=5)
    with pytest.raises(ArgumentError, match="p-value"):
        posthoc(LOSSES, "signed-rank-bayes")
    with pytest.raises(ArgumentError, match="at least 2 learners"):
        posthoc(LOSSES[:1], "t")


def test_two_learners_are_enough():
    assert posthoc(LOSSES[:2], "t").pvalues == pytest.approx([SCIPY["t"](*LOSSES[:2])], rel=1e-9)


def test_one_block_is_enough_for_a_sign_test():
    # one win of one: the two-sided binomial p-value is 1
    assert posthoc([[0.1], [0.2], [0.3]], "sign", "none").pvalues.tolist() == [1.0, 1.0, 1.0]


def test_corrections_for_all_pairs():
    raw = posthoc(LOSSES, "t", "none").pvalues
    chain = [
        posthoc(LOSSES, "t", name).adjusted_pvalues
        for name in ("bergmann-hommel", "shaffer", "holm", "bonferroni")
    ]
    assert (chain[0] >= raw).all()
    for smaller, larger in pairwise(chain):
        assert (smaller <= larger).all()
    # Shaffer's factors for five learners: 10, 6, 6, 6, 6, 4, 4, 3, 2, 1
    order = np.argsort(raw)
    steps = np.maximum.accumulate(raw[order] * [10, 6, 6, 6, 6, 4, 4, 3, 2, 1])
    np.testing.assert_allclose(chain[1][order], np.minimum(steps, 1), rtol=1e-12)
    for name in ("shaffer", "bergmann-hommel"):
        with pytest.raises(ArgumentError, match="'holm' works"):
            posthoc(LOSSES, "t", name, control=1)
