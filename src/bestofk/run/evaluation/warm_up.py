"""Compiled kernels are loaded (or compiled, the first time ever) before any fit is timed."""

from __future__ import annotations

import contextlib
import warnings
from typing import Any

import numpy as np

from bestofk.data.encoded import Encoded

ROWS = 30
"""Enough to go through a kernel, and no work."""


def warm_up(estimator: Any, encoded: Encoded, *, whole_plan: bool) -> None:
    """Fit and predict a few rows with a learner of ours."""
    from sklearn.base import clone

    from bestofk.plans.plan import plan

    spread = np.unique(np.linspace(0, encoded.n - 1, min(ROWS, encoded.n)).astype(np.int64))
    few = encoded.take(spread)
    # what goes wrong with few rows says nothing about all of them
    with warnings.catch_warnings(), contextlib.suppress(Exception):
        warnings.simplefilter("ignore")
        clone(estimator).fit_encoded(few).predict_encoded(few.values)
        if whole_plan:
            halves = plan("kfold:2", stratified=False, random_state=0).materialise(few.n, None)
            estimator._predict_plan(few, halves)
