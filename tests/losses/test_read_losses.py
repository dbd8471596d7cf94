import numpy as np
import pandas as pd
import pytest

import bestofk as bk
import bestofk.decide
from bestofk._base.errors import (
    ArgumentError,
    BestOfKWarning,
    DesignError,
    TableError,
    UnknownNameError,
)
from bestofk.data.tables import read_table
from bestofk.losses import read_scores
from bestofk.papers.one_test import run_test
from bestofk.splits.design import Design


@pytest.fixture
def write(tmp_path):
    def write(content, name="t.csv"):
        file = tmp_path / name
        file.write_text(content, encoding="utf-8")
        return file

    return write


def refusal(source, **how):
    with pytest.raises(TableError) as caught:
        read_scores(source, **how)
    return str(caught.value)


LONG = """Data,Model,Run,Fold,Error
iris,svm,1,1,0.5
iris,svm,1,2,0.25
iris,svm,1,3,0.125
iris,svm,2,1,0.75
iris,svm,2,2,0.5
iris,svm,2,3,0.25
iris,nn,1,1,0.1
iris,nn,1,2,0.2
iris,nn,1,3,0.3
iris,nn,2,1,0.4
iris,nn,2,2,0.5
iris,nn,2,3,0.6
"""


class TestLong:
    def test_roles_and_account(self, write):
        losses = read_scores(write(LONG))
        assert losses.learners == ("svm", "nn")
        assert losses.datasets == ("iris",)
        assert losses.design == Design(kind="cv", runs=2, folds=3)
        assert losses.losses[0, 0, 1].ravel().tolist() == [0.75, 0.5, 0.25]
        assert losses.loss_name == "Error"
        assert losses.account[1:] == (
            "Layout long: learners from column 'Model', data sets from 'Data', runs from 'Run', "
            "folds from 'Fold', losses from 'Error'.",
            "Lower is better, as the name 'Error' says.",
            "Losses of 2 learners on 1 data set: 2 runs of 3-fold cross-validation.",
        )

    def test_source_may_be_a_frame_a_table_or_a_mapping(self, write):
        file = write(LONG)
        expected = read_scores(file)
        frame = pd.read_csv(file)
        for source in (frame, read_table(file), frame.to_dict("list"), str(file)):
            assert read_scores(source) == expected
        with pytest.raises(ArgumentError, match="source must be a path"):
            read_scores(3)

    @pytest.mark.parametrize(
        ("names", "values"),
        [(["f10", "f9", "f1"], [10.0, 9.0, 1.0]), (["2024-02", "2024-01", "2023-12"], [3, 2, 1])],
    )
    def test_folds_are_sorted_by_number_or_date(self, names, values):
        losses = read_scores({"model": ["a"] * 3, "fold": names, "error": values})
        assert losses.losses.ravel().tolist() == sorted(values)

    def test_truth_values_count_as_one_and_zero(self, write):
        text = "model,question,correct\na,1,True\na,2,false\nb,1,FALSE\nb,2,true\n"
        losses = read_scores(write(text))
        assert losses.losses.ravel().tolist() == [0.0, 1.0, 1.0, 0.0]
        assert losses.design == Design(kind="test-set", folds=2)

    def test_folds_numbered_through_the_runs(self):
        n = 6
        columns = {
            "model": ["a"] * n + ["b"] * n,
            "run": [1, 1, 2, 2, 3, 3] * 2,
            "split": list(range(n)) * 2,
            "error": np.arange(2 * n) / 10,
        }
        losses = read_scores(columns)
        assert losses.design == Design(kind="cv", runs=3, folds=2)
        assert losses.losses[1, 0, 2].ravel().tolist() == [1.0, 1.1]
        assert "renumbered within each run (2 folds in each)" in losses.explain()

    def test_unnumbered_folds_are_numbered_by_appearance(self):
        columns = {"model": ["a", "b", "a", "b", "a", "b"], "error": [1.0, 4, 2, 5, 3, 6]}
        losses = read_scores(columns)
        assert losses.losses.ravel().tolist() == [1, 2, 3, 4, 5, 6]
        assert "No column numbers the folds" in losses.explain()
        assert refusal({"model": ["a", "b", "a"], "error": [1.0, 2, 3]}) == (
            "the table: without a column of folds every learner must have the same number of rows; "
            "learner 'b' has 1, another has 2: add a column that numbers the folds."
        )

    def test_runs_without_folds_are_scores_unless_stated(self):
        columns = {"model": ["a", "a", "b", "b"], "run": [1, 2, 1, 2], "error": [1.0, 2, 3, 4]}
        losses = read_scores(columns)
        assert losses.design == Design(kind="scores", runs=2)
        assert any("the design 'seeds'" in sentence for sentence in losses.account)
        stated = read_scores(columns, design="resample")
        assert stated.design == Design(kind="resample", folds=2)
        sized = read_scores({**columns, "n_train": [60] * 4, "n_test": [30] * 4})
        assert sized.design == Design(kind="resample", folds=2, n_train=(60,), n_test=(30,))

    def test_a_form_parts_the_splits_into_runs(self):
        columns = {
            "model": ["a"] * 10,
            "split": list(range(10)),
            "error": np.arange(10.0),
            "n_train": np.arange(10) + 50,
        }
        losses = read_scores(columns, design="5x2")
        assert losses.design == Design(kind="cv", runs=5, folds=2, n_train=tuple(range(50, 60)))
        assert losses.losses[0, 0, 4].ravel().tolist() == [8.0, 9.0]

    def test_a_column_that_numbers_the_rows_is_no_instance(self):
        columns = {"id": [1, 2, 3, 4], "model": list("aabb"), "error": [1.0, 2, 3, 4]}
        assert read_scores(columns).design == Design(kind="cv", folds=2)

    def test_facts_of_an_exported_study(self):
        columns = {
            "model": list("aabb"), "fold": [1, 2, 1, 2], "loss": [1.0, 2, 3, 4], "n_groups": 7,
            "design": "resample", "stratified": "true", "loss_name": "1 - AUC",
        }  # fmt: skip
        losses = read_scores(pd.DataFrame(columns))
        assert losses.design == Design(kind="resample", folds=2, stratified=True, groups=7)
        assert losses.metric.name == "AUC"

    def test_sizes_that_differ_between_data_sets_are_not_kept(self):
        columns = {
            "model": list("abab"),
            "dataset": list("xxyy"),
            "error": [1.0, 2, 3, 4],
            "n_test": [10, 10, 20, 20],
        }
        losses = read_scores(columns)
        assert losses.design == Design()
        assert "Not used: the column 'n_test', which differs by data set." in losses.account


class TestDirection:
    @pytest.mark.parametrize("name", ["accuracy", "error", "value", "result", "strange"])
    def test_stated_direction_overrides_the_name(self, name):
        columns = {"model": ["a", "b"], name: [0.75, 0.5]}
        assert read_scores(columns, higher_is_better=True).losses.ravel().tolist() == [0.25, 0.5]
        assert read_scores(columns, higher_is_better=False).losses.ravel().tolist() == [0.75, 0.5]
        if name not in ("accuracy", "error"):
            assert refusal(columns) == (
                "the table: cannot tell whether higher or lower is better: pass "
                "higher_is_better=True (scores) or higher_is_better=False (losses)."
            )
        with pytest.raises(ArgumentError, match="higher_is_better must be True, False or None"):
            read_scores(columns, higher_is_better="yes")

    def test_the_name_of_the_file_tells(self, write):
        text = "dataset,svm,nn\niris,0.25,0.5\n"
        assert read_scores(write(text, "accuracy.csv")).losses.ravel().tolist() == [0.75, 0.5]
        assert read_scores(write(text, "errors.csv")).losses.ravel().tolist() == [0.25, 0.5]
        assert "cannot tell whether higher or lower" in refusal(write(text, "scores.csv"))

    def test_the_columns_of_a_wide_table_tell_together(self, write):
        losses = read_scores(write("dataset,svm_acc,nn_acc\niris,0.25,0.5\n"))
        assert losses.losses.ravel().tolist() == [0.75, 0.5]
        assert losses.metric.name == "acc"
        assert "cannot tell" in refusal(write("dataset,svm_acc,nn\niris,0.25,0.5\n"))

    @pytest.mark.parametrize("name", ["mse", "loss", "error"])
    def test_negative_losses_are_a_question(self, name):
        columns = {"model": ["a", "b"], name: [-0.75, -0.5]}
        assert "its numbers are negative" in refusal(columns)
        assert read_scores(columns, higher_is_better=True).losses.ravel().tolist() == [0.75, 0.5]

    def test_several_metrics(self, write):
        file = write("model,fold,metric,value\na,1,auc,0.75\na,1,rmse,7\nb,1,auc,0.5\nb,1,rmse,8\n")
        assert "holds 'auc', 'rmse'; choose one with metric='auc'." in refusal(file)
        assert read_scores(file, metric="auc").losses.ravel().tolist() == [0.25, 0.5]
        assert read_scores(file, metric="rmse").losses.ravel().tolist() == [7.0, 8.0]
        columns = {"model": ["a", "b"], "auc": [0.75, 0.5], "rmse": [7.0, 8.0]}
        assert "could each hold the scores: name one with columns={'score': 'auc'}." in refusal(
            columns
        )
        assert read_scores(columns, metric="rmse").losses.ravel().tolist() == [7.0, 8.0]
        for source in (file, columns):
            with pytest.raises(UnknownNameError, match="There is no metric 'mae' in"):
                read_scores(source, metric="mae")

    def test_metrics_that_differ_by_data_set(self):
        # auc becomes 1 - auc; the log-loss stays
        columns = {
            "model": ["a", "b", "a", "b"], "dataset": ["x", "x", "y", "y"],
            "metric": ["auc", "auc", "log_loss", "log_loss"], "value": [0.75, 0.5, 0.25, 1.0],
        }  # fmt: skip
        losses = read_scores(columns)
        assert losses.by_dataset().tolist() == [[0.25, 0.25], [0.5, 1.0]]
        assert "as the names 'auc', 'log_loss' say." in losses.explain()


class TestWide:
    def test_folds_and_items(self, write):
        losses = read_scores(write("fold,svm,nn\n2,0.1,0.2\n1,0.3,0.4\n"), higher_is_better=False)
        assert losses.design == Design(kind="cv", folds=2)
        assert losses.losses[:, 0, 0, :, 0].tolist() == [[0.3, 0.1], [0.4, 0.2]]
        losses = read_scores(write("item,svm,nn\nq1,0,1\nq2,1,1\nq3,0,0\n"), higher_is_better=True)
        assert losses.design == Design(kind="test-set", folds=3)
        assert losses.losses[:, 0, 0, :, 0].tolist() == [[1, 0, 1], [0, 0, 1]]

    def test_rows_without_names_are_folds_with_a_warning(self, write):
        file = write("svm,nn\n0.1,0.2\n0.3,0.4\n0.5,0.7\n")
        with pytest.warns(BestOfKWarning, match="the rows have no names"):
            losses = read_scores(file, higher_is_better=False)
        assert losses.design == Design(kind="cv", folds=3)
        assert losses.losses[1, 0, 0, :, 0].tolist() == [0.2, 0.4, 0.7]
        assert read_scores(file, higher_is_better=False, design="resample").design == Design(
            kind="resample", folds=3
        )

    @pytest.mark.parametrize("title", ["", "index", "Step", "No."])
    def test_a_column_that_numbers_the_rows_is_no_learner(self, write, title):
        file = write(f"{title},svm,nn\n0,0.1,0.2\n1,0.3,0.4\n")
        losses = read_scores(file, higher_is_better=False, design="cv")
        assert losses.learners == ("svm", "nn")
        assert "numbers the rows" in losses.explain()

    def test_learners_may_be_named(self, write):
        file = write("dataset,classes,fold,nn\niris,3,0.5,0.2\nwine,3,0.4,0.1\n")
        losses = read_scores(file, learners=["nn", "fold"], higher_is_better=False)
        assert losses.learners == ("nn", "fold")
        assert losses.by_dataset().tolist() == [[0.2, 0.1], [0.5, 0.4]]
        with pytest.raises(UnknownNameError, match="no column 'svm' in"):
            read_scores(file, learners=["svm"])
        with pytest.raises(ArgumentError, match="learners must be columns, each once"):
            read_scores(file, learners=["nn", "nn"])

    @pytest.mark.parametrize("rows", [["fold1", "fold2"], ["2024-01-02", "2024-01-03"]])
    def test_names_of_rows_may_be_folds_or_times(self, rows):
        frame = pd.DataFrame({"svm": [0.5, 0.25], "nn": [0.75, 1.0]}, index=rows)
        losses = read_scores(frame, higher_is_better=False)
        assert losses.design.kind == ("cv" if rows[0] == "fold1" else "time")
        assert losses.losses[:, 0, 0, :, 0].tolist() == [[0.5, 0.25], [0.75, 1.0]]

    def test_zeros_and_ones_are_instances(self):
        frame = pd.DataFrame({"gpt": [1, 1, 0, 1], "llama": [0, 1, 0, 0]})
        assert read_scores(frame, higher_is_better=True).design == Design(kind="test-set", folds=4)
        named = frame.assign(prompt=list("pqrs"))
        losses = read_scores(named, higher_is_better=True)
        assert losses.design == Design(kind="test-set", folds=4)
        assert losses.losses[:, 0, 0, :, 0].tolist() == [[0, 0, 1, 0], [1, 0, 1, 1]]
        stated = read_scores(named, columns={"dataset": "prompt"}, higher_is_better=True)
        assert len(stated.datasets) == 4


def test_learners_in_rows(write):
    values = [[0.5, 0.25, 0.75], [0.125, 1.0, 0.0]]
    frame = pd.DataFrame(values, index=["nn", "svm"], columns=["fold1", "fold2", "fold10"])
    losses = read_scores(frame, higher_is_better=False)
    assert (losses.learners, losses.design) == (("nn", "svm"), Design(kind="cv", folds=3))
    assert losses.losses[:, 0, 0, :, 0].tolist() == values
    frame.columns = [f"accuracy_fold{i}" for i in range(3)]
    assert read_scores(frame).losses[:, 0, 0, :, 0].tolist() == (1 - np.array(values)).tolist()
    file = write("method,iris,wine\nnn,0.5,0.25\nsvm,0.125,1\n")
    losses = read_scores(file, higher_is_better=False)
    assert (losses.learners, losses.datasets) == (("nn", "svm"), ("iris", "wine"))
    assert losses.by_dataset().tolist() == [[0.5, 0.25], [0.125, 1.0]]
    folds = {"model": list("aabb"), "dataset": list("xyxy"), "fold1": [1, 2, 3, 4]}
    losses_of_folds = read_scores({**folds, "fold2": [5, 6, 7, 8]}, higher_is_better=False)
    assert losses_of_folds.by_dataset().tolist() == [[3.0, 4.0], [5.0, 6.0]]
    # without a title for the learners the layout must be stated
    file = write("x,iris,wine\nnn,0.5,0.25\nsvm,0.125,1\n")
    assert read_scores(file, higher_is_better=False).learners == ("iris", "wine")
    stated = read_scores(file, higher_is_better=False, layout="learners-in-rows")
    assert stated == losses


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("dataset,svm,nn\niris,0.1,0.2\nwine,0.3,oops\n",
         "line 3, column 'nn' must be a number; got 'oops'."),
        ("fold,accuracy,f1\n1,0.1,0.2\n",
         "no column names the learners, and 'accuracy', 'f1' look like metrics: name the column of "
         "the learners with columns={'learner': 'NAME'}, or pass layout='wide' if each column is a "
         "learner."),
        ("dataset,fold\niris,1\n",
         "no column holds the scores of a learner (columns: 'dataset', 'fold')."),
        ("model,fold\na,1\n", "no column holds the scores (columns: 'model', 'fold'): name it with "
         "columns={'score': 'NAME'}."),
        ("svm_fold1,svm_fold2,nn_fold1,nn_fold2\n0.1,0.2,0.3,0.4\n",
         "no column names the learners (columns: 'svm_fold1', 'svm_fold2', 'nn_fold1', "
         "'nn_fold2'): name it with columns={'learner': 'NAME'}."),
        (LONG.replace("0.125", "none of it"),
         "line 4, column 'Error' must be a number; got 'none of it'."),
        (LONG.replace("0.125", "-inf"), "line 4, column 'Error' must be finite; got -inf."),
        (LONG.replace("iris,nn,1,2", "iris,,1,2"),
         "line 9, column 'Model' must name the learner; the cell is empty."),
        (LONG + "iris,svm,2,1,0.7\niris,nn,1,1,0.1\n",
         "line 14 repeats the cell of line 5: learner 'svm', Run '2', Fold '1' (2 repeated): a "
         "column that distinguishes the rows is missing or not recognised."),
        ("model,fold,error\na,1,0.5\na,2,NA\nb,1,0.5\nb,2,0.25\n",
         "line 3, column 'error' has no number (1 of 4): fill it or pass missing='allow', which "
         "keeps the gap."),
        ("model,fold,error\na,1,\nb,1,\n", "the file contains no loss: every cell is empty."),
    ],
)  # fmt: skip
def test_broken_tables(write, text, message):
    assert refusal(write(text)) == f"t.csv: {message}"


def test_a_table_with_gaps(write):
    file = write("\n".join(row for row in LONG.splitlines() if not row.startswith("iris,nn,2,3")))
    assert refusal(file) == (
        "t.csv: there is no loss for learner 'nn', Run '2', Fold '3' (1 of 12 cells are missing): "
        "add the row or pass missing='allow', which keeps the gap."
    )
    losses = read_scores(file, missing="allow")
    assert np.argwhere(losses.missing).tolist() == [[1, 0, 1, 2, 0]]


def test_wrong_role_does_not_exhaust_memory():
    n = 3000
    columns = {
        "model": [f"m{i}" for i in range(n)],
        "task": [f"t{i}" for i in range(n)],
        "fold": [f"f{i}" for i in range(n)],
        "error": np.ones(n),
    }
    assert refusal(columns) == (
        "the table: the 3000 losses would fill a table of 27000000000 cells (3000 learners x "
        "3000 datasets x 3000 folds): a column was probably read in the wrong role."
    )


def test_fold_and_instance_exclude_each_other():
    columns = {"model": ["a"], "fold": [1], "item": [1], "error": [1.0]}
    with pytest.raises(ArgumentError, match="fold and instance must be one column"):
        read_scores(columns, columns={"fold": "fold", "instance": "item"})
    instance = read_scores(columns, columns={"instance": "item"})
    assert "instances from 'item'" in instance.account[1]


class TestArgumentsReachTheirStep:
    FRAME = pd.DataFrame(
        {
            "who": np.repeat(["a", "b", "c"], 10),
            "fold": np.tile(np.arange(10), 3),
            "value": np.repeat([0.5, 0.75, 0.25], 10) + np.arange(30) % 7 / 100,
        }
    )

    def test_reading_and_testing_from_one_call(self):
        how = {"higher_is_better": True, "columns": {"learner": "who"}}
        order = bk.compare_scores(self.FRAME, **how, design="5x2", test="5x2cv-t", alpha=0.01)
        assert order.decision.smallest_mean == "b"
        assert order.decision.test_choice.name == "5x2cv-t"
        advice = r"compare_scores has no argument 'higher': write higher_is_better=\.\.\.\."
        with pytest.raises(ArgumentError, match=advice):
            bk.compare_scores(self.FRAME, **how, higher=True)
        with pytest.raises(UnknownNameError, match="no role of a column 'lerner': did you mean"):
            bk.compare_scores(self.FRAME, columns={"lerner": "who"})

    def test_the_hint_on_gaps_works_in_every_function(self):
        gap = self.FRAME.drop(index=[3]).rename(columns={"who": "model", "value": "accuracy"})
        for function in (
            bk.compare_scores,
            bk.sample_size,
            bestofk.decide.multitest,
            lambda frame, **how: run_test(frame, "kfold-t", **how),
        ):
            with pytest.raises(DesignError, match="missing='drop'"):
                function(gap)
            function(gap, missing="drop")
        with pytest.raises(DesignError, match="missing='drop'"):
            bk.compare_scores(gap, missing="allow")

    def test_arrays_are_losses_unless_stated(self):
        values = [[0.9, 0.92, 0.91], [0.5, 0.51, 0.55]]
        assert bk.compare_scores(values).decision.smallest_mean == 1
        assert bk.compare_scores(values, higher_is_better=True).decision.smallest_mean == "0"
        with pytest.raises(ArgumentError, match="got losses and higher_is_better=True: leave"):
            bk.compare_scores(bk.Scores(values), higher_is_better=True)
        with pytest.raises(ArgumentError, match="got an array and metric='auc': leave metric out"):
            bk.compare_scores(values, metric="auc")
