"""Every format: a file of the tool, its means by hand, and formats of users."""

import json
import shutil
from pathlib import Path

import pandas as pd
import pytest

import bestofk as bk
from bestofk._base.errors import ArgumentError, TableError
from bestofk.evals.formats import known_formats

HERE = Path(__file__).parent
# made: by the real tool, or written by hand in the form that its documentation or source states.
# In `exports`, large is wrong on 2 and small on 6 of the same 12 items. MT-Bench: right 9, wrong 3,
# the second turn one less, so 8 and 6 in the first turn and 7 and 5 in the second.
SUMS = [10 / 12, 6 / 12]
CASES = {
    # format: (files, made, options, learners, items, rows, means)
    "inspect": ("golden/inspect/whole_0-3-285.eval", "tool", {"metric": "match"},
                ["mockllm/a"], 3, 6, [0.5]),
    "lm-eval": ("golden/lm-eval", "tool", {"metric": "acc"}, ["org/a", "org/b"], 4, 8, [0.5, 0.5]),
    "promptfoo": ("golden/promptfoo-0.123.1/out.json", "tool", {}, ["echo", "fake-model"], 3, 12,
                  [1 / 2, 1]),  # on the two tests without errors
    "helm": ("golden/helm", "tool", {"metric": "exact_match"}, ["made/good", "made/poor"], 3, 12,
             [1 / 3, 2 / 3]),
    "every-eval-ever": ("golden/every-eval-ever", "tool", {"task": "sums_mc"}, ["org/a", "org/b"],
                        4, 8, [0.5, 0.5]),
    "swe-bench": ("golden/swe-bench", "tool", {}, ["org__agent-a", "org__agent-b"], 6, 12,
                  [2 / 3, 1 / 3]),
    "swe-bench-report": (None, "form", {}, ["agent", "submission"], 2, 4, [0.5, 0.5]),
    "swe-bench-details": ("exports/swe-bench-details", "form", {},
                          ["20261118_large", "20261118_small"], 12, 24, SUMS),
    "swe-bench-experiments": ("exports/swe-bench-experiments", "form", {},
                              ["20261118_large", "20261118_small"], 12, 24, SUMS),
    "evalplus": ("golden/evalplus", "tool", {}, ["model-a", "model-b"], 3, 12, [5 / 6, 1 / 3]),
    "bigcodebench": ("exports/bigcodebench", "form", {}, ["large", "small"], 12, 24, SUMS),
    "harbor": ("exports/harbor", "tool's own classes", {}, ["large", "small"], 12, 24, SUMS),
    "terminal-bench": ("exports/terminal-bench", "tool's own classes", {}, ["large", "small"], 12,
                       24, SUMS),
    "tau2-bench": ("exports/tau2-bench", "form", {}, ["large", "small"], 12, 48, SUMS),
    "tau-bench": ("exports/tau-bench", "form", {}, ["large", "small"], 12, 48, SUMS),
    "bfcl": ("exports/bfcl", "tool", {}, ["gpt-4o-2024-11-20-FC", "gpt-4o-mini-2024-07-18-FC"], 12,
             24, SUMS),
    "openai": ("exports/openai", "form", {}, ["large", "small"], 12, 24, SUMS),
    "openai-evals": ("golden/openai-evals", "tool", {}, ["mock/large", "mock/small"], 12, 24, SUMS),
    "azure": ("exports/azure", "tool", {"metric": "exact/exact"}, ["large", "small"], 12, 24, SUMS),
    "bedrock": ("exports/bedrock", "form", {},
                ["arn:aws:bedrock:us-east-1::foundation-model/large", "small"], 12, 24, SUMS),
    "opencompass": ("exports/opencompass", "form", {}, ["large", "small"], 12, 24, SUMS),
    "evalscope": ("exports/evalscope", "tool", {}, ["large", "small"], 12, 24, SUMS),
    "alpaca-eval": ("exports/alpaca-eval", "form", {}, ["large", "small"], 12, 24, SUMS),
    "arena-hard": ("exports/arena-hard", "form", {}, ["large", "small"], 12, 48, SUMS),
    "mt-bench": ("exports/mt-bench", "form", {}, ["large", "small"], 24, 48, [7.5, 5.5]),
    "livebench": ("golden/livebench", "tool", {}, ["model-a", "model-b"], 4, 8, [1.0, 0.5]),
    "aider": ("exports/aider", "form", {}, ["large", "small"], 12, 24, SUMS),
    "deepeval": ("exports/deepeval", "tool", {"metric": "Correctness"}, ["large", "small"], 12, 24,
                 SUMS),
    "mlflow": ("exports/mlflow/*.json", "tool", {"metric": "correctness"}, ["large", "small"], 12,
               24, SUMS),
    "langsmith": ("exports/langsmith", "tool", {"metric": "correct"}, ["large", "small"], 12, 24,
                  SUMS),
    "braintrust": ("exports/braintrust/*.jsonl", "tool", {"metric": "ExactMatch"},
                   ["large", "small"], 12, 24, SUMS),
    "langfuse": ("exports/langfuse", "form", {"metric": "correct"}, ["large", "small"], 12, 24,
                 SUMS),
    "lighteval": ("exports/lighteval", "tool", {"metric": "em"}, ["mock/large", "mock/small"], 12,
                  24, SUMS),
}  # fmt: skip
LOGS = [name for name, entry in known_formats().items() if not entry.companion]


def paths_of(name):
    files = CASES[name][0]
    return sorted(HERE.glob(files)) if "*" in files else [HERE / files]


@pytest.fixture
def report_folder(tmp_path):
    """The report.json of two instances, as swebench writes them and as submissions keep them."""
    for name, resolved in (("django__django-1", True), ("django__django-2", False)):
        for place in ("agent", "submission/logs"):
            folder = tmp_path / "run1" / place / name
            folder.mkdir(parents=True)
            report = {name: {"patch_is_None": False, "patch_exists": True, "resolved": resolved}}
            (folder / "report.json").write_text(json.dumps(report))
    return [tmp_path / "run1"]


@pytest.mark.parametrize("name", LOGS)
def test_a_file_of_every_format(name, report_folder, tmp_path):
    _, _, how, learners, items, rows, means = CASES[name]
    paths = report_folder if CASES[name][0] is None else paths_of(name)
    evals = bk.read_evals(paths, **how)
    assert list(evals.models) == learners
    assert (len(evals.items), len(evals)) == (items, rows)
    assert evals.by_item().means() == pytest.approx(means)
    assert any(s.startswith(known_formats()[name].called) for s in evals.notes)
    # the losses keep the means, and a table of the rows says the same
    if evals.higher_is_better and max(means) <= 1:
        assert list(evals.to_scores().means().values()) == pytest.approx(
            1 - evals.by_item().means()
        )
    evals.to_frame().to_csv(tmp_path / "again.csv", index=False)
    again = bk.read_evals(tmp_path / "again.csv", higher_is_better=evals.higher_is_better)
    assert again.by_item().means() == pytest.approx(means)


def test_costs_tokens_and_seconds():
    evals = bk.read_evals(HERE / "exports" / "tau2-bench")
    assert evals.costs() == pytest.approx({"large": 0.02, "small": 0.01})
    assert evals.costs("latency") == {"large": 4.0, "small": 4.0}
    evals = bk.read_evals(HERE / "exports" / "aider")
    assert evals.costs("tokens") == {"large": 1100.0, "small": 1100.0}


def test_simulations_in_files_of_their_own(tmp_path):
    """tau2-bench lists their rewards in results.json (`Results.save` with the format dir)."""
    log = json.loads((HERE / "exports" / "tau2-bench" / "small_airline.json").read_text())
    (tmp_path / "simulations").mkdir()
    each = log.pop("simulations")
    kept = ("id", "task_id", "trial", "termination_reason", "agent_cost", "duration")
    log["simulation_index"] = [
        {key: one[key] for key in kept} | {"reward": one["reward_info"]["reward"]} for one in each
    ]
    for one in each:
        write(tmp_path / "simulations" / f"{one['id']}.json", one)
    with pytest.raises(TableError, match=r"name the results\.json of the run"):
        bk.read_evals(tmp_path)
    write(tmp_path / "results.json", log)
    evals = bk.read_evals(tmp_path)
    assert evals.by_item().means().tolist() == [0.5]
    assert evals.costs() == pytest.approx({"small": 0.01})
    assert evals.costs("latency") == {"small": 4.0}


def test_both_turns_of_a_question_are_one_cluster():
    assert len(bk.read_evals(HERE / "exports" / "mt-bench").clusters) == 12


def test_repositories_are_clusters():
    evals = bk.read_evals(HERE / "exports" / "swe-bench-details", cluster="repo")
    assert evals.clusters == ("django__django", "sympy__sympy")


def test_what_became_of_every_instance():
    frame = bk.read_evals(HERE / "golden" / "swe-bench").to_frame().set_index(["model", "item"])
    a, b = frame.loc["org__agent-a"], frame.loc["org__agent-b"]
    assert a["status"].value_counts().to_dict() == {"scored": 5, "error": 1}
    assert a.loc["sympy__sympy-12", "status"] == "error"  # the network broke
    assert b.loc["django__django-13", "score"] == 0  # an empty patch
    assert b.loc["sympy__sympy-11", "status"] == "error"  # no report
    assert b.loc["sympy__sympy-13", "status"] == "missing"  # no prediction


def test_a_judge_of_evalscope_that_failed_gives_no_score(tmp_path):
    """evalscope leaves such a score out of its mean (ScoreStatus)."""
    shutil.copytree(HERE / "exports" / "evalscope", tmp_path, dirs_exist_ok=True)
    path = tmp_path / "reviews" / "large" / "general_mcq_sums.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    rows[3]["sample_score"]["score"]["status"] = "parse_error"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    evals = bk.read_evals(tmp_path)
    assert evals.count("error").tolist() == [1, 0]
    assert evals.select(models="large").by_item().means() == pytest.approx([10 / 11])


def test_bfcl_needs_all_answers(tmp_path):
    shutil.copytree(HERE / "exports" / "bfcl" / "score", tmp_path / "score")
    with pytest.raises(TableError, match="keep BFCL's folder 'result' next to 'score'"):
        bk.read_evals(tmp_path)


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ("golden/lm-eval/org__a/results_*.json", "run it with --log_samples"),
        ("golden/helm/good/run_spec.json", "name also per_instance_stats.json"),
        ("exports/promptfoo-csv/out.csv", "'promptfoo eval --output out.json'"),
    ],
)
def test_a_file_without_its_companion(files, message):
    with pytest.raises(TableError, match=message):
        bk.read_evals(sorted(HERE.glob(files)))


# Rules for all formats


def write(path, value):
    path.write_text(json.dumps(value))
    return path


def test_scores_of_langfuse_do_not_name_an_item(tmp_path):
    row = {"id": "s", "traceId": "t", "name": "correct", "value": 1, "dataType": "NUMERIC"}
    with pytest.raises(TableError, match="get the experiment items with fields=scores"):
        bk.read_evals(write(tmp_path / "scores.json", {"data": [row], "meta": {"page": 1}}))


def test_a_format_matches_with_all_required_keys_only(tmp_path):
    """An MT-Bench judgment has the keys of a LiveBench judgment but one."""
    row = {"question_id": 1, "model": "a", "score": 5, "tstamp": 1.0, "task": "t"}
    rows = [{**row, "question_id": k, "model": m} for k in range(3) for m in "ab"]
    (tmp_path / "x.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows))
    evals = bk.read_evals(tmp_path / "x.jsonl", higher_is_better=True)
    assert not any("LiveBench" in s for s in evals.notes)


def test_a_mean_of_the_model_is_no_score(tmp_path):
    """Read as scores of 20 items each, .7 and .6 would differ with p < .0001."""
    for model, mean in (("a", 0.7), ("b", 0.6)):
        rows = [{"id": k, "correct": int(k % 10 < 10 * mean)} for k in range(20)]
        write(tmp_path / f"{model}.json", {"accuracy": mean, "results": rows})
    evals = bk.read_evals(tmp_path)
    assert evals.metric == "correct"
    assert evals.by_item().means() == pytest.approx([0.7, 0.6])
    with pytest.raises(TableError, match="'accuracy' is one number for each model"):
        bk.read_evals(tmp_path, metric="accuracy")


def test_a_row_without_a_model_among_several_scores(tmp_path):
    rows = {"doc_id": [{"provider": None}], "scores": {"id": None, "epoch": 2.0}}
    with pytest.raises(bk.BestOfKError):
        bk.read_evals(write(tmp_path / "x.json", rows))


@pytest.mark.parametrize(
    ("right", "wrong"),
    [("PASS", "FAIL"), ("correct", "incorrect"), ("Yes", "No"), ("true", "false"), (True, False)],
)
def test_words_are_1_and_0(right, wrong, tmp_path):
    rows = [{"model": m, "item": k, "result": right if k % 4 else wrong}
            for m in "ab" for k in range(8)]  # fmt: skip
    evals = bk.read_evals(write(tmp_path / "x.json", rows))
    assert evals.by_item().means().tolist() == [0.75, 0.75]
    assert evals.higher_is_better


@pytest.mark.parametrize(
    ("metric", "top", "higher"),
    [("grounding", 1, True), ("toxicity", 1, False), ("word_error_rate", 1, False),
     ("grounding", 5, None)],
)  # fmt: skip
def test_the_direction_of_scores(metric, top, higher, tmp_path):
    """Between 0 and 1 higher is better unless the name says otherwise; else the user says it."""
    rows = [{"model": m, "item": k, metric: top * k / 8} for m in "ab" for k in range(8)]
    path = write(tmp_path / "x.json", rows)
    if higher is None:
        with pytest.raises(TableError, match="Cannot tell whether higher or lower 'grounding'"):
            bk.read_evals(path, metric=metric)
        return
    evals = bk.read_evals(path, metric=metric)
    assert evals.higher_is_better is higher
    assert any("between 0 and 1" in s for s in evals.notes) is (metric == "grounding")
    assert any(s.startswith(f"Metric '{metric}': {'higher' if higher else 'lower'}") for s in
               evals.notes)  # fmt: skip


@pytest.mark.parametrize("share", [1.0, 1 / 12])
def test_a_row_of_totals_is_no_item(share, tmp_path):
    rows = [{"model": m, "item": k, "correct": int(k % n > 0)}
            for m, n in (("a", 3), ("b", 4)) for k in range(12)]  # fmt: skip
    table = pd.DataFrame(rows)
    totals = table.groupby("model", as_index=False)["correct"].sum().assign(item="Total")
    totals["correct"] *= share
    pd.concat([table, totals]).to_csv(tmp_path / "t.csv", index=False)
    with pytest.raises(TableError, match="'Total' has the sum or the mean of the other scores"):
        bk.read_evals(tmp_path / "t.csv")
    # an item of that name with a score of its own
    pd.concat([table, totals.assign(correct=0)]).to_csv(tmp_path / "t.csv", index=False)
    assert len(bk.read_evals(tmp_path / "t.csv").items) == 13


def test_a_score_of_minus_1_gets_a_note(tmp_path):
    rows = [{"model": m, "item": k, "correct": 1 - 2 * (k == 5)} for m in "ab" for k in range(9)]
    evals = bk.read_evals(write(tmp_path / "t.json", rows))
    assert any("2 scores of 'correct' are -1 and count as such" in s for s in evals.assumptions)


def test_a_folder_keeps_the_message_of_its_file(tmp_path):
    (tmp_path / "scores.csv").write_text("who,item,points\na,1,1\nb,1,0\n")
    (tmp_path / "notes.txt").write_text("hello")
    with pytest.raises(bk.BestOfKError) as of_file:
        bk.read_evals(tmp_path / "scores.csv")
    with pytest.raises(bk.BestOfKError) as of_folder:
        bk.read_evals(tmp_path)
    assert str(of_file.value) == str(of_folder.value)


def test_the_likely_metric_is_suggested(tmp_path):
    rows = [{"id": k, "model": m, "scores": {"length": k, "n_words": k, "correct": k % 2}}
            for m in "ab" for k in range(4)]  # fmt: skip
    with pytest.raises(ArgumentError, match="such as metric='correct'"):
        bk.read_evals(write(tmp_path / "x.json", rows))


# Formats of users


MINE = """
[quiz]
called = "our quiz"
require = ["/quiz", "answers"]
rows = "runs[].answers[]"
model = "/runs[].engine.name"
item = "question"
score = ["right", "style"]
default = "right"
cost = "cents / 100"
"""
LOG = {"quiz": "sums", "runs": [
    {"engine": {"name": name}, "answers": [
        {"question": f"q{k}", "right": "correct" if k % n else "incorrect", "style": k, "cents": 5}
        for k in range(6)
    ]} for name, n in (("a", 3), ("b", 2))
]}  # fmt: skip


def test_a_format_of_a_user(run, tmp_path):
    """Of six answers a has 4 right (all but 0 and 3), b has 3 (all but 0, 2 and 4)."""
    (tmp_path / "my.toml").write_text(MINE.replace('"/quiz", "answers"', '"/quiz", "question"'))
    path = write(tmp_path / "log.json", LOG)
    evals = bk.read_evals(path, formats=tmp_path / "my.toml")
    assert (evals.models, evals.metric) == (("a", "b"), "right")
    assert evals.by_item().means() == pytest.approx([4 / 6, 3 / 6])
    assert evals.costs() == pytest.approx({"a": 0.05, "b": 0.05})
    code, out, _ = run("evals", str(path), "--formats", str(tmp_path / "my.toml"), "--quiet")
    assert (code, out.split()[0]) == (0, "a")


@pytest.mark.parametrize(
    ("toml", "message"),
    [
        ("[a]\nscor = 'x'", "no key of a format 'scor'.*did you mean 'score'"),
        ("[a]\nitem = 'x'\nscore = 'y'", "'a' needs 'require'"),
        ("[a]\nrequire = ['x']", "'a' needs the paths of 'item' and 'score'"),
        ("[a]\nfile = '('\nitem = 'x'\nscore = 'y'", "is not a pattern"),
        ("[a]\nitem = 3", "'item' of 'a' must be a path or a list of paths"),
        ("a = 3", "must be a table"),
        ("[a", "is not a TOML file"),
    ],
)
def test_a_wrong_file_of_formats(toml, message, tmp_path):
    (tmp_path / "my.toml").write_text(toml)
    with pytest.raises(bk.BestOfKError, match=message):
        bk.read_evals(write(tmp_path / "log.json", LOG), formats=tmp_path / "my.toml")


def test_an_unknown_file_names_the_option(run, tmp_path):
    path = tmp_path / "x.log"
    path.write_text("hello")
    with pytest.raises(TableError, match=r"formats='my\.toml'"):
        bk.read_evals(path)
    assert "--formats my.toml" in run("evals", str(path))[2]
