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
from bestofk.evals.choosing import choose_model
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
        code, out, err = run("order", str(path), *words, "--json")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                decision = bk.order(frame, **options)
            except BestOfKError:
                assert code == 2
                return " ".join(err.split())
        assert code == 0, err
        result = json.loads(out)
        assert result["recommended"] == decision.recommended
        return result | {"err": " ".join(err.split()), "learners": set(decision.means)}

    return call


def advised(message):
    """Return the options that a message names, as words to type."""
    options = re.findall(
        r"--(?:design|format|layout|dataset-column|where|column) (?:'[^']*'|[^\s,;)]+)", message
    )
    return [shlex.split(option.rstrip(".")) for option in options]


def works(run, tmp_path, words, verb="order"):
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
            bk.order(values)
        assert bk.order(values, design="10x5").problem.design.runs == 10
        assert bk.order(values[:, :10]).problem.design.folds == 10

    def test_sizes_show_one_run(self):
        frame = long("fold", range(20)).assign(n_train=95, n_test=5)
        assert bk.order(frame).problem.design.folds == 20
        with pytest.raises(BestOfKError, match="several designs"):
            bk.order(frame.assign(n_train=80, n_test=20))

    @pytest.mark.parametrize("design", ["10x5", "5x10", "kfold:50", "resample:50:0.2"])
    def test_search_results(self, design):
        rng = np.random.default_rng(0)
        results = {"params": [{"c": 1}, {"c": 2}], "mean_test_score": rng.random(2)}
        results |= {f"split{i}_test_score": rng.random(2) for i in range(50)}
        with pytest.raises(BestOfKError, match=f"design='{design}'"):
            bk.order(results)
        assert bk.order(results, design=design).recommended

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
        design = bk.order(results(repeated, return_indices=True)).problem.design
        assert (design.kind, design.runs, design.folds, design.n_test[0]) == ("cv", 3, 5, 30)
        with pytest.raises(BestOfKError, match="design='3x5'"):
            bk.order(results(repeated))
        random = ShuffleSplit(n_splits=12, test_size=0.2, random_state=0)
        design = bk.order(results(random, return_indices=True)).problem.design
        assert (design.kind, design.folds) == ("resample", 12)
        unseeded = RepeatedStratifiedKFold(n_splits=5, n_repeats=3)
        with pytest.raises(BestOfKError, match="different splits"):
            bk.order(results(unseeded, return_indices=True))


class TestTime:
    @pytest.mark.parametrize(
        "frame",
        [
            wide(40).assign(date=pd.date_range("2020-01-01", periods=40).strftime("%Y-%m-%d")),
            wide(40).assign(x=pd.date_range("2020-01-01", periods=40).strftime("%Y-%m-%d")),
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
        assert words[0] == "--dataset-column"
        works(run, tmp_path, [*words, "--higher-is-better"])

    def test_times_are_sorted(self):
        days = [f"2020-01-{day:02d}" for day in (3, 1, 2)]
        frame = wide(3).assign(date=days)
        losses = bk.read_losses(frame, higher_is_better=False, design="time")
        assert losses.values[0].ravel().tolist() == frame["svm"].iloc[[1, 2, 0]].tolist()

    def test_the_time_of_a_run_is_no_series(self):
        frame = long("fold", range(5)).assign(timestamp=range(10))
        assert bk.order(frame).problem.design.folds == 5

    def test_series_of_several_data_sets(self):
        parts = [long("date", range(2000, 2006), seed=i).assign(dataset=f"s{i}") for i in range(9)]
        assert bk.order(pd.concat(parts)).problem.n_datasets == 9

    @pytest.mark.parametrize("column", ["epoch", "step", "global_step"])
    def test_learning_curves(self, ask, run, tmp_path, column):
        assert "learning curves" in ask(long(column, range(30), name="val_acc"))
        parts = [long(column, range(4), seed=seed).assign(seed=seed) for seed in range(5)]
        message = ask(pd.concat(parts))
        (words,) = advised(message)
        works(run, tmp_path, words)

    def test_curves_of_weights_and_biases(self, ask):
        frame = wide(20, ["a - val_acc", "b - val_acc"])
        for name in list(frame):
            frame = frame.assign(**{f"{name}__MIN": 0.0, f"{name}__MAX": 1.0})
        frame.insert(0, "Step", range(0, 200, 10))
        assert "learning curves" in ask(frame, "--higher-is-better", higher_is_better=True)


class TestSeeds:
    def test_seeds_are_independent_runs(self, ask):
        result = ask(long("seed", range(5)))
        assert result["test"] == "skew-corrected-welch-t"
        assert any("not about new data" in one["text"] for one in result["statements"])

    def test_learners_may_have_different_seeds(self):
        # reference: scipy.stats.ttest_ind(equal_var=False), a difference of the rounded values
        from scipy.stats import ttest_ind

        rng = np.random.default_rng(1)
        a, b = rng.random(5), rng.random(3)
        rows = [("a", seed, x) for seed, x in enumerate(a)]
        rows += [("b", seed + 10, x) for seed, x in enumerate(b)]
        table = pd.DataFrame(rows, columns=["model", "seed", "accuracy"])
        decision = bk.order(table, test="welch-t")
        expected = ttest_ind(a, b, equal_var=False).pvalue
        assert decision.evidence.pvalue[0] == pytest.approx(expected, rel=1e-9)
        assert decision.means["b"] == pytest.approx(b.mean())
        assert "nan" not in decision.explain()

    def test_unnamed_runs_are_asked_for(self, ask, run, tmp_path):
        message = ask(long("run", range(6)))
        assert ["--design", "seeds"] in advised(message)
        for words in advised(message):
            works(run, tmp_path, words)

    def test_seeds_of_several_data_sets_are_averaged(self):
        parts = [long("seed", range(3), seed=i).assign(dataset=f"d{i}") for i in range(8)]
        assert bk.order(pd.concat(parts)).problem.n_datasets == 8


class TestColumns:
    @pytest.mark.parametrize(
        "more",
        [
            {"svm_std": 0.9, "tree_std": 0.9},
            {"svm_sem": 0.9, "tree_ci_low": 0.9},
            {"std_svm": 0.9, "tree_rank": 1},
            {"rank": 1, "n": 100, "fit_time": 0.9},
            {"mean_fit_time": 0.9, "train_score": 0.99},
            {"Average": by_set()[["svm", "tree"]].mean(axis=1)},
            {"best": "svm"},
        ],
    )
    def test_other_columns_do_not_compete(self, ask, more):
        result = ask(by_set(**more), "--higher-is-better", higher_is_better=True)
        assert result["learners"] == {"svm", "tree"}
        assert "Left out" in result["err"]

    def test_means_and_spreads_of_a_pivot_table(self):
        frame = by_set(svm_std=0.9, tree_std=0.9)
        frame = frame.rename(columns={"svm": "svm_mean", "tree": "tree_mean"})
        with pytest.warns(bk.BestOfKWarning, match="Left out"):
            losses = bk.read_losses(frame, higher_is_better=True)
        assert losses.learners == ("svm", "tree")

    def test_columns_of_two_levels(self):
        frame = pd.concat([by_set().melt("dataset", var_name="model", value_name="accuracy")] * 2)
        table = frame.pivot_table(
            index="dataset", columns="model", values=["accuracy"], aggfunc=["mean", "std"]
        )
        with pytest.warns(bk.BestOfKWarning, match="Left out"):
            losses = bk.read_losses(table, higher_is_better=True)
        assert losses.learners == ("svm", "tree")
        assert losses.by_dataset()[0] == pytest.approx(1 - by_set()["svm"])

    def test_a_learner_may_be_called_mean(self, ask):
        frame = by_set(mean=np.random.default_rng(5).random(8))
        result = ask(frame, "--higher-is-better", higher_is_better=True)
        assert result["learners"] == {"svm", "tree", "mean"}

    @pytest.mark.parametrize("form", ["{} ± 0.02", "{} (0.02)", "{} +/- 0.02"])
    def test_spreads_in_cells(self, ask, form):
        frame = by_set()
        plain = ask(frame, "--higher-is-better", higher_is_better=True)
        for name in ("svm", "tree"):
            frame[name] = [form.format(value) for value in frame[name]]
        result = ask(frame, "--higher-is-better", higher_is_better=True)
        assert result["recommended"] == plain["recommended"]
        assert any("before the spread" in sentence for sentence in result["account"])

    @pytest.mark.parametrize("name", ["Average", "Avg.", "Mean rank", "Median", "Std", "Total",
                                      "Overall", "W/T/L"])  # fmt: skip
    def test_summary_rows(self, ask, name):
        frame = by_set()
        last = pd.DataFrame({"dataset": [name], "svm": [1.0], "tree": [1.0]})
        result = ask(pd.concat([frame, last]), "--higher-is-better", higher_is_better=True)
        assert "Left out, as they are summaries" in result["err"]
        assert "means on 8 data sets" in result["design"]

    @pytest.mark.parametrize("name", ["score", "value", "result"])
    def test_an_unclear_direction(self, run, ask, tmp_path, name):
        message = ask(long("fold", range(5), name=name))
        assert "cannot tell whether higher or lower is better" in message
        works(run, tmp_path, ["--lower-is-better"])

    def test_scores_of_scikit_learn(self, ask):
        frame = long("fold", range(5), name="test_score").assign(fit_time=9.0, train_score=1.0)
        assert ask(frame)["recommended"] in ("svm", "tree")


class TestOrientation:
    def turned(self, header, names=("iris", "wine", "glass", "zoo", "car", "mnist")):
        frame = wide(6).T
        frame.columns = list(names)
        frame.insert(0, header, ["svm", "tree"])
        return frame

    def test_a_column_of_methods(self, ask):
        frame = self.turned("method").assign(Average=0.5)
        result = ask(frame, "--higher-is-better", higher_is_better=True)
        assert result["learners"] == {"svm", "tree"}
        assert "means on 6 data sets" in result["design"]

    @pytest.mark.parametrize("header", ["x", "name"])
    def test_an_unclear_orientation(self, ask, run, tmp_path, header):
        message = ask(self.turned(header), "--higher-is-better", higher_is_better=True)
        options = advised(message)
        assert ["--layout", "learners-in-rows"] in options
        for words in options:
            works(run, tmp_path, [*words, "--higher-is-better"])

    def test_data_sets_in_rows_stay(self, ask):
        result = ask(by_set(), "--higher-is-better", higher_is_better=True)
        assert result["learners"] == {"svm", "tree"}


class TestOddCells:
    """Marks, words, spellings, scales and extra columns that people leave in tables."""

    def changed(self, form):
        frame = by_set()
        frame["svm"] = [form.format(value) for value in frame["svm"]]
        return frame

    @pytest.mark.parametrize(
        "form", ["**{}**", "\\textbf{{{}}}", "{}*", "{}†", "<b>{}</b>", "${}$", "__{}__",
                 "{} [0.1, 0.9]", "\\underline{{{} ± 0.02}}"],
    )  # fmt: skip
    def test_marks_around_numbers(self, ask, form):
        plain = ask(by_set(), "--higher-is-better", higher_is_better=True)
        result = ask(self.changed(form), "--higher-is-better", higher_is_better=True)
        assert result["table"] == plain["table"]

    @pytest.mark.parametrize("word", ["-", "–", "n/a", "timeout", "OOM", "DNF", "failed"])
    def test_words_for_no_result(self, ask, run, tmp_path, word):
        frame = by_set().astype(object)
        frame.loc[3, "tree"] = word
        message = ask(frame, "--higher-is-better", higher_is_better=True)
        assert "has no number" in message
        code, out, _ = run(
            "order", str(tmp_path / "table.csv"), "--missing", "drop", "--higher-is-better"
        )
        assert code == 0
        assert "tree has no score on 1 of 8 data sets" in " ".join(out.split())

    @pytest.mark.parametrize("rows", [[2], range(8)])
    def test_percentages_among_fractions(self, ask, rows):
        frame = by_set(svm=0.5 + 0.4 * by_set()["svm"], tree=0.5 + 0.4 * by_set()["tree"])
        frame.loc[list(rows), "svm"] *= 100
        message = ask(frame, "--higher-is-better", higher_is_better=True)
        assert "looks like a percentage" in message

    def test_a_diverging_loss_is_no_percentage(self, ask):
        frame = by_set()
        frame.loc[2, "svm"] = 91.2
        assert ask(frame, "--lower-is-better", higher_is_better=False)["recommended"]

    @pytest.mark.parametrize("name", ["mse", "loss", "error"])
    def test_negative_losses(self, ask, run, tmp_path, name):
        frame = long("fold", range(5), name=name)
        frame[name] *= -1
        assert "its numbers are negative" in ask(frame)
        works(run, tmp_path, ["--higher-is-better"])
        works(run, tmp_path, ["--lower-is-better"])

    def test_several_metrics_in_columns(self, ask, run, tmp_path):
        frame = wide(8, ["svm_accuracy", "svm_error", "tree_accuracy", "tree_error"])
        frame.insert(0, "dataset", list("abcdefgh"))
        message = ask(frame, "--higher-is-better", higher_is_better=True)
        assert "--learners svm_accuracy,tree_accuracy" in message
        works(run, tmp_path, ["--learners", "svm_accuracy,tree_accuracy", "--higher-is-better"])

    @pytest.mark.parametrize("column", ["", "Unnamed: 0", "index", "No.", "#"])
    def test_a_column_that_numbers_the_rows(self, ask, column):
        frame = by_set()
        frame.insert(0, column, range(8))
        result = ask(frame, "--higher-is-better", higher_is_better=True)
        assert result["learners"] == {"svm", "tree"}

    @pytest.mark.parametrize("name", ["Δ", "svm-tree", "x"])
    def test_differences_of_two_learners_are_no_learner(self, ask, name):
        frame = by_set()
        frame[name] = (frame["tree"] - frame["svm"]).round(3)
        message = ask(frame, "--lower-is-better", higher_is_better=False)
        assert f"{name!r} is 'tree' minus 'svm', not a learner" in message
        assert "--learners svm,tree" in message
        result = ask(frame, "--lower-is-better", "--learners", "svm,tree",
                     higher_is_better=False, learners=["svm", "tree"])  # fmt: skip
        assert sorted(result["ranking"]) == ["svm", "tree"]

    def test_a_score_next_to_a_loss_is_a_question(self, ask):
        frame = long("fold", range(5)).assign(loss=np.arange(10) / 10)
        assert "'accuracy', 'loss' could each hold the losses" in ask(frame)

    @pytest.mark.parametrize(
        "column", ["n_instances", "# features", "num_classes", "oracle", "improvement", "diff"]
    )
    def test_columns_about_data_sets(self, ask, column):
        frame = by_set(**{column: 50.0})
        result = ask(frame, "--higher-is-better", higher_is_better=True)
        assert result["learners"] == {"svm", "tree"}

    @pytest.mark.parametrize("column", ["split", "phase", "subset"])
    def test_training_and_test_scores_in_rows(self, ask, run, tmp_path, column):
        frame = by_set().melt("dataset", var_name="model", value_name="accuracy")
        both = pd.concat([frame.assign(**{column: "train"}), frame.assign(**{column: "test"})])
        (words,) = advised(ask(both))
        assert words == ["--where", f"{column}=test"]
        works(run, tmp_path, words)

    def test_rows_of_two_settings(self, ask, run, tmp_path):
        frame = by_set().melt("dataset", var_name="model", value_name="accuracy")
        both = pd.concat([frame.assign(lr=0.1), frame.assign(lr=0.01)])
        message = ask(both)
        assert "the column 'lr' distinguishes" in message
        works(run, tmp_path, ["--where", "lr=0.1"])
        works(run, tmp_path, ["--fold-column", "lr"])

    def test_two_spellings_of_a_learner(self, ask):
        frame = by_set().melt("dataset", var_name="model", value_name="accuracy")
        frame.loc[3, "model"] = "SVM"
        assert "two spellings of one name" in ask(frame)

    def test_a_table_without_names(self, run, tmp_path):
        path = tmp_path / "table.csv"
        by_set().to_csv(path, index=False, header=False)
        code, _, err = run("order", str(path), "--higher-is-better")
        assert code == 2
        assert "line 1 must name the columns" in err

    @pytest.mark.parametrize(
        ("text", "words"),
        [("| dataset | a | b |\n|---|---|---|\n| iris | 0.1 | 0.2 |\n", "is a Markdown table"),
         ("dataset & a & b \\\\\niris & 0.1 & 0.2 \\\\\n", "is a LaTeX table"),
         ("Table 2,,\ndataset,a,b\niris,0.1,0.2\n", "delete the lines above the names")],
    )  # fmt: skip
    def test_other_markup(self, run, tmp_path, text, words):
        path = tmp_path / "table.csv"
        path.write_text(text)
        code, _, err = run("order", str(path), "--higher-is-better")
        assert code == 2
        assert words in " ".join(err.split())

    def test_failures_marked_by_a_number(self, ask):
        frame = wide(12, ["a", "b"])
        frame.insert(0, "dataset", [f"d{i}" for i in range(12)])
        frame.loc[3, "b"] = -1.0
        message = ask(frame, "--higher-is-better", higher_is_better=True)
        assert "'b' has the number -1 among numbers between 0 and 1" in message
        frame.loc[4, "b"] = -0.3
        assert ask(frame, "--higher-is-better", higher_is_better=True)["recommended"] == "a"

    @pytest.mark.parametrize("name", ["Params (B)", "#Params", "Context length", "Price ($/1M)"])
    def test_columns_about_the_models_are_no_benchmark(self, ask, name):
        rng = np.random.default_rng(2)
        frame = pd.DataFrame(rng.uniform(50, 70, (4, 6)), columns=[f"bench {i}" for i in range(6)])
        frame.insert(0, "Model", list("abcd"))
        frame.insert(1, name, [7.0, 14.0, 28.0, 70.0])
        result = ask(frame, "--higher-is-better", higher_is_better=True)
        means = {row["name"]: row["mean"] for row in result["table"]}
        expected = frame.set_index("Model").drop(columns=name).mean(axis=1)
        for learner, mean in means.items():
            assert mean == pytest.approx(expected[learner])

    def test_ranks_as_scores(self, ask):
        ranks = wide(6, ["a", "b", "c"]).rank(axis=1)
        ranks.insert(0, "dataset", list("abcdef"))
        message = ask(ranks, "--higher-is-better", higher_is_better=True)
        assert "the numbers are the ranks 1 to 3, of which 1 is the best" in message
        assert "pass --lower-is-better" in message
        assert ask(ranks, "--lower-is-better", higher_is_better=False)["recommended"] in "abc"


class TestArrays:
    @pytest.mark.parametrize("name", ["nemenyi", "friedman"])
    def test_frames_are_refused(self, name):
        from bestofk.stats import multiple

        frame = wide(8, ("a", "b", "c"))
        function = getattr(multiple, name)
        with pytest.raises(BestOfKError, match=r"pass it to bestofk\.order"):
            function(frame)
        losses = bk.Losses(frame.to_numpy().T, dims=("learner", "dataset"))
        with pytest.raises(BestOfKError, match=r"pass it to bestofk\.order"):
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
        assert bk.order(bk.Losses(values, **names)).claims == (("b", "a"),)
        values[1, np.argsort(values[0])[-12:]] = np.nan
        decision = bk.order(bk.Losses(values, **names), missing="drop")
        assert decision.claims in ((), (("b", "a"),))
        assert "b has no score on 12 of 30 data sets" in decision.headline()

    def test_a_claim_that_missing_losses_would_undo(self):
        values = self.table()
        values[1] -= 0.005
        hard = np.argsort(values[1] - values[0])[-14:]
        values[1, hard] = np.nan
        table = bk.Losses(values, dims=("learner", "dataset"), learners=["a", "b"], missing="allow")
        decision = bk.order(table, missing="drop")
        before, _ = pairs.tested(replace(decision.problem, missing=None), decision.settings)
        assert before.claims() == (("b", "a"),)
        # where b is missing, it ties with a at best: the claim remains only if both agree
        assert set(decision.claims) <= set(decision.problem.missing.as_worst.claims())


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
            choose_model(bk.read_evals(path, columns=columns, **options))
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
        assert result["choice"]["items"] == 30

    @pytest.mark.parametrize("name", ["mean", "Average", "overall", "macro avg"])
    def test_means_of_the_items_are_no_item(self, logs, ask, name):
        frame = items("item", "x", answers=1).drop(columns="x")
        means = frame.groupby("model")["correct"].mean().reset_index()
        with pytest.warns(bk.BestOfKWarning, match=f"means of the items: {name}"):
            result = logs(pd.concat([frame, means.assign(item=name)]))
        assert result["choice"]["items"] == 30
        assert result["test"] == "mcnemar"
        table = frame.pivot(index="item", columns="model", values="correct").astype(float)
        table.loc[name] = table.mean()
        result = ask(table.reset_index(), "--higher-is-better", higher_is_better=True)
        assert result["test"] == "mcnemar"
        assert f"Left out, as they are summaries: '{name}'" in result["err"]

    def test_percentages_of_one_model_among_fractions(self, logs):
        frame = items("item", "x", answers=1).drop(columns="x").rename(columns={"correct": "score"})
        frame["score"] = np.random.default_rng(1).random(len(frame))
        assert logs(frame)["choice"]["items"] == 30
        frame.loc[frame["model"] == "a", "score"] *= 100
        assert "The scores of 'a' look like percentages" in logs(frame)
        # ratings from 1 to 5 are neither
        frame["score"] = np.where(frame["model"] == "a", 4, 1)
        assert logs(frame)["choice"]["items"] == 30
        frame["score"] = np.where(frame["model"] == "a", 100, 1) * (frame.index % 2)
        assert "The scores of 'a' look like percentages" in logs(frame)
        # a model that fails on every item fits both scales
        frame["score"] = np.where(frame["model"] == "a", 100, 0) * (frame.index % 2)
        assert logs(frame)["choice"]["items"] == 30

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
        # a metric for each item, and names of models
        frame["metric"] = np.where(frame["item"] == frame["item"].iloc[0], "accuracy", "f1")
        assert logs(frame)["choice"]["items"] == 30
        frame = frame.drop(columns="metric").assign(name=frame["model"].str.upper())
        assert logs(frame)["choice"]["items"] == 30

    def test_samples_alone_are_items(self, logs):
        frame = items("sample_id", "x", answers=1).drop(columns="x")
        assert logs(frame)["choice"]["items"] == 30

    def test_samples_with_names_of_their_own(self, logs, run, tmp_path):
        frame = items("problem", "sample_id")
        frame["sample_id"] = frame["problem"] + "-" + frame["sample_id"].astype(str)
        message = logs(frame)
        assert "pass --column item=problem --column epoch=sample_id" in message
        both = [
            ["--column", "item=problem", "--column", "epoch=sample_id"],
            ["--column", "item=sample_id", "--column", "task=problem"],
        ]
        for words in both:
            assert " ".join(words) in message
            works(run, tmp_path, words, "evals")

    def test_many_samples_of_few_tasks(self, logs):
        message = logs(items("task_id", "sample_id", n=3, answers=40))
        assert "the items may be 'task_id' (3) or 'sample_id' (40)" in message

    def test_score_names_are_metrics(self, logs):
        rng = np.random.default_rng(0)
        names = ("Accuracy", "Toxicity")
        rows = [(who, f"t{i}", name, round(rng.random(), 3))
                for who in "ab" for i in range(30) for name in names]  # fmt: skip
        frame = pd.DataFrame(rows, columns=["model", "traceId", "name", "value"])
        assert "--metric Accuracy" in logs(frame)
        assert logs(frame, "--metric", "Accuracy", metric="Accuracy")["choice"]["items"] == 30
        message = logs(frame, "--metric", "Toxicity", metric="Toxicity")
        assert "pass --higher-is-better or --lower-is-better" in message
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
        frame = items("item", "x", answers=1).drop(columns="x").assign(score=0.5)
        assert "'correct' and 'score' may each be the score" in logs(frame)
        works(run, tmp_path, ["--metric", "correct"], "evals")

    @pytest.mark.parametrize("word", ["timeout", "-", "failed"])
    def test_words_for_no_score(self, logs, word):
        frame = items("item", "x", answers=1).drop(columns="x").astype(object)
        frame.loc[0, "correct"] = word
        assert "a has no score on 1 of 30 items" in logs(frame)["headline"]


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
        against = choose_model(bk.read_evals(path), margin=margin, against="a").against[0]
        assert against.verdict == ("open" if margin == 0.02 else "within")

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
        choice = choose_model(bk.read_evals(path), pass_at=2)
        assert choice.decision.candidates == ("b", "a")
        assert choice.decision.claims == ()

    def test_a_part_of_the_items_by_design(self, logs):
        frame = self.frame(absent=False)
        frame["correct"] = frame["correct"].replace("", 0)
        part = frame[(frame["model"] == "a") | (frame["item"] < 60)]
        assert "missing scores" not in logs(part)["headline"]


class TestAgainst:
    def frame(self):
        rng = np.random.default_rng(0)
        right = rng.random(1500) < 0.7
        rows = []
        for who, changed in (("prod", 0.0), ("new", 0.02), ("old", 0.6)):
            answers = np.where(rng.random(1500) < changed, rng.random(1500) < 0.4, right)
            rows += [(who, i, int(answers[i])) for i in range(1500)]
        return pd.DataFrame(rows, columns=["model", "item", "correct"])

    def test_each_model_is_compared_with_one(self, run, tmp_path):
        path = tmp_path / "table.csv"
        self.frame().to_csv(path, index=False)
        _, out, _ = run("evals", str(path), "--against", "prod", "--margin", "0.03", "--json")
        rows = {row["name"]: row["verdict"] for row in json.loads(out)["choice"]["against"]}
        assert rows == {"new": "within", "old": "beyond"}
        choice = choose_model(bk.read_evals(path), against="prod", margin=0.03)
        assert "Compared with prod, within the margin of 0.03: new" in choice.headline()

    def test_it_needs_a_margin(self, run, tmp_path):
        path = tmp_path / "table.csv"
        self.frame().to_csv(path, index=False)
        code, _, err = run("evals", str(path), "--against", "prod")
        assert code == 2
        assert "--margin 0.02" in err
        assert "did you mean 'prod'" in run("evals", str(path), "--against", "prd")[2]
