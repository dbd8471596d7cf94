"""The JSON of every command follows the schema of the package."""

import json
from importlib.resources import files

import pandas as pd
import pytest

import bestofk as bk
from bestofk.cli import main

SCHEMA = json.loads(files("bestofk.report").joinpath("result.schema.json").read_text("utf-8"))
TYPES = {"string": str, "integer": int, "number": (int, float), "boolean": bool, "object": dict,
         "array": list, "null": type(None)}  # fmt: skip


def problems(value, schema, at="$"):
    """Yield what violates the keywords that our schema uses (JSON Schema 2020-12)."""
    if "$ref" in schema:
        schema = SCHEMA["$defs"][schema["$ref"].rsplit("/", 1)[1]]
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
    assert result["command"] == words.split()[0]
    assert (result["pairs"] is None) == ("--pairs" not in words)
    assert [row["name"] for row in result["table"]] == result["order"]


def test_what_violates_the_schema_is_found():
    result = bk.compare_scores(bk.read_scores("digits-5x2")).to_dict()
    assert list(problems(result, SCHEMA)) == []
    wrong = result | {"headline": None, "said": 1}
    del wrong["order"]
    assert sorted(problems(wrong, SCHEMA)) == [
        "$ has said", "$ lacks order", "$.headline is not ['string']",
    ]  # fmt: skip
