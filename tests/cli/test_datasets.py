"""``bestofk list datasets`` and ``papers fetch``; downloads are in tests/papers/test_fetch.py."""

import json


def test_the_embedded_ones_are_listed_with_their_sizes(run):
    code, out, _ = run("list", "datasets", "--json")
    assert code == 0
    rows = {row["name"]: row for row in json.loads(out)["datasets"]}
    assert {"iris", "wine"} <= set(rows)
    _, text, _ = run("list", "datasets")
    assert all(name in text for name in rows)


def test_where_to_fetch_to_must_be_known(run, monkeypatch, tmp_path):
    monkeypatch.delenv("BESTOFK_DATA", raising=False)
    code, _, err = run("papers", "fetch", "uci")
    assert (code, err.count("\n")) == (2, 1)
    assert "--to DIR" in err
    code, _, err = run("papers", "fetch", "ucl", "--to", str(tmp_path))
    assert code == 2
    assert "did you mean 'uci'?" in err
