"""Long tables of logs, from an array of scores."""

import csv

import numpy as np
import pytest

import bestofk as bk


@pytest.fixture
def evals_of(tmp_path):
    """Return Evals of scores (K, n, epochs), with optional columns by item or by model."""

    def make(scores, *, names=None, tasks=None, clusters=None, costs=None, **reading):
        scores = np.asarray(scores, dtype=float)
        if scores.ndim == 2:
            scores = scores[:, :, None]
        names = names or [f"model-{k}" for k in range(len(scores))]
        path = tmp_path / "scores.csv"
        with path.open("w", newline="", encoding="utf-8") as file:
            out = csv.writer(file)
            out.writerow(["learner", "task", "item", "cluster", "epoch", "score", "cost"])
            for k, i, e in np.ndindex(scores.shape):
                out.writerow([
                    names[k],
                    "task" if tasks is None else tasks[i],
                    f"item {i}",
                    f"c{i}" if clusters is None else clusters[i],
                    e + 1,
                    "" if np.isnan(scores[k, i, e]) else scores[k, i, e],
                    k + 1 if costs is None else costs[k],
                ])  # fmt: skip
        if clusters is not None:
            reading["cluster"] = "cluster"
        reading.setdefault("higher_is_better", True)
        return bk.read_evals(path, **reading)

    return make
