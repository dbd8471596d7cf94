"""The rules for reading data, each with a file, through Python and the command line."""

import gzip
import json
import os
import sqlite3
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.naive_bayes import GaussianNB

import bestofk as bk
from bestofk._base.errors import ArgumentError, UnknownNameError
from bestofk.cli import main
from bestofk.data import read_data
from bestofk.data.columns import learn_column

SHARED = os.environ.get("BESTOFK_DATA")
N = 40
LEARNERS = ("max", "nmc")


def file_of(folder: Path, name: str = "data.csv", **columns: list) -> Path:
    """Write columns of N cells, a number and a target of two classes."""
    rows = np.arange(N)
    frame = pd.DataFrame({**columns, "size": rows % 7 / 2, "ill": np.where(rows % 4, "no", "yes")})
    frame.to_csv(folder / name, index=False)
    return folder / name


def repeated(*cells: str) -> list[str]:
    return [cells[row % len(cells)] for row in range(N)]


DATES = "The dates of 'x' are read as days since 1970-01-01."
# A1 and A3: the cells of a column x, the converted ones and the note; days are since 1970-01-01:
# 31 December 2024 is day 20088, 1 February 2024 is day 19754, 2 January 2024 is day 19724
COLUMNS = {
    "plain": (repeated("1.5", "2"), [1.5, 2], ""),
    "missing": (repeated("1", "?", "NA", "", "null"), [1, None, None, None, None], ""),
    "thousands": (
        repeated("52,345", "1,204,000"), [52345, 1204000],
        "'x': thousands separators were removed.",
    ),
    "currency": (repeated("$5.31", "$7"), [5.31, 7], "'x': currency signs were removed."),
    "percent": (
        repeated("45.3%", "2 %"), [0.453, 0.02],
        "'x': percentages were read as fractions (12.3 % is 0.123).",
    ),
    "words": (
        # 4 of 40 cells: at least nine of ten are numbers
        repeated("1", "2", "3", "4", "5", "6", "7", "8", "9", "unknown"),
        [1, 2, 3, 4, 5, 6, 7, 8, 9, None],
        "4 cells 'unknown' of 'x' are read as missing (columns={'x': 'category'} keeps them).",
    ),
    "too many words": (repeated("1", "2", "3", "unknown"), ["1", "2", "3", "unknown"], ""),
    "categories": (repeated("red", "?", " blue"), ["red", None, "blue"], ""),
    "truth": (repeated("True", "False"), [True, False], ""),
    "ISO": (repeated("2024-12-31", "2024-02-01"), [20088, 19754], DATES),
    "time": (repeated("2024-12-31 12:00", ""), [20088.5, None], DATES),
    "points": (repeated("1.2.2024", "01.02.2024"), [19754, 19754], DATES),
    "day first": (repeated("31/12/2024", "01/02/2024"), [20088, 19754], DATES),
    "month first": (repeated("12/31/2024", "01/02/2024"), [20088, 19724], DATES),
    "no such day": (repeated("2024-02-30", "2024-02-01"), ["2024-02-30", "2024-02-01"], ""),
}  # fmt: skip


@pytest.mark.parametrize("case", COLUMNS)
def test_one_rule_for_files_and_frames(case, tmp_path):
    cells, expected, note = COLUMNS[case]
    file = file_of(tmp_path, x=cells)
    for data in (read_data(file), read_data(pd.read_csv(file), "ill")):
        values = data.X["x"].head(len(expected)).tolist()
        assert [None if value != value else value for value in values] == expected
        assert data.notes == ((note,) if note else ())
        if not isinstance(expected[0], int | float) or isinstance(expected[0], bool):
            # sorted: False before True, text by code point
            known = sorted(value for value in expected if value is not None)
            assert data.X["x"].cat.categories.tolist() == known


@pytest.mark.parametrize("case", ["thousands", "words", "truth", "day first"])
def test_a_file_and_its_frame_give_the_same_study(case, tmp_path):
    file = file_of(tmp_path, x=COLUMNS[case][0])
    options = {"cv": "kfold:3", "progress": False, "execution": bk.Execution(engine="serial")}
    learners = ["max", "nmc", "DecisionTreeClassifier(random_state=0)"]
    one = bk.compare(learners, file, "ill", **options)
    other = bk.compare(learners, pd.read_csv(file), "ill", **options)
    np.testing.assert_array_equal(one.scores.losses, other.scores.losses)
    assert one.explain() == other.explain()
    assert one.outcome.live.datasets[0].fingerprint == other.outcome.live.datasets[0].fingerprint
    # deployed models read raw rows in the same way
    raw = pd.read_csv(file).drop(columns="ill")
    for name in one.scores.learners:
        model = one.fit_recommended(name)
        np.testing.assert_array_equal(model.predict(raw[:3]), model.predict(raw)[:3])


def run(capsys, *words):
    code = main(["compare", *map(str, words), "--cv", "kfold:2", "--set", "engine=serial",
                 *(word for name in LEARNERS for word in ("--learner", name))])  # fmt: skip
    out, err = capsys.readouterr()
    return code, " ".join(out.split()), " ".join(err.split())


def test_stated_kinds_on_the_command_line(tmp_path, capsys):
    file = file_of(tmp_path, x=COLUMNS["words"][0])
    code, out, err = run(capsys, file)
    assert code == 0, err
    # ten of 40 rows are ill
    assert (
        "Note: Predicting 'ill', the last column (2 classes, 25 % yes), from 2 columns, 40 rows. "
    ) in out
    assert "4 cells 'unknown' of 'x' are read as missing (--column x=category keeps them)." in out
    code, out, err = run(capsys, file, "--target", "ill", "--column", "x=category")
    assert "Note: Predicting 'ill' (2 classes, 25 % yes) from 2 columns, 40 rows. " in out
    assert "missing" not in out
    assert "from 1 column," in run(capsys, file, "--column", "x=ignore")[1]
    assert "--column must be COL=KIND" in run(capsys, file, "--column", "x")[2]
    assert "'category', 'number'" in run(capsys, file, "--column", "x=text")[2]
    code, _, err = run(capsys, file, "--column", "y=number")
    assert code == 2
    assert "There is no column 'y'" in err


def test_stated_kinds(tmp_path):
    file = file_of(tmp_path, x=repeated("3", "1"), word=repeated("a", "b", "7"))
    data = read_data(file, columns={"x": "category"})
    assert data.X["x"].cat.categories.tolist() == [1, 3]
    with pytest.raises(ArgumentError, match="'word' must hold numbers; got 'a'"):
        read_data(file, columns={"word": "number"})
    with pytest.raises(UnknownNameError, match="did you mean 'word'"):
        read_data(file, columns={"words": "number"})
    with pytest.raises(ArgumentError, match="columns must be a mapping such as"):
        read_data(file, columns=["word"])
    with pytest.raises(ArgumentError, match="'ill' is the target and cannot be ignored"):
        read_data(file, "ill", columns={"ill": "ignore"})
    assert read_data(file, "x", columns={"x": "number"}).task == "regression"
    frame = pd.DataFrame({"y": [1, 2] * 5, "x": np.arange(10.0)})
    data = read_data(frame, [0.5, 1.5] * 5, columns={"y": "category"})  # not the target
    assert (data.task, data.kinds["y"]) == ("regression", "nominal")


def test_dates_that_can_be_read_in_two_ways_are_refused(tmp_path, capsys):
    file = file_of(tmp_path, x=repeated("01/02/2024", "03/04/2024"))
    for source in ((file,), (pd.read_csv(file), "ill")):
        with pytest.raises(ArgumentError, match="day and month cannot be told apart") as caught:
            read_data(*source)
        assert str(caught.value).endswith("leave the column out with columns={'x': 'ignore'}.")
    code, _, err = run(capsys, file)
    assert code == 2
    assert err.endswith("leave the column out with --column x=ignore.")
    # the advice works
    assert run(capsys, file, "--column", "x=ignore")[0] == 0
    # what the training rows show holds for a single new row
    cells = pd.Series(COLUMNS["day first"][0])
    assert learn_column(cells, "x").read(pd.Series(["03/02/2024"])).tolist() == [19756]


def test_identifiers(tmp_path, capsys):
    rng = np.random.default_rng(0)
    columns = {
        "customer_id": rng.permutation(N) * 3,  # named like one
        "uuid": [f"{7 * n:x}" for n in range(N)],
        "step": np.arange(5, N + 5),  # in steps of one
        "who": [f"p{n:03d}" for n in range(N)],
        "income": rng.permutation(N) * 10,  # distinct, but neither
        "key": rng.normal(size=N),  # decimals
        "street": [f"{chr(97 + n % 26)}{n} street" for n in range(N)],
        "site_id": np.arange(N) % 3,  # repeated
    }
    file = file_of(tmp_path, **columns)
    data = read_data(file)
    assert list(data.X.columns) == ["income", "key", "street", "site_id", "size"]
    assert data.notes == (
        "'customer_id', 'uuid', 'step' and 'who' are left out as identifiers "
        "(columns={'customer_id': 'number'} keeps the first).",
    )
    assert read_data(pd.read_csv(file), "ill").notes == data.notes
    kept = read_data(file, columns={"customer_id": "number", "who": "category"})
    assert kept.d == 7
    _, out, _ = run(capsys, file, "--column", "uuid=ignore", "--column", "step=ignore",
                       "--column", "who=ignore")  # fmt: skip
    assert "'customer_id' is left out as an identifier (--column customer_id=number keeps" in out
    assert "'street' has 40 different texts in 40 rows" in out
    # an array has no names, and its columns are found by position
    assert read_data(np.arange(2 * N).reshape(N, 2), np.arange(N) % 2).d == 2


def test_predicted_states_the_target_and_the_rows():
    X = pd.DataFrame({"a": np.arange(30.0)})
    price = pd.Series(np.linspace(120, 9300.4, 30), name="price")
    assert read_data(X, price).predicted == (
        "Predicting 'price' (a number, 120 to 9,300) from 1 column, 30 rows."
    )
    grades = pd.Series(np.arange(30) % 3, name="grade")
    assert read_data(X, grades, groups=np.arange(30) // 5).predicted == (
        "Predicting 'grade' (3 classes; task='regression' predicts a number) from 1 column, 30 "
        "rows in 6 groups."
    )
    texts = ["good", "bad film"] * 15
    assert read_data(texts, [0, 1, 1] * 10).predicted == (
        "Predicting 'y' (2 classes, 33 % 0) from texts, 30 rows."
    )


def test_rows_with_the_same_labels_in_another_order_are_refused():
    X = pd.DataFrame({"a": np.arange(6.0)}, index=list("uvwxyz"))
    y = pd.Series([0, 1, 0, 1, 1, 0], index=X.index, name="ill")
    turned = y[::-1]
    for options in ({}, {"groups": turned}, {"sample_weight": turned}, {"by": turned}):
        with pytest.raises(ArgumentError, match=r"another order: pass \w+.loc\[X.index\]"):
            read_data(X, y if options else turned, **options)
    assert read_data(X, turned.loc[X.index]).y.astype(int).tolist() == [0, 1, 0, 1, 1, 0]
    # by position: other labels, or none
    assert read_data(X, y.reset_index(drop=True)).y.astype(int).tolist() == [0, 1, 0, 1, 1, 0]
    assert read_data(X, turned.to_numpy()).y.astype(int).tolist() == [0, 1, 1, 0, 1, 0]
    with pytest.raises(ArgumentError, match=r"pass b.loc\[y_true.index\]"):
        bk.compare_predictions(y, {"a": y, "b": turned})
    models = [DummyClassifier().fit(X, y), GaussianNB().fit(X, y)]
    with pytest.raises(ArgumentError, match=r"pass y_true.loc\[X_test.index\]"):
        bk.compare_fitted(models, X, turned)


def test_the_target_of_a_file(tmp_path):
    (tmp_path / "a.csv").write_text("Label,a,b\nx,1,p\ny,2,q\n")
    assert read_data(tmp_path / "a.csv").predicted.startswith(
        "Predicting 'Label', chosen by its name (2 classes, 50 % y), from 2 columns"
    )
    assert read_data(tmp_path / "a.csv", "b").y.name == "b"
    (tmp_path / "b.csv").write_text("a,price\nu,$5.50\nv,$7.25\nu,$1.50\n")
    assert read_data(tmp_path / "b.csv").y.tolist() == [5.5, 7.25, 1.5]


DECLARED = (
    "@relation r\n@attribute size numeric\n@attribute colour {red,blue,green}\n"
    "@attribute class {yes,no}\n@data\n1,red,yes\n2.5,blue,no\n?,red,no\n"
)


@pytest.mark.parametrize(
    ("text", "colours", "classes"),
    [
        ("\ufeffsize;colour;class\n1,0;red;yes\n2,5;blue;no\n?;red;no\n", 0, 0),
        ("size\tcolour\tclass\n\n1.0\tred\tyes\n2.5\tblue\tno\n\nNA\tred\tno\n\n", 0, 0),
        (
            '{"size": 1.0, "colour": "red", "class": "yes"}\n'
            '{"size": 2.5, "colour": "blue", "class": "no"}\n'
            '{"size": null, "colour": "red", "class": "no"}\n', 0, 0,
        ),
        (DECLARED, ["red", "blue", "green"], ["yes", "no"]),
    ],
    ids=["semicolon", "tabs", "jsonl", "arff"],
)  # fmt: skip
def test_formats(tmp_path, text, colours, classes):
    (tmp_path / "f.csv").write_text(text)
    (tmp_path / "f.csv.gz").write_bytes(gzip.compress(text.encode()))
    for name in ("f.csv", "f.csv.gz"):
        data = read_data(tmp_path / name)
        assert data.name == "f"
        np.testing.assert_array_equal(data.X["size"], [1, 2.5, np.nan])
        assert data.X["colour"].cat.categories.tolist() == (colours or ["blue", "red"])
        assert data.classes.tolist() == (classes or ["no", "yes"])


def test_folders_sheets_databases_and_dictionaries(tmp_path, capsys):
    file = file_of(tmp_path, town=repeated("a", "b"))
    frame = pd.read_csv(file)
    folder, book, url = tmp_path / "parts", tmp_path / "f.xlsx", f"sqlite:///{tmp_path}/f.db"
    folder.mkdir()
    frame[:25].to_csv(folder / "1.csv", index=False)
    frame[25:].to_csv(folder / "2.csv", index=False)
    with pd.ExcelWriter(book) as writer:
        frame[:3].to_excel(writer, sheet_name="One", index=False)
        frame.to_excel(writer, sheet_name="Two", index=False)
    with sqlite3.connect(tmp_path / "f.db") as connection:
        frame.to_sql("people", connection, index=False)
    expected = read_data(file, "ill").fingerprint
    for source in (frame.to_dict("records"), frame.to_dict("list")):
        assert read_data(source, "ill").fingerprint == expected
    for source in (folder, f"{book}#Two", f"{url}#people", f"{url}#select * from people"):
        assert read_data(source, "ill").fingerprint == expected
        assert "from 2 columns, 40 rows." in run(capsys, source, "--target", "ill")[1]
    for source, sentence in (
        (book, "2 sheets ('One', 'Two'): name one as in 'f.xlsx#One'"),
        ("/dev/zero", "must be a regular file, not a device or a pipe"),
    ):
        assert sentence in run(capsys, source)[2]


@pytest.mark.skipif(SHARED is None, reason="BESTOFK_DATA is not set: no folder of data sets")
@pytest.mark.parametrize("folder", ["uci", "keel"])
def test_every_file_of_the_papers_loads_without_options(folder: str) -> None:
    root = Path(str(SHARED), folder)
    manifest = json.loads((root / "MANIFEST.json").read_text())["datasets"]
    assert len(manifest) == {"uci": 30, "keel": 64}[folder]
    for entry in manifest:
        data = read_data(root / entry["file"])
        assert data.name == entry["name"]
        assert data.n == entry["rows"], data.name
        for kind in ("numeric", "nominal"):
            shapes = [column for column, k in data.kinds.items() if k == kind]
            assert shapes == entry[f"{kind}_columns"], data.name
        assert data.n_missing == entry.get("missing_cells", 0), data.name
        assert {str(c): int(m) for c, m in data.y.value_counts().items()} == entry["classes"]
