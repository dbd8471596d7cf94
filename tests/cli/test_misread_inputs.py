"""Tables that are easily misread: read right, or refused with advice that works when typed.

Every case runs through the command line and through Python. If a table is refused, the test types
each advice of the message and expects a decision.
"""

import json
import re
import shlex
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import bestofk as bk
from bestofk._base.errors import BestOfKError
from bestofk.decide import pairs
from bestofk.evals.choosing import compare_evals
from bestofk.stats.pairwise.registry import PAIRWISE_TESTS

HAS_SERIES_TEST = any(
    "time" in entry.automatic and not entry.needs_sizes for entry in PAIRWISE_TESTS.values()
)


def wide(rows, learners=("svm", "tree"), seed=0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame({name: rng.random(rows).round(3) for name in learners})


def by_set(**more):
    frame = wide(8)
    frame.insert(0, "dataset", list("abcdefgh"))
    return frame.assign(**more)


def long(column, values, learners=("svm", "tree"), name="accuracy", seed=0):
    rng = np.random.default_rng(seed)
    rows = [(who, value, round(rng.random(), 3)) for who in learners for value in values]
    return pd.DataFrame(rows, columns=["model", column, name])


@pytest.fixture
def ask(run, tmp_path):
    """Decide by the command line and in Python; return the JSON object, or the message."""

    def call(frame, *words, **options):
        path = tmp_path / "table.csv"
        frame.to_csv(path, index=False)
        code, out, err = run("scores", str(path), *words, "--json")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                decision = bk.compare_scores(frame, **options)
            except BestOfKError:
                assert code == 2
                return " ".join(err.split())
        assert code == 0, err
        result = json.loads(out)
        assert result["recommended"] == decision.recommended
        return result | {
            "err": " ".join(err.split()),
            "learners": set(decision.order),
            "explained": decision.explain(),
        }

    return call


def advised(message):
    """Return the options that a message names, as words to type."""
    options = re.findall(r"--(?:design|set|column) (?:'[^']*'|[^\s,;)]+)", message)
    return [shlex.split(option.rstrip(".")) for option in options]


def works(run, tmp_path, words, verb="scores"):
    code, _, err = run(verb, str(tmp_path / "table.csv"), *words, "--json")
    assert code == 0, (words, err)


class TestDesign:
    @pytest.mark.parametrize(
        "frame",
        [
            wide(50), wide(50).assign(fold=range(50)), long("fold", range(50)),
            long("split", range(9)), wide(30),
        ],
    )  # fmt: skip
    def test_an_unclear_number_of_splits(self, ask, run, tmp_path, frame):
        message = ask(frame, "--higher-is-better", higher_is_better=True)
        assert "may come from several designs" in message
        options = advised(message)
        assert len(options) >= 3
        for words in options:
            works(run, tmp_path, [*words, "--higher-is-better"])

    @pytest.mark.parametrize("splits", [5, 10])
    def test_a_certain_number_of_splits(self, ask, splits):
        result = ask(long("fold", range(splits)))
        assert result["test"] == "corrected-repeated-kfold-t"

    def test_bare_arrays_follow_the_same_rule(self):
        values = wide(50).to_numpy().T
        with pytest.raises(BestOfKError, match="design='10x5'"):
            bk.compare_scores(values)
        assert bk.compare_scores(values, design="10x5").decision.problem.design.runs == 10
        assert bk.compare_scores(values[:, :10]).decision.problem.design.folds == 10

    def test_sizes_show_one_run(self):
        frame = long("fold", range(20)).assign(n_train=95, n_test=5)
        assert bk.compare_scores(frame).decision.problem.design.folds == 20
        with pytest.raises(BestOfKError, match="several designs"):
            bk.compare_scores(frame.assign(n_train=80, n_test=20))

    @pytest.mark.parametrize("design", ["10x5", "5x10", "kfold:50", "resample:50:0.2"])
    def test_search_results(self, design):
        rng = np.random.default_rng(0)
        results = {"params": [{"c": 1}, {"c": 2}], "mean_test_score": rng.random(2)}
        results |= {f"split{i}_test_score": rng.random(2) for i in range(50)}
        with pytest.raises(BestOfKError, match=f"design='{design}'"):
            bk.compare_scores(results)
        assert bk.compare_scores(results, design=design).recommended

    def test_the_rows_of_the_splits_show_the_design(self):
        from sklearn.datasets import load_iris
        from sklearn.dummy import DummyClassifier
        from sklearn.model_selection import (
            RepeatedStratifiedKFold,
            ShuffleSplit,
            cross_validate,
        )
        from sklearn.naive_bayes import GaussianNB

        rows, classes = load_iris(return_X_y=True)
        learners = {"nb": GaussianNB(), "dummy": DummyClassifier()}

        def results(cv, **options):
            return {
                name: cross_validate(learner, rows, classes, cv=cv, **options)
                for name, learner in learners.items()
            }

        repeated = RepeatedStratifiedKFold(n_splits=5, n_repeats=3, random_state=0)
        design = bk.compare_scores(results(repeated, return_indices=True)).decision.problem.design
        assert (design.kind, design.runs, design.folds, design.n_test[0]) == ("cv", 3, 5, 30)
        with pytest.raises(BestOfKError, match="design='3x5'"):
            bk.compare_scores(results(repeated))
        random = ShuffleSplit(n_splits=12, test_size=0.2, random_state=0)
        design = bk.compare_scores(results(random, return_indices=True)).decision.problem.design
        assert (design.kind, design.folds) == ("resample", 12)
        unseeded = RepeatedStratifiedKFold(n_splits=5, n_repeats=3)
        with pytest.raises(BestOfKError, match="different splits"):
            bk.compare_scores(results(unseeded, return_indices=True))


class TestTime:
    @pytest.mark.parametrize(
        "frame",
        [
            wide(40).assign(date=pd.date_range("2020-01-01", periods=40).strftime("%Y-%m-%d")),
            wide(40).assign(x=pd.date_range("2020-01-01", periods=40).strftime("%Y-%m-%d")),
            wide(12).assign(Datum=[f"{day}.1.2024" for day in range(1, 13)]),
            wide(12).assign(year=range(2000, 2012)),
            wide(12).assign(t=range(12)),
            wide(12).assign(week=range(12)),
            long("timestamp", range(1000, 1030)),
            long("month", [f"2020-{month:02d}" for month in range(1, 13)]),
        ],
    )  # fmt: skip
    def test_times_are_no_data_sets(self, ask, run, tmp_path, frame):
        result = ask(frame, "--higher-is-better", higher_is_better=True)
        if HAS_SERIES_TEST:
            assert PAIRWISE_TESTS[result["test"]].covers == ("time",)
            return
        assert "in order of time" in result
        (words,) = advised(result)
        assert words == ["--column", "dataset=date"]
        works(run, tmp_path, [*words, "--higher-is-better"])

    def test_times_are_sorted(self):
        days = [f"2020-01-{day:02d}" for day in (3, 1, 2)]
        frame = wide(3).assign(date=days)
        losses = bk.read_scores(frame, higher_is_better=False, design="time")
        assert losses.losses[0].ravel().tolist() == frame["svm"].iloc[[1, 2, 0]].tolist()

    def test_the_time_of_a_run_is_no_series(self):
        frame = long("fold", range(5)).assign(timestamp=range(10))
        assert bk.compare_scores(frame).decision.problem.design.folds == 5

    def test_series_of_several_data_sets(self):
        parts = [long("date", range(2000, 2006), seed=i).assign(dataset=f"s{i}") for i in range(9)]
        assert bk.compare_scores(pd.concat(parts)).decision.problem.n_datasets == 9


class TestSeeds:
    def test_seeds_are_independent_runs(self, ask):
        result = ask(long("seed", range(5)))
        assert result["test"] == "skew-corrected-welch-t"
        assert "not about new data" in result["explained"]

    def test_learners_may_have_different_seeds(self):
        # reference: scipy.stats.ttest_ind(equal_var=False), a difference of the rounded values
        from scipy.stats import ttest_ind

        rng = np.random.default_rng(1)
        a, b = rng.random(5), rng.random(3)
        rows = [("a", seed, x) for seed, x in enumerate(a)]
        rows += [("b", seed + 10, x) for seed, x in enumerate(b)]
        table = pd.DataFrame(rows, columns=["model", "seed", "accuracy"])
        decision = bk.compare_scores(table, test="welch-t")
        expected = ttest_ind(a, b, equal_var=False).pvalue
        assert decision.decision.evidence.pvalue[0] == pytest.approx(expected, rel=1e-9)
        assert decision.decision.means["b"] == pytest.approx(b.mean())
        assert "nan" not in decision.explain()

    def test_unnamed_runs_are_asked_for(self, ask, run, tmp_path):
        message = ask(long("run", range(6)))
        assert ["--design", "seeds"] in advised(message)
        for words in advised(message):
            works(run, tmp_path, words)

    def test_seeds_of_several_data_sets_are_averaged(self):
        parts = [long("seed", range(3), seed=i).assign(dataset=f"d{i}") for i in range(8)]
        assert bk.compare_scores(pd.concat(parts)).decision.problem.n_datasets == 8


class TestColumns:
    @pytest.mark.parametrize("name", ["winner", "best", "svm_std", "rank", "mean", "n_instances"])
    def test_no_column_is_left_out_by_its_name(self, ask, name):
        frame = by_set(**{name: np.random.default_rng(5).random(8)})
        result = ask(frame, "--higher-is-better", higher_is_better=True)
        assert result["learners"] == {"svm", "tree", name}

    def test_text_is_not_used_with_a_note(self, ask):
        result = ask(by_set(best="svm"), "--higher-is-better", higher_is_better=True)
        assert result["learners"] == {"svm", "tree"}
        assert "Not used, as they hold text: 'best'." in result["err"]

    @pytest.mark.parametrize("name", ["score", "value", "result"])
    def test_an_unclear_direction(self, run, ask, tmp_path, name):
        message = ask(long("fold", range(5), name=name))
        assert "cannot tell whether higher or lower is better" in message
        works(run, tmp_path, ["--lower-is-better"])

    def test_scores_of_scikit_learn(self, ask):
        frame = long("fold", range(5), name="test_score").assign(fit_time=9.0, train_score=1.0)
        assert ask(frame)["recommended"] in ("svm", "tree")

    @pytest.mark.parametrize("header", ["method", "x"])
    def test_learners_in_rows(self, ask, header):
        frame = wide(6).T
        frame.columns = ["iris", "wine", "glass", "zoo", "car", "mnist"]
        frame.insert(0, header, ["svm", "tree"])
        words = ["--set", "layout=learners-in-rows"] if header == "x" else []
        options = {"layout": "learners-in-rows"} if words else {}
        result = ask(frame, "--higher-is-better", *words, higher_is_better=True, **options)
        assert result["learners"] == {"svm", "tree"}
        assert "means on 6 data sets" in result["explained"]

    @pytest.mark.parametrize("name", ["mse", "loss", "error"])
    def test_negative_losses(self, ask, run, tmp_path, name):
        frame = long("fold", range(5), name=name)
        frame[name] *= -1
        assert "its numbers are negative" in ask(frame)
        works(run, tmp_path, ["--higher-is-better"])
        works(run, tmp_path, ["--lower-is-better"])

    @pytest.mark.parametrize("column", ["", "Unnamed: 0", "index", "Step"])
    def test_a_column_that_numbers_the_rows(self, ask, column):
        frame = by_set()
        frame.insert(0, column, range(8))
        result = ask(frame, "--higher-is-better", higher_is_better=True)
        assert result["learners"] == {"svm", "tree"}

    def test_a_score_next_to_a_loss_is_a_question(self, ask, run, tmp_path):
        message = ask(long("fold", range(5)).assign(loss=np.arange(10) / 10))
        assert "'accuracy', 'loss' could each hold the scores" in message
        for words in (*advised(message), ["--metric", "loss"]):
            works(run, tmp_path, words)

    @pytest.mark.parametrize(
        ("column", "values"), [("lr", (1, 2)), ("epoch", (1, 2)), ("split", ("test", "train"))]
    )
    def test_a_column_that_distinguishes_the_rows(self, ask, run, tmp_path, column, values):
        frame = by_set().melt("dataset", var_name="model", value_name="accuracy")
        both = pd.concat([frame.assign(**{column: value}) for value in values])
        message = ask(both)
        assert f"the column {column!r} distinguishes" in message
        words = [["--set", f"where={column}={values[0]}"], ["--column", f"fold={column}"]]
        assert advised(message) == words
        for words in advised(message):
            works(run, tmp_path, words)

    def test_words_for_no_result(self, ask):
        frame = by_set().astype(object)
        frame.loc[3, "tree"] = "timeout"
        message = ask(frame, "--higher-is-better", higher_is_better=True)
        assert "line 5, column 'tree' must be a number; got 'timeout'" in message


class TestArrays:
    @pytest.mark.parametrize("name", ["nemenyi", "friedman"])
    def test_frames_are_refused(self, name):
        from bestofk.stats import multiple

        frame = wide(8, ("a", "b", "c"))
        function = getattr(multiple, name)
        with pytest.raises(BestOfKError, match=r"pass it to bestofk\.compare_scores"):
            function(frame)
        losses = bk.Scores(frame.to_numpy().T, dims=("learner", "dataset"))
        with pytest.raises(BestOfKError, match=r"pass it to bestofk\.compare_scores"):
            function(losses)
        function(frame.to_numpy().T)
        function(losses.by_dataset())


class TestMissing:
    def table(self, seed=3):
        rng = np.random.default_rng(seed)
        base = 0.5 * rng.random(30)
        return np.stack([base + 0.02 * rng.standard_normal(30) for _ in range(2)])

    def test_a_learner_that_fails_on_hard_data_sets(self):
        values = self.table()
        values[1] -= 0.03
        names = {"dims": ("learner", "dataset"), "learners": ["a", "b"], "missing": "allow"}
        assert bk.compare_scores(bk.Scores(values, **names)).decision.claims == (("b", "a"),)
        values[1, np.argsort(values[0])[-12:]] = np.nan
        decision = bk.compare_scores(bk.Scores(values, **names), missing="drop")
        assert decision.decision.claims in ((), (("b", "a"),))
        assert "b has no score on 12 of 30 data sets" in decision.headline

    def test_a_claim_that_missing_losses_would_undo(self):
        values = self.table()
        values[1] -= 0.005
        hard = np.argsort(values[1] - values[0])[-14:]
        values[1, hard] = np.nan
        table = bk.Scores(values, dims=("learner", "dataset"), learners=["a", "b"], missing="allow")
        decision = bk.compare_scores(table, missing="drop")
        before, _ = pairs.tested(
            replace(decision.decision.problem, missing=None), decision.settings
        )
        assert before.claims() == (("b", "a"),)
        # where b is missing, it ties with a at best: the claim remains only if both agree
        assert set(decision.decision.claims) <= set(
            decision.decision.problem.missing.as_worst.claims()
        )


def items(item, sample, n=30, answers=4, seed=0):
    rng = np.random.default_rng(seed)
    rows = [
        {"model": who, item: f"p{i}", sample: j, "correct": int(rng.random() < 0.5)}
        for who in "ab" for i in range(n) for j in range(answers)
    ]  # fmt: skip
    return pd.DataFrame(rows)


@pytest.fixture
def logs(run, tmp_path):
    """Read evaluation logs by the command line and in Python; return JSON or the message."""

    def call(frame, *words, columns=None, **options):
        path = tmp_path / "table.csv"
        frame.to_csv(path, index=False)
        code, out, err = run("evals", str(path), *words, "--json")
        try:
            compare_evals(bk.read_evals(path, columns=columns, **options))
        except BestOfKError:
            assert code == 2
            return " ".join(err.split())
        assert code == 0, err
        return json.loads(out)

    return call


class TestItems:
    @pytest.mark.parametrize(
        ("item", "sample"),
        [
            ("problem", "sample"), ("task_id", "sample"), ("prompt_id", "sample"),
            ("problem_id", "sample_id"), ("example", "sample_id"), ("question", "attempt"),
            ("id", "seed"), ("item", "rep"), ("instance_id", "trial"),
        ],
    )  # fmt: skip
    def test_samples_of_an_item_are_epochs(self, logs, item, sample):
        result = logs(items(item, sample))
        assert result["items"] == 30

    def test_percentages_of_one_model_among_fractions(self, logs):
        frame = items("item", "x", answers=1).drop(columns="x").rename(columns={"correct": "score"})
        frame["score"] = np.random.default_rng(1).random(len(frame))
        assert logs(frame)["items"] == 30
        frame.loc[frame["model"] == "a", "score"] *= 100
        assert "The scores of 'a' look like percentages" in logs(frame)
        # one number for each model is no score
        frame["score"] = np.where(frame["model"] == "a", 4, 1)
        assert "'score' is one number for each model" in logs(frame)
        frame["score"] = np.where(frame["model"] == "a", 100, 1) * (frame.index % 2)
        assert "The scores of 'a' look like percentages" in logs(frame)
        # a model that fails on every item fits both scales
        frame["score"] = np.where(frame["model"] == "a", 100, 0) * (frame.index % 2)
        assert logs(frame)["items"] == 30

    def test_percentages_in_the_file_of_one_model(self, run, tmp_path):
        scores = np.random.default_rng(1).random(30).round(2)
        for name, unit in (("a", 100), ("b", 1)):
            frame = pd.DataFrame({"id": range(30), "score": unit * scores})
            frame.to_csv(tmp_path / f"{name}.csv", index=False)
        code, _, err = run("evals", str(tmp_path))
        assert code == 2
        assert "The scores of 'a' look like percentages" in " ".join(err.split())

    def test_metrics_that_differ_between_models(self, logs):
        frame = items("item", "x", answers=1).drop(columns="x").rename(columns={"correct": "score"})
        frame["metric"] = np.where(frame["model"] == "a", "accuracy", "f1")
        assert "has 2 metrics (accuracy and f1)" in logs(frame)
        frame = frame.drop(columns="metric").assign(name=frame["model"].str.upper())
        assert logs(frame)["items"] == 30

    def test_samples_alone_are_items(self, logs):
        frame = items("sample_id", "x", answers=1).drop(columns="x")
        assert logs(frame)["items"] == 30

    def test_score_names_are_metrics(self, logs):
        rng = np.random.default_rng(0)
        names = ("Accuracy", "Toxicity")
        rows = [(who, f"t{i}", name, round(rng.random(), 3))
                for who in "ab" for i in range(30) for name in names]  # fmt: skip
        frame = pd.DataFrame(rows, columns=["model", "traceId", "metric", "value"])
        assert "--metric Accuracy" in logs(frame)
        assert logs(frame, "--metric", "Accuracy", metric="Accuracy")["items"] == 30
        words = ("--metric", "Toxicity", "--lower-is-better")
        assert logs(frame, *words, metric="Toxicity", higher_is_better=False)["recommended"]

    @pytest.mark.parametrize("column", ["split", "judge", "prompt_version"])
    def test_a_column_that_distinguishes_answers(self, logs, run, tmp_path, column):
        frame = items("item", "x", answers=2).rename(columns={"x": column})
        frame[column] = frame[column].map({0: "train", 1: "test"})
        message = logs(frame)
        assert f"which the column {column!r} distinguishes" in message
        works(run, tmp_path, ["--column", f"epoch={column}"], "evals")
        works(run, tmp_path, ["--column", f"task={column}", "--task", "train"], "evals")

    def test_two_columns_of_scores(self, logs, run, tmp_path):
        frame = items("item", "x", answers=1).drop(columns="x")
        frame["score"] = np.random.default_rng(1).random(len(frame))
        assert "has 2 metrics (correct and score)" in logs(frame)
        works(run, tmp_path, ["--metric", "correct"], "evals")


class TestMissingScores:
    def frame(self, *, absent, seed=0):
        rng = np.random.default_rng(seed)
        chance = rng.random(200)
        rows = []
        for who in "ab":
            right = rng.random(200) < chance
            unscored = ~right & (rng.random(200) < 0.5) & (who == "b")
            rows += [
                (who, i, "" if unscored[i] else int(right[i]))
                for i in range(200)
                if not (absent and unscored[i])
            ]
        return pd.DataFrame(rows, columns=["model", "item", "correct"])

    @pytest.mark.parametrize("absent", [False, True])
    def test_unscored_wrong_answers(self, logs, absent):
        result = logs(self.frame(absent=absent))
        assert result["candidates"] == ["b", "a"]
        assert "also holds if these count as wrong or as right." in result["headline"]

    @pytest.mark.parametrize("margin", [0.02, 0.3])
    def test_margins_hold_with_the_missing_scores(self, tmp_path, margin):
        path = tmp_path / "table.csv"
        self.frame(absent=False, seed=1).to_csv(path, index=False)
        rows = compare_evals(path, margin=margin, prefer=["b", "a"]).decision.standings
        assert {row.name: row.at_most <= margin for row in rows}["b"] == (margin == 0.3)

    def test_unscored_answers_of_several_epochs(self, tmp_path):
        rng = np.random.default_rng(0)
        rows = []
        for who in "ab":
            for i in range(150):
                for epoch in range(3):
                    right = rng.random() < i / 150
                    lost = who == "b" and not right and rng.random() < 0.5
                    rows.append((who, i, epoch, "" if lost else int(right)))
        path = tmp_path / "table.csv"
        pd.DataFrame(rows, columns=["model", "item", "epoch", "correct"]).to_csv(path, index=False)
        choice = compare_evals(bk.read_evals(path), pass_at=2)
        assert choice.decision.candidates == ("b", "a")
        assert choice.decision.claims == ()

    def test_a_part_of_the_items_by_design(self, logs):
        frame = self.frame(absent=False)
        frame["correct"] = frame["correct"].replace("", 0)
        part = frame[(frame["model"] == "a") | (frame["item"] < 60)]
        assert "missing scores" not in logs(part)["headline"]
