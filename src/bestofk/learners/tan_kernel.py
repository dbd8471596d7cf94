"""Tree-augmented naive Bayes on nominal codes: counts of pairs, the tree, the tables.

`codes` (n, d) are complete. Counts of pairs lie in one table: cell
``[offset[i] + v, offset[j] + w, c]`` holds the rows of class c with value v of column i and w of
column j.
"""
# mypy: allow-untyped-defs

from __future__ import annotations

from math import lgamma, log

import numpy as np
from numba import njit

ALPHA = 0.5
"""What is added to each cell of a table."""


@njit(cache=True, nogil=True)
def add_pairs(codes, y, rows, sign, offset, pairs, class_counts):
    """Add (or, with sign -1, take away) the rows to the counts of pairs."""
    d = codes.shape[1]
    for at in range(len(rows)):
        row = rows[at]
        c = y[row]
        class_counts[c] += sign
        for i in range(d):
            place = offset[i] + codes[row, i]
            for j in range(d):
                pairs[place, offset[j] + codes[row, j], c] += sign


@njit(cache=True, nogil=True)
def gamma_table(n, most_values):
    """The log gamma function at the halves that scores of n rows need: cell m is that of m / 2."""
    table = np.zeros(2 * n + most_values + 1)
    for m in range(1, len(table)):
        table[m] = lgamma(m * ALPHA)
    return table


@njit(cache=True, nogil=True)
def alone_score(pairs, class_counts, offset, i, gammas):
    """Bayesian score of column i given the class."""
    v = offset[i + 1] - offset[i]
    score = 0.0
    for c in range(len(class_counts)):
        if class_counts[c] == 0:
            continue
        for place in range(offset[i], offset[i + 1]):
            score += gammas[2 * pairs[place, place, c] + 1]
        score -= gammas[2 * class_counts[c] + v]
        score -= v * gammas[1]
        score += gammas[v]
    return score


@njit(cache=True, nogil=True)
def pair_score(pairs, class_counts, offset, i, j, gammas):
    """Bayesian score of column i given the class and column j."""
    v = offset[i + 1] - offset[i]
    score = 0.0
    for c in range(len(class_counts)):
        if class_counts[c] == 0:
            continue
        for other in range(offset[j], offset[j + 1]):
            for place in range(offset[i], offset[i + 1]):
                score += gammas[2 * pairs[place, other, c] + 1]
            score -= gammas[2 * pairs[other, other, c] + v]
            score -= v * gammas[1]
            score += gammas[v]
    return score


@njit(cache=True, nogil=True)
def arc_gains(pairs, class_counts, offset, gammas):
    """What column j as another parent adds to the score of column i, at (i, j)."""
    d = len(offset) - 1
    gains = np.zeros((d, d))
    for i in range(d):
        alone = alone_score(pairs, class_counts, offset, i, gammas)
        for j in range(d):
            if i != j:
                gains[i, j] = pair_score(pairs, class_counts, offset, i, j, gammas) - alone
    return gains


@njit(cache=True, nogil=True)
def find_parents(pairs, class_counts, offset, gammas):
    """The other parent of each column, -1 for the one that has only the class."""
    d = len(offset) - 1
    scores = arc_gains(pairs, class_counts, offset, gammas)
    parent = np.full(d, -1, dtype=np.int64)
    linked = np.zeros(d, dtype=np.bool_)
    for link in range(d - 1):
        best_i = -1
        best_j = -1
        for i in range(d):
            for j in range(d):
                if i == j or (link > 0 and linked[i] == linked[j]):
                    continue
                if best_i < 0 or scores[i, j] > scores[best_i, best_j]:
                    best_i, best_j = i, j
        linked[best_i] = True
        linked[best_j] = True
        if parent[best_j] < 0:
            parent[best_j] = best_i
        else:
            parent[best_i] = best_j
    return parent


@njit(cache=True, nogil=True)
def first_place(offset, parent, start):
    """Fill `start`: where the log table of each column begins; the last cell is the size."""
    at = 0
    for i in range(len(parent)):
        start[i] = at
        v = offset[i + 1] - offset[i]
        w = 1 if parent[i] < 0 else offset[parent[i] + 1] - offset[parent[i]]
        at += v * w
    start[len(parent)] = at


@njit(cache=True, nogil=True)
def log_tables(pairs, class_counts, offset, parent, start, tables, prior):
    """Fill logs of P(value | class, value of the parent) and of P(class)."""
    n_labels = len(class_counts)
    n = 0
    present = 0
    for c in range(n_labels):
        n += class_counts[c]
        if class_counts[c] > 0:
            present += 1
    for c in range(n_labels):
        prior[c] = -np.inf
        if class_counts[c] > 0:
            prior[c] = log((class_counts[c] + ALPHA) / (n + ALPHA * present))
    for i in range(len(parent)):
        v = offset[i + 1] - offset[i]
        j = parent[i]
        w = 1 if j < 0 else offset[j + 1] - offset[j]
        for c in range(n_labels):
            for other in range(w):
                known = class_counts[c]
                if j >= 0:
                    known = pairs[offset[j] + other, offset[j] + other, c]
                below = known + ALPHA * v
                for value in range(v):
                    place = offset[i] + value
                    count = pairs[place, place if j < 0 else offset[j] + other, c]
                    tables[start[i] + other * v + value, c] = log((count + ALPHA) / below)


@njit(cache=True, nogil=True)
def row_logs(codes, offset, parent, start, tables, prior, out):
    """Fill the log of the joint probability by class."""
    out[:] = 0.0
    for i in range(len(parent)):
        place = start[i] + codes[i]
        if parent[i] >= 0:
            place += codes[parent[i]] * (offset[i + 1] - offset[i])
        for c in range(len(prior)):
            out[c] += tables[place, c]
    for c in range(len(prior)):
        out[c] += prior[c]


@njit(cache=True, nogil=True)
def log_rows(codes, offset, parent, start, tables, prior):
    """Log joint probabilities of every row."""
    out = np.empty((len(codes), len(prior)))
    for row in range(len(codes)):
        row_logs(codes[row], offset, parent, start, tables, prior, out[row])
    return out


@njit(cache=True, nogil=True)
def modes(codes, rows, offset):
    """The most frequent known value of each column, the first of ties."""
    d = codes.shape[1]
    counts = np.zeros(offset[d], dtype=np.int64)
    for at in range(len(rows)):
        for a in range(d):
            if codes[rows[at], a] >= 0:
                counts[offset[a] + codes[rows[at], a]] += 1
    mode = np.zeros(d, dtype=np.int64)
    for a in range(d):
        mode[a] = np.argmax(counts[offset[a] : offset[a + 1]])
    return mode


@njit(cache=True, nogil=True)
def fill(codes, mode):
    """The codes with unknown ones (-1) replaced by the modes."""
    filled = codes.copy()
    for row in range(codes.shape[0]):
        for a in range(codes.shape[1]):
            if filled[row, a] < 0:
                filled[row, a] = mode[a]
    return filled


@njit(cache=True, nogil=True)
def predict_splits(codes, offset, y, n_labels, gammas, marks, wanted):
    """Predictions (as `marks`) of all splits, each equal to its own fit and predict."""
    n, d = codes.shape
    incomplete = False
    for row in range(n):
        for a in range(d):
            incomplete |= codes[row, a] < 0
    everything = np.arange(n)
    pairs = np.zeros((offset[d], offset[d], n_labels), dtype=np.int64)
    class_counts = np.zeros(n_labels, dtype=np.int64)
    predicted = np.zeros(marks.shape, dtype=np.int64)
    start = np.zeros(d + 1, dtype=np.int64)
    prior = np.empty(n_labels)
    out = np.empty(n_labels)
    filled = codes
    if not incomplete:
        add_pairs(codes, y, everything, 1, offset, pairs, class_counts)
    for s in range(len(wanted)):
        line, mark = wanted[s, 0], wanted[s, 1]
        test = everything[marks[line] == mark]
        if incomplete:
            train = everything[marks[line] != mark]
            filled = fill(codes, modes(codes, train, offset))
            pairs[:] = 0
            class_counts[:] = 0
            add_pairs(filled, y, train, 1, offset, pairs, class_counts)
        else:
            add_pairs(codes, y, test, -1, offset, pairs, class_counts)
        parent = find_parents(pairs, class_counts, offset, gammas)
        first_place(offset, parent, start)
        tables = np.empty((start[d], n_labels))
        log_tables(pairs, class_counts, offset, parent, start, tables, prior)
        for at in range(len(test)):
            row_logs(filled[test[at]], offset, parent, start, tables, prior, out)
            predicted[line, test[at]] = np.argmax(out)
        if not incomplete:
            add_pairs(codes, y, test, 1, offset, pairs, class_counts)
    return predicted
