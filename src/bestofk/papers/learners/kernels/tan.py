"""Call the kernels of ``tan.c``: tree-augmented naive Bayes on nominal codes."""

from __future__ import annotations

import numpy as np

from bestofk._base.checks import Floats
from bestofk.data.schema import Codes
from bestofk.learners.kernels.library import Kernel

_GAMMAS = Kernel("tan_gammas", "i64 &f64")
_FIT = Kernel("tan_fit", "*i64 i64 i64 *i64 *i64 i64 *f64 &i64 &i64 &i64 &f64 &f64")
_ROWS = Kernel("tan_rows", "*i64 i64 i64 *i64 *i64 *i64 *i64 *f64 *f64 i64 &f64")


def gamma_table(n: int, max_values: int) -> Floats:
    """Return the log gamma function of m / 2 in cell m, as far as scores of n rows need it."""
    table = np.empty(2 * n + int(max_values) + 1)
    _GAMMAS(len(table), table)
    return table


def fit(
    codes: Codes, offset: Codes, y: Codes, n_classes: int
) -> tuple[Codes, Codes, Codes, Floats, Floats]:
    """Return modes, parents, table starts, tables and prior (see `TreeAugmentedNaiveBayes`)."""
    n, d = codes.shape
    max_values = int(np.diff(offset).max())
    modes, parent = np.empty(d, dtype=np.int64), np.empty(d, dtype=np.int64)
    start = np.empty(d + 1, dtype=np.int64)
    tables, prior = np.empty((int(offset[-1]) * max_values, n_classes)), np.empty(n_classes)
    cells = _FIT(
        codes, n, d, offset, y, n_classes, gamma_table(n, max_values), modes, parent, start, tables,
        prior,
    )  # fmt: skip
    return modes, parent, start, tables[:cells].copy(), prior


def log_rows(
    codes: Codes,
    *,
    modes: Codes,
    offset: Codes,
    parent: Codes,
    start: Codes,
    tables: Floats,
    prior: Floats,
) -> Floats:
    """Return the log joint probabilities of every row; unknown codes (-1) take the modes."""
    logs = np.empty((len(codes), len(prior)))
    _ROWS(
        codes, *codes.shape, modes, offset, parent, start, tables, prior, len(prior), logs
    )  # fmt: skip
    return logs
