"""Fresh models for every cell, and what a fitted one weighs."""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable, Mapping, Sequence
from types import FunctionType
from typing import Any

import numpy as np

from bestofk._base.errors import ArgumentError
from bestofk._base.formatting import duration, shortened
from bestofk.data.dataset import DataSet
from bestofk.learners.predict import seed_names
from bestofk.run.cells import CellResult
from bestofk.run.experiment import Experiment, NamedLearner, Place

TRUSTED = ("sklearn", "bestofk")
"""Packages whose learners may run in this process, which they do not crash, and share rows."""
_PLAIN = (bool, int, float, str, bytes, type(None))


def model_factory(estimator: Any) -> Callable[[int], Any]:
    """A function of a seed that gives an unfitted copy of `estimator`.

    Every setting called `random_state`, also of nested estimators, gets the seed. Copies of
    estimators whose settings are plain values are made by their constructor, which is what
    scikit-learn's `clone` comes to but many times faster.
    """
    from bestofk.learners.preparation import copy_of

    kind = type(estimator)
    seeds = seed_names(estimator)
    if not hasattr(estimator, "get_params"):
        from copy import deepcopy

        return lambda _: deepcopy(estimator)
    settings = estimator.get_params(deep=False)
    flat = all(isinstance(value, _PLAIN) for value in settings.values())
    if flat and type(copy_of(estimator)) is kind and not _cloned_by_itself(estimator):
        if seeds == ["random_state"] and "random_state" in settings:
            return lambda seed: kind(**{**settings, "random_state": seed})
        return lambda _: kind(**settings)

    def fresh(seed: int) -> Any:
        model = copy_of(estimator)
        if seeds:
            model.set_params(**dict.fromkeys(seeds, seed))
        return model

    return fresh


def _cloned_by_itself(estimator: Any) -> bool:
    """Its class makes its own copies, or carries metadata that a constructor would lose."""
    own = getattr(type(estimator), "__sklearn_clone__", None)
    from sklearn.base import BaseEstimator

    inherited = getattr(BaseEstimator, "__sklearn_clone__", None)
    return own is not inherited or hasattr(estimator, "_metadata_request")


def is_trusted(estimator: Any) -> bool:
    """The estimator and everything inside it is scikit-learn's or ours."""
    parts = [estimator]
    if hasattr(estimator, "get_params"):
        parts += [
            value
            for value in estimator.get_params(deep=True).values()
            if hasattr(value, "fit") or callable(value)
        ]
    return all(_package(part) in TRUSTED for part in parts)


def works_in_threads(estimator: Any) -> bool:
    """Ours, and says that its work is done in compiled kernels."""
    return is_trusted(estimator) and getattr(estimator, "_in_threads", False) is True


def _package(part: Any) -> str:
    module = part.__module__ if callable(part) and hasattr(part, "__module__") else None
    return (module or type(part).__module__).partition(".")[0]


def may_write(estimator: Any) -> bool:
    """It may overwrite the rows that it is given, so it must have its own."""
    if not is_trusted(estimator):
        return True
    settings = estimator.get_params(deep=True) if hasattr(estimator, "get_params") else {}
    return any(
        name.rpartition("__")[2].startswith("copy") and value is False
        for name, value in settings.items()
    )


def model_size(model: Any) -> int | None:
    """Bytes of the pickled model, without copying its arrays; None if it cannot be pickled.

    The same in whichever process it was fitted: what a process happens to hold once or twice, or
    under which name it can import a class, does not count.
    """
    counter = _Counter()
    try:
        _Weigher(counter, protocol=5, buffer_callback=counter.buffer).dump(model)
    except (Exception, SystemExit):
        # any class may raise anything while it is pickled; then its size is not known
        return None
    return counter.total


class _Weigher(pickle.Pickler):
    """A pickler for which it does not matter where a part of the model came from.

    Texts, and NumPy's types of arrays, are one object each until they have been sent to another
    process; what is one object there and two here would be written once or twice. So equal ones
    are written once. Classes and functions weigh as much as their names: a class that was sent to
    a worker may not be importable there.
    """

    def __init__(self, counter: _Counter, **options: Any) -> None:
        super().__init__(counter, **options)
        self.counter, self.seen = counter, set[Any]()

    def persistent_id(self, held: Any) -> int | None:
        """A mark for what is weighed by its value; everything else is pickled."""
        kind = type(held)
        if kind in (str, bytes):
            weight = self._text(held)
        elif isinstance(held, type | FunctionType):
            weight = self._text(str(held.__module__)) + self._text(held.__qualname__) + 2
        elif kind.__module__ == "numpy.dtypes":
            weight = 0 if held in self.seen else len(pickle.dumps(held, protocol=5))
            self.seen.add(held)
        else:
            return None
        self.counter.total += weight
        return 0

    def _text(self, held: str | bytes) -> int:
        """What pickle takes for a text, less the mark that stands for it."""
        if (type(held), held) in self.seen:
            return 0
        self.seen.add((type(held), held))
        size = len(held if isinstance(held, bytes) else held.encode("utf-8", "surrogatepass"))
        return size + (3 if size < 256 else 6) - _MARK


_MARK = 3
"""Bytes of the mark."""


class _Counter:
    def __init__(self) -> None:
        self.total = 0

    def write(self, data: bytes) -> int:
        self.total += len(data)
        return len(data)

    def buffer(self, view: pickle.PickleBuffer) -> None:
        self.total += view.raw().nbytes


# The complexity of learners as a preference: the number of parameters of each, fitted to all rows.


def complexities(
    contenders: Sequence[NamedLearner], datasets: Sequence[DataSet]
) -> dict[str, float]:
    """Mean number of parameters by learner, over the data sets.

    Only learners that can count their parameters (``complexity()``) have one.
    """
    from sklearn.base import clone

    counted = {}
    for contender in contenders:
        if not hasattr(contender.estimator, "complexity"):
            raise ArgumentError(
                f"prefer 'complexity' needs learners that count their parameters; "
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


# What a budget should have been that ended before there was anything to decide from.


MARGIN = 1.5
"""A fit may take so many times as long as those that were timed."""
NOTICED = 0.1
"""Seconds from which it is said that a fit was being made."""


def more_time(
    experiment: Experiment,
    results: Mapping[Place, CellResult],
    cut: Mapping[Place, float],
    budget: float,
) -> str:
    """That the budget was too short for one fold of all learners, and what would be enough.

    By what was measured: the same run would come as far again, and then need the time of the fits
    that are missing.

    Parameters
    ----------
    experiment : Experiment
        What was run.
    results : mapping
        What is done.
    cut : mapping
        The cells that were being fitted when the time was up, and the seconds that they had taken.
    budget : float
        Seconds.
    """
    spent: dict[int, list[float]] = {}
    for place, result in results.items():
        seconds = (result.fit_time or 0.0) + (result.predict_time or 0.0)
        spent.setdefault(place.learner, []).append(seconds)
    so_far: dict[int, float] = {}
    for place, seconds in cut.items():
        so_far[place.learner] = max(seconds, so_far.get(place.learner, 0.0))
    need, unknown = budget, set[int]()
    for place in experiment.places():
        if place.run or place.fold or place in results:
            continue
        if place.learner in spent:
            need += MARGIN * max(spent[place.learner])
        else:
            unknown.add(place.learner)
            need += MARGIN * max(so_far.get(place.learner, 0.0), budget / 2)
    enough = math.ceil(need) + 1
    ended = f"The budget of {budget:g} s ended before all learners had finished one fold"
    if not unknown:
        return f"{ended}: {enough} s should be enough (--budget {enough})."
    at_work = {one for one in unknown if so_far.get(one, 0.0) >= NOTICED}
    names = shortened([experiment.contenders[one].name for one in sorted(at_work or unknown)], 3)
    after = f" after {duration(max(so_far[one] for one in at_work))}" if at_work else ""
    return (
        f"{ended}: {names} had not finished a fit{after}. Try {enough} s (--budget {enough}), or "
        "leave the budget out to let every fit finish."
    )
