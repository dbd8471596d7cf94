import numpy as np
import pandas as pd
import pytest

from bestofk._base.errors import ArgumentError, BestOfKWarning, TableError, UnknownNameError
from bestofk.data.tables import read_table
from bestofk.losses import read_losses
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
        read_losses(source, **how)
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


def lines(text):
    return text.splitlines()


class TestLong:
    def test_roles_and_account(self, write):
        losses = read_losses(write(LONG))
        assert losses.learners == ("svm", "nn")
        assert losses.datasets == ("iris",)
        assert losses.design == Design(kind="cv", runs=2, folds=3)
        assert losses.values[0, 0, 1].ravel().tolist() == [0.75, 0.5, 0.25]
        assert losses.loss_name == "Error"
        assert losses.account == (
            "t.csv: delimited text, utf-8, delimiter comma (detected), 12 rows of 5 columns.",
            "Layout long: learners from column 'Model', data sets from 'Data', runs from 'Run', "
            "folds from 'Fold', losses from 'Error'.",
            "Lower is better, as the name 'Error' says.",
            "Losses of 2 learners on 1 data set: 2 runs of 3-fold cross-validation.",
        )

    def test_row_order_affects_only_the_order_of_names(self, write):
        head, *rows = lines(LONG)
        straight = read_losses(write(LONG))
        turned = read_losses(write("\n".join([head, *reversed(rows)])))
        assert turned.learners == ("nn", "svm")
        assert turned.reorder(["svm", "nn"]) == straight

    def test_ten_comes_after_nine(self):
        order = ["f10", "f9", "f1", "f2"]
        losses = read_losses({"model": ["a"] * 4, "fold": order, "error": [10.0, 9.0, 1.0, 2.0]})
        assert losses.values.ravel().tolist() == [1.0, 2.0, 9.0, 10.0]

    def test_stated_roles(self):
        columns = {
            "what": ["a", "a", "b", "b"],
            "part": [1, 2, 1, 2],
            "error": [9.0, 9.0, 9.0, 9.0],
            "gap": [0.1, 0.2, 0.3, 0.4],
        }
        losses = read_losses(columns, learner="what", fold="part", loss="gap",
                             higher_is_better=False)  # fmt: skip
        assert losses.values.ravel().tolist() == [0.1, 0.2, 0.3, 0.4]
        assert "Not used: 'error'." in losses.account
        assert "Lower is better, as you stated." in losses.account
        with pytest.raises(UnknownNameError, match="no column 'gpa' in the table: did you mean"):
            read_losses(columns, loss="gpa")

    def test_source_may_be_a_frame_a_table_or_a_mapping(self, write):
        file = write(LONG)
        expected = read_losses(file)
        assert read_losses(pd.read_csv(file)) == expected
        assert read_losses(read_table(file)) == expected
        assert read_losses(pd.read_csv(file).to_dict("list")) == expected
        assert read_losses(str(file)) == expected
        with pytest.raises(ArgumentError, match="source must be a path"):
            read_losses(3)

    def test_weka_experimenter(self):
        losses = read_losses(
            {
                "Key_Dataset": ["iris"] * 4,
                "Key_Run": [1, 1, 1, 1],
                "Key_Fold": [1, 2, 1, 2],
                "Key_Scheme": ["J48", "J48", "IB1", "IB1"],
                "Number_of_training_instances": [90, 91, 90, 91],
                "Number_of_testing_instances": [10, 9, 10, 9],
                "Percent_correct": [90.0, 80.0, 70.0, 60.0],
            }
        )
        assert losses.values.ravel().tolist() == [-90.0, -80.0, -70.0, -60.0]
        assert losses.loss_name == "-Percent_correct"
        assert losses.design == Design(kind="cv", folds=2, n_train=(90, 91), n_test=(10, 9))

    def test_truth_values_count_as_one_and_zero(self, write):
        text = "model,question,correct\na,1,True\na,2,false\nb,1,FALSE\nb,2,true\n"
        losses = read_losses(write(text))
        assert losses.values.ravel().tolist() == [0.0, 1.0, 1.0, 0.0]
        assert losses.design == Design(kind="test-set", folds=2)

    def test_decimal_commas(self, write):
        losses = read_losses(write("model;fold;error\na;1;0,5\na;2;0,25\n"))
        assert losses.values.ravel().tolist() == [0.5, 0.25]
        assert "The numbers have decimal commas." in losses.account

    def test_folds_numbered_through_the_runs(self):
        n = 6
        columns = {
            "model": ["a"] * n + ["b"] * n,
            "run": [1, 1, 2, 2, 3, 3] * 2,
            "split": list(range(n)) * 2,
            "error": np.arange(2 * n) / 10,
        }
        losses = read_losses(columns)
        assert losses.design == Design(kind="cv", runs=3, folds=2)
        assert losses.values[1, 0, 2].ravel().tolist() == [1.0, 1.1]
        assert (
            "The folds are numbered through all runs; they were renumbered within each run "
            "(2 folds in each)." in losses.account
        )

    def test_unnumbered_folds_are_numbered_by_appearance(self):
        columns = {"model": ["a", "b", "a", "b", "a", "b"], "error": [1.0, 4, 2, 5, 3, 6]}
        losses = read_losses(columns)
        assert losses.values.ravel().tolist() == [1, 2, 3, 4, 5, 6]
        assert (
            "No column numbers the folds; the 3 rows of each learner are numbered in the order "
            "of the file." in losses.account
        )
        assert refusal({"model": ["a", "b", "a"], "error": [1.0, 2, 3]}) == (
            "the table: without a column of folds every learner must have the same number of rows; "
            "got 2 for learner 'a' and 1 for learner 'b': add a column that numbers the folds."
        )

    def test_runs_without_folds_are_scores_unless_stated(self):
        columns = {"model": ["a", "a", "b", "b"], "run": [1, 2, 1, 2], "error": [1.0, 2, 3, 4]}
        losses = read_losses(columns)
        assert losses.design == Design(kind="scores", runs=2)
        assert any("the design 'seeds'" in sentence for sentence in losses.account)
        stated = read_losses(columns, design="resample")
        assert stated.design == Design(kind="resample", folds=2)
        sized = read_losses({**columns, "n_train": [60] * 4, "n_test": [30] * 4})
        assert sized.design == Design(kind="resample", folds=2, n_train=(60,), n_test=(30,))

    def test_a_form_parts_the_splits_into_runs(self):
        columns = {
            "model": ["a"] * 10,
            "split": range(10),
            "error": np.arange(10.0),
            "n_train": np.arange(10) + 50,
        }
        losses = read_losses({k: list(v) for k, v in columns.items()}, design="5x2")
        assert losses.design == Design(kind="cv", runs=5, folds=2, n_train=tuple(range(50, 60)))
        assert losses.values[0, 0, 4].ravel().tolist() == [8.0, 9.0]

    def test_a_column_that_numbers_the_rows_is_no_instance(self):
        columns = {"id": [1, 2, 3, 4], "model": list("aabb"), "error": [1.0, 2, 3, 4]}
        assert read_losses(columns).design == Design(kind="cv", folds=2)

    def test_sizes_that_differ_between_data_sets_are_not_kept(self):
        columns = {
            "model": list("abab"),
            "dataset": list("xxyy"),
            "error": [1.0, 2, 3, 4],
            "n_test": [10, 10, 20, 20],
        }
        losses = read_losses(columns)
        assert losses.design == Design()
        assert "Not used: the column 'n_test', which differs by data set." in losses.account


class TestDirection:
    @pytest.mark.parametrize("name", ["accuracy", "AUC", "f1_macro", "test_r2", "kappa"])
    def test_clear_scores_are_flipped(self, name):
        losses = read_losses({"model": ["a", "b"], name: [0.75, 0.5]})
        assert losses.values.ravel().tolist() == [0.25, 0.5]
        assert f"Higher is better, as the name {name!r} says." in losses.account
        assert losses.loss_name == f"1 - {name}"

    def test_stated_direction_overrides_the_name(self):
        losses = read_losses({"model": ["a", "b"], "accuracy": [0.75, 0.5]}, higher_is_better=False)
        assert losses.values.ravel().tolist() == [0.75, 0.5]
        losses = read_losses({"model": ["a", "b"], "error": [0.75, 0.5]}, higher_is_better=True)
        assert losses.values.ravel().tolist() == [0.25, 0.5]

    @pytest.mark.parametrize("name", ["value", "result", "strange"])
    def test_open_names_are_refused(self, name):
        columns = {"model": ["a", "b"], name: [0.75, 0.5]}
        assert refusal(columns) == (
            "the table: cannot tell whether higher or lower is better: pass "
            "higher_is_better=True (scores) or higher_is_better=False (losses)."
        )
        assert read_losses(columns, higher_is_better=True).values.ravel().tolist() == [0.25, 0.5]
        assert read_losses(columns, higher_is_better=False).values.ravel().tolist() == [0.75, 0.5]

    @pytest.mark.parametrize(
        ("name", "higher"),
        [
            ("accuracy.csv", True), ("cifar10_AUC_results.csv", True), ("scores.csv", None),
            ("errors.csv", False), ("log_loss.csv", False), ("rmse-2024.csv", False),
            ("llm.csv", None), ("results.csv", None), ("map.csv", None), ("error_scores.csv", None),
        ],
    )  # fmt: skip
    def test_the_name_of_the_file_tells(self, write, name, higher):
        file = write("dataset,svm,nn\niris,0.25,0.5\n", name)
        if higher is None:
            assert "cannot tell whether higher or lower" in refusal(file)
            return
        losses = read_losses(file)
        assert losses.values.ravel().tolist() == ([0.75, 0.5] if higher else [0.25, 0.5])
        assert f"is better, as the name {name!r} says." in losses.explain()

    def test_the_columns_of_a_wide_table_tell_together(self, write):
        losses = read_losses(write("dataset,svm_acc,nn_acc\niris,0.25,0.5\n"))
        assert losses.values.ravel().tolist() == [0.75, 0.5]
        assert losses.metric.name == "acc"
        assert "cannot tell" in refusal(write("dataset,svm_acc,nn\niris,0.25,0.5\n"))

    def test_the_metric_column_tells(self):
        columns = {"model": ["a", "b"], "metric": ["auc", "auc"], "value": [0.75, 0.5]}
        losses = read_losses(columns)
        assert losses.values.ravel().tolist() == [0.25, 0.5]
        assert losses.loss_name == "1 - auc"

    def test_bad_argument(self):
        with pytest.raises(ArgumentError, match="higher_is_better must be True, False or None"):
            read_losses({"model": ["a"], "error": [1.0]}, higher_is_better="yes")


class TestWide:
    def test_one_row_per_data_set(self, write):
        text = ",svm,nn,c4.5\niris,0.1,0.2,0.3\nwine,0.4,0.5,0.6\nAverage,0.25,0.35,0.45\n"
        with pytest.warns(BestOfKWarning, match="Left out, as they are summaries: 'Average'"):
            losses = read_losses(write(text), higher_is_better=False)
        assert losses.learners == ("svm", "nn", "c4.5")
        assert losses.datasets == ("iris", "wine")
        assert losses.by_dataset().tolist() == [[0.1, 0.4], [0.2, 0.5], [0.3, 0.6]]
        assert losses.design == Design()
        assert losses.account[1:5] == (
            "Layout wide: 3 learner columns ('svm', 'nn', 'c4.5'), data sets from 'column 1'.",
            "The column 'column 1' names the data sets.",
            "Left out, as they are summaries: 'Average'.",
            "Lower is better, as you stated.",
        )

    def test_unknown_direction_raises(self, write):
        message = refusal(write("dataset,svm,nn\niris,0.1,0.2\n"))
        assert message.startswith("t.csv: cannot tell whether higher or lower")

    def test_folds_and_items(self, write):
        losses = read_losses(write("fold,svm,nn\n2,0.1,0.2\n1,0.3,0.4\n"), higher_is_better=False)
        assert losses.design == Design(kind="cv", folds=2)
        assert losses.by_fold()[:, 0].tolist() == [[0.3, 0.1], [0.4, 0.2]]
        losses = read_losses(write("item,svm,nn\nq1,0,1\nq2,1,1\nq3,0,0\n"), higher_is_better=True)
        assert losses.design == Design(kind="test-set", folds=3)
        assert losses.by_fold()[:, 0].tolist() == [[1, 0, 1], [0, 0, 1]]

    def test_rows_without_names_are_folds_with_a_warning(self, write):
        file = write("svm,nn\n0.1,0.2\n0.3,0.4\n0.5,0.7\n")
        with pytest.warns(BestOfKWarning, match="the rows have no names"):
            losses = read_losses(file, higher_is_better=False)
        assert losses.design == Design(kind="cv", folds=3)
        assert losses.by_fold()[1, 0].tolist() == [0.2, 0.4, 0.7]
        assert read_losses(file, higher_is_better=False, design="resample").design == Design(
            kind="resample", folds=3
        )

    def test_a_counting_first_column_is_left_out(self, write):
        file = write(",svm,nn\n0,0.1,0.2\n1,0.3,0.4\n")
        losses = read_losses(file, higher_is_better=False, design="cv")
        assert losses.learners == ("svm", "nn")
        assert (
            "Left out: the first column, which has no name and contains numbers." in losses.account
        )

    def test_an_empty_column_is_no_learner(self, write):
        losses = read_losses(
            write("dataset,svm,note\niris,0.1,\nwine,0.3,\n"), higher_is_better=False
        )
        assert losses.learners == ("svm",)
        assert "Left out, as they are empty: 'note'." in losses.account

    def test_learners_may_be_named(self, write):
        file = write("dataset,classes,fold,nn\niris,3,0.5,0.2\nwine,3,0.4,0.1\n")
        losses = read_losses(file, learners=["nn", "fold"], higher_is_better=False)
        assert losses.learners == ("nn", "fold")
        assert losses.by_dataset().tolist() == [[0.2, 0.1], [0.5, 0.4]]
        with pytest.raises(UnknownNameError, match="no column 'svm' in"):
            read_losses(file, learners=["svm"])
        with pytest.raises(ArgumentError, match="learners must be columns, each once"):
            read_losses(file, learners=["nn", "nn"])

    def test_text_in_a_column_of_a_learner(self, write):
        file = write("dataset,svm,nn\niris,0.1,0.2\nwine,0.3,oops\n")
        assert refusal(file) == "t.csv: line 3, column 'nn' must be a number; got 'oops'."
        file = write("fold,svm,nn\n1,0.1,0.2\n2,oops,0.3\n3,0.1,0.3\n")
        assert refusal(file) == "t.csv: line 3, column 'svm' must be a number; got 'oops'."

    def test_metrics_of_unnamed_learners_are_no_learners(self, write):
        file = write("fold,accuracy,f1\n1,0.1,0.2\n")
        assert refusal(file) == (
            "t.csv: no column names the learners, and 'accuracy', 'f1' look like metrics: name the "
            "column of the learners with learner=..., or pass layout='wide' if each column is "
            "a learner."
        )
        losses = read_losses(file, layout="wide", higher_is_better=False)
        assert losses.learners == ("accuracy", "f1")

    def test_nothing_but_names(self, write):
        assert refusal(write("dataset,fold\niris,1\n")) == (
            "t.csv: no column holds the losses of a learner (columns: 'dataset', 'fold')."
        )


class TestCvResults:
    RESULTS = {  # noqa: RUF012
        "mean_fit_time": np.array([0.1, 0.2]),
        "param_C": np.ma.array([1.0, 10.0]),
        "params": [{"C": 1.0}, {"C": 10.0}],
        "split0_test_score": np.array([0.75, 0.5]),
        "split1_test_score": np.array([0.5, 1.0]),
        "split10_test_score": np.array([0.0, 0.25]),
        "split2_test_score": np.array([1.0, 0.125]),
        "mean_test_score": np.array([0.5, 0.5]),
        "rank_test_score": np.array([1, 1]),
    }

    def test_one_row_per_learner(self):
        losses = read_losses(self.RESULTS)
        assert losses.learners == ("{'C': 1.0}", "{'C': 10.0}")
        assert losses.by_fold()[:, 0].tolist() == [[0.25, 0.5, 0.0, 1.0], [0.5, 0.0, 0.875, 0.75]]
        assert "Higher is better, as the format says." in losses.account
        assert read_losses(pd.DataFrame(self.RESULTS)) == losses

    def test_without_params_the_settings_name_the_learners(self):
        results = {k: v for k, v in self.RESULTS.items() if k != "params"}
        assert read_losses(results).learners == ("C=1", "C=10")

    def test_several_scorers(self):
        results = {
            "params": ["p", "q"],
            "split0_test_f1": [0.5, 0.25],
            "split0_test_auc": [0.75, 0.5],
        }
        assert refusal(results) == (
            "the table: the splits have the metrics 'f1', 'auc': choose one with metric='f1'."
        )
        assert read_losses(results, metric="auc").values.ravel().tolist() == [0.25, 0.5]
        assert refusal(results, metric="r2") == (
            "the table: metric must be one of 'f1', 'auc'; got 'r2'."
        )

    def test_a_bad_cell_names_its_split(self, write):
        file = write("model,split0_test_score,split1_test_score\na,1,2\nb,3,x\n")
        assert refusal(file) == (
            "t.csv: line 3, column 'split1_test_score' must be a number; got 'x'."
        )


class TestBroken:
    def test_two_metrics_in_one_column(self, write):
        file = write("model,fold,metric,value\na,1,auc,0.75\na,1,rmse,7\nb,1,auc,0.5\nb,1,rmse,8\n")
        assert refusal(file) == (
            "t.csv: line 3, column 'metric' is a different metric from the rows before: the column "
            "holds 'auc', 'rmse'; choose one with metric='auc'."
        )
        assert read_losses(file, metric="auc").values.ravel().tolist() == [0.25, 0.5]
        assert read_losses(file, metric="rmse").values.ravel().tolist() == [7.0, 8.0]
        assert refusal(file, metric="mae") == (
            "t.csv: metric must be one of 'auc', 'rmse' (column 'metric'); got 'mae'."
        )
        assert refusal({"model": ["a"], "error": [1.0]}, metric="mae") == (
            "the table: metric='mae' does not apply: no column names metrics."
        )

    def test_a_bad_cell_among_one_metric_names_its_own_line(self, write):
        file = write("model,fold,metric,value\na,1,auc,0.75\na,1,rmse,inf\n")
        assert refusal(file, metric="rmse") == (
            "t.csv: line 3, column 'value' must be finite; got inf."
        )

    def test_duplicate_cells(self, write):
        file = write(LONG + "\nsome\n".replace("some", "iris,svm,2,1,0.7") + "iris,nn,1,1,0.1\n")
        assert refusal(file) == (
            "t.csv: line 15 repeats the cell of line 5: learner 'svm', Run '2', Fold '1' "
            "(2 repeated): a column that distinguishes the rows is missing or not recognised."
        )

    def test_ragged_folds(self, write):
        text = "\n".join(line for line in lines(LONG) if not line.startswith("iris,nn,2,3"))
        file = write(text)
        assert refusal(file) == (
            "t.csv: there is no loss for learner 'nn', Run '2', Fold '3' (1 of 12 cells are "
            "missing): add the row or pass missing='drop', which leaves out what some learner "
            "lacks."
        )
        left = read_losses(file, missing="drop")
        assert left.complete
        assert left.design == Design(kind="cv", runs=1, folds=3)
        assert left.values[:, 0, 0, :, 0].tolist() == [[0.5, 0.25, 0.125], [0.1, 0.2, 0.3]]
        assert "1 of 2 runs was left out because some learner lacks it." in left.account
        losses = read_losses(file, missing="allow")
        assert np.argwhere(losses.missing).tolist() == [[1, 0, 1, 2, 0]]
        with pytest.raises(
            ArgumentError, match="missing must be one of 'refuse', 'drop', 'allow'; got 'yes'"
        ):
            read_losses(file, missing="yes")

    def test_empty_losses(self, write):
        file = write("model,fold,error\na,1,0.5\na,2,NA\nb,1,0.5\nb,2,0.25\n")
        assert refusal(file) == (
            "t.csv: line 3, column 'error' has no number (1 of 4): fill it or pass missing='drop', "
            "which leaves out what some learner lacks."
        )
        assert read_losses(file, missing="allow").missing.ravel().tolist() == [
            False,
            True,
            False,
            False,
        ]
        file = write("model,fold,error\na,1,\nb,1,\n")
        assert refusal(file, missing="allow") == (
            "t.csv: the file contains no loss: every cell is empty."
        )

    def test_text_where_numbers_belong(self, write):
        file = write(LONG.replace("0.125", "none of it"))
        assert refusal(file) == (
            "t.csv: line 4, column 'Error' must be a number; got 'none of it'."
        )

    def test_infinities(self, write):
        assert refusal(write(LONG.replace("0.125", "-inf"))) == (
            "t.csv: line 4, column 'Error' must be finite; got -inf."
        )

    def test_names_that_are_empty(self, write):
        assert refusal(write(LONG.replace("iris,nn,1,2", "iris,,1,2"))) == (
            "t.csv: line 9, column 'Model' must name the learner; the cell is empty."
        )

    def test_no_column_of_losses_or_several(self, write):
        assert refusal(write("model,fold\na,1\n")) == (
            "t.csv: no column holds the losses (columns: 'model', 'fold'): name it with loss=..."
        )
        file = write("model,fold,auc,f1,fit_time,train_error\na,1,0.5,0.25,3,0.1\n")
        assert refusal(file) == (
            "t.csv: the columns 'auc', 'f1' could each hold the losses: name one with loss=..."
        )
        assert read_losses(file, loss="f1").values.ravel().tolist() == [0.75]

    def test_no_column_of_learners(self, write):
        assert refusal(write("who,error\na,1\n"), layout="long") == (
            "t.csv: no column names the learners (columns: 'who', 'error'): name it with "
            "learner=..."
        )

    def test_mixed_encodings(self, tmp_path):
        file = tmp_path / "t.csv"
        file.write_bytes(LONG.replace("svm", "größe").encode() + "iris,ö,1,1,1\n".encode("latin-1"))
        assert refusal(file) == (
            "t.csv: two encodings in one file: line 2 is utf-8, line 14 is not; save it in one "
            "encoding."
        )

    def test_wrong_role_does_not_exhaust_memory(self):
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

    def test_bad_design_columns(self, write):
        assert refusal(write("model,error,design\na,1,cv\nb,2,loo\n")) == (
            "t.csv: line 3, column 'design' must be 'cv' as in the rows before; got 'loo'."
        )
        assert refusal(write("model,error,design\na,1,kfold\nb,2,kfold\n")) == (
            "t.csv: line 2, column 'design' must be one of cv, resample, holdout, loo, bootstrap, "
            "time, splits, test-set, test-set-auc, test-set-metric, seeds, scores; got 'kfold'."
        )
        assert refusal(write("model,error,stratified\na,1,perhaps\n")) == (
            "t.csv: line 2, column 'stratified' must be true or false; got 'perhaps'."
        )

    def test_fold_and_instance_exclude_each_other(self):
        columns = {"model": ["a"], "fold": [1], "item": [1], "error": [1.0]}
        with pytest.raises(ArgumentError, match="fold and instance must be one column"):
            read_losses(columns, fold="fold", instance="item")
        assert read_losses(columns, instance="item").account[1].endswith("losses from 'error'.")


def test_two_hundred_thousand_rows_read_fast(tmp_path):
    import time

    n = 200_000
    file = tmp_path / "t.csv"
    rows = (f"m{i % 20},{i // 20 % 100},{i // 2000},{i / n!r}\n" for i in range(n))
    file.write_text("model,run,fold,error\n" + "".join(rows))
    start = time.process_time()
    losses = read_losses(file)
    assert time.process_time() - start < 4
    assert losses.values.shape == (20, 1, 100, 100, 1)
    assert losses.values[7, 0, 5, 9, 0] == (9 * 2000 + 5 * 20 + 7) / n
