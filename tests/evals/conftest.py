"""Golden logs, and small logs that the tests write."""

import json
import zipfile
from pathlib import Path

import pytest

GOLDEN = Path(__file__).parent / "golden"


@pytest.fixture
def golden():
    """Return the folder of a golden log."""
    return lambda name: GOLDEN / name


@pytest.fixture
def lines(tmp_path):
    """Write JSON lines and return the path."""

    def write(name, values):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(json.dumps(value) + "\n" for value in values), encoding="utf-8")
        return path

    return write


@pytest.fixture
def document(tmp_path):
    """Write one JSON value and return the path."""

    def write(name, value):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(value), encoding="utf-8")
        return path

    return write


@pytest.fixture
def lm_eval(tmp_path):
    """Write a run of lm-evaluation-harness in the format of 0.4.7 and later."""

    def write(model, samples, *, task="arc", time="2025-01-01T00-00-00.0", better=True, **more):
        folder = tmp_path / model.replace("/", "__")
        folder.mkdir(parents=True, exist_ok=True)
        metrics = [name for name in samples[0] if name not in ("doc_id", "filter", "doc_hash")]
        results = {
            "results": {task: {f"{name},none": 0.5 for name in metrics}},
            "configs": {task: {"task": task}},
            "versions": {task: 1},
            "higher_is_better": {task: dict.fromkeys(metrics, better)},
            "config": {"model": "hf", "model_args": f"pretrained={model}"},
            "model_name": model,
            **more,
        }
        (folder / f"results_{time}.json").write_text(json.dumps(results), encoding="utf-8")
        path = folder / f"samples_{task}_{time}.jsonl"
        with path.open("w", encoding="utf-8") as file:
            for sample in samples:
                row = {
                    "doc": {}, "target": "x", "resps": [], "filtered_resps": [], "filter": "none",
                    "metrics": metrics, "prompt_hash": "p", **sample,
                }  # fmt: skip
                file.write(json.dumps(row) + "\n")
        return path

    return write


@pytest.fixture
def inspect_log(tmp_path):
    """Write an Inspect archive with a header and summaries."""

    def write(name, samples, *, model="m", task="t", status="success", crashed=False, **spec):
        path = tmp_path / name
        header = {
            "version": 2,
            "status": status,
            "eval": {"task": task, "model": model, "created": "2025-01-01T00:00:00", **spec},
        }
        full = [
            {"id": f"q{i}", "epoch": 1, "input": f"question {i}", "model_usage": {}, **sample}
            for i, sample in enumerate(samples)
        ]
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            if crashed:
                archive.writestr("_journal/start.json", json.dumps(header))
                archive.writestr("_journal/summaries/1.json", json.dumps(full[:1]))
                archive.writestr("_journal/summaries/2.json", json.dumps(full[1:]))
            else:
                archive.writestr("header.json", json.dumps(header))
                archive.writestr("summaries.json", json.dumps(full))
        return path

    return write
