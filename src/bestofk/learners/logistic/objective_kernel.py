"""The compiled part of the logistic model: standardised inputs and the minimum of its objective.

Weights have the shape (q, r): q inputs with the constant 1 last; r = 1 for two classes (the log
odds of the second), else one column a class.
"""
# mypy: allow-untyped-defs

from __future__ import annotations

import math

import numpy as np
from numba import njit

from bestofk.learners.logistic.exp_kernel import exp_of_negative

MEMORY = 30
SUFFICIENT_DECREASE = 1e-4
ROUNDING = 1e-13
FIRST_SLACK = 5e-3
NEXT_LEVEL = 0.001
SAFETY = 0.8
LARGE = 1e200
SETTLED = 1e-11


@njit(cache=True, nogil=True, error_model="numpy")
def column_moments(design, rows):
    """Mean and standard deviation (with n) of the known cells; 0 and 1 where there is no spread."""
    p = design.shape[1]
    known = np.zeros(p)
    mean = np.zeros(p)
    spread = np.zeros(p)
    least = np.full(p, np.inf)
    most = np.full(p, -np.inf)
    # selections in place of branches, so that the loops along a row run in vectors
    for i in range(len(rows)):
        cells = design[rows[i]]
        for j in range(p):
            x = cells[j]
            known[j] += 1.0 if x == x else 0.0
            mean[j] += x if x == x else 0.0
            least[j] = x if x < least[j] else least[j]
            most[j] = x if x > most[j] else most[j]
    for j in range(p):
        if known[j] > 0.0:
            # rounding must not give a constant column a spread
            mean[j] = mean[j] / known[j] if most[j] > least[j] else least[j]
    for i in range(len(rows)):
        cells = design[rows[i]]
        for j in range(p):
            off = cells[j] - mean[j]
            spread[j] += off * off if off == off else 0.0
    for j in range(p):
        spread[j] = math.sqrt(spread[j] / known[j]) if known[j] > 0.0 else 0.0
        if spread[j] == 0.0:
            spread[j] = 1.0
    return mean, spread


@njit(cache=True, nogil=True, error_model="numpy")
def standardise(design, rows, mean, spread):
    """(x - mean) / spread with 0 for missing cells, and a last column of ones."""
    n, p = len(rows), design.shape[1]
    out = np.empty((n, p + 1))
    for i in range(n):
        cells, to = design[rows[i]], out[i]
        for j in range(p):
            z = (cells[j] - mean[j]) / spread[j]
            to[j] = z if z == z else 0.0
        to[p] = 1.0
    return out


@njit(cache=True, nogil=True)
def probabilities(scores):
    """The probabilities of the classes (columns) for every row of scores."""
    n, r = scores.shape
    out = np.empty((n, max(r, 2)))
    for i in range(n):
        if r == 1:
            e = math.exp(-abs(scores[i, 0]))
            out[i, 1] = (1.0 if scores[i, 0] >= 0.0 else e) / (1.0 + e)
            out[i, 0] = (e if scores[i, 0] >= 0.0 else 1.0) / (1.0 + e)
            continue
        top = scores[i, 0]
        for k in range(1, r):
            top = max(top, scores[i, k])
        total = 0.0
        for k in range(r):
            out[i, k] = math.exp(scores[i, k] - top)
            total += out[i, k]
        for k in range(r):
            out[i, k] /= total
    return out


@njit(cache=True, nogil=True, error_model="numpy")
def shares_of(scores, shares, top, total):
    """Probabilities (r, n) from scores (r, n), that of the second class where r = 1.

    With the largest score (for r = 1 the absolute one) of each row to `top` and the sum of
    exp(score - top) to `total`. Every loop runs along the rows, in vectors.
    """
    r, n = scores.shape
    if r == 1:
        line, out = scores[0], shares[0]
        for i in range(n):
            size = abs(line[i])
            e = exp_of_negative(-size)
            top[i] = size
            total[i] = 1.0 + e
            out[i] = (1.0 if line[i] >= 0.0 else e) / (1.0 + e)
        return
    top[:] = scores[0]
    for k in range(1, r):
        line = scores[k]
        for i in range(n):
            top[i] = line[i] if line[i] > top[i] else top[i]
    total[:] = 0.0
    for k in range(r):
        line, out = scores[k], shares[k]
        for i in range(n):
            e = exp_of_negative(line[i] - top[i])
            out[i] = e
            total[i] += e
    for k in range(r):
        out = shares[k]
        for i in range(n):
            out[i] /= total[i]


@njit(cache=True, nogil=True, error_model="numpy")
def minus_log_likelihood(scores, y, top, total):
    """From what `shares_of` leaves; the logarithm is taken of products of many sums."""
    r, n = scores.shape
    loss = 0.0
    product = 1.0
    for i in range(n):
        product *= total[i]
        if product > LARGE:
            loss += math.log(product)
            product = 1.0
        if r == 1:
            s = scores[0, i]
            loss += max(-s, 0.0) if y[i] == 1 else max(s, 0.0)
        else:
            loss += top[i] - scores[y[i], i]
    return loss + math.log(product)


@njit(cache=True, nogil=True, error_model="numpy")
def objective(z, y, strength, weights, room, gradient):
    """1/2 |weights|^2 without the constants + strength * minus log likelihood; its gradient.

    `room` as `room_for` gives it.
    """
    q, r = weights.shape
    scores, shares, top, total = room
    np.dot(weights.T.copy(), z.T, scores)
    shares_of(scores, shares, top, total)
    value = strength * minus_log_likelihood(scores, y, top, total)
    for i in range(len(y)):
        if r > 1:
            shares[y[i], i] -= 1.0
        else:
            shares[0, i] -= y[i]
    slopes = np.dot(shares, z)
    for j in range(q):
        for k in range(r):
            gradient[j, k] = strength * slopes[k, j]
            if j < q - 1:
                value += 0.5 * weights[j, k] * weights[j, k]
                gradient[j, k] += weights[j, k]
    return value


@njit(cache=True, nogil=True)
def room_for(n, r):
    """Scratch arrays: scores and shares (r, n), and two numbers a row."""
    return np.empty((r, n)), np.empty((r, n)), np.empty(n), np.empty(n)


@njit(cache=True, nogil=True)
def precondition(matrix, vector, q, r):
    """`matrix` times `vector` (q * r,): one matrix (q r, q r), or (q, q) for each column."""
    if matrix.shape[0] == q:
        return np.dot(matrix, vector.reshape(q, r)).reshape(q * r)
    return np.dot(matrix, vector)


@njit(cache=True, nogil=True, error_model="numpy")
def settle_constants(z, y, strength, weights, room):
    """Newton's method on the constants alone, so that they are the best for the other weights."""
    n, q = z.shape
    r = weights.shape[1]
    scores, shares, top, total = room
    np.dot(weights.T.copy(), z.T, scores)
    held = np.zeros(r)
    for i in range(n):
        held[y[i] if r > 1 else 0] += 1.0 if r > 1 else y[i]
    for _ in range(8):
        shares_of(scores, shares, top, total)
        curvature = -np.dot(shares, shares.T)
        slope = -held
        for k in range(r):
            sum_of_shares = np.sum(shares[k])
            slope[k] += sum_of_shares
            curvature[k, k] += sum_of_shares
        if strength * math.sqrt(np.sum(slope * slope)) <= SETTLED:
            break
        if r > 1:  # all constants may move together: hold that direction
            curvature += n / r
        if not curvature[0, 0] > 0.0:
            break
        change = np.linalg.solve(curvature, slope)
        for k in range(r):
            change[k] = min(max(change[k], -1.0), 1.0)
            weights[q - 1, k] -= change[k]
            scores[k] -= change[k]


@njit(cache=True, nogil=True)
def norms_of(gradient):
    """The norm of the gradient, and that without the constants."""
    inner = np.sum(gradient[:-1] * gradient[:-1])
    return math.sqrt(inner + np.sum(gradient[-1] * gradient[-1])), math.sqrt(inner)


@njit(cache=True, nogil=True)
def minimise(z, y, strength, start, matrix, tolerance, most_steps, probe, tie, chosen):
    """The weights at which the gradient's norm is at most `tolerance`, by L-BFGS.

    `matrix` is the inverse of an approximate Hessian, from which the limited memory starts. With
    rows in `probe`, it stops as soon as the predictions for them, written to `chosen`, can no
    longer differ from those at the minimum (see `doubtful`). Returns the weights, the norm, the
    number of steps, and whether the predictions are certain.
    """
    q, r = start.shape
    n = z.shape[0]
    weights = start.copy()
    room = room_for(n, r)
    gradient = np.empty((q, r))
    value = objective(z, y, strength, weights, room, gradient)
    steps_taken = np.empty((MEMORY, q * r))
    changes = np.empty((MEMORY, q * r))
    products = np.zeros(MEMORY)
    alphas = np.zeros(MEMORY)
    new_gradient = np.empty((q, r))
    held, step = 0, 0
    asking = probe.shape[0] > 0
    lengths = row_norms(probe)
    longest = row_norms(z).max() if asking else 0.0
    level = FIRST_SLACK / (max(r - 1, 1) * longest) if asking else tolerance
    norm, inner = norms_of(gradient)
    while step < most_steps:
        if norm <= level:
            settle_constants(z, y, strength, weights, room)
            value = objective(z, y, strength, weights, room, gradient)
            norm, inner = norms_of(gradient)
            enough = 0.0
            if asking:
                reach = lengths + max(r - 1, 1) * longest
                if r > 1:
                    reach *= math.sqrt(2.0)
                enough = doubtful(np.dot(probe, weights), tie, reach, chosen) - 4.0 * tolerance
                if inner < enough:
                    return weights, norm, step, True
            if norm <= tolerance:
                break
            # the gaps may still shrink a little, and must not be asked for at every step
            level = max(min(SAFETY * enough, 0.5 * norm), NEXT_LEVEL * norm, tolerance)
        direction = -gradient.reshape(q * r)
        for back in range(held):
            m = (step - 1 - back) % MEMORY
            alphas[m] = np.dot(steps_taken[m], direction) / products[m]
            direction -= alphas[m] * changes[m]
        direction = precondition(matrix, direction, q, r)
        for back in range(held - 1, -1, -1):
            m = (step - 1 - back) % MEMORY
            beta = np.dot(changes[m], direction) / products[m]
            direction += (alphas[m] - beta) * steps_taken[m]
        slope = np.dot(gradient.reshape(q * r), direction)
        if not slope < 0.0:  # rounding has spoilt the memory: start it again
            if held == 0:
                break
            held = 0
            continue
        length = 1.0
        found = False
        for _ in range(40):
            candidate = weights + length * direction.reshape(q, r)
            new_value = objective(z, y, strength, candidate, room, new_gradient)
            allowed = value + SUFFICIENT_DECREASE * length * slope + ROUNDING * abs(value)
            if new_value <= allowed:
                found = True
                break
            shortened = -slope * length * length / (2.0 * (new_value - value - slope * length))
            length = min(max(shortened, 0.1 * length), 0.5 * length)
        if not found:
            if held == 0:
                break
            held = 0
            continue
        m = step % MEMORY
        steps_taken[m] = length * direction
        changes[m] = (new_gradient - gradient).reshape(q * r)
        products[m] = np.dot(steps_taken[m], changes[m])
        held = min(held + 1, MEMORY) if products[m] > 0.0 else 0
        weights = candidate
        gradient[:] = new_gradient
        value = new_value
        step += 1
        norm, inner = norms_of(gradient)
    return weights, norm, step, False


@njit(cache=True, nogil=True, error_model="numpy")
def doubtful(scores, tie, reach, chosen):
    """Choose the first class whose score is within `tie` of the largest.

    Returns the least u for which changes of score differences by u * `reach` (one number a row)
    could change a choice.
    """
    n, r = scores.shape
    least = np.inf
    for i in range(n):
        if r == 1:
            chosen[i] = 1 if scores[i, 0] > tie else 0
            least = min(least, abs(scores[i, 0] - tie) / reach[i])
            continue
        top = 0
        for k in range(1, r):
            if scores[i, k] > scores[i, top]:
                top = k
        winner = -1
        nearest = np.inf
        for k in range(r):
            gap = scores[i, top] - scores[i, k]
            if k != top:
                nearest = min(nearest, abs(gap - tie))
            if winner < 0 and gap <= tie:
                winner = k
        chosen[i] = winner
        least = min(least, nearest / reach[i])
    return least


@njit(cache=True, nogil=True)
def row_norms(z):
    """The Euclidean norm of every row."""
    n, q = z.shape
    out = np.empty(n)
    for i in range(n):
        total = 0.0
        for j in range(q):
            total += z[i, j] * z[i, j]
        out[i] = math.sqrt(total)
    return out
