import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from bestofk._base.errors import ArgumentError
from bestofk.decide.procedures.multitest import sort_by_overrides, steps_of


def edges(n, *pairs):
    matrix = np.zeros((n, n), dtype=bool)
    for i, j in pairs:
        matrix[i, j] = True
    return matrix


def by_the_pseudocode(matrix):
    """Fig. 1 of Yildiz and Alpaydin, read literally, with sets."""
    left = set(range(len(matrix)))
    order, candidates = [], []
    while left:
        free = sorted(i for i in left if not any(matrix[i, j] for j in left))
        candidates.append(free)
        order.append(free[0])
        left.remove(free[0])
    return order, candidates


def test_figure_2_of_the_paper():
    # Edges 1->2, 1->3, 1->4, 2->3 give 3 < 2 < 4 < 1 (section 3.2); here counted from 0.
    figure_2 = edges(4, (0, 1), (0, 2), (0, 3), (1, 2))
    order = sort_by_overrides(figure_2)
    assert order.tolist() == [2, 1, 3, 0]
    steps = steps_of(figure_2)
    assert [free.tolist() for free, _, _ in steps] == [[2, 3], [1, 3], [3], [0]]
    assert [taken for _, taken, _ in steps] == order.tolist()
    assert all(passed.size == 0 for _, _, passed in steps)


def test_without_edges_the_prior_stands():
    assert sort_by_overrides(edges(5)).tolist() == [0, 1, 2, 3, 4]


def test_all_edges_reverse_the_prior():
    assert sort_by_overrides(np.triu(np.ones((6, 6), dtype=bool), 1)).tolist() == [5, 4, 3, 2, 1, 0]


def test_edges_need_not_be_transitive():
    # 0 -> 1 and 1 -> 2 but not 0 -> 2: 2 first, then 1 (nothing beats it any more), then 0.
    assert sort_by_overrides(edges(3, (0, 1), (1, 2))).tolist() == [2, 1, 0]


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 9), st.integers(0, 2**32 - 1), st.floats(0, 1))
def test_equals_the_pseudocode(n, seed, share):
    matrix = np.triu(np.random.default_rng(seed).random((n, n)) < share, 1)
    order, candidates = by_the_pseudocode(matrix)
    assert sort_by_overrides(matrix).tolist() == order
    assert [free.tolist() for free, _, _ in steps_of(matrix)] == candidates


def test_refuses_an_edge_against_the_prior():
    with pytest.raises(ArgumentError, match="edge from 2 to 0"):
        sort_by_overrides(edges(3, (2, 0)))


def test_refuses_a_matrix_that_is_not_square():
    with pytest.raises(ArgumentError, match=r"\(2, 3\)"):
        sort_by_overrides(np.zeros((2, 3), dtype=bool))


def by_the_words_of_the_guard(matrix, means):
    """A candidate is passed over while a learner preferred to it that is struck out has the
    smaller mean; where all are, the candidate with the smallest mean is taken."""
    left = list(range(len(matrix)))
    order, passed_over = [], []
    while left:
        struck = [i for i in left if any(matrix[i, j] for j in left)]
        free = [i for i in left if i not in struck]
        allowed = [
            c for c in free if not any(i < c and means[i] < means[c] for i in struck)
        ]  # fmt: skip
        taken = allowed[0] if allowed else min(free, key=lambda c: means[c])
        passed_over.append([c for c in free if c < taken])
        order.append(taken)
        left.remove(taken)
    return order, passed_over


@st.composite
def graphs(draw):
    """Edges between K learners, and means that may be equal."""
    n = draw(st.integers(1, 8))
    edges = draw(st.lists(st.booleans(), min_size=n * n, max_size=n * n))
    means = draw(st.lists(st.integers(0, 5), min_size=n, max_size=n))
    return np.triu(np.array(edges).reshape(n, n), 1), np.array(means, dtype=float)


@settings(max_examples=300, deadline=None)
@given(graphs())
def test_the_guard_does_what_its_words_say(graph):
    matrix, means = graph
    order, passed_over = by_the_words_of_the_guard(matrix, means)
    assert sort_by_overrides(matrix, means).tolist() == order
    assert [passed.tolist() for _, _, passed in steps_of(matrix, means)] == passed_over


@settings(max_examples=200, deadline=None)
@given(graphs())
def test_without_the_guard_it_is_figure_1_of_the_paper(graph):
    matrix, _ = graph
    assert sort_by_overrides(matrix, None).tolist() == by_the_pseudocode(matrix)[0]


@settings(max_examples=300, deadline=None)
@given(graphs())
def test_guard_invariants_if_edges_agree_with_the_means(graph):
    matrix, means = graph
    # an edge i -> j says that j is better
    agreeing = matrix & (means[None, :] < means[:, None])
    for free, taken, passed in steps_of(agreeing, means):
        # one is always allowed, and the candidate with the smallest mean is never passed over
        assert taken in free
        smallest = min(free.tolist(), key=lambda c: means[c])
        if smallest in passed.tolist():
            assert means[smallest] == means[taken]
        assert all(means[c] >= means[taken] for c in passed.tolist())
    order = sort_by_overrides(agreeing, means)
    place = {int(k): rank for rank, k in enumerate(order)}
    for i, j in np.argwhere(agreeing).tolist():
        assert place[j] < place[i]
    if not agreeing.any():
        assert order.tolist() == list(range(len(means)))


@settings(max_examples=100, deadline=None)
@given(graphs(), st.floats(0.1, 10), st.floats(-5, 5))
def test_the_unit_of_the_means_does_not_matter(graph, scale, shift):
    matrix, means = graph
    assert sort_by_overrides(matrix, means).tolist() == (
        sort_by_overrides(matrix, np.round(scale * means + shift, 9)).tolist()
    )
