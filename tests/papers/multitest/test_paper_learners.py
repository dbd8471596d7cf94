"""The kernels against simple implementations of the paper's learners."""

from itertools import pairwise

import numpy as np
import pytest

from bestofk.papers.multitest.learners import Prepared, count_errors


def filled_and_scaled(data, train):
    """Unknowns filled in from the training rows; z-scores of the numeric columns."""
    values = data.values.copy()
    scaled = values.copy()
    for j, size in enumerate(data.cardinality):
        known = values[train, j][~np.isnan(values[train, j])]
        if size:
            put = np.argmax(np.bincount(known.astype(int), minlength=size))
        else:
            put = known.sum() / len(train)
            put = np.trunc(put) if data.whole[j] else put
        values[np.isnan(values[:, j]), j] = put
        scaled[:, j] = values[:, j]
        if not size:
            spread = values[train, j].std(ddof=1)
            scaled[:, j] = (values[:, j] - values[train, j].mean()) / (spread if spread else 1.0)
    return values, scaled


def nmc(data, train, test, seed):
    _, z = filled_and_scaled(data, train)
    nominal = data.cardinality > 0
    distance = np.zeros((len(test), data.n_classes))
    for c in range(data.n_classes):
        rows = train[data.y[train] == c]
        for j in range(z.shape[1]):
            if nominal[j]:
                counts = np.bincount(z[rows, j].astype(int), minlength=data.cardinality[j])
                distance[:, c] += z[test, j] != np.argmax(counts)
            else:
                distance[:, c] += (z[test, j] - (z[rows, j].mean() if len(rows) else 0.0)) ** 2
    return np.argmin(distance, axis=1)


def nn(data, train, test, seed):
    _, z = filled_and_scaled(data, train)
    nominal = data.cardinality > 0
    guesses = []
    for i in test:
        gap = z[train] - z[i]
        distance = np.where(nominal, gap != 0, gap**2).sum(axis=1)
        guesses.append(data.y[train[np.argmin(distance)]])
    return np.array(guesses)


def majority(data, train, test, seed):
    return np.full(len(test), np.argmax(np.bincount(data.y[train], minlength=data.n_classes)))


def lgc(data, train, test, seed):
    values, _ = filled_and_scaled(data, train)
    columns = []
    for j, size in enumerate(data.cardinality):
        columns += [values[:, j] == v for v in range(size)] if size else [values[:, j]]
    X = np.array(columns, dtype=float).T
    spread = X[train].std(axis=0, ddof=1)
    X = (X - X[train].mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    X = np.column_stack([X, np.ones(len(X))])
    T = np.eye(data.n_classes)[data.y[train]]
    # so small that the start does not matter: the weights begin at zero here
    W = np.zeros((data.n_classes, X.shape[1]))
    eta = data.learning_rate
    for _ in range(50):
        Z = X[train] @ W.T
        P = np.exp(Z - Z.max(axis=1, keepdims=True))
        P /= P.sum(axis=1, keepdims=True)
        W -= eta * (P - T).T @ X[train]
        eta *= 0.95
    return np.argmax(X[test] @ W.T, axis=1)


def entropy_sum(y):
    counts = np.bincount(y)
    counts = counts[counts > 0]
    return float((counts * np.log(counts)).sum() - len(y) * np.log(len(y)))


def grown(values, cardinality, y, rows):
    """(class, column, cut, branches); a leaf has no column."""
    if len(rows) == 0:
        return (0, None, None, ())
    label = int(np.argmax(np.bincount(y[rows])))
    if (y[rows] == label).all():
        return (label, None, None, ())
    best = (-np.inf, None, None, None)
    for j, size in enumerate(cardinality):
        column = values[rows, j]
        cuts = [None]
        if not size:
            errors = np.unique(column)
            cuts = [low if (low + high) / 2 >= high else (low + high) / 2
                    for low, high in pairwise(errors)]  # fmt: skip
        for cut in cuts:
            parts = (
                [rows[column == v] for v in range(size)]
                if size
                else [rows[column <= cut], rows[column > cut]]
            )
            if sum(len(part) > 0 for part in parts) < 2:
                continue
            gain = sum(entropy_sum(y[part]) for part in parts if len(part))
            if gain > best[0] + 1e-9:
                best = (gain, j, cut, parts)
    _, column, cut, parts = best
    if column is None:
        return (label, None, None, ())
    return (label, column, cut, tuple(grown(values, cardinality, y, part) for part in parts))


def branch(node, row):
    _, column, cut, branches = node
    return branches[int(row[column])] if cut is None else branches[int(row[column] > cut)]


def guess(node, row):
    while node[1] is not None:
        node = branch(node, row)
    return node[0]


def pruned(node, values, y, rows):
    label, column, cut, branches = node
    if column is None:
        return node
    as_tree = sum(guess(node, values[i]) != y[i] for i in rows)
    if (y[rows] != label).sum() <= as_tree:
        return (label, None, None, ())
    parts = [[i for i in rows if branch(node, values[i]) is child] for child in branches]
    return (label, column, cut, tuple(
        pruned(child, values, y, np.array(part, dtype=int))
        for child, part in zip(branches, parts, strict=True)
    ))  # fmt: skip


def c45(data, train, test, seed):
    values, _ = filled_and_scaled(data, train)
    # the kernel draws as the legacy generator of numpy does
    shuffled = np.random.RandomState(seed).permutation(len(train))
    held_out = np.sort(train[shuffled[: int(0.2 * len(train))]])
    rows = np.setdiff1d(train, held_out)
    tree = pruned(grown(values, data.cardinality, data.y, rows), values, data.y, held_out)
    return np.array([guess(tree, values[i]) for i in test])


PLAIN = {"MAX": majority, "NMC": nmc, "LGC": lgc, "C4.5": c45, "NN": nn}


def drawn_data(kind, n_classes, seed, n=90):
    """Draw rows with some structure; `kind` names the columns and whether cells are missing."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    columns, sizes = [], []
    if kind != "nominal":
        columns += [y + rng.normal(0, 1.0, n), rng.integers(0, 6, n) + (y == 0), np.full(n, 3.0)]
        columns[1][rng.random(n) < 0.5] = 0
        sizes += [0, 0, 0]
    if kind != "numeric":
        columns += [np.where(rng.random(n) < 0.6, y % 3, rng.integers(0, 3, n))]
        columns += [rng.integers(0, 2, n), rng.integers(0, 5, n)]
        sizes += [3, 2, 5]
    values = np.array(columns, dtype=float).T
    if kind == "unknown":
        values[rng.random(values.shape) < 0.1] = np.nan
    if kind == "below zero":
        # what is filled in, a sum over too many rows, is above all that is known, and tells
        values[:, 0] -= 100
        values[(y == 0) & (rng.random(n) < 0.8), 0] = np.nan
    whole = np.zeros(len(sizes), dtype=bool)
    whole[1] = sizes[1] == 0
    return Prepared(
        name="made", values=np.ascontiguousarray(values), cardinality=np.array(sizes),
        whole=whole, y=y, n_classes=n_classes, learning_rate=0.01,
    )  # fmt: skip


@pytest.mark.parametrize("learner", PLAIN)
@pytest.mark.parametrize("kind", ["numeric", "nominal", "mixed", "unknown", "below zero"])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_errors_are_those_of_the_plain_learner(learner, kind, n_classes):
    data = drawn_data(kind, n_classes, seed=n_classes)
    rng = np.random.default_rng(9)
    marks = rng.permuted(np.tile(np.arange(data.n) % 2 == 1, (6, 1)), axis=1)
    if n_classes > 2:
        # a training half without one of the classes
        marks[5] |= data.y == 3
    seeds = rng.integers(0, 2**32, (6, 2), dtype=np.uint32)
    errors = count_errors(data, learner, marks, seeds)
    expected = np.zeros_like(errors)
    for split, mark in enumerate(marks):
        for fold in (0, 1):
            test = np.flatnonzero(mark == (fold == 1))
            train = np.flatnonzero(mark != (fold == 1))
            guesses = PLAIN[learner](data, train, test, seeds[split, fold])
            expected[split, fold] = (guesses != data.y[test]).sum()
    if learner == "LGC":
        # other starts, single precision: a row near the border may change sides
        assert np.abs(errors - expected).max() <= 2
        assert np.abs(errors - expected).sum() <= 6
    else:
        np.testing.assert_array_equal(errors, expected)


def test_a_deep_tree_of_many_wide_columns():
    # every column tells one row from the others, and leaves 99 branches that wait
    n, wide = 48, 100
    values = np.full((n, n + 1), wide - 1.0)
    np.fill_diagonal(values, 0)
    data = Prepared(
        name="made", values=values, cardinality=np.repeat([wide, 0], [n, 1]),
        whole=np.zeros(n + 1, dtype=bool), y=np.arange(n) // 2 % 2, n_classes=2,
        learning_rate=0.01,
    )  # fmt: skip
    marks, seeds = (np.arange(n) % 2 == 1)[None], np.array([[3, 4]], dtype=np.uint32)
    errors = count_errors(data, "C4.5", marks, seeds)
    for fold in (0, 1):
        test, train = np.arange(fold, n, 2), np.arange(1 - fold, n, 2)
        wrong = c45(data, train, test, seeds[0, fold]) != data.y[test]
        assert errors[0, fold] == wrong.sum()


@pytest.mark.parametrize("n_classes", [2, 3, 5, 6, 7])
def test_many_rows_and_classes_of_the_logistic_classifier(n_classes):
    # several chunks of rows and sums of them; classes that are no multiple of those done at once
    data = drawn_data("mixed", n_classes, seed=3, n=1201)
    marks = (np.arange(data.n) % 2 == 1)[None]
    errors = count_errors(data, "LGC", marks, np.zeros((1, 2), dtype=np.uint32))
    for fold in (0, 1):
        test, train = np.arange(fold, data.n, 2), np.arange(1 - fold, data.n, 2)
        wrong = lgc(data, train, test, 0) != data.y[test]
        # other starts, single precision: a row near the border may change sides
        assert abs(errors[0, fold] - wrong.sum()) <= 4


@pytest.mark.parametrize("kind", ["numeric", "nominal", "lacking"])
def test_lists_of_neighbours_give_what_pairs_give(kind, monkeypatch):
    data = drawn_data("nominal" if kind == "lacking" else kind, 3, seed=5, n=120)
    if kind == "lacking":
        # every half has the same mode, so that one filling serves all
        data.values[:, 0] = 1
        data.values[::7, 0] = np.nan
    rng = np.random.default_rng(2)
    marks = rng.permuted(np.tile(np.arange(data.n) % 2 == 1, (8, 1)), axis=1)
    seeds = np.zeros((8, 2), dtype=np.uint32)
    by_pairs = count_errors(data, "NN", marks, seeds)
    monkeypatch.setattr("bestofk.papers.multitest.learners._MAX_ROWS_BY_PAIR", 10)
    np.testing.assert_array_equal(count_errors(data, "NN", marks, seeds), by_pairs)
