"""A printed table shows what holds for every way in which the items may have been answered."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.optimize import brentq

import bestofk as bk
from bestofk._base.errors import BestOfKError
from bestofk.cli import main
from bestofk.decide import order_printed
from bestofk.stats.pairwise.mcnemar_tests import tango_ends
from bestofk.stats.printed import mcnemar_interval

TABLE = pd.DataFrame({"model": ["A", "B", "C"], "accuracy": [71.3, 70.9, 55.0]})


def printed(tmp_path, text):
    path = tmp_path / "leaderboard.csv"
    path.write_text(text)
    return str(path)


def test_statements_never_contradict_the_items():
    """Answers are drawn, their accuracies printed, and both decisions compared."""
    rng = np.random.default_rng(7)
    seen = set()
    for _ in range(60):
        n = int(rng.integers(40, 600))
        ability = rng.uniform(0.2, 0.9, 3)
        wrong = (rng.random((3, n)) > ability[:, None]).astype(float)
        known = bk.compare_scores(
            bk.Scores(wrong, dims=("learner", "instance"))
        ).decision.with_text_names()
        names = known.by_preference
        accuracy = {str(k): round(100 * (1 - wrong[k].mean()), 1) for k in range(3)}
        table = pd.DataFrame({"model": names, "accuracy": [accuracy[name] for name in names]})
        decision = order_printed(table, n)
        for pair, (low, high) in zip(
            decision.outcome.tested.pairs, decision.outcome.tested.pvalues, strict=True
        ):
            p = known.evidence.pvalue[known.evidence.row(*pair)]
            assert low * (1 - 1e-12) <= p <= high * (1 + 1e-12)
        # what the table rules out, the items rule out, too
        assert set(known.candidates) <= set(decision.candidates)
        best = min(known.candidates, key=known.mean_losses.get)
        for row in decision.decision.standings:
            exact = next(one for one in known.standings if one.name == row.name)
            if known.candidates == decision.candidates:
                assert exact.at_most <= row.at_most + 0.001
            # the observed difference from the best mean is inside
            assert row.at_most >= exact.mean - known.means[best] - 0.001
        seen.add((len(decision.candidates), bool(decision.outcome.undecided())))
    assert {(1, False), (3, True)} <= seen


def test_command_line_and_python_agree(tmp_path, capsys):
    path = printed(tmp_path, TABLE.to_csv(index=False))
    assert main(["scores", path, "--items", "1319"]) == 0
    text = capsys.readouterr().out
    assert "B may be as good; C is ruled out." in text
    assert main(["scores", path, "--items", "1319", "--json"]) == 0
    stored = json.loads(capsys.readouterr().out)
    decision = order_printed(TABLE, 1319)
    assert stored == json.loads(json.dumps(decision.to_dict()))
    # at most 379 and at least 384 wrong answers, none in common; level 1 - 0.05 / 2
    upper = brentq(lambda d: tango_score(d, 379, 384, 1319) + stats.norm.ppf(1 - 0.05 / 4), 0, 0.5)
    assert stored["table"][0]["at_most"] == pytest.approx(upper)


def tango_score(delta, b, c, n):
    """Tango 1998, equations 5 and 6: only a is wrong on b items, only b on c."""
    first, linear, last = 2 * n, -b - c + (2 * n - b + c) * delta, -c * delta * (1 - delta)
    q = (np.sqrt(linear**2 - 4 * first * last) - linear) / (2 * first)
    return (b - c - n * delta) / np.sqrt(n * (2 * q + delta * (1 - delta)))


def test_the_printed_interval_covers_every_outcome():
    """The hull of Tango's intervals over all numbers of items on which both are wrong."""
    rng = np.random.default_rng(0)
    for _ in range(30):
        n = int(rng.integers(10, 80))
        a, b = (np.arange(k, min(k + 2, n) + 1) for k in rng.integers(0, n, 2))
        ends = [
            tango_ends(i - both, j - both, n, 0.98)
            for i in a
            for j in b
            for both in [np.arange(max(0, i + j - n), min(i, j) + 1)]
        ]
        low, high = min(one[0].min() for one in ends), max(one[1].max() for one in ends)
        assert mcnemar_interval(a, b, n, 0.98) == pytest.approx((low, high), abs=1e-9)


def test_shares_percent_errors_and_deviations_are_read():
    shares = TABLE.assign(accuracy=[0.713, 0.709, 0.55])
    assert order_printed(shares, 1319).outcome.tested.pvalues == pytest.approx(
        order_printed(TABLE, 1319).outcome.tested.pvalues
    )
    errors = pd.DataFrame({"model": ["A", "C"], "error rate": [0.287, 0.45]})
    assert order_printed(errors, 1319).recommended == "A"
    scores = pd.DataFrame({"model": ["A", "B"], "score": [3.61, 3.2], "sd": [0.9, 1.1]})
    assert order_printed(scores, 200).candidates == ("A",)
    few = order_printed(scores, 20)
    assert few.candidates == few.outcome.undecided() == ("A", "B")
    # 19 degrees of freedom, the largest error (2 + 0.1) / sqrt(20), means 0.41 + 0.01 apart
    bound = 0.42 + stats.t.ppf(0.975, 19) * (2.0 + 0.1) / np.sqrt(20)
    assert few.decision.standings[1].at_most == pytest.approx(bound)


@pytest.mark.parametrize(
    ("text", "items", "words"),
    [("model,accuracy\nA,71.3\nB,70.9\n", 100, "No number of right answers to 100 items gives"),
     ("model,accuracy\nA,71.3\nA,70.9\n", 1319, "every model needs one row; got A twice"),
     ("model,accuracy\nA,71.3\n", 1319, "2 to 200 models; got 1"),
     ("model,gsm8k,mmlu\nA,71.3,60\nB,70,61\n", 1319, "one of scores"),
     ("model,accuracy\nA,713\nB,709\n", 1319, "must hold shares or percent"),
     ("model,accuracy\nA,71.3\nB,\n", 1319, "B has no accuracy")],
    ids=["impossible", "twice", "one", "two scores", "not a share", "missing"],
)  # fmt: skip
def test_bad_tables_are_refused_in_one_sentence(tmp_path, text, items, words, capsys):
    path = printed(tmp_path, text)
    with pytest.raises(BestOfKError, match=words):
        order_printed(path, items)
    assert main(["scores", path, "--items", str(items)]) == 2
    assert words in capsys.readouterr().err


def test_options_that_do_not_apply_are_refused(tmp_path, capsys):
    path = printed(tmp_path, TABLE.to_csv(index=False))
    assert main(["scores", path, "--items", "1319", "--set", "test=wilcoxon"]) == 2
    assert (
        "--set test=wilcoxon does not apply to a printed table (--items)" in capsys.readouterr().err
    )
    assert main(["scores", path]) == 2
    assert "--items" in capsys.readouterr().err


def test_printed_zeros_and_percent_signs_count(tmp_path):
    """With 100 items, 0.80 and 80 % mean 80 right answers; 0.8 may mean 75 to 85."""
    bounds = {}
    for text in ("0.80,0.70", "80%,70%", "8.0e-1,7e-1", "0.8,0.7"):
        path = tmp_path / "t.csv"
        path.write_text(
            "model,accuracy\n"
            + "\n".join(
                f"{name},{score}" for name, score in zip("AB", text.split(","), strict=True)
            )
        )
        bounds[text] = order_printed(path, 100).outcome.tested.pvalues[0].tolist()
    # 10 disagreements in favour of A, or at most 30 against 20 (McNemar's chi-squared test)
    expected = [2 / 2**10, float(stats.chi2.sf((10 - 1) ** 2 / 50, 1))]
    assert bounds["0.80,0.70"] == bounds["80%,70%"] == pytest.approx(expected)
    assert bounds["8.0e-1,7e-1"] == bounds["0.8,0.7"]
    assert bounds["0.8,0.7"][1] == 1.0
