"""The voted perceptron on inputs that end with a constant 1."""
# mypy: allow-untyped-defs

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def expand(values, cardinality, filling, n_inputs):
    """Inputs (n, n_inputs): numbers, 0/1 for two values, 1-of-n for other nominals, then a 1.

    `filling` (d,) replaces unknown cells.
    """
    n, d = values.shape
    inputs = np.zeros((n, n_inputs))
    for row in range(n):
        at = 0
        for a in range(d):
            cell = values[row, a]
            if np.isnan(cell):
                cell = filling[a]
            if cardinality[a] == 0 or cardinality[a] == 2:
                inputs[row, at] = cell
                at += 1
            else:
                inputs[row, at + int(cell)] = 1.0
                at += cardinality[a]
        inputs[row, at] = 1.0
    return inputs


@njit(cache=True, nogil=True)
def find_filling(values, cardinality, rows):
    """Means of the numeric columns, modes (first of ties) of the nominal ones, 0 if unknown."""
    d = values.shape[1]
    filling = np.zeros(d)
    for a in range(d):
        if cardinality[a] == 0:
            total = 0.0
            known = 0
            for at in range(len(rows)):
                if not np.isnan(values[rows[at], a]):
                    total += values[rows[at], a]
                    known += 1
            if known > 0:
                filling[a] = total / known
        else:
            counts = np.zeros(cardinality[a], dtype=np.int64)
            for at in range(len(rows)):
                if not np.isnan(values[rows[at], a]):
                    counts[int(values[rows[at], a])] += 1
            filling[a] = np.argmax(counts)
    return filling


@njit(cache=True, nogil=True)
def dot(a, b):
    """Sum of products, in order."""
    total = 0.0
    for at in range(len(a)):
        total += a[at] * b[at]
    return total


@njit(cache=True, nogil=True)
def train(inputs, second, rows, mistakes, signs, votes):
    """One pass over the rows in their order; how many mistakes.

    Mistake k was row ``mistakes[k]``, pushed by ``signs[k]`` into vector k + 1, which had
    ``votes[k + 1]`` votes; vector 0 is zero.
    """
    vector = np.zeros(inputs.shape[1])
    k = 0
    votes[0] = 0
    for at in range(len(rows)):
        row = rows[at]
        if (dot(vector, inputs[row]) >= 0.0) == second[row]:
            votes[k] += 1
        else:
            sign = 1.0 if second[row] else -1.0
            mistakes[k] = row
            signs[k] = sign
            for at_input in range(len(vector)):
                vector[at_input] += sign * inputs[row, at_input]
            k += 1
            votes[k] = 1
    return k


@njit(cache=True, nogil=True)
def is_second(inputs, mistakes, signs, votes, k, cells):
    """Whether the votes for the second class are more than half."""
    score = 0.0
    total = votes[0]
    for m in range(k):
        score += signs[m] * dot(inputs[mistakes[m]], cells)
        if score >= 0.0:
            total += votes[m + 1]
        else:
            total -= votes[m + 1]
    return total > 0


@njit(cache=True, nogil=True)
def is_second_by_products(products, mistakes, signs, votes, k):
    """The same from the dot products of the row with all rows."""
    score = 0.0
    total = votes[0]
    for m in range(k):
        score += signs[m] * products[mistakes[m]]
        if score >= 0.0:
            total += votes[m + 1]
        else:
            total -= votes[m + 1]
    return total > 0


@njit(cache=True, nogil=True)
def predict_rows(vectors, signs, votes, inputs):
    """The code (0 or 1) of every row of `inputs`; `vectors` are the rows of the mistakes."""
    k = len(signs)
    codes = np.zeros(len(inputs), dtype=np.int64)
    mistakes = np.arange(k)
    for row in range(len(inputs)):
        codes[row] = is_second(vectors, mistakes, signs, votes, k, inputs[row])
    return codes


@njit(cache=True, nogil=True)
def predict_splits(
    values, cardinality, n_inputs, y, n_labels, marks, wanted, complete, with_products
):
    """Predictions (as `marks`) of all splits; the split that holds a third class, or -1.

    With `with_products` the dot products of all pairs of rows are computed once.
    """
    n = len(y)
    everything = np.arange(n)
    predicted = np.zeros(marks.shape, dtype=np.int64)
    inputs = expand(values, cardinality, find_filling(values, cardinality, everything), n_inputs)
    products = np.zeros((n, n) if with_products else (1, 1))
    if with_products:
        for i in range(n):
            for j in range(i + 1):
                products[i, j] = dot(inputs[j], inputs[i])
                products[j, i] = products[i, j]
    second = np.zeros(n, dtype=np.bool_)
    mistakes = np.empty(n, dtype=np.int64)
    signs = np.empty(n)
    votes = np.empty(n + 1, dtype=np.int64)
    counts = np.zeros(n_labels, dtype=np.int64)
    for s in range(len(wanted)):
        line, mark = wanted[s, 0], wanted[s, 1]
        rows = everything[marks[line] != mark]
        counts[:] = 0
        for at in range(len(rows)):
            counts[y[rows[at]]] += 1
        present = np.flatnonzero(counts)
        if len(present) > 2:
            return predicted, s
        if not complete:
            filling = find_filling(values, cardinality, rows)
            inputs = expand(values, cardinality, filling, n_inputs)
        for row in range(n):
            second[row] = y[row] == present[-1]
        k = train(inputs, second, rows, mistakes, signs, votes)
        for row in range(n):
            if marks[line, row] != mark:
                continue
            if len(present) == 1:
                vote = False
            elif complete and with_products:
                vote = is_second_by_products(products[row], mistakes, signs, votes, k)
            else:
                vote = is_second(inputs, mistakes, signs, votes, k, inputs[row])
            predicted[line, row] = present[1] if vote else present[0]
    return predicted, -1
