"""Other ways to hand the rows to a learner that declares nothing and failed the first way.

Classes of other packages need not say what they want: codes for labels, an array for a data frame,
or the frame itself. Each is tried in turn; none changes what is to be learnt.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from bestofk.data.dataset import DataSet
from bestofk.learners.preparation.account import Preparation
from bestofk.learners.preparation.adapted import Adapted
from bestofk.learners.preparation.declared import declares
from bestofk.learners.preparation.quiet import quiet
from bestofk.learners.preparation.ready_learner import (
    ReadyLearner,
    are_codes,
    is_plain,
    ready_learner,
)

MARK = "Preparation: "
"""Begins the note of a fit that was made otherwise than declared."""


def otherwise(estimator: Any, data: DataSet) -> Iterator[ReadyLearner]:
    """The other ways, best first; none for learners that declare what they take.

    Examples
    --------
    >>> import numpy as np
    >>> from bestofk.data import as_dataset
    >>> data = as_dataset(np.eye(4), ["a", "b"] * 2)
    >>> class Own:
    ...     __module__ = "own"
    ...     def fit(self, X, y): ...
    ...     def predict(self, X): ...
    ...     def get_params(self, deep=True): return {}
    >>> [way.done.explain() for way in otherwise(Own(), data)]
    ['labels as codes', 'rows as a data frame', 'rows as a data frame, labels as codes']
    """
    if hasattr(estimator, "fit_encoded") or declares(estimator):
        return
    first = ready_learner(estimator, data)
    ways = [first]
    estimator = quiet(estimator)
    if is_plain(data):
        form = "given" if first.form == "array" else "array"
        said = "rows as a data frame" if form == "given" else "rows as an array"
        ways.append(ReadyLearner(estimator=estimator, form=form, done=Preparation(form=said)))
    elif first.done.columns_changed:
        came = Preparation(form="columns as they came")
        ways.append(ReadyLearner(estimator=estimator, form="given", done=came))
    codes = data.task == "classification" and not first.done.codes and not are_codes(data)
    for number, way in enumerate(ways):
        if number:
            yield way
        if codes:
            yield replace(
                way,
                estimator=Adapted(way.estimator, codes=True),
                done=replace(way.done, codes=True),
            )
