import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bestofk._base.errors import ArgumentError, TableError
from bestofk.data.tables import read_table


def refusal(path, **how):
    with pytest.raises(TableError) as caught:
        read_table(path, **how)
    return str(caught.value)


def test_missing_file_suggests_similar_names(tmp_path):
    (tmp_path / "Scores.csv").write_text("a,b\n1,2\n")
    path = tmp_path / "score.csv"
    near = str(tmp_path / "Scores.csv")
    assert refusal(path) == f"There is no file {str(path)!r}: did you mean {near!r}?"
    path = tmp_path / "quite-another.parquet"
    assert refusal(path) == f"There is no file {str(path)!r}."
    path = tmp_path / "nowhere" / "a.csv"
    assert refusal(path) == (
        f"There is no file {str(path)!r} and no directory {str(path.parent)!r}."
    )
    path = tmp_path / "Scores.csv" / "x.csv"
    assert "There is no file" in refusal(path)


def test_a_directory(tmp_path):
    assert refusal(tmp_path) == f"{tmp_path} must be a file; it is a directory."


def test_invalid_file_name():
    assert "cannot be read" in refusal("a\0b")


@pytest.mark.parametrize(
    ("start", "what"),
    [
        (b"PK\x03\x04", "a zip archive: unpack it first"),
        (b"%PDF-1.7", "a PDF"),
        (b"SQLite format 3\0", "an SQLite data base"),
    ],
)
def test_known_binary_formats_raise(tmp_path, start, what):
    path = tmp_path / "t.csv"
    path.write_bytes(start + b"\0\1\2")
    assert refusal(path) == f"t.csv: not a table but {what}."


def test_content_overrides_suffix(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("% said by Weka\n@RELATION r\n@attribute x numeric\n@data\n1\n")
    assert read_table(path).account == ("t.csv: ARFF, utf-8, 1 row of 1 column.",)
    path.write_text('{"x": 1}\n{"x": 2}\n')
    assert read_table(path).numbers("x").tolist() == [1.0, 2.0]
    pq.write_table(pa.table({"x": [1.5]}), path)
    assert read_table(path).account == ("t.csv: Parquet, 1 row of 1 column.",)
    assert read_table(path).location(0, "x") == "t.csv: row 1, column 'x'"


def test_stated_format(tmp_path):
    path = tmp_path / "t.bin"
    path.write_text("a\tb\n1\t2\n")
    assert read_table(path, format="tsv").columns == ("a", "b")
    assert refusal(path, format="parquet") == "t.bin: not a Parquet file, or a damaged one."
    assert "line 1 must be @relation" in refusal(path, format="arff")
    with pytest.raises(ArgumentError, match="format must be one of 'csv'"):
        read_table(path, format="ods")
    assert refusal(path, format="xlsx") == "t.bin: not an Excel workbook, or a damaged one."


def test_parquet(tmp_path):
    path = tmp_path / "t.parquet"
    path.write_text("a,b\n1,2\n")
    assert refusal(path) == "t.parquet: not a Parquet file, or a damaged one."
    table = pa.table(
        {
            "name": pa.array(["b", "a", "b"]).dictionary_encode(),
            "fold": pa.array([1, None, 3], type=pa.int8()),
            "x": [0.1, float("nan"), 2.0],
            "flag": [True, False, None],
        }
    )
    pq.write_table(table, path)
    read = read_table(path)
    assert read.declared == {"name": ("b", "a")}
    assert read.text("name").tolist() == ["b", "a", "b"]
    assert read.text("fold").tolist() == ["1", None, "3"]
    assert read.missing("x").tolist() == [False, True, False]
    assert read.numbers("flag").tolist()[:2] == [1.0, 0.0]
    assert read.levels("fold").names == ("1", "3")
    pq.write_table(pa.table({"x": [[1], [2]]}), path)
    assert refusal(path) == "t.parquet: row 1, column 'x' must be a single value; got a nested one."
    pq.write_table(table.slice(0, 0), path)
    assert refusal(path) == "t.parquet: the file holds 4 columns and no rows."


def test_parquet_text_that_is_no_number(tmp_path):
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"x": ["1", "two"]}), path)
    with pytest.raises(TableError) as caught:
        read_table(path).numbers("x")
    assert str(caught.value) == "t.parquet: row 2, column 'x' must be a number; got 'two'."


@pytest.mark.parametrize("coded", [False, True])
def test_parquet_with_invalid_text(tmp_path, coded):
    import pyarrow as pa
    import pyarrow.parquet as pq

    offsets = pa.py_buffer(b"\0\0\0\0\2\0\0\0\4\0\0\0")
    broken = pa.Array.from_buffers(pa.string(), 2, [None, offsets, pa.py_buffer(b"\xff\xfeok")])
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"a": broken.dictionary_encode() if coded else broken}), path)
    assert refusal(path) == "t.parquet: not a Parquet file, or a damaged one."
    pq.write_table(pa.table({"a": pa.array([b"\xff"], type=pa.binary())}), path)
    assert refusal(path) == "t.parquet: column 'a' holds text that is not UTF-8."
