"""The linear logistic (softmax) model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from bestofk.checks import Floats, positive
from bestofk.data.encoded import Codes, Encoded
from bestofk.data.made_once import made_once
from bestofk.learners.base import ProbabilisticClassifier
from bestofk.learners.logistic.solver import TOLERANCE, Nearby, Solution, solve_from_zero

if TYPE_CHECKING:
    from bestofk.learners.split_rows import SplitRows
    from bestofk.plans.splits import Splits

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
        from bestofk.learners.logistic import kernel

        if self._solution is None:
            return np.zeros(len(values), dtype=np.int64)
        return kernel.choose(self._scores(values), TIE)

    def _proba_encoded(self, values: Floats) -> Floats:
        from bestofk.learners.logistic import kernel

        if self._solution is None:
            return np.ones((len(values), 1))
        return kernel.probabilities(self._scores(values))

    def _predict_plan(self, encoded: Encoded, splits: Splits) -> list[Codes]:
        from bestofk.learners.split_rows import SplitRows

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

        from bestofk.errors import BestOfKWarning

        warnings.warn(
            f"The logistic model stopped after {solution.steps} steps with a gradient of norm "
            f"{solution.norm:.3g}; at most {TOLERANCE} was asked.",
            BestOfKWarning,
            stacklevel=4,
        )
