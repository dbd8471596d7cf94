"""The ROC convex hull: which classifiers are best for some class shares and costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
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
    false_positives: Ints
    true_positives: Ints
    thresholds: Floats
    """Called positive when the score is at least this; infinite for (0, 0)."""

    @property
    def false_positive_rate(self) -> Floats:
        """Share of the negatives that are called positive."""
        return np.asarray(self.false_positives / self.false_positives[-1])

    @property
    def true_positive_rate(self) -> Floats:
        """Share of the positives that are called positive."""
        return np.asarray(self.true_positives / self.true_positives[-1])

    @property
    def area(self) -> float:
        """Area under the curve, equal scores counted half."""
        return _area(self.false_positive_rate, self.true_positive_rate)


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
        x = [vertex.false_positive_rate for vertex in self.vertices]
        y = [vertex.true_positive_rate for vertex in self.vertices]
        return _area(x, y)

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
        (new,) = roc_hull([scores], truth, names=[str(name)]).curves
        for curve in self.curves:
            if (curve.false_positives[-1], curve.true_positives[-1]) != (
                new.false_positives[-1],
                new.true_positives[-1],
            ):
                raise ArgumentError("truth must be the labels that the hull was made with.")
        return _hull((*self.curves, replace(new, name=name)))

    def _columns(self) -> dict[str, Any]:
        """One row per corner and learner that reaches it, from (0, 0) to (1, 1)."""
        rows = [
            (vertex, name, threshold)
            for vertex in self.vertices
            for name, threshold in zip(
                vertex.learners or (None,), vertex.thresholds or (None,), strict=True
            )
        ]
        ends = ("false_positive_rate", "true_positive_rate", "slope_low", "slope_high")
        return {
            **{end: [getattr(vertex, end) for vertex, _, _ in rows] for end in ends},
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
    if labels.all() or not labels.any():
        raise ArgumentError("truth must hold both positive and negative instances.")
    known: tuple[Name, ...] = tuple(names) if names is not None else tuple(range(len(array)))
    if len(known) != len(array):
        raise ArgumentError(f"names must hold {len(array)} names; got {len(known)}.")
    return _hull(tuple(_curve(name, row, labels) for name, row in zip(known, array, strict=True)))


def _hull(curves: tuple[RocCurve, ...]) -> RocHull:
    """Return the hull of curves on the same instances."""
    n_negative, n_positive = int(curves[0].false_positives[-1]), int(curves[0].true_positives[-1])
    points = [np.stack((curve.false_positives, curve.true_positives), axis=1) for curve in curves]
    corners = _upper_hull(np.unique(np.concatenate(points), axis=0))
    x, y = np.array(corners).T
    with np.errstate(divide="ignore"):
        edges = np.diff(y) * n_negative / (np.diff(x) * n_positive)
    slopes = [np.inf, *edges.tolist(), 0.0]
    vertices = []
    for place, (fp, tp) in enumerate(corners):
        trivial = (fp, tp) in ((0, 0), (n_negative, n_positive))
        reached = {
            curve.name: float(curve.thresholds[at[0]])
            for curve in curves
            if not trivial
            and len(
                at := np.flatnonzero((curve.false_positives == fp) & (curve.true_positives == tp))
            )
        }
        vertices.append(
            HullVertex(
                false_positive_rate=fp / n_negative,
                true_positive_rate=tp / n_positive,
                slope_low=slopes[place + 1],
                slope_high=slopes[place],
                learners=tuple(reached),
                thresholds=tuple(reached.values()),
            )
        )
    names = tuple(curve.name for curve in curves)
    return RocHull(names=names, vertices=tuple(vertices), curves=curves)


def _curve(name: Name, scores: Floats, truth: Any) -> RocCurve:
    """Count false and true positives at every distinct threshold, in descending order."""
    thresholds, level = np.unique(-scores, return_inverse=True)
    tp = np.cumsum(np.bincount(level, weights=truth)).astype(np.int64)
    fp = np.cumsum(np.bincount(level, weights=~truth)).astype(np.int64)
    return RocCurve(
        name=name,
        false_positives=np.append(0, fp),
        true_positives=np.append(0, tp),
        thresholds=np.append(np.inf, -thresholds),
    )


def _area(x: Any, y: Any) -> float:
    """Return the area under a line by the trapezoidal rule."""
    from scipy.integrate import trapezoid  # numpy has it only from 2.0 on

    return float(trapezoid(y, x))


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


def _range(low: float, high: float) -> str:
    if high == float("inf"):
        return f"above {number(low)}" if low else "of any size"
    return f"below {number(high)}" if low == 0 else f"{number(low)} to {number(high)}"
