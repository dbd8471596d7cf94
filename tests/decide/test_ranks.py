"""Ranks follow from the claims; the set of the best compares each learner with the others only."""

import itertools
import json

import numpy as np
import pytest

import bestofk as bk
from bestofk.cli import main


def tables():
    rng = np.random.default_rng(5)
    for K, n, gap in ((2, 12, 0.1), (3, 12, 0.3), (5, 20, 0.15), (5, 20, 0.0), (6, 40, 0.1)):
        values = rng.normal(size=n) + rng.normal(0, 0.3, (K, n)) + gap * np.arange(K)[:, None]
        yield bk.order(bk.Losses(values, dims=("algorithm", "dataset")))


@pytest.mark.parametrize("decision", [*tables()], ids=lambda one: f"{len(one.by_mean)} learners")
def test_intervals_hold_every_order_that_agrees_with_the_claims(decision):
    ranks = decision.ranks
    assert ranks.names == decision.by_mean
    claims = [tuple(map(ranks.names.index, claim)) for claim in decision.claims]
    possible = [set() for _ in ranks.names]
    for order in itertools.permutations(range(len(ranks))):
        position = {name: rank for rank, name in enumerate(order, 1)}
        if all(position[better] < position[worse] for better, worse in claims):
            for name, rank in position.items():
                possible[name].add(rank)
    for k, ranks_of_k in enumerate(possible):
        # equal, since these claims are transitive
        assert (ranks.low[k], ranks.high[k]) == (min(ranks_of_k), max(ranks_of_k))


@pytest.mark.parametrize("decision", [*tables()], ids=lambda one: f"{len(one.by_mean)} learners")
def test_the_set_of_the_best(decision):
    K = len(decision.by_mean)
    excluded = set()
    for pair in decision.evidence:
        better, worse = (pair.a, pair.b) if pair.estimate < 0 else (pair.b, pair.a)
        if pair.pvalue * max((K - 1) / 2, 1) <= decision.alpha or pair.better == better:
            excluded.add(worse)
    assert set(decision.ranks.best) == set(decision.by_mean) - excluded
    assert decision.ranks.best[0] == decision.smallest_mean


def test_two_learners_agree_with_the_verdict():
    rng = np.random.default_rng(1)
    for gap in np.linspace(0, 0.5, 12):
        values = rng.normal(0, 0.3, (2, 15)) + np.array([[0.0], [gap]])
        decision = bk.order(bk.Losses(values, dims=("algorithm", "dataset")))
        assert (len(decision.ranks.best) == 1) == bool(decision.claims)


def test_every_view_has_the_ranks(tmp_path, capsys):
    table = "breast-cancer-10x10"
    report = tmp_path / "report.html"
    assert main(["order", table, "--ranks", "--report", str(report)]) == 0
    printed = capsys.readouterr().out
    sentence = "logistic-regression is shown to be the best of 6"
    assert f"Ranks: {sentence}" in printed
    assert "2-5" in printed
    page = report.read_text()
    assert "Ranks that the data allow" in page
    assert "2-5" in page
    assert main(["order", table, "--json"]) == 0
    ranks = json.loads(capsys.readouterr().out)["ranks"]
    assert ranks["low"] == [1, 2, 2, 2, 2, 6]
    assert ranks["high"] == [1, 5, 5, 5, 5, 6]
    assert ranks["may_be_best"] == [True, *[False] * 5]
    assert main(["order", table, "--explain"]) == 0
    assert sentence in capsys.readouterr().out
    assert bk.order(bk.read_losses(table)).ranks.to_frame().shape == (6, 4)


@pytest.mark.parametrize(
    "command",
    [["compare", "iris", "--learner", "nmc", "--learner", "nn", "--learner", "naive-bayes",
      "--cv", "5x2", "-q"],
     ["evals", "inspect-sums", "--metric", "match"]],
    ids=lambda words: words[0],
)  # fmt: skip
def test_other_commands_show_ranks(command, capsys):
    words = [word for word in command if word != "-q"]
    assert main([*words, "--ranks"]) == 0
    assert "\nRanks: " in capsys.readouterr().out


def test_one_sided_and_control_families_have_no_ranks(capsys):
    options = ["--family", "control", "--control", "dummy"]
    assert main(["order", "breast-cancer-10x10", "--ranks", *options]) == 0
    assert "Ranks: they need every pair to be tested in both directions" in capsys.readouterr().out
    table = bk.read_losses("breast-cancer-10x10")
    assert bk.order(table, family="control", control="dummy").ranks is None
    assert bk.order(table, family="preference", prefer="listed").ranks is None
