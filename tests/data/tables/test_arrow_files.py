"""Reading a few columns gives the same rows, accounts and errors as reading the whole table."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import bestofk as bk
from bestofk._base.errors import BestOfKError
from bestofk.data.tables import arrow_files

HEADER = "model,item,epoch,score,cost,notes\n"
ROWS = [f"m{k},q{i},{e},{(i + k + e) % 2},{0.5 + k},x\n" for k in (1, 0) for i in range(5)
        for e in (1, 2)]  # fmt: skip


@pytest.fixture
def both(tmp_path, monkeypatch):
    """What reading by columns and reading cell by cell give of one file; None: not by columns."""

    def read(content, name="t.csv", **options):
        path = tmp_path / name
        if isinstance(content, pd.DataFrame):
            content.to_parquet(path)
        else:
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        seen = []
        for large in (0, 1 << 40):
            monkeypatch.setattr(arrow_files, "MIN_FILE_BYTES", large)
            try:
                seen.append(bk.read_evals(path, **options))
            except BestOfKError as error:
                seen.append(str(error))
        monkeypatch.setattr(arrow_files, "MIN_FILE_BYTES", 0)
        from bestofk.evals.query import LogQuery
        from bestofk.evals.tables import _columns_to_read

        query = LogQuery(columns=options.get("columns", {}), cluster=options.get("cluster"))
        quick = arrow_files.read_named_columns(path, lambda c: _columns_to_read(c, query=query))
        return *seen, quick

    return read


def same(expected, other):
    assert expected.notes == other.notes
    pd.testing.assert_frame_equal(expected.to_frame(), other.to_frame())
    assert (expected.models, expected.items) == (other.models, other.items)


@pytest.mark.parametrize(
    "content",
    [
        HEADER + "".join(ROWS),
        HEADER.replace(",", ";") + "".join(ROWS).replace(",", ";"),
        HEADER + "".join(ROWS).replace(",1,1.5,", ",NA,,").replace(",0,0.5,", ",null,-3,"),
        HEADER + "".join(ROWS).replace(",1,0.5,", ",True,0.5,").replace(",0,", ",False,"),
        HEADER + "".join(ROWS).replace("m1", '"m, 1"').replace("q2", '"q\n2"'),
        HEADER + "".join(ROWS).replace("m1", "'=m1").replace("q0", " q0 ").replace("m0", "µ0"),
        HEADER + "".join(ROWS).replace("\n", "\r\n"),
        HEADER.replace("notes", "status")
        + "".join(ROWS).replace(",x", ",ok").replace("q3,1,0,0.5,ok", "q3,1,,0.5,timeout"),
    ],
    ids=["plain", "semicolons", "missing", "truth", "quotes", "names", "crlf", "status"],
)
def test_named_columns_equal_read_table(both, content):
    quick, slow, table = both(content)
    assert table is not None
    same(quick, slow)


@pytest.mark.parametrize(
    "content",
    [
        HEADER + "".join(ROWS) + "m1,q1\n",
        HEADER + "".join(ROWS).replace(",1,1.5", ",maybe,1.5"),
        HEADER + "".join(ROWS) + ",q1,1,1,1,x\n",
        HEADER + "".join(ROWS).replace("0.5", "50 %"),
        (HEADER + "".join(ROWS).replace("m1", "µ")).encode("latin-1"),
        HEADER + "".join(ROWS) + 'm1,"q1,1,1,1,x\n',
        HEADER + "".join(ROWS) + "m1,q1,1,1,0.5,x\nm1,q1,1,0,0.5,x\n",
        HEADER + "\n\n" + "".join(ROWS) + "  \n",
        "\n" + HEADER + "".join(ROWS),
        HEADER.replace("notes", "cost") + "".join(ROWS),
    ],
    ids=["ragged", "word", "nameless", "percent", "latin", "open quote", "twice", "blank lines",
         "late header", "columns of one name"],
)  # fmt: skip
def test_unusual_files_are_left_to_read_table(both, content):
    quick, slow, _ = both(content)
    if isinstance(slow, str):
        assert quick == slow
    else:
        same(quick, slow)


def test_parquet(both):
    frame = pd.DataFrame({
        "model": pd.Categorical(["b", "b", "a", "a"], categories=["a", "unused", "b"]),
        "item": [2, 1, 2, 1],
        "score": [True, False, True, True],
        "cost": [0.5, np.nan, 1.0, 2.0],
    })  # fmt: skip
    for column in (frame, frame.astype({"model": str, "item": float, "score": float})):
        quick, slow, table = both(column, "t.parquet")
        assert table is not None
        same(quick, slow)
        assert quick.models == ("b", "a")
        assert quick.items == ("2", "1")


@pytest.mark.parametrize("kind", ["text", "category", "int32", "float64"])
@pytest.mark.parametrize("score", ["int8", "bool", "float64"])
def test_parquet_of_row_groups_equals_read_table(tmp_path, monkeypatch, kind, score):
    """Row groups whose dictionaries differ; an empty score."""
    frame = pd.DataFrame(
        [{"model": f"m{k}", "item": (7 * i) % 11, "score": (i + k) % 2}
         for k in (2, 0, 1) for i in range(11)]
    )  # fmt: skip
    frame["item"] = frame["item"].astype(str if kind == "text" else kind)
    frame["score"] = frame["score"].astype(score)
    if score == "float64":
        frame.loc[5, "score"] = np.nan
    path = tmp_path / "t.parquet"
    frame.to_parquet(path, row_group_size=8)
    slow = bk.read_evals(path)
    monkeypatch.setattr(arrow_files, "MIN_FILE_BYTES", 0)
    same(slow, bk.read_evals(path))
    assert slow.items[:3] == ("0", "7", "3")


def test_pyarrow_is_optional(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(HEADER + "".join(ROWS))
    (tmp_path / "t.parquet").write_bytes(b"PAR1")
    code = f"""
import sys
sys.modules["pyarrow"] = None
import bestofk as bk
from bestofk.data.tables import arrow_files
arrow_files.MIN_FILE_BYTES = 0
print(bk.read_evals({str(path)!r}).models)
try:
    bk.read_scores({str(tmp_path / "t.parquet")!r})
except bk.InputError as error:
    print(error)
"""
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.splitlines() == [
        "('m1', 'm0')",
        "t.parquet: a Parquet file needs a package that is not installed: pip install pyarrow.",
    ]
