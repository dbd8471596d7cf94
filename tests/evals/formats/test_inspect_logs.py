"""Inspect logs, and the details that other readers get wrong."""

import json
import zipfile

import pytest

import bestofk as bk
from bestofk._base.errors import ArgumentError, TableError
from bestofk.evals.sources import ZipMembers


@pytest.mark.parametrize("version", ["0-3-285", "0-3-100"])
@pytest.mark.parametrize(("suffix", "learner"), [("eval", "mockllm/a"), ("json", "mockllm/b")])
def test_the_means_are_those_that_inspect_printed(version, suffix, learner, golden):
    """Zstandard (0.3.285), deflate (0.3.100) and JSON; Inspect's accuracy is in its header."""
    path = golden(f"inspect/whole_{version}.{suffix}")
    if suffix == "json":
        header = json.loads(path.read_text(encoding="utf-8"))
    else:
        with ZipMembers(path) as archive:
            header = archive.json("header.json")
    for score in header["results"]["scores"]:
        evals = bk.read_evals(path, metric=score["name"], cluster="passage")
        assert evals.models == (learner,)
        assert evals.by_item().means() == pytest.approx([score["metrics"]["accuracy"]["value"]])
        assert evals.epoch.max() == 2
        # tokens as the mock model stated them
        assert set(evals.tokens_in) == {12.0}
        assert evals.clusters == ("p0",)


def test_summaries_that_lack_something_are_filled_from_the_samples(golden, tmp_path):
    """Older summaries have no usage, and those of samples with large scores no scores."""

    def poorer(name, data):
        if name != "summaries.json":
            return name, data
        kept = ("id", "epoch", "input", "target")
        return name, json.dumps([{key: one[key] for key in kept} for one in json.loads(data)])

    whole = golden("inspect/whole_0-3-285.eval")
    path = rewrite(whole, tmp_path / "c.eval", poorer)
    how = {"metric": "match", "cluster": "passage"}
    assert bk.read_evals(path, **how).to_frame().equals(bk.read_evals(whole, **how).to_frame())


def test_not_a_number_stands_bare(tmp_path):
    """Python's json module writes NaN as it is, which is no JSON; the sample is unscored."""
    sample = {"id": 1, "epoch": 1, "scores": {"s": {"value": float("nan")}}, "working_time": 1}
    log = {"version": 2, "status": "success", "eval": {"task": "t", "model": "m"},
           "samples": [sample, sample | {"id": 2, "scores": {"s": {"value": 0.5}}}]}  # fmt: skip
    path = tmp_path / "l.json"
    path.write_text(json.dumps(log), encoding="utf-8")
    assert '"value": NaN' in path.read_text(encoding="utf-8")
    assert bk.read_evals(path).to_frame()["status"].tolist() == ["unscored", "scored"]


def test_two_scorers_must_be_chosen(golden):
    with pytest.raises(ArgumentError, match=r"match and includes.*metric='match'"):
        bk.read_evals(golden("inspect/whole_0-3-285.eval"))


def rewrite(path, target, change):
    """The archive with some members left out or renamed, packed with deflate."""
    with ZipMembers(path) as old, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.members:
            kept = change(name, old.read(name))
            for kept_name, data in kept if isinstance(kept, list) else [kept] if kept else []:
                new.writestr(kept_name, data)
    return target


def test_a_crashed_run_has_a_journal_only(golden, tmp_path):
    def crashed(name, data):
        done = name.startswith(("_journal/", "samples/"))
        return (name, data) if done and "summaries/3" not in name else None

    whole = golden("inspect/whole_0-3-285.eval")
    path = rewrite(whole, tmp_path / "c.eval", crashed)
    evals = bk.read_evals(path, metric="match")
    frame, other = evals.to_frame(), bk.read_evals(whole, metric="match").to_frame()
    order = ["item", "epoch"]
    assert frame.sort_values(order, ignore_index=True).equals(
        other.sort_values(order, ignore_index=True)
    )


def test_chunked_samples_and_archives_without_summaries(golden, tmp_path):
    """A sample as a folder: sample.json, with its metadata in a file of their own."""

    def chunked(name, data):
        if name == "summaries.json" or name.startswith("_journal"):
            return None
        if not name.startswith("samples/"):
            return name, data
        sample = json.loads(data)
        metadata = sample.pop("metadata")
        prefix = name.removesuffix(".json")
        return [(f"{prefix}/sample.json", json.dumps(sample)),
                (f"{prefix}/metadata.json", json.dumps(metadata)),
                (f"{prefix}/messages/0.json", "[]")]  # fmt: skip

    whole = golden("inspect/whole_0-3-285.eval")
    path = rewrite(whole, tmp_path / "c.eval", chunked)
    evals = bk.read_evals(path, metric="match", cluster="passage")
    other = bk.read_evals(whole, metric="match", cluster="passage")
    order = ["item", "epoch"]
    assert (
        evals.to_frame()
        .sort_values(order, ignore_index=True)
        .equals(other.to_frame().sort_values(order, ignore_index=True))
    )


@pytest.mark.parametrize(
    ("value", "score"),
    [("C", 1.0), ("P", 0.5), ("I", 0.0), ("N", 0.0), (True, 1.0), (False, 0.0), (0.25, 0.25),
     ("yes", 1.0), ("no", 0.0), ("0.5", 0.5)],
)  # fmt: skip
def test_values_that_are_scores(value, score, inspect_log):
    path = inspect_log("a.eval", [{"scores": {"s": {"value": value}}}])
    evals = bk.read_evals(path)
    assert (evals.score.tolist(), evals.to_frame()["status"].tolist()) == ([score], ["scored"])


@pytest.mark.parametrize("value", ["maybe", float("nan"), "", "A", float("inf")])
def test_values_that_are_unscored_and_never_zero(value, inspect_log):
    path = inspect_log("a.eval", [{"scores": {"s": {"value": value}}},
                                  {"scores": {"s": {"value": 1}}}])  # fmt: skip
    evals = bk.read_evals(path)
    assert evals.to_frame()["status"].tolist() == ["unscored", "scored"]
    assert evals.by_item().items == ("q1",)
    assert any("not as 0" in s for s in evals.notes)


@pytest.mark.parametrize(
    ("value", "names", "score"),
    [({"a": 1, "b": 0}, ["s/a", "s/b"], [1.0, 0.0]), ([0.5, "C"], ["s/0", "s/1"], [0.5, 1.0])],
)
def test_dictionaries_and_lists_need_a_choice(value, names, score, inspect_log):
    path = inspect_log("a.eval", [{"scores": {"s": {"value": value}}}])
    with pytest.raises(ArgumentError, match=f"metric={names[0]!r}"):
        bk.read_evals(path)
    for name, expected in zip(names, score, strict=True):
        evals = bk.read_evals(path, metric=name)
        assert (evals.score.tolist(), evals.metric) == ([expected], name)


def test_error_limit_unscored_and_wrong_are_four_things(inspect_log):
    path = inspect_log(
        "a.eval",
        [
            {"scores": {"s": {"value": "I"}}},
            {"error": "boom", "scores": {"s": {"value": "I"}}},
            {"limit": "token", "scores": {"s": {"value": "I"}}},
            {"limit": "time", "scores": {}},
            {"scores": None},
        ],
    )
    evals = bk.read_evals(path)
    assert evals.to_frame()["status"].tolist() == ["scored", "error", "limit", "limit", "unscored"]
    assert evals.by_item().items == ("q0", "q2")
    assert evals.by_item(count_errors_as_wrong=True).items == ("q0", "q1", "q2", "q3")


def test_the_usage_of_graders_is_not_counted(inspect_log):
    usage = {
        "first-grader": {"input_tokens": 7, "output_tokens": 7, "total_cost": 7.0},
        "m": {"input_tokens": 10, "output_tokens": 3, "input_tokens_cache_read": 5,
              "total_cost": 0.25},
        "grader": {"input_tokens": 1000, "output_tokens": 1000, "total_cost": 9.0},
    }  # fmt: skip
    path = inspect_log("a.eval", [{"scores": {"s": {"value": 1}}, "model_usage": usage,
                                   "working_time": 2.0, "total_time": 50.0}])  # fmt: skip
    evals = bk.read_evals(path)
    assert (evals.tokens_in[0], evals.tokens_out[0], evals.cost[0]) == (15.0, 3.0, 0.25)
    assert evals.latency[0] == 2.0


def test_the_latest_score_of_an_item_counts(inspect_log):
    """The last run scored one of two samples only."""
    one, two = ({"scores": {"s": {"value": value}}} for value in (1, 0))
    failed = {"error": "timeout", "scores": {}}
    inspect_log("new.eval", [one, one], created="2025-02-01")
    inspect_log("old.eval", [two, two], created="2025-01-01")
    path = inspect_log("last.eval", [two, failed], created="2025-03-01", status="error")
    evals = bk.read_evals(path.parent)
    assert dict(zip(evals.item.tolist(), evals.score.tolist(), strict=True)) == {0: 0.0, 1: 1.0}
    assert any("of each item the latest score counts" in s for s in evals.notes)


def test_settings_that_differ_make_learners(inspect_log):
    for at, temperature in enumerate((0.0, 1.0)):
        path = inspect_log(f"{at}.eval", [{"scores": {"s": {"value": at}}}],
                           model_generate_config={"temperature": temperature})  # fmt: skip
    evals = bk.read_evals(path.parent)
    assert evals.models == ("m (temperature=0.0)", "m (temperature=1.0)")
    # prices go by the model
    costs = bk.read_evals(path.parent, prices={"m": 3.0}).costs()
    assert set(costs.values()) == {3.0}


def test_inputs_that_differ_under_one_id_stop(inspect_log):
    inspect_log("a.eval", [{"input": "one", "scores": {"s": {"value": 1}}}])
    path = inspect_log("b.eval", [{"input": "two", "scores": {"s": {"value": 1}}}], model="n")
    with pytest.raises(TableError, match=r"b\.eval: the content of item 'q0'.*cannot be paired"):
        bk.read_evals(path.parent)


def test_names_of_members_are_keys_and_never_paths(inspect_log, tmp_path):
    path = inspect_log("a.eval", [{"scores": {"s": {"value": 1}}}])
    evil = {"id": "../../evil", "epoch": 1, "input": "x", "scores": {"s": {"value": 0}}}
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("samples/../../evil_epoch_1.json", json.dumps(evil))
    evals = bk.read_evals(path)
    assert evals.items == ("q0", "../../evil")
    assert {entry.name for entry in tmp_path.iterdir()} == {"a.eval"}


def test_samples_without_a_cluster_are_clusters_of_their_own(inspect_log):
    told = [{"p": "x"}, {"p": "x"}, {}, {"p": None}, {"p": ""}, {"p": float("nan")}]
    path = inspect_log(
        "a.eval", [{"scores": {"s": {"value": 1}}, "metadata": metadata} for metadata in told]
    )
    evals = bk.read_evals(path, cluster="p")
    assert len(evals.clusters) == 5
    assert evals.item_cluster.tolist() == [0, 0, 1, 2, 3, 4]
    assert any("4 items without 'p'" in s for s in evals.notes)


def test_an_item_belongs_to_one_cluster(inspect_log):
    inspect_log("a.eval", [{"scores": {"s": {"value": 1}}, "metadata": {"p": "x"}}])
    path = inspect_log("b.eval", [{"scores": {"s": {"value": 1}}, "metadata": {"p": "y"}}],
                       model="n")  # fmt: skip
    with pytest.raises(TableError, match="an item must belong to one cluster"):
        bk.read_evals(path.parent, cluster="p")
