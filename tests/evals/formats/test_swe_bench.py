"""SWE-bench reports, as its own code writes them."""

import json

import pytest

import bestofk as bk


def test_what_became_of_every_instance(golden):
    evals = bk.read_evals(golden("swe-bench"))
    frame = evals.to_frame().set_index(["learner", "item"])
    a, b = frame.loc["org/agent-a"], frame.loc["org/agent-b"]
    assert a["status"].value_counts().to_dict() == {"scored": 5, "error": 1}
    assert a.loc["sympy__sympy-12", "status"] == "error"  # the network broke
    assert b.loc["django__django-13", "score"] == 0  # an empty patch
    assert b.loc["sympy__sympy-11", "status"] == "error"  # no report
    assert b.loc["sympy__sympy-13", "status"] == "missing"  # no prediction
    assert any("whose environment broke" in s for s in evals.account)


def test_errors_count_as_wrong_when_asked_as_swe_bench_itself_counts(golden):
    path = golden("swe-bench/org__agent-a.run1.json")
    told = json.loads(path.read_text())
    scores = bk.read_evals(path).by_item(count_errors_as_wrong=True)
    share = told["resolved_instances"] / told["total_instances"]
    assert scores.means() == pytest.approx([share])


def test_reports_of_single_instances(tmp_path):
    for name, resolved in (("django__django-1", True), ("django__django-2", False)):
        folder = tmp_path / "run1" / "org__agent" / name
        folder.mkdir(parents=True)
        told = {name: {"patch_is_None": False, "patch_exists": True,
                       "patch_successfully_applied": True, "resolved": resolved}}  # fmt: skip
        (folder / "report.json").write_text(json.dumps(told))
    evals = bk.read_evals(tmp_path)
    assert (evals.learners, sorted(evals.score)) == (("org/agent",), [0.0, 1.0])
