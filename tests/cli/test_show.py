"""``bestofk show`` on a store of ``bestofk compare``; other stores are in tests/run."""

import json


def test_what_compare_has_stored_is_shown(run, tmp_path):
    store = str(tmp_path / "s.db")
    learners = ["--learner", "max", "--learner", "nmc"]
    code, _, _ = run("compare", "iris", *learners, "--cv", "kfold:3", "--engine", "serial",
                     "--store", store, "--quiet")  # fmt: skip
    assert code == 0
    code, out, _ = run("show", store, "--json")
    assert code == 0
    (study,) = json.loads(out)["studies"]
    assert [learner["name"] for learner in study["learners"]] == ["max", "nmc"]
    code, text, _ = run("show", store)
    assert code == 0
    assert "6 of 6" in text


def test_a_file_that_is_no_store_is_refused(run, tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text("learner,fold,error\na,1,0.1\n")
    code, out, err = run("show", str(path))
    assert (code, out) == (4, "")
    assert "this is not a bestofk store" in err
