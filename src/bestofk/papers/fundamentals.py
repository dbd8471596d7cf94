"""Reproduce Ler: the example of hypothesis spaces, interval constants and numbers of splits.

The example has four Boolean attributes, one target and disjunctions as hypotheses.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from math import factorial

import numpy as np
import numpy.typing as npt

from bestofk._base.checks import Floats, whole
from bestofk._base.errors import ArgumentError
from bestofk.papers.comparison import (
    ComparedTable,
    ReproductionResult,
    Request,
    beside,
    rounding_limits,
    unprinted,
)
from bestofk.papers.printed_figures import printed_figures, printed_table
from bestofk.papers.stats.estimates import WEIGHT_APPARENT, WEIGHT_LEFT_OUT
from bestofk.stats import intervals
from bestofk.stats.pairwise.mcnemar_tests import mcnemar

Bits = npt.NDArray[np.bool_]

ATTRIBUTES = 4


def instance_space() -> Bits:
    """Return all instances of four Boolean attributes in the order of Table 3, shape (16, 4).

    Examples
    --------
    >>> instance_space()[[0, 1, 15]].astype(int).tolist()
    [[0, 0, 0, 0], [0, 0, 0, 1], [1, 1, 1, 1]]
    """
    numbers = np.arange(2**ATTRIBUTES)[:, np.newaxis]
    return (numbers >> np.arange(ATTRIBUTES)[::-1] & 1).astype(np.bool_)


def target(x: Bits) -> Bits:
    """Return f(x) = (x1 and x2) xor (x3 or x4) for every row.

    Examples
    --------
    >>> target(instance_space()).astype(int).tolist()
    [0, 1, 1, 1, 0, 1, 1, 1, 0, 1, 1, 1, 1, 0, 0, 0]
    """
    return np.asarray((x[:, 0] & x[:, 1]) ^ (x[:, 2] | x[:, 3]))


def disjunctions() -> tuple[tuple[int, ...], ...]:
    """Return the hypotheses of *a-simple*: two or more attributes joined by "or", as in Table 2.

    Examples
    --------
    >>> len(disjunctions()), disjunctions()[3], disjunctions()[-1]
    (11, (1, 2), (0, 1, 2, 3))
    """
    return tuple(
        chosen
        for size in range(2, ATTRIBUTES + 1)
        for chosen in combinations(range(ATTRIBUTES), size)
    )


def hypothesis_text(hypothesis: tuple[int, ...]) -> str:
    """Return a hypothesis as text.

    Examples
    --------
    >>> hypothesis_text((1, 2))
    'x2 or x3'
    """
    return " or ".join(f"x{attribute + 1}" for attribute in hypothesis)


def consistent(hypotheses: tuple[tuple[int, ...], ...], x: Bits, y: Bits) -> tuple[int, ...]:
    """Return the indices of the hypotheses that give every row of `x` its label.

    Examples
    --------
    >>> x = instance_space()[[2, 3, 3, 8, 12]]
    >>> indices = consistent(disjunctions(), x, target(x))
    >>> [(index + 1, hypothesis_text(disjunctions()[index])) for index in indices]
    [(4, 'x2 or x3'), (10, 'x2 or x3 or x4')]
    """
    labels = np.stack([x[:, list(chosen)].any(axis=1) for chosen in hypotheses])
    return tuple(np.flatnonzero((labels == y).all(axis=1)).tolist())


def mistakes(hypothesis: tuple[int, ...]) -> int:
    """Count the instances (of 16) on which the hypothesis differs from the target.

    Examples
    --------
    >>> mistakes((1, 2)), mistakes((1, 2, 3))
    (6, 4)
    """
    x = instance_space()
    return int((x[:, list(hypothesis)].any(axis=1) != target(x)).sum())


def targets_left(x: Bits, y: Bits) -> int:
    """Count the Boolean functions (of 2^16) that give every row of `x` its label.

    Examples
    --------
    Of five labelled instances, two are equal. The text says 2^(16 - 5) = 2048.

    >>> x = instance_space()[[2, 3, 3, 8, 12]]
    >>> targets_left(x, target(x))
    4096
    """
    functions = np.arange(2 ** (2**ATTRIBUTES), dtype=np.int64)[:, np.newaxis]
    numbers = x @ (1 << np.arange(ATTRIBUTES)[::-1])
    return int(((functions >> numbers & 1) == y).all(axis=1).sum())


# Tables


TABLES = ("1", "2", "3", "4", "splits")
SPLITS = ((4, 2), (5, 2), (10, 3), (14, 5), (100, 10), (150, 10))


def reproduce(request: Request) -> ReproductionResult:
    """Reproduce the worked example, the constants of the intervals and the numbers of splits."""
    makers: dict[str, Callable[[str], ComparedTable]] = {
        "1": labels_table,
        "2": hypotheses_table,
        "3": labels_table,
        "4": constants_table,
        "A.1": constants_table,
        "B.1": mcnemar_table,
        "B.2": mcnemar_table,
        "splits": splits_table,
    }
    x = toy_instances()
    left, distinct = targets_left(x, target(x)), len(np.unique(x, axis=0))
    result = ReproductionResult(details={"targets_left": left})
    chosen = request.tables or TABLES
    result.add([make(name) for name, make in makers.items() if name in chosen])
    result.add(sentences=[
        f"The text's five labelled instances leave {left} of the {2**2**ATTRIBUTES} possible "
        f"targets, not 2^(16 - 5) = 2048: instances 2 and 3 are equal, so only {distinct} are "
        "known.",
        *(
            f"h{index + 1} = {hypothesis_text(disjunctions()[index])} agrees with all five and is "
            f"wrong on {mistakes(disjunctions()[index])} of the 16 instances."
            for index in consistent(disjunctions(), x, target(x))
        ),
    ])  # fmt: skip
    return result


def toy_instances() -> Bits:
    """Return the instances of Table 1."""
    return np.asarray(_attributes("1").astype(np.bool_))


def _attributes(table: str) -> np.ndarray:
    return printed_table("fundamentals", table, "x").values


def labels_table(table: str) -> ComparedTable:
    """Compare Table 1 or 3: the labels of the five instances, or of all 16."""
    printed = printed_table("fundamentals", table, "y")
    x = _attributes(table)
    return beside(
        printed,
        target(x.astype(np.bool_))[:, np.newaxis].astype(np.float64),
        (printed.values, printed.values),
        table=f"Table {table}, {'the data set' if table == '1' else 'the truth table'}",
        rows=tuple(" ".join(f"{bit:.0f}" for bit in row) for row in x),
        columns=("y",),
        level=0.0,
        digits=0,
        corner="x1 x2 x3 x4",
        note="y = (x1 and x2) xor (x3 or x4).",
    )


def hypotheses_table(table: str) -> ComparedTable:
    """Compare Table 2: the disjunctions, and which of them agree with Table 1."""
    figures = [f for f in printed_figures("fundamentals") if f.table == table]
    printed = np.full((len(disjunctions()), 2), "", dtype=object)
    for figure in figures:
        printed[int(figure.row) - 1, 0 if figure.quantity == "h" else 1] = figure.printed
    printed[printed[:, 1] == "", 1] = "no"
    ours = np.full(printed.shape, "no", dtype=object)
    ours[:, 0] = [hypothesis_text(chosen) for chosen in disjunctions()]
    x = toy_instances()
    ours[list(consistent(disjunctions(), x, target(x))), 1] = "yes"
    return ComparedTable(
        table=f"Table {table}, hypotheses",
        rows=tuple(f"h{number}" for number in range(1, len(ours) + 1)),
        columns=("hypothesis", "agrees with Table 1"),
        ours=ours,
        printed=printed,
        agrees=ours == printed,
    )


def constants_table(table: str) -> ComparedTable:
    """Compare Table 4: z of each level, from the normal interval at p = 1/2 and n = 100.

    Table A.1 prints the same constants.
    """
    printed = printed_table("fundamentals", "4", "z")
    levels = [float(row) / 100 for row in printed.rows]
    # half the width is z sqrt(p (1 - p) / n) = z / 20
    z = [20 * (float(intervals.normal(50, 100, level).high) - 0.5) for level in levels]
    return beside(
        printed,
        np.array(z)[:, np.newaxis],
        rounding_limits(printed.values, printed.rounding),
        table=f"Table {table}, constants of the intervals",
        rows=tuple(f"{row} %" for row in printed.rows),
        columns=("z",),
        level=0.0,
        digits=3,
        unit="unit",
        corner="level",
        note="The last constant is printed as 3.30, here and in Table A.1 of the text; it is 3.29.",
    )


def mcnemar_table(table: str) -> ComparedTable:
    """Count where both, one or none of the two consistent hypotheses are wrong: Table B.1.

    Table B.2 are the expected counts if both have the same error rate.
    """
    x = instance_space()
    h4, h10 = consistent(disjunctions(), toy_instances(), target(toy_instances()))
    wrong = [x[:, list(disjunctions()[h])].any(axis=1) != target(x) for h in (h4, h10)]
    counts = np.array(
        [[(a & b).sum() for b in (wrong[1], ~wrong[1])] for a in (wrong[0], ~wrong[0])]
    )
    result = mcnemar(*wrong)
    what = "observed"
    if table == "B.2":
        what, counts = "expected", (counts + counts.T) / 2
    ours = np.array([[f"{count:g}" for count in row] for row in counts], dtype=object)
    return unprinted(
        ours,
        table=f"Table {table}, {what} counts of two hypotheses",
        rows=(f"h{h4 + 1} wrong", f"h{h4 + 1} right"),
        columns=(f"h{h10 + 1} wrong", f"h{h10 + 1} right"),
        note="The text prints names instead of counts. With the continuity correction, McNemar's "
        f"statistic is {result.statistic:g}, p = {result.pvalue:.3f}.",
    )


def bootstrap_632_per_sample(losses: Floats, draws: npt.NDArray[np.int64]) -> float:
    """Return the .632 estimate of section 5.3, sample by sample, with Efron's weights.

    It is the mean over the samples of .368 times the error on the sample, in which repeated points
    count repeatedly, plus .632 times the error on the points left out. The text prints the weights
    the other way round.

    - `losses` (samples, points): Scores of the learner trained on each bootstrap sample.
    - `draws` (samples, points): How often each sample drew each point; 0 means left out.

    Examples
    --------
    >>> losses, draws = np.array([[0, 0, 1], [1, 0, 1]]), np.array([[2, 1, 0], [0, 1, 2]])
    >>> round(bootstrap_632_per_sample(losses, draws), 6)
    0.754667
    """
    left_out = draws == 0
    training = (losses * draws).sum(axis=1) / draws.sum(axis=1)
    testing = (losses * left_out).sum(axis=1) / left_out.sum(axis=1)
    return float((WEIGHT_APPARENT * training + WEIGHT_LEFT_OUT * testing).mean())


def number_of_kfold_splits(n: int, k: int) -> int:
    """Return the number of ways to split `n` rows into `k` folds of sizes that differ by at most 1.

    Parameters
    ----------
    n, k : int
        Rows and folds, 2 <= k <= n.

    Returns
    -------
    int
        Exact, however large.

    Notes
    -----
    With m = floor(n / k), p = n mod k and q = k - p (the text prints q = k - i), there are p
    folds of m + 1 rows and q of m rows, and the number is::

        prod_{i=1..p} C(n - (m+1)(i-1), m+1)  *  prod_{j=1..q} C(n - (m+1)p - m(j-1), m)

    which telescopes to n! / ((m+1)!^p m!^q). The same folds in another order count as a different
    split. Only folds of the same size can swap, because the folds of m + 1 rows come first.

    References
    ----------
    .. [1] D. Ler, "Algorithm selection fundamentals", section 5.3, after R. Kohavi, "A study of
       cross-validation and bootstrap for accuracy estimation and model selection", IJCAI 1995.

    Examples
    --------
    >>> number_of_kfold_splits(4, 2), number_of_kfold_splits(5, 2)
    (6, 10)
    """
    n = whole(n, "n", at_least=2)
    k = whole(k, "k", at_least=2)
    if k > n:
        raise ArgumentError(f"k must be at most the number of rows n = {n}; got {k}.")
    m, p = divmod(n, k)
    count = factorial(n)
    for size, times in ((m + 1, p), (m, k - p)):
        count //= int(pow(factorial(size), times))  # exact: int to a non-negative int power
    return count


def splits_table(table: str) -> ComparedTable:
    """Show the number of k-fold splits."""
    counts = [[_grouped(number_of_kfold_splits(n, k))] for n, k in SPLITS]
    return unprinted(
        np.array(counts, dtype=object),
        table=f"Number of k-fold {table}",
        rows=tuple(f"n = {n}, k = {k}" for n, k in SPLITS),
        columns=("splits",),
        note="The text prints the formula of section 5.3 and no number. It has q = k - i, which "
        "has no meaning there.",
    )


def _grouped(count: int) -> str:
    if count < 10**12:
        return f"{count:,}"
    digits = str(count)
    return f"{digits[0]}.{digits[1:5]} x 10^{len(digits) - 1}"
