import pytest

from bestofk._base.errors import TableError
from bestofk.data.tables import read_table


@pytest.fixture
def write(tmp_path):
    def write(content, name="t.jsonl"):
        file = tmp_path / name
        file.write_text(content, encoding="utf-8")
        return file

    return write


def refusal(file):
    with pytest.raises(TableError) as caught:
        read_table(file)
    return str(caught.value)


def test_lines_with_gaps_mixtures_and_absent_keys(write):
    table = read_table(write('{"a": 1, "b": "x"}\n\n{"a": null, "c": 2.5}\r\n{"a": "3"}\n'))
    assert table.columns == ("a", "b", "c")
    assert table.text("a").tolist() == ["1", None, "3"]
    assert table.text("b").tolist() == ["x", None, None]
    assert table.numbers("c").tolist()[1] == 2.5
    assert table.location(1, "c") == "t.jsonl: line 3, column 'c'"
    assert table.account == ("t.jsonl: JSON lines, utf-8, 3 rows of 3 columns.",)


def test_array_of_objects(write):
    table = read_table(write('[{"a": 1},\n {"a": 2}]', "t.json"))
    assert table.numbers("a").tolist() == [1.0, 2.0]
    assert table.location(1) == "t.json: row 2"


def test_object_of_columns(write):
    table = read_table(write('{"a": [1, 2],\n "b": ["x", "y"]}', "t.json"))
    assert table.text("b").tolist() == ["x", "y"]
    assert refusal(write('{"a": [1, 2], "b": ["x"]}', "t.json")) == (
        "t.json: columns must have the same length; got 2 cells in 'a' and 1 in 'b'."
    )


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ('{"a": 1}\n\n{"a": }\n', "line 3 is not JSON (Expecting value, column 7)."),
        ('{"a": 1}\n[1, 2]\n', "line 2 must be an object of cells; got '[1, 2]'."),
        (
            '{"a": 1}\n{"a": {"b": 2}}\n',
            "line 2, column 'a' must be a single value; got a nested one.",
        ),
        ('[{"a": 1}, 2]', "row 2 must be an object of cells; got '2'."),
        ("[1, 2]\n[3, 4]\n", "line 1 must be an object of cells; got '[1, 2]'."),
        ("[]", "the file contains no rows."),
        ("hello\n", "line 1 must begin a JSON object or array; got 'hello'."),
        (" \n", "the file is empty."),
    ],
)
def test_broken_json(write, content, sentence):
    assert refusal(write(content)) == f"t.jsonl: {sentence}"


def test_text_that_looks_like_a_date_stays_text(write):
    table = read_table(write('{"a": "2020-01-01 00:00:00"}\n'))
    assert table.text("a").tolist() == ["2020-01-01 00:00:00"]


def test_a_bad_number_names_its_line(write):
    table = read_table(write('\n{"a": 1}\n{"a": "two"}\n'))
    with pytest.raises(TableError) as caught:
        table.numbers("a")
    assert str(caught.value) == "t.jsonl: line 3, column 'a' must be a number; got 'two'."
