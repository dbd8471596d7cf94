"""The compiled part of the logistic model: standardised inputs and the minimum of its objective.

Weights have the shape (q, r): q inputs with the constant 1 last; r = 1 for two classes (the log
odds of the second), else one column a class.
"""
# mypy: allow-untyped-defs

from __future__ import annotations

import math

import numpy as np
from numba import njit

MEMORY = 12
SUFFICIENT_DECREASE = 1e-4
ROUNDING = 1e-13
FIRST_SLACK = 5e-3
NEXT_LEVEL = 0.03
SETTLED = 1e-11


@njit(cache=True, nogil=True)
def column_moments(design):
    """Mean and standard deviation (with n) of the known cells; 0 and 1 where there is no spread."""
    n, p = design.shape
    known = np.zeros(p)
    mean = np.zeros(p)
    spread = np.zeros(p)
    least = np.full(p, np.inf)
    most = np.full(p, -np.inf)
    for i in range(n):
        for j in range(p):
            x = design[i, j]
            if x == x:
                known[j] += 1.0
                mean[j] += x
                least[j] = min(least[j], x)
                most[j] = max(most[j], x)
    for j in range(p):
        if known[j] > 0.0:
            # rounding must not give a constant column a spread
            mean[j] = mean[j] / known[j] if most[j] > least[j] else least[j]
    for i in range(n):
        for j in range(p):
            x = design[i, j]
            if x == x:
                spread[j] += (x - mean[j]) * (x - mean[j])
    for j in range(p):
        spread[j] = math.sqrt(spread[j] / known[j]) if known[j] > 0.0 else 0.0
        if spread[j] == 0.0:
            spread[j] = 1.0
    return mean, spread


@njit(cache=True, nogil=True)
def standardise(design, mean, spread):
    """(x - mean) / spread with 0 for missing cells, and a last column of ones."""
    n, p = design.shape
    out = np.empty((n, p + 1))
    for i in range(n):
        for j in range(p):
            z = (design[i, j] - mean[j]) / spread[j]
            out[i, j] = z if z == z else 0.0
        out[i, p] = 1.0
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


@njit(cache=True, nogil=True)
def objective(z, y, strength, weights, residual, gradient):
    """1/2 |weights|^2 without the constants + strength * minus log likelihood; its gradient."""
    n, q = z.shape
    r = weights.shape[1]
    scores = np.dot(z, weights)
    loss = 0.0
    for i in range(n):
        if r == 1:
            s = scores[i, 0]
            e = math.exp(-abs(s))
            positive = y[i] == 1
            loss += math.log1p(e) + (max(-s, 0.0) if positive else max(s, 0.0))
            share = (1.0 if s >= 0.0 else e) / (1.0 + e)
            residual[i, 0] = strength * (share - positive)
        else:
            top = scores[i, 0]
            for k in range(1, r):
                top = max(top, scores[i, k])
            total = 0.0
            for k in range(r):
                e = math.exp(scores[i, k] - top)
                residual[i, k] = e
                total += e
            loss += math.log(total) + top - scores[i, y[i]]
            scale = strength / total
            for k in range(r):
                residual[i, k] *= scale
            residual[i, y[i]] -= strength
    gradient[:] = np.dot(z.T, residual)
    value = strength * loss
    for j in range(q - 1):
        for k in range(r):
            value += 0.5 * weights[j, k] * weights[j, k]
            gradient[j, k] += weights[j, k]
    return value


@njit(cache=True, nogil=True)
def precondition(matrix, vector):
    """`matrix` times `vector`, shape (q, r): one matrix (q r, q r), or (q, q) for each column."""
    q, r = vector.shape
    if matrix.shape[0] == q:
        return np.dot(matrix, vector)
    return np.dot(matrix, vector.copy().reshape(q * r)).reshape(q, r)


@njit(cache=True, nogil=True)
def settle_constants(z, y, strength, weights):
    """Newton's method on the constants alone, so that they are the best for the other weights."""
    n, q = z.shape
    r = weights.shape[1]
    scores = np.dot(z, weights)
    for _ in range(8):
        shares = probabilities(scores)
        slope = np.zeros(r)
        curvature = np.zeros((r, r))
        for i in range(n):
            if r == 1:
                slope[0] += shares[i, 1] - (y[i] == 1)
                curvature[0, 0] += shares[i, 0] * shares[i, 1]
                continue
            slope[y[i]] -= 1.0
            for k in range(r):
                slope[k] += shares[i, k]
                curvature[k, k] += shares[i, k]
                for other in range(r):
                    curvature[k, other] -= shares[i, k] * shares[i, other]
        if strength * math.sqrt(np.sum(slope * slope)) <= SETTLED:
            break
        if r > 1:  # all constants may move together: hold that direction
            for k in range(r):
                for other in range(r):
                    curvature[k, other] += n / r
        if not curvature[0, 0] > 0.0:
            break
        change = np.linalg.solve(curvature, slope)
        for k in range(r):
            change[k] = min(max(change[k], -1.0), 1.0)
            weights[q - 1, k] -= change[k]
            for i in range(n):
                scores[i, k] -= change[k]


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
    residual = np.empty((n, r))
    gradient = np.empty((q, r))
    value = objective(z, y, strength, weights, residual, gradient)
    steps_taken = np.zeros((MEMORY, q, r))
    changes = np.zeros((MEMORY, q, r))
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
            settle_constants(z, y, strength, weights)
            value = objective(z, y, strength, weights, residual, gradient)
            norm, inner = norms_of(gradient)
            if asking:
                slack = (inner + 4.0 * tolerance) * (lengths + max(r - 1, 1) * longest)
                if r > 1:
                    slack *= math.sqrt(2.0)
                if doubtful(np.dot(probe, weights), tie, slack, chosen) == 0:
                    return weights, norm, step, True
            if norm <= tolerance:
                break
            level = max(min(level, norm) * NEXT_LEVEL, tolerance)
        direction = -gradient
        for back in range(held):
            m = (step - 1 - back) % MEMORY
            alphas[m] = np.sum(steps_taken[m] * direction) / products[m]
            direction -= alphas[m] * changes[m]
        direction = precondition(matrix, direction)
        for back in range(held - 1, -1, -1):
            m = (step - 1 - back) % MEMORY
            beta = np.sum(changes[m] * direction) / products[m]
            direction += (alphas[m] - beta) * steps_taken[m]
        slope = np.sum(gradient * direction)
        if not slope < 0.0:  # rounding has spoilt the memory: start it again
            if held == 0:
                break
            held = 0
            continue
        length = 1.0
        found = False
        for _ in range(40):
            candidate = weights + length * direction
            new_value = objective(z, y, strength, candidate, residual, new_gradient)
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
        changes[m] = new_gradient - gradient
        products[m] = np.sum(steps_taken[m] * changes[m])
        held = min(held + 1, MEMORY) if products[m] > 0.0 else 0
        weights = candidate
        gradient[:] = new_gradient
        value = new_value
        step += 1
        norm, inner = norms_of(gradient)
    return weights, norm, step, False


@njit(cache=True, nogil=True)
def doubtful(scores, tie, slack, chosen):
    """Choose the first class whose score is within `tie` of the largest; count the rows in doubt.

    A row is in doubt where changes of score differences by up to `slack` could change the choice.
    """
    n, r = scores.shape
    count = 0
    for i in range(n):
        if r == 1:
            chosen[i] = 1 if scores[i, 0] > tie else 0
            count += abs(scores[i, 0] - tie) <= slack[i]
            continue
        top = 0
        for k in range(1, r):
            if scores[i, k] > scores[i, top]:
                top = k
        winner = -1
        doubt = False
        for k in range(r):
            gap = scores[i, top] - scores[i, k]
            doubt |= k != top and abs(gap - tie) <= slack[i]
            if winner < 0 and gap <= tie:
                winner = k
        chosen[i] = winner
        count += doubt
    return count


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
