"""Reading data sets from files, clean and messy."""

import gzip
import json
import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from bestofk._base.errors import ArgumentError, BestOfKError, TableError, UnknownNameError
from bestofk.data import read_dataset

SHARED = os.environ.get("BESTOFK_DATA")


def written(folder: Path, text: str | bytes, name: str = "data.csv") -> Path:
    file = folder / name
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return file


def test_a_clean_file(tmp_path: Path) -> None:
    text = "size,colour,class\n1,red,yes\n2.5,blue,no\n,red,no\n"
    data = read_dataset(written(tmp_path, text, "things.csv"))
    assert data.name == "things"
    assert data.kinds == {"size": "numeric", "colour": "nominal"}
    assert data.classes.tolist() == ["yes", "no"]
    np.testing.assert_array_equal(data.X["size"], [1, 2.5, np.nan])
    assert data.X["colour"].tolist() == ["red", "blue", "red"]
    assert "The target is the column 'class', by its name." in data.account
    assert "Missing cells: 1." in data.account


@pytest.mark.parametrize(
    "text",
    [
        "\ufeffsize;colour;class\n1,0;red;yes\n2,5;blue;no\n?;red;no\n",
        "size\tcolour\tclass\n\n1.0\t'red'\tyes\n2.5\tblue\tno\n\nNA\tred\tno\n\n",
        '"size","colour","class"\r\n"1.0","red","yes"\r\n"2.5","blue","no"\r\n"N/A","red","no"\r\n',
        '{"size": 1.0, "colour": "red", "class": "yes"}\n'
        '{"size": 2.5, "colour": "blue", "class": "no"}\n'
        '{"size": null, "colour": "red", "class": "no"}\n',
        "@relation r\n@attribute size numeric\n@attribute colour {red,blue}\n"
        "@attribute class {yes,no}\n@data\n1,red,yes\n2.5,blue,no\n?,red,no\n",
    ],
    ids=["bom-semicolon-comma", "tabs-empty-lines", "quotes-crlf", "jsonl", "arff"],
)
def test_messy_files_load_right(tmp_path: Path, text: str) -> None:
    data = read_dataset(written(tmp_path, text.replace("'", "")))
    assert data.kinds == {"size": "numeric", "colour": "nominal"}
    np.testing.assert_array_equal(data.X["size"], [1, 2.5, np.nan])
    assert data.X["colour"].cat.categories.tolist() == ["red", "blue"]
    assert data.classes.tolist() == ["yes", "no"]


def test_parquet_and_gzip(tmp_path: Path) -> None:
    source = pd.DataFrame({"a": [1.5, None, 3.0], "b": ["x", "y", None], "class": [2, 1, 2]})
    source.to_parquet(tmp_path / "p.parquet")
    data = read_dataset(tmp_path / "p.parquet")
    assert data.kinds == {"a": "numeric", "b": "nominal"}
    assert data.classes.tolist() == ["2", "1"]
    (tmp_path / "z.csv.gz").write_bytes(gzip.compress(source.to_csv(index=False).encode()))
    zipped = read_dataset(tmp_path / "z.csv.gz")
    assert zipped.name == "z"
    assert zipped.fingerprint == data.fingerprint


def test_declared_values_of_arff_count_even_where_unused(tmp_path: Path) -> None:
    text = (
        "@relation r\n@attribute a {z,y,x}\n@attribute n {1,2,3}\n@attribute class {c,b,a}\n"
        "@data\nx,1,a\ny,3,b\n"
    )
    data = read_dataset(written(tmp_path, text, "r.arff"))
    assert data.X["a"].cat.categories.tolist() == ["z", "y", "x"]
    assert data.kinds == {"a": "nominal", "n": "nominal"}
    assert data.classes.tolist() == ["c", "b", "a"]
    np.testing.assert_array_equal(data.encoded().cardinality, [3, 3])


def test_the_class_is_a_label_even_where_it_looks_like_a_number(tmp_path: Path) -> None:
    data = read_dataset(written(tmp_path, "a,class\n1,2\n2,1\n3,2\n"))
    assert data.classes.tolist() == ["2", "1"]
    number = read_dataset(written(tmp_path, "a,class\n1,2\n2,1\n3,2\n"), task="regression")
    np.testing.assert_array_equal(number.y, [2.0, 1.0, 2.0])


def test_which_column_is_the_target(tmp_path: Path) -> None:
    file = written(tmp_path, "Label,a,b\nx,1,p\ny,2,q\n")
    assert read_dataset(file).y.name == "Label"
    assert read_dataset(file, target="b").y.name == "b"
    last = read_dataset(written(tmp_path, "a,b\n1,p\n2,q\n", "other.csv"))
    assert last.y.name == "b"
    assert "The target is the last column, 'b'." in last.account
    with pytest.raises(UnknownNameError, match="did you mean 'Label'"):
        read_dataset(file, target="Labels")


def test_identifiers_are_left_out_and_constants_kept(tmp_path: Path) -> None:
    lines = ["id,who,same,x,class"]
    lines += [f"{100 + i},person {i},7,{i % 3},{'ab'[i % 2]}" for i in range(12)]
    file = written(tmp_path, "\n".join(lines))
    data = read_dataset(file)
    assert list(data.X.columns) == ["same", "x"]
    account = data.explain()
    assert "every row has a different value: 'id', 'who'" in account
    assert "Kept, with the same value in every row: 'same'." in account
    stated = read_dataset(file, nominal=["who"], numeric=["id"])
    assert stated.kinds == {"id": "numeric", "who": "nominal", "same": "numeric", "x": "numeric"}
    assert list(read_dataset(file, ignore=["same"]).X.columns) == ["x"]


def test_stated_kinds(tmp_path: Path) -> None:
    file = written(tmp_path, "a,b,class\n1,x,p\n2,y,q\n1,x,p\n")
    assert read_dataset(file, nominal=["a"]).kinds == {"a": "nominal", "b": "nominal"}
    with pytest.raises(TableError, match="line 2, column 'b' must be a number; got 'x'"):
        read_dataset(file, numeric=["b"])
    with pytest.raises(UnknownNameError):
        read_dataset(file, ignore=["c"])
    with pytest.raises(ArgumentError, match="nominal must be a list"):
        read_dataset(file, nominal="a")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("a,class\n1,x\n2,x\n", "must hold at least two classes; every row is 'x'"),
        ("a,class\n1,x\n2,\n3,y\n", "line 3, column 'class' must hold the target"),
        ("a,a,class\n1,2,x\n2,3,y\n", "'a'"),
        ("class\nx\ny\n", "a column to learn from besides the target 'class'; got none"),
        ("a,class\n", "rows"),
        ("", "the file is empty"),
        ("a,class\n1,x\n2,y,9\n", "line 3"),
        ("a,class\n1,x\ninf,y\n", "must be finite"),
    ],
)
def test_unreadable_files_raise_one_sentence(tmp_path: Path, text: str, sentence: str) -> None:
    with pytest.raises(BestOfKError) as caught:
        read_dataset(written(tmp_path, text))
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.skipif(SHARED is None, reason="BESTOFK_DATA is not set: no folder of data sets")
@pytest.mark.parametrize("folder", ["uci", "keel"])
def test_every_file_of_the_papers_loads_without_options(folder: str) -> None:
    root = Path(str(SHARED), folder)
    manifest = json.loads((root / "MANIFEST.json").read_text())["datasets"]
    assert len(manifest) == {"uci": 30, "keel": 64}[folder]
    for entry in manifest:
        data = read_dataset(root / entry["file"])
        assert data.name == entry["name"]
        assert data.n == entry["rows"], data.name
        for kind in ("numeric", "nominal"):
            shapes = [column for column, k in data.kinds.items() if k == kind]
            assert shapes == entry[f"{kind}_columns"], data.name
        assert data.n_missing == entry.get("missing_cells", 0), data.name
        assert {str(c): int(m) for c, m in data.y.value_counts().items()} == entry["classes"]


@pytest.mark.parametrize("step", [1, 2])
def test_one_word_among_numbers_is_named(tmp_path, step):
    path = tmp_path / "slip.csv"
    cells = ["foo" if row == 7 else str(row // step / 2) for row in range(40)]
    lines = [f"{cell},{row % 3},{'ab'[row % 2]}" for row, cell in enumerate(cells)]
    path.write_text("\n".join(["a,b,class", *lines]))
    data = read_dataset(path, target="class")
    # where every row has another value the column is even left out
    assert ("a" in data.kinds) == (step == 2)
    notes = [line for line in data.account if "would be numeric" in line]
    # row 7 stands in line 9, after the header and rows 0 to 6
    location = "slip.csv: line 9, column 'a' holds 'foo'."
    assert notes == [f"'a' would be numeric without 1 of its 40 cells: {location}"]


def test_words_and_codes_are_not_called_numbers(tmp_path):
    path = tmp_path / "codes.csv"
    lines = [f"{'12xy'[row % 4]},{row % 3},{'ab'[row % 2]}" for row in range(40)]
    path.write_text("\n".join(["a,b,class", *lines]))
    assert "would be numeric" not in read_dataset(path, target="class").explain()
