"""Exports of evaluation tools, read with the commands of the documentation.

The two mock models of every export are wrong on 2 and on 6 of 12 sums
(studies/make_export_evals.py).
"""

import gzip
import json
import re
import shlex
import shutil
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner

import bestofk as bk
from bestofk._base.errors import ArgumentError, TableError, UnknownNameError
from bestofk.cli.app import bestofk
from bestofk.evals.reading import example_path

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs" / "use" / "exports.md"
COMMANDS = re.findall(r"^\| ([^|]+) \|[^|]*\| `bestofk (.+)` \|$", PAGE.read_text(), re.M)
OTHERS = {
    "OpenAI evals": (HERE / "golden" / "openai-evals", "."),
    "promptfoo": (HERE / "golden" / "promptfoo-0.123.1", "."),
    "Inspect": (example_path("inspect-sums"), "logs"),
    "lm-evaluation-harness": (HERE / "golden" / "lm-eval", "results"),
}


def test_every_tool_has_a_command():
    assert len({title for title, _ in COMMANDS}) == 11


@pytest.mark.parametrize(("title", "command"), COMMANDS)
def test_the_documented_command_reads_the_export(title, command, tmp_path, monkeypatch):
    source, name = OTHERS.get(title, (HERE / "exports" / title.lower(), "."))
    shutil.copytree(source, tmp_path / "export" / name)
    monkeypatch.chdir(tmp_path / "export")
    result = CliRunner().invoke(bestofk, [*shlex.split(command), "--json"])
    assert result.exit_code == 0, result.output
    output = json.loads(result.stdout)
    assert len(output["table"]) > 1
    if title in OTHERS and title != "OpenAI evals":
        return
    assert output["items"] == 12
    means = {row["name"].rpartition("/")[2]: row["mean"] for row in output["table"]}
    assert means == {"large": pytest.approx(10 / 12), "small": pytest.approx(6 / 12)}


def exports(tool, suffix, **how):
    files = [HERE / "exports" / tool / f"{model}{suffix}" for model in ("large", "small")]
    return bk.read_evals(files, **how)


@pytest.mark.parametrize(
    ("tool", "suffix", "names"),
    [
        ("mlflow", ".csv", "3 metrics .correctness, length and expected_response"),
        ("langsmith", ".csv", "2 metrics .correct and length"),
        ("braintrust", ".jsonl", "2 metrics .ExactMatch and Style"),
    ],
)
def test_without_a_metric_the_error_lists_them(tool, suffix, names):
    with pytest.raises(bk.BestOfKError, match=names):
        exports(tool, suffix)


# One file per model, in any form


RIGHT = {"new": [int(k % 5 > 0) for k in range(20)], "old": [int(k % 3 > 0) for k in range(20)]}
ROWS = {
    model: [{"id": f"q{k}", "correct": right} for k, right in enumerate(each)]
    for model, each in RIGHT.items()
}


def write(path, rows):
    frame = pd.DataFrame(rows)
    name = path.name.removesuffix(".gz")
    text = {
        ".csv": lambda: frame.to_csv(index=False),
        ".jsonl": lambda: frame.to_json(orient="records", lines=True),
        ".json": lambda: frame.to_json(),
    }[Path(name).suffix]()
    data = text.encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


@pytest.mark.parametrize("suffixes", [
    (".csv", ".csv"), (".csv", ".jsonl"), (".json", ".json"), (".csv.gz", ".jsonl.gz"),
])  # fmt: skip
def test_files_of_any_kind(suffixes, tmp_path):
    paths = [write(tmp_path / f"{model}{end}", rows)
             for (model, rows), end in zip(ROWS.items(), suffixes, strict=True)]  # fmt: skip
    evals = bk.read_evals(paths)
    assert evals.models == ("new", "old")
    assert evals.by_item().means() == pytest.approx([16 / 20, 13 / 20])
    assert bk.read_evals(tmp_path).models == ("new", "old")


def test_names_of_the_models(run, tmp_path):
    new, old = (write(tmp_path / f"{model}.csv", rows) for model, rows in ROWS.items())
    evals = bk.read_evals(models={"a b": new, "c": str(old)})
    assert evals.models == ("a b", "c")
    long = write(tmp_path / "long.csv",
                 [{"model": f"org/{m}-2024", **row} for m in ROWS for row in ROWS[m]])  # fmt: skip
    evals = bk.read_evals(long, models={"new": "org/new-2024"},
                          prices={"org/new-2024": 2.0, "org/old-2024": 1.0})  # fmt: skip
    assert evals.models == ("new", "org/old-2024")
    assert evals.costs() == {"new": 2.0, "org/old-2024": 1.0}
    with pytest.raises(TableError, match=r"several models.*models={'x': 'org/new-2024'}"):
        bk.read_evals(models={"x": long})
    assert "--model x=org/new-2024" in run("evals", "--model", f"x={long}")[2]
    with pytest.raises(TableError, match=r"no file or folder.*did you mean.*new\.csv"):
        bk.read_evals(models={"x": str(tmp_path / "nwe.csv")})
    with pytest.raises(UnknownNameError, match="no file or model 'org/nw'"):
        bk.read_evals(long, models={"x": "org/nw"})
    with pytest.raises(TableError, match="Two models would be named 'org/old-2024'"):
        bk.read_evals(long, models={"org/old-2024": "org/new-2024"})
    with pytest.raises(ArgumentError, match="the models 'a' and 'b'; a file belongs to one"):
        bk.read_evals(models={"a": new, "b": new})


def test_equal_files_without_a_column_of_models_are_two_models(tmp_path):
    paths = [write(tmp_path / f"{name}.csv", ROWS["new"]) for name in "ab"]
    assert bk.read_evals(paths).models == ("a", "b")


def test_files_of_one_name_are_named_after_their_folders(tmp_path):
    for model, rows in ROWS.items():
        (tmp_path / model).mkdir()
        write(tmp_path / model / "results.csv", rows)
    assert bk.read_evals(tmp_path).models == ("new", "old")
    for folder in tmp_path.iterdir():
        write(folder / "other.csv", ROWS["new"])
    names = {"new/other", "new/results", "old/other", "old/results"}
    assert set(bk.read_evals(tmp_path).models) == names


def test_a_stated_model_may_repeat_its_items(tmp_path):
    twice = write(tmp_path / "a.csv", ROWS["new"] + ROWS["new"])
    with pytest.raises(TableError, match="no column for model"):
        bk.read_evals(twice)
    assert bk.read_evals(models={"a": twice}).epoch.max() == 2


@pytest.mark.parametrize("golden", ["lm-eval/org__a", "inspect/whole_0-3-285.eval"])
def test_a_name_for_the_logs_of_a_harness(golden):
    how = {"metric": ["exact_match,strict-match", "acc", "match"]}
    evals = bk.read_evals(models={"mine": HERE / "golden" / golden}, **how)
    assert evals.models == ("mine",)


# Selecting models and tasks


@pytest.fixture
def tasks(tmp_path):
    return write(tmp_path / "tasks.csv", [
        {"model": model, "task": task, "item": k, "passage": k // 4, "score": RIGHT[name][k]}
        for model, name in (("gpt-4", "new"), ("gpt-5", "old"), ("other", "old"))
        for task in ("sums", "logic") for k in range(20)
    ])  # fmt: skip


@pytest.mark.parametrize(
    ("how", "models", "names"),
    [
        ({"only": "gpt-*"}, ("gpt-4", "gpt-5"), ("sums", "logic")),
        ({"exclude": "gpt-5"}, ("gpt-4", "other"), ("sums", "logic")),
        ({"exclude": ["gpt-5", "logic"]}, ("gpt-4", "other"), ("sums",)),
        ({"only": ["sums", "gpt-*"]}, ("gpt-4", "gpt-5"), ("sums",)),
        ({"only": "gpt-*", "exclude": "*-5"}, ("gpt-4",), ("sums", "logic")),
    ],
)
def test_models_and_tasks_are_selected(how, models, names, tasks):
    evals = bk.read_evals(tasks, cluster="passage", **how)
    assert (evals.models, evals.tasks) == (models, names)
    assert len(evals.items) == 20 * len(names)
    assert len(evals.clusters) == 5
    whole = bk.read_evals(tasks, cluster="passage")
    frame = whole.to_frame()
    part = frame[frame.model.isin(models) & frame.task.isin(names)].reset_index(drop=True)
    pd.testing.assert_frame_equal(evals.to_frame(), part)
    selected = whole.select(models=models, tasks=names)
    assert (selected.models, selected.items) == (evals.models, evals.items)
    pd.testing.assert_frame_equal(selected.to_frame(), part)


def test_items_of_an_excluded_model_do_not_count(tmp_path):
    rows = [{"model": m, "item": k, "score": 1} for m in "ab" for k in range(5)]
    rows += [{"model": "c", "item": k, "score": s} for k in range(9) for s in (0, 1)]
    path = write(tmp_path / "t.csv", rows)
    assert len(bk.read_evals(path, exclude="c").items) == 5


def test_an_unknown_name_is_refused(tasks):
    with pytest.raises(UnknownNameError, match=r"no model or task 'gpt-6'.*did you mean"):
        bk.read_evals(tasks, exclude="gpt-6")
    with pytest.raises(TableError, match="everything is excluded"):
        bk.read_evals(tasks, exclude="*")


# Nested rows


def test_nested_values_have_dotted_names(tmp_path):
    path = tmp_path / "n.jsonl"
    path.write_text("".join(
        json.dumps({"run": {"model": m}, "inputs": {"q": k}, "scores": {"A": RIGHT[m][k], "B": 1},
                    "trace": [{"role": "user"}], "usage": {"cost": 2}}) + "\n"
        for m in RIGHT for k in range(20)
    ))  # fmt: skip
    columns = {"model": "run.model", "score": "scores.A", "cost": "usage.cost"}
    evals = bk.read_evals(path, columns=columns, higher_is_better=True)
    assert evals.by_item().means() == pytest.approx([16 / 20, 13 / 20])
    assert (evals.metric, evals.costs()["new"]) == ("A", 2)
    with pytest.raises(UnknownNameError, match=r"'scores\.a'.*did you mean 'scores\.A'"):
        bk.read_evals(path, columns={"score": "scores.a"})


def test_one_of_several_lists_of_rows_is_not_chosen(tmp_path):
    path = tmp_path / "runs.json"
    path.write_text(json.dumps({"models": ROWS}))
    with pytest.raises(TableError, match="save each in a file of its own"):
        bk.read_evals(path)
    path.write_text(json.dumps({"new": {"q1": 1, "q2": 0}, "old": {"q1": 0, "q2": 0}}))
    with pytest.raises(TableError, match="no column for item and score"):
        bk.read_evals(path)


def test_row_numbers_of_other_questions_do_not_pair(tmp_path):
    paths = []
    for model, order in (("new", 1), ("old", -1)):
        questions = list(range(20))[::order]
        rows = [{"id": n, "input": f"question {k}", "score": RIGHT[model][k]}
                for n, k in enumerate(questions)]  # fmt: skip
        paths.append(write(tmp_path / f"{model}.csv", rows))
    with pytest.raises(TableError, match=r"cannot be paired: pass columns={'item': 'input'}"):
        bk.read_evals(paths)
    evals = bk.read_evals(paths, columns={"item": "input"})
    assert set(evals.items) == {f"question {k}" for k in range(20)}


def test_ids_of_single_answers_do_not_pair(tmp_path):
    """In one table, or in a table of each model."""
    rows = [{"id": f"{m}-{k}", "model": m, "input": f"q{k}", "score": s}
            for m in RIGHT for k, s in enumerate(RIGHT[m])]  # fmt: skip
    one = write(tmp_path / "t.csv", rows)
    several = [write(tmp_path / f"{m}.jsonl", [{"id": r["id"], "input": r["input"], "score": 1}
               for r in rows if r["model"] == m]) for m in RIGHT]  # fmt: skip
    for paths in (one, several):
        with pytest.raises(TableError, match=r"no item for which.*columns={'item': 'NAME'}"):
            bk.read_evals(paths).by_item()
        assert len(bk.read_evals(paths, columns={"item": "input"}).items) == 20


# Wide tables


WIDE = pd.DataFrame({"question": [f"q{k}" for k in range(20)], **RIGHT})


@pytest.mark.parametrize("table", [
    WIDE, WIDE.drop(columns="question"), WIDE.assign(notes="text", category="c"),
    WIDE.assign(new=WIDE.new.map({1: "yes", 0: "no"}), old=WIDE.old.astype(bool)),
    WIDE.rename(columns={"question": "text of the question"}),
])  # fmt: skip
def test_models_in_columns(table, tmp_path):
    table.to_csv(tmp_path / "wide.csv", index=False)
    evals = bk.read_evals(tmp_path / "wide.csv")
    assert evals.models == ("new", "old")
    assert evals.by_item().means() == pytest.approx([16 / 20, 13 / 20])
    assert bk.read_evals(table).models == ("new", "old")


def test_a_workbook(tmp_path):
    pytest.importorskip("openpyxl", reason="openpyxl is not installed")
    WIDE.to_excel(tmp_path / "wide.xlsx", index=False)
    assert bk.read_evals(tmp_path / "wide.xlsx").models == ("new", "old")


@pytest.mark.parametrize(
    ("table", "how", "message"),
    [
        (WIDE.assign(level=3), {}, r"'level' has numbers up to 3.*exclude='level'"),
        (WIDE.assign(new_latency=WIDE.new / 2), {}, "exclude='new_latency'"),
        (WIDE.assign(new=WIDE.new * 1.5, old=WIDE.old * 2.5), {}, "Cannot tell whether higher"),
        (WIDE.assign(question="q"), {}, "must name the item, each once"),
        (WIDE.assign(answer="x"), {}, "2 metrics .new and old.*metric='new'"),
    ],
)  # fmt: skip
def test_unclear_wide_tables_are_refused(table, how, message, tmp_path):
    table.to_csv(tmp_path / "wide.csv", index=False)
    with pytest.raises(bk.BestOfKError, match=message):
        bk.compare_evals(bk.read_evals(tmp_path / "wide.csv", **how))


def test_frames_by_model():
    frames = {model: pd.DataFrame(rows) for model, rows in ROWS.items()}
    assert bk.read_evals(models=frames).by_item().means() == pytest.approx([16 / 20, 13 / 20])
    with pytest.raises(TableError, match="no column for model"):
        bk.read_evals(frames["new"])
