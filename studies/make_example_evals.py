"""Make the example logs of the package and golden logs of tests/evals with the real tools.

Needs, in an environment of its own: ``pip install inspect_ai lm_eval`` and, for promptfoo,
``npm install promptfoo``. Every model is a mock: nothing leaves the machine.

    python studies/make_example_evals.py inspect-example src/bestofk/evals/examples/inspect-sums
    python studies/make_example_evals.py inspect tests/evals/golden/inspect
    python studies/make_example_evals.py lm-eval tests/evals/golden/lm-eval
    python studies/make_example_evals.py promptfoo tests/evals/golden/promptfoo \
        --main node_modules/promptfoo/dist/src/main.js
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any

MODELS = {"small": (0.55, 4), "medium": (0.85, 9), "large": (0.9, 40)}
"""Mock models: share of right answers, and tokens per answer."""
ITEMS, EPOCHS, PASSAGE = 24, 2, 3


def run_inspect(folder: Path, name: str, right: Any, tokens: int, **how: Any) -> Path:
    """Make one log of a mock model that answers sums; `right(item, epoch)` is its correctness."""
    from inspect_ai import Task, eval as run
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.model import ModelOutput, ModelUsage, get_model
    from inspect_ai.scorer import includes, match
    from inspect_ai.solver import generate

    items, epochs = how.pop("items"), how.pop("epochs")
    samples = [
        Sample(id=f"q{i}", input=f"{i} + {i} = ?", target=str(2 * i),
               metadata={"passage": f"p{i // PASSAGE}"})
        for i in range(items)
    ]  # fmt: skip
    outputs = []
    for epoch in range(epochs):
        for i in range(items):
            output = ModelOutput.from_content(
                f"mockllm/{name}", str(2 * i) if right(i, epoch) else "no idea"
            )
            output.usage = ModelUsage(
                input_tokens=12, output_tokens=tokens, total_tokens=12 + tokens
            )
            outputs.append(output)
    model = get_model(f"mockllm/{name}", custom_outputs=outputs)
    task = Task(
        dataset=MemoryDataset(samples, name="sums"), solver=generate(),
        scorer=[match(), includes()], name="sums",
    )  # fmt: skip
    (log,) = run(
        task, model=model, epochs=epochs, log_dir=str(folder), display="none", max_samples=1,
        fail_on_error=False, **how,
    )  # fmt: skip
    return Path(log.location.removeprefix("file://"))


def thin(path: Path, target: Path) -> None:
    """Keep only what readers of summaries need; 90 kB become 4 kB."""
    import zipfile_zstd  # noqa: F401

    with zipfile.ZipFile(path) as old, zipfile.ZipFile(target, "w") as new:
        for name in ("summaries.json", "header.json"):
            new.writestr(name, anonymous(old.read(name)), zipfile.ZIP_DEFLATED)


def copy_anonymous(path: Path, target: Path) -> None:
    """Copy the archive member by member, without local paths."""
    with contextlib.suppress(ImportError):  # old versions of Inspect use deflate
        import zipfile_zstd  # noqa: F401
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(target, "w") as new:
        for info in old.infolist():
            data = old.read(info.filename)
            if info.filename in ("header.json", "_journal/start.json"):
                data = anonymous(data)
            new.writestr(info.filename, data, info.compress_type)


def anonymous(data: bytes) -> bytes:
    """Remove local paths and the revision from a log."""
    value = json.loads(data)
    if isinstance(value, dict) and isinstance(value.get("eval"), dict):
        for key in ("revision", "task_file", "metadata", "packages"):
            value["eval"].pop(key, None)
        value["eval"]["dataset"].pop("location", None)
    return json.dumps(value, separators=(",", ":")).encode()


def make_inspect_example(target: Path) -> None:
    """Run three mock models on sums; half of the correctness depends on the item."""
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    draw = random.Random(3)
    hard = [draw.random() for _ in range(ITEMS)]
    for name, (rate, tokens) in MODELS.items():
        luck = [[draw.random() for _ in range(EPOCHS)] for _ in range(ITEMS)]
        with tempfile.TemporaryDirectory() as folder:
            log = run_inspect(
                Path(folder), name,
                # quantile of the triangular distribution, the sum of two uniform draws
                lambda i, epoch, luck=luck, rate=rate: (hard[i] + luck[i][epoch]) / 2
                < 1 - ((1 - rate) / 2) ** 0.5,
                tokens, items=ITEMS, epochs=EPOCHS,
            )  # fmt: skip
            thin(log, target / f"sums_{name}.eval")


def make_inspect(target: Path) -> None:
    """Make an archive, a JSON log, and the journal of a crashed run."""
    from inspect_ai import __version__

    target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        log = run_inspect(here, "a", lambda i, e: (i + e) % 2 == 0, 5, items=3, epochs=2)
        version = __version__.replace(".", "-")
        copy_anonymous(log, target / f"whole_{version}.eval")
        log = run_inspect(here, "b", lambda i, _: i != 1, 7, items=3, epochs=2, log_format="json")
        value = json.loads(log.read_text(encoding="utf-8"))
        value = json.loads(anonymous(json.dumps(value).encode()))
        for sample in value["samples"]:
            sample["events"] = []  # most of the file, never read
        (target / f"whole_{version}.json").write_text(json.dumps(value), encoding="utf-8")


TASKS = {
    "sums_mc": """output_type: multiple_choice
doc_to_choice: "{{choices}}"
doc_to_target: gold
metric_list:
  - {metric: acc, aggregation: mean, higher_is_better: true}
  - {metric: acc_norm, aggregation: mean, higher_is_better: true}
""",
    "sums_gen": """output_type: generate_until
doc_to_target: "{{a}}"
generation_kwargs: {until: ["\\n"]}
metric_list:
  - {metric: exact_match, aggregation: mean, higher_is_better: true}
filter_list:
  - name: strict-match
    filter: [{function: take_first}]
  - name: flexible-extract
    filter: [{function: regex, regex_pattern: "(\\\\w)"}, {function: take_first}]
""",
}


def make_lm_eval(target: Path) -> None:
    """Run the harness with its dummy model on two tasks, for two models."""
    shutil.rmtree(target, ignore_errors=True)
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        rows = [
            {"q": f"What is {i} + {i}?", "a": str(2 * i), "choices": [str(2 * i), "x"], "gold": 0,
             "passage": f"p{i // 2}"}
            for i in range(4)
        ]  # fmt: skip
        data = here / "sums.jsonl"
        data.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        for name, text in TASKS.items():
            (here / f"{name}.yaml").write_text(
                f"task: {name}\ndataset_path: json\ntest_split: test\n"
                f"dataset_kwargs: {{data_files: {{test: {data}}}}}\n"
                f'doc_to_text: "{{{{q}}}}"\n{text}',
                encoding="utf-8",
            )
        for seed, model in ((1, "org/a"), (5, "org/b")):
            subprocess.run(
                [sys.executable, "-m", "lm_eval", "run", "--model", "dummy", "--model_args",
                 f"pretrained={model}", "--tasks", ",".join(TASKS), "--include_path", str(here),
                 "--log_samples", "--output_path", str(here / "out"), "--seed", str(seed)],
                check=True, env={**os.environ, "HF_HUB_OFFLINE": "1", "HF_HOME": str(here / "hf")},
            )  # fmt: skip
        for path in sorted((here / "out").rglob("*.json*")):
            copy = target / path.relative_to(here / "out")
            copy.parent.mkdir(parents=True, exist_ok=True)
            text = path.read_text(encoding="utf-8").replace(str(here), "/data")
            text = re.sub(r'"(pretty_env_info|git_hash)": "[^"]*"', r'"\1": ""', text)
            copy.write_text(text, encoding="utf-8")


CONFIG = """description: sums
prompts: ['Sum: {{a}} + {{b}}', 'Tell {{a}} plus {{b}}']
providers: [echo, {id: 'file://provider.js', label: fake-model}]
tests:
  - {vars: {a: 1, b: 2, area: x}, assert: [{type: contains, value: '1', metric: has_a},
     {type: contains, value: '3'}]}
  - {vars: {a: 2, b: 2, area: x}, assert: [{type: contains, value: '2'}]}
  - {vars: {a: 7, b: 2, area: y}, assert: [{type: contains, value: '9'}]}
"""
PROVIDER = """module.exports = class {
  id() { return 'fake'; }
  async callApi(prompt) {
    const n = prompt.match(/[0-9]+/g).map(Number);
    if (n[0] === 7) return { error: 'boom' };
    return { output: `${n[0] + n[1]} from ${n[0]}`, cost: 0.001,
             tokenUsage: { total: 12, prompt: 10, completion: 2 } };
  }
};
"""


def make_promptfoo(target: Path, main: str) -> None:
    """Run two providers on three tests, each twice; one of them fails.

    For a folder ``promptfoo-VERSION`` with one prompt instead of two, and without white space.
    Before 0.100 there is no JSONL.
    """
    older = target.name.startswith("promptfoo-")
    target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        config = CONFIG.replace(", 'Tell {{a}} plus {{b}}'", "") if older else CONFIG
        (here / "promptfooconfig.yaml").write_text(config, encoding="utf-8")
        (here / "provider.js").write_text(PROVIDER, encoding="utf-8")
        quiet = {"PROMPTFOO_DISABLE_TELEMETRY": "1", "PROMPTFOO_DISABLE_UPDATE": "1",
                 "PROMPTFOO_CONFIG_DIR": str(here / "home")}  # fmt: skip
        lines = not older or int(target.name.split(".")[1]) >= 100
        subprocess.run(
            ["node", str(Path(main).resolve()), "eval", "-c", "promptfooconfig.yaml",
             "--no-cache", "--repeat", "2", "-o", "out.json",
             *(["-o", "out.jsonl"] if lines else [])],
            cwd=here, check=False, env={**os.environ, **quiet},
        )  # fmt: skip
        for path in sorted(here.glob("*.json*")):
            text = path.read_text(encoding="utf-8")
            if older and path.suffix == ".json":
                text = json.dumps(json.loads(text), separators=(",", ":")) + "\n"
            (target / path.name).write_text(text.replace(str(here), "/data"), encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kind", choices=["inspect-example", "inspect", "lm-eval", "promptfoo"])
    parser.add_argument("target", type=Path)
    parser.add_argument("--main", default="node_modules/promptfoo/dist/src/main.js")
    options = parser.parse_args()
    if options.kind == "promptfoo":
        make_promptfoo(options.target, options.main)
    else:
        {"inspect-example": make_inspect_example, "inspect": make_inspect,
         "lm-eval": make_lm_eval}[options.kind](options.target)  # fmt: skip


if __name__ == "__main__":
    main()
