"""A printed table shows what holds for every way in which the items may have been answered."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import bestofk as bk
from bestofk._base.errors import BestOfKError
from bestofk.cli import main
from bestofk.decide import order_printed

TABLE = pd.DataFrame({"model": ["A", "B", "C"], "accuracy": [71.3, 70.9, 55.0]})


def printed(tmp_path, text):
    path = tmp_path / "leaderboard.csv"
    path.write_text(text)
    return str(path)


def test_verdicts_never_contradict_the_items():
    """Answers are drawn, their accuracies printed, and both decisions compared."""
    rng = np.random.default_rng(7)
    seen = set()
    for _ in range(60):
        n = int(rng.integers(40, 600))
        ability = rng.uniform(0.2, 0.9, 3)
        wrong = (rng.random((3, n)) > ability[:, None]).astype(float)
        decision = bk.order(bk.Losses(wrong, dims=("algorithm", "instance")))
        names = [str(name) for name in decision.by_preference]
        accuracy = {str(k): round(100 * (1 - wrong[k].mean()), 1) for k in range(3)}
        table = pd.DataFrame({"model": names, "accuracy": [accuracy[name] for name in names]})
        tested = order_printed(table, n).tested
        for pair, (low, high), verdict in zip(
            tested.pairs, tested.adjusted_pvalues, tested.verdicts, strict=True
        ):
            row = decision.evidence.row(*pair)
            p = decision.evidence.adjusted_pvalue[row]
            assert low <= p * (1 + 1e-12)
            assert p <= high * (1 + 1e-12)
            seen.add(verdict)
            if verdict != "inconclusive":
                assert (verdict == "significant") == bool(decision.evidence.better[row])
    assert seen == {"significant", "not significant", "inconclusive"}


def test_command_line_and_python_agree(tmp_path, capsys):
    path = printed(tmp_path, TABLE.to_csv(index=False))
    assert main(["order", path, "--items", "1319"]) == 0
    text = capsys.readouterr().out
    assert "Use A (mean accuracy 0.713)." in text
    assert "It is significantly better than C, whatever the items were." in text
    assert "Whether it differs from B needs the answers to the 1,319 items" in text
    assert main(["order", path, "--items", "1319", "--json"]) == 0
    stored = json.loads(capsys.readouterr().out)
    decision = order_printed(TABLE, 1319)
    assert stored == json.loads(json.dumps(decision.to_dict()))
    assert [pair["verdict"] for pair in stored["pairs"]] == list(decision.tested.verdicts)


def test_shares_percent_errors_and_deviations_are_read():
    shares = TABLE.assign(accuracy=[0.713, 0.709, 0.55])
    assert order_printed(shares, 1319).tested.pvalues == pytest.approx(
        order_printed(TABLE, 1319).tested.pvalues
    )
    errors = pd.DataFrame({"model": ["A", "C"], "error rate": [0.287, 0.45]})
    assert order_printed(errors, 1319).recommended == "A"
    scores = pd.DataFrame({"model": ["A", "B"], "score": [3.61, 3.2], "sd": [0.9, 1.1]})
    assert order_printed(scores, 200).verdict == "decided"
    assert order_printed(scores, 20).verdict == "inconclusive"


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
    assert main(["order", path, "--items", str(items)]) == 2
    assert words in capsys.readouterr().err


def test_options_that_do_not_apply_are_refused(tmp_path, capsys):
    path = printed(tmp_path, TABLE.to_csv(index=False))
    assert main(["order", path, "--items", "1319", "--test", "wilcoxon"]) == 2
    assert "--test does not apply to a printed table (--items)" in capsys.readouterr().err
    assert main(["order", path]) == 2
    assert "--items" in capsys.readouterr().err


def test_report_shows_the_verdicts(tmp_path):
    frame = pd.DataFrame({"model": ["A", "B", "C"], "accuracy": [71.3, 71.3, 55.0]})
    decision = order_printed(frame, 1319)
    assert "Use A (mean accuracy 0.713; B has the same). A is significantly" in decision.explain()
    page = decision.report(tmp_path / "r.html").read_text()
    assert "whatever the items were" in page
    assert "<title>Which of 3 models to use</title>" in page


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
        bounds[text] = order_printed(path, 100).tested.pvalues[0].tolist()
    # 10 disagreements in favour of A, or at most 30 against 20 (McNemar's chi-squared test)
    expected = [2 / 2**10, float(stats.chi2.sf((10 - 1) ** 2 / 50, 1))]
    assert bounds["0.80,0.70"] == bounds["80%,70%"] == pytest.approx(expected)
    assert bounds["8.0e-1,7e-1"] == bounds["0.8,0.7"]
    assert bounds["0.8,0.7"][1] == 1.0
