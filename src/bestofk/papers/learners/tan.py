"""Tree-augmented naive Bayes: each column depends on the class and on one other column."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bestofk._base.checks import Floats
from bestofk._base.errors import ArgumentError
from bestofk.data.schema import Codes, Encoded
from bestofk.learners.base import ProbabilisticClassifier
from bestofk.learners.kernels.library import Kernel

MAX_PAIRS = 1 << 24
"""Refuse columns with more pairs of values, whose tables would need gigabytes."""


class TreeAugmentedNaiveBayes(ProbabilisticClassifier):
    """Predict with a Bayesian network in which the columns form a tree under the class.

    All columns must be nominal; numeric columns raise an error.

    Attributes
    ----------
    parent_ : array of shape (d,)
        The other parent of each column besides the class, -1 for the root of the tree.
    prior_ : array of shape (c,)
        Log probabilities of the classes.
    tables_ : array of shape (cells, c)
        Log probabilities of each value given the class and the value of the parent, column
        after column, the parent's values outer.

    Notes
    -----
    A link from column j to column i scores the log marginal likelihood (Dirichlet, 0.5 a cell) of
    i given the class and j minus that of i given the class alone [1]_, [2]_. The tree starts with
    the best link and adds the best link with one end in the tree until all columns are linked.
    For each link (i, j) in turn, j gets the parent i if it has none yet; otherwise i gets the
    parent j. Tables and prior add 0.5 to every cell.

    *Missing cells* take the most frequent value of the training rows (the first of ties).
    *Ties* go to the link with the first i, then the first j, and to the class declared first.

    References
    ----------
    .. [1] N. Friedman, D. Geiger and M. Goldszmidt, "Bayesian network classifiers", Machine
       Learning 29, 1997, 131-163. :doi:`10.1023/A:1007465528199`
    .. [2] G. F. Cooper and E. Herskovits, "A Bayesian method for the induction of probabilistic
       networks from data", Machine Learning 9, 1992, 309-347. :doi:`10.1007/BF00994110`

    Examples
    --------
    >>> import pandas as pd
    >>> X = pd.DataFrame({"a": ["x", "x", "z", "z"] * 4, "b": ["x", "z", "x", "z"] * 4})
    >>> model = TreeAugmentedNaiveBayes().fit(X, ["same", "not", "not", "same"] * 4)
    >>> model.predict(pd.DataFrame({"a": ["z"], "b": ["x"]})).tolist()
    ['not']
    """

    parent_: Codes
    prior_: Floats
    tables_: Floats

    def _fit_encoded(self, encoded: Encoded) -> None:
        codes, offset = _codes(encoded.values, encoded.cardinality)
        (n, d), c = codes.shape, encoded.n_classes
        max_values = int(encoded.cardinality.max())
        self._modes, self.parent_ = np.empty(d, dtype=np.int64), np.empty(d, dtype=np.int64)
        self._start = np.empty(d + 1, dtype=np.int64)
        tables, self.prior_ = np.empty((int(offset[-1]) * max_values, c)), np.empty(c)
        cells = _FIT(
            codes, n, d, offset, encoded.y, c, gamma_table(n, max_values), self._modes,
            self.parent_, self._start, tables, self.prior_,
        )  # fmt: skip
        self.tables_ = tables[:cells].copy()
        self._cardinality = encoded.cardinality

    def _logs(self, values: Floats) -> Floats:
        """Return the log joint probabilities of every row; unknown codes (-1) take the modes."""
        codes, offset = _codes(values, self._cardinality)
        logs = np.empty((len(codes), len(self.prior_)))
        _ROWS(
            codes, *codes.shape, self._modes, offset, self.parent_, self._start, self.tables_,
            self.prior_, len(self.prior_), logs,
        )  # fmt: skip
        return logs

    def _predict_encoded(self, values: Floats) -> Codes:
        codes: Codes = self._logs(values).argmax(axis=1)
        return codes

    def _proba_encoded(self, values: Floats) -> Floats:
        logs = self._logs(values)
        joint = np.exp(logs - logs.max(axis=1, keepdims=True))
        shares: Floats = joint / joint.sum(axis=1, keepdims=True)
        return shares

    def complexity(self) -> int:
        """Return the table cells: c priors, and c times column values times parent values."""
        return len(self.classes_) * (1 + len(self.tables_))


def _codes(values: Floats, cardinality: Codes) -> tuple[npt.NDArray[np.int64], Codes]:
    """Return codes (-1 if unknown) and the offset of each column; refuse numeric columns."""
    if not cardinality.all():
        column = int(np.flatnonzero(cardinality == 0)[0])
        raise ArgumentError(
            f"The columns of X must be nominal (categories or text) for tan; got numbers in "
            f"column {column}. Cut them into categories, or use naive-bayes."
        )
    total, most = int(cardinality.sum()), int(cardinality.max())
    if total * most > MAX_PAIRS:
        raise ArgumentError(
            f"The columns of X have too many values for tan, which counts pairs of values: {total} "
            f"values, up to {most} in one column. Merge rare values, or use naive-bayes."
        )
    codes = np.where(np.isnan(values), -1.0, values).astype(np.int64)
    offset = np.concatenate(([0], np.cumsum(cardinality))).astype(np.int64)
    return np.ascontiguousarray(codes), offset


_GAMMAS = Kernel("tan_gammas", "i64 &f64")
_FIT = Kernel("tan_fit", "*i64 i64 i64 *i64 *i64 i64 *f64 &i64 &i64 &i64 &f64 &f64")
_ROWS = Kernel("tan_rows", "*i64 i64 i64 *i64 *i64 *i64 *i64 *f64 *f64 i64 &f64")


def gamma_table(n: int, max_values: int) -> Floats:
    """Return the log gamma function of m / 2 in cell m, as far as scores of n rows need it."""
    table = np.empty(2 * n + int(max_values) + 1)
    _GAMMAS(len(table), table)
    return table
