"""Choices from random logs: headline, statements, bound, margin and JSON never contradict."""

import json
import re
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

import bestofk as bk
from bestofk.evals.choosing import choose_model

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
    return bk.read_evals(path, **how), K, epochs, graded


def random_choice(rng, path):
    evals, K, epochs, graded = random_logs(rng, path)
    options = {"alpha": float(rng.choice([0.05, 0.2]))}
    if rng.random() < 0.6:
        options["margin"] = float(rng.choice([0.01, 0.05, 0.15, 0.4]))
    if rng.random() < 0.4:
        options["prefer"] = "cost"
        if "margin" in options and rng.random() < 0.6:
            options["procedure"] = "cheapest-adequate"
    elif "margin" in options and rng.random() < 0.5:
        options["against"] = f"M{int(rng.integers(K))}"
    if epochs > 1 and not graded and rng.random() < 0.4:
        options["pass_at"] = 2
    return choose_model(evals, **options), options


def check(choice, options):
    decision, first = choice.decision, choice.headline()
    told = json.loads(json.dumps(choice.to_dict(), allow_nan=False))
    best, margin = choice.recommended, options.get("margin")
    depends = bool(re.match(r"Which model is (better|good enough) depends on the missing", first))
    assert told["headline"] == first
    assert told["recommended"] == best
    claims = {tuple(claim) for claim in told["claims"]}
    if depends:
        assert "Use " not in first
        assert "significantly" not in first
    for winner, loser in re.findall(r"[Ii]t is significantly better than (M\d)()", first):
        assert (best, winner) in claims, loser
    # the verdict about the margin, the bound and the recommendation
    if best is None:
        assert options.get("procedure") == "cheapest-adequate"
        assert choice.margin_verdict is None
    elif margin is not None:
        verdict, bound = choice.margin_verdict, choice.bound
        if verdict == "shown":
            assert bound is not None
            assert bound <= margin
        elif verdict in ("not shown", "worse"):
            if bound is not None:
                assert bound >= margin
            assert options.get("procedure") != "cheapest-adequate"
        assert (verdict == "depends") <= (decision.problem.missing is not None)
        assert (verdict == "worse") <= any(loser == best for _, loser in claims)
        text = choice.explain()
        assert ("is shown not to be worse than the best by more" in text) <= (verdict == "shown")
        assert ("may be worse than the best by more" in text) <= (verdict == "not shown")
    for row in choice.against:
        assert row.at_most >= 0
        assert (row.verdict == "within") == (row.at_most < margin)
        if row.verdict == "beyond":
            assert (row.against, row.name) in claims
        assert row.name in first
    # advice is about open pairs
    for a, b in re.findall(r"would settle (M\d) vs (M\d)", " ".join(
        one.short for one in choice.select("next")
    )):  # fmt: skip
        assert not {(a, b), (b, a)} & claims
    # intervals agree with claims
    for row in told["evidence"]:
        inside = (row["low"] is None or row["low"] <= 0) and (
            row["high"] is None or row["high"] >= 0
        )
        if not inside:
            assert row["rejected"], row
        if inside and row["rejected"]:
            assert "can include 0" in choice.explain()
    missing = decision.problem.missing
    if missing is not None and missing.as_worst is not None:
        assert all(f"{name} has no score on" in first for name in missing.counts)
        for scenario in (missing.as_worst, missing.as_best):
            assert claims <= set(scenario.claims())
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
