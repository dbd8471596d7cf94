"""The compiled part of the nearest mean: exact class sums and counts, and the nearest class."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

RUNS_AT_ONCE = 16
BLOCK_BYTES = 1 << 17


@njit(cache=True, nogil=True)
def rounded_sum(part, first, count, low, width):
    """The float nearest to ``sum(part[first + k] * 2**(low + k * width))`` over `count` limbs."""
    if count == 1:
        return math.ldexp(float(part[first]), low)
    limb = part[first : first + count].copy()
    mask = (np.int64(1) << width) - 1
    for attempt in range(2):
        for k in range(count - 1):
            carry = limb[k] >> width
            limb[k] &= mask
            limb[k + 1] += carry
        negative = limb[count - 1] < 0
        if attempt == 1 or not negative:
            break
        for k in range(count):
            limb[k] = -limb[k]
    flipped = attempt == 1
    top = count - 1
    while top > 0 and limb[top] == 0:
        top -= 1
    head = limb[top]
    bits = 0
    while bits < 62 and (head >> bits) != 0:
        bits += 1
    exponent = low + top * width
    rest = False
    for k in range(top - 1, -1, -1):
        take = min(width, 62 - bits)
        head = (head << take) | (limb[k] >> (width - take))
        if limb[k] & ((np.int64(1) << (width - take)) - 1):
            rest = True
        bits += take
        exponent -= take
    if rest:  # the last of the 62 bits is far below the 53 that are kept: it only breaks ties
        head |= 1
    value = math.ldexp(float(head), exponent)
    return -value if flipped else value


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
        total = sums[f, k]
        row = digits[i]
        for j in range(d):
            total[j] += row[j]
        if e:
            present = knowns[f, k]
            for j in range(e):
                present[j] += known[i, j]
        if v:
            tally = counts[f, k]
            for j in range(v):
                if codes[i, j] >= 0:
                    tally[offset[j] + codes[i, j]] += 1


@njit(cache=True, nogil=True)
def summarise(sums, knowns, counts, rows, first, low, width, with_missing, offset, means, modes):
    """Class means and modes; the overall ones for a class without a known value of a column.

    A column without any known value has the mean NaN and the mode -1.
    """
    c, d, v = means.shape[0], means.shape[1], modes.shape[1]
    overall = np.zeros(first[d], dtype=np.int64)
    for j in range(d):
        size = first[j + 1] - first[j]
        everyone = 0
        for k in range(c):
            known = knowns[k, j] if with_missing else rows[k]
            everyone += known
            if known > 0:
                means[k, j] = rounded_sum(sums[k], first[j], size, low[j], width) / known
            else:
                means[k, j] = np.nan
        if not with_missing:
            continue
        for k in range(c):
            if knowns[k, j] == 0 and everyone > 0:
                for limb in range(first[j], first[j + 1]):
                    overall[limb] = 0
                    for other in range(c):
                        overall[limb] += sums[other, limb]
                means[k, j] = rounded_sum(overall, first[j], size, low[j], width) / everyone
    for j in range(v):
        for k in range(c):
            most, mode = 0, -1
            for value in range(offset[j], offset[j + 1]):
                if counts[k, value] > most:
                    most, mode = counts[k, value], value - offset[j]
            modes[k, j] = mode
        missing = False
        for k in range(c):
            missing |= modes[k, j] < 0
        if missing:
            most, mode = 0, -1
            for value in range(offset[j], offset[j + 1]):
                together = 0
                for k in range(c):
                    together += counts[k, value]
                if together > most:
                    most, mode = together, value - offset[j]
            for k in range(c):
                if modes[k, j] < 0:
                    modes[k, j] = mode


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
def squared_distance(x, mean, scale, scaled):
    """Sum of the squared differences, missing cells skipped, as four interleaved partial sums."""
    d = x.shape[0]
    s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
    j = 0
    if scaled:
        while j < d:
            t = (x[j] - mean[j]) * scale[j]
            if t == t:
                s0 += t * t
            j += 1
        return s0
    while j + 3 < d:
        t0, t1 = x[j] - mean[j], x[j + 1] - mean[j + 1]
        t2, t3 = x[j + 2] - mean[j + 2], x[j + 3] - mean[j + 3]
        s0 += t0 * t0
        s1 += t1 * t1
        s2 += t2 * t2
        s3 += t3 * t3
        j += 4
    while j < d:
        t = x[j] - mean[j]
        s0 += t * t
        j += 1
    distance = (s0 + s1) + (s2 + s3)
    if distance == distance:
        return distance
    s0 = 0.0
    for j in range(d):
        t = x[j] - mean[j]
        if t == t:
            s0 += t * t
    return s0


@njit(cache=True, nogil=True)
def nearest(x, code, means, modes, rows, scale, scaled):
    """The nearest class that has training rows; the first of equally near ones."""
    best, winner = np.inf, -1
    for k in range(means.shape[0]):
        if rows[k] == 0:
            continue
        mode = modes[k]
        mismatches = 0
        for j in range(code.shape[0]):
            mismatches += (code[j] >= 0) & (mode[j] >= 0) & (code[j] != mode[j])
        distance = squared_distance(x, means[k], scale, scaled) + mismatches
        if distance < best or winner < 0:
            best, winner = distance, k
    return winner


@njit(cache=True, nogil=True)
def predict_rows(numbers, codes, means, modes, rows, scale, scaled, predicted):
    """The nearest class of every row."""
    for i in range(numbers.shape[0]):
        predicted[i] = nearest(numbers[i], codes[i], means, modes, rows, scale, scaled)


@njit(cache=True, nogil=True)
def predict_folds(
    numbers, digits, known, codes, offset, first, low, width, y, c, fold_of, folds, kind, predicted
):
    """Each row's prediction by the model of all rows outside its fold, for every run.

    The sums of the last fold are the total less those of the others. Runs go in batches and rows
    in blocks, so that a block is read once for a batch.
    """
    runs, n = fold_of.shape
    d, e, v = numbers.shape[1], known.shape[1], codes.shape[1]
    limb, values = digits.shape[1], offset[v]
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
    batch = max(1, min(RUNS_AT_ONCE, (1 << 20) // cell))
    block = max(64, BLOCK_BYTES // (8 * max(limb, d, 1)))
    sums = np.empty((batch, folds, c, limb), dtype=np.int64)
    knowns = np.empty((batch, folds, c, e), dtype=np.int64)
    counts = np.empty((batch, folds, c, values), dtype=np.int64)
    rows = np.empty((batch, folds, c), dtype=np.int64)
    means = np.empty((batch, folds, c, d))
    modes = np.empty((batch, folds, c, v), dtype=np.int64)
    scale = np.ones((batch, folds, d))
    for begin in range(0, runs, batch):
        end = min(begin + batch, runs)
        sums[:] = 0
        knowns[:] = 0
        counts[:] = 0
        rows[:] = 0
        for start in range(0, n, block):
            for run in range(begin, end):
                b = run - begin
                add_rows(
                    start, min(start + block, n), fold_of[run], folds - 1, y, digits, known,
                    codes, offset, sums[b], knowns[b], counts[b], rows[b],
                )  # fmt: skip
        for run in range(begin, end):
            b = run - begin
            last = folds - 1
            sums[b, last] = all_sums[0]
            knowns[b, last] = all_knowns[0]
            counts[b, last] = all_counts[0]
            rows[b, last] = all_rows[0]
            for f in range(last):
                sums[b, last] -= sums[b, f]
                knowns[b, last] -= knowns[b, f]
                counts[b, last] -= counts[b, f]
                rows[b, last] -= rows[b, f]
            for f in range(folds):
                sums[b, f] = all_sums[0] - sums[b, f]
                knowns[b, f] = all_knowns[0] - knowns[b, f]
                counts[b, f] = all_counts[0] - counts[b, f]
                rows[b, f] = all_rows[0] - rows[b, f]
                summarise(
                    sums[b, f], knowns[b, f], counts[b, f], rows[b, f], first, low, width,
                    e > 0, offset, means[b, f], modes[b, f],
                )  # fmt: skip
                if kind:
                    training_scale(numbers, fold_of[run], f, kind, scale[b, f])
        for start in range(0, n, block):
            for run in range(begin, end):
                b = run - begin
                for i in range(start, min(start + block, n)):
                    f = fold_of[run, i]
                    predicted[run, i] = nearest(
                        numbers[i], codes[i], means[b, f], modes[b, f], rows[b, f], scale[b, f],
                        kind > 0,
                    )  # fmt: skip
