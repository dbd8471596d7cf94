"""``bestofk papers test``."""

import json

import pytest


def test_pairwise_test_on_all_pairs_and_on_one(run, scores):
    code, out, _ = run("papers", "test", scores, "--test", "kfold-t", "--json")
    assert code == 0
    rows = json.loads(out)["evidence"]
    assert len(rows) == 1
    # Differences 0.12, 0.11, 0.12, 0.11 have the mean 0.115 and the variance 1e-4 / 3; losses come
    # in steps of 0.01, so that at least 2 steps of one fold in four, 5e-5, are unknown.
    assert abs(rows[0]["difference"]) == pytest.approx(0.115)
    code, out, _ = run(
        "papers", "test", scores, "--test", "kfold-t", "--pair", "large", "small", "--json"
    )
    assert abs(json.loads(out)["statistic"]) == pytest.approx(0.115 / (5e-5 / 4) ** 0.5)
    code, out, _ = run(
        "papers", "test", scores, "--test", "kfold-t", "--pair", "large", "small",
        "--set", "alternative=less",
    )  # fmt: skip
    assert code == 0
    assert "large has a smaller mean loss than small" in out


def test_test_of_all_learners(run, scores):
    code, out, _ = run("papers", "test", scores, "--test", "anova", "--json")
    assert code == 0
    held = json.loads(out, parse_constant=pytest.fail)
    assert held["test"] == "anova"
    assert held["pvalue"] < 0.001
    code, out, _ = run("papers", "test", scores, "--test", "newman-keuls")
    assert "large" in out
    assert "small" in out
