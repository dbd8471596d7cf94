"""Files as people have them: the values are right, or one sentence says what to do.

Every file holds the same 300 rows: the numbers VALUE (0 to 100, two decimals), written in some way,
another number, and the target, which is yes if VALUE is above 50.
"""

import datetime
import gzip
import json
import re

import numpy as np
import pandas as pd
import pytest

import bestofk as bk
from bestofk.data import read_data

N = 300
VALUE = np.round(np.random.default_rng(0).uniform(0, 100, N), 2)
OTHER = np.round(np.random.default_rng(1).normal(size=N), 3)
TARGET = np.where(VALUE > 50, "yes", "no")
FRAME = pd.DataFrame({"value": VALUE, "other": OTHER, "y": TARGET})
WHOLE = np.round(VALUE * 1000).astype(int)
DAYS = [datetime.date(2023, 1, 1) + datetime.timedelta(days=int(v * 7)) for v in VALUE]
SINCE_1970 = np.array([(day - datetime.date(1970, 1, 1)).days for day in DAYS], dtype=float)


def text(cells, *, sep=",", header="value,other,y", other=OTHER, target=TARGET):
    """Return a delimited text, with quotes around cells that need them."""
    rows = [header.replace(",", sep)]
    for row in zip(cells, other, target, strict=True):
        quoted = (f'"{cell}"' if re.search(f'[{sep}"\n]', str(cell)) else str(cell) for cell in row)
        rows.append(sep.join(quoted))
    return "\n".join(rows) + "\n"


def every(cells, step, word):
    """Replace every cell number `step` by a word."""
    return [word if row % step == 0 else cell for row, cell in enumerate(cells)]


def missing(values, step):
    return np.where(np.arange(N) % step == 0, np.nan, values)


def german(number):
    return f"{number:,.2f}".translate(str.maketrans(",.", ".,"))


COMMA = [str(v).replace(".", ",") for v in OTHER]
VALUES = {
    # name: (content, values of the column that decides)
    "plain.csv": (text(VALUE), VALUE),
    "words.csv": (text(every(VALUE, 30, "unknown")), missing(VALUE, 30)),
    "dashes.csv": (text(every(VALUE, 25, "-")), missing(VALUE, 25)),
    "marks.csv": (text(every(every(VALUE, 20, "?"), 30, "n/a")),
                  np.where(np.arange(N) % 30 == 0, np.nan, missing(VALUE, 20))),
    "thousands.csv": (text([f"{v:,}" for v in WHOLE]), WHOLE),
    "spaces in numbers.csv": (text([f"{v:,}".replace(",", " ") for v in WHOLE]), WHOLE),
    "dollars.csv": (text([f"${v:,.2f}" for v in VALUE * 100]), VALUE * 100),
    "euros.csv": (text([f"{str(v).replace('.', ',')} €" for v in VALUE], sep=";"), VALUE),
    "percent.csv": (text([f"{v}%" for v in VALUE]), VALUE / 100),
    "german.csv": (text([german(v) for v in VALUE * 100], sep=";", other=COMMA), VALUE * 100),
    "commas.tsv": (text([str(v).replace(".", ",") for v in VALUE], sep="\t", other=COMMA), VALUE),
    "pipes.txt": (text(VALUE, sep="|"), VALUE),
    "science.csv": (text([f"{v:.6e}" for v in VALUE]), VALUE),
    "spaces.csv": (text([f"  {v} " for v in VALUE], header=" value , other , y "), VALUE),
    "decimal id.csv": (text(VALUE, header="customer_id,other,y"), VALUE),
    "zip codes.csv": (text([f"{v:05}" for v in WHOLE]), WHOLE),
    "blank lines.csv": (text(VALUE).replace("\n", "\n\n"), VALUE),
    "texts with line breaks.csv":
        (text(VALUE, other=[f"line {row}\nmore, and more" for row in range(N)]), VALUE),
    "points in dates.csv": (text([f"{d:%d.%m.%Y}" for d in DAYS]), SINCE_1970),
    "American dates.csv": (text([f"{d:%m/%d/%Y}" for d in DAYS]), SINCE_1970),
    "ISO dates.csv": (text(DAYS), SINCE_1970),
    "byte order mark.csv": (text(VALUE).encode("utf-8-sig"), VALUE),
    "UTF-16.csv": (text(VALUE).encode("utf-16"), VALUE),
    "Latin-1.csv":
        (text(VALUE, target=np.where(VALUE > 50, "grün", "weiß")).encode("latin-1"), VALUE),
    "packed.csv.gz": (gzip.compress(text(VALUE).encode()), VALUE),
    "index.csv": (FRAME.to_csv(), VALUE),
    "identifiers.csv": (FRAME.assign(key_id=[f"u{row}" for row in range(N)]).iloc[:, [3, 0, 1, 2]]
                        .to_csv(index=False), VALUE),
    "lines.jsonl": (FRAME.to_json(orient="records", lines=True), VALUE),
    "array.json": (FRAME.to_json(orient="records"), VALUE),
    "columns.json": (json.dumps(FRAME.to_dict(orient="list")), VALUE),
    "true and false.csv": (text(np.where(VALUE > 50, "TRUE", "FALSE")), VALUE > 50),
}  # fmt: skip
REFUSED = {
    # name: (content, what the sentence says)
    "long row.csv": (text(VALUE).replace("\n", ",5\n", 9).replace(",5\n", "\n", 8), "line 9 has 4"),
    "short row.csv": (text(VALUE).rsplit(",", 1)[0], "line 301 has 2 cells, but the header has 3"),
    "title.csv": ("Sales 2024\n" + text(VALUE), "line 2 has 3 cells, but the header has 1"),
    "two columns of a name.csv": (text(VALUE, header="value,value,y"), "both named 'value'"),
    "gap in the target.csv": (text(VALUE, target=every(TARGET, 299, "")), "line 2, column 'y'"),
    "one class.csv": (text(VALUE, target=["a"] * N), "at least two classes"),
    "infinite.csv": (text(every(VALUE, 299, "inf")), "must hold finite numbers"),
    "unclear dates.csv": (text([f"{d.month}/{min(d.day, 12)}/{d.year}" for d in DAYS]),
                          "columns={'value': 'ignore'}"),
    "objects.json": (json.dumps([{"value": {"a": v}, "y": c} for v, c in
                                 zip(VALUE.tolist(), TARGET.tolist(), strict=True)]), "value"),
    "empty.csv": ("", "the file is empty"),
    "header.csv": ("value,other,y\n", "a header of 3 columns and no rows"),
    "photo.csv": (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "photo.csv"),
    "data.db": (b"SQLite format 3\0" + bytes(84), "sqlite:///"),
}  # fmt: skip
UNITS = ([f"{v} kg" for v in VALUE], every([f"{v}%" for v in VALUE], 2, "0.5"),
         [f"({v})" if v > 50 else v for v in VALUE])  # fmt: skip


def write(folder, name, content):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize("name", VALUES)
def test_right_values(tmp_path, name):
    content, expected = VALUES[name]
    data = read_data(write(tmp_path, name, content))
    column = next(name for name in data.X.columns if str(name) in ("value", "customer_id"))
    read = data.X[column]
    read = read.astype(float) if read.dtype != "category" else read.astype(bool)
    np.testing.assert_allclose(read, np.asarray(expected, dtype=float), rtol=1e-9)
    assert sorted(map(str, data.classes)) in (["no", "yes"], ["grün", "weiß"])


@pytest.mark.parametrize("name", REFUSED)
def test_messy_files_are_refused_in_one_sentence(tmp_path, name):
    content, message = REFUSED[name]
    with pytest.raises(bk.BestOfKError, match=re.escape(message)):
        read_data(write(tmp_path, name, content))


@pytest.mark.parametrize("cells", UNITS, ids=["units", "some percent", "parentheses"])
def test_a_column_of_many_texts_is_mentioned(tmp_path, cells):
    study = bk.compare("max,naive-bayes", write(tmp_path, "a.csv", text(cells)), cv="kfold:2",
                       progress=False)  # fmt: skip
    assert "different texts in 300 rows and is read as a category" in study.explain()


def test_three_decimals_after_a_comma_are_the_same_when_the_model_is_used(tmp_path):
    """66,690 in a file with semicolons is 66.69, in the comparison and in the fitted model."""
    value = np.round(VALUE + 1, 2)
    cells = [f"{v:.3f}".replace(".", ",") for v in value]
    file = write(tmp_path, "a.csv", text(cells, sep=";", other=COMMA))
    study = bk.compare("max,decision-tree", file, cv="kfold:2", progress=False)
    model = study.fit_recommended()
    rows = pd.DataFrame({"value": value, "other": OTHER})
    assert np.mean(model.predict(rows) == TARGET) > 0.99
