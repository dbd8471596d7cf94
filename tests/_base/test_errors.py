import pickle

import pytest

from bestofk._base.errors import (
    BestOfKWarning,
    DesignError,
    MissingExtraError,
    UnknownNameError,
    use,
)

PARTS = ("losses lack 2 cells: ", use(missing="drop"), " leaves out ", use(where={"a": 1}), ".")


@pytest.mark.parametrize("kind", [DesignError, BestOfKWarning])
def test_messages_keep_their_parts(kind):
    error = pickle.loads(pickle.dumps(kind(*PARTS)))
    assert type(error) is kind
    assert error.args == PARTS
    assert str(error) == "losses lack 2 cells: missing='drop' leaves out where={'a': 1}."
    assert error.text(lambda advice: f"<{advice.keyword}>") == (
        "losses lack 2 cells: <missing> leaves out <where>."
    )


@pytest.mark.parametrize(
    "error", [UnknownNameError("test", "x", ["y"]), MissingExtraError("Dask", "dask")]
)
def test_composed_messages_pickle(error):
    assert str(pickle.loads(pickle.dumps(error))) == str(error)
