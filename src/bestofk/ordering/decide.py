"""From a table of losses to a decision: the one call."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from bestofk.checks import RandomState
from bestofk.errors import ArgumentError, DesignError
from bestofk.ordering.problem import Prior, Problem
from bestofk.ordering.registry import PROCEDURES
from bestofk.ordering.result import Order
from bestofk.ordering.understood import as_problem


def order(
    losses: Any,
    *,
    prior: Prior = None,
    procedure: str = "multitest",
    test: str | Callable[..., Any] = "auto",
    df: float | str | None = None,
    alpha: float = 0.05,
    correction: str | None = None,
    missing: str = "refuse",
    random_state: RandomState = 0,
    **test_arguments: Any,
) -> Order:
    """Order learners by their losses, find the best, and say why.

    Parameters
    ----------
    losses : Losses, path, data frame or array (K, ...)
        A table of losses with its design; a file or data frame that `read_losses` understands;
        or a bare array in prior order.
    prior : sequence of names or mapping of name to price, optional
        The preference before the data, most preferred (or cheapest) first; by default as listed.
    procedure : str
        A name of ``bestofk procedures``.
    test : str or callable
        A pairwise test that covers the design; ``"auto"`` chooses one and says why.
    df : float, "calibrated", Calibration or path, optional
        Degrees of freedom, for tests that take them; what `bestofk.lab.calibrate` measured, or
        the file that holds it.
    alpha : float
        Error of the whole decision.
    correction : str, optional
        For many pairs: ``"holm"`` by default (``"bonferroni"`` for TestFirst, as published).
    missing : {"refuse", "drop"}
        What to do with cells that some learner lacks.
    random_state : int, Generator or None
        For tests that draw.
    **test_arguments
        More for the test, such as `rope`.

    Returns
    -------
    Order
        With `best`, `order`, `edges`, `steps`, `candidates`, `evidence` and `explain()`.

    Examples
    --------
    >>> import bestofk as bk
    >>> table = bk.Losses(
    ...     [[0.31, 0.29, 0.30, 0.33], [0.21, 0.20, 0.19, 0.22], [0.20, 0.21, 0.19, 0.23]],
    ...     dims=("algorithm", "fold"), algorithms=["small", "medium", "large"])
    >>> decision = order(table)
    >>> decision.best, decision.order
    ('medium', ('medium', 'large', 'small'))
    """
    entry = PROCEDURES[procedure]
    if not entry.takes_losses:
        raise DesignError(
            f"procedure {procedure!r} decides from the scores of every test instance, not from "
            f"losses: call bestofk.ordering.{procedure.replace('-', '_')} with them."
        )
    problem = as_problem(losses, prior=prior, missing=missing)
    arguments: dict[str, Any] = {"alpha": alpha}
    if entry.takes_test:
        arguments |= {"test": test, "df": df, "random_state": random_state, **test_arguments}
        if correction is not None:
            arguments["correction"] = correction
    else:
        given = {"test": test if test != "auto" else None, "df": df, "correction": correction}
        for name, value in {**given, **test_arguments}.items():
            if value is not None:
                raise ArgumentError(f"{name} does not apply to procedure {procedure!r}.")
    decision: Order = entry.load()(problem, **arguments)
    beside = _interval_verdict(problem)
    return decision if beside is None else replace(decision, beside=beside)


def _interval_verdict(problem: Problem) -> Any:
    """Bootstrap-B beside the decision, for repetitions of stochastic learners on many data sets."""
    losses = problem.losses
    if losses is None or problem.n_datasets < 2 or losses.design.repetitions < 2:
        return None
    if not losses.complete:
        return None
    from bestofk.multiple import bootstrap_b

    runs = losses.values
    # Folds of all runs are folds of one experiment.
    shape = (runs.shape[0], runs.shape[1], -1, runs.shape[4])
    return bootstrap_b(runs.reshape(shape), names=[str(name) for name in problem.names])
