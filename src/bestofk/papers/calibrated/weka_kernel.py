"""Call the kernels of ``weka_learners.c``: errors by fold on the rows of a run."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bestofk._base.checks import Floats
from bestofk.data.schema import Codes
from bestofk.learners.kernels.library import Kernel
from bestofk.papers.learners.kernels.tan import gamma_table

_NEIGHBOUR = Kernel("weka_first_neighbour", "*i64 *i64 i64 i64 *i64 i64 &i64")
_PERCEPTRON = Kernel("weka_perceptron", "*f64 *bool i64 i64 *i64 i64 i64 &i64")
_NETWORK = Kernel("weka_network", "*i64 *i64 *i64 i64 i64 i64 *f64 *i64 i64 &i64")


def first_neighbour_errors(codes: Codes, y: Codes, folds: Codes, n_folds: int) -> Codes:
    """Count the errors of predicting the class of the first nearest training row."""
    wrong = np.empty(n_folds, dtype=np.int64)
    _NEIGHBOUR(codes, y, *codes.shape, folds, n_folds, wrong)
    return wrong


def voted_perceptron_errors(
    inputs: Floats, second: npt.NDArray[np.bool_], folds: Codes, n_folds: int, seed: int
) -> Codes:
    """Count the errors of the voted perceptron on training rows shuffled with one seed."""
    wrong = np.empty(n_folds, dtype=np.int64)
    _PERCEPTRON(inputs, second, *inputs.shape, folds, n_folds, seed, wrong)
    return wrong


def network_errors(
    codes: Codes, offset: Codes, y: Codes, n_classes: int, folds: Codes, n_folds: int
) -> Codes:
    """Count the errors of naive Bayes with arcs between columns.

    In each fold, the arc that raises the score most is added until none raises it.
    """
    n, d = codes.shape
    gammas = gamma_table(n, int(np.diff(offset).max()))
    wrong = np.empty(n_folds, dtype=np.int64)
    _NETWORK(codes, offset, y, n, d, n_classes, gammas, folds, n_folds, wrong)
    return wrong
