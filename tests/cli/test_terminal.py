"""Decisions on a terminal, in a pipe and on a narrow screen."""

import io
import re

import numpy as np
import pytest
from rich.console import Console

from bestofk import Losses, order
from bestofk.cli.app import VERBS, bestofk
from bestofk.cli.terminal import (
    STYLES,
    learner_table,
    print_decision,
    scale,
    shown_columns,
    why_preferred,
)
from bestofk.losses import example_losses


@pytest.fixture(scope="module")
def decision():
    return order(example_losses("breast-cancer-10x10"))


def shown(decision, width, **options):
    out = Console(file=io.StringIO(), width=width, **options)
    out.print(learner_table(decision, shown_columns(decision, width)))
    return out.file.getvalue()


def three(prefer=None, names=("dear", "cheap", "poor"), **options):
    """`cheap` is not shown to be worse than `dear`, whose mean is smaller; `poor` is."""
    noise = np.random.default_rng(3).normal(scale=0.02, size=(3, 10, 10))
    means = np.array([0.200, 0.201, 0.4])[:, np.newaxis, np.newaxis]
    noise -= noise.mean(axis=(1, 2), keepdims=True)
    losses = Losses(means + noise, dims=("algorithm", "run", "fold"), algorithms=names)
    return order(losses, prefer=prefer, **options)


@pytest.mark.parametrize("width", [50, 60, 72, 80, 100, 110, 200])
def test_the_table_fits_and_keeps_what_matters(decision, width):
    text = shown(decision, width)
    lines = text.splitlines()
    assert max(map(len, lines)) <= width
    assert len(lines) == 1 + len(decision.by_preference)
    assert "logistic-regression" in text
    assert "recommended" in lines[1]
    assert ("< 0.0001" in text) == (width >= 72)
    assert sum(line.rstrip().endswith("worse") for line in lines) == 5
    assert ("worse by" in text) == (width >= 72)
    assert ("●" in text) == (width >= 100)
    assert ("95 % interval" in text) == (width >= 100)


def test_the_line_of_dots_has_a_scale(decision):
    header, first, *_, last = shown(decision, 160).splitlines()
    start, stop = first.index("●"), last.index("●")
    assert header[start:].startswith("0.021")
    assert header[: stop + 1].endswith("0.373")


def test_no_scale_where_its_ends_are_the_same():
    assert scale(np.array([0.5, 0.5]), 20) == ""
    assert scale(np.array([0.50000001, 0.5]), 20) == ""
    assert scale(np.array([-1234567.0, 1234567.0]), 10) == ""


def test_verdicts_have_words_and_colours():
    text = shown(three(), 120, force_terminal=True, color_system="standard")
    plain = shown(three(), 120)
    for verdict in ("recommended", "too close to call", "worse"):
        assert verdict in plain
        assert STYLES[verdict]
    assert "\x1b[1;32mrecommended" in text
    assert "\x1b[33mtoo close to call" in text
    assert "\x1b[31mworse" in text
    assert "\x1b" not in plain


@pytest.mark.parametrize(
    ("prefer", "words"),
    [
        (None, ""),
        (["cheap", "dear", "poor"], "you prefer it"),
        ("listed", ""),  # dear comes first, and has the smallest mean
        ({"cheap": 1, "dear": 2, "poor": 3}, "cheaper"),
        (["poor", "dear", "cheap"], ""),
    ],
)
def test_why_a_learner_without_the_smallest_mean_is_recommended(prefer, words):
    decision = three(prefer)
    assert why_preferred(decision) == words
    cells = {column.key: column.cells for column in shown_columns(decision, 120)}
    expected = f"recommended ({words})" if words else "recommended"
    assert cells["verdict"][cells["learner"].index(str(decision.recommended))] == expected


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
        "order", "breast-cancer-10x10", "--prefer", "logistic-regression", "--explain"
    )
    assert (code, err) == (0, "")
    places = [out.index(words) for words in ("Use ", "verdict", "Order: ", "Evidence: ")]
    assert places == sorted(places)
    assert out.index("Use ") == 0
    # the rows of the table say it already
    assert "Significantly worse than" not in out
    assert max(map(len, out.splitlines())) <= 110


def test_sentences_say_what_the_table_has_no_room_for(run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    _, out, _ = run("order", "breast-cancer-10x10", "--explain")
    assert "Significantly worse than logistic-regression: " in out
    assert max(map(len, out.splitlines())) <= 60


def test_one_sided_families_say_what_was_not_tested(run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "160")
    asked = ("--family", "preference", "--prefer", "dummy,1-nn,logistic-regression")
    asked += ("--explain",)
    _, out, _ = run("order", "breast-cancer-10x10", *asked)
    assert "not tested for being" in out


def test_lines_in_a_pipe_are_whole_unless_columns_are_asked_for(run, monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    _, out, _ = run("order", "breast-cancer-10x10", "--explain")
    assert max(map(len, out.splitlines())) > 200


def test_means_by_other_metrics_get_a_table_of_their_own_where_there_is_no_room(run, monkeypatch):
    asked = ("compare", "iris", "--learner", "max", "--learner", "naive-bayes")
    asked += ("--cv", "5x2", "--scoring", "accuracy,log-loss,roc_auc_ovr", "--n-jobs", "1")
    asked += ("--explain",)
    for width, tables in (("72", 2), ("200", 1)):
        monkeypatch.setenv("COLUMNS", width)
        code, out, _ = run(*asked)
        assert code == 0
        heads = [line for line in out.splitlines() if line.lstrip().startswith("learner ")]
        assert len(heads) == tables
        assert "mean log-loss" in heads[-1]
        assert "mean roc auc ovr" in heads[-1]


@pytest.mark.parametrize("verb", VERBS)
def test_many_options_stand_in_sections(run, verb):
    from click import Context, Group, Option

    command = bestofk.get_command(Context(bestofk), verb)
    options = [one for one in command.params if isinstance(one, Option) and not one.hidden]
    _, out, _ = run(verb, "--help-all" if getattr(command, "common", ()) else "--help")
    for option in options:
        rows = re.findall(rf"^  {option.opts[0]}(?= [^a-z.]|,|$)", out, re.MULTILINE)
        assert len(rows) == 1, option.name
    if isinstance(command, Group):
        return
    titles = [line for line in out.splitlines() if line.endswith(":") and line[0] != " "]
    if len(options) > 25:
        assert titles[0] == "Input:"
        assert titles[-1] == "Output:"
        assert len(titles) >= 3


SIX = ["baseline", "logistic", "naive-bayes", "nearest-neighbour", "decision-tree", "forest"]


def six(seed, *, datasets=False, **facts):
    """Six learners with near ties, large gaps and noise."""
    rng = np.random.default_rng(seed)
    shape = (12,) if datasets else (10, 10)
    dims = ("algorithm", "dataset") if datasets else ("algorithm", "run", "fold")
    gaps = rng.choice([0.0, 0.001, 0.02, 0.1]) * rng.permutation(6)
    spread = rng.choice([0.01, 0.05])
    values = 0.2 + np.expand_dims(gaps, tuple(range(1, 1 + len(shape))))
    values = values + rng.normal(scale=spread, size=(6, *shape))
    return Losses(values, dims=dims, algorithms=SIX, loss_name="error", **facts)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(
    "options",
    [{}, {"prefer": "listed"}, {"margin": 0.01}, {"prefer": ["forest"]}, {"datasets": True}],
    ids=str,
)
def test_the_short_answer_has_at_most_15_lines(capsys, monkeypatch, seed, options):
    monkeypatch.setenv("COLUMNS", "80")
    options = dict(options)
    decision = order(six(seed, datasets=options.pop("datasets", False)), **options)
    print_decision(decision)
    lines = capsys.readouterr().out.splitlines()
    # an option that requests a statement adds its line
    assert len(lines) <= 15 + ("margin" in options)
    assert max(map(len, lines)) <= 80
    starts = [line.partition(":")[0] for line in lines]
    assert starts.index("How sure") < starts.index("Next")
    head = next(k for k, line in enumerate(lines) if line.rstrip().endswith(" verdict"))
    table = lines[head + 1 :][:6]
    rows = [next(name for name in SIX if name in line) for line in table]
    assert rows == list(decision.by_mean)
    marked = [line for line in table if line.startswith(">")]
    assert len(marked) == 1
    assert str(decision.recommended) in marked[0]
    words = " ".join(lines).split()
    # no word is broken or cut
    assert set(words) >= set(decision.headline().split())
    assert "…" not in "".join(lines)


def test_the_short_answer_keeps_the_caution_and_the_estimand(run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    _, out, _ = run("order", "breast-cancer-10x10")
    text = " ".join(out.split())
    assert "Caution: Unstable learners" in text
    assert "mean error rate of learners trained on about 512 rows" in text
    assert "Evidence: " not in out
    _, full, _ = run("order", "breast-cancer-10x10", "--explain")
    assert "Evidence: " in full
    assert "Estimand: the mean difference" in full


def test_advice_about_speed_is_an_option_that_works(run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr("bestofk.decide.statements.study.MIN_SECONDS", 0.0)
    learners = ("--learner", "sklearn.ensemble:RandomForestClassifier(n_estimators=20)")
    asked = ("compare", "iris", "--learner", "nmc", *learners, "--cv", "kfold:5", "--n-jobs", "1")
    _, out, _ = run(*asked)
    text = " ".join(out.split())
    if "RandomForestClassifier(n_estimators=20) has the lowest" in text:
        assert "times faster to fit: use --prefer fit_time to take that into account." in text
    code, out, _ = run(*asked, "--prefer", "fit_time")
    assert code == 0
    assert "faster to fit" not in out
