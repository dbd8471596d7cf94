"""A data frame with many kinds of columns, and the command line."""

import numpy as np
import pandas as pd
import pytest

from bestofk.cli import main
from bestofk.splits.plans import plan as make_plan


@pytest.fixture
def patients():
    """Dates, booleans, categories, words, an identifier, a constant and missing cells."""
    rng = np.random.default_rng(3)
    n = 60
    frame = pd.DataFrame(
        {
            "patient": [f"p{row:03d}" for row in range(n)],
            "admitted": pd.date_range("2024-01-01", periods=n, freq="D"),
            "smoker": rng.random(n) < 0.4,
            "ward": pd.Categorical(rng.choice(["a", "b", "c"], n), categories=list("abcd")),
            "town": rng.choice(["Oslo", "Rome", "Bonn"], n),
            "age": rng.normal(50, 10, n),
            "hospital": "north",
        }
    )
    y = np.where(frame["age"] + 8 * frame["smoker"] + rng.normal(0, 4, n) > 53, "ill", "well")
    frame.loc[[3, 17], "age"] = np.nan
    frame.loc[5, "town"] = None
    return frame, y


@pytest.fixture
def run(capsys):
    """Run the command line; return exit code, stdout and stderr."""

    def call(*arguments):
        code = main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


@pytest.fixture
def by_hand():
    """Fit by hand on the splits of a plan; return the losses that `compare` must reproduce."""

    def losses(make, X, y, plan, seed=0):
        y = np.asarray(y)
        splits = make_plan(plan, random_state=seed).materialise(len(y), y)
        take = X.iloc.__getitem__ if hasattr(X, "iloc") else lambda rows: X[rows]
        table = []
        for _, _, train, test in splits:
            model = make().fit(take(train), y[train])
            table.append(float(np.mean(np.asarray(model.predict(take(test))).ravel() != y[test])))
        return np.array(table)

    return losses
