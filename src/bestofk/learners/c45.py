"""Quinlan's decision tree C4.5, release 8, with the defaults that Weka's J48 made common."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from bestofk._base.checks import Floats, generator, one_of, probability, refuse, whole
from bestofk.data.schema import Codes, Encoded
from bestofk.learners.base import ProbabilisticClassifier, predict_encoded_splits
from bestofk.learners.kernels import c45 as kernel
from bestofk.learners.kernels.c45 import Tree, TreeSettings
from bestofk.learners.kernels.splits import SplitMarks

if TYPE_CHECKING:
    from bestofk.splits.splits import Splits

_PRUNINGS: dict[str | None, int] = {None: 0, "pessimistic": 1, "holdout": 2}
_CRITERIA = ("gain-ratio", "gain")
_MAX_ROWS_FOR_BITS = 2048
_MAX_VALUES_FOR_BITS = 16


class C45(ProbabilisticClassifier):
    """Predict with Quinlan's C4.5 decision tree.

    Parameters
    ----------
    criterion : {"gain-ratio", "gain"}, default "gain-ratio"
        Choose the test with the largest gain ratio, among tests of at least average gain [1]_,
        or with the largest information gain.
    min_leaf : int, default 2
        At least two branches of a test must have this much weight.
    confidence : float, default 0.25
        Confidence of the pessimistic error estimate; smaller values prune more.
    pruning : {"pessimistic", "holdout"} or None, default "pessimistic"
        Pessimistic: replace a subtree by a leaf, or by its largest branch, if the estimated
        errors do not increase. Hold-out: grow on a part of the training rows and, from the
        leaves up, replace a subtree by a leaf unless it makes fewer errors on the other rows
        (reduced-error pruning). None: grow and collapse only.
    subtree_raising : bool, default True
        Whether pessimistic pruning may replace a node by its largest branch.
    holdout_share : float, default 0.2
        Share of the training rows that hold-out pruning holds out, rounded down.
    random_state : int, numpy Generator or None, default 0
        Chooses the rows that hold-out pruning holds out; nothing else is random.

    Attributes
    ----------
    tree_ : Tree
        The fitted tree.

    Notes
    -----
    *Tests.* A numeric column gives one cut; a nominal column gives one branch per declared value.
    The gain of a numeric cut is reduced by log2(number of cuts) / weight of the node [2]_. Each
    side of a cut must have a tenth of the known weight divided by the number of classes, at least
    `min_leaf` and at most 25. A threshold is the largest value of the training rows that is not
    above the midpoint of the cut.

    *Missing cells.* The gain counts the known rows and is multiplied by their share of the
    weight. In training and in prediction, a row with an unknown value goes down every branch with
    its weight times the branch's share of the known weight.

    *Collapsing.* After growing, from the root down, a subtree that saves no training error
    becomes a leaf, for every kind of pruning.

    *Ties* go to the column, cut or class that comes first; gains and shares that differ by less
    than 1e-6 are ties. The largest branch is the last of tied ones.

    References
    ----------
    .. [1] J. R. Quinlan, C4.5: Programs for Machine Learning, Morgan Kaufmann, 1993.
    .. [2] J. R. Quinlan, "Improved use of continuous attributes in C4.5", Journal of Artificial
       Intelligence Research 4, 1996, 77-90. :doi:`10.1613/jair.279`

    Examples
    --------
    >>> import pandas as pd
    >>> X = pd.DataFrame({"sky": ["sun", "sun", "rain", "rain"] * 3, "wind": [1, 2, 3, 4] * 3})
    >>> model = C45().fit(X, ["out", "out", "in", "in"] * 3)
    >>> model.predict(pd.DataFrame({"sky": ["rain", None], "wind": [1, 1]})).tolist()
    ['in', 'in']
    >>> model.complexity()
    3
    """

    tree_: Tree

    def __init__(
        self,
        *,
        criterion: str = "gain-ratio",
        min_leaf: int = 2,
        confidence: float = 0.25,
        pruning: str | None = "pessimistic",
        subtree_raising: bool = True,
        holdout_share: float = 0.2,
        random_state: int | np.random.Generator | None = 0,
    ) -> None:
        self.criterion = criterion
        self.min_leaf = min_leaf
        self.confidence = confidence
        self.pruning = pruning
        self.subtree_raising = subtree_raising
        self.holdout_share = holdout_share
        self.random_state = random_state

    def _fit_encoded(self, encoded: Encoded) -> None:
        settings = self._settings()
        grown = np.ones(encoded.n, dtype=np.bool_)
        if self.pruning == "holdout":
            grown = ~self._held_out(encoded.n)
        self._cardinality = encoded.cardinality
        self.tree_ = kernel.fit(encoded, grown, settings)

    def _predict_encoded(self, values: Floats) -> Codes:
        return kernel.shares_and_codes(self.tree_, self._cardinality, values)[1]

    def _proba_encoded(self, values: Floats) -> Floats:
        return kernel.shares_and_codes(self.tree_, self._cardinality, values)[0]

    def _predict_plan(self, encoded: Encoded, splits: Splits) -> list[Codes]:
        marks = SplitMarks.of(splits)
        if marks is None or (self._uses_seed() and not isinstance(self.random_state, int)):
            return predict_encoded_splits(self, encoded, splits)
        settings = self._settings()
        if self.pruning != "holdout" and _fits_bits(encoded):
            return marks.cut(kernel.predict_bits(encoded, marks, settings))
        mask_index, masks = self._held_out_by_size(marks.train_sizes(), encoded.n)
        return marks.cut(kernel.predict_lists(encoded, marks, settings, mask_index, masks))

    def complexity(self) -> int:
        """Return the number of nodes of the tree, including leaves."""
        return len(self.tree_.attribute)

    def _uses_seed(self) -> bool:
        """Return whether another `random_state` could give another tree."""
        return self.pruning == "holdout"

    def _settings(self) -> TreeSettings:
        """Check the parameters and convert them for the kernels."""
        from scipy.special import ndtri

        criterion = one_of(self.criterion, "criterion", _CRITERIA)
        min_leaf = whole(self.min_leaf, "min_leaf", at_least=1)
        if self.pruning is not None:
            one_of(self.pruning, "pruning", ("pessimistic", "holdout"))
        confidence = probability(self.confidence, "confidence")
        if confidence > 0.5:
            raise refuse("confidence", "at most 0.5", self.confidence)
        return TreeSettings(
            min_leaf=float(min_leaf),
            by_gain=criterion == "gain",
            pruning=_PRUNINGS[self.pruning],
            raising=bool(self.subtree_raising),
            confidence=confidence,
            z=float(ndtri(1.0 - confidence)),
        )

    def _held_out(self, n: int) -> npt.NDArray[np.bool_]:
        """Mark the rows that hold-out pruning holds out of n training rows."""
        share = probability(self.holdout_share, "holdout_share")
        mask = np.zeros(n, dtype=np.bool_)
        mask[generator(self.random_state).permutation(n)[: int(share * n)]] = True
        return mask

    def _held_out_by_size(self, sizes: Codes, n: int) -> tuple[Codes, npt.NDArray[np.bool_]]:
        """Return the mask index of each training set size, and the masks of held-out rows."""
        mask_index = np.zeros(n + 1, dtype=np.int64)
        if self.pruning != "holdout":
            return mask_index, np.zeros((1, n), dtype=np.bool_)
        masks = np.zeros((len(sizes), n), dtype=np.bool_)
        for index, size in enumerate(sizes):
            mask_index[size] = index
            masks[index, :size] = self._held_out(int(size))
        return mask_index, masks


def _fits_bits(encoded: Encoded) -> bool:
    """Return whether bit sets are faster: complete nominal data, few rows and few values."""
    return (
        encoded.n <= _MAX_ROWS_FOR_BITS
        and bool((encoded.cardinality > 0).all())
        and int(encoded.cardinality.max()) <= _MAX_VALUES_FOR_BITS
        and not bool(np.isnan(encoded.values).any())
    )
