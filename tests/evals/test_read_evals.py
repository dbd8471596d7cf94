"""All formats: detection, counts, hostile files, and nothing is lost silently."""

import json
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings, strategies as st

import bestofk as bk
from bestofk._base.errors import ArgumentError, TableError, UnknownNameError

GOLDEN = Path(__file__).parent / "golden"


@settings(max_examples=60,
          suppress_health_check=[HealthCheck.function_scoped_fixture])  # fmt: skip
@given(
    value=st.recursive(
        st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5),
        lambda inner: st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["id", "epoch", "eval", "results", "score", "scores", "doc_id", "x",
                             "resps", "value", "model", "success", "vars", "provider", "stats"]),
            inner, max_size=5),
        max_leaves=12,
    ),
)  # fmt: skip
@example(value={"id": [], "epoch": None, "value": None, "eval": "INF"})
def test_foreign_json_is_refused_with_a_sentence(value, tmp_path):
    path = tmp_path / "x.json"
    path.write_text(json.dumps(value), encoding="utf-8")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bk.BestOfKWarning)
        said = "."
        try:
            assert len(bk.read_evals(path)) > 0
        except bk.BestOfKError as error:
            said = str(error)
        assert said.endswith((".", "?"))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"eval": ' + "[" * 100_000, "too deep"),
        ('{"eval": {"task": "t", "model": "m"}, "status": ' + "9" * 5000 + "}", "digits"),
        ('{"eval": {"task": "t", "model": "m"}, "status": "x", "samples": [', "not valid JSON"),
    ],
)
def test_deep_long_and_cut_json(text, said, tmp_path):
    path = tmp_path / "log.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(TableError, match=said):
        bk.read_evals(path)


def test_names_that_look_alike_stay_apart(lm_eval):
    for name in ("a\x1b", "a\x07"):
        path = lm_eval(f"f{ord(name[1])}", [{"doc_id": 0, "acc": 1.0}], model_name=name)
    assert set(bk.read_evals(path.parent.parent).models) == {"a\ufffd", "a\ufffd'"}


def test_blanks_nul_and_halves_of_pairs_in_names(lm_eval):
    lm_eval("x", [{"doc_id": 0, "acc": 1.0}], model_name=" a\0b\ud800 ")
    (name,) = bk.read_evals(lm_eval("y", [{"doc_id": 0, "acc": 0}]).parents[1]).models[:1]
    assert name == "a�b�"


def test_a_folder_takes_what_it_knows_and_tells_the_rest(lm_eval):
    path = lm_eval("m", [{"doc_id": 0, "acc": 1.0}])
    (path.parent / "notes.txt").write_text("hello")
    (path.parent / "other.csv").write_text("model,item,score\nx,1,0.5\n")
    evals = bk.read_evals(path.parent)
    assert evals.models == ("m",)
    (said,) = [s for s in evals.notes if s.startswith("Skipped")]
    assert "notes.txt" in said
    assert "other.csv" in said


def test_what_is_no_log_is_refused(tmp_path):
    (tmp_path / "empty.json").write_text("")
    with pytest.raises(TableError, match="the file is empty"):
        bk.read_evals(tmp_path / "empty.json")
    (tmp_path / "a.txt").write_text("hello")
    with pytest.raises(TableError, match=r"a\.txt is neither a known log nor a table"):
        bk.read_evals(tmp_path / "a.txt")
    with pytest.raises(TableError, match="There is no file or folder"):
        bk.read_evals(tmp_path / "nothing")
    with pytest.raises(TableError, match=r"a\.txt is neither a known log nor a table"):
        bk.read_evals(tmp_path)
    for wrong in (3, [3], None):
        with pytest.raises(ArgumentError, match="paths must be"):
            bk.read_evals(wrong)


@pytest.mark.parametrize("wrong", [3, [], [3], {}])
def test_metrics_are_names(wrong, tmp_path):
    with pytest.raises(ArgumentError, match="metric must be a name"):
        bk.read_evals(tmp_path, metric=wrong)


def test_lower_and_higher_do_not_mix(lm_eval):
    lm_eval("m", [{"doc_id": 0, "acc": 1.0}])
    path = lm_eval("m", [{"doc_id": 0, "word_perplexity": 9.0}], task="wiki", better=False)
    with pytest.raises(TableError, match="lower for 'word_perplexity'"):
        bk.read_evals(path.parent, metric=["acc", "word_perplexity"])
    evals = bk.read_evals(path.parent, metric="word_perplexity")
    assert not evals.higher_is_better
    assert "Task 'arc' has none of word_perplexity and was skipped." in evals.notes


def test_what_was_asked_for_and_is_not_there(lm_eval):
    path = lm_eval("m", [{"doc_id": 0, "acc": 1.0}])
    with pytest.raises(UnknownNameError, match="no metric 'f1'"):
        bk.read_evals(path, metric="f1")
    with pytest.raises(UnknownNameError, match="no task 'gsm8k'"):
        bk.read_evals(path, task="gsm8k")
    with pytest.raises(TableError, match="No sample has 'passage'"):
        bk.read_evals(path, cluster="passage")


def test_a_file_named_twice_is_read_once(lm_eval):
    path = lm_eval("m", [{"doc_id": 0, "acc": 1.0}])
    assert len(bk.read_evals([path, path.parent, path])) == 1


@pytest.mark.parametrize(
    ("told", "said"), [(300 << 20, "BESTOFK_MAX_MEMORY=1G"), (10, "is damaged")]
)
def test_zip_bombs_are_refused(told, said, inspect_log):
    """A member of 4 MB that says it has 300, and one that says it has ten bytes."""
    path = inspect_log("bomb.eval", [{"scores": {"s": {"value": 1}}}])
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("samples/../../etc/passwd_epoch_1.json", b" " * (4 << 20))
        archive.infolist()[-1].file_size = told
    with pytest.raises(TableError, match=said):
        bk.read_evals(path)


def test_costs_go_by_the_items_that_all_have(tmp_path):
    (tmp_path / "x.csv").write_text(
        "model,item,score,cost\na,1,1,2\na,2,1,2\nb,1,1,4\nb,2,1,4\nb,3,1,1000\n"
    )
    evals = bk.read_evals(tmp_path / "x.csv")
    assert evals.costs() == {"a": 2.0, "b": 4.0}
    assert np.isnan(list(evals.costs("tokens").values())).all()


def test_prices_count_where_the_log_states_no_cost(tmp_path):
    (tmp_path / "x.csv").write_text(
        "model,item,score,cost,tokens_in,tokens_out\na,1,1,2,1000000,0\nb,1,1,,1000000,2000000\n"
        "c,1,1,,,\nd,1,1,,,\n"
    )
    evals = bk.read_evals(
        tmp_path / "x.csv", prices={"a": (9, 9), "b": (1, 3), "c": 5, "nobody": 1}
    )
    costs = evals.costs()
    assert (costs["a"], costs["b"], costs["c"]) == (2.0, 1 + 2 * 3, 5.0)
    assert np.isnan(costs["d"])
    for said in ("Costs from your prices: b and c.", "which take precedence over your prices: a.",
                 "Models without a known cost: d.", "not in the logs: nobody."):  # fmt: skip
        assert any(said in sentence for sentence in evals.notes)


@pytest.mark.parametrize("size", [300_000])
@pytest.mark.parametrize(
    ("name", "keys"),
    [
        ("lm-eval/org__a", ("doc_id", "doc", "arguments")),
        ("every-eval-ever", ("evaluation_id", "model_id", "sample_id", "input")),
        ("promptfoo", ("gradingResult", "namedScores", "latencyMs", "response")),
    ],
)
def test_long_prompts_do_not_hide_a_format(name, keys, size, tmp_path):
    """The last of `keys` is so long that what follows is beyond the head of the file."""
    path = sorted((GOLDEN / name).glob("*.jsonl"))[-1]
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    with (tmp_path / path.name).open("w", encoding="utf-8") as file:
        for row in rows:
            long = {key: row[key] for key in keys[:-1]} | {keys[-1]: {"raw": "x" * size}}
            file.write(json.dumps(long | {k: v for k, v in row.items() if k not in long}) + "\n")
    evals = bk.read_evals(tmp_path, metric="acc" if "lm" in name else None)
    assert len(evals) == len(rows)


@pytest.mark.parametrize("suffix", ["csv", "tsv", "jsonl", "parquet"])
def test_tables_of_every_kind(suffix, tmp_path):
    import pandas as pd

    frame = pd.read_csv(GOLDEN / "table" / "long.csv")
    path = tmp_path / f"x.{suffix}"
    if suffix == "parquet":
        frame.to_parquet(path)
    elif suffix == "jsonl":
        frame.to_json(path, orient="records", lines=True)
    else:
        frame.to_csv(path, sep="," if suffix == "csv" else "\t", index=False)
    evals = bk.read_evals(tmp_path, cluster="passage")
    expected = bk.read_evals(GOLDEN / "table", cluster="passage")
    assert evals.to_frame().equals(expected.to_frame())
    assert evals.clusters == ("p0", "p1")
