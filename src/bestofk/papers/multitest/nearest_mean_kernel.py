"""The paper's nearest mean classifier (NMC), over many halves."""
# mypy: allow-untyped-defs

from __future__ import annotations

import numpy as np
from numba import njit

from bestofk.papers.multitest.filling_kernel import fill, scales, split_rows


@njit(cache=True, nogil=True, error_model="numpy")
def nearest_mean_errors(values, cardinality, whole, unknown, y, n_classes, marks, errors):
    """Count the errors of every half: `errors` (splits, 2) takes them.

    Class means of z-scores, class modes of nominal columns (the first of ties), squared distance,
    1 for another value. A class that no training row holds competes all the same, with zeros and
    the first values: a slip of the original that nursery and ecoli show.
    """
    n, d = values.shape
    train, test = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    filled = values.copy()
    fills, mean, deviation = np.empty(d), np.empty(d), np.empty(d)
    centres = np.empty((n_classes, d))
    sizes = np.empty(n_classes, dtype=np.int64)
    counts = np.empty((n_classes, max(1, cardinality.max())), dtype=np.int64)
    weight = np.empty(d)
    for s in range(marks.shape[0]):
        for fold in range(2):
            m = split_rows(marks[s], fold, train, test)
            rows = train[:m]
            if unknown:
                fill(values, cardinality, whole, rows, filled, fills)
            scales(filled, cardinality, rows, mean, deviation)
            sizes[:] = 0
            for r in range(m):
                sizes[y[rows[r]]] += 1
            for j in range(d):
                weight[j] = 1.0 / (deviation[j] * deviation[j])
                if cardinality[j] == 0:
                    centres[:, j] = 0.0
                    for r in range(m):
                        centres[y[rows[r]], j] += filled[rows[r], j] - mean[j]
                    for c in range(n_classes):
                        if sizes[c] > 0:
                            centres[c, j] /= sizes[c]
                        centres[c, j] += mean[j]
                else:
                    counts[:] = 0
                    for r in range(m):
                        counts[y[rows[r]], np.int64(filled[rows[r], j])] += 1
                    for c in range(n_classes):
                        centres[c, j] = np.argmax(counts[c])
            wrong = 0
            for r in range(n - m):
                i = test[r]
                best, choice = np.inf, 0
                for c in range(n_classes):
                    total = 0.0
                    for j in range(d):
                        difference = filled[i, j] - centres[c, j]
                        if cardinality[j] == 0:
                            total += difference * difference * weight[j]
                        elif difference != 0.0:
                            total += 1.0
                    if total < best:
                        best, choice = total, c
                wrong += choice != y[i]
            errors[s, fold] = wrong


@njit(cache=True, nogil=True)
def majority_errors(y, n_classes, marks, errors):
    """The same for MAX: the most frequent class of the training rows, the first of ties."""
    counts = np.empty((2, n_classes), dtype=np.int64)
    for s in range(marks.shape[0]):
        counts[:] = 0
        for i in range(y.size):
            counts[np.int64(marks[s, i]), y[i]] += 1
        for fold in range(2):
            choice = np.argmax(counts[1 - fold])
            errors[s, fold] = counts[fold].sum() - counts[fold, choice]
