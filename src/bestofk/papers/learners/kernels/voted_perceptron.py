"""Call the kernels of ``voted_perceptron.c``, on inputs that end with a constant 1."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bestofk._base.checks import Floats
from bestofk.data.schema import Codes
from bestofk.learners.kernels.library import Kernel

_FILLING = Kernel("perceptron_filling", "*f64 i64 i64 *i64 *i64 i64 &f64")
_EXPAND = Kernel("perceptron_expand", "*f64 i64 i64 *i64 *f64 i64 &f64")
_FIT = Kernel("perceptron_fit", "*f64 i64 i64 *bool &i64 &f64 &i64")
_ROWS = Kernel("perceptron_rows", "*f64 *f64 *i64 i64 *f64 i64 i64 &i64")


def n_inputs(cardinality: Codes) -> int:
    """Return the number of inputs, including the constant 1."""
    return int(np.where((cardinality == 0) | (cardinality == 2), 1, cardinality).sum()) + 1


def find_filling(values: Floats, cardinality: Codes) -> Floats:
    """Return means of numeric columns and modes (first of ties) of nominal ones, 0 if unknown."""
    n, d = values.shape
    filling = np.empty(d)
    _FILLING(values, n, d, cardinality, np.arange(n), n, filling)
    return filling


def expand(values: Floats, cardinality: Codes, filling: Floats) -> Floats:
    """Return numbers, 0/1 for two values, 1-of-n for other nominals, then a 1; fill unknowns."""
    values = np.ascontiguousarray(values, dtype=np.float64)
    inputs = np.empty((len(values), n_inputs(cardinality)))
    _EXPAND(values, *values.shape, cardinality, filling, inputs.shape[1], inputs)
    return inputs


def train(inputs: Floats, second: npt.NDArray[np.bool_]) -> tuple[Codes, Floats, Codes]:
    """Make one pass over the rows; return misclassified rows, their signs and vector votes."""
    n = len(inputs)
    mistakes, votes = np.empty(n, dtype=np.int64), np.empty(n + 1, dtype=np.int64)
    signs = np.empty(n)
    k = _FIT(inputs, *inputs.shape, second, mistakes, signs, votes)
    return mistakes[:k], signs[:k].copy(), votes[: k + 1].copy()


def predict_rows(vectors: Floats, signs: Floats, votes: Codes, inputs: Floats) -> Codes:
    """Return the code (0 or 1) of every row of `inputs`; `vectors` are the misclassified rows."""
    codes = np.empty(len(inputs), dtype=np.int64)
    _ROWS(vectors, signs, votes, len(signs), inputs, *inputs.shape, codes)
    return codes
