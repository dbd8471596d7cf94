import pytest
from hypothesis import given, settings, strategies as st

from bestofk._base.errors import TableError
from bestofk.data.tables import read_table
from bestofk.data.tables.arff import quote, read_arff

HEAD = """% a comment
@RELATION 'some thing'

@attribute 'the name' {low, 'very high', "it's"}
@ATTRIBUTE size NUMERIC
@attribute note string
@attribute day date "yyyy-MM-dd"
@data
"""


def refusal(content):
    with pytest.raises(TableError) as caught:
        read_arff(content, "t.arff", encoding="utf-8")
    return str(caught.value)


def test_dense_rows_with_quotes_comments_and_missing_cells():
    table = read_arff(
        HEAD + "% no row\nlow,1.5,'a, b\\n%',2020-01-02\n\n'very high' , ?, \"q\\\"\", ?\r\n"
        "'it\\'s',-3,?,2020-01-03\n",
        "t.arff",
        encoding="utf-8",
    )
    assert table.columns == ("the name", "size", "note", "day")
    assert table.declared == {"the name": ("low", "very high", "it's")}
    assert table.text("the name").tolist() == ["low", "very high", "it's"]
    assert table.missing("size").tolist() == [False, True, False]
    assert table.raw("note").to_pylist() == ["a, b\n%", 'q"', None]
    assert table.text("day").tolist() == ["2020-01-02", None, "2020-01-03"]
    assert table.location(2, "size") == "t.arff: line 13, column 'size'"


def test_fast_and_slow_parsers_agree():
    rows = "low,1.5,abc,2020\n% c\n'very high',?,'?',?\n'it\\'s',2,a b,?\n"
    fast = read_arff(HEAD + rows, "t.arff", encoding="utf-8")
    slow = read_arff(HEAD + rows + 'low,1,"x",?\n', "t.arff", encoding="utf-8")
    for column in fast.columns:
        assert fast.raw(column).to_pylist() == slow.raw(column).to_pylist()[:3]


def test_sparse_rows_default_to_zero_or_first_value():
    head = "@relation r\n@attribute a numeric\n@attribute b {x, y}\n@attribute c numeric\n@data\n"
    table = read_arff(head + "{0 5, 1 y}\n{ }\n{2 ?}\n{1 'y', 2 7.5}\n", "t.arff", encoding="utf-8")
    assert table.numbers("a").tolist() == [5.0, 0.0, 0.0, 0.0]
    assert table.text("b").tolist() == ["y", "x", "x", "y"]
    assert table.missing("c").tolist() == [False, False, True, False]
    assert refusal(head + "{0 1}\n{3 1}\n") == (
        "t.arff: line 7 must hold pairs of an index below 3 and a value, in ascending order; got "
        "'3 1'."
    )
    assert refusal(head + "{0 1\n") == "t.arff: line 6 opens a brace but does not close it."


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (HEAD, "the file declares 4 attributes and holds no rows."),
        (HEAD + "low,1,x\n", "line 9 has 3 cells, but 4 attributes are declared."),
        (HEAD + "low,one,x,?\n", "line 9, column 'size' must be a number; got 'one'."),
        (
            HEAD + "low,1,x,?\nmiddle,1,x,?\n",
            "line 10, column 'the name' must be one of the declared values; got 'middle'.",
        ),
        (HEAD + "low,1,'x,?\n", 'line 9 cannot be split into cells; got "low,1,\'x,?".'),
        ("@relation r\n@attribute a numeric\n", "the file has no @data line."),
        ("@relation r\n@data\n1\n", "line 2: @data comes before any @attribute."),
        (
            "@relation r\n@attribute a number\n@data\n1\n",
            "line 2: the type of attribute 'a' must be numeric, real, integer, string, date or "
            "values in braces; got 'number'.",
        ),
        (
            "@relation r\n@attribute a {x, y\n@data\nx\n",
            "line 2: the values of attribute 'a' must be in braces, separated by commas; got "
            "'{x, y'.",
        ),
        (
            "@relation r\n@attribute a real\n@attribute 'a' real\n@data\n1,2\n",
            "lines 2 and 3 both declare the attribute 'a'.",
        ),
        (
            "@relation r\nx,y\n",
            "line 2 must be @relation, @attribute, @data or a comment; got 'x,y'.",
        ),
    ],
)
def test_broken_arff(content, sentence):
    assert refusal(content) == f"t.arff: {sentence}"


@settings(max_examples=50, deadline=None)
@given(
    st.lists(
        st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=10).filter(
            lambda text: text.strip() == text
        ),
        min_size=1,
        max_size=4,
    )
)
def test_quoted_text_round_trips(texts):
    rows = "".join(f"{quote(word)},{i}\n" for i, word in enumerate(texts))
    content = f"@relation r\n@attribute {quote(texts[0])} string\n@attribute '' real\n@data\n{rows}"
    table = read_arff(content, "t.arff", encoding="utf-8")
    assert table.columns == (texts[0], "")
    assert table.raw(texts[0]).to_pylist() == texts


def test_byte_order_mark(tmp_path):
    path = tmp_path / "t.arff"
    path.write_text("\ufeff@relation r\n@attribute x real\n@data\n1\n", encoding="utf-16")
    assert read_table(path).numbers("x").tolist() == [1.0]
