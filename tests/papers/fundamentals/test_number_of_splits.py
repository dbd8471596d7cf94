"""The number of k-fold splits against enumeration and Ler's product of binomials."""

from itertools import permutations
from math import comb, prod

import pytest
from hypothesis import given, strategies as st

from bestofk.papers.fundamentals import number_of_kfold_splits


@given(st.integers(2, 300), st.data())
def test_equals_the_printed_product(n, data):
    k = data.draw(st.integers(2, n))
    m, p = divmod(n, k)
    q = k - p
    printed = prod(comb(n - (m + 1) * (i - 1), m + 1) for i in range(1, p + 1))
    printed *= prod(comb(n - (m + 1) * p - m * (j - 1), m) for j in range(1, q + 1))
    assert number_of_kfold_splits(n, k) == printed


@pytest.mark.parametrize(("n", "k"), [(2, 2), (4, 2), (5, 2), (5, 3), (6, 3), (7, 3), (6, 6)])
def test_equals_enumeration(n, k):
    m, p = divmod(n, k)
    sizes = [m + 1] * p + [m] * (k - p)
    ordered = set()
    for order in permutations(range(n)):
        rows = iter(order)
        ordered.add(tuple(frozenset(next(rows) for _ in range(size)) for size in sizes))
    assert number_of_kfold_splits(n, k) == len(ordered)
