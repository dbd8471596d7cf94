"""A data set in the forms that learners take, sliced once for each fold."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from bestofk.checks import Floats
from bestofk.data.dataset import DataSet
from bestofk.data.encoded import Encoded
from bestofk.data.whole_rows import take_rows
from bestofk.plans.splits import distinct_rows

Labels = npt.NDArray[Any]


class Rows:
    """The rows of one data set as encoded values, as an array and as a data frame."""

    def __init__(self, data: DataSet) -> None:
        self.data = data
        self.classification = data.task == "classification"
        if self.classification:
            self.codes, declared = data.labels()
            # labels of their natural type: text compares faster than objects
            self.classes: Labels = np.asarray(declared.tolist())
            self.y: Labels = self.classes[self.codes]
        else:
            self.codes = np.zeros(0, dtype=np.int64)
            self.classes = np.array([])
            self.y = data.y.to_numpy()
        self.known = frozenset(self.classes.tolist())
        self._array: Floats | None = None
        given = data.sample_weight
        self.weights: Floats | None = None if given is None else given.to_numpy(dtype=np.float64)

    @property
    def encoded(self) -> Encoded:
        """The rows as our learners take them; made only for those, since it is a copy."""
        return self.data.encoded()

    @property
    def array(self) -> Floats:
        """All columns as numbers, for data that are numbers without gaps."""
        if self._array is None:
            kinds = set(self.data.X.dtypes)
            alone = np.float32 if kinds == {np.dtype(np.float32)} else np.float64
            self._array = np.ascontiguousarray(self.data.X.to_numpy(dtype=alone))
        return self._array


class Fold:
    """The rows of one split, shared by all learners; a form is sliced when first asked for."""

    def __init__(self, rows: Rows, train: npt.NDArray[np.int64], test: npt.NDArray[np.int64]):
        self.rows, self.train, self.test = rows, train, test
        self.sizes = {"n_train": distinct_rows(train), "n_test": len(test)}
        self.y_train, self.y_test = _shared(rows.y[train]), _shared(rows.y[test])
        if self.y_test.dtype == np.float32:
            self.y_test = _shared(self.y_test.astype(np.float64))  # to be judged by
        self._train_forms: dict[str, Any] = {}
        self._test_forms: dict[str, Any] = {}

    def also_testing(self, test: npt.NDArray[np.int64]) -> Fold:
        """A fold of the same training rows that tests others."""
        other = Fold(self.rows, self.train, test)
        other._train_forms = self._train_forms
        return other

    def weights(self, which: npt.NDArray[np.int64]) -> Floats | None:
        """The weights of some of the rows, where rows have them."""
        return None if self.rows.weights is None else self.rows.weights[which]

    def form(self, name: str) -> tuple[Any, Any]:
        """Training and test rows as ``"array"``, ``"frame"``, ``"given"`` or ``"encoded"``."""
        if name not in self._train_forms:
            self._train_forms[name] = self._sliced(name, self.train, training=True)
        if name not in self._test_forms:
            self._test_forms[name] = self._sliced(name, self.test, training=False)
        return self._train_forms[name], self._test_forms[name]

    def _sliced(self, name: str, which: npt.NDArray[np.int64], *, training: bool) -> Any:
        if name == "array":
            return _shared(self.rows.array[which])
        if name == "frame":
            return self.rows.data.X.iloc[which]
        if name == "given":
            data = self.rows.data
            return take_rows(data.X if data.given is None else data.given, which)
        encoded = self.rows.encoded
        return encoded.take(which) if training else encoded.values[which]

    def own_form(self, name: str) -> tuple[Any, Any, Labels]:
        """The same and the training labels as copies, for a learner that may write on them."""
        train, test = self.form(name)
        return train.copy(), test.copy(), self.y_train.copy()


def _shared(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """All learners of a fold get the same array, so that none may change it."""
    array.setflags(write=False)
    return array
