"""The letters against what they must say: two learners share one exactly if they do not differ."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bestofk.errors import ArgumentError
from bestofk.multiple import compact_letters as module
from bestofk.multiple.compact_letters import compact_letters


def table(K, seed, share):
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.random((K, K)) < share, 1)
    return upper | upper.T


def say_the_same(letters, different):
    """Every pair is told apart or held together as it must be, and no letter is idle."""
    groups = [set(group) for group in letters.groups]
    pairs = [(i, j) for i in range(len(different)) for j in range(len(different))]

    def together(held):
        return [any(i in g and j in g for g in held) for i, j in pairs]

    assert together(groups) == [bool(not different[i, j]) for i, j in pairs]
    for number in range(len(groups)):
        assert together(groups[:number] + groups[number + 1 :]) != together(groups)


@given(st.integers(1, 9), st.integers(0, 10**6), st.sampled_from([0.0, 0.2, 0.5, 0.8, 1.0]))
@settings(max_examples=60, deadline=None)
def test_letters_say_what_differs(K, seed, share):
    different = table(K, seed, share)
    order = np.random.default_rng(seed).permutation(K)
    letters = compact_letters(different, order=order)
    say_the_same(letters, different)
    # the best of the order has the first letter, and letters come in the order of their groups
    assert letters.of(int(order[0]))[0] == letters.letters[0] == "a"
    place = {int(k): r for r, k in enumerate(order)}
    rows = [[place[k] for k in group] for group in letters.groups]
    assert rows == sorted(rows)
    assert all(row == sorted(row) for row in rows)


def test_many_columns_are_covered_greedily(monkeypatch):
    monkeypatch.setattr(module, "_MOST_COLUMNS", 3)
    for seed in range(12):
        different = table(9, seed, 0.4)
        say_the_same(compact_letters(different), different)


def test_by_hand():
    # 0 and 2 differ, 1 is told from neither
    different = np.zeros((3, 3), dtype=bool)
    different[0, 2] = different[2, 0] = True
    letters = compact_letters(different)
    assert letters.groups == ((0, 1), (1, 2))
    assert [letters.of(k) for k in range(3)] == [("a",), ("a", "b"), ("b",)]
    many = compact_letters(~np.eye(54, dtype=bool)).letters
    assert many[24:28] == ("y", "z", "A", "B")
    assert many[51:] == ("Z", "a1", "b1")


@pytest.mark.parametrize(
    ("different", "order", "words"),
    [
        (np.zeros((2, 3)), None, "square"),
        (np.zeros(4), None, "square"),
        (np.array([[0, 1], [0, 0]]), None, "symmetric"),
        (np.eye(2), None, "diagonal"),
        (np.zeros((2, 2)), (0, 0), "each of 2 learners once"),
    ],
)
def test_refuses(different, order, words):
    with pytest.raises(ArgumentError, match=words):
        compact_letters(different, order=order)
