"""Assertions for your own test suite, and checks of the entries of a plugin."""

from __future__ import annotations

from typing import Any

from bestofk.release.gate import GateResult, gate
from bestofk.testing.plugin_checks import (
    check_learner,
    check_pairwise_test,
    check_plan,
    check_rule,
)

__all__ = [
    "assert_not_worse", "check_learner", "check_pairwise_test", "check_plan", "check_rule",
]  # fmt: skip


def assert_not_worse(new: Any, baseline: Any = None, **options: Any) -> GateResult:
    """Raise an AssertionError with the verdict if the gate does not let a build pass.

    Parameters
    ----------
    new, baseline, **options
        As for `bestofk.release.gate.gate`: logs, tables, data frames, or one score per item;
        `metric`, `false_blocks`, `ledger`, ... With ``ledger=None``, the default, nothing is
        recorded: `new` is compared with `baseline` alone, and a suspect fails, because nothing
        remembers it for a rerun.

    Returns
    -------
    GateResult

    Examples
    --------
    >>> right = [1] * 70 + [0] * 30
    >>> assert_not_worse(right, right).answer
    'pass'
    >>> assert_not_worse([0] * 40 + right[40:], right)
    Traceback (most recent call last):
    AssertionError: Blocked: new is worse than the baseline (score 0.30 against 0.70, ...
    """
    result = gate(new, baseline, **options)
    if result.exit_code != 0:
        raise AssertionError(result.headline)
    return result
