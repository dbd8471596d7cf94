"""``bestofk show`` on a store of ``bestofk compare``; other stores are in tests/run."""

import json


def test_what_compare_has_stored_is_shown(run, tmp_path):
    store = str(tmp_path / "s.db")
    learners = ["--learner", "max", "--learner", "nmc"]
    code, _, _ = run("compare", "iris", *learners, "--cv", "kfold:3", "--set", "engine=serial",
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


QUICK = ("compare", "iris", "--learner", "max", "--learner", "nmc", "--cv", "5x2", "-q",
         "--set", "engine=serial")  # fmt: skip


def test_watch_prints_changes_until_ctrl_c(run, tmp_path, monkeypatch):
    import time

    from bestofk.cli import main

    store = str(tmp_path / "study.db")
    assert run(*QUICK, "--store", store)[0] == 0
    looks = []

    def sleep(_):
        looks.append(1)
        if len(looks) == 2:
            main([*QUICK, "--store", store, "--alpha", "0.01"])
        elif len(looks) == 4:
            raise KeyboardInterrupt

    monkeypatch.setattr(time, "sleep", sleep)
    code, out, err = run("show", "--watch", store)
    assert (code, err) == (0, "")
    # of four looks, the first and that after the second decision differ from the one before
    assert out.count("20 of 20 done") == 2
    assert out.count("Ctrl-C ends the watch.") == 2


def test_watch_prints_text_only(run, tmp_path):
    store = str(tmp_path / "study.db")
    assert run(*QUICK, "--store", store)[0] == 0
    code, _, err = run("show", store, "--watch", "--json")
    assert (code, "--watch prints text" in err) == (2, True)
    code, _, err = run("show", str(tmp_path / "studi.db"))
    assert (code, "study.db" in err) == (2, True)
