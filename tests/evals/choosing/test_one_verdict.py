"""Choices from random logs: headline, table, margin, pairs and JSON never contradict."""

import json
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

import bestofk as bk
from bestofk.evals.choosing import compare_evals

LOGS = 36


def random_logs(rng, path):
    """Write a log with epochs, tasks, clusters, graded, missing and costly answers, or without."""
    K, n = int(rng.integers(2, 5)), int(rng.integers(20, 90))
    epochs = int(rng.choice([1, 1, 3]))
    gap = float(rng.choice([0.0, 0.05, 0.2]))
    graded = rng.random() < 0.25
    lost = float(rng.choice([0.0, 0.0, 0.3, 0.6]))
    hard = rng.random(n)
    rows = []
    for k in range(K):
        for i in range(n):
            for epoch in range(epochs):
                right = rng.random() < min(1.0, hard[i] + gap * k)
                score = round(float(right) * rng.random(), 2) if graded else int(right)
                missing = k == 0 and not right and rng.random() < lost
                rows.append((f"M{k}", f"q{i}", epoch, "" if missing else score, 0.001 * (K - k)))
    frame = pd.DataFrame(rows, columns=["model", "item", "epoch", "correct", "cost"])
    if rng.random() < 0.3:
        frame["cluster"] = [f"c{int(item[1:]) // 4}" for item in frame["item"]]
    frame.to_csv(path, index=False)
    how = {"higher_is_better": True} if graded else {}
    return bk.read_evals(path, **how), epochs, graded


def random_choice(rng, path):
    evals, epochs, graded = random_logs(rng, path)
    options = {"alpha": float(rng.choice([0.05, 0.2]))}
    if rng.random() < 0.6:
        options["margin"] = float(rng.choice([0.01, 0.05, 0.15, 0.4]))
    if rng.random() < 0.4:
        options["prefer"] = "cost"
    if epochs > 1 and not graded and rng.random() < 0.4:
        options["pass_at"] = 2
    return compare_evals(evals, **options), options


def check(choice, options):
    decision, first = choice.decision, choice.headline
    told = json.loads(json.dumps(choice.to_dict(pairs=True), allow_nan=False))
    best, margin = choice.recommended, options.get("margin")
    assert (told["headline"], told["recommended"]) == (first, best)
    assert first.count(f"se {best}") >= 1
    rows = {row["name"]: row for row in told["table"]}
    eligible = set(decision.candidates)
    if margin is not None:
        eligible |= {name for name, row in rows.items()
                     if row["at_most"] is not None and row["at_most"] <= margin}  # fmt: skip
    order = decision.by_preference if "prefer" in options else decision.by_mean
    if "prefer" in options or margin is None:
        assert best == next(name for name in order if name in eligible)
    for name, row in rows.items():
        out = row["verdict"] == "ruled out"
        assert out == (name not in eligible)
        if row["at_most"] is not None:
            assert 0 <= row["at_least"] <= row["at_most"]
            assert (row["at_least"] == 0) | (name not in decision.candidates)
    # a pair that is shown to differ over all pairs also rules out
    claims = {(row["better"], row["a"] if row["better"] == row["b"] else row["b"])
              for row in told["pairs"] if row["better"] is not None}  # fmt: skip
    assert not {loser for _, loser in claims} & set(decision.candidates)
    for row in told["pairs"]:
        if None not in (row.get("low"), row.get("high")):
            differs = row["better"] is not None
            assert differs <= (row["low"] >= 0 or row["high"] <= 0)
            assert (row["low"] > 0 or row["high"] < 0) <= differs
    missing = decision.problem.missing
    if missing is not None and missing.as_worst is not None:
        assert all(f"{name} has no score on" in first for name in missing.counts)
        for scenario in (missing.as_worst, missing.as_best):
            assert set(decision.evidence.claims()) <= set(scenario.claims())
    means = [decision.mean_losses[name] for name in decision.by_mean]
    assert all(b - a >= -1e-12 for a, b in pairwise(means))


@pytest.mark.parametrize("batch", range(2))
def test_nothing_contradicts_the_headline(batch, tmp_path):
    for seed in range(batch, LOGS, 2):
        choice, options = random_choice(np.random.default_rng([3, seed]), tmp_path / "log.csv")
        try:
            check(choice, options)
        except AssertionError as failed:
            text = choice.explain()
            raise AssertionError(f"seed {seed}, {options}: {failed}\n{text}") from failed
