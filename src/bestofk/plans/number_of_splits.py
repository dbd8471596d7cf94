"""How many ways there are to split rows into folds."""

from __future__ import annotations

from math import factorial

from bestofk.checks import whole
from bestofk.errors import ArgumentError


def number_of_kfold_splits(n: int, k: int, *, ordered: bool = True) -> int:
    """Number of ways to split `n` rows into `k` folds whose sizes differ by at most one.

    Parameters
    ----------
    n, k : int
        Rows and folds, 2 <= k <= n.
    ordered : bool
        True (as printed by Ler) counts the same folds in another order as another split; only
        folds of the same size change places, since the folds of m + 1 rows come first. False
        counts every partition once.

    Returns
    -------
    int
        Exact, however large.

    Notes
    -----
    With m = floor(n / k), p = n mod k and q = k - p (the text prints q = k - i), there are p
    folds of m + 1 rows and q of m rows, and the number is::

        prod_{i=1..p} C(n - (m+1)(i-1), m+1)  *  prod_{j=1..q} C(n - (m+1)p - m(j-1), m)

    which telescopes to n! / ((m+1)!^p m!^q). Unordered it is divided by p! q!.

    References
    ----------
    .. [1] D. Ler, "Algorithm selection fundamentals", section 5.3, after R. Kohavi, "A study of
       cross-validation and bootstrap for accuracy estimation and model selection", IJCAI 1995.

    Examples
    --------
    >>> number_of_kfold_splits(4, 2), number_of_kfold_splits(4, 2, ordered=False)
    (6, 3)
    >>> number_of_kfold_splits(5, 2)
    10
    """
    n = whole(n, "n", at_least=2)
    k = whole(k, "k", at_least=2)
    if k > n:
        raise ArgumentError(f"k must be at most the number of rows n = {n}; got {k}.")
    m, p = divmod(n, k)
    q = k - p
    count = factorial(n)
    for size, times in ((m + 1, p), (m, q)):
        # pow of two int arguments, the exponent not negative: an exact int.
        count //= int(pow(factorial(size), times))
    return count if ordered else count // (factorial(p) * factorial(q))
