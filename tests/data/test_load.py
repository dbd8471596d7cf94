"""The embedded data sets."""

import numpy as np
import pytest
from sklearn.datasets import load_wine

from bestofk.data import DATASETS, read_data


@pytest.mark.parametrize("name", DATASETS)
def test_shapes_are_those_of_the_registry(name: str) -> None:
    data, entry = read_data(name), DATASETS[name]
    assert (data.n, data.d, data.task) == (entry.rows, entry.columns, entry.task)
    assert len(data.classes) == (entry.classes or 0)
    assert data.name == name


def test_content_is_that_of_scikit_learn() -> None:
    bunch, data = load_wine(), read_data("wine")
    np.testing.assert_array_equal(data.encoded().values, bunch.data)
    np.testing.assert_array_equal(data.encoded().y, bunch.target)
