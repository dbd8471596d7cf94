"""Decisions on a terminal, in a pipe and on a narrow screen."""

import io
import re

import numpy as np
import pytest
from rich.console import Console

from bestofk import Scores, compare_scores
from bestofk.cli.terminal import print_result
from bestofk.losses import read_scores
from bestofk.report.screen import STYLES, learner_table, shown_columns


@pytest.fixture(scope="module")
def decision():
    return compare_scores(read_scores("breast-cancer-10x10"))


def shown(decision, width, **options):
    out = Console(file=io.StringIO(), width=width, **options)
    decision = decision.decision
    out.print(learner_table(decision, shown_columns(decision, width)))
    return out.file.getvalue()


def three(prefer=None, names=("dear", "cheap", "poor"), **options):
    """`cheap` may be as good as `dear`, whose mean is smaller; `poor` is ruled out."""
    noise = np.random.default_rng(3).normal(scale=0.02, size=(3, 10, 10))
    means = np.array([0.200, 0.201, 0.4])[:, np.newaxis, np.newaxis]
    noise -= noise.mean(axis=(1, 2), keepdims=True)
    losses = Scores(means + noise, dims=("learner", "run", "fold"), learners=names)
    return compare_scores(losses, prefer=prefer, **options)


@pytest.mark.parametrize("width", [50, 60, 72, 80, 100, 200])
def test_the_table_fits_and_keeps_the_bounds_and_verdicts(decision, width):
    lines = shown(decision, width).splitlines()
    assert max(map(len, lines)) <= width
    rows = lines[-6:]
    assert "recommended" in rows[0]
    assert sum("  ruled out" in line for line in rows) == 5
    # from 100 columns on, the dot of each row is on one scale
    assert all("●" in line for line in rows) == (width >= 100)
    titles = " ".join(" ".join(lines[:-6]).split())
    assert ("mean error rate" in titles) == (width >= 72)
    assert ("worse than the best by" in titles) == (width >= 80)
    # the bounds of `Decision.standings`, rounded outwards
    standing = decision.decision.standings[1]
    low, high = (float(word) for word in re.findall(r"([.\d]+) to ([.\d]+)", rows[1])[0])
    assert low <= standing.at_least < low + 0.001
    assert high - 0.001 < standing.at_most <= high


def test_long_names_are_cut_in_the_middle():
    long = "a-learner-with-a-name-that-is-much-too-long-for-a-table"
    lines = shown(three(names=(f"{long}-1", f"{long}-2", "poor")), 60).splitlines()
    assert max(map(len, lines)) <= 60
    assert sum("…" in line for line in lines) == 2
    assert "-1 " in lines[-3]
    assert "-2 " in lines[-2]


def test_with_a_preference_the_rows_are_in_the_order_of_the_decision():
    decision = three(["cheap", "dear", "poor"])
    assert [line.split()[0] for line in shown(decision, 120).splitlines()[1:]] == [
        ">", "dear", "poor"
    ]  # fmt: skip
    assert decision.decision.by_mean[0] == "dear"


def test_verdicts_have_words_and_colours():
    text = shown(three(), 120, force_terminal=True, color_system="standard")
    plain = shown(three(), 120)
    for verdict in ("recommended", "may be the best", "ruled out"):
        assert verdict in plain
        assert STYLES[verdict]
    assert "\x1b[1;32mrecommended" in text
    assert "\x1b[33mmay be the best" in text
    assert "\x1b[31mruled out" in text
    assert "\x1b" not in plain


def test_columns_are_as_wide_as_their_characters():
    # two columns each, by the terminal's own count (Unicode, East Asian Width)
    decision = three(names=("最近傍", "決定木", "線形"))
    lines = shown(decision, 72).splitlines()
    from rich.cells import cell_len

    assert max(map(cell_len, lines)) <= 72
    assert all("…" not in line for line in lines)


def test_the_headline_first_then_the_table_then_the_sentences(run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "110")
    code, out, err = run(
        "scores", "breast-cancer-10x10", "--prefer", "logistic-regression", "--explain"
    )
    assert (code, err) == (0, "")
    places = [out.index(words) for words in ("Use ", "verdict", "Ruled out", "How sure: ")]
    assert places == sorted(places)
    assert out.index("Use ") == 0
    assert max(map(len, out.splitlines())) <= 110


def test_lines_in_a_pipe_are_whole_unless_columns_are_asked_for(run, monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    _, out, _ = run("scores", "breast-cancer-10x10", "--explain")
    assert max(map(len, out.splitlines())) > 200


def test_means_by_other_metrics_get_a_table_of_their_own_where_there_is_no_room(run, monkeypatch):
    asked = ("compare", "iris", "--learner", "max", "--learner", "naive-bayes")
    asked += ("--cv", "5x2", "--scoring", "accuracy,log-loss,roc_auc_ovr", "--set", "n_jobs=1")
    asked += ("--explain",)
    for width, tables in (("72", 2), ("200", 1)):
        monkeypatch.setenv("COLUMNS", width)
        code, out, _ = run(*asked)
        assert code == 0
        heads = [line for line in out.splitlines() if line.lstrip().startswith("learner ")]
        assert len(heads) == tables
        assert "mean log-loss" in heads[-1]
        assert "mean roc auc ovr" in heads[-1]


SIX = ["baseline", "logistic", "naive-bayes", "nearest-neighbour", "decision-tree", "forest"]


def six(seed, *, datasets=False, **facts):
    """Six learners with near ties, large gaps and noise."""
    rng = np.random.default_rng(seed)
    shape = (12,) if datasets else (10, 10)
    dims = ("learner", "dataset") if datasets else ("learner", "run", "fold")
    gaps = rng.choice([0.0, 0.001, 0.02, 0.1]) * rng.permutation(6)
    spread = rng.choice([0.01, 0.05])
    values = 0.2 + np.expand_dims(gaps, tuple(range(1, 1 + len(shape))))
    values = values + rng.normal(scale=spread, size=(6, *shape))
    return Scores(values, dims=dims, learners=SIX, loss_name="error", **facts)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("width", [60, 80, 120])
@pytest.mark.parametrize(
    "options",
    [{}, {"prefer": "listed"}, {"margin": 0.01}, {"prefer": ["forest"]}, {"datasets": True}],
    ids=str,
)
def test_the_answer_is_the_verdict_the_table_and_how_sure(
    capsys, monkeypatch, seed, width, options
):
    monkeypatch.setenv("COLUMNS", str(width))
    options = dict(options)
    decision = compare_scores(six(seed, datasets=options.pop("datasets", False)), **options)
    print_result(decision)
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines())) <= width
    # no word of the verdict is broken, and nothing precedes it
    verdict, table, rest = (part.splitlines() for part in re.split(r"\n *\n", out))
    assert " ".join(verdict) == decision.headline
    rows = [next(name for name in SIX if name in line) for line in table[-6:]]
    assert rows == [row.name for row in decision.decision.standings]
    (marked,) = (line for line in table if line.startswith(">"))
    assert f" {decision.recommended} " in marked
    starts = [line.partition(":")[0] for line in rest if line[0] != " "]
    assert starts[0] == "How sure"
    assert starts[1:] in ([], ["Note"], ["Caution"], ["Note", "Caution"])


def test_the_answer_names_the_quantity_and_explains_on_request(run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    _, out, _ = run("scores", "breast-cancer-10x10", "--set", "test=use-all-data")
    text = " ".join(out.split())
    assert "Caution: The degrees of freedom of use-all-data are not calibrated" in text
    _, out, _ = run("scores", "breast-cancer-10x10")
    text = " ".join(out.split())
    assert "Caution: " not in text
    assert "mean error rate of learners trained on about 512 rows" in text
    assert "With 95 % confidence" not in text
    _, full, _ = run("scores", "breast-cancer-10x10", "--explain")
    assert "With 95 % confidence the best is among" in " ".join(full.split())


def test_advice_about_speed_is_an_option_that_works(run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr("bestofk.run.study_statements.MIN_SECONDS", 0.0)
    learners = ("--learner", "sklearn.ensemble:RandomForestClassifier(n_estimators=20)")
    asked = ("compare", "breast-cancer", "--learner", "nmc", *learners, "--cv", "kfold:5")
    _, out, _ = run(*asked)
    text = " ".join(out.split())
    # nmc may be the best, and the forest has the lower mean
    assert "times faster to fit: use --prefer fit_time to take that into account." in text
    code, out, _ = run(*asked, "--prefer", "fit_time")
    assert code == 0
    assert "faster to fit" not in out
