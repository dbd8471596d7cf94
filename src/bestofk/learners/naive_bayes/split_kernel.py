"""Naive Bayes on encoded rows: tables of nominal columns, grids and moments of numeric ones.

A nominal cell is a *place* in one long table (``offset[a] + code``); an unknown cell has the last
place, whose probability is 1 for every class. A numeric cell has the place -1.
"""
# mypy: allow-untyped-defs

from __future__ import annotations

from math import erf, erfc, isnan, sqrt

import numpy as np
from numba import njit

FLOOR = 1e-75
"""No factor is smaller, and products below it are multiplied by its inverse."""
LONE_PRECISION = 0.01
"""Precision of a column with one distinct value."""
NO_SPREAD = 1e-10
"""A standard deviation of no more says nothing of the scale."""
CLEARLY = 1.0 + 1e-12
"""Products this factor apart keep their order when they are normalised."""


@njit(cache=True, nogil=True)
def find_places(values, cardinality, offset):
    """The place of every cell, shape (n, d)."""
    n, d = values.shape
    places = np.empty((n, d), dtype=np.int32)
    for row in range(n):
        for a in range(d):
            if cardinality[a] == 0:
                places[row, a] = -1
            elif isnan(values[row, a]):
                places[row, a] = offset[d]
            else:
                places[row, a] = offset[a] + int(values[row, a])
    return places


@njit(cache=True, nogil=True)
def add_counts(places, y, rows, sign, counts, class_counts):
    """Add (or, with sign -1, take away) the rows to the counts (places + 1, classes)."""
    for at in range(len(rows)):
        row = rows[at]
        c = y[row]
        class_counts[c] += sign
        for a in range(places.shape[1]):
            if places[row, a] >= 0:
                counts[places[row, a], c] += sign


@njit(cache=True, nogil=True)
def estimate(counts, class_counts, cardinality, offset, table, prior):
    """Fill the table of probabilities and the prior; a class without rows gets the prior 0."""
    n_labels = len(class_counts)
    n = 0
    present = 0
    for c in range(n_labels):
        n += class_counts[c]
        if class_counts[c] > 0:
            present += 1
    for c in range(n_labels):
        prior[c] = (class_counts[c] + 1.0) / (n + present) if class_counts[c] > 0 else 0.0
    for a in range(len(cardinality)):
        v = cardinality[a]
        for c in range(n_labels):
            known = 0
            for place in range(offset[a], offset[a + 1]):
                known += counts[place, c]
            below = float(known + v)
            for place in range(offset[a], offset[a + 1]):
                table[place, c] = (counts[place, c] + 1.0) / below
    for c in range(n_labels):
        table[offset[len(cardinality)], c] = 1.0


@njit(cache=True, nogil=True)
def grid_of(column, order):
    """Precision of a numeric column: the mean gap between neighbouring distinct values."""
    gaps = 0.0
    distinct = 0
    for at in range(1, len(order)):
        step = column[order[at]] - column[order[at - 1]]
        if step > 0.0:
            gaps += step
            distinct += 1
    return gaps / distinct if distinct > 0 else LONE_PRECISION


@njit(cache=True, nogil=True)
def moments(column, y, rows, precision, mean, deviation, weight):
    """Fill mean and standard deviation by class of the values on the grid."""
    n_labels = len(mean)
    sums = np.zeros(n_labels)
    squares = np.zeros(n_labels)
    weight[:] = 0.0
    for at in range(len(rows)):
        value = column[rows[at]]
        if isnan(value):
            continue
        value = np.rint(value / precision) * precision
        c = y[rows[at]]
        sums[c] += value
        squares[c] += value * value
        weight[c] += 1.0
    for c in range(n_labels):
        mean[c] = 0.0
        deviation[c] = precision / 6.0
        if weight[c] > 0.0:
            mean[c] = sums[c] / weight[c]
            spread = sqrt(abs(squares[c] - mean[c] * sums[c]) / weight[c])
            if spread > NO_SPREAD:
                deviation[c] = max(precision / 6.0, spread)


@njit(cache=True, nogil=True)
def normal_cdf(z):
    """The normal distribution function; the lower tail keeps its digits, the upper goes to 1."""
    x = z * sqrt(0.5)
    if abs(x) < sqrt(0.5):
        return 0.5 + 0.5 * erf(x)
    tail = 0.5 * erfc(abs(x))
    return 1.0 - tail if x > 0.0 else tail


@njit(cache=True, nogil=True)
def interval_probability(value, precision, mean, deviation):
    """Mean density over the cell of the grid that the value falls in."""
    value = np.rint(value / precision) * precision
    lower = (value - mean - precision / 2.0) / deviation
    upper = (value - mean + precision / 2.0) / deviation
    return (normal_cdf(upper) - normal_cdf(lower)) / precision


@njit(cache=True, nogil=True)
def row_products(cells, places, table, prior, precision, mean, deviation, out):
    """Fill the normalised products of prior and factors, columns in order."""
    n_labels = len(prior)
    for c in range(n_labels):
        out[c] = prior[c]
    for a in range(len(places)):
        if places[a] < 0 and isnan(cells[a]):
            continue
        largest = 0.0
        for c in range(n_labels):
            if prior[c] == 0.0:
                continue
            if places[a] >= 0:
                factor = table[places[a], c]
            else:
                factor = interval_probability(cells[a], precision[a], mean[a, c], deviation[a, c])
            out[c] *= max(factor, FLOOR)
            largest = max(largest, out[c])
        if 0.0 < largest < FLOOR:
            for c in range(n_labels):
                out[c] *= 1.0 / FLOOR
    total = 0.0
    for c in range(n_labels):
        total += out[c]
    for c in range(n_labels):
        out[c] /= total


@njit(cache=True, nogil=True)
def first_largest(products, prior):
    """The first largest among the classes with a prior."""
    best = -1
    for c in range(len(products)):
        if prior[c] > 0.0 and (best < 0 or products[c] > products[best]):
            best = c
    return best


@njit(cache=True, nogil=True)
def fit_numeric(columns, cardinality, y, rows, order, n_known, precision, mean, deviation):
    """Fill precision (d,) and the moments (d, classes) of the numeric columns.

    `order` (d, n) holds the known training rows of each numeric column by rising value.
    """
    weight = np.zeros(mean.shape[1])
    for a in range(len(cardinality)):
        if cardinality[a] == 0:
            precision[a] = grid_of(columns[a], order[a, : n_known[a]])
            moments(columns[a], y, rows, precision[a], mean[a], deviation[a], weight)


@njit(cache=True, nogil=True)
def proba_rows(values, places, table, prior, precision, mean, deviation):
    """The normalised products of every row."""
    out = np.empty((len(values), len(prior)))
    for row in range(len(values)):
        row_products(
            values[row], places[row], table, prior, precision, mean, deviation,
            out[row],
        )  # fmt: skip
    return out
