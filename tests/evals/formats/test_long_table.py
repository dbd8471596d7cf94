"""Long tables of scores in many layouts: read correctly, or refused with advice."""

import pytest

import bestofk as bk
from bestofk._base.errors import ArgumentError

ROWS = [(model, f"q{i}", int(i % 3 > 0 or model == "a")) for model in "ab" for i in range(12)]


def csv(rows=ROWS, head="model,item,score"):
    return "\n".join([head, *(",".join(map(str, row)) for row in rows)]) + "\n"


@pytest.fixture
def odd(tmp_path):
    def read(content, **how):
        path = tmp_path / "odd.csv"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return bk.read_evals(path, **how)

    return read


@pytest.mark.parametrize(
    "content",
    [
        "\ufeff" + csv(),
        csv().replace("\n", "\r\n"),
        csv().replace("\n", "\r"),
        csv().replace(",", "\t"),
        csv([(m, i, bool(s)) for m, i, s in ROWS]),
        csv([(m, i, f'"{s}.0"') for m, i, s in ROWS]),
        csv([(m, i, f"{100 * s}%") for m, i, s in ROWS]),
        csv([(m, i, s, e) for m, i, s in ROWS for e in (0, 1)], "model,item,score,epoch"),
        csv([(m, i, s, e) for m, i, s in ROWS for e in range(2 + (m == "a"))],
            "model,item,score,epoch"),
    ],
    ids=["BOM", "CRLF", "CR", "tabs", "truth", "text", "percent", "epochs", "unequal epochs"],
)  # fmt: skip
def test_the_same_scores_however_they_are_written(content, odd):
    assert odd(content).by_item().means() == pytest.approx([1, 2 / 3])


@pytest.mark.parametrize("word", ["nan", "NaN", "None", "null", "", "inf", "-inf", "1e300"])
def test_what_is_no_number_is_unscored_and_never_0(word, odd):
    evals = odd(csv([(m, i, word if i == "q1" else s) for m, i, s in ROWS]))
    assert evals.count("unscored").tolist() == [1, 1]
    choice = bk.compare_evals(evals)
    assert len(choice.outcome.scores.items) == 11
    assert "2 unscored (a 1 and b 1)" in choice.explain()


@pytest.mark.parametrize(
    ("content", "how", "said"),
    [
        (csv() + csv(), {}, "line 26.*the header again: keep one when you join files"),
        (
            csv([(m, i, "C") for m, i, _ in ROWS]),
            {},
            "must be a number, or a word such as true.*got 'C'",
        ),
        (csv(head="model,item,loss"), {}, "no column for score.*columns={'score': .*bestofk scor"),
        (csv(head="who,item,score"), {}, "no column for model among 'who'.*columns={'model': "),
        (csv() + "a\0,q,1\n", {}, "the file contains binary data"),
        (csv() + "a,q\n", {}, "line 26 has 2 cells, but the header has 3"),
        (csv() + ",q,1\n", {}, "line 26, column 'model' must name the model; it is empty"),
        (csv() + "a,,1\n", {}, "must name the item"),
        ("", {}, "the file is empty"),
        ("model,item,score\n", {}, "no rows"),
        (csv(), {"task": "t"}, "no column of tasks.*columns={'task': 'NAME'}"),
        (csv(), {"metric": "acc"}, "no metric 'acc'.*there are score"),
        (csv(), {"cluster": "passage"}, "no column 'passage'"),
        (csv(), {"columns": {"modl": "x"}}, "no role of a column 'modl'.*model"),
    ],
)
def test_one_sentence_that_says_what_to_do(content, how, said, odd):
    with pytest.raises(bk.BestOfKError, match=said):
        odd(content, **how)


def test_numbers_and_text_name_the_same_item(lines):
    for model, name in (("a", int), ("b", str)):
        rows = [{"model": model, "item": name(i), "score": 1} for i in range(3)]
        path = lines(f"logs/{model}.jsonl", rows)
    assert bk.read_evals(path.parent).items == ("0", "1", "2")


def test_a_copy_is_said_and_left_out(tmp_path):
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "t.csv").write_text(csv(), encoding="utf-8")
    evals = bk.read_evals(tmp_path)
    assert evals.epoch.max() == 1
    assert "two/t.csv is a copy of another file and was skipped." in evals.notes


def test_one_model_and_a_file_that_was_not_used(tmp_path):
    (tmp_path / "a.csv").write_text(csv([row for row in ROWS if row[0] == "a"]), encoding="utf-8")
    (tmp_path / "b.csv").write_text("model,item,loss\nb,q1,1\n", encoding="utf-8")
    with pytest.raises(ArgumentError, match=r"only one model.*'a'.*Skipped.*b\.csv"):
        bk.compare_evals(bk.read_evals(tmp_path))


@pytest.mark.parametrize("rows", [4, 60_000])
def test_texts_of_errors_are_failures(rows, tmp_path):
    """Tools write 0 as the score of a call that failed; large files are read by pyarrow."""
    path = tmp_path / "x.csv"
    path.write_text("model,item,correct,error\n" + "".join(
        f"{'ab'[k % 2]},q{k // 2},{int(k != 3)},{'timed out' * (k == 3)}\n" for k in range(rows)
    ))  # fmt: skip
    evals = bk.read_evals(path)
    assert evals.count("error").tolist() == [0, 1]
    assert evals.by_item(missing="allow").means().tolist() == [1.0, 1.0]
    path.write_text("model,item,correct,error\na,1,1,0\nb,1,0,1\n")
    assert bk.read_evals(path).count("error").sum() == 0
