"""Data frames and files with dates, booleans, categories, text and an identifier."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler
from sklearn.svm import SVC

import bestofk as bk
from bestofk.data import read_data

pytestmark = pytest.mark.usefixtures("preloaded_workers")

SAID = (
    "The dates of 'admitted' are read as days since 1970-01-01.",
    "'patient' is left out as an identifier",
)


def write(frame, y, path):
    whole = pd.concat([frame, pd.Series(y, name="outcome")], axis=1)
    if path.suffix == ".csv":
        whole.to_csv(path, index=False)
    else:
        whole.to_parquet(path)
    return path


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_a_file_and_a_frame_are_understood_alike(patients, tmp_path, suffix):
    frame, y = patients
    from_frame = read_data(frame, y)
    from_file = read_data(write(frame, y, tmp_path / f"patients{suffix}"))
    assert from_file.kinds == from_frame.kinds
    assert from_file.n_missing == from_frame.n_missing == 3
    for data in (from_frame, from_file):
        account = data.explain()
        assert [sentence for sentence in SAID if sentence not in account] == []
        # 2024-01-01 is day 19723 of Unix time
        assert data.X["admitted"].tolist() == [19723.0 + row for row in range(60)]


def learners():
    return {
        "svm": SVC(),
        "hgb": HistGradientBoostingClassifier(max_iter=3),
        "tree": "c4.5",
        "logistic": "logistic",
    }


def test_preparation_is_stated_for_every_learner(patients):
    frame, y = patients
    study = bk.compare(learners(), frame, y, cv="kfold:3", progress=False)
    line = next(line for line in study.explain().split("\n") if line.startswith("Preparation"))
    # 4 nominal columns: smoker, ward, town, hospital; 2 missing numbers
    assert line == (
        "Preparation inside the folds: "
        "4 columns 1-of-n, 2 missing cells filled by the training mean for svm; "
        "4 columns 1-of-n, 2 missing cells filled by the training mean "
        "by logistic itself; none for hgb and tree."
    )
    assert [s for s in SAID if s not in study.explain()] == []


def test_on_the_command_line_in_the_report_and_from_the_store(patients, run, tmp_path):
    frame, y = patients
    file, store = write(frame, y, tmp_path / "patients.csv"), tmp_path / "study.db"
    arguments = ["compare", file, "--learner", "svm=sklearn.svm:SVC()", "--learner", "c4.5",
             "--cv", "kfold:3"]  # fmt: skip
    code, out, _ = run(
        *arguments, "--store", store, "--report", tmp_path / "report.html", "--explain"
    )
    note = "Preparation inside the folds: 4 columns 1-of-n, 2 missing cells"
    assert code == 0
    assert note in out
    assert out.count("days since 1970-01-01") == 1
    page = (tmp_path / "report.html").read_text()
    assert "4 columns 1-of-n, 2 missing cells" in page
    assert "read as days since 1970-01-01" in page
    assert note in bk.open_study(str(store)).explain()


def test_pipelines_that_choose_their_columns_get_the_frame_as_it_came(patients, by_hand):
    frame, y = patients
    texts = make_column_selector(dtype_include=["object", "str"])
    columns = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), texts),
        (SimpleImputer(strategy="median"), ["age"]),
        ("passthrough", make_column_selector(dtype_include="bool")),
        (
            FunctionTransformer(lambda dates: dates.apply(lambda c: c.dt.day_of_year)),
            make_column_selector(dtype_include="datetime"),
        ),
    )  # fmt: skip
    own = make_pipeline(columns, StandardScaler(with_mean=False), LogisticRegression())
    search = GridSearchCV(own, {"logisticregression__C": [0.1, 1.0]}, cv=2)
    expected = by_hand(lambda: own, frame, y, "kfold:3")
    study = bk.compare(
        {"own": own, "search": search, "most": DummyClassifier()},
        frame,
        y,
        cv="kfold:3",
        progress=False,
        execution=bk.Execution(engine="serial"),
    )
    assert study.outcome.left_out == {}
    np.testing.assert_array_equal(study.scores.losses[0].ravel(), expected)
    assert study.outcome.preparation["data"]["own"].explain() == "none"
    assert study.outcome.preparation["data"]["search"].explain() == "none"


def test_an_imputer_of_the_user_sees_the_missing_cells(patients, by_hand):
    frame, y = patients
    numbers = frame[["age"]].assign(late=np.arange(len(frame)) % 7)
    numbers.loc[0:20, "age"] = np.nan
    own = make_pipeline(SimpleImputer(strategy="constant", fill_value=-1e3), SVC())
    expected = by_hand(lambda: own, numbers, y, "2x3")
    study = bk.compare(
        {"own": own, "most": "max"},
        numbers,
        y,
        cv="2x3",
        progress=False,
        execution=bk.Execution(engine="serial"),
    )
    np.testing.assert_array_equal(study.scores.losses[0].ravel(), expected)
    assert study.outcome.preparation["data"]["own"].explain() == "none"


def test_a_column_of_texts_in_a_file_reaches_a_pipeline_that_names_it(run, tmp_path):
    rng = np.random.default_rng(1)
    good, bad = ["fine", "great", "lovely"], ["dull", "awful", "poor"]
    rows = [
        f'"{word} film number {row}",{row % 5},{label}'
        for row in range(40)
        for label, word in [(("good", rng.choice(good)), ("bad", rng.choice(bad)))[row % 2]]
    ]
    file = tmp_path / "films.csv"
    file.write_text("review,year,liked\n" + "\n".join(rows) + "\n")
    (tmp_path / "models.py").write_text(
        "from sklearn.compose import make_column_transformer\n"
        "from sklearn.feature_extraction.text import TfidfVectorizer\n"
        "from sklearn.linear_model import LogisticRegression\n"
        "from sklearn.pipeline import make_pipeline\n"
        "learners = {'texts': make_pipeline(make_column_transformer("
        "(TfidfVectorizer(), 'review')), LogisticRegression()), 'most': 'max'}\n"
    )
    code, out, err = run(
        "compare", file, "--learner", tmp_path / "models.py", "--cv", "5x2", "--json"
    )
    assert code == 0, err
    study = json.loads(out)
    means = {row["name"]: row["mean"] for row in study["table"]}
    assert means["texts"] < 0.05 < means["most"]
    assert any("'review' has 40 different texts in 40 rows" in note for note in study["notes"])


def test_a_frame_of_texts_alone_keeps_them(tmp_path):
    y = np.array(["good", "bad"] * 15)
    frame = pd.DataFrame({"review": [f"{label} film {row}" for row, label in enumerate(y)]})
    pipeline = make_pipeline(
        make_column_transformer((TfidfVectorizer(), "review")), LogisticRegression()
    )
    file = tmp_path / "films.csv"
    frame.assign(liked=y).to_csv(file, index=False)
    for data in (read_data(frame, y), read_data(file)):
        study = bk.compare(
            {"texts": pipeline, "most": "max"},
            data,
            cv="kfold:3",
            progress=False,
            execution=bk.Execution(engine="serial"),
        )
        assert study.outcome.left_out == {}
        assert study.scores.losses[0].max() == 0.0


def test_texts_alone_and_a_sparse_matrix(by_hand):
    rng = np.random.default_rng(2)
    y = np.array(["good", "bad"] * 20)
    messages = {"good": ["fine", "great", "nice"], "bad": ["dull", "awful", "nice"]}
    texts = [" ".join(rng.choice(messages[label], 3)) for label in y]
    pipeline = make_pipeline(TfidfVectorizer(), LogisticRegression())
    expected = by_hand(lambda: pipeline, np.array(texts), y, "2x3")
    for given in (texts, np.array(texts), pd.Series(texts, index=range(5, 45))):
        study = bk.compare(
            {"texts": pipeline, "most": DummyClassifier()},
            given,
            y,
            cv="2x3",
            progress=False,
            execution=bk.Execution(engine="serial"),
        )
        np.testing.assert_array_equal(study.scores.losses[0].ravel(), expected)
    sparse = TfidfVectorizer().fit_transform(texts)
    study = bk.compare(
        {"linear": LogisticRegression(), "svm": SVC(), "tree": "c4.5"},
        sparse,
        y,
        cv="2x3",
        progress=False,
        execution=bk.Execution(engine="serial"),
    )
    np.testing.assert_array_equal(
        study.scores.losses[0].ravel(), by_hand(LogisticRegression, sparse, y, "2x3")
    )
    # a learner of columns says why it cannot, in the headline
    assert "the rows of 'data' are a sparse matrix" in study.headline


def test_a_messy_file_leads_to_a_decision_by_the_advice_of_its_errors(run, tmp_path):
    file = tmp_path / "f.csv"
    n = 60
    frame = pd.DataFrame({
        "id": [f"C-{k}" for k in range(n)],
        "since": [f"{k % 11 + 1:02d}/{k % 12 + 1:02d}/2024" for k in range(n)][::-1],
        "spend": np.random.default_rng(0).normal(size=n),
        "churn": ["yes", "no"] * 29 + ["yes", ""],
    })  # fmt: skip
    frame.to_csv(file, index=False)
    options = ("--learner", "max", "--learner", "nmc", "--cv", "kfold:5")
    assert "pass --target churn." in run("compare", file, "churn", *options)[2]
    assert "fill in these cells or delete their rows" in run("compare", file, *options)[2]
    frame[:-1].to_csv(file, index=False)
    error = run("compare", file, *options)[2]
    assert "leave the column out with --column since=ignore." in " ".join(error.split())
    code, out, error = run("compare", file, *options, "--column", "since=ignore")
    assert code == 0, error
    assert "'id' is left out as an identifier" in " ".join(out.split())
