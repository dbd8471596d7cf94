r"""Make the exports of evaluation tools in tests/evals/exports with the tools themselves.

Each tool needs an environment of its own (``pip install deepeval``, ``mlflow``, ...). Two mock
models answer twelve sums, and nothing leaves the machine.

    python studies/make_export_evals.py deepeval tests/evals/exports/deepeval
"""

from __future__ import annotations

import argparse
import getpass
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

SUMS = [(k, 3 * k + 1) for k in range(12)]
WRONG = {"large": (3, 7), "small": (1, 3, 4, 7, 9, 10)}
"""The sums that each mock model gets wrong."""


def question(k: int) -> str:
    return f"What is {SUMS[k][0]} + {SUMS[k][1]}?"


def truth(k: int) -> str:
    return str(sum(SUMS[k]))


def answer(model: str, k: int) -> str:
    return str(sum(SUMS[k]) + (k in WRONG[model]))


def answerer(model: str, key: str = "", result: str = "") -> Any:
    """Return the mock model as a function of the question, or of an object that contains it."""
    answers = {question(k): answer(model, k) for k in range(len(SUMS))}
    if not key:
        return lambda question: answers[question]
    return lambda inputs: {result: answers[inputs[key]]}


def make_deepeval(folder: Path) -> None:
    """Run ``deepeval.evaluate`` with two metrics of our own and a folder of results."""
    os.environ["DEEPEVAL_TELEMETRY_OPT_OUT"] = "1"
    from deepeval import evaluate
    from deepeval.evaluate.configs import DisplayConfig
    from deepeval.metrics import BaseMetric
    from deepeval.test_case import LLMTestCase

    class Metric(BaseMetric):  # type: ignore[misc]
        threshold = 0.5
        async_mode = False
        evaluation_model = None

        def __init__(self, name: str) -> None:
            self.name = name

        @property
        def __name__(self) -> str:
            return self.name

        def measure(self, case: Any, *_: Any, **__: Any) -> float:
            right = case.actual_output == case.expected_output
            self.score = float(right) if self.name == "Correctness" else 1 - 0.1 * (not right)
            self.success, self.reason = self.score >= self.threshold, "compared"
            return self.score

        async def a_measure(self, case: Any, *_: Any, **__: Any) -> float:
            return self.measure(case)

        def is_successful(self) -> bool:
            return bool(self.success)

    for model in WRONG:
        cases = [
            LLMTestCase(
                input=question(k),
                actual_output=answer(model, k),
                expected_output=truth(k),
                token_cost=0.001,
                completion_time=0.5,
            )
            for k in range(len(SUMS))
        ]
        with tempfile.TemporaryDirectory() as temporary:
            evaluate(
                cases,
                [Metric("Correctness"), Metric("Style")],
                hyperparameters={"model": model},
                display_config=DisplayConfig(results_folder=temporary, print_results=False),
            )
            (path,) = Path(temporary).rglob("*.json")
            shutil.copy(path, folder / f"{model}.json")


def make_mlflow(folder: Path) -> None:
    """Save the table of ``mlflow.genai.evaluate`` as JSON lines and as CSV."""
    import mlflow
    from mlflow.genai.scorers import scorer

    @scorer  # type: ignore[untyped-decorator]
    def correctness(outputs: str, expectations: dict[str, str]) -> bool:
        return outputs == expectations["expected_response"]

    @scorer  # type: ignore[untyped-decorator]
    def length(outputs: str) -> float:
        return float(len(outputs))

    mlflow.set_tracking_uri("sqlite:///runs.db")
    for model in WRONG:
        result = mlflow.genai.evaluate(
            data=[
                {"inputs": {"question": question(k)},
                 "expectations": {"expected_response": truth(k)}} for k in range(len(SUMS))
            ],
            predict_fn=answerer(model),
            scorers=[correctness, length],
        )  # fmt: skip
        table = result.result_df.drop(columns=["trace", "spans", "trace_metadata", "tags"])
        text = table.to_json(orient="records")
        user = f'"{getpass.getuser()}"'
        (folder / f"{model}.json").write_text(text.replace(user, '"user"') + "\n")
        table.drop(columns="assessments").to_csv(folder / f"{model}.csv", index=False)


def make_ragas(folder: Path) -> None:
    """Save the table of ``ragas.evaluate`` with metrics that need no judge."""
    os.environ["RAGAS_DO_NOT_TRACK"] = "true"
    from ragas import EvaluationDataset, evaluate
    from ragas.metrics import ExactMatch, StringPresence

    for model in WRONG:
        rows = [
            {"user_input": question(k), "response": answer(model, k), "reference": truth(k)}
            for k in range(len(SUMS))
        ]
        result = evaluate(
            EvaluationDataset.from_list(rows), metrics=[ExactMatch(), StringPresence()]
        )
        result.to_pandas().to_csv(folder / f"{model}.csv", index=False)


def make_langsmith(folder: Path) -> None:
    """Save the table of ``langsmith.evaluate`` without uploading it."""
    os.environ["LANGSMITH_ENDPOINT"] = "http://127.0.0.1:9"
    os.environ["LANGSMITH_API_KEY"] = "none"
    from datetime import UTC, datetime
    from uuid import NAMESPACE_DNS, uuid5

    from langsmith import Client, evaluate, schemas

    def correct(outputs: dict[str, str], reference_outputs: dict[str, str]) -> bool:
        return outputs["answer"] == reference_outputs["answer"]

    def length(outputs: dict[str, str]) -> dict[str, Any]:
        return {"key": "length", "score": len(outputs["answer"])}

    examples = [
        schemas.Example(
            id=uuid5(NAMESPACE_DNS, str(k)), dataset_id=uuid5(NAMESPACE_DNS, "sums"),
            inputs={"question": question(k)}, outputs={"answer": truth(k)},
            created_at=datetime.now(UTC),
        ) for k in range(len(SUMS))
    ]  # fmt: skip
    for model in WRONG:
        results = evaluate(
            answerer(model, "question", "answer"),
            data=examples,
            evaluators=[correct, length],
            upload_results=False,
            client=Client(),
        )
        results.to_pandas().to_csv(folder / f"{model}.csv", index=False)


def make_braintrust(folder: Path) -> None:
    """Run ``braintrust.Eval`` locally; write its results, and rows as the API documents them.

    An experiment that is downloaded also has the spans of its cases: rows without scores.
    """
    from braintrust import Eval

    def exact(output: str, expected: str, **_: Any) -> dict[str, Any]:
        return {"name": "ExactMatch", "score": float(output == expected)}

    def style(output: str, **_: Any) -> dict[str, Any]:
        return {"name": "Style", "score": float(bool(output))}

    for model in WRONG:
        result = Eval(
            "sums",
            data=[{"input": question(k), "expected": truth(k)} for k in range(len(SUMS))],
            task=answerer(model),
            scores=[exact, style],
            no_send_logs=True,
        )
        rows = [each.as_dict() for each in result.results]
        lines = [json.dumps(row, default=str) for row in rows]
        (folder / f"{model}.jsonl").write_text("\n".join(lines) + "\n")
        events = []
        for k, row in enumerate(rows):
            ids = {
                "_xact_id": "1", "created": "2026-11-17T12:00:00Z", "project_id": "p",
                "experiment_id": model, "root_span_id": f"{model}-{k}",
            }  # fmt: skip
            events += [
                {**ids, "id": f"{model}-{k}", "span_id": f"{model}-{k}", "span_parents": None,
                 "is_root": True, "input": row["input"], "output": row["output"],
                 "expected": row["expected"], "scores": row["scores"], "metadata": {},
                 "metrics": {"start": 10.0, "end": 10.5}, "span_attributes": {"type": "eval"}},
                {**ids, "id": f"{model}-{k}-task", "span_id": f"{model}-{k}-task",
                 "span_parents": [f"{model}-{k}"], "is_root": False, "input": row["input"],
                 "output": row["output"], "scores": None, "metadata": {},
                 "metrics": {"start": 10.0, "end": 10.5}, "span_attributes": {"type": "task"}},
            ]  # fmt: skip
        text = json.dumps({"events": events, "cursor": None})
        (folder / f"{model}-events.json").write_text(text + "\n")


def make_langfuse(folder: Path) -> None:
    """Write experiment items with the types of the client's API, as the server sends them."""
    from datetime import UTC, datetime

    from langfuse.api.experiments.types import (
        ExperimentItem,
        ExperimentItemsResponse,
        ExperimentsResponseMeta,
    )
    from langfuse.api.scores.types import ScoreV3_Numeric

    now = datetime(2026, 11, 17, tzinfo=UTC)
    items = [
        ExperimentItem(
            id=f"{model}-{k}", trace_id=f"trace-{model}-{k}", start_time=now, end_time=now,
            level="DEFAULT", environment="default", experiment_id=f"id-{model}",
            experiment_name=model, experiment_item_id=f"item-{k}", input=question(k),
            output=answer(model, k), expected_output=truth(k),
            scores=[
                ScoreV3_Numeric(
                    id=f"{name}-{model}-{k}", project_id="p", name=name, source="API",
                    timestamp=now, environment="default", created_at=now, updated_at=now,
                    value=value,
                ) for name, value in (("correct", float(k not in WRONG[model])), ("length", 2.0))
            ],
        ) for model in WRONG for k in range(len(SUMS))
    ]  # fmt: skip
    response = ExperimentItemsResponse(data=items, meta=ExperimentsResponseMeta())
    (folder / "items.json").write_text(response.model_dump_json(by_alias=True) + "\n")


def make_openai_evals(folder: Path) -> None:
    """Run ``oaieval`` with a completion function of our own."""
    Path("data.jsonl").write_text("".join(
        json.dumps({"input": [{"role": "user", "content": question(k)}], "ideal": truth(k)}) + "\n"
        for k in range(len(SUMS))
    ))  # fmt: skip
    for name in ("registry/evals", "registry/completion_fns"):
        Path(name).mkdir(parents=True)
    Path("registry/evals/sums.yaml").write_text(
        "sums:\n  id: sums.dev.v0\n  metrics: [accuracy]\nsums.dev.v0:\n"
        "  class: evals.elsuite.basic.match:Match\n  args:\n"
        f"    samples_jsonl: {Path('data.jsonl').resolve()}\n"
    )
    Path("registry/completion_fns/mock.yaml").write_text("".join(
        f"mock/{model}:\n  class: mock_model:Mock\n  args: {{model: {model}}}\n" for model in WRONG
    ))  # fmt: skip
    answers = {m: {question(k): answer(m, k) for k in range(len(SUMS))} for m in WRONG}
    Path("mock_model.py").write_text(
        f"ANSWERS = {answers!r}"
        """
class Result:
    def __init__(self, text):
        self.text = text

    def get_completions(self):
        return [self.text]


class Mock:
    def __init__(self, model, **_):
        self.answers = ANSWERS[model]

    def __call__(self, prompt, **_):
        from evals.record import record_sampling
        text = next(a for q, a in self.answers.items() if q in str(prompt))
        record_sampling(prompt=str(prompt), sampled=text)
        return Result(text)
"""
    )
    program = str(Path(sys.executable).with_name("oaieval"))
    environment = {**os.environ, "PYTHONPATH": ".", "OPENAI_API_KEY": "none", "EVALS_THREADS": "1"}
    for model in WRONG:
        path = folder / f"{model}.jsonl"
        subprocess.run(
            [program, f"mock/{model}", "sums", "--registry_path", "registry",
             "--record_path", str(path)],
            check=True, env=environment,
        )  # fmt: skip
        path.write_text(path.read_text().replace(f"{Path.cwd()}/", "").replace(program, "oaieval"))


def make_lighteval(folder: Path) -> None:
    """Save details with lighteval's evaluation tracker."""
    from lighteval.logging.evaluation_tracker import EvaluationTracker
    from lighteval.models.dummy.dummy_model import DummyModelConfig
    from lighteval.models.model_output import ModelResponse
    from lighteval.tasks.requests import Doc, SamplingMethod

    for model in WRONG:
        tracker = EvaluationTracker(output_dir=str(folder), save_details=True)
        config = DummyModelConfig(model_name=f"mock/{model}")
        tracker.general_config_logger.log_model_info(model_config=config)
        for k in range(len(SUMS)):
            doc = Doc(query=question(k), choices=[truth(k)], gold_index=0, id=str(k),
                      task_name="sums|0", sampling_methods=[SamplingMethod.GENERATIVE])  # fmt: skip
            response = ModelResponse(input=question(k), text=[answer(model, k)])
            scores = {"em": float(k not in WRONG[model]), "length": 2.0}
            tracker.details_logger.log("sums|0", doc, response, scores)
            tracker.metrics_logger.log("sums|0", scores)
        tracker.details_logger.aggregate()
        tracker.save()
    shutil.rmtree(folder / "results")
    for path in folder.rglob("*|*.parquet"):
        # Windows has no such names
        path.rename(path.with_name(path.name.replace("|", "_")))


def make_promptfoo_csv(folder: Path) -> None:
    """Run ``promptfoo eval --output out.csv`` with a provider of our own."""
    Path("model.js").write_text(
        "module.exports = class {\n"
        "  constructor(o) { this.label = o.label; this.wrong = o.config.wrong; }\n"
        "  id() { return this.label; }\n"
        "  async callApi(prompt, context) {\n"
        "    const { k, sum } = context.vars;\n"
        "    return { output: String(Number(sum) + (this.wrong.includes(k) ? 1 : 0)) };\n  }\n};\n"
    )
    Path("promptfooconfig.json").write_text(json.dumps({
        "prompts": ["What is {{sum}}?"],
        "providers": [{"id": "file://model.js", "label": model, "config": {"wrong": wrong}}
                      for model, wrong in WRONG.items()],
        "tests": [{"vars": {"k": k, "sum": sum(SUMS[k])},
                   "assert": [{"type": "equals", "value": truth(k)}]} for k in range(len(SUMS))],
    }))  # fmt: skip
    environment = {
        **os.environ,
        "PROMPTFOO_DISABLE_TELEMETRY": "1",
        "PROMPTFOO_DISABLE_UPDATE": "1",
    }
    # promptfoo exits with 100 if a test fails
    subprocess.run(
        ["promptfoo", "eval", "-c", "promptfooconfig.json", "--no-cache", "--output",
         str(folder / "out.csv")], check=False, env=environment,
    )  # fmt: skip


def make_evalscope(folder: Path) -> None:
    """Run evalscope with its mock model, on multiple choices of our own."""
    from evalscope import TaskConfig, run_task
    from evalscope.api.model import ModelOutput

    Path("sums").mkdir()
    questions = [{"question": question(k), "A": truth(k), "B": str(sum(SUMS[k]) + 1), "answer": "A"}
                 for k in range(len(SUMS))]  # fmt: skip
    Path("sums", "sums_val.jsonl").write_text("".join(json.dumps(q) + "\n" for q in questions))
    dataset = {"local_path": str(Path("sums").resolve()), "subset_list": ["sums"],
               "prompt_template": "{question}\n{choices}\nEnd with ANSWER: LETTER"}  # fmt: skip
    for model, wrong in WRONG.items():
        answers = ["ANSWER: B" if k in wrong else "ANSWER: A" for k in range(len(SUMS))]
        outputs = [ModelOutput.from_content(model=model, content=one) for one in answers]
        run_task(TaskConfig(
            model="mock", model_id=model, eval_type="mock_llm", datasets=["general_mcq"],
            eval_batch_size=1, model_args={"custom_outputs": outputs},
            dataset_args={"general_mcq": dataset}, work_dir="out", no_timestamp=True,
        ))  # fmt: skip
    shutil.copytree("out/reviews", folder / "reviews", dirs_exist_ok=True)


def make_bfcl(folder: Path) -> None:
    """Run ``bfcl evaluate`` on calls that our mock models would make, under known names."""
    import bfcl_eval

    answers = Path(bfcl_eval.__file__).parent / "data/possible_answer/BFCL_v4_simple_python.json"
    with answers.open() as file:
        cases = [json.loads(file.readline()) for _ in SUMS]
    models = {"large": "gpt-4o-2024-11-20-FC", "small": "gpt-4o-mini-2024-07-18-FC"}
    for model, name in models.items():
        path = Path("result", name, "non_live", "BFCL_v4_simple_python_result.json")
        path.parent.mkdir(parents=True)
        with path.open("w") as file:
            for k, case in enumerate(cases):
                ((function, values),) = case["ground_truth"][0].items()
                given = {key: next(v for v in each if v != "") for key, each in values.items()}
                call = {function.replace(".", "_"): json.dumps({} if k in WRONG[model] else given)}
                row = {"id": case["id"], "result": [call], "input_token_count": 100,
                       "output_token_count": 20, "latency": 1.5}  # fmt: skip
                print(json.dumps(row), file=file)
    environment = {**os.environ, "BFCL_PROJECT_ROOT": str(Path.cwd()), "OPENAI_API_KEY": "none"}
    subprocess.run(
        ["bfcl", "evaluate", "--model", ",".join(models.values()), "--test-category",
         "simple_python", "--partial-eval"], check=True, env=environment,
    )  # fmt: skip
    for part in ("result", "score"):
        shutil.copytree(part, folder / part, ignore=shutil.ignore_patterns("*.csv"))


TOOLS = {name.removeprefix("make_"): call for name, call in globals().items()
         if name.startswith("make_")}  # fmt: skip


def main() -> None:
    """Make the exports of one tool."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tool", choices=[name.replace("_", "-") for name in TOOLS])
    parser.add_argument("folder", type=Path)
    arguments = parser.parse_args()
    folder = arguments.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary:
        os.chdir(temporary)
        TOOLS[arguments.tool.replace("-", "_")](folder)


if __name__ == "__main__":
    main()
