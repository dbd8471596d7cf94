"""The ROC convex hull: which classifiers are best for some class shares and costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bestofk._base.checks import Floats, Ints, finite_array, positive, probability
from bestofk._base.errors import ArgumentError
from bestofk._base.formatting import number
from bestofk._base.results import Presented, json_ready
from bestofk.decide.preference import Name
from bestofk.decide.statements.wording import listing

MAX_COARSE_SCORES = 10
"""A curve with at most this many distinct scores is called coarse."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RocCurve:
    """One classifier over all its thresholds, from (0, 0) to (1, 1)."""

    name: Name
    false_positive_rate: Floats
    true_positive_rate: Floats
    thresholds: Floats
    """Called positive when the score is at least this; infinite for (0, 0)."""

    @property
    def area(self) -> float:
        """Area under the curve, equal scores counted half."""
        from scipy.integrate import trapezoid  # numpy has it only from 2.0 on

        return float(trapezoid(self.true_positive_rate, self.false_positive_rate))


@dataclass(frozen=True, slots=True, kw_only=True)
class HullVertex:
    """A corner of the hull, best for slopes between `slope_low` and `slope_high`."""

    false_positive_rate: float
    true_positive_rate: float
    slope_low: float
    slope_high: float
    learners: tuple[Name, ...]
    """The learners that reach it; none at (0, 0) and (1, 1), which need no classifier."""
    thresholds: tuple[float, ...]
    """The threshold of each of `learners`."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RocHull(Presented):
    """The upper convex hull of all curves.

    Attributes
    ----------
    optimal : tuple of names
        Learners that are best for some slope, by falling slope.
    slopes : mapping of name to tuple of (low, high)
        For which slopes each of them is best.
    vertices : tuple of HullVertex
        From (0, 0) to (1, 1).
    curves : tuple of RocCurve
    area : float
        Area under the hull.
    """

    names: tuple[Name, ...]
    vertices: tuple[HullVertex, ...]
    curves: tuple[RocCurve, ...]

    @property
    def optimal(self) -> tuple[Name, ...]:
        """Learners that are best for some slope, by falling slope."""
        return tuple(dict.fromkeys(n for vertex in self.vertices for n in vertex.learners))

    @property
    def slopes(self) -> Mapping[Name, tuple[tuple[float, float], ...]]:
        """For which slopes each optimal learner is best; adjoining ranges are joined."""
        slopes: dict[Name, list[tuple[float, float]]] = {name: [] for name in self.optimal}
        for vertex in self.vertices:
            for name in vertex.learners:
                ranges = slopes[name]
                if ranges and ranges[-1][0] == vertex.slope_high:
                    ranges[-1] = (vertex.slope_low, ranges[-1][1])
                else:
                    ranges.append((vertex.slope_low, vertex.slope_high))
        return {name: tuple(ranges) for name, ranges in slopes.items()}

    @property
    def area(self) -> float:
        """Area under the hull."""
        from scipy.integrate import trapezoid

        x = [vertex.false_positive_rate for vertex in self.vertices]
        y = [vertex.true_positive_rate for vertex in self.vertices]
        return float(trapezoid(y, x))

    def best(
        self,
        *,
        positive_share: float,
        cost_false_positive: float = 1.0,
        cost_false_negative: float = 1.0,
    ) -> HullVertex:
        """Return the corner of least expected cost; of several the one with fewest positives.

        Lines of equal cost have the slope
        (1 - positive_share) cost_false_positive / (positive_share cost_false_negative).
        """
        share = probability(positive_share, "positive_share")
        slope = ((1 - share) * positive(cost_false_positive, "cost_false_positive")) / (
            share * positive(cost_false_negative, "cost_false_negative")
        )
        return next(vertex for vertex in self.vertices if vertex.slope_low <= slope)

    def added(self, scores: Any, truth: Any, *, name: Name) -> RocHull:
        """Return the hull with one more classifier, without the scores of the others.

        Parameters
        ----------
        scores, truth : array (N,)
            Its scores on the same test instances, and their labels.
        name : str
            Its name.

        Examples
        --------
        >>> truth = [1, 1, 0, 0]
        >>> hull = roc_hull([[1, 0, 0, 0]], truth, names=["a"])
        >>> hull.added([1, 1, 1, 0], truth, name="b").optimal
        ('a', 'b')
        """
        if name in self.names:
            raise ArgumentError(f"name must be new; the hull already has {name!r}.")
        labels = np.asarray(truth).astype(bool)
        new = roc_hull([scores], truth, names=[str(name)])
        n_positive, n_negative = int(labels.sum()), int((~labels).sum())
        counts = [
            (
                np.rint(curve.false_positive_rate * n_negative).astype(np.int64),
                np.rint(curve.true_positive_rate * n_positive).astype(np.int64),
                curve.thresholds,
            )
            for curve in (*self.curves, *new.curves)
        ]
        for (fp, tp, _), curve in zip(counts, self.curves, strict=False):
            if not (np.allclose(fp / n_negative, curve.false_positive_rate)
                    and np.allclose(tp / n_positive, curve.true_positive_rate)):  # fmt: skip
                raise ArgumentError("truth must be the labels that the hull was made with.")
        return _hull(counts, (*self.names, name), n_positive, n_negative)

    def _columns(self) -> dict[str, Any]:
        """One row per corner and learner that reaches it, from (0, 0) to (1, 1)."""
        rows = [
            (vertex, name, threshold)
            for vertex in self.vertices
            for name, threshold in zip(
                vertex.learners or (None,), vertex.thresholds or (None,), strict=True
            )
        ]
        return {
            "false_positive_rate": [vertex.false_positive_rate for vertex, _, _ in rows],
            "true_positive_rate": [vertex.true_positive_rate for vertex, _, _ in rows],
            "slope_low": [vertex.slope_low for vertex, _, _ in rows],
            "slope_high": [vertex.slope_high for vertex, _, _ in rows],
            "learner": [name for _, name, _ in rows],
            "threshold": [threshold for _, _, threshold in rows],
        }

    def to_dict(self) -> dict[str, Any]:
        """Return the hull for strict JSON; an infinite slope or threshold is null."""
        return {
            **Presented.to_dict(self),
            "optimal": list(self.optimal),
            "slopes": json_ready(self.slopes),
            "area": self.area,
        }

    def explain(self) -> str:
        """Return the hull in sentences."""
        optimal = self.optimal
        if not optimal:
            return (
                f"None of {len(self.names)} classifiers is above the diagonal: for every slope a "
                "constant answer costs no more."
            )
        slopes = self.slopes
        ranges = listing(
            f"{name} (slopes {' and '.join(_range(low, high) for low, high in slopes[name])})"
            for name in optimal
        )
        is_are = "is" if len(optimal) == 1 else "are"
        sentences = [
            f"Of {len(self.names)} classifiers {len(optimal)} {is_are} best for some class "
            f"shares and costs: {ranges}."
        ]
        never = [str(name) for name in self.names if name not in optimal]
        if never:
            sentences.append(f"Never best: {listing(never)}.")
        coarse = [
            f"{curve.name} ({len(curve.thresholds) - 1})"
            for curve in self.curves
            if len(curve.thresholds) - 1 <= MAX_COARSE_SCORES
        ]
        if coarse:
            sentences.append(
                f"Few distinct scores, so few points: {listing(coarse)}. Labels have two, and k "
                "nearest neighbours k + 1."
            )
        sentences.append(
            "The slope is (share of negatives x cost of a false positive) / (share of positives "
            f"x cost of a false negative). Area under the hull: {number(self.area)}."
        )
        return " ".join(sentences)


def roc_hull(scores: Any, truth: Any, *, names: Sequence[str] | None = None) -> RocHull:
    """Find the classifiers that are best for some class shares and misclassification costs.

    Parameters
    ----------
    scores : array (K, N)
        Scores of K classifiers on N test instances, larger for *positive*; answers of 0 and 1
        will do and give one point each.
    truth : array (N,)
        True where the instance is positive (or 1 and 0).
    names : sequence of str, optional
        By default the integers 0..K-1.

    Returns
    -------
    RocHull

    Notes
    -----
    Points are pairs of counts (false positives, true positives), so the hull is found in exact
    integer arithmetic. A corner is best for the slopes between those of its two edges.

    References
    ----------
    F. Provost and T. Fawcett, Robust classification for imprecise environments, Machine Learning
    42 (2001) 203-231, doi:10.1023/A:1007601015854.

    Examples
    --------
    >>> truth = [1, 1, 0, 0]
    >>> hull = roc_hull([[1, 0, 0, 0], [1, 1, 1, 0], [0, 0, 0, 1]], truth, names=["a", "b", "c"])
    >>> hull.optimal
    ('a', 'b')
    >>> dict(hull.slopes)["a"]
    ((1.0, inf),)
    """
    array = finite_array(scores, "scores", min_ndim=2)
    if array.ndim != 2:
        raise ArgumentError(f"scores must be (K, N); got shape {array.shape}.")
    labels = np.asarray(truth)
    if labels.shape != array.shape[1:]:
        raise ArgumentError(
            f"truth must hold one label for each of {array.shape[1]} instances; "
            f"got shape {labels.shape}."
        )
    if not np.isin(labels, (0, 1)).all():
        raise ArgumentError("truth must be true or false (1 or 0) for every instance.")
    labels = labels.astype(bool)
    n_positive, n_negative = int(labels.sum()), int((~labels).sum())
    if not (n_positive and n_negative):
        raise ArgumentError("truth must hold both positive and negative instances.")
    known: tuple[Name, ...] = tuple(names) if names is not None else tuple(range(len(array)))
    if len(known) != len(array):
        raise ArgumentError(f"names must hold {len(array)} names; got {len(known)}.")
    return _hull([_counts(row, labels) for row in array], known, n_positive, n_negative)


def _hull(
    counts: Sequence[tuple[Ints, Ints, Floats]],
    known: tuple[Name, ...],
    n_positive: int,
    n_negative: int,
) -> RocHull:
    """Return the hull of curves given by false and true positives and thresholds."""
    curves = tuple(
        RocCurve(
            name=name,
            false_positive_rate=fp / n_negative,
            true_positive_rate=tp / n_positive,
            thresholds=thresholds,
        )
        for name, (fp, tp, thresholds) in zip(known, counts, strict=True)
    )
    points = np.unique(np.concatenate([np.stack((fp, tp), axis=1) for fp, tp, _ in counts]), axis=0)
    corners = _upper_hull(points)
    vertices = []
    for place, (fp, tp) in enumerate(corners):
        high = _slope(corners, place - 1, place, n_positive, n_negative)
        low = _slope(corners, place, place + 1, n_positive, n_negative)
        trivial = (fp, tp) in ((0, 0), (n_negative, n_positive))
        reached = [
            (name, float(thresholds[at[0]]))
            for name, (fps, tps, thresholds) in zip(known, counts, strict=True)
            if not trivial and len(at := np.flatnonzero((fps == fp) & (tps == tp)))
        ]
        vertices.append(
            HullVertex(
                false_positive_rate=fp / n_negative,
                true_positive_rate=tp / n_positive,
                slope_low=low,
                slope_high=high,
                learners=tuple(name for name, _ in reached),
                thresholds=tuple(threshold for _, threshold in reached),
            )
        )
    return RocHull(names=known, vertices=tuple(vertices), curves=curves)


def _counts(scores: Floats, truth: Any) -> tuple[Ints, Ints, Floats]:
    """Return false and true positives at every distinct threshold, in descending order."""
    thresholds, level = np.unique(-scores, return_inverse=True)
    tp = np.cumsum(np.bincount(level, weights=truth)).astype(np.int64)
    fp = np.cumsum(np.bincount(level, weights=~truth)).astype(np.int64)
    return (
        np.concatenate(([0], fp)),
        np.concatenate(([0], tp)),
        np.concatenate(([np.inf], -thresholds)),
    )


def _upper_hull(points: Ints) -> list[tuple[int, int]]:
    """Return the corners of the upper hull by ascending false positives (Andrew's chain)."""
    hull: list[tuple[int, int]] = []
    tallest = {int(x): int(y) for x, y in points}  # sorted, so the largest y of each x stays
    start = (0, 0)
    for point in [start, *((x, y) for x, y in tallest.items())]:
        if hull and point == hull[-1]:
            continue
        while len(hull) > 1 and _turn(hull[-2], hull[-1], point) >= 0:
            hull.pop()
        hull.append(point)
    return hull


def _turn(o: tuple[int, int], a: tuple[int, int], b: tuple[int, int]) -> int:
    return (a[0] - o[0]) * (b[1] - o[1]) - (a[1] - o[1]) * (b[0] - o[0])


def _slope(
    corners: list[tuple[int, int]], left: int, right: int, n_positive: int, n_negative: int
) -> float:
    if left < 0:
        return float("inf")
    if right >= len(corners):
        return 0.0
    (x0, y0), (x1, y1) = corners[left], corners[right]
    if x1 == x0:
        return float("inf")
    return (y1 - y0) * n_negative / ((x1 - x0) * n_positive)


def _range(low: float, high: float) -> str:
    if high == float("inf"):
        return f"above {number(low)}" if low else "of any size"
    return f"below {number(high)}" if low == 0 else f"{number(low)} to {number(high)}"
