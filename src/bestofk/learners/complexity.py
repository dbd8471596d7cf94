"""The complexity of a fitted model: its number of parameters or nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from bestofk.data.dataset import DataSet


def fitted_complexity(estimator: Any, data: DataSet) -> int | None:
    """Return the complexity of the estimator, fitted to all rows; None if it cannot be counted."""
    from sklearn.base import clone

    from bestofk.learners.preparation import last_step, ready_learner

    model = clone(estimator)
    if hasattr(model, "fit_encoded"):
        return int(model.fit_encoded(data.encoded()).complexity())
    if "random_state" in model.get_params(deep=False):
        model.set_params(random_state=0)
    return _counted(last_step(ready_learner(model, data).estimator.fit(data.X, data.y)))


def _counted(model: Any) -> int | None:
    """Count coefficients, nodes of trees, or the constants of a dummy estimator."""
    if hasattr(model, "complexity"):
        return int(model.complexity())
    if hasattr(model, "tree_"):
        return int(model.tree_.node_count)
    if hasattr(model, "estimators_"):
        counts = [_counted(one) for one in np.ravel(model.estimators_)]
        return sum(counts) if None not in counts else None  # type: ignore[arg-type]
    if hasattr(model, "coef_"):
        return int(np.size(model.coef_) + np.size(getattr(model, "intercept_", ())))
    if type(model).__name__ == "DummyRegressor":
        return int(np.size(model.constant_))
    return None
