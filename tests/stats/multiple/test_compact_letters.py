"""Two learners share a letter if and only if they do not differ."""

from importlib import import_module

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from bestofk._base.errors import ArgumentError
from bestofk.stats import multiple
from bestofk.stats.multiple.post_hoc import compact_letters

module = import_module("bestofk.stats.multiple.post_hoc")


def shared(letters, n):
    """(n, n): do two learners share a letter?"""
    found = np.zeros((n, n), dtype=bool)
    for i in range(n):
        for j in range(n):
            found[i, j] = bool(set(letters.of(i)) & set(letters.of(j)))
    return found


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
        held = np.zeros((n, n), dtype=bool)
        for group in rest:
            held[np.ix_(group, group)] = True
        assert (held != ~different).any()


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
