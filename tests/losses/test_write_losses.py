import csv
import json

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings, strategies as st

from bestofk._base.errors import ArgumentError, TableError
from bestofk.data.tables.workbooks import as_text_cell
from bestofk.losses import Losses, read_losses
from bestofk.losses.layouts import looks_like_role
from bestofk.splits.design import KINDS, Design

FORMATS = ("csv", "tsv", "parquet", "jsonl", "arff")
HOSTILE = (
    'say "hi"', "it's", "a,b", "a;b|c\td", "two\nlines", "car\rriage", "crlf\r\nend",
    "ünïcödé 模型",
    "<script>alert(1)</script>", "NA", "None", "?", "%x", "@data x", "{0 1}", "\\n",
    "back\\slash\\", "1e-3", "=1+1", "#", "-0.0", "😀", "a\u2028x", "'", '"', "a\x1ex",
    "2020-01-01 00:00:00", "true",
)  # fmt: skip


def again(losses, path, form, layout, **how):
    file = path / f"losses.{form}"
    getattr(losses, f"to_{form}")(file, layout=layout)
    return read_losses(file, **how)


@pytest.fixture
def hostile():
    names = list(HOSTILE)
    values = np.random.default_rng(1).standard_normal((len(names), 3, 2, 4, 1))
    values.flat[:6] = [5e-324, 1.7976931348623157e308, -1e-5, 0.1 + 0.2, 123456789.123456789, 1e22]
    return Losses(values, learners=names, datasets=["x,y", 'z"', "line\nfeed"])


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("layout", ["long", "wide"])
def test_hostile_names_and_hard_numbers_round_trip(tmp_path, hostile, form, layout):
    read = again(hostile, tmp_path, form, layout)
    assert read == hostile
    assert read.values.tobytes() == hostile.values.tobytes()
    assert read.fingerprint == hostile.fingerprint


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("layout", ["long", "wide"])
def test_subset_values_round_trip(tmp_path, form, layout):
    rng = np.random.default_rng(3)
    design = Design(
        kind="cv",
        runs=2,
        folds=3,
        repetitions=1,
        nested_runs=6,
        n_train=(6,) * 6,
        n_test=(3,) * 6,
    )
    losses = Losses(
        rng.random((2, 1, 2, 3, 1)),
        design=design,
        dims=("learner", "dataset", "run", "fold", "repetition"),
        subset_values=rng.random((2, 1, 6, 2, 1)),
    )
    read = again(losses, tmp_path, form, layout)
    assert read == losses
    assert read.subset_values.tobytes() == losses.subset_values.tobytes()
    assert read.fingerprint == losses.fingerprint


def test_a_part_of_the_rows_that_is_unknown_is_refused(tmp_path):
    file = tmp_path / "x.csv"
    file.write_text("algorithm,fold,loss,part_of_rows\na,1,0.5,all\na,2,0.5,thirds\n")
    with pytest.raises(TableError, match="must say 'all' and 'nested'; got 'all', 't"):
        read_losses(file)


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("layout", ["long", "wide"])
@pytest.mark.parametrize("kind", KINDS)
def test_every_design_round_trips(tmp_path, form, layout, kind):
    design = Design(
        kind=kind,
        runs=2,
        folds=3,
        repetitions=2,
        n_train=(10, 11, 12, 13, 14, 15),
        n_test=(6, 5, 4, 3, 2, 1),
        stratified=kind != "loo",
    )
    values = np.random.default_rng(2).random((2, 2, 3, 2))
    losses = Losses(
        values,
        dims=("learner", "run", "fold", "repetition"),
        learners=["nn", "c4.5"],
        datasets=["iris"],
        design=design,
        loss_name="accuracy lost",
    )
    assert again(losses, tmp_path, form, layout) == losses


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("layout", ["long", "wide"])
def test_missing_cells_come_back_when_allowed(tmp_path, form, layout):
    values = np.random.default_rng(2).random((3, 2, 5))
    values[1, 0, 3] = values[2, 1, 4] = np.nan
    values[:, 1, 2] = np.nan
    losses = Losses(values, missing="allow")
    assert again(losses, tmp_path, form, layout, missing="allow") == losses
    with pytest.raises(ValueError, match=r"losses\.\w+: (line|row) \d+, column .* has no number"):
        again(losses, tmp_path, form, layout)


name = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=8
).filter(lambda text: text.strip() == text)
number = st.floats(allow_nan=False, allow_infinity=False)


@settings(max_examples=40, deadline=None)
@given(data=st.data(), form=st.sampled_from(FORMATS), layout=st.sampled_from(["long", "wide"]))
def test_round_trip(tmp_path_factory, data, form, layout):
    learner = name if layout == "long" else name.filter(lambda text: not looks_like_role(text))
    learners = data.draw(st.lists(learner, min_size=1, max_size=3, unique=True))
    sets = data.draw(st.lists(name, min_size=1, max_size=2, unique=True))
    shape = (len(learners), len(sets), *data.draw(st.tuples(*[st.integers(1, 2)] * 3)))
    cells = data.draw(st.lists(number, min_size=int(np.prod(shape)), max_size=int(np.prod(shape))))
    losses = Losses(
        np.reshape(cells, shape),
        learners=learners,
        datasets=sets,
        loss_name=data.draw(name),
    )
    read = again(losses, tmp_path_factory.mktemp("trip"), form, layout)
    assert read == losses
    assert read.values.tobytes() == losses.values.tobytes()


@pytest.mark.parametrize("learner", ["fold", "Data Set", "seed", "split0_test_score", "column 1"])
def test_a_wide_file_cannot_hold_a_learner_named_as_a_role(tmp_path, learner):
    losses = Losses(np.ones((2, 2)), learners=["nn", learner])
    with pytest.raises(ArgumentError) as caught:
        losses.to_csv(tmp_path / "t.csv", layout="wide")
    assert str(caught.value) == (
        f"layout must be 'long': in a wide file the learner {learner!r} would be read as the "
        "role of its column."
    )
    assert not (tmp_path / "t.csv").exists()
    assert again(losses, tmp_path, "csv", "long") == losses


@pytest.mark.parametrize("form", FORMATS)
def test_a_data_set_called_mean_and_a_learner_without_losses_stay(tmp_path, form):
    values = np.array([[0.1, 0.2], [np.nan, np.nan]])
    losses = Losses(values, learners=["auc", "value"], datasets=["x", "mean"], missing="allow")
    assert again(losses, tmp_path, form, "wide", missing="allow") == losses


def test_unknown_layout(tmp_path):
    with pytest.raises(ArgumentError, match="layout must be one of 'long', 'wide'; got 'tall'"):
        Losses([[1.0]]).to_csv(tmp_path / "t.csv", layout="tall")


def test_other_tools_read_the_files(tmp_path, hostile):
    hostile.to_csv(tmp_path / "t.csv")
    with (tmp_path / "t.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["learner"] for row in rows[::24]] == [
        as_text_cell(name) for name in hostile.learners
    ]
    assert [float(row["loss"]) for row in rows] == hostile.values.ravel().tolist()
    hostile.to_jsonl(tmp_path / "t.jsonl")
    lines = (tmp_path / "t.jsonl").read_text(encoding="utf-8").split("\n")[:-1]
    assert [json.loads(line)["loss"] for line in lines] == hostile.values.ravel().tolist()
    hostile.to_parquet(tmp_path / "t.parquet")
    table = pq.read_table(tmp_path / "t.parquet")
    assert table["loss"].to_pylist() == hostile.values.ravel().tolist()
    hostile.to_tsv(tmp_path / "t.tsv", layout="wide")
    frame = pd.read_csv(tmp_path / "t.tsv", sep="\t", dtype=str, keep_default_na=False)
    assert [float(x) for x in frame["it's"]] == hostile.values[1].ravel().tolist()


def test_arff_is_read_by_scipy(tmp_path):
    from scipy.io import arff

    losses = Losses(np.random.default_rng(0).random((2, 3)), learners=["nn", "c4.5"], datasets=None)
    losses.to_arff(tmp_path / "t.arff")
    data, meta = arff.loadarff(tmp_path / "t.arff")
    assert data["loss"].tolist() == losses.values.ravel().tolist()
    assert meta["learner"][1] == ("nn", "c4.5")


def test_the_frame_reads_back(hostile):
    read = read_losses(hostile.to_frame())
    assert read == hostile
