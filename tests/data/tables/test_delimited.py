import codecs
import gzip

import pytest
from hypothesis import given, strategies as st

from bestofk._base.errors import TableError
from bestofk.data.cells import MISSING_TEXTS
from bestofk.data.tables import read_table


@pytest.fixture
def write(tmp_path):
    def write(content, name="t.csv", encoding="utf-8"):
        file = tmp_path / name
        data = content if isinstance(content, bytes) else content.encode(encoding)
        file.write_bytes(data)
        return file

    return write


def refusal(file, **how):
    with pytest.raises(TableError) as caught:
        read_table(file, **how)
    return str(caught.value)


@pytest.mark.parametrize(
    ("delimiter", "word"), [(",", "comma"), (";", "semicolon"), ("\t", "tab"), ("|", "pipe")]
)
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_every_delimiter_and_line_end_is_found(write, delimiter, word, newline):
    rows = [["name", "x", "y"], ["a b", "1", "2.5"], ["c", "-3e-2", "4"]]
    table = read_table(write(newline.join(delimiter.join(row) for row in rows)))
    assert table.columns == ("name", "x", "y")
    assert table.text("name").tolist() == ["a b", "c"]
    assert table.numbers("x").tolist() == [1.0, -0.03]
    assert table.numbers("y").tolist() == [2.5, 4.0]
    assert table.account == (
        f"t.csv: delimited text, utf-8, delimiter {word} (detected), 2 rows of 3 columns.",
    )


def test_decimal_commas_in_a_table_of_semicolons(write):
    table = read_table(write("name;x;y\na;0,5;1\nb;-1,25e-3;2\nc;1,234;3\n"))
    assert table.numbers("x").tolist() == [0.5, -1.25e-3, 1.234]
    assert table.number_form("x") == "commas were read as decimal marks"
    assert table.number_form("y") == ""


def test_numbers_of_two_forms_are_refused(write):
    table = read_table(write("name;x\na;0,5\nb;0.25\n"))
    with pytest.raises(TableError) as caught:
        table.numbers("x")
    assert str(caught.value) == (
        "t.csv: the numbers of column 'x' must be written in one way; got '0,5' and '0.25'."
    )


def test_quotes_hold_delimiters_newlines_and_quotes(write):
    table = read_table(write('name,x\n"a, ""b""\nc",1\nd,2\n'))
    assert table.text("name").tolist() == ['a, "b"\nc', "d"]
    assert table.location(1) == "t.csv: line 4"


def test_the_line_counts_blank_lines_and_quoted_newlines(write):
    table = read_table(write('\n\nname,x\n\n"p\nq",1\n  \n\nr,oops\n'))
    with pytest.raises(TableError) as caught:
        table.numbers("x")
    assert str(caught.value) == "t.csv: line 9, column 'x' must be a number; got 'oops'."


def test_ragged_rows_are_named_with_their_counts(write):
    assert refusal(write('a,b,c\n1,2,3\n"x\ny",2\n4,5,6\n')) == (
        "t.csv: line 3 has 2 cells, but the header has 3."
    )
    assert refusal(write("a,b,c\n1,2,3\n1,2,3,4\n")) == (
        "t.csv: line 3 has 4 cells, but the header has 3."
    )


def test_duplicate_columns(write):
    assert refusal(write("a,b,a\n1,2,3\n")) == (
        "t.csv: line 1: columns 1 and 3 are both named 'a'."
    )


def test_unclosed_quote(write):
    assert refusal(write('a,b\n1,2\n3,"4\n5,6\n')) == (
        "t.csv: line 3 opens a quote that is never closed."
    )


def test_inch_mark_is_not_an_open_quote(write):
    assert read_table(write('a,b\n5" disk,2\n')).text("a").tolist() == ['5" disk']


def test_header_only_and_empty(write):
    assert (
        refusal(write("a,b,c\n")) == "t.csv: the file contains a header of 3 columns and no rows."
    )
    assert refusal(write(b"")) == "t.csv: the file is empty."
    assert refusal(write(" \n\n")) == "t.csv: the file is empty."
    assert refusal(write('""\n')) == "t.csv: the file is empty."


def test_numbers_in_place_of_a_header(write):
    assert refusal(write("0.1,0.1\n0.3,0.4\n")) == (
        "t.csv: line 1 must name the columns; got numbers (0.1, 0.1)."
    )
    assert read_table(write("1,2\n0.3,0.4\n")).columns == ("1", "2")


def test_columns_without_a_name(write):
    table = read_table(write("x,y,\n1,2,\n3,4,\n"))
    assert table.columns == ("x", "y")
    assert table.account[1] == "The last column has no name and no content and was left out."
    assert read_table(write(",y\n1,2\n")).columns == ("column 1", "y")


def test_gzip(write):
    table = read_table(write(gzip.compress(b"a\tb\n1\t2\n"), "t.tsv.gz"))
    assert table.numbers("b").tolist() == [2.0]
    broken = gzip.compress(b"a\tb\n1\t2\n" * 100)[:-12]
    assert refusal(write(broken, "t.tsv.gz")) == "t.tsv.gz: the gzip data are damaged or cut off."


def test_an_unknown_column_is_offered_its_neighbour(write):
    table = read_table(write("error,b\n1,2\n"))
    with pytest.raises(LookupError, match="did you mean 'error'"):
        table.numbers("eror")


cell = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=12
).filter(lambda text: text.strip())


@given(rows=st.lists(st.tuples(cell, st.floats(allow_nan=False)), min_size=1, max_size=6))
def test_any_text_and_any_float_come_back(tmp_path_factory, rows):
    import csv

    file = tmp_path_factory.mktemp("any") / "t.csv"
    with file.open("w", encoding="utf-8", newline="") as out:
        writer = csv.writer(out, quoting=csv.QUOTE_ALL)
        writer.writerow(["name", "x"])
        writer.writerows((name, repr(x)) for name, x in rows)
    table = read_table(file)
    kept = [None if name.strip() in MISSING_TEXTS else name.strip() for name, _ in rows]
    assert table.text("name").tolist() == kept
    assert table.numbers("x").tolist() == [x for _, x in rows]
    assert table.location(0) == "t.csv: line 2"
    file.unlink()
    assert table.location(0) == "t.csv: row 1"


@pytest.mark.parametrize(
    ("data", "encoding"),
    [
        ("naïve,ß\n1,2\n".encode(), "utf-8"),
        (codecs.BOM_UTF8 + "naïve,ß\n1,2\n".encode(), "utf-8"),
        ("naïve,ß\n1,2\n".encode("utf-16"), "utf-16-le"),
        (codecs.BOM_UTF16_BE + "naïve,ß\n1,2\n".encode("utf-16-be"), "utf-16-be"),
        ("naïve,ß\n1,2\n".encode("latin-1"), "latin-1"),
    ],
)
def test_encodings_are_found(write, data, encoding):
    table = read_table(write(data))
    assert table.columns == ("naïve", "ß")
    assert f"text, {encoding}, delimiter" in table.account[0]


def test_wrong_encodings_and_binary_data(write):
    data = b"name,x\na,1\n" + "ü €,4\n".encode("cp1252")
    assert read_table(write(data)).text("name").tolist() == ["a", "ü €"]
    mixed = "é,2\n".encode() + data
    assert refusal(write(mixed)) == "t.csv: line 4 is not utf-8 text (byte 0xfc)."
    for binary in (bytes(range(256)) * 4, b"a\0b,c\n1,2\n", "a,b\n1,2\n".encode("utf-32")):
        assert refusal(write(binary)) == "t.csv: not a table: the file contains binary data."
