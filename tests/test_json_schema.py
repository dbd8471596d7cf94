"""The JSON of every command follows the schema of the package."""

import json
from importlib.resources import files

import numpy as np
import pandas as pd
import pytest

import bestofk as bk
from bestofk.cli import main
from bestofk.cli.listings import LISTINGS

SCHEMA = json.loads(files("bestofk.report").joinpath("result.schema.json").read_text("utf-8"))
TYPES = {"string": str, "integer": int, "number": (int, float), "boolean": bool, "object": dict,
         "array": list, "null": type(None)}  # fmt: skip


def problems(value, schema, at="$"):
    """Yield what violates the keywords that our schema uses (JSON Schema 2020-12)."""
    if "$ref" in schema:
        schema = SCHEMA["$defs"][schema["$ref"].rsplit("/", 1)[1]]
    if "oneOf" in schema:  # they differ by their commands and required keys
        fits = [list(problems(value, one, at)) for one in schema["oneOf"]]
        yield from [] if fits.count([]) == 1 else min(fits, key=len)
    kinds = schema.get("type", list(TYPES))
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if not any(isinstance(value, TYPES[kind]) for kind in kinds):
        yield f"{at} is not {kinds}"
    if value not in schema.get("enum", [value]):
        yield f"{at} is not one of {schema['enum']}"
    if isinstance(value, dict):
        yield from (f"{at} lacks {key}" for key in schema.get("required", ()) if key not in value)
        known, other = schema.get("properties", {}), schema.get("additionalProperties", {})
        for key, item in value.items():
            if key not in known and other is False:
                yield f"{at} has {key}"
            yield from problems(item, known.get(key, other or {}), f"{at}.{key}")
    if isinstance(value, list):
        for k, item in enumerate(value):
            yield from problems(item, schema.get("items", {}), f"{at}[{k}]")


QUICK = "--cv 2x2 --learner baseline --learner nmc"
BATTLES = [("x", "y", "model_a")] * 30 + [("x", "y", "model_b")] * 10


@pytest.fixture
def files_of(tmp_path):
    rows = [(m, i, ("old", "new")[i % 2], int(i % 7 > k)) for k, m in enumerate("ab")
            for i in range(60)]  # fmt: skip
    made = {
        "battles": pd.DataFrame(BATTLES, columns=["model_a", "model_b", "winner"]),
        "printed": pd.DataFrame({"model": ["A", "B"], "accuracy": [71.3, 55.0]}),
        "slices": pd.DataFrame(rows, columns=["model", "item", "part", "accuracy"]),
    }
    for name, rate in (("old", 0.7), ("new", 0.5)):
        right = np.random.default_rng(0).random(200) < rate
        made[name] = pd.DataFrame({"model": name, "item": range(200), "correct": right.astype(int)})
    for name, frame in made.items():
        frame.to_csv(tmp_path / f"{name}.csv", index=False)
    return tmp_path


@pytest.mark.parametrize(
    "words",
    [
        "compare iris --cv 5x2 --learner baseline --learner nmc",
        "compare iris wine --cv 2x2 --learner baseline --learner nmc --scoring accuracy,log_loss",
        "scores digits-5x2 --prefer listed --pairs",
        "scores breast-cancer-10x10",
        "scores {folder}/slices.csv --by part",
        "scores {folder}/battles.csv --pairs",
        "scores {folder}/printed.csv --items 1319",
        "evals inspect-sums --metric match --prefer tokens --margin 0.1",
    ],
)
def test_json_follows_the_schema(words, files_of, capsys):
    assert main([*words.format(folder=files_of).split(), "--json"]) == 0
    result = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)
    assert list(problems(result, SCHEMA)) == []
    assert {*result} <= {*SCHEMA["properties"]}
    assert result["command"] == words.split()[0]
    assert (result["pairs"] is None) == ("--pairs" not in words)
    assert [row["name"] for row in result["table"]] == result["order"]


@pytest.mark.parametrize(
    "words",
    [
        "evals inspect-sums --metric match --noise",
        "gate {folder}/new.csv --baseline {folder}/old.csv",
        "gate {folder}/old.csv --baseline {folder}/old.csv",
        "gate --rehearse {folder}/old.csv",
        "size breast-cancer-10x10",
        "size --datasets 15 --sd 0.03 --difference 0.02",
        "show {folder}/bc.db",
        "show {folder}/bc.db --set alpha=0.01",
        *(f"list {kind}" for kind in LISTINGS),
        "list tests wilcoxon",
        "papers test digits-5x2 --test 5x2cv-f",
        "papers test digits-5x2 --test newman-keuls",
        "papers estimate iris --learner nn",
        "papers reproduce --list",
    ],
)
def test_json_of_the_other_commands_follows_the_schema(words, files_of, capsys):
    if "bc.db" in words:
        store = f"{files_of}/bc.db"
        assert main(["compare", "iris", *QUICK.split(), "--store", store, "-q"]) == 0
        capsys.readouterr()
    assert main([*words.format(folder=files_of).split(), "--json"]) in (0, 1)
    result = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)
    assert list(problems(result, SCHEMA)) == []
    assert [*result][:2] == ["version", "command"]


def test_what_violates_the_schema_is_found():
    result = bk.compare_scores(bk.read_scores("digits-5x2")).to_dict()
    assert list(problems(result, SCHEMA)) == []
    wrong = result | {"headline": None}
    del wrong["order"]
    assert sorted(problems(wrong, SCHEMA)) == ["$ lacks order", "$.headline is not ['string']"]
