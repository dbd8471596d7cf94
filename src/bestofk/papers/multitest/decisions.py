"""The four procedures on many runs at once, by the library's tests.

Rules and tests are those of `bestofk.ordering`; here they go over all data sets and runs in one
sweep. Two customs of the paper are kept: learners in prior order, and no rejection where the
denominator of the 5x2cv t statistic is zero.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from bestofk.adjust import adjust
from bestofk.checks import Floats
from bestofk.multiple import anova
from bestofk.multiple.studentized_range import quantile
from bestofk.pairwise import corrected_repeated_kfold_t, five_by_two_t

PROCEDURES = ("Anova", "TestFirst", "Newman-Keuls", "MultiTest")
NOT_FOUND = -1
Choices = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Decisions:
    """What each procedure chose in every run.

    `chosen` maps a procedure to an array over the leading axes: the number of the learner, or
    -1 where no best was found; `edges` (..., K, K) are those of MultiTest, `underlined`
    (..., K, K) says which two positions in the order of the means stand on one line.
    """

    chosen: dict[str, Choices]
    edges: Flags
    underlined: Flags
    order: Choices
    """(..., K): learners by ascending mean."""


def decide(
    losses: Floats, *, alpha: float = 0.05, test: str = "5x2cv-t", correction: str = "bonferroni"
) -> Decisions:
    """Decide from losses (..., K, runs, folds), learners in prior order.

    Parameters
    ----------
    losses : array (..., K, r, k)
        (5, 2) folds for the 5x2cv t test; the leading axes are separate decisions.
    alpha : float
        Level of every procedure.
    test : str
        ``"5x2cv-t"`` (the paper's) or ``"corrected-repeated-kfold-t"``.
    correction : str
        Over the K (K - 1) / 2 tests of MultiTest and the K - 1 of TestFirst.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> losses = np.array([0.30, 0.10, 0.11])[:, None, None] + 0.01 * rng.random((3, 5, 2))
    >>> {name: int(best) for name, best in decide(losses).chosen.items()}
    {'Anova': -1, 'TestFirst': 1, 'Newman-Keuls': 1, 'MultiTest': 1}
    """
    K = losses.shape[-3]
    pairs = np.array(list(combinations(range(K), 2)))
    pvalue = np.ones((*losses.shape[:-3], K, K))
    a, b = (np.take(losses, pairs[:, side], axis=-3) for side in (0, 1))
    pvalue[..., pairs[:, 0], pairs[:, 1]] = _pvalues(a, b, test)
    means = losses.mean(axis=(-2, -1))
    flat = losses.reshape(*losses.shape[:-2], -1)
    variance = anova(flat)
    underlined, order = _underlines(means, np.asarray(variance.mse), flat.shape[-1], alpha)
    edges = _edges(pvalue, pairs, alpha, correction)
    return Decisions(
        chosen={
            "Anova": np.where(np.asarray(variance.pvalue) > alpha, 0, NOT_FOUND),
            "TestFirst": _test_first(pvalue, means, alpha, correction),
            "Newman-Keuls": _newman_keuls(underlined, order),
            "MultiTest": np.argmin(edges.any(axis=-1), axis=-1),
        },
        edges=edges,
        underlined=underlined,
        order=order,
    )


def _pvalues(a: Floats, b: Floats, test: str) -> Floats:
    if test == "5x2cv-t":
        result = five_by_two_t(a, b, alternative="greater")
        # the paper does not reject on a zero denominator
        quiet = np.asarray(result.standard_error) == 0
        return np.where(quiet, 1.0, np.asarray(result.pvalue))
    return np.asarray(corrected_repeated_kfold_t(a, b, alternative="greater").pvalue)


def _edges(pvalue: Floats, pairs: Choices, alpha: float, correction: str) -> Flags:
    edges = np.zeros(pvalue.shape, dtype=bool)
    family = pvalue[..., pairs[:, 0], pairs[:, 1]]
    edges[..., pairs[:, 0], pairs[:, 1]] = adjust(family, correction) <= alpha
    return edges


def _test_first(pvalue: Floats, means: Floats, alpha: float, correction: str) -> Choices:
    """The learner of smallest mean, if it beats all that are preferred to it."""
    K = means.shape[-1]
    first = np.argmin(means, axis=-1)
    against = np.take_along_axis(pvalue, first[..., None, None], axis=-1)[..., 0]
    preferred = np.arange(K) < first[..., None]
    family = np.where(preferred, against, 1.0)[..., : K - 1]
    beaten = adjust(family, correction) <= alpha
    return np.where((beaten | ~preferred[..., : K - 1]).all(axis=-1), first, NOT_FOUND)


def _underlines(means: Floats, mse: Floats, L: int, alpha: float) -> tuple[Flags, Choices]:
    """Which positions of the order stand on one underline of Newman and Keuls."""
    K = means.shape[-1]
    order = np.argsort(means, axis=-1, kind="stable")
    ranked = np.take_along_axis(means, order, axis=-1)
    critical = quantile(alpha, groups=np.arange(2, K + 1), df=float(K * (L - 1)))
    width = np.sqrt(mse / L)[..., None]
    one_line = np.zeros((*means.shape, K), dtype=bool)
    for size in range(K, 1, -1):
        low, high = np.arange(K - size + 1), np.arange(size - 1, K)
        accepted = ranked[..., high] - ranked[..., low] <= critical[size - 2] * width
        one_line[..., low, high] = accepted
    # a window inside an accepted one is accepted with it
    for size in range(K, 2, -1):
        for start in range(K - size + 1):
            stop = start + size - 1
            inside = one_line[..., start, stop]
            one_line[..., start, stop - 1] |= inside
            one_line[..., start + 1, stop] |= inside
    return one_line, order


def _newman_keuls(one_line: Flags, order: Choices) -> Choices:
    """The most preferred on the first line, unless another line holds it and one preferred."""
    K = order.shape[-1]
    positions = np.arange(K)
    last = (one_line[..., 0, :] * positions).max(axis=-1)
    first_line = positions <= last[..., None]
    best = np.where(first_line, order, K).min(axis=-1)
    place = np.argmax(order == best[..., None], axis=-1)
    doubtful = np.zeros(best.shape, dtype=bool)
    for start in range(K):
        for stop in range(start + 1, K):
            holds = one_line[..., start, stop] & (start <= place) & (place <= stop)
            better = (order[..., start : stop + 1] < best[..., None]).any(axis=-1)
            doubtful |= holds & better
    return np.where(doubtful, NOT_FOUND, best)
