"""The paper's logistic classifier (LGC), over many halves: 50 steps down the gradient.

It does not converge, and that is why an ordinary logistic regression gives other figures. Rows
are kept in blocks, column by column, in single precision, so that every loop runs over
neighbouring rows. With two classes only the difference of the two weight vectors moves; it is
followed alone.
"""
# mypy: allow-untyped-defs

from __future__ import annotations

import numpy as np
from numba import njit

from bestofk.papers.multitest.exponential_kernel import exp_of_negative
from bestofk.papers.multitest.filling_kernel import fill, split_rows

STEPS = 50
DECAY = 0.95
SPREAD = 0.01
_BLOCK = 256
_FAST = {"contract", "reassoc", "nsz", "arcp"}


@njit(cache=True, nogil=True)
def _standardised(filled, cardinality, rows, mean, deviation, out, blocks_of):
    """z-scores of the columns, nominal ones 1-of-n, in blocks (blocks, p, _BLOCK)."""
    m = rows.size
    p = 0
    for j in range(filled.shape[1]):
        if cardinality[j] == 0:
            a, b = mean[p], 1.0 / deviation[p]
            for r in range(m):
                out[r // _BLOCK, p, r % _BLOCK] = np.float32((filled[rows[r], j] - a) * b)
            p += 1
        else:
            for v in range(cardinality[j]):
                low = np.float32(-mean[p + v] / deviation[p + v])
                out[:blocks_of, p + v, :] = low
            for r in range(m):
                held = p + np.int64(filled[rows[r], j])
                up = np.float32((1.0 - mean[held]) / deviation[held])
                out[r // _BLOCK, held, r % _BLOCK] = up
            p += cardinality[j]


@njit(cache=True, nogil=True, error_model="numpy")
def _scales(filled, cardinality, rows, mean, deviation):
    """Means and deviations (n - 1) of numbers and indicators; 1 where a column is constant."""
    m = rows.size
    p = 0
    for j in range(filled.shape[1]):
        if cardinality[j] == 0:
            total = 0.0
            for r in range(m):
                total += filled[rows[r], j]
            mean[p] = total / m
            squares = 0.0
            constant = True
            for r in range(m):
                value = filled[rows[r], j]
                constant &= value == filled[rows[0], j]
                squares += (value - mean[p]) * (value - mean[p])
            deviation[p] = 1.0 if constant else np.sqrt(squares / (m - 1))
            p += 1
        else:
            size = cardinality[j]
            mean[p : p + size] = 0.0
            for r in range(m):
                mean[p + np.int64(filled[rows[r], j])] += 1.0
            for v in range(p, p + size):
                count = mean[v]
                mean[v] = count / m
                spread = count * (m - count) / m / (m - 1)
                deviation[v] = np.sqrt(spread) if spread > 0.0 else 1.0
            p += size


@njit(cache=True, nogil=True, error_model="numpy", fastmath=_FAST)
def _outputs(X, b, m, W, bias, Z):
    """Weighted sums of the rows of block `b`, class by class."""
    p = X.shape[1]
    for k in range(W.shape[0]):
        start = bias[k]
        for i in range(m):
            Z[k, i] = start
        j = 0
        while j + 4 <= p:
            w0, w1, w2, w3 = W[k, j], W[k, j + 1], W[k, j + 2], W[k, j + 3]
            for i in range(m):
                Z[k, i] += (w0 * X[b, j, i] + w1 * X[b, j + 1, i]) + (
                    w2 * X[b, j + 2, i] + w3 * X[b, j + 3, i]
                )
            j += 4
        while j < p:
            w0 = W[k, j]
            for i in range(m):
                Z[k, i] += w0 * X[b, j, i]
            j += 1


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract", "arcp"})
def _differences(T, b, m, Z, top, total):
    """From outputs to probabilities less targets, in place."""
    one = np.float32(1.0)
    if Z.shape[0] == 1:
        for i in range(m):
            z = Z[0, i]
            e = exp_of_negative(-abs(z))
            share = one / (one + e)
            Z[0, i] = (share if z > 0 else e * share) - T[b, 0, i]
        return
    for i in range(m):
        top[i] = Z[0, i]
        total[i] = np.float32(0.0)
    for k in range(1, Z.shape[0]):
        for i in range(m):
            top[i] = max(top[i], Z[k, i])
    for k in range(Z.shape[0]):
        for i in range(m):
            e = exp_of_negative(Z[k, i] - top[i])
            Z[k, i] = e
            total[i] += e
    for i in range(m):
        total[i] = one / total[i]
    for k in range(Z.shape[0]):
        for i in range(m):
            Z[k, i] = Z[k, i] * total[i] - T[b, k, i]


@njit(cache=True, nogil=True, error_model="numpy", fastmath=_FAST)
def _add_gradient(X, b, m, Z, G, g):
    """Add the block's part of the gradient."""
    p = X.shape[1]
    for k in range(Z.shape[0]):
        own = np.float32(0.0)
        for i in range(m):
            own += Z[k, i]
        g[k] += own
        j = 0
        while j + 4 <= p:
            a0 = a1 = a2 = a3 = np.float32(0.0)
            for i in range(m):
                z = Z[k, i]
                a0 += z * X[b, j, i]
                a1 += z * X[b, j + 1, i]
                a2 += z * X[b, j + 2, i]
                a3 += z * X[b, j + 3, i]
            G[k, j] += a0
            G[k, j + 1] += a1
            G[k, j + 2] += a2
            G[k, j + 3] += a3
            j += 4
        while j < p:
            a0 = np.float32(0.0)
            for i in range(m):
                a0 += Z[k, i] * X[b, j, i]
            G[k, j] += a0
            j += 1


@njit(cache=True, nogil=True, error_model="numpy")
def _fit(X, T, n, W, bias, G, g, Z, top, total, eta):
    blocks = (n + _BLOCK - 1) // _BLOCK
    factor = 2.0 if W.shape[0] == 1 else 1.0
    for _ in range(STEPS):
        G[:] = np.float32(0.0)
        g[:] = np.float32(0.0)
        for b in range(blocks):
            m = min(_BLOCK, n - b * _BLOCK)
            _outputs(X, b, m, W, bias, Z)
            _differences(T, b, m, Z, top, total)
            _add_gradient(X, b, m, Z, G, g)
        step = np.float32(eta * factor)
        for k in range(W.shape[0]):
            bias[k] -= step * g[k]
            for j in range(W.shape[1]):
                W[k, j] -= step * G[k, j]
        eta *= DECAY


@njit(cache=True, nogil=True)
def _start(seed, n_classes, W, bias):
    """Weights uniform in +-0.01; with two classes the difference of two such."""
    np.random.seed(seed)  # noqa: NPY002
    for k in range(W.shape[0]):
        for j in range(W.shape[1]):
            W[k, j] = np.random.uniform(-SPREAD, SPREAD)  # noqa: NPY002
        bias[k] = np.random.uniform(-SPREAD, SPREAD)  # noqa: NPY002
    if n_classes == 2:
        for j in range(W.shape[1]):
            W[0, j] -= np.random.uniform(-SPREAD, SPREAD)  # noqa: NPY002
        bias[0] -= np.random.uniform(-SPREAD, SPREAD)  # noqa: NPY002


@njit(cache=True, nogil=True)
def logistic_errors(values, cardinality, whole, unknown, y, n_classes, eta, seeds, marks, errors):
    """Count the errors of every half: `errors` (splits, 2) takes them.

    Softmax of linear outputs with bias; every step goes `eta` times the summed gradient, and
    `eta` shrinks by 5 percent a step. The first class of ties.
    """
    n, d = values.shape
    p = 0
    for j in range(d):
        p += max(1, cardinality[j])
    followed = 1 if n_classes == 2 else n_classes
    blocks = (n // 2 + 1 + n_classes + _BLOCK - 1) // _BLOCK + 1
    X = np.zeros((blocks, p, _BLOCK), dtype=np.float32)
    T = np.zeros((blocks, followed, _BLOCK), dtype=np.float32)
    W, G = np.empty((followed, p), dtype=np.float32), np.empty((followed, p), dtype=np.float32)
    bias, g = np.empty(followed, dtype=np.float32), np.empty(followed, dtype=np.float32)
    Z = np.empty((followed, _BLOCK), dtype=np.float32)
    top, total = np.empty(_BLOCK, dtype=np.float32), np.empty(_BLOCK, dtype=np.float32)
    mean, deviation = np.empty(p), np.empty(p)
    train, test = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    filled, fills = values.copy(), np.empty(d)
    for s in range(marks.shape[0]):
        for fold in range(2):
            m = split_rows(marks[s], fold, train, test)
            rows = train[:m]
            if unknown:
                fill(values, cardinality, whole, rows, filled, fills)
            _scales(filled, cardinality, rows, mean, deviation)
            _standardised(filled, cardinality, rows, mean, deviation, X, blocks)
            T[:] = np.float32(0.0)
            for r in range(m):
                if followed == 1:
                    T[r // _BLOCK, 0, r % _BLOCK] = np.float32(y[rows[r]])
                else:
                    T[r // _BLOCK, y[rows[r]], r % _BLOCK] = np.float32(1.0)
            _start(seeds[s, fold], n_classes, W, bias)
            _fit(X, T, m, W, bias, G, g, Z, top, total, eta)
            tested = test[: n - m]
            _standardised(filled, cardinality, tested, mean, deviation, X, blocks)
            wrong = 0
            for b in range((n - m + _BLOCK - 1) // _BLOCK):
                held = min(_BLOCK, n - m - b * _BLOCK)
                _outputs(X, b, held, W, bias, Z)
                for i in range(held):
                    choice = 0
                    if followed == 1:
                        choice = 1 if Z[0, i] > 0 else 0
                    else:
                        for k in range(1, followed):
                            if Z[k, i] > Z[choice, i]:
                                choice = k
                    wrong += choice != y[tested[b * _BLOCK + i]]
            errors[s, fold] = wrong
