"""Confidence intervals for an error rate: k errors on n independent test instances."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from bestofk._base.checks import Floats, finite_array, one_of, probability
from bestofk._base.errors import ArgumentError, BestOfKWarning
from bestofk._base.results import Presented

Number = float | Floats
Counts = npt.NDArray[np.int64]

MAX_INSTANCES = 10**8
"""Test instances up to which scipy inverts the binomial tail accurately."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorRateInterval(Presented):
    """An interval for the true error rate: floats, or arrays if the input was arrays.

    Parameters
    ----------
    estimate : float or ndarray
        k / n.
    low, high : float or ndarray
        Ends of the interval.
    level : float
        The share of test sets whose interval covers the true error rate (nominal for the
        approximate methods).
    delta : float
        1 - level, stored separately because `level` may round to 1.
    method, side : str
        The method, and ``"two-sided"``, ``"upper"`` or ``"lower"`` (the other end is 0 or 1).
    errors, n : int or ndarray
        The errors and the test instances.
    """

    estimate: Number
    low: Number
    high: Number
    level: float
    delta: float
    method: str
    side: str
    errors: int | Counts
    n: int | Counts

    def _columns(self) -> dict[str, Any]:
        """Return one row per interval."""
        names = ("errors", "n", "estimate", "low", "high")
        cells = np.broadcast_arrays(*(getattr(self, name) for name in names))
        columns: dict[str, Any] = {
            name: cell.ravel() for name, cell in zip(names, cells, strict=True)
        }
        return {**columns, "level": [self.level] * cells[0].size}

    def explain(self) -> str:
        """Describe the interval in one sentence; several intervals take one line each."""
        columns = np.broadcast_arrays(self.errors, self.n, self.estimate, self.low, self.high)
        return "\n".join(
            self._sentence(int(k), int(n), float(p), float(low), float(high))
            for k, n, p, low, high in zip(*(column.flat for column in columns), strict=True)
        )

    def _sentence(self, k: int, n: int, p: float, low: float, high: float) -> str:
        counted = f"{k} error{'s' * (k != 1)} on {n} instance{'s' * (n != 1)}"
        start = f"{counted}: the error rate is {p:.4g}"
        if self.side != "two-sided":
            bound = f"at most {high:.4g}" if self.side == "upper" else f"at least {low:.4g}"
            return (
                f"{start}; by the {self.method} the true error rate is {bound}. This statement "
                f"is wrong for at most a share {self.delta:g} of all test sets."
            )
        sentence = f"{start}, with a {100 * self.level:.10g} % confidence interval ({self.method})"
        sentence = f"{sentence} from {low:.4g} to {high:.4g}."
        if low < 0 or high > 1:
            sentence += " It leaves the range from 0 to 1 of an error rate: do not use it."
        elif self.method == "normal approximation" and _too_few(k, n):
            sentence += " The approximation is poor here: n p (1 - p) is below 5."
        return sentence


def _too_few(k: Any, n: Any) -> Any:
    """Return whether n p (1 - p) = k (n - k) / n is below 5 (Mitchell's rule)."""
    return k * (n - k) / n < 5


def _counts(k: Any, n: Any) -> tuple[Counts, Counts]:
    counts = []
    for value, where in ((k, "k"), (n, "n")):
        array = finite_array(value, where, min_ndim=0)
        if np.any(array != np.floor(array)) or np.any(np.abs(array) > MAX_INSTANCES):
            raise ArgumentError(
                f"{where} must be a whole number of instances, at most {MAX_INSTANCES:,}; got "
                f"{array.flat[0] if array.size else 'nothing'!r}."
            )
        counts.append(array.astype(np.int64))
    errors, size = counts
    try:
        np.broadcast_shapes(errors.shape, size.shape)
    except ValueError:
        raise ArgumentError(
            f"k and n must have shapes that broadcast; got {errors.shape} and {size.shape}."
        ) from None
    if np.any(size < 1):
        raise ArgumentError(f"n must be at least 1; got {int(size.min())}.")
    if np.any(errors < 0) or np.any(errors > size):
        raise ArgumentError("k must be between 0 and n, the number of test instances.")
    return errors, size


def _two_sided(method: str, level: float) -> dict[str, Any]:
    return {"level": level, "delta": 1.0 - level, "method": method, "side": "two-sided"}


def _z(level: float) -> float:
    """Return the z with P(|Z| <= z) = level, with full relative precision at both ends."""
    from scipy import special

    return float(np.sqrt(2.0) * special.erfinv(level))


def _result(
    errors: Counts, n: Counts, low: Floats, high: Floats, **labels: Any
) -> ErrorRateInterval:
    scalar = errors.ndim == 0 and n.ndim == 0

    def plain(array: npt.NDArray[Any]) -> Any:
        return array.item() if scalar else array

    return ErrorRateInterval(
        estimate=plain(np.asarray(errors / n)),
        low=plain(np.asarray(low)),
        high=plain(np.asarray(high)),
        errors=plain(errors),
        n=plain(n),
        **labels,
    )


def normal(k: Any, n: Any, level: float = 0.95) -> ErrorRateInterval:
    """Normal approximation of the interval for an error rate, as in most textbooks.

    Parameters
    ----------
    k, n : int or array of int
        Errors and test instances; arrays broadcast.
    level : float
        Confidence level.

    Returns
    -------
    ErrorRateInterval
        The result of the formula, not clipped to [0, 1].

    Warns
    -----
    BestOfKWarning
        If n p (1 - p) < 5: the approximation is then poor, and the interval may even leave [0, 1].
        Use `wilson` or `clopper_pearson` instead.

    Notes
    -----
    p +- z_{alpha/2} sqrt(p (1 - p) / n) with p = k / n and alpha = 1 - level.

    References
    ----------
    .. [1] T. M. Mitchell, "Machine Learning", McGraw-Hill 1997, section 5.2.
    .. [2] L. D. Brown, T. T. Cai, A. DasGupta, "Interval estimation for a binomial proportion",
       Statistical Science 16, 2001. doi:10.1214/ss/1009213286

    Examples
    --------
    >>> from bestofk.stats import intervals
    >>> r = intervals.normal(12, 40)
    >>> round(r.low, 4), round(r.high, 4)
    (0.158, 0.442)
    """
    level = probability(level, "level")
    errors, size = _counts(k, n)
    p = errors / size
    half = _z(level) * np.sqrt(p * ((size - errors) / size) / size)
    few = _too_few(errors, size)
    if np.any(few):
        where = "" if few.ndim == 0 else f" in {int(few.sum())} of {few.size} cases"
        warnings.warn(
            f"normal: n p (1 - p) is below 5{where}; the approximation is then poor and may leave "
            "[0, 1]: use wilson or clopper_pearson.",
            BestOfKWarning,
            stacklevel=2,
        )
    return _result(errors, size, p - half, p + half, **_two_sided("normal approximation", level))


def wilson(k: Any, n: Any, level: float = 0.95) -> ErrorRateInterval:
    """Wilson's score interval for an error rate: all p that a score test does not reject.

    Parameters
    ----------
    k, n : int or array of int
        Errors and test instances; arrays broadcast.
    level : float
        Confidence level; the average coverage over p is close to it.

    Returns
    -------
    ErrorRateInterval
        Within [0, 1].

    Notes
    -----
    The ends are the two roots p of (k/n - p)^2 = z^2 p (1 - p) / n. The larger is computed as
    (2 k + z^2 + z sqrt(z^2 + 4 k (n - k) / n)) / (2 (n + z^2)). The smaller comes from the
    product of the roots, k^2 / (n (n + z^2)), so that no digits cancel.

    References
    ----------
    .. [1] E. B. Wilson, "Probable inference, the law of succession, and statistical inference",
       JASA 22, 1927. doi:10.1080/01621459.1927.10502953

    Examples
    --------
    >>> from bestofk.stats import intervals
    >>> r = intervals.wilson(0, 10)
    >>> r.low, round(r.high, 4)
    (0.0, 0.2775)
    """
    level = probability(level, "level")
    errors, size = _counts(k, n)
    z = _z(level)
    low, high = _wilson_low(errors, size, z), _wilson_high(errors, size, z)
    return _result(errors, size, low, high, **_two_sided("Wilson", level))


def _wilson_high(k: Counts, n: Counts, z: float) -> Floats:
    root = np.sqrt(z * z + 4.0 * k * ((n - k) / n))
    high = (2.0 * k + z * z + z * root) / (2.0 * (n + z * z))
    return np.where(k == n, 1.0, np.minimum(high, 1.0))


def _wilson_low(k: Counts, n: Counts, z: float) -> Floats:
    # divide k / n first: at k = 0 the tiny upper root of a tiny z would give 0 / 0
    upper = _wilson_high(k, n, z)
    share = (k / n) / np.where(k == 0, 1.0, upper)
    return np.asarray(share * (k / (n + z * z)))


def clopper_pearson(k: Any, n: Any, level: float = 0.95) -> ErrorRateInterval:
    """Clopper-Pearson interval for an error rate: its coverage is at least `level` for every p.

    Parameters
    ----------
    k, n : int or array of int
        Errors and test instances; arrays broadcast.
    level : float
        Confidence level, guaranteed.

    Returns
    -------
    ErrorRateInterval
        Within [0, 1]; low is 0 for k = 0, high is 1 for k = n.

    Notes
    -----
    low solves P(Bin(n, p) >= k) = alpha / 2, high solves P(Bin(n, p) <= k) = alpha / 2, with
    alpha = 1 - level. The tails are regularised incomplete beta functions.

    References
    ----------
    .. [1] C. J. Clopper, E. S. Pearson, "The use of confidence or fiducial limits illustrated in
       the case of the binomial", Biometrika 26, 1934. doi:10.1093/biomet/26.4.404

    Examples
    --------
    >>> from bestofk.stats import intervals
    >>> r = intervals.clopper_pearson(3, 20)
    >>> round(r.low, 4), round(r.high, 4)
    (0.0321, 0.3789)
    """
    level = probability(level, "level")
    errors, size = _counts(k, n)
    tail = (1.0 - level) / 2.0
    return _result(
        errors,
        size,
        _lower_bound(errors, size, tail),
        _upper_bound(errors, size, tail),
        **_two_sided("Clopper-Pearson", level),
    )


def test_set_bound(
    k: Any,
    n: Any,
    delta: float = 0.05,  # noqa: PT028  (a bound on a test set, not a test)
    *,
    side: Literal["upper", "lower"] = "upper",  # noqa: PT028
) -> ErrorRateInterval:
    """Langford's test set bound on the true error rate, wrong with probability at most delta.

    Parameters
    ----------
    k, n : int or array of int
        Errors and test instances; arrays broadcast.
    delta : float
        Share of test sets for which the bound may be wrong; any number down to 1e-300.
    side : {"upper", "lower"}
        The bound from above (Langford's), or its mirror image from below.

    Returns
    -------
    ErrorRateInterval
        From 0 to the bound (or from the bound to 1).

    Notes
    -----
    The bound inverts the binomial tail: it is the largest p with P(Bin(n, p) <= k) >= delta, or
    from below the smallest p with P(Bin(n, p) >= k) >= delta. It stays in [0, 1] and, unlike the
    normal approximation, is never optimistic. For k = 0 it is 1 - delta^(1/n).

    References
    ----------
    .. [1] J. Langford, "Tutorial on practical prediction theory for classification", JMLR 6,
       2005, section 3.

    Examples
    --------
    >>> from bestofk.stats import intervals
    >>> round(intervals.test_set_bound(0, 100, 0.05).high, 6)
    0.029513
    """
    delta = probability(delta, "delta")
    upper = one_of(side, "side", ("upper", "lower")) == "upper"
    errors, size = _counts(k, n)
    shape = np.broadcast_shapes(errors.shape, size.shape)
    low = np.zeros(shape) if upper else _lower_bound(errors, size, delta)
    high = _upper_bound(errors, size, delta) if upper else np.ones(shape)
    labels = {"level": 1.0 - delta, "delta": delta, "method": "test set bound", "side": side}
    return _result(errors, size, low, high, **labels)


# pytest would collect this function because of its name
test_set_bound.__test__ = False  # type: ignore[attr-defined]


def _upper_bound(k: Counts, n: Counts, tail: float) -> Floats:
    """Return the largest p with P(Bin(n, p) <= k) >= tail."""
    from scipy import special

    return np.where(k == n, 1.0, special.betainccinv(k + 1.0, np.maximum(n - k, 1.0), tail))


def _lower_bound(k: Counts, n: Counts, tail: float) -> Floats:
    """Return the smallest p with P(Bin(n, p) >= k) >= tail."""
    from scipy import special

    return np.where(k == 0, 0.0, special.betaincinv(np.maximum(k, 1.0), n - k + 1.0, tail))
