"""Formats other than delimited text, and sources that are no files."""

import gzip
import os
import sqlite3

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bestofk._base.errors import ArgumentError, TableError
from bestofk.data.tables import read_table


def refusal(path, **how):
    with pytest.raises(TableError) as caught:
        read_table(path, **how)
    return str(caught.value)


@pytest.fixture
def write(tmp_path):
    def write(content, name):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


# Files


def test_missing_file_suggests_similar_names(write, tmp_path):
    near = str(write("a,b\n1,2\n", "Scores.csv"))
    path = tmp_path / "score.csv"
    assert refusal(path) == f"There is no file {str(path)!r}: did you mean {near!r}?"
    path = tmp_path / "nowhere" / "a.csv"
    assert refusal(path) == (
        f"There is no file {str(path)!r} and no directory {str(path.parent)!r}."
    )
    assert "There is no file" in refusal(tmp_path / "Scores.csv" / "x.csv")
    assert "cannot be read" in refusal("a\0b")


@pytest.mark.needs("posix", "devices and pipes")
def test_only_regular_files_are_read(tmp_path):
    pipe = tmp_path / "pipe.csv"
    os.mkfifo(pipe)
    for path in ("/dev/zero", "/dev/urandom", pipe):
        assert refusal(path) == f"{path} must be a regular file, not a device or a pipe."


@pytest.mark.needs("linux", "/proc")
def test_files_without_a_size_are_empty():
    assert refusal("/proc/self/status") == "status: the file is empty."


def test_content_overrides_suffix(write):
    path = write("% said by Weka\n@RELATION r\n@attribute x numeric\n@data\n1\n", "t.csv")
    assert read_table(path).account == ("t.csv: ARFF, utf-8, 1 row of 1 column.",)
    path = write('{"x": 1}\n{"x": 2}\n', "t.csv")
    assert read_table(path).numbers("x").tolist() == [1.0, 2.0]
    pq.write_table(pa.table({"x": [1.5]}), path)
    assert read_table(path).account == ("t.csv: Parquet, 1 row of 1 column.",)
    assert read_table(path).location(0, "x") == "t.csv: row 1, column 'x'"


def test_stated_format(write):
    path = write("a\tb\n1\t2\n", "t.bin")
    assert read_table(path, format="tsv").columns == ("a", "b")
    assert refusal(path, format="parquet") == "t.bin: not a Parquet file, or a damaged one."
    assert "0 attributes" in refusal(path, format="arff")
    assert refusal(path, format="xlsx") == "t.bin: not an Excel workbook, or a damaged one."
    with pytest.raises(ArgumentError, match="format must be one of 'csv'"):
        read_table(path, format="ods")


# JSON


def test_json_lines_with_gaps_mixtures_and_absent_keys(write):
    lines = '{"a": 1, "b": "x"}\n\n{"a": null, "c": 2.5}\r\n{"a": "3"}\n'
    table = read_table(write(lines, "t.jsonl"))
    assert table.columns == ("a", "b", "c")
    assert table.text("a").tolist() == ["1", None, "3"]
    assert table.text("b").tolist() == ["x", None, None]
    assert table.numbers("c").tolist()[1] == 2.5
    assert table.location(1, "c") == "t.jsonl: line 3, column 'c'"
    assert table.account == ("t.jsonl: JSON lines, utf-8, 3 rows of 3 columns.",)


def test_json_arrays_and_objects_of_columns(write):
    table = read_table(write('[{"a": 1},\n {"a": 2}]', "t.json"))
    assert table.numbers("a").tolist() == [1.0, 2.0]
    assert table.location(1) == "t.json: row 2"
    table = read_table(write('{"a": [1, 2],\n "b": ["x", "y"]}', "t.json"))
    assert table.text("b").tolist() == ["x", "y"]


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ('{"a": 1}\n\n{"a": }\n', "line 3 is not JSON (Expecting value, column 7)."),
        ('{"a": 1}\n[1, 2]\n', "line 2 must be an object of cells; got '[1, 2]'."),
        ('[{"a": 1}, 2]', "row 2 must be an object of cells; got '2'."),
        ("[]", "there are no rows."),
        ("hello\n", "line 1 is not JSON (Expecting value, column 1)."),
        ('{"a": "\\ud800"}\n', "a text contains half of a surrogate pair."),
        (
            '{"a": [1, 2], "b": ["x"]}',
            "columns must have the same length; got 2 rows in 'a' and 1 in 'b'.",
        ),
        (" \n", "the file is empty."),
    ],
)
def test_broken_json(write, content, sentence):
    assert refusal(write(content, "t.jsonl")) == f"t.jsonl: {sentence}"


# ARFF

HEAD = """% a comment
@RELATION 'some thing'

@attribute 'the name' {low, 'very high', 'it\\'s'}
@ATTRIBUTE size NUMERIC
@attribute note string
@attribute day date 'yyyy-MM-dd'
@data
"""


def test_arff_with_quotes_comments_and_missing_cells(write):
    rows = "% no row\nlow,1.5,'a, b\\n%',2020-01-02\n\n'very high' , ?, 'q\\\"', ?\r\n"
    table = read_table(write(HEAD + rows + "'it\\'s',-3,?,2020-01-03\n", "t.arff"))
    assert table.columns == ("the name", "size", "note", "day")
    assert table.declared == {"the name": ("low", "very high", "it's")}
    assert table.text("the name").tolist() == ["low", "very high", "it's"]
    assert table.missing("size").tolist() == [False, True, False]
    assert table.text("note").tolist() == ["a, b\n%", 'q"', None]
    assert table.text("day").tolist() == ["2020-01-02", None, "2020-01-03"]
    assert table.location(2, "size") == "t.arff: line 13, column 'size'"


def test_declared_values_are_never_missing(write):
    content = '@relation r\n@attribute a {None, "x y"}\n@attribute b real\n@data\nNone,1\n?,2\n'
    table = read_table(write(content, "t.arff"))
    assert table.text("a").tolist() == ["None", None]
    assert table.declared == {"a": ("None", "x y")}


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (HEAD, "the file has 4 attributes and 0 rows after @data."),
        (HEAD + "low,1,x\n", "line 9 has 3 cells, but the header has 4."),
        (HEAD + "low,one,x,?\n", "line 9, column 'size' must be a number; got 'one'."),
        (
            HEAD + "low,1,x,?\nmiddle,1,x,?\n",
            "line 10, column 'the name' must be one of the declared values; got 'middle'.",
        ),
        (
            "@relation r\n@attribute a number\n@data\n1\n",
            "line 2: the type of 'a' must be numeric, real, integer, string, date or values in "
            "braces; got 'number'.",
        ),
        (
            "@relation r\n@attribute a {x, y\n@data\nx\n",
            "line 2 must declare an attribute; got '@attribute a {x, y'.",
        ),
        (
            "@relation r\n@attribute a real\n@attribute 'a' real\n@data\n1,2\n",
            "line 3 declares the attribute 'a' again.",
        ),
        (
            "@relation r\n@attribute a real\n@data\n{0 1}\n",
            "rows in braces (sparse ARFF) are not read: save it as CSV.",
        ),
        (  # as many cells in all as two full rows
            "@relation r\n@attribute a real\n@attribute b real\n@data\n1,2,3\n4\n",
            "line 5 has 3 cells, but the header has 2.",
        ),
    ],
)
def test_broken_arff(write, content, sentence):
    assert refusal(write(content, "t.arff")) == f"t.arff: {sentence}"


# Excel


def test_sheets_are_named_after_a_hash(tmp_path):
    path = tmp_path / "two.xlsx"
    with pd.ExcelWriter(path) as book:
        pd.DataFrame({"a": [1, None], "b": ["x", "y"]}).to_excel(book, sheet_name="S1", index=False)
        pd.DataFrame({"c": [2]}).to_excel(book, sheet_name="S 2", index=False)
    assert refusal(path) == (
        "two.xlsx: the workbook contains 2 sheets ('S1', 'S 2'): name one as in 'two.xlsx#S1'."
    )
    table = read_table(f"{path}#S1")
    assert table.text("a").tolist() == ["1", None]
    assert table.location(1, "a") == "two.xlsx: line 3, column 'a'"
    assert table.account == ("two.xlsx: Excel workbook, sheet 'S1', 2 rows of 2 columns.",)
    assert read_table(f"{path}#S 2").numbers("c").tolist() == [2.0]
    assert refusal(f"{path}#S3") == "two.xlsx: there is no sheet 'S3'; got 'S1', 'S 2'."


# Parquet


def test_parquet(tmp_path):
    path = tmp_path / "t.parquet"
    path.write_text("a,b\n1,2\n")
    assert refusal(path) == "t.parquet: not a Parquet file, or a damaged one."
    table = pa.table(
        {
            "name": pa.array(["b", "a", "b"]).dictionary_encode(),
            "text": ["q", " p", "NA"],
            "fold": pa.array([1, None, 3], type=pa.int8()),
            "x": [0.1, float("nan"), 2.0],
            "list": [[1], [2, 3], []],
        }
    )
    pq.write_table(table, path)
    read = read_table(path)
    assert read.declared == {"name": ("b", "a")}
    assert read.text("name").tolist() == ["b", "a", "b"]
    assert read.text("text").tolist() == ["q", "p", None]
    assert read.text("fold").tolist() == ["1", None, "3"]
    assert read.missing("x").tolist() == [False, True, False]
    assert not read.is_numeric("list")
    pq.write_table(table.slice(0, 0), path)
    assert refusal(path) == "t.parquet: the file holds 5 columns and no rows."


@pytest.mark.parametrize("coded", [False, True])
def test_parquet_with_invalid_text(tmp_path, coded):
    offsets = pa.py_buffer(b"\0\0\0\0\2\0\0\0\4\0\0\0")
    broken = pa.Array.from_buffers(pa.string(), 2, [None, offsets, pa.py_buffer(b"\xff\xfeok")])
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"a": broken.dictionary_encode() if coded else broken}), path)
    assert refusal(path) == "t.parquet: not a Parquet file, or a damaged one."


# Folders, databases, objects


def test_a_folder_of_files_with_the_same_columns(write, tmp_path):
    write("a,b\n3,x\n", "b.csv")
    write(gzip.compress(b"b,a\ny,4\n"), "c.csv.gz")
    write("a,b\n1,x\n2,y\n", "a.csv")
    write("notes", "readme.txt")
    assert refusal(tmp_path) == (
        f"{tmp_path}: all files must have the columns of a.csv; c.csv.gz has others."
    )
    write(gzip.compress(b"a,b\n4,y\n"), "c.csv.gz")
    table = read_table(tmp_path)
    assert table.numbers("a").tolist() == [1.0, 2.0, 3.0, 4.0]
    assert table.location(2, "a") == f"{tmp_path.name}: b.csv: line 2, column 'a'"
    assert table.account == (f"{tmp_path.name}: 3 CSV files, 4 rows of 2 columns.",)
    (tmp_path / "empty").mkdir()
    assert "must be a file, or a folder of CSV files" in refusal(tmp_path / "empty")


def test_a_database(tmp_path):
    path = tmp_path / "f.db"
    with sqlite3.connect(path) as database:
        database.execute("create table scores (learner text, error real)")
        database.executemany("insert into scores values (?, ?)", [("a", 0.5), ("b", None)])
    database.close()
    table = read_table(f"sqlite:///{path}#scores")
    assert table.text("learner").tolist() == ["a", "b"]
    assert table.numbers("error").tolist()[0] == 0.5
    query = "select learner, error * 2 as twice from scores where error > 0"
    assert read_table(f"sqlite:///{path}#{query}").numbers("twice").tolist() == [1.0]
    assert "no such table: other" in refusal(f"sqlite:///{path}#other")
    assert "readonly" in refusal(f"sqlite:///{path}#with x as (select 1) delete from scores")
    assert "must name a table" in refusal(f"sqlite:///{path}")
    assert "There is no file" in refusal(f"sqlite:///{tmp_path}/none.db#scores")
    assert not (tmp_path / "none.db").exists()
    assert "must not name a plugin" in refusal(f"sqlite:///{path}?plugin=x#scores")
    assert "cannot be read" in refusal("nosuch://host/base#scores")


def test_objects():
    assert read_table([{"a": 1}, {"a": 2, "b": "x"}]).text("b").tolist() == [None, "x"]
    table = read_table(pd.DataFrame({"a": [1.5]}))
    assert read_table(table) is table
    with pytest.raises(ArgumentError, match="table must be a path"):
        read_table(5)
