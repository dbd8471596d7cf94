"""Choosing the test of a node: gains, gain ratios, and the rules that admit a test.

Counts of integer weight take their entropy terms from one table, so that every path to a tree
(row lists, bit sets) computes with the same numbers in the same order.
"""
# mypy: allow-untyped-defs

from __future__ import annotations

from math import isnan, log2

import numpy as np
from numba import njit

TOLERANCE = 1e-6
"""Two weights, gains or estimates that differ by less count as equal."""
CUT_GAP = 1e-5
"""Neighbouring numeric values that differ by no more are not cut apart."""
AVERAGE_SLACK = 1e-3
"""A test may fall this much short of the average gain and still be chosen."""
LARGEST_MINIMUM = 25.0
"""A side of a numeric cut never needs more weight than this."""
MANY_VALUES = 0.3
"""A nominal attribute with this many values a training row stays out of the average gain."""


def entropy_terms(n: int) -> np.ndarray:
    """K log2 k for k = 0..n."""
    terms = np.zeros(n + 1)
    counts = np.arange(1.0, n + 1.0)
    terms[1:] = counts * np.log2(counts)
    return terms


@njit(cache=True, nogil=True)
def term(x, terms):
    """X log2 x, from the table where x is a count in it."""
    k = int(x)
    if k == x and k < len(terms):
        return terms[k]
    if x < TOLERANCE:
        return 0.0
    return x * log2(x)


@njit(cache=True, nogil=True)
def weight_term(counts, terms):
    """Total t of the counts, and t log2 t minus the sum of c log2 c: t times their entropy."""
    total = 0.0
    inner = 0.0
    for c in range(len(counts)):
        total += counts[c]
        inner += term(counts[c], terms)
    return total, term(total, terms) - inner


@njit(cache=True, nogil=True)
def nominal_test(counts, n_values, known_counts, total, min_leaf, terms):
    """Gain and gain ratio of a split by value, (-1, 0) when it is not admitted.

    `counts` (values, classes) of the known rows, `known_counts` their sums by class, `total` the
    weight of the node with the unknown rows.
    """
    large = 0
    known = 0.0
    inside = 0.0
    spread = 0.0
    for v in range(n_values):
        weight, entropy = weight_term(counts[v], terms)
        if weight > min_leaf - TOLERANCE:
            large += 1
        known += weight
        inside += entropy
        spread += term(weight, terms)
    if large < 2:
        return -1.0, 0.0
    gain = (weight_term(known_counts, terms)[1] - inside) / total
    if gain < TOLERANCE / total:
        return 0.0, 0.0
    return gain, gain_ratio(gain, spread, total - known, total, terms)


@njit(cache=True, nogil=True)
def gain_ratio(gain, spread, unknown, total, terms):
    """Gain over split information; the unknown rows are one more branch."""
    information = (term(total, terms) - spread - term(unknown, terms)) / total
    if information < TOLERANCE:
        return 0.0
    return gain / information


@njit(cache=True, nogil=True)
def numeric_test(column, order, y, weight, left, right, total, n_classes, min_leaf, terms):
    """Gain, gain ratio and midpoint of the best cut, (-1, 0, 0) when none is admitted.

    `order` holds the known rows of the node by rising value; `left` and `right` are scratch
    arrays, one cell a class.
    """
    n_known = len(order)
    left[:] = 0.0
    right[:] = 0.0
    for at in range(n_known):
        row = order[at]
        right[y[row]] += weight[row]
    known, whole = weight_term(right, terms)
    least = least_side(known, n_classes, min_leaf)
    if n_known < 2.0 * least - TOLERANCE:
        return -1.0, 0.0, 0.0

    cuts = 0
    best = 0.0
    best_at = -1
    left_weight = 0.0
    right_weight = known
    for at in range(1, n_known):
        row = order[at - 1]
        left[y[row]] += weight[row]
        right[y[row]] -= weight[row]
        left_weight += weight[row]
        right_weight -= weight[row]
        if column[row] + CUT_GAP >= column[order[at]]:
            continue
        if left_weight < least - TOLERANCE:
            continue
        if right_weight < least - TOLERANCE:
            break
        cuts += 1
        inside = term(left_weight, terms) + term(right_weight, terms)
        for c in range(len(left)):
            inside -= term(left[c], terms)
            inside -= term(right[c], terms)
        gain = (whole - inside) / total
        if gain > best + TOLERANCE:
            best = gain
            best_at = at
    if best_at < 0:
        return -1.0, 0.0, 0.0
    gain = best - log2(cuts) / total
    if gain <= TOLERANCE:
        return -1.0, 0.0, 0.0
    side = 0.0
    for at in range(best_at):
        side += weight[order[at]]
    spread = term(side, terms) + term(known - side, terms)
    cut = midpoint(column[order[best_at - 1]], column[order[best_at]])
    return gain, gain_ratio(gain, spread, total - known, total, terms), cut


@njit(cache=True, nogil=True)
def least_side(known, n_classes, min_leaf):
    """The weight that each side of a numeric cut must have."""
    least = 0.1 * known / n_classes
    if least <= min_leaf:
        return min_leaf
    return min(least, LARGEST_MINIMUM)


@njit(cache=True, nogil=True)
def midpoint(below, above):
    """The middle of two values, the lower one where rounding would give the upper."""
    cut = (below + above) / 2.0
    return below if cut >= above else cut


@njit(cache=True, nogil=True)
def best_test(gains, ratios, counted, by_gain):
    """The chosen attribute, -1 when there is none.

    `gains` are negative where a test was not admitted; `counted` says which attributes take part
    in the average gain.
    """
    total = 0.0
    n_counted = 0
    for a in range(len(gains)):
        if gains[a] >= 0.0 and counted[a]:
            total += gains[a]
            n_counted += 1
    if n_counted == 0:
        return -1
    bar = total / n_counted - AVERAGE_SLACK
    best = 0.0
    chosen = -1
    for a in range(len(gains)):
        if gains[a] < 0.0:
            continue
        if by_gain:
            value = gains[a]
        elif gains[a] >= bar:
            value = ratios[a]
        else:
            continue
        if value > best + TOLERANCE:
            best = value
            chosen = a
    return chosen


@njit(cache=True, nogil=True)
def takes_part(cardinality, n_rows):
    """Which attributes count in the average gain: those without very many values."""
    d = len(cardinality)
    counted = np.ones(d, dtype=np.bool_)
    for a in range(d):
        counted[a] = cardinality[a] < MANY_VALUES * n_rows
    if not counted.any():
        counted[:] = True
    return counted


@njit(cache=True, nogil=True)
def branch_of(value, cardinality, threshold):
    """The branch that a value takes, -1 for an unknown one."""
    if isnan(value):
        return -1
    if cardinality > 0:
        return int(value)
    return 0 if value - threshold < TOLERANCE else 1


@njit(cache=True, nogil=True)
def settle_threshold(sorted_values, cut):
    """The largest training value that is not above the cut."""
    return sorted_values[np.searchsorted(sorted_values, cut, side="right") - 1]
