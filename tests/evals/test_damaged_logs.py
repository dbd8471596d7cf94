"""All formats: a damaged log yields what is left of it, or one error message."""

import gzip
import json
import random
import shutil
import warnings
from pathlib import Path

import pytest

import bestofk as bk

GOLDEN = Path(__file__).parent / "golden"
HOW = {
    "inspect": {"metric": "match"},
    "lm-eval": {"metric": "acc"},
    "helm": {"metric": "exact_match"},
    "every-eval-ever": {"task": "sums_mc"},
}
TELLING = {
    "eval_status", "error", "infra_failure_ids", "error_ids", "incomplete_ids", "empty_patch_ids",
    "unresolved_ids", "failureReason", "perturbation", "limit", "base_status", "plus_status",
    "resolved_ids", "epoch", "train_trial_index", "task", "category", "tstamp",
}  # fmt: skip
"""Without these a log says something else, and nothing in it tells that they are gone."""


READ = {
    "model", "scores", "model_usage", "eval", "samples", "epoch", "id", "value", "status", "task",
    "results", "provider", "vars", "prompt", "success", "tokenUsage", "response", "testCase",
    "stats", "instance_id", "name", "doc_id", "doc_hash", "prompt_hash", "metrics", "filter", "acc",
    "metadata", "evaluation", "score", "sample_id", "model_id", "hash", "resolved_ids",
    "submitted_ids", "question_id", "tstamp", "eval_status", "category", "base_status",
}  # fmt: skip
"""Keys that some reader asks for."""


def files_of(name):
    return sorted(
        p for p in (GOLDEN / name).rglob("*.*") if p.suffix in (".json", ".jsonl", ".eval")
    )


def cells(evals):
    """The score of every learner, item and epoch that has one."""
    columns = (evals.model, evals.item_task[evals.item], evals.item, evals.epoch, evals.score)
    return {
        (evals.models[who], evals.tasks[task], evals.items[item], epoch): score
        for who, task, item, epoch, score in zip(*(c.tolist() for c in columns), strict=True)
        if score == score
    }


def nothing_else(found, whole):
    """Learners and items that the whole log has, have the scores that it has; or none."""
    learners, items = {key[0] for key in whole}, {key[1:3] for key in whole}
    known = {key: score for key, score in found.items() if key[0] in learners and key[1:3] in items}
    return known.items() <= whole.items()


def read(path, how):
    """The cells, or the sentence; anything else is a traceback."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bk.BestOfKWarning)
        try:
            return cells(bk.read_evals(path, **how))
        except bk.BestOfKError as error:
            said = str(error)
            assert said.endswith((".", "?"))
            assert "\n" not in said
            assert len(said) > 20
            return None


@pytest.fixture
def mutilate(tmp_path):
    """Read a golden folder with one file changed."""

    def change(name, path, data):
        folder = tmp_path / name
        if not folder.exists():
            shutil.copytree(GOLDEN / name, folder)
        target = folder / path.relative_to(GOLDEN / name)
        before = target.read_bytes()
        target.write_bytes(data)
        try:
            return read([target.parent if name == "helm" else target], HOW.get(name, {}))
        finally:
            target.write_bytes(before)

    return change


LOGS = ["lm-eval", "inspect", "promptfoo", "helm", "every-eval-ever", "swe-bench", "evalplus",
        "livebench", "openai-evals"]  # fmt: skip


@pytest.mark.parametrize("name", LOGS)
def test_a_log_that_is_cut_off_gives_a_part_of_itself_or_a_sentence(name, mutilate):
    outcomes = set()
    for path in files_of(name)[-2:]:
        data = path.read_bytes()
        whole = mutilate(name, path, data) or {}
        for part in range(8):
            found = mutilate(name, path, data[: len(data) * part // 8])
            outcomes.add(found is None)
            assert nothing_else(found or {}, whole)
    assert True in outcomes


def keys_in(value):
    if isinstance(value, dict):
        return set(value) | {key for one in value.values() for key in keys_in(one)}
    if isinstance(value, list):
        return {key for one in value[:3] for key in keys_in(one)}
    return set()


def changed(value, key, how):
    """The value with every `key` in it left out, or with another content."""
    if isinstance(value, dict):
        return {
            k: how(v) if k == key else changed(v, key, how)
            for k, v in value.items()
            if k != key or how
        }
    if isinstance(value, list):
        return [changed(one, key, how) for one in value]
    return value


HOWS = [None, lambda _: None, lambda v: [v], lambda _: 10**400, lambda _: {"a": []}, lambda _: ""]


@pytest.mark.parametrize("name", LOGS)
def test_a_key_that_is_gone_or_of_another_type(name, mutilate):
    """Scores are those of the whole log, or gone: no other number is made up."""
    draw = random.Random(3)
    texts = [p for p in files_of(name) if p.suffix != ".eval"]
    path = next(p for p in reversed(texts) if mutilate(name, p, p.read_bytes()))
    whole = mutilate(name, path, path.read_bytes())
    text = path.read_text(encoding="utf-8")
    lines = path.suffix == ".jsonl"
    content = [json.loads(line) for line in text.splitlines()] if lines else json.loads(text)
    known = sorted(keys_in(content))
    read_keys = [key for key in known if key in READ]
    small = len(text) < 5000
    for key in [*read_keys, *draw.sample(known, 4)]:
        for how in HOWS if small else [draw.choice(HOWS[:2]), draw.choice(HOWS[2:])]:
            new = changed(content, key, how)
            data = "\n".join(map(json.dumps, new)) + "\n" if lines else json.dumps(new)
            found = mutilate(name, path, data.encode())
            if key not in TELLING:
                assert nothing_else(found or {}, whole), (key, HOWS.index(how))


@pytest.mark.parametrize("name", LOGS)
def test_changed_bytes_never_end_in_a_traceback(name, mutilate):
    draw = random.Random(8)
    refused = 0
    for path in files_of(name)[:2]:
        for turn in range(8):
            data = bytearray(path.read_bytes())
            for _ in range(1 + turn * 4):
                data[draw.randrange(len(data))] = draw.randrange(256)
            refused += mutilate(name, path, bytes(data)) is None
    assert refused > 0


def in_form(data, form):
    """The same text as other programs save it."""
    return {
        "BOM": b"\xef\xbb\xbf" + data,
        "CRLF": data.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"),
        "gzip": gzip.compress(data),
    }[form]


@pytest.mark.parametrize(
    ("name", "form"),
    [
        (name, form)
        for name in LOGS
        for form in ("BOM", "CRLF", "gzip")
        # files of these are found by their names, and their harnesses pack none
        if form != "gzip" or name not in ("helm", "every-eval-ever")
    ],
)
def test_the_same_log_as_other_programs_save_it(name, form, tmp_path):
    """Files with a byte order mark, with line ends of Windows, and packed ones say the same."""
    folder = tmp_path / name
    shutil.copytree(GOLDEN / name, folder)
    for path in [p for p in folder.rglob("*.*") if p.suffix in (".json", ".jsonl")]:
        packed = path.with_name(path.name + ".gz") if form == "gzip" else path
        data = in_form(path.read_bytes(), form)
        path.unlink()
        packed.write_bytes(data)
    assert read(folder, HOW.get(name, {})) == read(GOLDEN / name, HOW.get(name, {}))


@pytest.mark.parametrize("name", LOGS)
def test_the_same_log_in_two_folders_counts_once(name, tmp_path):
    for copy in ("one", "two"):
        shutil.copytree(GOLDEN / name, tmp_path / copy)
    how = HOW.get(name, {})
    assert read(tmp_path, how) == read(tmp_path / "one", how)


EVIL = {
    "lm-eval": ['"org/a"'], "inspect": ['"mockllm/b"'], "helm": ['"made/good"'],
    "promptfoo": ['"fake-model"'], "every-eval-ever": ['"org/a"'], "livebench": ['"model-a"'],
    "openai-evals": ['"mock/large"'],
}  # fmt: skip
"""How the name of a model stands in the golden logs; the others have it in the name of a file."""


@pytest.mark.parametrize("name", EVIL)
def test_names_in_logs_are_data(name, tmp_path):
    """Line breaks, colours of a terminal and HTML in the names of models reach no page."""
    folder = tmp_path / name
    shutil.copytree(GOLDEN / name, folder)
    evil = "x\\n\\u001b[31m<script>alert(1)</script>"
    seen = 0
    for path in [p for p in folder.rglob("*.*") if p.suffix in (".json", ".jsonl")]:
        text = path.read_text(encoding="utf-8")
        for old in EVIL[name]:
            seen += text.count(old)
            text = text.replace(old, old[:-1] + evil + old[-1])
        path.write_text(text, encoding="utf-8")
    assert seen
    evals = bk.read_evals(folder, **HOW.get(name, {}))
    assert any("script" in one for one in evals.models)
    choice = bk.compare_evals(evals)
    said = choice.explain()
    assert "\x1b" not in said
    page = choice.report(tmp_path / "report.html").read_text(encoding="utf-8")
    assert "<script>alert" not in page
    assert "\x1b" not in page
    json.dumps(choice.to_dict(), allow_nan=False)
