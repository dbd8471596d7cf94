"""FURIA: unordered fuzzy rules, learned with RIPPER's search and stretched over uncovered rows."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from bestofk._base.checks import Floats, generator
from bestofk.data.schema import Codes, Encoded
from bestofk.learners.base import ProbabilisticClassifier

Flags = npt.NDArray[np.bool_]
EQUAL, AT_MOST, AT_LEAST = range(3)
OPTIMIZATIONS = 2
"""Passes in which RIPPER replaces or revises every rule."""
MIN_ROWS = 2
"""Smallest number of training rows that a condition may keep."""
MAX_EXTRA_BITS = 64.0
"""Stop adding rules if their description is longer than the shortest one by this many bits."""


@dataclass(frozen=True, slots=True)
class Antecedent:
    """A condition on one column: ``= core``, ``<= core`` or ``>= core``, fuzzy up to `support`.

    A row has membership 1 up to `core`, 0 from `support` on, and a linear one between. A missing
    cell has membership 0.

    Examples
    --------
    >>> at_most = Antecedent(column=0, kind=AT_MOST, core=2.0, support=4.0)
    >>> at_most.membership(np.array([[1.0], [3.0], [4.0], [np.nan]])).tolist()
    [1.0, 0.5, 0.0, 0.0]
    """

    column: int
    kind: int
    core: float
    support: float

    def membership(self, values: Floats) -> Floats:
        """Return the membership of every row."""
        x = values[:, self.column]
        if self.kind == EQUAL:
            return np.asarray(x == self.core, dtype=np.float64)
        beyond = x - self.core if self.kind == AT_MOST else self.core - x
        width = abs(self.support - self.core)
        inside = beyond <= 0
        if not width:
            return inside.astype(np.float64)
        fuzzy = np.clip(1.0 - beyond / width, 0.0, 1.0)
        return np.where(inside, 1.0, np.where(np.isnan(x), 0.0, fuzzy))

    def covers(self, values: Floats) -> Flags:
        """Mark the rows of the core."""
        x = values[:, self.column]
        if self.kind == EQUAL:
            return np.asarray(x == self.core)
        return np.asarray(x <= self.core if self.kind == AT_MOST else x >= self.core)


Rule = tuple[Antecedent, ...]


def covered(rule: Rule, values: Floats) -> Flags:
    """Mark the rows that meet all conditions of a crisp rule."""
    rows = np.ones(len(values), dtype=np.bool_)
    for antecedent in rule:
        rows &= antecedent.covers(values)
    return rows


def memberships(rule: Rule, values: Floats) -> Floats:
    """Return the membership of every row in the first 0, 1, ... antecedents, by the product."""
    degrees = np.ones((len(rule) + 1, len(values)))
    for k, antecedent in enumerate(rule):
        degrees[k + 1] = degrees[k] * antecedent.membership(values)
    return degrees


# RIPPER's search for the crisp rules of one class


class RuleSearch:
    """Learn crisp rules for the rows marked `positive`.

    `values` and `cardinality` are those of `Encoded`.
    """

    def __init__(
        self,
        values: Floats,
        cardinality: Codes,
        positive: Flags,
        rng: np.random.Generator,
    ) -> None:
        self.values, self.positive, self.rng = values, positive, rng
        self.numeric = np.flatnonzero(cardinality == 0)
        self.nominal = np.flatnonzero(cardinality > 0)
        self.cardinality = cardinality
        self.columns = np.ascontiguousarray(values[:, self.numeric].T)
        # missing cells sort last
        self.order = np.argsort(self.columns, axis=1, kind="stable")
        distinct = sum(len(np.unique(c[~np.isnan(c)])) for c in self.columns)
        self.n_conditions = int(2 * distinct + cardinality.sum())
        self.expected = positive.mean()
        self.cover: dict[Rule, Flags] = {}

    def rules(self) -> list[Rule]:
        """Return the rules: build, optimize, and add rules for positive rows not covered."""
        rules = self._deleted(self._built([]))
        for _ in range(OPTIMIZATIONS):
            for k in range(len(rules)):
                rules[k] = self._optimized(rules, k)
            rules = self._deleted(self._built(rules))
        return rules

    def _built(self, rules: list[Rule]) -> list[Rule]:
        """Add rules, grown on all rows that are left, until no more are useful."""
        rules = list(rules)
        left = ~self._any(rules)
        shortest = self.description_length(rules)
        while (left & self.positive).any():
            rule = self.grown((), left)
            rows = left & covered(rule, self.values)
            right = int((rows & self.positive).sum())
            if not rule or 2 * right <= int(rows.sum()):
                break
            length = self.description_length([*rules, rule])
            if length > shortest + MAX_EXTRA_BITS:
                break
            shortest = min(shortest, length)
            rules.append(rule)
            left &= ~rows
        return rules

    def _optimized(self, rules: list[Rule], k: int) -> Rule:
        """Return rule k, its replacement or its revision: the one of the shortest description."""
        before, after = self._any(rules[:k]), self._any(rules[k + 1 :])
        part = self._parts()
        grow, prune = ~before & part, ~before & ~after & ~part
        choices = [rules[k]]
        for start in ((), rules[k]):
            rule = self._pruned(self.grown(start, grow & covered(start, self.values)), prune)
            if rule:
                choices.append(rule)
        lengths = [self.description_length([*rules[:k], c, *rules[k + 1 :]]) for c in choices]
        return choices[int(np.argmin(lengths))]

    def _parts(self) -> Flags:
        """Mark two thirds of the rows of each class at random."""
        part = np.zeros(len(self.positive), dtype=np.bool_)
        for rows in (np.flatnonzero(self.positive), np.flatnonzero(~self.positive)):
            part[self.rng.permutation(rows)[len(rows) // 3 :]] = True
        return part

    def _pruned(self, rule: Rule, rows: Flags) -> Rule:
        """Keep the first antecedents that are right on most of the rows, the fewest of ties."""
        positive = self.positive[rows]
        right = [int((~positive).sum())]  # no rule: all negative rows are right
        inside = np.ones(len(positive), dtype=np.bool_)
        for antecedent in rule:
            inside = inside & antecedent.covers(self.values[rows])
            right.append(int((inside == positive).sum()))
        best = int(np.argmax(right[1:])) + 1 if rule else 0
        return rule[:best] if not rule or right[best] >= right[0] else ()

    def _deleted(self, rules: list[Rule]) -> list[Rule]:
        """Delete rules, the last first, whose deletion shortens the description."""
        rules = list(rules)
        length = self.description_length(rules)
        for k in reversed(range(len(rules))):
            without = rules[:k] + rules[k + 1 :]
            shorter = self.description_length(without)
            if shorter < length:
                rules, length = without, shorter
        return rules

    def _any(self, rules: list[Rule]) -> Flags:
        rows = np.zeros(len(self.values), dtype=np.bool_)
        for rule in rules:
            if rule not in self.cover:
                self.cover[rule] = covered(rule, self.values)
            rows |= self.cover[rule]
        return rows

    def grown(self, rule: Rule, rows: Flags) -> Rule:
        """Add conditions of the largest information gain (FOIL) while negative rows are covered."""
        m = int(rows.sum())
        order = self.order[rows[self.order]].reshape(len(self.numeric), m)
        inside = rows.copy()
        while True:
            total, right = m, int((inside & self.positive).sum())
            if right == total or not right:
                return rule
            gain, antecedent = self._best_numeric(order, total, right)
            other = self._best_nominal(inside, total, right)
            if antecedent is None or other[0] > gain:
                gain, antecedent = other
            if antecedent is None or gain <= 1e-12:
                return rule
            rule = (*rule, antecedent)
            inside &= antecedent.covers(self.values)
            m = int(inside.sum())
            order = order[inside[order]].reshape(len(self.numeric), m)

    def _best_numeric(
        self, order: Codes, total: int, right: int
    ) -> tuple[float, Antecedent | None]:
        if not len(order) or order.shape[1] < 2:
            return 0.0, None
        x = np.take_along_axis(self.columns, order, axis=1)
        p = self.positive[order].cumsum(axis=1)
        known = ~np.isnan(x)
        n_known = known.sum(axis=1)
        p_known = np.where(
            n_known > 0, p[np.arange(len(p)), np.maximum(n_known, 1) - 1], 0
        )[:, np.newaxis]  # fmt: skip
        low = np.arange(1, x.shape[1])[np.newaxis]
        # a cut after position k, between two known values; or between known and missing cells
        cut = (x[:, 1:] != x[:, :-1]) & known[:, :-1]
        sides = np.stack(
            [
                _gain(p[:, :-1], np.broadcast_to(low, cut.shape), total, right),
                _gain(p_known - p[:, :-1], n_known[:, np.newaxis] - low, total, right),
            ]
        )
        sizes = np.stack([np.broadcast_to(low, cut.shape), n_known[:, np.newaxis] - low])
        sides[(sizes < MIN_ROWS) | ~cut] = -np.inf
        sides[1][~known[:, 1:]] = -np.inf
        kind, row, k = np.unravel_index(int(np.argmax(sides)), sides.shape)
        gain = float(sides[kind, row, k])
        core = float(x[row, k + int(kind)])
        column = int(self.numeric[row])
        sign = AT_LEAST if kind else AT_MOST
        return gain, Antecedent(column, sign, core, core) if gain > 0 else None

    def _best_nominal(
        self, inside: Flags, total: int, right: int
    ) -> tuple[float, Antecedent | None]:
        best: tuple[float, Antecedent | None] = 0.0, None
        for column in self.nominal.tolist():
            x = self.values[inside, column]
            known = ~np.isnan(x)
            codes, size = x[known].astype(np.int64), int(self.cardinality[column])
            t = np.bincount(codes, minlength=size)
            p = np.bincount(codes[self.positive[inside][known]], minlength=size)
            gains = np.where((t >= MIN_ROWS) & (t < total), _gain(p, t, total, right), -np.inf)
            k = int(np.argmax(gains))
            if gains[k] > best[0]:
                best = float(gains[k]), Antecedent(column, EQUAL, float(k), float(k))
        return best

    def description_length(self, rules: list[Rule]) -> float:
        """Return the bits that describe the rules and their exceptions (Quinlan 1995)."""
        rows = self._any(rules)
        inside, outside = int(rows.sum()), int((~rows).sum())
        false = int((rows & ~self.positive).sum())
        missed = int((~rows & self.positive).sum())
        bits = float(np.log2(inside + outside + 1))
        if inside > outside:
            expected = (1 - self.expected) * (false + missed)
            bits += _subset_bits(inside, false, expected / inside)
            bits += _subset_bits(outside, missed, missed / outside) if outside else 0.0
        else:
            expected = self.expected * (false + missed)
            bits += _subset_bits(inside, false, false / inside) if inside else 0.0
            bits += _subset_bits(outside, missed, expected / outside)
        for rule in rules:
            k = len(rule)
            length = float(np.log2(k)) if k else 0.0
            length += 2 * float(np.log2(length)) if length > 1 else 0.0
            share = min(k / self.n_conditions, 1.0)
            # half, because conditions can be redundant
            bits += 0.5 * (length + _subset_bits(self.n_conditions, k, share))
        return bits


def _gain(p: npt.NDArray[np.int64], t: npt.NDArray[np.int64], total: int, right: int) -> Floats:
    """Return the information gain of conditions that keep p positive of t rows."""
    share = np.maximum(p, 1) / np.maximum(t, 1)
    return np.where(p > 0, p * (np.log2(share) - np.log2(right / total)), -np.inf)


def _subset_bits(n: int, k: int, p: float) -> float:
    """Return the bits that name k of n elements, each expected with probability p."""
    bits = -k * np.log2(p) if p > 0 and k else 0.0
    return float(bits - (n - k) * np.log2(1 - p) if p < 1 and n > k else bits)


# Fuzzification


def merged(rule: Rule) -> Rule:
    """Keep the last of the conditions on the same side of a column, which is the tightest."""
    last = {(a.column, a.kind): k for k, a in enumerate(rule)}
    return tuple(a for k, a in enumerate(rule) if last[a.column, a.kind] == k)


def fuzzified(rule: Rule, values: Floats, positive: Flags) -> Rule:
    """Give every numeric antecedent the support of the largest purity, the purest first.

    The rows of an antecedent are those with positive membership in all others. Its purity is the
    share of positive rows among them, weighted by their membership in it. Candidates are the
    values of these rows outside the core; the widest of equally pure supports is used.
    """
    fuzzy = list(rule)
    inside = np.stack([a.membership(values) > 0 for a in fuzzy]) if fuzzy else np.empty((0, 0))
    waiting = {k for k, a in enumerate(fuzzy) if a.kind != EQUAL}
    while waiting:
        best: tuple[float, int, Antecedent] | None = None
        for k in sorted(waiting):
            others = np.delete(inside, k, axis=0).all(axis=0)
            purity, antecedent = _widened(fuzzy[k], values[others], positive[others])
            if best is None or purity > best[0]:
                best = purity, k, antecedent
        assert best is not None
        _, k, fuzzy[k] = best
        inside[k] = fuzzy[k].membership(values) > 0
        waiting.remove(k)
    return tuple(fuzzy)


def _widened(antecedent: Antecedent, values: Floats, positive: Flags) -> tuple[float, Antecedent]:
    """Return the largest purity and the antecedent with the widest support that reaches it."""
    x, sign = values[:, antecedent.column], 1.0 if antecedent.kind == AT_MOST else -1.0
    beyond = sign * (x - antecedent.core)
    core = beyond <= 0
    right, total = float((core & positive).sum()), float(core.sum())
    outside = np.flatnonzero(beyond > 0)
    if not len(outside):
        return right / max(total, 1.0), antecedent
    outside = outside[np.argsort(beyond[outside], kind="stable")]
    z, q = beyond[outside], positive[outside].astype(np.float64)

    def weight(counted: Floats) -> Floats:
        """Sum the memberships of the rows nearer than each candidate support."""
        before = np.concatenate([[0.0], counted.cumsum()[:-1]])
        sums = np.concatenate([[0.0], (counted * z).cumsum()[:-1]])
        return before - sums / z

    p, t = right + weight(q), total + weight(np.ones(len(z)))
    purity = np.divide(p, t, out=np.zeros(len(z)), where=t > 0)
    best = len(z) - 1 - int(np.argmax((purity >= purity.max() - 1e-12)[::-1]))
    support = float(x[outside[best]])
    return float(purity.max()), replace(antecedent, support=support)


class Furia(ProbabilisticClassifier):
    """Predict with FURIA: unordered fuzzy rules, one set per class.

    Parameters
    ----------
    random_state : int, numpy Generator or None, default 0
        Divides the rows into growing and pruning rows in the optimizations.

    Attributes
    ----------
    rules_ : list of list of tuple
        The fuzzy rules of each class.
    certainties_ : list of array
        The certainty factor of each rule.

    Notes
    -----
    *Rules* [1]_. Each class has its own rules, learned against all other classes with RIPPER [2]_:
    conditions of the largest information gain are added until no other class is covered; rules
    are added until their description becomes 64 bits longer than the shortest one. The rules are
    grown on all rows and are not pruned. In the optimizations, each rule competes with a
    replacement and a revision that are grown on two thirds of the rows and pruned on the others.
    There is no default rule.

    *Fuzzification.* The core of a condition stays as learned. Its support extends to the value
    with the largest purity (see `fuzzified`).

    *Prediction.* A class gets the sum of the memberships of a row in its rules, times their
    certainty factors, (2 share of the class + membership of its training rows) / (2 + membership
    of all training rows). Ties go to the class with more training rows.

    *Stretching.* If no rule covers a row, each rule keeps the antecedents before the first one
    that the row violates. The best of them decides, by (p + 1) / (p + n + 2) times (k + 1) /
    (m + 2), for k of m antecedents and memberships p and n of training rows of its class and of
    the others. If no rule keeps any antecedent, the class with most training rows is predicted.

    *Missing cells* violate every condition, as in RIPPER.

    References
    ----------
    .. [1] J. Huehn and E. Huellermeier, "FURIA: an algorithm for unordered fuzzy rule induction",
       Data Mining and Knowledge Discovery 19, 2009, 293-319. :doi:`10.1007/s10618-009-0131-8`
    .. [2] W. W. Cohen, "Fast effective rule induction", Proceedings of the 12th International
       Conference on Machine Learning, 1995, 115-123. :doi:`10.1016/B978-1-55860-377-6.50023-2`

    Examples
    --------
    >>> X = [[1.0], [2.0], [3.0], [6.0], [7.0], [8.0]]
    >>> model = Furia().fit(X, ["low"] * 3 + ["high"] * 3)
    >>> [[rule.core, rule.support] for rules in model.rules_ for (rule,) in rules]
    [[6.0, 3.0], [3.0, 6.0]]
    >>> model.predict([[4.0], [5.5]]).tolist()
    ['low', 'high']
    """

    rules_: list[list[Rule]]
    certainties_: list[Floats]
    _shares: Floats
    _worths: list[list[Floats]]

    def __init__(self, *, random_state: int | np.random.Generator | None = 0) -> None:
        self.random_state = random_state

    def _fit_encoded(self, encoded: Encoded) -> None:
        rng = generator(self.random_state)
        counts = np.bincount(encoded.y, minlength=encoded.n_classes)
        self._shares = counts / encoded.n
        self.rules_, self.certainties_, self._worths = [], [], []
        for code in range(encoded.n_classes):
            positive = encoded.y == code
            crisp = []
            if encoded.n_classes > 1:
                crisp = RuleSearch(encoded.values, encoded.cardinality, positive, rng).rules()
            rules = [fuzzified(merged(rule), encoded.values, positive) for rule in crisp]
            certainties, worths = [], []
            for rule in rules:
                degrees = memberships(rule, encoded.values)
                p, total = degrees @ positive, degrees.sum(axis=1)
                k = np.arange(len(rule) + 1)
                certainties.append((2 * self._shares[code] + p[-1]) / (2 + total[-1]))
                worths.append((p + 1) / (total + 2) * (k + 1) / (len(rule) + 2))
            self.rules_.append(rules)
            self.certainties_.append(np.array(certainties))
            self._worths.append(worths)

    def _supports(self, values: Floats) -> Floats:
        """Return the support of each class, from stretched rules or shares if no rule covers."""
        supports = np.zeros((len(values), len(self.rules_)))
        stretched = np.zeros_like(supports)
        for code, rules in enumerate(self.rules_):
            for k, rule in enumerate(rules):
                degrees = memberships(rule, values)
                supports[:, code] += self.certainties_[code][k] * degrees[-1]
                # the antecedents before the first one with membership 0
                satisfied = (degrees[1:] > 0).sum(axis=0)
                worth = np.where(satisfied > 0, self._worths[code][k][satisfied], 0.0)
                stretched[:, code] = np.maximum(stretched[:, code], worth)
        uncovered = ~(supports > 0).any(axis=1)
        supports[uncovered] = stretched[uncovered]
        supports[~(supports > 0).any(axis=1)] = self._shares
        return supports

    def _proba_encoded(self, values: Floats) -> Floats:
        supports = self._supports(values)
        return np.asarray(supports / supports.sum(axis=1, keepdims=True))

    def _predict_encoded(self, values: Floats) -> Codes:
        supports = self._supports(values)
        tied = supports >= supports.max(axis=1, keepdims=True) - 1e-12
        return np.asarray(np.where(tied, self._shares, -1.0).argmax(axis=1), dtype=np.int64)

    def complexity(self) -> int:
        """Return the number of antecedents of all rules, plus one share per class."""
        return len(self.classes_) + sum(len(rule) for rules in self.rules_ for rule in rules)
