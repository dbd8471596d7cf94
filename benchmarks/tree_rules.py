"""Which rules of the MultiTest paper's C4.5 make its errors differ from ours on UCI data sets.

    BESTOFK_DATA=folder python benchmarks/tree_rules.py [--runs R] [--set NAME ...]

The paper's tree is exchanged for ours rule by rule: how tests are chosen, whether a branch needs a
minimum of rows, what a branch without rows predicts (ours the class of the node above it, the
paper's the first class of the file), and in which direction the tree is pruned on a fifth of the
training rows (from the leaves up; from the root down, where a node is judged by all that grew
below it). Missing cells are filled as the paper did. Prints mean errors in percent over R runs of
unstratified 5x2 cross-validation; the first cell of the table must be the library's filled C4.5,
the last is near the paper's own tree, whose cuts of numeric columns differ in details from ours.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from itertools import product

import numpy as np

from bestofk.data.schema import Encoded
from bestofk.learners.c45 import C45, Tree
from bestofk.papers.multitest.kernel import fill
from bestofk.papers.multitest.learners import Prepared, prepare
from bestofk.papers.multitest.tables import count_errors
from bestofk.splits.plans import plan
from uci_table import PRINTED, folder

SHARE = 0.2
GROWTHS = {
    "as ours": {},
    "by gain": {"criterion": "gain"},
    "no minimum": {"min_leaf": 1},
    "both": {"criterion": "gain", "min_leaf": 1},
}
ENDINGS = tuple(product(("up", "down"), ("above", "first")))


def classes(tree: Tree, empty: str) -> np.ndarray:
    """What every node predicts; nodes come after those above them."""
    label = tree.shares.argmax(axis=1)
    void = tree.shares.sum(axis=1) == 0
    for node in np.flatnonzero(tree.attribute >= 0):
        below = slice(tree.first_child[node], tree.first_child[node] + tree.n_children[node])
        label[below][void[below]] = 0 if empty == "first" else label[node]
    return label


def reached(tree: Tree, stop: np.ndarray, cardinality: np.ndarray, values: np.ndarray):
    """(nodes, rows): which rows come to each node."""
    found = np.zeros((len(stop), len(values)), dtype=bool)
    found[0] = True
    for node in np.flatnonzero((tree.attribute >= 0) & ~stop):
        cells = values[:, tree.attribute[node]]
        numeric = cardinality[tree.attribute[node]] == 0
        branch = cells > tree.threshold[node] if numeric else cells
        for k in range(tree.n_children[node]):
            found[tree.first_child[node] + k] = found[node] & (branch == k)
    return found


def pruned(tree: Tree, label: np.ndarray, visits: np.ndarray, y: np.ndarray, direction: str):
    """Which nodes become leaves: where the held rows lose nothing by it."""
    as_leaf = (visits & (label[:, None] != y)).sum(axis=1)
    below, cut = as_leaf.copy(), np.zeros(len(label), dtype=bool)
    for node in np.flatnonzero(tree.attribute >= 0)[::-1]:
        first = tree.first_child[node]
        inside = below[first : first + tree.n_children[node]].sum()
        cut[node] = as_leaf[node] <= inside
        if direction == "down" or not cut[node]:
            below[node] = inside
    return cut


def errors(data: Prepared, train: np.ndarray, test: np.ndarray) -> dict[tuple[str, ...], float]:
    """Errors in percent of one split, by growth, direction of pruning, and empty branches."""
    filled, _ = fill(data, train)
    known = replace(data.encoded(), values=filled)
    found = {
        ("ours",): error(C45(pruning="holdout"), data.encoded(), train, test),
        ("filled",): error(C45(pruning="holdout"), known, train, test),
        ("numbers",): error(
            C45(pruning="holdout"), replace(known, cardinality=0 * known.cardinality), train, test
        ),
    }
    held = np.zeros(len(train), dtype=bool)
    held[np.random.default_rng(0).permutation(len(train))[: int(SHARE * len(train))]] = True
    for growth, settings in GROWTHS.items():
        model = C45(pruning=None, **settings)
        model._fit_encoded(known.take(train[~held]))
        tree = model.tree_
        everywhere = np.zeros(len(tree.attribute), dtype=bool)
        visits = reached(tree, everywhere, data.cardinality, filled[train[held]])
        for direction, empty in ENDINGS:
            label = classes(tree, empty)
            cut = pruned(tree, label, visits, data.y[train[held]], direction)
            ends = reached(tree, cut, data.cardinality, filled[test])
            last = len(label) - 1 - ends[::-1].argmax(axis=0)  # a row's leaf has the largest number
            found[growth, direction, empty] = 100 * float(np.mean(label[last] != data.y[test]))
    return found


def error(model: C45, data: Encoded, train: np.ndarray, test: np.ndarray) -> float:
    """Error in percent of the library's tree."""
    model._fit_encoded(data.take(train))
    return 100 * float(np.mean(model._predict_encoded(data.values[test]) != data.y[test]))


def own_tree(data: Prepared, splits) -> float:
    """Mean error in percent of the paper's own tree on the same halves."""
    marks = np.zeros((splits.runs, data.n), dtype=bool)
    for run, fold, _, test in splits:
        marks[run, test] = fold == 1
    seeds = np.random.default_rng(0).integers(0, 2**32, (splits.runs, 2), dtype=np.uint32)
    second = marks.sum(axis=1)
    wrong = count_errors(data, "C4.5", marks, seeds) / np.stack([data.n - second, second], axis=1)
    return 100 * float(wrong.mean())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=30, help="runs of 5x2 cross-validation")
    parser.add_argument("--set", action="append", choices=PRINTED, metavar="NAME")
    given = parser.parse_args()
    for name in given.set or ("balance", "horse"):
        data = prepare(name, next(folder().glob(f"{name}.csv*")))
        splits = plan(f"{5 * given.runs}x2", stratified=False, random_state=0).materialise(data.n)
        each = [errors(data, train, test) for _, _, train, test in splits]
        mean = {key: np.mean([one[key] for one in each]) for key in each[0]}
        print(
            f"{name}, runs {given.runs}: Table 1 has {PRINTED[name][3]:.2f}, the paper's own tree "
            f"{own_tree(data, splits):.2f}; ours {mean['ours',]:.2f}, filled "
            f"{mean['filled',]:.2f}, and its nominal codes as numbers {mean['numbers',]:.2f}."
        )
        heads = (f"{direction}, {empty}" for direction, empty in ENDINGS)
        print(f"{'grown':12s}" + "".join(f"{head:>14s}" for head in heads))
        for growth in GROWTHS:
            line = (f"{mean[(growth, *ending)]:14.2f}" for ending in ENDINGS)
            print(f"{growth:12s}" + "".join(line), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
