"""``bestofk show`` on stores of all kinds."""

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

import bestofk as bk
from bestofk.cli.show import show
from bestofk.run.cells import Failure
from bestofk.run.store.store import open_store

sys.path.insert(0, str(Path(__file__).parent))
from made_cells import RECORD, make_cell


@pytest.fixture
def filled(lasting_url, live, evaluated):
    """A store with two studies, the first with failures and a cell to do."""
    results = evaluated()
    with open_store(lasting_url) as store:
        first = replace(live.record, title="first\n<b>study</b>")
        store.register(first)
        store.register(replace(live.record, title="second", plan="other"))
        for place, result in enumerate(results):
            if result.learner == 1 and result.repetition == 1:
                why = Failure(kind="timeout", reason="longer than 60 s\nin fit")
                results[place] = replace(result, scores=(why,), fit_time=None, predict_time=None)
        lone = next(result for result in results if result.learner == 2)
        store.put(live.record, [result for result in results if result is not lone])
    failed = sum(result.failure is not None for result in results)
    return lasting_url, live, failed


def call(*arguments):
    return CliRunner().invoke(show, list(map(str, arguments)), catch_exceptions=False)


def test_what_is_printed(filled):
    url, live, failed = filled
    done = call(url)
    assert done.exit_code == 0
    lines = done.stdout.splitlines()
    n = live.record.n_cells
    assert lines[0].endswith(f": 2 studies, {n * 3 // 4 - 1} fits.")
    assert "p%40ss" not in done.output
    assert "1. first\ufffd<b>study</b>" in lines
    assert "2. second" in lines
    assert f"   fits       {n - failed - 1} of {n} done, {failed} failed, 1 to do" in lines
    name = live.record.learners[1].name.replace("\n", "\ufffd")
    assert f"   failed     {name}, {failed} x timeout: longer than 60 s\ufffdin fit" in lines
    assert any(
        line.startswith("   data sets  data, with 'comma' (30 rows), <script>\" (20 rows)")
        for line in lines
    )
    assert any(line.startswith("   learners   tree, ") for line in lines)
    assert any("loss zero-one, random state 5, 2 repetitions" in line for line in lines)
    assert f"   time       {0.375 * (n - failed - 1):.3g} s in fit and predict" in lines


def test_json(filled):
    url, live, failed = filled
    done = call(url, "--json")
    assert done.output == done.stdout
    held = json.loads(done.stdout, parse_constant=lambda word: pytest.fail(word))
    assert held["version"] == bk.__version__
    assert "p%40ss" not in done.stdout
    assert [study["number"] for study in held["studies"]] == [1, 2]
    first = held["studies"][0]
    assert first["title"] == "first\n<b>study</b>"
    assert first["plan"] == live.splits[0].spec
    assert [learner["name"] for learner in first["learners"]] == list(live.learners)
    assert (first["cells"], first["failed"], first["missing"]) == (live.record.n_cells, failed, 1)
    assert first["done"] == live.record.n_cells - failed - 1
    assert first["failures"] == [
        {
            "learner": live.record.learners[1].name,
            "kind": "timeout",
            "reason": "longer than 60 s\nin fit",
            "count": failed,
        }
    ]
    one = json.loads(call(url, "--json", "--study", 2).stdout)
    assert [study["title"] for study in one["studies"]] == ["second"]


def test_an_empty_store(lasting_url):
    open_store(lasting_url).close()
    assert call(lasting_url).stdout.splitlines()[0].endswith(": 0 studies, 0 fits.")
    assert json.loads(call(lasting_url, "--json").stdout)["studies"] == []


def test_showing_changes_nothing(tmp_path):
    path = tmp_path / "study.db"
    with open_store(path) as store:
        store.put(RECORD, [make_cell(1)])
    before = path.read_bytes()
    call(path)
    assert path.read_bytes() == before
    assert [found.name for found in tmp_path.iterdir()] == ["study.db"]


def test_a_store_in_use_can_be_shown(tmp_path):
    path = tmp_path / "study.db"
    with open_store(path) as store:
        store.put(RECORD, [make_cell(1)])
        store.flush()
        assert call(path).stdout.startswith(f"{path}: 0 studies, 1 fit.")
        store.put(RECORD, [make_cell(2)])
        store.flush()
        assert call(path).stdout.startswith(f"{path}: 0 studies, 2 fits.")


def test_a_study_of_very_many_names_stays_short(tmp_path, live):
    first = live.record.learners[0]
    many = tuple(replace(first, name=f"learner {i}", fingerprint=f"{i:x}") for i in range(200))
    with open_store(tmp_path / "study.db") as store:
        store.register(replace(live.record, learners=many))
    out = call(tmp_path / "study.db").stdout
    assert "learner 11 and 188 more" in out
    assert len(out.splitlines()) < 12
