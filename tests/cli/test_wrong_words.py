"""Options and verbs that people misspell or type from habit."""

import pytest

CASES = [
    ("compare iris --metric f1", "--scoring"),
    ("compare iris --metrics f1", "--scoring"),
    ("compare iris --folds 5", "--cv"),
    ("compare iris --n-splits 5", "--cv"),
    ("compare iris --model nn", "--learner"),
    ("compare iris --models nn", "--learner"),
    ("compare iris --estimators nn", "--learner"),
    ("compare iris --seed 1", "--random-state"),
    ("compare iris --random_state 1", "--random-state"),
    ("compare iris --jobs 2", "--n-jobs"),
    ("compare iris --workers 2", "--n-jobs"),
    ("compare iris --weight w", "--sample-weight"),
    ("compare iris --label y", "--target"),
    ("compare iris --categorical a", "--column"),
    ("compare iris --drop a", "--column"),
    ("compare iris --baseline nn", "--control"),
    ("compare iris --prior nn", "--prefer"),
    ("compare iris --plan 5x2", "--cv"),
    ("compare iris --html r.html", "--report"),
    ("compare iris --output r.html", "--report"),
    ("compare iris --pdf r.pdf", "--figure"),
    ("compare iris --plot r.pdf", "--figure"),
    ("compare iris --time-limit 5", "--budget"),
    ("compare iris --lerner nn", "--learner"),
    ("scores x.csv --cv 10x10", "--design"),
    ("scores x.csv --models a", "--learners"),
    ("scores x.csv --maximize", "--higher-is-better"),
    ("evals x --scoring f1", "--metric"),
    ("evals x --groups g", "--cluster"),
    ("measure type1 --seed 3", "--random-state"),
    ("calibrate --output f.json", "--out"),
    ("report s.db --to r.html", "--output"),
    ("gate new.csv --reference old.csv", "--baseline"),
]


@pytest.mark.parametrize(("call", "option"), CASES, ids=[call for call, _ in CASES])
def test_a_habitual_option_gets_its_replacement(run, call, option):
    words = call.split()
    typed = next(word for word in words if word.startswith("--"))
    code, out, err = run(*words)
    assert (code, out) == (2, "")
    assert err.startswith(f"bestofk: There is no option {typed}: use {option}")


def test_scoring_of_a_table_of_losses_is_its_metric(run):
    code, _, err = run("scores", "x.csv", "--scoring", "f1")
    assert (code, "use --metric" in err) == (2, True)


def test_an_unlike_option_leads_to_the_help(run):
    assert "See 'bestofk compare --help-all'" in run("compare", "iris", "--zzzz")[2]


@pytest.mark.parametrize(
    ("verb", "words"),
    [
        ("learners", "'bestofk list learners'"),
        ("rank", "did you mean 'scores'"),
        ("benchmark", "did you mean 'compare'"),
        ("download", "did you mean 'fetch'"),
        ("compre", "did you mean 'compare'"),
    ],
)
def test_a_habitual_verb_gets_its_replacement(run, verb, words):
    code, _, err = run(verb)
    assert (code, words in err) == (2, True)
