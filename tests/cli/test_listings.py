"""The verbs that list what there is."""

import json

import pytest


@pytest.mark.parametrize(
    ("verb", "count"),
    [
        ("tests", 30),
        ("procedures", 7),
        ("plans", 6),
        ("learners", 8),
        ("datasets", 4),
        ("problems", 5),
        ("losses", 8),
    ],
)
def test_listings(run, verb, count):
    code, out, _ = run(verb, "--json")
    assert code == 0
    rows = json.loads(out)[verb]
    assert len(rows) >= count
    _, text, _ = run(verb)
    for row in rows:
        assert row["name"] in text
        assert row["summary"] in text


@pytest.mark.parametrize(
    "verb",
    ["tests", "procedures", "plans", "learners", "datasets", "problems", "losses", "reproduce"],
)
def test_listings_keep_to_the_width_and_lose_no_word(run, verb, monkeypatch):
    verbs = [verb, "--list"] if verb == "reproduce" else [verb]
    _, whole, _ = run(*verbs)
    monkeypatch.setenv("COLUMNS", "90")
    _, wrapped, _ = run(*verbs)
    assert wrapped.split() == whole.split()
    assert max(map(len, wrapped.splitlines())) <= 90
