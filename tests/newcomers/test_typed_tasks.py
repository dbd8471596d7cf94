"""What people type without looking: it works, or the answer is the line that works."""

import shlex

import numpy as np
import pandas as pd
import pytest

QUICK = "--learner max --learner nmc --cv 5x2"


@pytest.fixture
def folder(tmp_path, monkeypatch, run):
    """A folder with the files of the tasks, as the working folder."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    sets = [f"d{k}" for k in range(12)]
    means = rng.uniform(0.8, 0.9, 12)
    wide = pd.DataFrame({"dataset": sets, "small": means - 0.05, "large": means})
    wide.to_csv("acc.csv", index=False)
    wide.melt("dataset", var_name="model", value_name="accuracy").to_csv("long.csv", index=False)
    y = rng.integers(0, 2, 120)
    good, poor = (np.where(rng.random(120) < right, y, 1 - y) for right in (0.9, 0.6))
    pd.DataFrame({"y": y, "a": good, "b": poor}).to_csv("p.csv", index=False)
    rows = [("x", "y", "model_a")] * 30 + [("x", "y", "model_b")] * 10
    pd.DataFrame(rows, columns=["model_a", "model_b", "winner"]).to_csv("arena.csv", index=False)
    printed = pd.DataFrame({"model": ["A", "B"], "accuracy": [71.3, 55.0]})
    printed.to_csv("printed.csv", index=False)
    X = rng.normal(size=(60, 2))
    frame = pd.DataFrame(X, columns=["age", "spend"])
    labels = {"plan": np.where(rng.random(60) > 0.5, "free", "paid")}
    frame.assign(**labels, churn=np.where(X[:, 0] > 0, "yes", "no")).to_csv(
        "churn.csv", index=False
    )
    frame.assign(price=X[:, 0] + 0.1 * X[:, 1]).to_csv("price.csv", index=False)
    for build, rate in (("old", 0.7), ("new", 0.75)):
        logs = pd.DataFrame({"model": build, "item": range(200),
                             "correct": (rng.random(200) < rate).astype(int)})  # fmt: skip
        logs.to_csv(f"{build}.csv", index=False)
    pd.concat([pd.read_csv("old.csv"), pd.read_csv("new.csv")]).to_csv("runs.csv", index=False)
    assert run(*f"compare iris {QUICK} --store bc.db -q".split())[0] == 0


WORKS = [
    f"compare iris {QUICK}",
    f"compare churn.csv --target churn {QUICK}",
    f"compare churn.csv {QUICK} --target churn --scoring accuracy --json",
    f"compare iris wine {QUICK}",
    f"compare iris {QUICK} --prefer fit_time --margin 0.01 --pairs",
    f"compare iris {QUICK} --set n_jobs=1 --set timeout=30s -q",
    f"compare iris {QUICK} --report r.html --figure f.svg --figure-width 3.3 --csv t.csv",
    "compare price.csv --target price --learner LinearRegression --learner DummyRegressor --cv 5x2",
    "scores acc.csv --higher-is-better",
    "scores long.csv --pairs --explain",
    "scores acc.csv --higher-is-better --set test=wilcoxon",
    "scores p.csv --truth y",
    "scores arena.csv",
    "scores printed.csv --items 1000",
    "scores digits-5x2 --set correction=holm --pairs",
    "evals inspect-sums --metric match --prefer tokens",
    "evals inspect-sums --metric match --by passage",
    "size --instances 200 --discordance 0.1 --difference 0.05",
    "size breast-cancer-10x10 --difference 0.02",
    "show", "show bc.db", "show bc.db --json",
    "show bc.db --report r.html", "show bc.db --report r.html --set alpha=0.01",
    "list learners", "list tests", "list tests wilcoxon", "list settings", "list formats",
    "list", "list figures", "list figure forest", "list metrics", "list rules", "list plans 5x2",
    "list learners random-forest", "list datasets", "list problems", "list formats --json",
    f"compare iris wine {QUICK} --per-dataset",
    f"compare churn.csv --by plan --target churn {QUICK}",
    f"compare iris {QUICK} --scoring accuracy,log_loss,f1_macro --alpha 0.01",
    f"compare iris {QUICK} --prefer max,nmc --random-state 3 --explain",
    f"compare churn.csv --target churn {QUICK} --column age=ignore",
    "compare iris --learner max --learner nmc --set stop=settled",
    "compare churn.csv --learner SVC --learner KNeighborsClassifier --cv kfold:5 --target churn",
    "compare churn.csv --learner 'SVC(C=10)' --learner max --cv 5x2 --target churn",
    "compare price.csv --target price --learner mean-baseline --learner Ridge --cv 5x2 -q",
    "scores acc.csv --higher-is-better --prefer small,large --margin 0.02",
    "scores acc.csv --higher-is-better --csv t.csv --figure forest.svg --report r.html",
    "scores long.csv --column learner=model --column dataset=dataset --json --pairs",
    "scores p.csv --truth y --metric f1", "scores arena.csv --pairs", "scores arena.csv --json",
    "scores printed.csv --items 1000 --report r.html", "scores digits-5x2 --figure matrix=m.svg",
    "evals runs.csv --metric correct --json", "evals inspect-sums --metric match --noise",
    "evals runs.csv --metric correct --set only=old,new --report r.html",
    "gate --rehearse old.csv", "gate start old.csv --ledger g.json",
    "gate old.csv --baseline old.csv --json", "gate -h", "gate check --help",
    "size acc.csv --higher-is-better", "size --design 10x10 --rows 300 --sd 0.05 --learners 5",
    "show bc.db --set alpha=0.01 --json", "show bc.db --study 1",
    "papers estimate iris --learner nn", "papers test acc.csv --higher-is-better --test wilcoxon",
    "papers reproduce --list", "papers test digits-5x2 --test 5x2cv-f", "--version", "-h",
    f"compare iris {QUICK} --budget 10min", "list 5x2", "list formats inspect",
    "compare iris --cv 5 --learner max,nmc -q",
]  # fmt: skip


@pytest.mark.parametrize("line", WORKS)
def test_it_works(run, folder, line):
    code, out, err = run(*shlex.split(line))
    assert (code, bool(out)) == (0, True), err


ANSWERED = [
    ("report bc.db r.html", "bestofk show bc.db --report r.html"),
    ("report bc.db", "bestofk show bc.db --report report.html"),
    ("size 10x10", "bestofk size --design 10x10 --rows 1000 --sd 0.05"),
    ("order digits-5x2", "bestofk scores digits-5x2"),
    ("rank digits-5x2", "bestofk scores digits-5x2"),
    ("choose inspect-sums --metric match", "bestofk evals inspect-sums --metric match"),
    (f"benchmark iris {QUICK}", f"bestofk compare iris {QUICK}"),
    ("learners", "bestofk list learners"),
    ("test digits-5x2 --test tukey", "bestofk papers test digits-5x2 --test tukey"),
    ("reproduce --list", "bestofk papers reproduce --list"),
    ("status bc.db", "bestofk show bc.db"),
    ("plot bc.db", "bestofk show bc.db --figure f.svg"),
    ("battles arena.csv", "bestofk scores arena.csv"),
    ("help", "bestofk --help"),
]


@pytest.mark.parametrize(("line", "answer"), ANSWERED)
def test_the_answer_is_the_line_that_works(run, folder, line, answer):
    code, out, err = run(*shlex.split(line))
    assert (code, out) == (2, "")
    assert f"use '{answer}'" in err
    assert run(*shlex.split(answer)[1:])[0] == 0


OPTIONS = [
    ("compare iris --metric f1", "--scoring"), ("compare iris --metrics f1", "--scoring"),
    ("compare iris --folds 5", "--cv"), ("compare iris --n-splits 5", "--cv"),
    ("compare iris --plan 5x2", "--cv"), ("compare iris --model nn", "--learner"),
    ("compare iris --learners nn", "--learner"), ("compare iris --estimators nn", "--learner"),
    ("compare iris --lerner nn", "--learner"), ("compare iris --seed 1", "--random-state"),
    ("compare iris --label y", "--target"), ("compare iris --drop a", "--column"),
    ("compare iris --categorical a", "--column"), ("compare iris --prior nn", "--prefer"),
    ("compare iris --html r.html", "--report"), ("compare iris --output r.html", "--report"),
    ("compare iris --pdf r.pdf", "--figure"), ("compare iris --plot r.pdf", "--figure"),
    ("compare iris --latex t.tex", "--csv"), ("compare iris --time-limit 5", "--budget"),
    ("compare iris --help-all", "--help"), ("gate --help-all", "--help"),
    ("compare iris --n-jobs 2", "--set n_jobs=2"), ("compare iris --jobs 2", "--set n_jobs=2"),
    ("compare iris --test wilcoxon", "--set test=wilcoxon"),
    ("compare iris --stop settled", "--set stop=settled"),
    ("compare iris --weight w", "--set sample_weight=w"),
    ("compare iris --baseline nn", "--set control=nn"),
    ("compare iris --task regression", "--set task=regression"),
    ("scores x.csv --cv 10x10", "--design"), ("scores x.csv --scoring f1", "--metric"),
    ("scores x.csv --maximize", "--higher-is-better"), ("scores x.csv --ranks", "--pairs"),
    ("scores x.csv --df 10", "--set df=10"), ("scores x.csv --folds f", "--column fold=f"),
    ("scores x.csv --where a=b", "--set where=a=b"),
    ("scores x.csv --models a", "--set learners=a"),
    ("evals x --scoring f1", "--metric"), ("evals x --groups g", "--cluster"),
    ("evals x --pass-at 2", "--set pass_at=2"), ("gate new.csv --reference old.csv", "--baseline"),
    ("papers measure type1 --seed 3", "--random-state"),
    ("scores x.csv --maximise", "--higher-is-better"),
    ("compare iris --exclude a", "--column"), ("size --items 200", "--instances"),
    ("gate new.csv --against old.csv", "--baseline"), ("scores x.csv --lower", "--lower-is-better"),
    ("compare iris --replicate 5", "'bestofk papers measure replicability --data iris'."),
]  # fmt: skip


@pytest.mark.parametrize(("line", "option"), OPTIONS)
def test_an_option_typed_from_habit_gets_the_one_that_works(run, line, option):
    words = line.split()
    code, out, err = run(*words)
    typed = next(word for word in words if word.startswith("--"))
    assert (code, out) == (2, "")
    assert err.startswith(f"bestofk: There is no option {typed}: use {option}")


def test_unlike_words_lead_to_the_help(run):
    assert "See 'bestofk compare --help'" in run("compare", "iris", "--zzzz")[2]
    assert "did you mean 'compare'" in run("compre")[2]
    assert "use --set only=old,new" in run("evals", "x", "--model", "old,new")[2]
    assert "use 'bestofk --help'" in run("list", "commands")[2]
    assert "did you mean fit_time?" in run("compare", "iris", "--prefer", "fittime")[2]
    assert "did you mean fit_time?" in run("compare", "iris", "--prefer", "fastest")[2]
    assert "use --margin" in run("list", "settings", "margin")[2]
    assert "--design 10x10, --datasets 15 or" in run("size", "--sd", "0.1")[2]
    assert "not a number such as 0.05" in run("compare", "iris", "--alpha", "5%")[2]
    assert "use --set correction" in run("scores", "digits-5x2", "--set", "corection=holm")[2]
