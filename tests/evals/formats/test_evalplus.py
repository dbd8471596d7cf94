"""EvalPlus results, as its own evaluation writes them."""

import json
import shutil
from pathlib import Path

import pytest

import bestofk as bk


def test_the_means_are_those_that_evalplus_printed(golden):
    for metric, printed in (("base", [1.0, 0.5]), ("plus", [0.833, 0.333])):
        evals = bk.read_evals(golden("evalplus"), metric=metric)
        assert evals.by_item().means() == pytest.approx(printed, abs=5e-4)


def test_other_tests_are_another_benchmark(golden, tmp_path):
    for path in golden("evalplus").iterdir():
        shutil.copy(path, tmp_path)
    path = tmp_path / "model-b_eval_results.json"
    path.write_text(path.read_text().replace('"hash": "', '"hash": "f'))
    with pytest.raises(bk.TableError, match="the two runs cannot be paired"):
        bk.read_evals(tmp_path)
    assert len(bk.read_evals(tmp_path, metric="base")) == 12


def test_without_the_plus_tests(golden, tmp_path):
    path = Path(shutil.copy(golden("evalplus/model-a_eval_results.json"), tmp_path))
    content = json.loads(path.read_text())
    for samples in content["eval"].values():
        for sample in samples:
            sample["plus_status"] = None
    # the name that later versions give, by the folder of the samples
    (tmp_path / "model-x").mkdir()
    (tmp_path / "model-x" / "eval_results.json").write_text(json.dumps(content))
    evals = bk.read_evals(tmp_path / "model-x")
    assert (evals.learners, evals.metric) == (("model-x",), "base")


def test_before_0_2_the_plus_tests_come_on_top_of_the_base_tests(document):
    old = {"date": "x", "hash": "h", "eval": {"HumanEval/0": {
        "nfiles": 3, "base": [["pass", []], ["fail", []], ["pass", []]],
        "plus": [["pass", []], ["pass", []], ["fail", []]],
    }}}  # fmt: skip
    path = document("m_eval_results.json", old)
    assert bk.read_evals(path, metric="plus").score.tolist() == [1.0, 0.0, 0.0]
    assert bk.read_evals(path, metric="base").score.tolist() == [1.0, 0.0, 1.0]
