"""Bootstrap estimates of an error rate, computed from losses or from their parts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bestofk._base.checks import Floats, finite_array, refuse
from bestofk._base.errors import ArgumentError
from bestofk._base.results import Presented

WEIGHT_LEFT_OUT = 0.632
"""1 - 1/e to three digits: the expected share of distinct rows in a bootstrap sample."""
WEIGHT_APPARENT = 0.368


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaveOneOutBootstrap(Presented):
    """The leave-one-out bootstrap error and its parts.

    Parameters
    ----------
    estimate : float
        Mean over the points of their mean loss in the samples that left them out.
    point_errors : ndarray
        Those means, for the points in `points`.
    points : ndarray of int
        The points that at least one sample left out, ascending.
    never_left_out : tuple of int
        The points that are in every sample; they are not counted.
    times_left_out : ndarray of int, shape (n,)
        Number of samples that left each point out.
    n_samples : int
        Number of bootstrap samples.
    """

    estimate: float
    point_errors: Floats
    points: npt.NDArray[np.int64]
    never_left_out: tuple[int, ...]
    times_left_out: npt.NDArray[np.int64]
    n_samples: int

    def _columns(self) -> dict[str, Any]:
        """Return one row per left-out point, with its error and how often it was left out."""
        return {
            "point": self.points,
            "error": self.point_errors,
            "times_left_out": self.times_left_out[self.points],
        }

    def explain(self) -> str:
        """Describe the estimate in sentences."""
        n = len(self.times_left_out)
        text = (
            f"The leave-one-out bootstrap error is {self.estimate:.4g}: the mean over "
            f"{len(self.points)} of {n} points of their mean loss in those of the "
            f"{self.n_samples} samples that left them out."
        )
        if self.never_left_out:
            some = ", ".join(map(str, self.never_left_out[:5]))
            more = ", ..." if len(self.never_left_out) > 5 else ""
            text += (
                f" Every sample contains {len(self.never_left_out)} of the points (row "
                f"{some}{more}), which therefore do not count: draw more samples."
            )
        return text


@dataclass(frozen=True, slots=True, kw_only=True)
class Bootstrap632(Presented):
    """A .632 or .632+ estimate with its parts.

    Parameters
    ----------
    estimate : float
        (1 - weight) * apparent + weight * left_out.
    apparent : float
        Error of the learner fitted to all the data and tested on the same data.
    left_out : float
        Error on the points left out.
    weight : float
        Weight of `left_out`: .632, or up to 1 for .632+.
    no_information : float or None
        Error if labels and predictions are independent; None if it is not used.
    overfitting : float or None
        Relative overfitting rate R in [0, 1]; None if it is not used.
    method : str
        ``".632"`` or ``".632+"``.
    """

    estimate: float
    apparent: float
    left_out: float
    weight: float
    no_information: float | None
    overfitting: float | None
    method: str

    def explain(self) -> str:
        """Describe the estimate in sentences."""
        text = (
            f"The {self.method} bootstrap estimate of the error is {self.estimate:.4g}: "
            f"{1 - self.weight:.3f} times {self.apparent:.4g} (error on all the data, of the "
            f"learner fitted to them) plus {self.weight:.3f} times {self.left_out:.4g} (error on "
            "points left out)."
        )
        if self.no_information is not None and self.overfitting is not None:
            text += (
                f" The weight follows from a relative overfitting rate of {self.overfitting:.3g}; "
                f"predictions that are independent of the labels have an error of "
                f"{self.no_information:.4g}."
            )
        return text


def _number(value: Any, where: str) -> float:
    array = finite_array(value, where, min_ndim=0)
    if array.ndim:
        raise refuse(where, "one number", value)
    return float(array)


def bootstrap_632(apparent: float, leave_one_out_bootstrap: float) -> Bootstrap632:
    """Efron's .632 bootstrap estimate of an error from its two parts.

    Parameters
    ----------
    apparent : float
        Error of the learner fitted to **all** the data, on the same data. Do not pass the error
        of the bootstrap models on all rows: it includes left-out points, which the estimate would
        then count twice.
    leave_one_out_bootstrap : float
        Error on points left out, from `leave_one_out_bootstrap_error`.

    Returns
    -------
    Bootstrap632
        With `estimate` and its parts.

    Notes
    -----
    The estimate is .368 apparent + .632 left out. (Ler prints the weights the other way round.)

    References
    ----------
    .. [1] B. Efron, "Estimating the error rate of a prediction rule: improvement on
       cross-validation", JASA 78, 1983. doi:10.1080/01621459.1983.10477973

    Examples
    --------
    >>> from bestofk.papers.stats import estimates
    >>> round(estimates.bootstrap_632(0.1, 0.3).estimate, 10)
    0.2264
    """
    err = _number(apparent, "apparent")
    err_1 = _number(leave_one_out_bootstrap, "leave_one_out_bootstrap")
    return Bootstrap632(
        estimate=WEIGHT_APPARENT * err + WEIGHT_LEFT_OUT * err_1,
        apparent=err,
        left_out=err_1,
        weight=WEIGHT_LEFT_OUT,
        no_information=None,
        overfitting=None,
        method=".632",
    )


def bootstrap_632_plus(
    apparent: float, leave_one_out_bootstrap: float, no_information: float
) -> Bootstrap632:
    """Efron and Tibshirani's .632+ estimate, which corrects the .632 estimate for overfitting.

    Parameters
    ----------
    apparent : float
        Error of the learner fitted to all the data, on the same data.
    leave_one_out_bootstrap : float
        Error on points left out, from `leave_one_out_bootstrap_error`.
    no_information : float
        Error if labels and predictions are independent, from `no_information_rate`.

    Returns
    -------
    Bootstrap632
        With `estimate`, `overfitting` (R) and `weight` (w).

    Notes
    -----
    With err the apparent error, Err1 the leave-one-out bootstrap error and gamma the
    no-information rate::

        Err1' = min(Err1, gamma)
        R = (Err1' - err) / (gamma - err), or 0 if Err1' or gamma does not exceed err
        .632+ = .632 estimate + (Err1' - err) (.368 .632 R) / (1 - .368 R)

    (equation 32 of the paper). If Err1 is at most gamma, this is (1 - w) err + w Err1 with
    w = .632 / (1 - .368 R): the .632 estimate without overfitting (R = 0), and Err1 with full
    overfitting (R = 1). If Err1 is above gamma, it has a weight of .632 and gamma one of .368;
    `weight` is then the weight of Err1 that would give the same estimate.

    References
    ----------
    .. [1] B. Efron, R. Tibshirani, "Improvements on cross-validation: the .632+ bootstrap
       method", JASA 92, 1997. doi:10.1080/01621459.1997.10474007

    Examples
    --------
    A nearest neighbour on random labels has an apparent error of 0; the other two are 1/2:

    >>> from bestofk.papers.stats import estimates
    >>> estimates.bootstrap_632_plus(0.0, 0.5, 0.5).estimate
    0.5
    """
    err = _number(apparent, "apparent")
    err_1 = _number(leave_one_out_bootstrap, "leave_one_out_bootstrap")
    gamma = _number(no_information, "no_information")
    err_1_prime = min(err_1, gamma)
    R = (err_1_prime - err) / (gamma - err) if err_1_prime > err else 0.0
    # equation 32
    more = (err_1_prime - err) * WEIGHT_APPARENT * WEIGHT_LEFT_OUT * R / (1.0 - WEIGHT_APPARENT * R)
    estimate = WEIGHT_APPARENT * err + WEIGHT_LEFT_OUT * err_1 + more
    weight = min(WEIGHT_LEFT_OUT + (more / (err_1 - err) if R else 0.0), 1.0)
    return Bootstrap632(
        estimate=estimate,
        apparent=err,
        left_out=err_1,
        weight=weight,
        no_information=gamma,
        overfitting=R,
        method=".632+",
    )


def no_information_rate(class_counts: Any, predicted_counts: Any) -> float:
    """Return the error rate of predictions that are independent of the labels.

    Parameters
    ----------
    class_counts, predicted_counts : array of shape (classes,)
        How often each class is the label, and how often the learner fitted to all the data
        predicts it, in the same order of classes.

    Returns
    -------
    float
        gamma = sum over classes of p (1 - q), with p and q the two shares.

    References
    ----------
    .. [1] B. Efron, R. Tibshirani, "Improvements on cross-validation: the .632+ bootstrap
       method", JASA 92, 1997. doi:10.1080/01621459.1997.10474007

    Examples
    --------
    >>> from bestofk.papers.stats import estimates
    >>> round(estimates.no_information_rate([6, 4], [8, 2]), 10)
    0.44
    """
    counts = []
    for value, where in ((class_counts, "class_counts"), (predicted_counts, "predicted_counts")):
        array = finite_array(value, where)
        if array.ndim != 1 or np.any(array < 0) or array.sum() <= 0:
            raise refuse(where, "one count of at least 0 per class, not all 0", value)
        counts.append(array / array.sum())
    p, q = counts
    if p.shape != q.shape:
        raise ArgumentError(
            "class_counts and predicted_counts must cover the same classes; "
            f"got {len(p)} and {len(q)} counts."
        )
    return float(np.sum(p * (1.0 - q)))


def leave_one_out_bootstrap_error(losses: Any, out_of_bag: Any) -> LeaveOneOutBootstrap:
    """Leave-one-out bootstrap error: test each point on the samples that left it out.

    Parameters
    ----------
    losses : array of shape (B, n)
        Loss at point i of the learner trained on bootstrap sample b. Only the values at which
        `out_of_bag` is True are used; the others may be anything, including NaN.
    out_of_bag : array of bool, shape (B, n)
        True if sample b left point i out.

    Returns
    -------
    LeaveOneOutBootstrap
        With `estimate`, and the points that every sample contains.

    Notes
    -----
    Err1 = 1/n sum_i (sum_b I_i^b L_i^b / sum_b I_i^b), with I_i^b = 1 if sample b left out point
    i. This is the mean over points of a mean over samples, not the mean over samples of the mean
    over points.

    References
    ----------
    .. [1] B. Efron, R. Tibshirani, "Improvements on cross-validation: the .632+ bootstrap
       method", JASA 92, 1997. doi:10.1080/01621459.1997.10474007

    Examples
    --------
    >>> from bestofk.papers.stats import estimates
    >>> losses = [[1, 0, 0], [1, 1, 0]]
    >>> left_out = [[True, True, False], [False, True, False]]
    >>> r = estimates.leave_one_out_bootstrap_error(losses, left_out)
    >>> r.estimate, r.never_left_out
    (0.75, (2,))
    """
    mask = np.asarray(out_of_bag)
    if mask.dtype != bool and not np.isin(mask, (0, 1)).all():
        raise refuse("out_of_bag", "True or False", out_of_bag)
    try:
        table = np.asarray(losses, dtype=np.float64)
    except (TypeError, ValueError):
        raise refuse("losses", "an array of numbers", losses) from None
    if table.ndim != 2 or table.size == 0:
        raise ArgumentError(f"losses must have shape (samples, points); got {table.shape}.")
    if mask.shape != table.shape:
        raise ArgumentError(
            f"out_of_bag must have the shape of losses, {table.shape}; got {mask.shape}."
        )
    mask = mask.astype(bool)
    if not np.isfinite(table[mask]).all():
        raise ArgumentError("losses must be finite wherever out_of_bag is True; got NaN or inf.")
    times = mask.sum(axis=0)
    points = np.flatnonzero(times)
    if points.size == 0:
        raise ArgumentError("out_of_bag must leave out at least one point; no sample does.")
    errors = np.where(mask, table, 0.0).sum(axis=0)[points] / times[points]
    return LeaveOneOutBootstrap(
        estimate=float(errors.mean()),
        point_errors=errors,
        points=points.astype(np.int64),
        never_left_out=tuple(np.flatnonzero(times == 0).tolist()),
        times_left_out=times.astype(np.int64),
        n_samples=len(table),
    )
