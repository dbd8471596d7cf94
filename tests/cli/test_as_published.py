"""--as-published sets what the MultiTest paper sets, and refuses to be contradicted."""

import json


def test_compare_uses_the_papers_learners_plan_test_and_preference(run):
    found = json.loads(run("compare", "iris", "--as-published", "--json")[1])
    assert set(found["order"]) == {"max", "nmc", "logistic", "c4.5", "nn"}
    assert (found["settings"]["rule"], found["test"]) == ("multitest", "5x2cv-t")
    assert found["settings"]["correction"] == "bonferroni"
    assert any("not stratified" in note for note in found["notes"])


def test_contradictions_are_refused(run):
    code, _, err = run("compare", "iris", "--as-published", "--set", "correction=holm")
    assert (code, "--as-published sets correction" in err) == (2, True)
