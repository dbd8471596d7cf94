"""The minimum of the penalised logistic objective, from zero or from a solution near by."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from bestofk._base.checks import Floats, positive
from bestofk.data.dataset import made_once
from bestofk.data.schema import Codes, Encoded
from bestofk.learners.base import ProbabilisticClassifier

if TYPE_CHECKING:
    from bestofk.learners.predict import SplitRows
    from bestofk.splits.splits import Splits

TOLERANCE = 1e-9
"""The norm of the gradient at which a solution is taken as the minimum."""
_NEARBY_TOLERANCE = 1e-2
"""The same for the solution for all rows, from which splits start."""
MOST_STEPS = 3000
STEPS_PER_MATRIX = 12
_LARGEST_MATRIX = 1000
"""Above this many rows an approximate Hessian keeps its diagonal only."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Solution:
    """A fitted logistic model: standardised inputs with a constant 1 last, times the weights."""

    mean: Floats
    spread: Floats
    weights: Floats
    """Shape (inputs + 1, 1) for two classes, else (inputs + 1, classes)."""
    norm: float
    """The norm of the gradient that is left."""
    steps: int

    @property
    def converged(self) -> bool:
        """Whether the gradient is as small as asked."""
        return self.norm <= TOLERANCE

    def inputs(self, design: Floats) -> Floats:
        """The rows of `design` as the weights take them."""
        from bestofk.learners.kernels import logistic as kernel

        every = np.arange(len(design))
        design = np.ascontiguousarray(design)
        return kernel.standardise(design, every, self.mean, self.spread)


def columns_of_weights(n_classes: int) -> int:
    """1 for two classes, else one a class."""
    return 1 if n_classes == 2 else n_classes


def solve_from_zero(
    design: Floats, y: Codes, n_classes: int, strength: float, *, tolerance: float = TOLERANCE
) -> Solution:
    """The solution, started at weights 0.

    The approximate Hessian is that at 0 for the first steps, then that of where they led, taken
    anew every few steps: Newton's method with the steps of L-BFGS between.
    """
    from bestofk.learners.kernels import logistic as kernel

    every = np.arange(len(design))
    mean, spread = kernel.column_moments(design, every)
    z = kernel.standardise(design, every, mean, spread)
    q, r = z.shape[1], columns_of_weights(n_classes)
    weights, norm, total = np.zeros((q, r)), np.inf, 0
    matrix = _inverse_at_zero(z, n_classes, strength)
    small = q * r <= _LARGEST_MATRIX
    while total < MOST_STEPS:
        weights, norm, steps, _ = kernel.minimise(
            z, y, strength, weights, matrix, tolerance, STEPS_PER_MATRIX if small else MOST_STEPS,
            z[:0], 0.0, y[:0],
        )  # fmt: skip
        total += steps
        if norm <= tolerance or steps == 0:
            break
        if small:
            matrix = _inverse_at(z, weights, strength, share=1.0)
    return Solution(mean=mean, spread=spread, weights=weights, norm=norm, steps=total)


def _inverse_at_zero(z: Floats, n_classes: int, strength: float) -> Floats:
    """The inverse Hessian at weights 0, the same (q, q) for every column of the weights."""
    q = z.shape[1]
    curvature = strength * (0.25 if n_classes == 2 else 1.0 / n_classes)
    if q > _LARGEST_MATRIX:
        diagonal = curvature * np.einsum("ij,ij->j", z, z)
        diagonal[:-1] += 1.0
        return np.diag(1.0 / diagonal)
    hessian = curvature * (z.T @ z)
    hessian[np.arange(q - 1), np.arange(q - 1)] += 1.0
    return np.ascontiguousarray(np.linalg.inv(hessian))


def _inverse_at(z: Floats, weights: Floats, strength: float, *, share: float) -> Floats:
    """The inverse Hessian at `weights`, shape (q r, q r), for a `share` of the rows of `z`.

    All constants may move together without a change; that direction is given a curvature.
    """
    from bestofk.learners.kernels import logistic as kernel

    (n, q), r = z.shape, weights.shape[1]
    hessian = _likelihood_hessian(z, kernel.probabilities(z @ weights), r)
    hessian *= strength * share
    penalised = np.arange((q - 1) * r)
    hessian[penalised, penalised] += 1.0
    constants = np.arange((q - 1) * r, q * r)
    if r > 1:
        hessian[np.ix_(constants, constants)] += strength * share * n / r
    return np.ascontiguousarray(np.linalg.inv(hessian))


@dataclass(frozen=True, slots=True, kw_only=True)
class Nearby:
    """The solution for all rows and the inverse Hessian there, from which splits start."""

    solution: Solution
    z: Floats
    strength: float
    matrices: dict[float, Floats]

    @classmethod
    def of(cls, design: Floats, y: Codes, n_classes: int, strength: float) -> Nearby:
        """From all rows."""
        solution = solve_from_zero(design, y, n_classes, strength, tolerance=_NEARBY_TOLERANCE)
        return cls(solution=solution, z=solution.inputs(design), strength=strength, matrices={})

    def _share(self, n_train: int) -> float:
        """About which part of all rows that many are."""
        return max(round(n_train / len(self.z), 2), 0.01)

    def _matrix(self, share: float) -> Floats:
        """The inverse of the Hessian that a share of the rows may be expected to have."""
        if share not in self.matrices:
            q, r = self.solution.weights.shape
            self.matrices[share] = (
                _inverse_at(self.z, self.solution.weights, self.strength, share=share)
                if q * r <= _LARGEST_MATRIX
                else _inverse_at_zero(self.z, max(r, 2), self.strength * share)
            )
        return self.matrices[share]

    def predict(
        self, design: Floats, y: Codes, rows: SplitRows, *, tie: float
    ) -> list[Codes | None]:
        """The predictions for the tested rows of every split; None where they are not certain.

        Notes
        -----
        Let F(w) be the objective at its best constants. F is 1-strongly convex, so that weights w
        with gradient g differ from the minimum by at most |g|. Best constants are, for two
        classes, a weighted mean of -w z over the rows; for r classes, whatever set of classes is
        cut from the rest, some two constants across the cut move apart by no more than the
        largest change U of a score difference, hence any two by no more than (r - 1) U. With
        |z| <= Z for the training rows, a score difference at x is off by at most
        sqrt(2) |g| (|x| + (r - 1) Z), or |g| (|x| + Z) for the log odds of two classes.
        """
        from bestofk.learners.kernels import logistic as kernel

        alike: dict[float, list[int]] = {}
        for split, n_train in enumerate(np.diff(rows.train_ends, prepend=0).tolist()):
            alike.setdefault(self._share(n_train), []).append(split)
        predicted: list[Codes | None] = [None] * len(rows)
        for share, kept in alike.items():
            part, solution = rows.only(kept), self.solution
            chosen, certain = kernel.predict_splits(
                design, y, self.strength, (solution.mean, solution.spread, solution.weights),
                self._matrix(share), TOLERANCE, MOST_STEPS, tie, part,
            )  # fmt: skip
            for split, codes, sure in zip(kept, part.cut(chosen), certain.tolist(), strict=True):
                predicted[split] = codes if sure else None
        return predicted


def _likelihood_hessian(z: Floats, shares: Floats, r: int) -> Floats:
    """Second derivatives of minus the log likelihood, in the order of weights.ravel()."""
    q = z.shape[1]
    if r == 1:
        weighted: Floats = z.T @ (z * (shares[:, :1] * shares[:, 1:]))
        return weighted
    hessian = np.empty((q, r, q, r))
    for k in range(r):
        for other in range(k, r):
            weight = -shares[:, k] * shares[:, other]
            if other == k:
                weight = weight + shares[:, k]
            block = z.T @ (z * weight[:, None])
            hessian[:, k, :, other] = block
            hessian[:, other, :, k] = block
    return hessian.reshape(q * r, q * r)


# The linear logistic (softmax) model.


TIE = 1e-6
"""Scores that differ by no more than this are tied."""


class Logistic(ProbabilisticClassifier):
    """Linear logistic regression with an L2 penalty, multinomial for three classes and more.

    Nominal columns become 1-of-n inputs (one for every declared value). Inputs are standardised
    with the mean and standard deviation (with n) of the training rows; one without spread there
    is only centred. The model minimises ``1/2 |W|^2 + C * (minus log likelihood)``; constants
    are not penalised. For two classes W is the one vector of the log odds, as in scikit-learn's
    ``LogisticRegression``.

    Parameters
    ----------
    C : float, default 1.0
        The weight of the likelihood against the penalty.

    Attributes
    ----------
    coef_ : array, shape (1 or classes, inputs)
        Weights of the standardised inputs.
    intercept_ : array, shape (1 or classes,)
        The constants.

    Notes
    -----
    *Missing cells*: a missing number takes the mean of the known training cells (0 when
    standardised); a missing nominal value has zeros for all its inputs.

    *Ties*: scores within 1e-6 of the largest are tied and go to the class declared first.

    *Convergence*: `fit` stops at a gradient of norm 1e-9. Since the penalty alone has curvature 1,
    the weights are that near to the minimum. The evaluation of a whole plan starts each split at
    the solution for all rows, and goes on until a bound on the distance to the minimum shows that
    no prediction of the split can be another; where even 1e-9 leaves one in doubt, the split is
    solved exactly as `fit` does.

    References
    ----------
    .. [1] O. T. Yildiz and E. Alpaydin, "Ordering and finding the best of K > 2 supervised
       learning algorithms", IEEE Transactions on Pattern Analysis and Machine Intelligence
       28(3), 2006, 392-402. :doi:`10.1109/TPAMI.2006.61`
    .. [2] J. Nocedal, "Updating quasi-Newton matrices with limited storage", Mathematics of
       Computation 35, 1980, 773-782. :doi:`10.1090/S0025-5718-1980-0572855-7`

    Examples
    --------
    >>> model = Logistic().fit([[0.0], [1.0], [3.0], [4.0]], ["a", "a", "b", "b"])
    >>> model.predict([[0.5], [3.5]]).tolist()
    ['a', 'b']
    >>> model.predict_proba([[2.0]]).round(6).tolist()
    [[0.5, 0.5]]
    """

    _own_preparation = frozenset({"one_of_n", "filled", "zeros"})
    coef_: Floats
    intercept_: Floats

    def __init__(self, *, C: float = 1.0) -> None:
        self.C = C

    def _fit_encoded(self, encoded: Encoded) -> None:
        strength = positive(self.C, "C")
        self._cardinality = encoded.cardinality
        self._solution: Solution | None = None
        if encoded.n_classes == 1:
            inputs = int(np.maximum(encoded.cardinality, 1).sum())
            self.coef_, self.intercept_ = np.zeros((1, inputs)), np.zeros(1)
            return
        design = inputs_of(encoded.values, encoded.cardinality)
        self._solution = solve_from_zero(design, encoded.y, encoded.n_classes, strength)
        _warn_if_not_converged(self._solution)
        self.coef_ = self._solution.weights[:-1].T.copy()
        self.intercept_ = self._solution.weights[-1].copy()

    def _scores(self, values: Floats) -> Floats:
        assert self._solution is not None
        design = inputs_of(values, self._cardinality)
        return self._solution.inputs(design) @ self._solution.weights

    def _predict_encoded(self, values: Floats) -> Codes:
        from bestofk.learners.kernels import logistic as kernel

        if self._solution is None:
            return np.zeros(len(values), dtype=np.int64)
        return kernel.choose(self._scores(values), TIE)

    def _proba_encoded(self, values: Floats) -> Floats:
        from bestofk.learners.kernels import logistic as kernel

        if self._solution is None:
            return np.ones((len(values), 1))
        return kernel.probabilities(self._scores(values))

    def _predict_plan(self, encoded: Encoded, splits: Splits) -> list[Codes]:
        from bestofk.learners.predict import SplitRows

        starts = made_once(encoded, Starts.of, positive(self.C, "C"))
        times: Counter[bytes] = Counter()
        for batch in SplitRows.batches(splits):
            present = batch.labels_trained(encoded.y, encoded.n_classes)
            times.update(line.tobytes() for line in present)
        predictions: list[Codes] = []
        for batch in SplitRows.batches(splits):
            for split, chosen in enumerate(starts.predict(batch, times)):
                if chosen is None:
                    rows = encoded.take(batch.train(split))
                    model = Logistic(C=self.C).fit_encoded(rows)
                    chosen = model.predict_encoded(encoded.values[batch.test(split)])
                predictions.append(chosen)
        return predictions

    def complexity(self) -> int:
        """C (d + 1) with the 1-of-n inputs counted as d."""
        return len(self.classes_) * (int(self.coef_.shape[1]) + 1)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Starts:
    """Solutions to start from, one for each set of classes that two or more splits train on."""

    design: Floats
    y: Codes
    n_classes: int
    strength: float
    found: dict[bytes, tuple[Nearby, Codes]]

    @classmethod
    def of(cls, encoded: Encoded, strength: float) -> Starts:
        """None is found yet."""
        return cls(
            design=inputs_of(encoded.values, encoded.cardinality),
            y=encoded.y,
            n_classes=encoded.n_classes,
            strength=strength,
            found={},
        )

    def predict(self, batch: SplitRows, times: Mapping[bytes, int]) -> list[Codes | None]:
        """Class codes for the tested rows of every split; None where they are not certain.

        `times` says how many splits train on a set of classes; nothing is made for one of them.
        """
        present = batch.labels_trained(self.y, self.n_classes)
        alike: dict[bytes, list[int]] = {}
        for split, line in enumerate(present):
            alike.setdefault(line.tobytes(), []).append(split)
        predicted: list[Codes | None] = [None] * len(batch)
        for key, kept in alike.items():
            classes = np.flatnonzero(present[kept[0]])
            if len(classes) < 2 or times[key] < 2:
                continue
            nearby, y = self._nearby(key, present[kept[0]])
            found = nearby.predict(self.design, y, batch.only(kept), tie=TIE)
            for split, chosen in zip(kept, found, strict=True):
                predicted[split] = None if chosen is None else classes[chosen]
        return predicted

    def _nearby(self, key: bytes, present: npt.NDArray[np.bool_]) -> tuple[Nearby, Codes]:
        if key not in self.found:
            y = (np.cumsum(present) - 1)[self.y]
            rows = present[self.y]
            nearby = Nearby.of(self.design[rows], y[rows], int(present.sum()), self.strength)
            self.found[key] = nearby, y
        return self.found[key]


def inputs_of(values: Floats, cardinality: Codes) -> Floats:
    """Numbers as they are (NaN where missing), nominal cells as 1-of-n (zeros where missing)."""
    first = np.concatenate(([0], np.cumsum(np.maximum(cardinality, 1))))
    out = np.zeros((len(values), int(first[-1])))
    for j, size in enumerate(cardinality.tolist()):
        if size == 0:
            out[:, first[j]] = values[:, j]
        else:
            known = np.flatnonzero(~np.isnan(values[:, j]))
            out[known, first[j] + values[known, j].astype(np.int64)] = 1.0
    return out


def _warn_if_not_converged(solution: Solution) -> None:
    if not solution.converged:
        import warnings

        from bestofk._base.errors import BestOfKWarning

        warnings.warn(
            f"The logistic model stopped after {solution.steps} steps with a gradient of norm "
            f"{solution.norm:.3g}; at most {TOLERANCE} was asked.",
            BestOfKWarning,
            stacklevel=4,
        )
