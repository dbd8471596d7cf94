r"""Make the exports of evaluation tools in tests/evals/exports with the tools themselves.

Each tool needs an environment of its own (``pip install deepeval``, ``mlflow``, ...). Two mock
models answer twelve sums, and nothing leaves the machine.

    python studies/make_export_evals.py deepeval tests/evals/exports/deepeval
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
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
