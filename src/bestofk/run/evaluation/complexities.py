"""The complexity of learners as a prior: the number of parameters of each, fitted to all rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bestofk.data.dataset import DataSet
from bestofk.errors import ArgumentError
from bestofk.run.experiment import Contender


def complexities(contenders: Sequence[Contender], datasets: Sequence[DataSet]) -> dict[str, float]:
    """Mean number of parameters by learner, over the data sets.

    Only learners that can count their parameters (``complexity()``) have one.
    """
    from sklearn.base import clone

    counted = {}
    for contender in contenders:
        if not hasattr(contender.estimator, "complexity"):
            raise ArgumentError(
                f"prior 'complexity' needs learners that count their parameters; "
                f"{contender.name!r} does not: use 'size', or name the learners."
            )
        counted[contender.name] = float(
            np.mean(
                [
                    clone(contender.estimator).fit_encoded(one.encoded()).complexity()
                    for one in datasets
                ]
            )
        )
    return counted
