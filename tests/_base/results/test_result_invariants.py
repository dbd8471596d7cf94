"""Invariants of every result: signature of explain, data frame, strict JSON, no NaN in text."""

import ast
import dataclasses
import importlib
import inspect
import json
import pkgutil
import re
import typing
from pathlib import Path

import numpy as np
import pytest
from result_examples import MADE, held_in

import bestofk as bk
from bestofk._base.errors import ArgumentError
from bestofk._base.results import Presented

NO_RESULTS = {
    "Problem",  # an input, not a result
    # inputs and registry entries
    "DataSet", "Design", "Encoded", "Loss", "Plan", "Schema", "Splits", "Table",
    "BayesianNetwork", "Decision", "PairwiseTest", "MultipleTest", "Outcomes",
    "AllPairs", "ManyDecisions", "Step", "Simulation", "Truth",
}  # fmt: skip
PACKAGES = ("", "data", "data.tables", "decide", "decide.power", "losses", "papers.lab", "splits",
            "stats.multiple", "stats.pairwise")  # fmt: skip


def modules():
    """Yield every module that may define a result: all except kernels and reproductions."""
    for module in pkgutil.walk_packages(bk.__path__, "bestofk."):
        parts = module.name.split(".")
        if "papers" in parts and "lab" not in parts:
            continue
        if not {"learners", "cli", "__main__", "engines"} & set(parts):
            yield importlib.import_module(module.name)


def result_classes():
    """Return results by class, and dataclasses named like results."""
    results = {}
    for module in modules():
        for name, value in vars(module).items():
            if not (dataclasses.is_dataclass(value) and isinstance(value, type)):
                continue
            if value.__module__ == module.__name__ and (
                issubclass(value, Presented) or name.endswith("Result")
            ):
                results[name] = value
    # internal, and base classes
    for name in ("StatedDecision",):
        results.pop(name, None)
    return results


@pytest.fixture(scope="module")
def examples():
    return {name: make() for name, make in MADE.items()}


def every(examples):
    for name, value in examples.items():
        for each in held_in(value):
            yield f"{name}: {type(each).__name__}", each


def test_every_result_class_has_an_example(examples):
    shown = {type(each).__name__ for _, each in every(examples)}
    assert sorted(set(result_classes()) - shown) == []


def test_whatever_a_public_function_returns_is_a_result():
    odd = {}
    for name in PACKAGES:
        package = importlib.import_module(f"bestofk.{name}".rstrip("."))
        stub = typing.cast(str, package.__file__) + "i"
        try:
            text = Path(stub).read_text(encoding="utf-8")
        except FileNotFoundError:
            continue
        for name in [alias.name for node in ast.parse(text).body for alias in node.names]:
            value = getattr(package, name)
            if not inspect.isfunction(value):
                continue
            expected = value.__annotations__.get("return")
            kind = inspect.getmodule(value).__dict__.get(expected) if expected else None
            if dataclasses.is_dataclass(kind) and not issubclass(
                kind, Presented | bk.Scores | bk.Evals
            ):
                odd[name] = kind.__name__
    assert {name: kind for name, kind in odd.items() if kind not in NO_RESULTS} == {}


def test_every_result_explains_itself_without_arguments(examples):
    for name, value in every(examples):
        parameters = inspect.signature(type(value).explain).parameters
        assert all(one.default is None for each, one in parameters.items() if each != "self"), name


def test_seeds_have_one_default_and_gaps_one_vocabulary():
    for name in PACKAGES:
        package = importlib.import_module(f"bestofk.{name}".rstrip("."))
        for name in package.__all__:
            value = getattr(package, name)
            if not inspect.isfunction(value):
                continue
            parameters = inspect.signature(value).parameters
            if "random_state" in parameters:
                assert parameters["random_state"].default == 0, name
            if "missing" in parameters:
                # the default for logs is to use the items that all models have
                usual = "drop" if name == "compare_evals" else "refuse"
                assert parameters["missing"].default == usual, name


def test_explanations_are_sentences_without_gaps(examples):
    for name, value in every(examples):
        text = value.explain()
        assert text.rstrip().endswith("."), (name, text)
        for line in text.splitlines():
            assert line.rstrip().endswith((".", ":", ";")), (name, line)
        assert not re.search(r"\b(nan|NaN|None|inf)\b|array\(|np\.", text), (name, text)


def test_a_decided_level_may_be_named_and_no_other(examples):
    for name in ("nemenyi", "newman_keuls", "bootstrap_b"):
        value = examples[name]
        decided = value.alpha
        assert value.explain(alpha=decided) == value.explain()
        with pytest.raises(ArgumentError, match=r"the level at which this was decided; got 0\.2"):
            value.explain(alpha=0.2)


def test_frames_have_rows_and_unique_columns(examples):
    for name, value in every(examples):
        frame = value.table if isinstance(value, bk.Result) else value.to_frame()
        assert len(frame), name
        assert frame.columns.is_unique, name
        assert all(isinstance(column, str) for column in frame.columns), name
        if isinstance(value, bk.Result):
            assert not re.search(r"\b(nan|NaN|None)\b", str(value)), (name, str(value))


def test_objects_are_strict_json(examples):
    for name, value in every(examples):
        text = json.dumps(value.to_dict(), allow_nan=False)
        assert json.loads(text) == value.to_dict(), name


def numbers_in(value):
    """Yield all numbers of a JSON object except those in its sentences."""
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return
    if isinstance(value, int | float):
        yield float(value)
    else:
        for each in value.values() if isinstance(value, dict) else value:
            yield from numbers_in(each)


SAID = re.compile(
    r"(?:\bp =|\bby|\bis|\berror|[FHQ](?:\(\d+, \d+\))? =) (\d+\.\d+)|\((\d+\.\d+)[,) ]"
)
"""Numbers that are results: p-values, differences, means in brackets, statistics."""
SAY_NOTHING = {
    # shares in percent, or whole numbers alone
    "a judge",
    # bounds, which are rounded up
    "compare_battles", "compare_evals", "order along the preference", "study",
    "anova of many", "calibrate",
    "false_claims",
    "gate",
    "interval", "interval_test", "intervals", "kfold_t of many",
    "losses",
    "multinomial_selection", "other metric",
    "power", "power point", "replicability",
    "rehearsal", "roc_hull", "run_interval_test", "settled items",
    "order_intervals",
    "simulate", "slices",
    "type1_error",
    # a table has the numbers
    "estimate", "one test",
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(MADE.keys() - SAY_NOTHING))
def test_numbers_in_sentences_are_in_the_object(examples, name):
    value = examples[name]
    pairs = {"pairs": True} if isinstance(value, bk.Result) else {}
    values = np.array(list(numbers_in(value.to_dict(**pairs))))
    if isinstance(value, bk.Result):  # the p-values against the best are in sentences alone
        values = np.append(values, value.decision.evidence.adjusted_pvalue)
    numbers = [next(filter(None, groups)) for groups in SAID.findall(value.explain())]
    assert numbers
    for text in numbers:
        half = 0.5 * 10.0 ** -len(text.split(".")[1])
        near = np.abs(np.abs(values) - float(text)).min()
        assert near <= half * (1 + 1e-9), (name, text, value.explain())


def test_numbered_learners_are_called_learners():
    losses = [[0.301, 0.282, 0.333], [0.279, 0.268, 0.305], [0.101, 0.123, 0.108]]
    text = bk.compare_scores(np.array(losses), test="kfold-t").explain()
    assert "learner 2" in text
