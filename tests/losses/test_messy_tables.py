"""Messy tables: benchmark files, items, percentages, workbooks."""

import numpy as np
import pandas as pd
import pytest

import bestofk as bk
from bestofk._base.errors import ArgumentError, DesignError, TableError
from bestofk.losses import read_losses
from bestofk.papers.one_test import run_test
from bestofk.splits.design import Design

AMLB = """id,task,framework,constraint,fold,type,result,metric,seed,acc,auc,logloss,duration
openml.org/t/1,credit,autogluon,1h8c,0,binary,0.75,auc,11,0.8,0.75,0.3,9
openml.org/t/1,credit,autogluon,1h8c,1,binary,0.5,auc,12,0.8,0.5,0.3,9
openml.org/t/1,credit,flaml,1h8c,0,binary,0.25,auc,13,0.8,0.25,0.3,9
openml.org/t/1,credit,flaml,1h8c,1,binary,0.125,auc,14,0.8,0.125,0.3,9
openml.org/t/2,cars,autogluon,1h8c,0,multiclass,{0}0.25,{1}logloss,15,0.8,0.9,0.3,9
openml.org/t/2,cars,autogluon,1h8c,1,multiclass,{0}0.5,{1}logloss,16,0.8,0.9,0.3,9
openml.org/t/2,cars,flaml,1h8c,0,multiclass,{0}0.75,{1}logloss,17,0.8,0.9,0.3,9
openml.org/t/2,cars,flaml,1h8c,1,multiclass,{0}1,{1}logloss,18,0.8,0.9,0.3,9
"""


@pytest.fixture
def write(tmp_path):
    def write(content, name="results.csv"):
        (tmp_path / name).write_text(content, encoding="utf-8")
        return tmp_path / name

    return write


@pytest.mark.parametrize(
    ("sign", "prefix", "means"),
    # all are scores, turned round by their sign; or logloss is a loss and auc becomes 1 - auc
    [
        ("-", "neg_", [[-0.625, 0.375], [-0.1875, 0.875]]),
        ("", "", [[0.375, 0.375], [0.8125, 0.875]]),
    ],
)
def test_an_automl_benchmark_reads_without_options(write, sign, prefix, means):
    losses = read_losses(write(AMLB.format(sign, prefix)))
    assert losses.learners == ("autogluon", "flaml")
    assert losses.datasets == ("credit", "cars")
    assert losses.design == Design(kind="cv", folds=2)
    assert losses.by_dataset().tolist() == means
    assert f"as the names 'auc', '{prefix}logloss' say." in losses.explain()


def test_duplicate_rows_raise_with_advice_to_filter(write):
    text = AMLB.format("-", "neg_")
    again = text.partition("\n")[2].replace("1h8c", "4h8c")
    file = write(text + again)
    with pytest.raises(TableError, match=r"select one value with where=\{'constraint': '1h8c'\}"):
        read_losses(file)
    assert read_losses(file, where={"constraint": "4h8c"}).values.shape == (2, 2, 1, 2, 1)
    with pytest.raises(LookupError, match="no value of 'constraint' '2h8c' in results"):
        read_losses(file, where={"constraint": "2h8c"})


ITEMS = pd.DataFrame({"gpt": [1, 1, 0, 1, 1, 1], "llama": [0, 1, 0, 0, 1, 0]})


@pytest.mark.parametrize("named", [None, "prompt", "question", "task_id"])
def test_zeros_and_ones_are_instances_and_need_a_direction(named):
    frame = ITEMS.copy()
    if named is not None:
        frame.insert(0, named, [f"q{i}" for i in range(len(frame))])
    with pytest.raises(TableError, match="cannot tell whether higher or lower"):
        bk.order(frame)
    losses = read_losses(frame, higher_is_better=True)
    assert losses.design == Design(kind="test-set", folds=6)
    assert losses.by_fold()[:, 0].tolist() == (1 - ITEMS.to_numpy().T).tolist()
    assert bk.order(frame, higher_is_better=True).smallest_mean == "gpt"
    assert bk.order(frame, higher_is_better=False).smallest_mean == "llama"


def test_zeros_and_ones_of_stated_data_sets_stay_data_sets():
    frame = ITEMS.assign(name=[f"d{i}" for i in range(6)])
    assert len(read_losses(frame, dataset="name", higher_is_better=True).datasets) == 6


@pytest.mark.parametrize(
    ("cells", "want"),
    [
        (["12.5 %", "25%"], [0.125, 0.25]), (["0.5 ± 0.02", "0.25 +/- 0.1"], [0.5, 0.25]),
        (["50.0 (1.5)", "25 (0)"], [50.0, 25.0]), (["12.5 ± 1 %", "25 ± 2 %"], [0.125, 0.25]),
        (['"1,234.5"', '"2,000.25"'], [1234.5, 2000.25]),
        (['"1,234,567"', '"1"'], [1234567.0, 1.0]),
    ],
)  # fmt: skip
def test_decorated_cells(write, cells, want):
    losses = read_losses(
        write("model,error\n" + "".join(f"m{i},{c}\n" for i, c in enumerate(cells)))
    )
    assert losses.values.ravel().tolist() == want
    assert any("read" in s or "removed" in s for s in losses.account[2:-1])


@pytest.mark.parametrize(
    ("cells", "sentence"),
    [
        (["12.5 %", "0.25"], "a number of the form '12.5 %', like the cells before; got '0.25'"),
        (['"1,234"', '"2,345"'], "the comma may separate thousands or decimals"),
        (["1 234", "2"], "must be a number; got '1 234'"),
    ],
)  # fmt: skip
def test_ambiguous_cells_raise(write, cells, sentence):
    file = write("model,error\n" + "".join(f"m{i},{c}\n" for i, c in enumerate(cells)))
    with pytest.raises(TableError) as caught:
        read_losses(file)
    assert sentence in str(caught.value)


def test_european_thousands(write):
    losses = read_losses(write("model;error\na;1.234,5\nb;2.000,25\n"))
    assert losses.values.ravel().tolist() == [1234.5, 2000.25]


def test_mixed_percentages_raise(write):
    with pytest.raises(TableError, match="'svm' contains percentages and 'nn' does not"):
        read_losses(write("dataset,svm,nn\niris,91 %,92\n"), higher_is_better=True)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "latin-1"])
def test_encodings(tmp_path, encoding):
    (tmp_path / "t.csv").write_bytes("modèle;fold;error\nä;1;0,5\nb;1;0,25\n".encode(encoding))
    losses = read_losses(tmp_path / "t.csv", learner="modèle")
    assert losses.learners == ("ä", "b")
    assert losses.values.ravel().tolist() == [0.5, 0.25]


class TestArgumentsReachTheirStep:
    FRAME = pd.DataFrame(
        {
            "who": np.repeat(["a", "b", "c"], 10),
            "fold": np.tile(np.arange(10), 3),
            "value": np.repeat([0.5, 0.75, 0.25], 10) + np.arange(30) % 7 / 100,
        }
    )

    def test_reading_and_testing_from_one_call(self):
        order = bk.order(
            self.FRAME, higher_is_better=True, learner="who", design="5x2", test="5x2cv-t",
            alpha=0.01,
        )  # fmt: skip
        assert order.smallest_mean == "b"
        assert order.test_choice.name == "5x2cv-t"
        advice = r"order has no argument 'higher': write higher_is_better=\.\.\.\."
        with pytest.raises(bk.ArgumentError, match=advice):
            bk.order(self.FRAME, higher_is_better=True, learner="who", higher=True)

    def test_the_hint_on_gaps_works_in_every_function(self):
        gap = self.FRAME.drop(index=[3]).rename(columns={"who": "model", "value": "accuracy"})
        for function in (
            bk.order,
            bk.plan_size,
            bk.decide.multitest,
            bk.papers.decide.most_wins,
            bk.papers.decide.anova_choice,
            lambda frame, **how: run_test(frame, "kfold-t", **how),
            read_losses,
        ):
            with pytest.raises(TableError, match="missing='drop'"):
                function(gap)
            function(gap, missing="drop")
        with pytest.raises(DesignError, match="missing='drop'"):
            bk.order(gap, missing="allow")

    def test_arrays_are_losses_unless_stated(self):
        values = [[0.9, 0.92, 0.91], [0.5, 0.51, 0.55]]
        assert bk.order(values).smallest_mean == 1
        assert bk.order(values, higher_is_better=True).smallest_mean == "0"
        with pytest.raises(ArgumentError, match="got losses and higher_is_better=True: leave"):
            bk.order(bk.Losses(values), higher_is_better=True)
        with pytest.raises(ArgumentError, match="got an array and metric='auc': leave metric out"):
            bk.order(values, metric="auc")


class TestWorkbooks:
    openpyxl = pytest.importorskip("openpyxl")

    def book(self, tmp_path, **sheets):
        book = self.openpyxl.Workbook()
        book.remove(book.active)
        for title, rows in sheets.items():
            sheet = book.create_sheet(title)
            for row in rows:
                sheet.append(row)
        book.save(tmp_path / "t.xlsx")
        return tmp_path / "t.xlsx"

    def test_a_sheet_is_a_table(self, tmp_path):
        rows = [[], ["model", "fold", "accuracy"], ["a", 1, 0.75], ["a", 2, "50 %"], ["b", 1, 0.5]]
        file = self.book(tmp_path, Scores=[*rows[:3], ["a", 2, 0.5], rows[4], [], ["b", 2, 0.25]])
        losses = read_losses(file)
        assert losses.by_fold()[:, 0].tolist() == [[0.25, 0.5], [0.5, 0.75]]
        assert losses.account[0] == "t.xlsx: Excel workbook, sheet 'Scores', 4 rows of 3 columns."

    def test_errors_name_the_row_of_the_sheet(self, tmp_path):
        file = self.book(tmp_path, S=[["model", "error"], ["a", 0.5], [], ["b", "oops"]])
        with pytest.raises(TableError, match="line 4, column 'error' must be a number; got 'oops'"):
            read_losses(file)

    def test_several_sheets_and_none(self, tmp_path):
        rows = [["model", "error"], ["a", 0.5]]
        with pytest.raises(TableError, match=r"contains 2 sheets \('S', 'T'\): keep only one"):
            read_losses(self.book(tmp_path, S=rows, T=rows))
        assert read_losses(self.book(tmp_path, S=rows, T=[])).learners == ("a",)
        with pytest.raises(TableError, match="contains no cells"):
            read_losses(self.book(tmp_path, S=[]))

    def test_a_data_set_with_dates(self, tmp_path):
        import datetime

        rows = [[datetime.date(2020 + i, 1, 2), i / 3, "uv"[i % 2]] for i in range(4)]
        data = bk.read_dataset(self.book(tmp_path, S=[["day", "x", "class"], *rows]))
        # days since 1970: fifty years with twelve leap days, and one day
        assert data.X["day"].tolist()[0] == 50 * 365 + 12 + 1
