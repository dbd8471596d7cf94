"""Errors by fold of the paper's learners on the rows of a run, in the order in which they come."""
# mypy: allow-untyped-defs

from __future__ import annotations

import numpy as np
from numba import njit

from bestofk.learners.tan_kernel import (
    add_pairs,
    arc_gains,
    first_place,
    log_tables,
    row_logs,
)
from bestofk.learners.voted_perceptron_kernel import is_second, train

_MASK = (1 << 48) - 1
_FACTOR = 0x5DEECE66D


@njit(cache=True, nogil=True)
def java_start(seed):
    """The state of Java's ``Random(seed)``."""
    return (seed ^ _FACTOR) & _MASK


@njit(cache=True, nogil=True)
def java_double(state):
    """Its next double in [0, 1), and the state after it."""
    state = (state * _FACTOR + 11) & _MASK
    high = state >> 22
    state = (state * _FACTOR + 11) & _MASK
    return ((high << 27) + (state >> 21)) / float(1 << 53), state


@njit(cache=True, nogil=True)
def java_shuffle(rows, seed):
    """Shuffle in place as Weka did at the time: every row, from the last, with one before it."""
    state = java_start(seed)
    for at in range(len(rows) - 1, 0, -1):
        share, state = java_double(state)
        other = int(share * at)
        rows[at], rows[other] = rows[other], rows[at]


@njit(cache=True, nogil=True)
def first_neighbour_errors(codes, y, folds, n_folds):
    """The class of the first of the nearest training rows."""
    n, d = codes.shape
    wrong = np.zeros(n_folds, dtype=np.int64)
    for row in range(n):
        least = d + 1
        nearest = -1
        for other in range(n):
            if folds[other] == folds[row]:
                continue
            mismatches = 0
            for a in range(d):
                mismatches += codes[row, a] != codes[other, a]
            if mismatches < least:
                least = mismatches
                nearest = other
                if least == 0:
                    break
        wrong[folds[row]] += y[nearest] != y[row]
    return wrong


@njit(cache=True, nogil=True)
def voted_perceptron_errors(inputs, second, folds, n_folds, seed):
    """The voted perceptron on training rows that are shuffled with the same seed in every fold."""
    n = len(second)
    everything = np.arange(n)
    mistakes = np.empty(n, dtype=np.int64)
    signs = np.empty(n)
    votes = np.empty(n + 1, dtype=np.int64)
    wrong = np.zeros(n_folds, dtype=np.int64)
    for fold in range(n_folds):
        rows = everything[folds != fold]
        java_shuffle(rows, seed)
        k = train(inputs, second, rows, mistakes, signs, votes)
        for row in everything[folds == fold]:
            vote = is_second(inputs, mistakes, signs, votes, k, inputs[row])
            wrong[fold] += vote != second[row]
    return wrong


@njit(cache=True, nogil=True)
def leads_to(parent, start, end):
    """Whether the way from `start` by parents comes by `end`."""
    while start >= 0:
        if start == end:
            return True
        start = parent[start]
    return False


@njit(cache=True, nogil=True)
def climb(pairs, class_counts, offset, gammas):
    """Parents besides the class, -1 for none: the arc that gains most, as long as one gains."""
    d = len(offset) - 1
    gains = arc_gains(pairs, class_counts, offset, gammas)
    parent = np.full(d, -1, dtype=np.int64)
    while True:
        most = 0.0
        child = -1
        best = -1
        for i in range(d):
            if parent[i] >= 0:
                continue
            for j in range(d):
                if gains[i, j] > most and not leads_to(parent, j, i):
                    most = gains[i, j]
                    child, best = i, j
        if child < 0:
            return parent
        parent[child] = best


@njit(cache=True, nogil=True)
def network_errors(codes, offset, y, n_labels, gammas, folds, n_folds):
    """Naive Bayes with the arcs of `climb`."""
    n, d = codes.shape
    everything = np.arange(n)
    pairs = np.zeros((offset[d], offset[d], n_labels), dtype=np.int64)
    class_counts = np.zeros(n_labels, dtype=np.int64)
    start = np.zeros(d + 1, dtype=np.int64)
    prior = np.empty(n_labels)
    logs = np.empty(n_labels)
    wrong = np.zeros(n_folds, dtype=np.int64)
    add_pairs(codes, y, everything, 1, offset, pairs, class_counts)
    for fold in range(n_folds):
        test = everything[folds == fold]
        add_pairs(codes, y, test, -1, offset, pairs, class_counts)
        parent = climb(pairs, class_counts, offset, gammas)
        first_place(offset, parent, start)
        tables = np.empty((start[d], n_labels))
        log_tables(pairs, class_counts, offset, parent, start, tables, prior)
        for row in test:
            row_logs(codes[row], offset, parent, start, tables, prior, logs)
            wrong[fold] += np.argmax(logs) != y[row]
        add_pairs(codes, y, test, 1, offset, pairs, class_counts)
    return wrong
