r"""Make golden logs of tests/evals with the code of HELM, EvalPlus, SWE-bench and others.

Each needs an environment of its own: ``pip install crfm-helm``, ``evalplus``, ``swebench``, or the
source tree of LiveBench or Every Eval Ever as the working directory. Models are mocks: nothing
leaves the machine.

    python studies/make_golden_evals.py helm tests/evals/golden/helm
    python studies/make_golden_evals.py evalplus tests/evals/golden/evalplus
    python studies/make_golden_evals.py swe-bench tests/evals/golden/swe-bench
    python studies/make_golden_evals.py livebench tests/evals/golden/livebench
    python studies/make_golden_evals.py every-eval-ever tests/evals/golden/every-eval-ever
    PYTHONPATH=lm_eval-0.4.7 python studies/make_golden_evals.py lm-eval \
        tests/evals/golden/lm-eval-0.4.7
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest.mock import MagicMock, patch


def make_helm(folder: Path) -> None:
    """Run HELM with its simple client and fixed answers: two models, two trials."""
    from helm.benchmark import run
    from helm.clients.simple_client import SimpleClient

    def answer(_: Any, request: dict[str, Any]) -> dict[str, Any]:
        prompt = request["prompt"].rpartition("Question: ")[2]
        right = (sum(map(ord, prompt)) % 4 > 0) == (request["engine"] == "good")
        return {"completions": ["A" if right else "B"] * request["num_completions"]}

    with tempfile.TemporaryDirectory() as temporary:
        os.chdir(temporary)
        Path("prod_env").mkdir()
        names = ("made/good", "made/poor")
        Path("prod_env/model_metadata.yaml").write_text("models:\n" + "".join(
            f"  - name: {name}\n    display_name: x\n    description: x\n"
            "    creator_organization_name: x\n    access: open\n    release_date: 2025-01-01\n"
            "    tags: [TEXT_MODEL_TAG, FULL_FUNCTIONALITY_TEXT_MODEL_TAG]\n" for name in names
        ))  # fmt: skip
        Path("prod_env/model_deployments.yaml").write_text("model_deployments:\n" + "".join(
            f"  - name: {name}\n    model_name: {name}\n    tokenizer_name: simple/tokenizer1\n"
            "    max_sequence_length: 2048\n    client_spec:\n"
            '      class_name: "helm.clients.simple_client.SimpleClient"\n' for name in names
        ))  # fmt: skip
        entries = [
            f"simple_mcqa:model={n},data_augmentation=lower,num_train_trials=2" for n in names
        ]
        sys.argv = ["helm-run", "--run-entries", *entries, "--suite", "v1", "-n", "1",
                    "--max-eval-instances", "3", "--disable-cache"]  # fmt: skip
        with patch.object(SimpleClient, "invoke_model", answer), two_metrics():
            run.main()
        shutil.rmtree(folder, ignore_errors=True)
        for path in sorted(Path("benchmark_output/runs/v1").glob("simple*")):
            target = folder / path.name.rpartition("made_")[2].partition(",")[0]
            target.mkdir(parents=True)
            shutil.copy(path / "run_spec.json", target)
            stats = json.loads((path / "per_instance_stats.json").read_text())
            (target / "per_instance_stats.json").write_text(json.dumps(stats) + "\n")


@contextlib.contextmanager
def two_metrics() -> Any:
    """Add a second metric to the specification, as safety and calibration runs have."""
    from helm.benchmark.metrics.common_metric_specs import get_exact_match_metric_specs
    from helm.benchmark.metrics.metric import MetricSpec

    more = MetricSpec(
        class_name="helm.benchmark.metrics.basic_metrics.BasicGenerationMetric",
        args={"names": ["f1_score"]},
    )
    with patch(
        "helm.benchmark.run_specs.simple_run_specs.get_exact_match_metric_specs",
        lambda: [*get_exact_match_metric_specs(), more],
    ):
        yield


def make_evalplus(folder: Path) -> None:
    """Run ``evalplus.evaluate`` on three problems, two samples each, for two models."""
    problems = []
    for k, (name, body) in enumerate(
        (("double", "x + x"), ("square", "x * x"), ("absolute", "x if x > 0 else -x"))
    ):
        problems.append({
            "task_id": f"HumanEval/{k}", "prompt": f"def {name}(x):\n", "entry_point": name,
            "canonical_solution": f"    return {body}\n", "base_input": [[1], [2]],
            "plus_input": [[-3], [0]], "atol": 0, "contract": "",
        })  # fmt: skip
    answers = {
        "model-a": (("x + x", "2 * x"), ("x * x", "x * x"), ("x", "abs(x)")),
        "model-b": (("x + x", "3 * x"), ("x ** 2", "2 ** x"), ("x", "-x")),
    }
    with tempfile.TemporaryDirectory() as temporary:
        data = Path(temporary, "data.jsonl")
        data.write_text("".join(json.dumps(one) + "\n" for one in problems))
        os.environ["HUMANEVAL_OVERRIDE_PATH"] = str(data)
        sys.modules["evalplus.codegen"] = MagicMock()
        from evalplus import evaluate as module
        from evalplus.data import humaneval

        module.CACHE_DIR = temporary
        for model, solutions in answers.items():
            samples = Path(temporary, f"{model}.jsonl")
            samples.write_text("".join(
                json.dumps({"task_id": one["task_id"], "solution":
                            f"{one['prompt']}    return {body}\n"}) + "\n"
                for one, bodies in zip(problems, solutions, strict=True) for body in bodies
            ))  # fmt: skip
            with patch.object(humaneval, "completeness_check"):
                module.evaluate("humaneval", str(samples), parallel=1)
            (path,) = Path(temporary).glob(f"{model}*eval_results.json")
            shutil.copy(path, folder)


def make_swe_bench(folder: Path) -> None:
    """Run ``make_run_report`` of swebench on made-up reports."""
    from swebench.harness import reporting

    ids = [f"{repo}-{n}" for repo in ("django__django", "sympy__sympy") for n in (11, 12, 13)]
    outcomes = {
        "org__agent-a": (True, False, True, True, "infra", False),
        "org__agent-b": (True, False, "", "crash", False, None),
    }
    with tempfile.TemporaryDirectory() as temporary:
        os.chdir(temporary)
        for model, results in outcomes.items():
            predictions = {}
            for name, result in zip(ids, results, strict=True):
                if result is None:
                    continue
                predictions[name] = {
                    "instance_id": name, "model_name_or_path": model.replace("__", "/"),
                    "model_patch": "" if result == "" else "diff",
                }  # fmt: skip
                logs = Path(reporting.RUN_EVALUATION_LOG_DIR, "run1", model, name)
                logs.mkdir(parents=True)
                if result == "infra":
                    (logs / reporting.LOG_TEST_OUTPUT).write_text(
                        "fatal: unable to access 'https://x': Could not resolve host: x\n"
                        "ERROR: Could not install packages: No space left on device\n"
                    )
                if isinstance(result, bool) or result == "infra":
                    report = {name: {"resolved": result is True, "patch_exists": True}}
                    (logs / reporting.LOG_REPORT).write_text(json.dumps(report))
            data = [{"instance_id": name} for name in ids]
            path = reporting.make_run_report(predictions, data, "run1")
            shutil.copy(path, folder)


def make_livebench(folder: Path) -> None:
    """Run ``play_a_match_gt`` of LiveBench on fixed answers, without unused judges."""
    sys.path.insert(0, str(Path.cwd()))

    class Stub(ModuleType):
        def __getattr__(self, name: str) -> Any:
            if name == "AGENTIC_CODING_CATEGORIES":
                return []
            return MagicMock()

    text = Path("livebench/gen_ground_truth_judgment.py").read_text()
    names = re.findall(r"^from (livebench[\w.]*) import|^import (\w+)", text, re.MULTILINE)
    needed = {"livebench.process_results.math.math_competitions.utils"}
    real = {"argparse", "json", "time", "os", "re", "glob"}
    for name in {a or b for a, b in names} - needed - real:
        sys.modules[name] = Stub(name)
    from livebench.gen_ground_truth_judgment import play_a_match_gt

    target = folder / "ground_truth_judgment.jsonl"
    target.unlink(missing_ok=True)
    start = time.time()
    with patch("time.time", side_effect=lambda: 1_700_000_000.0 + (time.perf_counter() % 100)):
        for turn in range(4):
            question = {
                "question_id": f"q{turn}", "task": "math_comp", "subtask": "amc_12a",
                "category": "math", "ground_truth": "B", "turns": ["Choose (A) or (B)."],
            }  # fmt: skip
            for model, letters in (("model-a", "BBAB"), ("model-b", "ABAB")):
                answer: dict[str, Any] = {
                    "answer_id": f"{model}-{turn}", "choices": [{"turns": [letters[turn] * 5]}],
                }  # fmt: skip
                if (model, turn) == ("model-b", 3):
                    answer |= {"eval_status": "api_error", "error": "Timeout", "error_msg": "late"}
                if (model, turn) == ("model-b", 2):
                    answer |= {"eval_status": "token_exhaustion"}
                if (model, turn) == ("model-a", 2):
                    question = question | {"subtask": "unheard_of", "task": "unheard_of"}
                match = MagicMock(question=question, model=model, answer=answer)
                play_a_match_gt(match, str(target))
    print(f"{time.time() - start:.1f} s")


def make_every_eval_ever(folder: Path) -> None:
    """Run the converters of Every Eval Ever on logs of lm-evaluation-harness and HELM."""
    sys.path.insert(0, str(Path.cwd()))
    from every_eval_ever.cli import main

    golden = folder.parent
    for model in ("org__a", "org__b"):
        log = next((golden / "lm-eval" / model).glob("results_*.json"))
        with tempfile.TemporaryDirectory() as temporary:
            sys.argv = [
                "every_eval_ever", "convert", "lm_eval", "--log_path", str(log), "--output_dir",
                temporary, "--include_samples", "--source_organization_name", "x",
                "--evaluator_relationship", "other",
            ]  # fmt: skip
            try:
                main()
            except SystemExit as ended:
                print("ended with", ended.code)
            for path in sorted(Path(temporary).rglob("*.json*")):
                shutil.copy(path, folder / f"{model}_{path.name}")


OLD_HARNESS = """
import sys, zlib
import datasets, evaluate

class ExactMatch:  # up to 0.4.2 it was fetched from the network
    def compute(self, references, predictions, **how):
        same = [str(a) == str(b) for a, b in zip(references, predictions)]
        return {"exact_match": sum(same) / len(same)}

evaluate.load = lambda name, *rest, **how: ExactMatch()
datasets.load_metric = evaluate.load  # imported up to 0.4.1, removed from datasets
from lm_eval.models import dummy

def generate_until(self, requests, disable_tqdm=False):  # cannot generate up to 0.4.4
    answers = []
    for request in requests:
        right = str(2 * int(request.args[0].split()[2]))
        luck = zlib.crc32((MODEL + right).encode()) % 3
        answers.append((right, right + " I think", "no idea")[luck])
    return answers

def loglikelihood(self, requests, disable_tqdm=False):  # random, the same for all
    return [(-float(zlib.crc32((MODEL + "".join(one.args)).encode()) % 97), False)
            for one in requests]

MODEL = sys.argv[sys.argv.index("--model_args") + 1]
dummy.DummyLM.generate_until = generate_until
dummy.DummyLM.loglikelihood = loglikelihood
from lm_eval.__main__ import cli_evaluate
cli_evaluate()
"""


def make_lm_eval(folder: Path) -> None:
    """Run the lm-evaluation-harness on the path, for the layouts of old versions.

    ``PYTHONPATH`` leads to the unpacked wheel of that version (0.4.6 never was one); the folder is
    called ``lm-eval-VERSION``. The environment is that of today's version, with torch and
    transformers; the dummy model answers as `OLD_HARNESS` says. For 0.4.9 the output path ends in
    .json, and up to 0.4.2 it is a folder of the model's own.
    """
    from make_example_evals import TASKS

    version = folder.name.rpartition("-")[2]
    shutil.rmtree(folder, ignore_errors=True)
    with tempfile.TemporaryDirectory() as temporary:
        here = Path(temporary)
        data = here / "sums.jsonl"
        data.write_text("".join(
            json.dumps({"q": f"What is {i} + {i}?", "a": str(2 * i), "choices": [str(2 * i), "x"],
                        "gold": 0, "passage": f"p{i // 2}"}) + "\n" for i in range(4)
        ))  # fmt: skip
        for name, text in TASKS.items():
            (here / f"{name}.yaml").write_text(
                f"task: {name}\ndataset_path: json\ntest_split: test\n"
                f"dataset_kwargs: {{data_files: {{test: {data}}}}}\n"
                f'doc_to_text: "{{{{q}}}}"\n{text}'
            )
        for model in ("org/a", "org/b"):
            own = model.replace("/", "_")
            parts = {"0.4.0": own, "0.4.1": own, "0.4.2": own, "0.4.9": "x.json"}
            out = here / "out" / parts.get(version, "")
            subprocess.run(
                [sys.executable, "-c", OLD_HARNESS, "--model", "dummy", "--model_args",
                 f"pretrained={model}", "--tasks", ",".join(TASKS), "--include_path", str(here),
                 "--log_samples", "--output_path", str(out)],
                check=True, env={**os.environ, "HF_HUB_OFFLINE": "1", "HF_HOME": str(here / "hf")},
            )  # fmt: skip
        for path in sorted((here / "out").rglob("*.json*")):
            copy = folder / path.relative_to(here / "out")
            copy.parent.mkdir(parents=True, exist_ok=True)
            text = path.read_text().replace(str(here), "/data")
            copy.write_text(re.sub(r'"(pretty_env_info|git_hash)": "[^"]*"', r'"\1": ""', text))


MAKERS = {
    "lm-eval": make_lm_eval,
    "helm": make_helm,
    "evalplus": make_evalplus,
    "swe-bench": make_swe_bench,
    "livebench": make_livebench,
    "every-eval-ever": make_every_eval_ever,
}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tool", choices=MAKERS)
    parser.add_argument("folder", type=Path)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    MAKERS[options.tool](options.folder.resolve())
