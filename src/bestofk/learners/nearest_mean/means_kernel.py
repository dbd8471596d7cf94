"""The compiled part of the nearest mean: exact class sums and counts, and the nearest class."""
# mypy: allow-untyped-defs

from __future__ import annotations

import math

import numpy as np
from numba import njit

from bestofk.learners.nearest_mean.exact_sums_kernel import rounded_sum

RUNS_AT_ONCE = 16
BATCH_BYTES = 1 << 20
BLOCK_BYTES = 1 << 17
EPS = 2.0**-52


@njit(cache=True, nogil=True)
def add_rows(start, stop, fold, last, y, digits, known, codes, offset, sums, knowns, counts, rows):
    """Add the rows whose fold is not `last` to the sums, counts and sizes of their fold."""
    d, e, v = digits.shape[1], known.shape[1], codes.shape[1]
    for i in range(start, stop):
        f = fold[i]
        if f == last:
            continue
        k = y[i]
        rows[f, k] += 1
        for j in range(d):
            sums[f, k, j] += digits[i, j]
        for j in range(e):
            knowns[f, k, j] += known[i, j]
        for j in range(v):
            if codes[i, j] >= 0:
                counts[f, k, offset[j] + codes[i, j]] += 1


@njit(cache=True, nogil=True)
def summarise(sums, knowns, counts, rows, first, low, width, with_missing, offset, means, modes):
    """Class means, shape (c, d), and modes, shape (c, v).

    A class without a known value of a column takes the mean or mode of all rows. Where no row has
    a known value, all means of the column are NaN and all its modes -1. A class without rows has
    numbers that mean nothing.
    """
    c, d, v = means.shape[0], means.shape[1], modes.shape[1]
    overall = np.zeros(first[d], dtype=np.int64)
    for j in range(d):
        size = first[j + 1] - first[j]
        everyone, lacking = 0, False
        for k in range(c):
            known = knowns[k, j] if with_missing else rows[k]
            everyone += known
            if known > 0:
                means[k, j] = rounded_sum(sums[k], first[j], size, low[j], width) / known
            else:
                lacking = True
        if not lacking:
            continue
        centre = np.nan
        if everyone > 0:
            for limb in range(first[j], first[j + 1]):
                overall[limb] = 0
                for k in range(c):
                    overall[limb] += sums[k, limb]
            centre = rounded_sum(overall, first[j], size, low[j], width) / everyone
        for k in range(c):
            if (knowns[k, j] if with_missing else rows[k]) == 0:
                means[k, j] = centre
    for j in range(v):
        lacking = False
        for k in range(c):
            most, mode = 0, -1
            for value in range(offset[j], offset[j + 1]):
                if counts[k, value] > most:
                    most, mode = counts[k, value], value - offset[j]
            modes[k, j] = mode
            lacking |= mode < 0
        if not lacking:
            continue
        most, centre_code = 0, -1
        for value in range(offset[j], offset[j + 1]):
            together = 0
            for k in range(c):
                together += counts[k, value]
            if together > most:
                most, centre_code = together, value - offset[j]
        for k in range(c):
            if modes[k, j] < 0:
                modes[k, j] = centre_code


@njit(cache=True, nogil=True)
def training_scale(numbers, fold, left_out, kind, scale):
    """1 / scale of each numeric column over the rows whose fold is not `left_out`.

    `kind` 1 is the standard deviation (with n), 2 the range; a column without spread has 1.
    """
    n, d = numbers.shape
    for j in range(d):
        size, total = 0, 0.0
        smallest, largest = np.inf, -np.inf
        for i in range(n):
            x = numbers[i, j]
            if fold[i] != left_out and x == x:
                size += 1
                total += x
                smallest = min(smallest, x)
                largest = max(largest, x)
        spread = 0.0
        if size and largest > smallest:
            if kind == 2:
                spread = largest - smallest
            else:
                centre = total / size
                squares = 0.0
                for i in range(n):
                    x = numbers[i, j]
                    if fold[i] != left_out and x == x:
                        squares += (x - centre) * (x - centre)
                spread = math.sqrt(squares / size)
        scale[j] = 1.0 / spread if spread > 0.0 else 1.0


@njit(cache=True, nogil=True)
def exactly_nearest(numbers, codes, i, means, modes, rows, scale, m):
    """The definition: squared differences added in column order, then the mismatches."""
    best, winner = np.inf, -1
    for k in range(rows.shape[1]):
        if rows[m, k] == 0:
            continue
        distance = 0.0
        for j in range(numbers.shape[1]):
            t = (numbers[i, j] - means[m, k, j]) * scale[m, j]
            if t == t:
                distance += t * t
        count = 0
        for j in range(codes.shape[1]):
            code, mode = codes[i, j], modes[m, k, j]
            count += (code >= 0) & (mode >= 0) & (code != mode)
        distance += count
        if distance < best or winner < 0:
            best, winner = distance, k
    return winner


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def quick_distances(numbers, codes, i, means, modes, scale, scaled, m, distances):
    """The distances with the squares added in whatever order is fastest; NaN for missing cells."""
    d, v = numbers.shape[1], codes.shape[1]
    for k in range(distances.shape[0]):
        count = np.int32(0)
        for j in range(v):
            code, mode = codes[i, j], modes[m, k, j]
            count += np.int32((code >= 0) & (mode >= 0) & (code != mode))
        squares = 0.0
        if scaled:
            for j in range(d):
                t = (numbers[i, j] - means[m, k, j]) * scale[m, j]
                squares += t * t
        else:
            for j in range(d):
                t = numbers[i, j] - means[m, k, j]
                squares += t * t
        distances[k] = squares + count


@njit(cache=True, nogil=True)
def nearest(numbers, codes, i, means, modes, rows, scale, scaled, m, distances):
    """The nearest class to row i by model m; the first of equally near ones.

    A sum of d squares is off by at most the relative (d + 4) eps whatever its order. Where the
    best two differ by more than that for both, the quick sums name the same class as the sums in
    column order; where not, those decide. Classes without training rows stay out.
    """
    quick_distances(numbers, codes, i, means, modes, scale, scaled, m, distances)
    best, second, winner = np.inf, np.inf, -1
    for k in range(distances.shape[0]):
        distance = distances[k]
        if rows[m, k] == 0:
            continue
        if not distance < np.inf:
            return exactly_nearest(numbers, codes, i, means, modes, rows, scale, m)
        if distance < best:
            best, second, winner = distance, best, k
        elif distance < second:
            second = distance
    d = numbers.shape[1]
    if d and second - best <= second * (4 * (d + 8) * EPS):
        return exactly_nearest(numbers, codes, i, means, modes, rows, scale, m)
    return winner


@njit(cache=True, nogil=True)
def predict_rows(numbers, codes, means, modes, rows, scale, scaled, predicted):
    """The nearest class of every row by the one model that is given."""
    distances = np.empty(rows.shape[1])
    for i in range(numbers.shape[0]):
        predicted[i] = nearest(numbers, codes, i, means, modes, rows, scale, scaled, 0, distances)


@njit(cache=True, nogil=True)
def outside(total, some, at, folds):
    """Sums of folds become sums of the rows outside them, from `at` on; the last is not known yet.

    Written out: expressions of whole arrays take seconds to compile.
    """
    for label in range(some.shape[1]):
        for j in range(some.shape[2]):
            rest = 0
            for m in range(at, at + folds - 1):
                rest += some[m, label, j]
                some[m, label, j] = total[0, label, j] - some[m, label, j]
            some[at + folds - 1, label, j] = rest


@njit(cache=True, nogil=True)
def predict_folds(
    numbers, digits, known, codes, offset, first, low, width, y, c, fold_of, folds, kind, predicted
):
    """Each row's prediction by the model of all rows outside its fold, for every run.

    `predicted`, shape (runs, n), holds the rows of fold 0, then those of fold 1, and so on; where
    each fold begins is returned. The sums of the last fold are the total less those of the
    others. Runs go in batches and rows in blocks, so that a block is read once for a batch.
    """
    runs, n = fold_of.shape
    d, e, v = numbers.shape[1], known.shape[1], codes.shape[1]
    limb, values, last = digits.shape[1], offset[v], folds - 1
    nowhere = np.zeros(n, dtype=fold_of.dtype)
    all_sums = np.zeros((1, c, limb), dtype=np.int64)
    all_knowns = np.zeros((1, c, e), dtype=np.int64)
    all_counts = np.zeros((1, c, values), dtype=np.int64)
    all_rows = np.zeros((1, c), dtype=np.int64)
    add_rows(
        0, n, nowhere, -1, y, digits, known, codes, offset,
        all_sums, all_knowns, all_counts, all_rows,
    )  # fmt: skip
    cell = folds * c * max(limb + e + values + d + v, 1) * 8
    batch = max(1, min(RUNS_AT_ONCE, BATCH_BYTES // cell))
    block = max(64, BLOCK_BYTES // (8 * max(limb, d, 1)))
    sums = np.empty((batch * folds, c, limb), dtype=np.int64)
    knowns = np.empty((batch * folds, c, e), dtype=np.int64)
    counts = np.empty((batch * folds, c, values), dtype=np.int64)
    rows = np.empty((batch * folds, c), dtype=np.int64)
    means = np.empty((batch * folds, c, d))
    modes = np.empty((batch * folds, c, v), dtype=np.int32)
    scale = np.ones((batch * folds, d))
    distances = np.empty(c)
    place = np.empty((runs, folds), dtype=np.int64)
    begins = np.zeros((runs, folds + 1), dtype=np.int64)
    for begin in range(0, runs, batch):
        end = min(begin + batch, runs)
        sums[:] = 0
        knowns[:] = 0
        counts[:] = 0
        rows[:] = 0
        for start in range(0, n, block):
            for run in range(begin, end):
                at = (run - begin) * folds
                add_rows(
                    start, min(start + block, n), fold_of[run], last, y, digits, known, codes,
                    offset, sums[at : at + folds], knowns[at : at + folds],
                    counts[at : at + folds], rows[at : at + folds],
                )  # fmt: skip
        for run in range(begin, end):
            at = (run - begin) * folds
            outside(all_sums, sums, at, folds)
            outside(all_knowns, knowns, at, folds)
            outside(all_counts, counts, at, folds)
            outside(all_rows.reshape(1, c, 1), rows.reshape(batch * folds, c, 1), at, folds)
            for f in range(folds):
                m = at + f
                place[run, f] = begins[run, f]
                begins[run, f + 1] = begins[run, f] + n
                for label in range(c):
                    begins[run, f + 1] -= rows[m, label]
                summarise(
                    sums[m], knowns[m], counts[m], rows[m], first, low, width, e > 0, offset,
                    means[m], modes[m],
                )  # fmt: skip
                if kind:
                    training_scale(numbers, fold_of[run], f, kind, scale[m])
        for start in range(0, n, block):
            for run in range(begin, end):
                at = (run - begin) * folds
                for i in range(start, min(start + block, n)):
                    f = fold_of[run, i]
                    predicted[run, place[run, f]] = nearest(
                        numbers, codes, i, means, modes, rows, scale, kind > 0, at + f, distances
                    )
                    place[run, f] += 1
    return begins
