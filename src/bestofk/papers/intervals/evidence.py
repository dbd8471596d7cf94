"""What every test says of every simulation, by the public functions of the library."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bestofk import multiple, pairwise
from bestofk.checks import Floats
from bestofk.papers.intervals.simulation import ALGORITHMS

FIRST, SECOND = np.triu_indices(ALGORITHMS, 1)
PAIRS = len(FIRST)
RESAMPLES = 4_999
"""Random rearrangements of a bootstrap test; exact ones take several times as long here."""
READINGS: dict[str, tuple[str, str | tuple[str, float]]] = {
    "Bootstrap-B": ("paper", ("median-radius", 0.1)),
    "Bootstrap-B, quantiles": ("paper", "central"),
    "Bootstrap-B, vertex": ("vertex", ("median-radius", 0.1)),
}
"""Ways to read the paper's Bootstrap-B: (rule, how repetitions become an interval)."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Scalar:
    """P-values of the tests of numbers, for S simulations.

    Attributes
    ----------
    anova, friedman : ndarray of shape (S,)
        Of the hypothesis that all five are alike.
    bootstrap_a : ndarray of shape (S, 5)
        Of each algorithm against the mean of all.
    t, wilcoxon, bootstrap_a_pairs : ndarray of shape (S, 10)
        Of each pair, not adjusted.
    differences : ndarray of shape (S, 10)
        Mean of the first of the pair less that of the second.
    """

    anova: Floats
    friedman: Floats
    bootstrap_a: Floats
    t: Floats
    wilcoxon: Floats
    bootstrap_a_pairs: Floats
    differences: Floats

    def packed(self) -> Floats:
        """All columns side by side, shape (S, 47)."""
        columns = [getattr(self, name) for name in self.__dataclass_fields__]
        return np.column_stack(columns)

    @classmethod
    def unpacked(cls, columns: Floats) -> Scalar:
        """The inverse of `packed`; leading axes before the columns are kept."""
        widths = np.cumsum([1, 1, ALGORITHMS, PAIRS, PAIRS, PAIRS])
        parts = np.split(columns, widths, axis=-1)
        parts[:2] = [part[..., 0] for part in parts[:2]]
        return cls(**dict(zip(cls.__dataclass_fields__, parts, strict=True)))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Ranges:
    """P-values of Bootstrap-B, which are intervals: the last axis holds both ends.

    `algorithms` (S, 5, 2) and `pairs` (S, 10, 2), not adjusted; `differences` (S, 10) between
    the middles of the two mean intervals.
    """

    algorithms: Floats
    pairs: Floats
    differences: Floats

    def packed(self) -> Floats:
        """All columns side by side, shape (S, 40)."""
        simulations = len(self.pairs)
        parts = (self.algorithms, self.pairs, self.differences)
        return np.column_stack([part.reshape(simulations, -1) for part in parts])

    @classmethod
    def unpacked(cls, columns: Floats) -> Ranges:
        """The inverse of `packed`; leading axes before the columns are kept."""
        algorithms, pairs, differences = np.split(
            columns, np.cumsum([2 * ALGORITHMS, 2 * PAIRS]), axis=-1
        )
        lead = columns.shape[:-1]
        return cls(
            algorithms=algorithms.reshape(*lead, ALGORITHMS, 2),
            pairs=pairs.reshape(*lead, PAIRS, 2),
            differences=differences,
        )


SCALAR_COLUMNS = 2 + ALGORITHMS + 4 * PAIRS
RANGE_COLUMNS = 2 * ALGORITHMS + 3 * PAIRS


def scalar_evidence(cells: Floats, rng: np.random.Generator) -> Scalar:
    """All tests of numbers on the data-set means of S simulations, shape (S, 5, 32)."""
    a, b = cells[:, FIRST], cells[:, SECOND]
    flips = pairwise.permutation(a, b, method="resample", resamples=RESAMPLES, random_state=rng)
    scalar = [
        multiple.bootstrap_a(
            one, method="resample", resamples=RESAMPLES, random_state=rng, correction="none"
        ).pvalues
        for one in cells
    ]
    return Scalar(
        anova=np.array([multiple.repeated_measures_anova(one).pvalue for one in cells]),
        friedman=np.asarray(multiple.friedman(cells).pvalue),
        bootstrap_a=np.stack(scalar),
        t=np.asarray(pairwise.kfold_t(a, b).pvalue),
        wilcoxon=np.asarray(pairwise.wilcoxon(a, b).pvalue),
        bootstrap_a_pairs=np.asarray(flips.pvalue),
        differences=a.mean(axis=-1) - b.mean(axis=-1),
    )


def range_evidence(losses: Floats, reading: str, rng: np.random.Generator) -> Ranges:
    """Bootstrap-B on S simulations of shape (S, 5, 32, folds, repetitions), by a reading."""
    rule, interval = READINGS[reading]
    drawn: dict[str, Any] = {"method": "resample", "resamples": RESAMPLES, "random_state": rng}
    algorithms, pairs, differences = [], [], []
    for one in losses:
        result = multiple.bootstrap_b(one, rule=rule, interval=interval, correction="none", **drawn)
        middle = result.intervals.mean(axis=1)
        algorithms.append(result.pvalues)
        pairs.append(result.posthoc(correction="none", **drawn).pvalues)
        differences.append(middle[FIRST] - middle[SECOND])
    return Ranges(
        algorithms=np.stack(algorithms),
        pairs=np.stack(pairs),
        differences=np.stack(differences),
    )
