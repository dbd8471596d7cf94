import codecs

import pytest

from bestofk._base.errors import TableError
from bestofk.data.tables.delimited import decode, decompress


def refusal(data, **how):
    with pytest.raises(TableError) as caught:
        decode(data, "t.csv", **how)
    return str(caught.value)


@pytest.mark.parametrize(
    ("data", "encoding"),
    [
        ("naïve,ß\n".encode(), "utf-8"),
        (codecs.BOM_UTF8 + "naïve,ß\n".encode(), "utf-8"),
        ("naïve,ß\n".encode("utf-16"), "utf-16-le"),
        (codecs.BOM_UTF16_BE + "naïve,ß\n".encode("utf-16-be"), "utf-16-be"),
        ("naïve,ß\n".encode("utf-16-le"), "utf-16-le"),
        ("naïve,ß\n".encode("utf-16-be"), "utf-16-be"),
        ("naïve,ß\n".encode("utf-32"), "utf-32-le"),
        ("naïve,ß\n".encode("latin-1"), "latin-1"),
    ],
)
def test_encodings_are_found(data, encoding):
    assert decode(data, "t.csv") == ("naïve,ß\n", encoding)


def test_windows_letters():
    assert decode("naïve €\n".encode("cp1252"), "t.csv") == ("naïve €\n", "cp1252")


def test_two_encodings_in_one_file_name_both_lines():
    data = b"name,x\na,1\n" + "é,2\n".encode() + b"b,3\n" + "ü,4\n".encode("latin-1")
    assert refusal(data) == (
        "t.csv: two encodings in one file: line 3 is utf-8, line 5 is not; save it in one encoding."
    )


def test_wrong_stated_encoding_names_the_line():
    data = b"name,x\na,1\n" + "ü,4\n".encode("latin-1")
    assert refusal(data, encoding="utf-8") == "t.csv: line 3 is not utf-8 text (byte 0xfc)."
    assert refusal(data, encoding="utf-99") == (
        "t.csv: encoding must be the name of a text encoding such as 'utf-8' or 'latin-1'; got "
        "'utf-99'."
    )
    assert decode(data, "t.csv", encoding="latin-1").content.endswith("ü,4\n")


@pytest.mark.parametrize(
    "data", [bytes(range(256)) * 4, b"\x01\x02\x03\x04" * 100, b"a\0b,c\n1,2\n"]
)
def test_binary_data_raise(data):
    assert refusal(data) == (
        "t.csv: not a table: the file contains binary data, not text, Parquet or gzip."
    )


def test_decompress_leaves_plain_bytes_alone():
    assert decompress(b"a,b", "t.csv") == b"a,b"
