"""The minimum of the penalised logistic objective, from zero or from a solution near by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bestofk.checks import Floats
from bestofk.data.encoded import Codes

if TYPE_CHECKING:
    from bestofk.learners.split_rows import SplitRows

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
        from bestofk.learners.logistic import kernel

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
    from bestofk.learners.logistic import kernel

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
    from bestofk.learners.logistic import kernel

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
        from bestofk.learners.logistic import kernel

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
