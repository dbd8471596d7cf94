"""``bestofk evals``."""

import json
import textwrap
from pathlib import Path

import pytest

from bestofk.evals.reading import example_prices

PRICES = str(example_prices("inspect-sums"))


def test_the_cheapest_that_may_be_the_best(run):
    code, out, err = run(
        "evals", "inspect-sums", "--metric", "match", "--prices", PRICES, "--prefer", "cost",
        "--explain",
    )  # fmt: skip
    assert (code, err) == (0, "")
    # 12 tokens in, 9 out at 0.4 and 1.6 for a million; 0.344 / 0.0192 is 17.9
    assert out.startswith(
        "Use mockllm/medium (mean match 0.85, cost 0.0192 per 1,000 samples), the cheapest that "
        "may be the best: it is at most "
    )
    assert (
        "mockllm/large costs 0.344 per 1,000 samples, 18 times as much: mockllm/medium saves" in out
    )
    assert "Epochs are averaged per item" in out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["inspect-sums"], "--metric match"),
        (["inspect-sums", "--metric", "match", "--prefer", "cost"], "give --prices"),
        (["nowhere"], "There is no file or folder 'nowhere'"),
        (["inspect-sums", "--formats", "x.toml"], "There is no file 'x.toml'"),
        (["inspect-sums", "--column", "x"], "--column must be ROLE=NAME"),
        (["inspect-sums", "--metric", "match", "--prices", "no.csv"], "no.csv"),
    ],
)
def test_a_wrong_call_is_one_sentence(run, words, said):
    code, out, err = run("evals", *words)
    assert (code, out) == (2, "")
    assert said in err
    assert err.count("\n") == 1


def test_a_table_with_columns_of_other_names(run, tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("who,what,points\n" + "".join(
        f"{who},{i},{5 * (i % 7 != 0 or who == 'b')}\n" for who in "ab" for i in range(100)
    ))  # fmt: skip
    words = ["evals", str(path), "--column", "model=who", "--column",
             "item=what", "--column", "score=points", "--quiet"]  # fmt: skip
    code, _, err = run(*words)
    assert code == 2
    assert "pass --higher-is-better or --lower-is-better." in err
    assert run(*words, "--higher-is-better") == (0, "b\na\n", "")


def test_what_stands_beside_the_verdict(run):
    code, out, _ = run(
        "evals", "inspect-sums", "--metric", "match", "--prefer", "tokens", "--cluster", "passage",
        "--margin", "0.05", "--explain",
    )  # fmt: skip
    assert code == 0
    for said in (
        "cluster-t", "each of 8 clusters of items counts", "it is at most 0.23 worse",
        "Epochs are averaged per item",
    ):  # fmt: skip
        assert said in out


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--set", "pass_at=2"], "mean pass@2"),
        (["--set", "pass_all=2"], "mean pass^2"),
        (["--cluster", "passage", "--set", "test=cluster-t"], "How sure: cluster-t"),
        (["--margin", "0.2", "--prefer", "tokens"], "Use mockllm/medium"),
        (["--set", "macro=true"], "Use mockllm/large"),
    ],
)
def test_ways_to_ask(run, options, said):
    code, out, _ = run("evals", "inspect-sums", "--metric", "match", *options)
    assert (code, said in out) == (0, True)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--set", "pass_at=3"], "the largest k that these logs allow is 2"),
        (["--set", "pass_at=2", "--set", "pass_all=2"], "pass one of them"),
        (["--cluster", "passage", "--set", "test=mcnemar"], "cluster-t, cluster-sign-flip"),
        (["--margin", "0"], "margin"),
        (["--set", "test=nonsense"], "nonsense"),
    ],
)
def test_what_cannot_be_asked_is_one_sentence(run, options, said):
    code, out, err = run("evals", "inspect-sums", "--metric", "match", *options)
    assert (code, out) == (2, "")
    assert said in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("helm", "such as --metric exact_match.\n"),
        ("lm-eval", "such as --metric exact_match,strict-match.\n"),
        ("README.md", "state the paths of its scores with --formats my.toml."),
        ("nowhere", "There is no file or folder"),
    ],
)
def test_mistakes_get_advice_that_can_be_typed(run, name, said):
    golden = Path(__file__).parents[1] / "evals" / "golden"
    code, out, err = run("evals", str(golden / name))
    assert (code, out) == (2, "")
    assert said in err
    assert "on the command line" not in err


def judged(tmp_path):
    rows = ["model,item,judge_score,human_score,helpful"]
    for item in range(60):
        human = item * 7 % 5 + 1
        label = human if item % 3 == 0 else ""
        rows += [f"a,{item},{human},{label},{item % 2}", f"b,{item},{min(human + 1, 5)},{label},1"]
    path = tmp_path / "judged.csv"
    path.write_text("\n".join(rows))
    return str(path), ("--metric", "judge_score", "--set", "higher_is_better=true")


def test_human_labels_correct_a_judge(run, tmp_path):
    path, options = judged(tmp_path)
    _, alone, _ = run("evals", path, *options)
    assert alone.startswith("Use b")
    assert "pass --set truth=COLUMN" in " ".join(alone.split())
    code, out, _ = run("evals", path, *options, "--set", "truth=human_score")
    assert code == 0
    assert not out.startswith("Use b")
    assert "Judge: 20 of 60 items have human labels" in out


def test_several_metrics_decide_together(run, tmp_path):
    path, options = judged(tmp_path)
    code, out, _ = run("evals", path, "--metric", "helpful", *options)
    assert code == 0
    # b is always helpful, a in every second item, and the judge prefers b as well
    assert out.startswith("Use b")
    code, out, _ = run("evals", path, "--metric", "helpful", *options[2:],
                       "--require", "judge_score:0.1", "--json")  # fmt: skip
    held = json.loads(out)
    assert (code, held["recommended"]) == (0, "b")
    assert held["by_metric"]["judge_score"]["candidates"] == ["b"]


def test_the_noise_of_the_runs(run):
    code, out, _ = run("evals", "inspect-sums", "--metric", "match", "--noise")
    assert code == 0
    assert out.startswith("One run moves by 5.9 points (mockllm/large), 6.6 (mockllm/medium)")
    _, out, _ = run("evals", "inspect-sums", "--metric", "match")
    noise = out[out.index("Noise: ") : out.index("How sure: ")]
    assert len(textwrap.wrap(noise, 100, subsequent_indent="  ")) == 3
    _, text, _ = run("evals", "inspect-sums", "--metric", "match", "--noise", "--json")
    # 4 of 24 sums have one right answer of two: variance 1/2 each, and 4/2/24 / 24 in all
    assert json.loads(text)["models"][0]["sd"] == pytest.approx((4 / 2 / 24 / 24) ** 0.5)
