import numpy as np
import pytest
from hypothesis import given, strategies as st

from bestofk._base.errors import ArgumentError
from bestofk.decide.best import sort_by_overrides
from bestofk.decide.multitest_order import steps_of


def edges(n, *pairs):
    matrix = np.zeros((n, n), dtype=bool)
    for i, j in pairs:
        matrix[i, j] = True
    return matrix


def by_the_pseudocode(matrix):
    """Fig. 1 of Yildiz and Alpaydin, read literally, with sets; all go on if all are beaten."""
    left = set(range(len(matrix)))
    order, candidates = [], []
    while left:
        free = sorted(i for i in left if not any(matrix[i, j] for j in left))
        candidates.append(free)
        order.append((free or sorted(left))[0])
        left.remove(order[-1])
    return order, candidates


@given(st.integers(1, 9), st.integers(0, 2**32 - 1), st.floats(0, 1), st.booleans())
def test_equals_the_pseudocode(n, seed, share, against_preferred):
    matrix = np.random.default_rng(seed).random((n, n)) < share
    matrix = np.triu(matrix, 1) if against_preferred else matrix & ~np.eye(n, dtype=bool)
    order, candidates = by_the_pseudocode(matrix)
    assert sort_by_overrides(matrix).tolist() == order
    assert [free.tolist() for free, _ in steps_of(matrix)] == candidates


def test_refuses_a_matrix_that_is_not_square():
    with pytest.raises(ArgumentError, match=r"\(2, 3\)"):
        sort_by_overrides(np.zeros((2, 3), dtype=bool))


def test_the_first_learner_can_be_given():
    # 0 -> 2 puts 2 before 0; a margin may put 1 before both
    assert sort_by_overrides(edges(3, (0, 2)), np.array(1)).tolist() == [1, 2, 0]
