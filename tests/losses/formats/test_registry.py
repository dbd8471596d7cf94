"""Invariants of all formats: recognised by content, forced by name, one-sentence errors."""

import gzip
import random
import re
import shutil
import sqlite3
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pytest

import bestofk as bk
from bestofk.data.tables.reading import FORMATS
from bestofk.losses import LOSS_FORMATS

GOLDEN = Path(__file__).parents[1] / "golden"
IRIS = {"tree": 0.946302, "bayes": 0.952881, "majority": 0.320057}
"""Means of cross_validate on the four folds of iris, as scikit-learn 1.9.1 gave them."""
HALF = {"tree": (0.946302 + 0.821302) / 2, "bayes": (0.952881 + 0.827881) / 2,
        "majority": (0.320057 + 0.195057) / 2}  # fmt: skip
CASES = [
    ("cv-results", "scikit-learn/cv_results.csv", {},
     {"{'max_depth': 1}": 0.653272, "{'max_depth': 2}": 0.946657, "{'max_depth': 3}": 0.959993},
     (1, 4)),
    ("cross-validate", "scikit-learn/cross_validate.json", {"metric": "accuracy"}, IRIS, (1, 4)),
    ("weka", "weka/experiment.arff", {}, None, (2, 3)),
    ("weka", "weka/experiment.csv", {}, None, (2, 3)),
    ("openml", "openml/evaluations.csv", {}, HALF, (1, 1)),
    ("openml", "openml/evaluations_per_fold.csv", {}, HALF, (1, 4)),
    ("openml", "openml/runs", {}, None, (1, 4)),
    ("openml", "openml/run_100.xml", {"metric": "predictive_accuracy"},
     {"weka.BayesNet_K2(1)": 0.922242}, (1, 10)),
    ("mlflow", "mlflow/search_runs.csv", {}, IRIS, (1, 4)),
    ("mlflow", "mlflow/mlflow.db", {}, IRIS, (1, 4)),
    ("mlflow", "mlflow/mlruns.zip", {}, IRIS, (1, 4)),
    ("optuna", "optuna/trials.csv", {}, None, (1, 4)),
    ("optuna", "optuna/optuna.db", {}, None, (1, 4)),
    ("autorank", "autorank/populations.csv", {"higher_is_better": True}, None, (1, 1)),
    ("scmamp", "scmamp/data_gh_2008.csv", {"higher_is_better": True}, None, (1, 1)),
]  # fmt: skip


def placed(name, folder):
    """The golden table, copied or unpacked."""
    source = GOLDEN / name
    if source.suffix == ".zip":
        with zipfile.ZipFile(source) as archive:
            archive.extractall(folder)
        return folder / source.stem
    if source.is_dir():
        return Path(shutil.copytree(source, folder / source.name))
    return Path(shutil.copy(source, folder))


@pytest.mark.parametrize(("tool", "name", "how", "means", "shape"), CASES)
def test_a_table_of_the_real_tool_is_found_and_named(tool, name, how, means, shape, tmp_path):
    path = placed(name, tmp_path)
    forced = bk.read_losses(path, format=tool, **how)
    assert (forced.design.runs, forced.design.folds) == shape
    assert forced.metric.higher_is_better
    if means is not None:
        shown = forced.metric.shown(forced.values).mean(axis=(1, 2, 3, 4))
        assert dict(zip(forced.learners, shown, strict=True)) == pytest.approx(means, abs=2e-6)
    if LOSS_FORMATS[tool].recognise:
        losses = bk.read_losses(path, **how)
        assert np.array_equal(losses.values, forced.values)
        assert losses.account == forced.account


def test_every_tool_has_a_golden_table_but_one():
    assert {tool for tool, *_ in CASES} == set(LOSS_FORMATS) - {"automl-benchmark"}


@pytest.mark.parametrize("tool", LOSS_FORMATS)
def test_a_table_of_another_tool_is_refused_by_name(tool, tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("colour,size\nred,1\nblue,2\n")
    with pytest.raises(bk.BestOfKError) as error:
        bk.read_losses(path, format=tool)
    assert len(str(error.value)) > 40


def test_an_unknown_format_is_named():
    with pytest.raises(bk.UnknownNameError, match="did you mean 'mlflow'"):
        bk.read_losses({"a": [1]}, format="mlflw")
    assert not set(FORMATS) & set(LOSS_FORMATS)


def test_a_folder_of_something_else(tmp_path):
    (tmp_path / "README.md").write_text("hello")
    with pytest.raises(bk.TableError, match=r"is a folder.*bestofk evals"):
        bk.read_losses(tmp_path)


def mutilated(data, draw):
    """A file cut off, with bytes changed, with message changed or left out."""
    size = len(data)
    for cut in (0, 1, size // 7, size // 2, size - 1):
        yield data[:cut]
    for _ in range(3):
        broken = bytearray(data)
        for _ in range(1 + size // 400):
            broken[draw.randrange(size)] = draw.randrange(256)
        yield bytes(broken)
    message = sorted({word[0] for word in re.finditer(rb"[A-Za-z_]{4,}", data)})
    for word in draw.sample(message, min(3, len(message))):
        yield data.replace(word, b"")
        yield data.replace(word, b"null")
        yield data.replace(word, b"9" * 400)
    yield data.replace(b",", b";")
    yield data.decode("utf-8", "replace").encode("utf-16")
    yield re.sub(rb"\d\.\d+", b"NaN", data)
    yield re.sub(rb"\d\.\d+", b"1e999", data)
    yield re.sub(rb"\d\.\d+", b"[[[[{}]]]]", data)


@pytest.mark.parametrize(("tool", "name", "how", "means", "shape"), CASES)
def test_mutilated_tables_are_read_or_refused_with_a_sentence(
    tool, name, how, means, shape, tmp_path
):
    """What is read is finite; what is refused gets one sentence without the machine's paths."""
    path = placed(name, tmp_path)
    files = sorted(one for one in path.rglob("*") if one.is_file()) if path.is_dir() else [path]
    draw = random.Random(17)
    refused = 0
    for file in draw.sample(files, min(2, len(files))):
        whole = file.read_bytes()
        for data in mutilated(whole, draw):
            file.write_bytes(data)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", bk.BestOfKWarning)
                try:
                    losses = bk.read_losses(path, format=tool, **how)
                except bk.BestOfKError as error:
                    refused += 1
                    text = str(error)
                    assert text.endswith((".", "?"))
                    assert text.count("\n") == 0
                else:
                    assert np.isfinite(losses.values).all()
        file.write_bytes(whole)
    assert refused > 3


@pytest.mark.parametrize(
    ("tool", "name", "how"),
    [case[:3] for case in CASES if Path(case[1]).suffix in (".csv", ".arff", ".json")],
)
def test_line_ends_marks_and_packing_change_nothing(tool, name, how, tmp_path):
    path = placed(name, tmp_path)
    data = path.read_bytes()
    expected = bk.read_losses(path, format=tool, **how).values
    ways = [data.replace(b"\n", b"\r\n"), b"\xef\xbb\xbf" + data]
    if path.suffix != ".json":
        ways.append(gzip.compress(data))
    for changed in ways:
        path.write_bytes(changed)
        assert np.array_equal(bk.read_losses(path, format=tool, **how).values, expected)


@pytest.mark.parametrize("name", ["mlflow/mlflow.db", "optuna/optuna.db"])
def test_database_is_not_written(name, tmp_path):
    path = placed(name, tmp_path)
    before = path.read_bytes()
    bk.read_losses(path)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == [path.name]
    path.with_name(path.name + "-wal").write_bytes(b"x" * 32)
    assert any("not read" in s for s in bk.read_losses(path).account)


@pytest.mark.parametrize("name", ["mlflow/mlflow.db", "optuna/optuna.db"])
@pytest.mark.parametrize("byte", [b"\xdb", b"\n", b"\x1b"])
def test_a_damaged_schema_gets_one_sentence(name, byte, tmp_path):
    path = placed(name, tmp_path)
    data = path.read_bytes()
    path.write_bytes(data.replace(b"CREATE TABLE", b"CREATE TABL" + byte))
    with pytest.raises(bk.TableError, match="database is damaged") as error:
        bk.read_losses(path)
    assert str(error.value).isprintable()


def test_foreign_database_is_not_a_table(tmp_path):
    path = tmp_path / "x.db"
    with sqlite3.connect(path) as base:
        base.execute("CREATE TABLE t (a)")
    base.close()
    with pytest.raises(bk.TableError, match="an SQLite data base"):
        bk.read_losses(path)


@pytest.mark.parametrize("name", ["mlflow/mlflow.db", "optuna/optuna.db"])
def test_a_view_that_never_ends_is_stopped(name, tmp_path):
    """A data base is data: nothing of it runs, however its tables are made."""
    path = placed(name, tmp_path)
    table = "params" if "mlflow" in name else "trial_values"
    with sqlite3.connect(path) as base:
        base.execute(f"DROP TABLE {table}")
        base.execute(
            f"CREATE VIEW {table} AS WITH RECURSIVE n(key) AS (SELECT 1 UNION ALL "
            "SELECT key + 1 FROM n) SELECT key, key AS value, key AS run_uuid FROM n"
        )
    base.close()
    with pytest.raises(bk.TableError):
        bk.read_losses(path)


def test_the_page_lists_every_format():
    page = (Path(__file__).parents[3] / "docs" / "use" / "table-of-scores.md").read_text("utf-8")
    for entry in LOSS_FORMATS.values():
        assert (
            f"| {entry.called} | {entry.summary} | {entry.reads} | `--format {entry.name}` |"
            in page
        )
