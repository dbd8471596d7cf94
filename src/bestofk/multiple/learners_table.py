"""The table of K learners at the border of this room, and sums of squares whose zeros are zeros."""

from __future__ import annotations

from typing import Any

import numpy as np

from bestofk.checks import Floats, finite_array
from bestofk.errors import ArgumentError

_ROUNDING = 8.0 * float(np.finfo(np.float64).eps)


def learners_by_columns(value: Any, where: str, *, columns: str, batch: bool) -> Floats:
    """`value` as finite floats of shape (K, columns), or (..., K, columns) for a batch."""
    table = finite_array(value, where, min_ndim=2)
    wanted = f"(..., K learners, {columns})" if batch else f"(K learners, {columns})"
    if not batch and table.ndim != 2:
        raise ArgumentError(f"{where} must have shape {wanted}; got shape {table.shape}.")
    if table.shape[-2] < 2 or table.shape[-1] < 2:
        raise ArgumentError(
            f"{where} must have shape {wanted} with at least 2 learners and 2 {columns}; "
            f"got shape {table.shape}."
        )
    return table


def zero_one(value: Any, where: str, *, batch: bool) -> Floats:
    """`value` as an array of 0.0 and 1.0 of shape (K, instances), or with leading axes."""
    table = learners_by_columns(value, where, columns="instances", batch=batch)
    if not ((table == 0.0) | (table == 1.0)).all():
        outside = table[(table != 0.0) & (table != 1.0)][0]
        raise ArgumentError(
            f"{where} must hold 1 for a right and 0 for a wrong answer; got {outside}."
        )
    return table


def exponent(table: Floats) -> Any:
    """The power of two that brings the table into (-1, 1], exactly: no square under- or overflows.

    Its shape is (..., 1, 1), 0 for a table of zeros.
    """
    return np.frexp(np.abs(table).max(axis=(-2, -1), keepdims=True))[1]


def sum_of_squares(deviations: Floats) -> Any:
    """Sum over the last two axes; exactly 0 where only rounding is left.

    The table was brought into (-1, 1] before, so that a deviation is known to a few units in
    the sixteenth digit and what is below that is none.
    """
    squares = np.square(deviations).sum(axis=(-2, -1))
    floor = deviations.shape[-2] * deviations.shape[-1] * _ROUNDING**2
    return np.where(squares <= floor, 0.0, squares)


def centred(table: Floats, axis: int | tuple[int, int]) -> Floats:
    """`table` less its mean over `axis`; the first entry goes first, so that equals give 0."""
    axes = (axis,) if isinstance(axis, int) else axis
    first = table[
        tuple(slice(0, 1) if a - table.ndim in axes else slice(None) for a in range(table.ndim))
    ]
    shifted: Floats = table - first
    shifted -= shifted.mean(axis=axis, keepdims=True)
    return shifted


def ratio(numerator: Any, denominator: Any) -> Any:
    """Elementwise quotient of sums of squares: 0/0 is 0, x/0 is infinite."""
    top, bottom = np.asarray(numerator, np.float64), np.asarray(denominator, np.float64)
    top, bottom = np.broadcast_arrays(top, bottom)
    return np.divide(top, bottom, out=np.where(top > 0.0, np.inf, 0.0), where=bottom > 0.0)


def studentized(difference: Any, standard_error: Any) -> Any:
    """Differences of means of a table in (-1, 1] over their standard error.

    Without any error, a difference that is not above rounding is none.
    """
    size = np.abs(np.asarray(difference, np.float64))
    size = np.where((np.asarray(standard_error) == 0.0) & (size <= _ROUNDING), 0.0, size)
    return ratio(size, standard_error)


def read_only(array: Any) -> Any:
    """`array` closed to writing, for the field of a result."""
    closed = np.asarray(array).view()
    closed.flags.writeable = False
    return closed
