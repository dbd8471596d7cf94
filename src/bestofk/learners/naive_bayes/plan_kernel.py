"""Naive Bayes over all the splits of a plan: whole counts with the tested rows taken away."""
# mypy: allow-untyped-defs

from __future__ import annotations

from math import log10

import numpy as np
from numba import njit

from bestofk.learners.naive_bayes.split_kernel import (
    CLEARLY,
    FLOOR,
    add_counts,
    estimate,
    first_largest,
    fit_numeric,
    row_products,
)
from bestofk.learners.split_marks_kernel import group_by_mark


@njit(cache=True, nogil=True)
def never_small(n, n_labels, cardinality):
    """Whether no product of nominal factors can come near the floor, whatever the rows."""
    digits = log10(n + n_labels)
    for a in range(len(cardinality)):
        if cardinality[a] == 0:
            return False
        digits += log10(n + cardinality[a])
    return digits < -log10(FLOOR) - 1.0


@njit(cache=True, nogil=True)
def predict_two(places, rows, table, prior, predicted):
    """Two classes, nominal columns, no product near the floor: what row_products would choose."""
    d = places.shape[1]
    for at in range(len(rows)):
        row = rows[at]
        first = prior[0]
        second = prior[1]
        for a in range(d):
            place = places[row, a]
            first *= table[place, 0]
            second *= table[place, 1]
        if second > first * CLEARLY:
            predicted[row] = 1
        elif first >= second:
            predicted[row] = 0
        else:
            total = 0.0 + first + second
            predicted[row] = 1 if second / total > first / total else 0


@njit(cache=True, nogil=True)
def predict_nominal(values, places, cardinality, offset, y, n_labels, marks, wanted, n_marks):
    """Predictions (as `marks`) of all splits, all columns nominal."""
    n, d = places.shape
    counts = np.zeros((offset[d] + 1, n_labels), dtype=np.int64)
    class_counts = np.zeros(n_labels, dtype=np.int64)
    table = np.empty((offset[d] + 1, n_labels))
    prior = np.empty(n_labels)
    out = np.empty(n_labels)
    none = np.zeros(d)
    none_by_class = np.zeros((d, n_labels))
    predicted = np.zeros(marks.shape, dtype=np.int64)
    order = np.empty(n, dtype=np.int64)
    ends = np.empty(n_marks + 1, dtype=np.int64)
    fast = n_labels == 2 and never_small(n, n_labels, cardinality)
    add_counts(places, y, np.arange(n), 1, counts, class_counts)
    grouped = -1
    for s in range(len(wanted)):
        line, mark = wanted[s, 0], wanted[s, 1]
        if line != grouped:
            group_by_mark(marks[line], order, ends)
            grouped = line
        test = order[(ends[mark - 1] if mark > 0 else 0) : ends[mark]]
        add_counts(places, y, test, -1, counts, class_counts)
        estimate(counts, class_counts, cardinality, offset, table, prior)
        if fast and prior[0] > 0.0 and prior[1] > 0.0:
            predict_two(places, test, table, prior, predicted[line])
        else:
            for at in range(len(test)):
                row = test[at]
                row_products(
                    values[row], places[row], table, prior, none, none_by_class,
                    none_by_class, out,
                )  # fmt: skip
                predicted[line, row] = first_largest(out, prior)
        add_counts(places, y, test, 1, counts, class_counts)
    return predicted


@njit(cache=True, nogil=True)
def predict_mixed(
    values, columns, places, cardinality, offset, y, n_labels, order, n_known, marks, wanted
):
    """Predictions (as `marks`) of all splits; numeric columns are summed anew for each split.

    `order` (d, n) holds the known rows of each numeric column by rising value.
    """
    n, d = places.shape
    counts = np.zeros((offset[d] + 1, n_labels), dtype=np.int64)
    class_counts = np.zeros(n_labels, dtype=np.int64)
    table = np.empty((offset[d] + 1, n_labels))
    prior = np.empty(n_labels)
    out = np.empty(n_labels)
    precision = np.zeros(d)
    mean = np.zeros((d, n_labels))
    deviation = np.zeros((d, n_labels))
    predicted = np.zeros(marks.shape, dtype=np.int64)
    train = np.empty(n, dtype=np.int64)
    test = np.empty(n, dtype=np.int64)
    kept = np.empty((d, n), dtype=np.int64)
    n_kept = np.zeros(d, dtype=np.int64)
    add_counts(places, y, np.arange(n), 1, counts, class_counts)
    for s in range(len(wanted)):
        line, mark = wanted[s, 0], wanted[s, 1]
        n_train = 0
        n_test = 0
        for row in range(n):
            if marks[line, row] == mark:
                test[n_test] = row
                n_test += 1
            else:
                train[n_train] = row
                n_train += 1
        for a in range(d):
            n_kept[a] = 0
            for at in range(n_known[a]):
                row = order[a, at]
                kept[a, n_kept[a]] = row
                n_kept[a] += marks[line, row] != mark
        add_counts(places, y, test[:n_test], -1, counts, class_counts)
        estimate(counts, class_counts, cardinality, offset, table, prior)
        fit_numeric(
            columns, cardinality, y, train[:n_train], kept, n_kept, precision, mean, deviation
        )
        for at in range(n_test):
            row = test[at]
            row_products(
                values[row], places[row], table, prior, precision, mean, deviation,
                out,
            )  # fmt: skip
            predicted[line, row] = first_largest(out, prior)
        add_counts(places, y, test[:n_test], 1, counts, class_counts)
    return predicted
