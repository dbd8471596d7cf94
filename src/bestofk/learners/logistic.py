"""Linear logistic regression and its solver."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from bestofk._base.checks import Floats, positive
from bestofk._base.errors import BestOfKWarning
from bestofk.data.schema import Codes, Encoded
from bestofk.learners.base import ProbabilisticClassifier
from bestofk.learners.kernels import logistic as kernel

TOLERANCE = 1e-9
"""Gradient norm up to which a solution counts as the minimum."""
MAX_STEPS = 3000
STEPS_PER_MATRIX = 12
_MAX_MATRIX_ROWS = 1000
"""Larger approximate Hessians are reduced to their diagonal."""
TIE = 1e-6
"""Scores that differ by no more than this are tied."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Solution:
    """A fitted logistic model: weights of standardised inputs followed by a constant 1."""

    mean: Floats
    spread: Floats
    weights: Floats
    """Shape (inputs + 1, 1) for two classes, else (inputs + 1, classes)."""
    norm: float
    """The norm of the gradient at the weights."""
    steps: int

    @property
    def converged(self) -> bool:
        """True if the gradient norm is within the tolerance."""
        return self.norm <= TOLERANCE

    def inputs(self, design: Floats) -> Floats:
        """Return the rows of `design` standardised, with the constant 1."""
        rows = np.arange(len(design))
        return kernel.standardise(np.ascontiguousarray(design), rows, self.mean, self.spread)


def solve_from_zero(design: Floats, y: Codes, n_classes: int, strength: float) -> Solution:
    """Minimise the penalised objective from weights 0.

    The approximate Hessian starts as the Hessian at 0. It is recomputed at the current weights
    after every few steps, so this is Newton's method with L-BFGS steps in between.
    """
    rows = np.arange(len(design))
    mean, spread = kernel.column_moments(design, rows)
    z = kernel.standardise(design, rows, mean, spread)
    q, r = z.shape[1], 1 if n_classes == 2 else n_classes
    weights, norm, total = np.zeros((q, r)), np.inf, 0
    matrix = _inverse_at_zero(z, n_classes, strength)
    small = q * r <= _MAX_MATRIX_ROWS
    while total < MAX_STEPS:
        max_steps = STEPS_PER_MATRIX if small else MAX_STEPS
        weights, norm, steps = kernel.minimise(
            z, y, strength, weights, matrix, TOLERANCE, max_steps
        )
        total += steps
        if norm <= TOLERANCE or steps == 0:
            break
        if small:
            matrix = _inverse_at(z, weights, strength)
    return Solution(mean=mean, spread=spread, weights=weights, norm=norm, steps=total)


def _inverse_at_zero(z: Floats, n_classes: int, strength: float) -> Floats:
    """Return the inverse Hessian at weights 0, (q, q) or the diagonal (1, q), for every column."""
    q = z.shape[1]
    curvature = strength * (0.25 if n_classes == 2 else 1.0 / n_classes)
    if q > _MAX_MATRIX_ROWS:
        diagonal = curvature * np.einsum("ij,ij->j", z, z)
        diagonal[:-1] += 1.0
        inverse: Floats = 1.0 / diagonal[None, :]
        return inverse
    hessian = curvature * (z.T @ z)
    hessian[np.arange(q - 1), np.arange(q - 1)] += 1.0
    return np.ascontiguousarray(np.linalg.inv(hessian))


def _inverse_at(z: Floats, weights: Floats, strength: float) -> Floats:
    """Return the inverse Hessian at `weights`, shape (q r, q r).

    Shifting all constants together leaves the objective unchanged. That direction gets an
    artificial curvature.
    """
    (n, q), r = z.shape, weights.shape[1]
    hessian = _likelihood_hessian(z, kernel.probabilities(z @ weights), r)
    hessian *= strength
    penalised = np.arange((q - 1) * r)
    hessian[penalised, penalised] += 1.0
    constants = np.arange((q - 1) * r, q * r)
    if r > 1:
        hessian[np.ix_(constants, constants)] += strength * n / r
    return np.ascontiguousarray(np.linalg.inv(hessian))


def _likelihood_hessian(z: Floats, shares: Floats, r: int) -> Floats:
    """Return the Hessian of the negative log likelihood, in the order of weights.ravel()."""
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


class Logistic(ProbabilisticClassifier):
    """Linear logistic regression with an L2 penalty, multinomial for three or more classes.

    Nominal columns become 1-of-n inputs (one for every declared value). Inputs are standardised
    with the mean and standard deviation (with n) of the training rows; constant inputs are only
    centred. The model minimises ``1/2 |W|^2 + C * (negative log likelihood)``; constants are not
    penalised. For two classes, W is the single vector of the log odds, as in scikit-learn's
    ``LogisticRegression``.

    Parameters
    ----------
    C : float, default 1.0
        The weight of the likelihood relative to the penalty.

    Attributes
    ----------
    coef_ : array, shape (1 or classes, inputs)
        Weights of the standardised inputs.
    intercept_ : array, shape (1 or classes,)
        The constants.

    Notes
    -----
    *Missing cells*: a missing number takes the mean of the known training cells (0 after
    standardisation); a missing nominal value sets all its inputs to zero.

    *Ties*: scores within 1e-6 of the largest are tied and go to the class declared first.

    *Convergence*: `fit` stops at a gradient norm of 1e-9. Since the penalty alone has curvature 1,
    the weights are at most that far from the minimum.

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

    _own_preparation = True
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
        if self._solution is None:
            return np.zeros(len(values), dtype=np.int64)
        return kernel.choose(self._scores(values), TIE)

    def _proba_encoded(self, values: Floats) -> Floats:
        if self._solution is None:
            return np.ones((len(values), 1))
        return kernel.probabilities(self._scores(values))

    def complexity(self) -> int:
        """Return c (d + 1), where d counts 1-of-n inputs."""
        return len(self.classes_) * (int(self.coef_.shape[1]) + 1)


def inputs_of(values: Floats, cardinality: Codes) -> Floats:
    """Return numbers unchanged (NaN if missing) and nominal cells as 1-of-n (zeros if missing)."""
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
        warnings.warn(
            f"The logistic model stopped after {solution.steps} steps with a gradient of norm "
            f"{solution.norm:.3g}; the tolerance is {TOLERANCE}.",
            BestOfKWarning,
            stacklevel=4,
        )
