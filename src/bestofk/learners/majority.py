"""The majority classifier, which predicts the most frequent class."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bestofk._base.checks import Floats
from bestofk.data.schema import Codes, Encoded
from bestofk.learners.base import ProbabilisticClassifier

if TYPE_CHECKING:
    from bestofk.splits.splits import Splits


class Majority(ProbabilisticClassifier):
    """Predict the most frequent class of the training rows, ignoring all columns.

    Ties go to the class that is declared first. Missing cells do not matter.

    References
    ----------
    .. [1] O. T. Yildiz and E. Alpaydin, "Ordering and finding the best of K > 2 supervised
       learning algorithms", IEEE Transactions on Pattern Analysis and Machine Intelligence
       28(3), 2006, 392-402. :doi:`10.1109/TPAMI.2006.61`

    Examples
    --------
    >>> Majority().fit([[1.0], [2.0], [3.0]], ["a", "b", "b"]).predict([[9.0]]).tolist()
    ['b']
    """

    counts_: Codes

    def _fit_encoded(self, encoded: Encoded) -> None:
        self.counts_ = np.bincount(encoded.y, minlength=encoded.n_classes).astype(np.int64)

    def _predict_encoded(self, values: Floats) -> Codes:
        return np.full(len(values), np.argmax(self.counts_), dtype=np.int64)

    def _proba_encoded(self, values: Floats) -> Floats:
        """Return the class shares of the training rows."""
        shares: Floats = self.counts_ / self.counts_.sum()
        return np.tile(shares, (len(values), 1))

    def _predict_plan(self, encoded: Encoded, splits: Splits) -> list[Codes]:
        """Predict from the class counts of all rows minus those of the fold."""
        c, fold_of = encoded.n_classes, splits.fold_of
        if fold_of is None:
            winners = [
                int(np.bincount(encoded.y[train], minlength=c).argmax())
                for _, _, train, _ in splits
            ]
            sizes = [len(test) for _, _, _, test in splits]
        else:
            cell = np.asarray(fold_of, dtype=np.int64) * c + encoded.y
            cell += np.arange(splits.runs)[:, None] * splits.folds * c
            inside = np.bincount(cell.ravel(), minlength=splits.runs * splits.folds * c)
            inside = inside.reshape(splits.runs, splits.folds, c)
            outside = inside.sum(axis=1, keepdims=True) - inside
            winners = outside.argmax(axis=2).ravel().tolist()
            sizes = inside.sum(axis=2).ravel().tolist()
        return [
            np.full(size, winner, dtype=np.int64)
            for size, winner in zip(sizes, winners, strict=True)
        ]

    def complexity(self) -> int:
        """Return c: one count per class."""
        return len(self.counts_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags
