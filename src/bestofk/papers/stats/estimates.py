"""Bootstrap estimates of an error rate, computed from losses or from their parts."""

from __future__ import annotations

from typing import Any

import numpy as np

from bestofk._base.checks import finite_array, refuse
from bestofk._base.errors import ArgumentError

WEIGHT_LEFT_OUT = 0.632
"""1 - 1/e to three digits: the expected share of distinct rows in a bootstrap sample."""
WEIGHT_APPARENT = 0.368


def bootstrap_632(apparent: float, left_out: float) -> float:
    """Return Efron's .632 estimate of an error: .368 apparent + .632 left out.

    Parameters
    ----------
    apparent : float
        Error of the learner fitted to **all** the data, on the same data. Do not pass the error
        of the bootstrap models on all rows: it includes left-out points, which the estimate would
        then count twice.
    left_out : float
        Error on points left out, from `leave_one_out_bootstrap_error`.

    Notes
    -----
    Ler prints the weights the other way round.

    References
    ----------
    .. [1] B. Efron, "Estimating the error rate of a prediction rule: improvement on
       cross-validation", JASA 78, 1983. doi:10.1080/01621459.1983.10477973

    Examples
    --------
    >>> round(bootstrap_632(0.1, 0.3), 10)
    0.2264
    """
    err, err_1 = _number(apparent, "apparent"), _number(left_out, "left_out")
    return WEIGHT_APPARENT * err + WEIGHT_LEFT_OUT * err_1


def bootstrap_632_plus(apparent: float, left_out: float, no_information: float) -> float:
    """Return Efron and Tibshirani's .632+ estimate, which allows for overfitting.

    Parameters
    ----------
    apparent, left_out : float
        As for `bootstrap_632`.
    no_information : float
        Error if labels and predictions are independent, from `no_information_rate`.

    Notes
    -----
    With err the apparent error, Err1 the leave-one-out bootstrap error and gamma the
    no-information rate::

        Err1' = min(Err1, gamma)
        R = (Err1' - err) / (gamma - err), or 0 if Err1' or gamma does not exceed err
        .632+ = .632 estimate + (Err1' - err) (.368 .632 R) / (1 - .368 R)

    (equation 32 of the paper). If Err1 is at most gamma, this is (1 - w) err + w Err1 with
    w = .632 / (1 - .368 R): the .632 estimate without overfitting (R = 0), and Err1 with full
    overfitting (R = 1).

    References
    ----------
    .. [1] B. Efron, R. Tibshirani, "Improvements on cross-validation: the .632+ bootstrap
       method", JASA 92, 1997. doi:10.1080/01621459.1997.10474007

    Examples
    --------
    A nearest neighbour on random labels has an apparent error of 0; the other two are 1/2:

    >>> bootstrap_632_plus(0.0, 0.5, 0.5)
    0.5
    """
    err, gamma = _number(apparent, "apparent"), _number(no_information, "no_information")
    excess = min(_number(left_out, "left_out"), gamma) - err
    R = excess / (gamma - err) if excess > 0 else 0.0
    more = excess * WEIGHT_APPARENT * WEIGHT_LEFT_OUT * R / (1.0 - WEIGHT_APPARENT * R)
    return bootstrap_632(err, left_out) + more


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

    Examples
    --------
    >>> round(no_information_rate([6, 4], [8, 2]), 10)
    0.44
    """
    p, q = finite_array(class_counts, "class_counts"), finite_array(predicted_counts, "counts")
    if p.ndim != 1 or p.shape != q.shape or min(p.min(), q.min()) < 0 or not p.sum() * q.sum():
        raise ArgumentError(
            "class_counts and predicted_counts must be counts of the same classes, not all 0; got "
            f"{p.tolist()} and {q.tolist()}."
        )
    return float(np.sum(p / p.sum() * (1.0 - q / q.sum())))


def leave_one_out_bootstrap_error(losses: Any, out_of_bag: Any) -> float:
    """Return the mean over points of their mean loss in the samples that left them out.

    Parameters
    ----------
    losses : array of shape (B, n)
        Loss at point i of the learner trained on bootstrap sample b. Only the values at which
        `out_of_bag` is True are used; the others may be anything, including NaN.
    out_of_bag : array of bool, shape (B, n)
        True if sample b left point i out. Points that every sample contains do not count.

    Notes
    -----
    Err1 = 1/n sum_i (sum_b I_i^b L_i^b / sum_b I_i^b), with I_i^b = 1 if sample b left out point
    i. This is the mean over points of a mean over samples, not the mean over samples of the mean
    over points.

    Examples
    --------
    >>> losses = [[1, 0, 0], [1, 1, 0]]
    >>> leave_one_out_bootstrap_error(losses, [[True, True, False], [False, True, False]])
    0.75
    """
    table, mask = np.asarray(losses, dtype=np.float64), np.asarray(out_of_bag, dtype=np.bool_)
    if table.ndim != 2 or mask.shape != table.shape or not mask.any():
        raise ArgumentError(
            "losses and out_of_bag must have the same shape (samples, points), and leave out at "
            f"least one point; got {table.shape} and {mask.shape}."
        )
    if not np.isfinite(table[mask]).all():
        raise ArgumentError("losses must be finite wherever out_of_bag is True; got NaN or inf.")
    times = mask.sum(axis=0)
    errors = np.where(mask, table, 0.0).sum(axis=0)[times > 0] / times[times > 0]
    return float(errors.mean())


def _number(value: Any, where: str) -> float:
    array = finite_array(value, where, min_ndim=0)
    if array.ndim:
        raise refuse(where, "one number", value)
    return float(array)
