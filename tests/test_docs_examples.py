"""Run the commands and calls of README and docs that are no code cells.

The guides name files that a reader has; here they are small. A comparison without `--cv` runs
quick folds, because only its answer would take longer.
"""

import re
import shlex
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

import bestofk as bk

ROOT = Path(__file__).resolve().parents[1]
GOLDEN = ROOT / "tests" / "losses" / "golden"
TESTED_ELSEWHERE = {
    "docs/contributing.md": "tests/test_plugins.py runs its modules",
    "docs/use/exports.md": "tests/evals/test_exports.py reads the exports of each tool",
    "docs/use/language-models.md": "tests/evals/test_decisions.py compares the answers, too",
    "docs/papers/checklist.md": "tests/papers/test_checklist.py",
    "docs/use/gate.md": "tests/cli/test_gate.py runs the steps of the action",
}
NOT_RUN = {
    "python3 -m venv": "an installation; .ci/run begins with it",
    ".venv/bin/bestofk": "needs that installation; the README test runs its command",
    "pip install": "an installation; studies/built_packages.py makes one",
    "sphinx-build": "needs the extra docs",
    "python docs/check_site.py": "needs a built site and a browser",
    "dask ": "needs a cluster; tests/run/engines starts one",
    "postgresql+psycopg://": "needs a database server; tests/run/store starts one",
    "from dask_jobqueue": "needs a Slurm cluster",
    "papers reproduce": "takes minutes to hours; tests/papers has the tables with few samples",
    ">>> ": "pytest runs the README as a doctest",
}
"""Text of a command, and why it is not run here."""
MADE = "% Made by"
PAGES = [
    path
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
    if "_build" not in path.parts and not path.read_text().startswith(MADE)
]


def blocks():
    """Yield (page, language, content) of each fenced block that is typed or called."""
    for path in PAGES:
        page = path.relative_to(ROOT).as_posix()
        if page not in TESTED_ELSEWHERE:
            for language, text in re.findall(
                r"^```(\w+)\n(.*?)^```$", path.read_text(), re.M | re.S
            ):
                if language not in ("text", "bibtex", "toml", "latex", "json"):
                    yield page, language, text


def commands():
    """Yield (page, command) of each command in a fenced block."""
    for page, language, text in blocks():
        if language in ("console", "bash", "sh"):
            whole = re.sub(r"\\\n\s*", "", text)
            prompts = any(line.startswith("$ ") for line in whole.splitlines())
            for line in whole.splitlines():
                if line.startswith("$ ") or not prompts:
                    yield page, line.removeprefix("$ ")


def reason(text):
    """Why this command or code is not run here, or None."""
    return next((why for sign, why in NOT_RUN.items() if sign in text), None)


RUN = [(page, command) for page, command in commands() if reason(command) is None]


def write_tables(folder, names):
    """Write those of the files that are in the command."""
    rng = np.random.default_rng(7)
    rows = pd.DataFrame(rng.normal(size=(60, 3)), columns=["age", "income", "debt"])
    label = np.where(rows["age"] + rng.normal(scale=0.3, size=60) > 0, "yes", "no")
    targets = {"data.csv": "target", "patients.csv": "target", "churn.csv": "churned"}
    for name in (*targets, "credit.csv", "other.csv", "A.csv", "B.csv", "C.csv"):
        if name in names:
            data = rows.assign(**{targets.get(name, "class"): label})
            data.to_csv(folder / name, index=False)
    scores = pd.DataFrame(
        {"small": rng.normal(0.8, 0.02, 10), "large": rng.normal(0.83, 0.02, 10)},
        index=pd.Index([f"set {k}" for k in range(10)], name="dataset"),
    )
    for name in ("scores.csv", "benchmark.csv"):
        if name in names:
            scores.to_csv(folder / name)
    if "folds.csv" in names:
        scores.to_csv(folder / "folds.csv", index=False)
    if "answers.csv" in names:
        right = pd.DataFrame(rng.integers(0, 2, (60, 3)), columns=["small", "medium", "large"])
        right.rename_axis("item").to_csv(folder / "answers.csv")
    if "predictions.csv" in names:
        truth = rng.integers(0, 2, 60)
        wrong = rng.random((2, 60)) < [[0.1], [0.2]]
        pd.DataFrame({"y": truth, "a": truth ^ wrong[0], "b": truth ^ wrong[1]}).to_csv(
            folder / "predictions.csv", index=False
        )
    if "battles.csv" in names:
        pd.DataFrame({
            "question_id": np.arange(120) % 40, "model_a": np.resize(["a", "b", "c"], 120),
            "model_b": np.resize(["b", "c", "a"], 120),
            "winner": np.where(rng.random(120) < 0.6, "model_a", "model_b"),
        }).to_csv(folder / "battles.csv", index=False)  # fmt: skip
    for name in ("old", "new"):
        if f"{name}.jsonl" in names:
            pd.DataFrame({"item": np.arange(200), "score": (np.arange(200) % 5 > 0) * 1}).to_json(
                folder / f"{name}.jsonl", orient="records", lines=True
            )
    if "logs/" in names:
        (folder / "logs").mkdir()
        models = {"large": (0.85, 3e-3), "small": (0.82, 1e-3)}
        for model, (level, cost) in models.items():
            pd.DataFrame({
                "model": model, "item": np.arange(300), "cost": cost,
                "correct": (rng.random(300) < level) * 1, "input_tokens": 900, "output_tokens": 90,
            }).to_csv(folder / "logs" / f"{model}.csv", index=False)  # fmt: skip
        pd.DataFrame({"model": list(models), "input": [3, 1], "output": [15, 5]}).to_csv(
            folder / "prices.csv", index=False
        )


def write_exports(folder):
    """Write the tables of other tools that the page on other tools names."""
    shutil.copy(GOLDEN / "mlflow" / "search_runs.csv", folder / "runs.csv")
    shutil.copy(GOLDEN / "optuna" / "trials.csv", folder / "trials.csv")
    shutil.copy(GOLDEN / "openml" / "evaluations.csv", folder)
    shutil.copy(GOLDEN / "weka" / "experiment.arff", folder / "results.arff")
    rows = [f"openml.org/t/{t},{task},{framework},{constraint},{fold},0.{80 + t + fold},acc,{t}"
            for constraint in ("1h8c", "4h8c") for framework in ("flaml", "tpot")
            for t, task in enumerate(("adult", "iris", "wine", "car"))
            for fold in (0, 1)]  # fmt: skip
    head = "id,task,framework,constraint,fold,result,metric,seed"
    (folder / "results.csv").write_text("\n".join([head, *rows]))


@pytest.fixture
def run_command(run, tmp_path, monkeypatch):
    """Return a function that runs a printed command in a folder with the files it names."""

    def run_there(command, page=""):
        monkeypatch.chdir(tmp_path)
        write_tables(tmp_path, command.replace("*.csv", "credit.csv other.csv"))
        if page.endswith("coming-from.md"):
            write_exports(tmp_path)
        if "study.toml" in command:
            (toml,) = re.findall(r"^```toml\n(.*?)^```", (ROOT / page).read_text(), re.M | re.S)
            (tmp_path / "study.toml").write_text(toml)
            write_tables(tmp_path, toml)
        if "show" in command.split():
            quick = ["--learner", "max", "--learner", "nmc", "--cv", "5x2", "--quiet"]
            assert run("compare", "iris", *quick, "--store", "study.db")[0] == 0
        words = [
            path
            for word in shlex.split(command)[1:]
            for path in (map(str, sorted(tmp_path.glob(word))) if "*" in word else [word])
        ]
        if words[0] == "compare":
            data = [word for word in words if word.endswith(".csv")]
            words = [word.rpartition("/")[2] if word in data else word for word in words]
            words += [] if "--cv" in words or "--config" in words else ["--cv", "5x2"]
        return run(*words)

    return run_there


@pytest.mark.parametrize(("page", "command"), RUN, ids=[f"{p}: {c}" for p, c in RUN])
def test_the_printed_command_works(run_command, page, command):
    code, out, err = run_command(command, page)
    assert code == 0, (page, command, out, err)
    assert out


def skill_table(heading):
    """Return the code in the cells of the table under a heading of docs/skill.md."""
    text = (ROOT / "docs" / "skill.md").read_text().partition(f"## {heading}\n")[2]
    rows = [line for line in text.partition("\n## ")[0].splitlines() if line.startswith("| ")]
    code = [re.findall(r"`([^`]+)`", row.partition(" | ")[2]) for row in rows[1:]]
    typed = [[text for text in cells if text.startswith(("bestofk", "--"))] for cells in code]
    return [([text for text in cells if text not in commands], commands)
            for cells, commands in zip(code, typed, strict=True)]  # fmt: skip


SKILL = skill_table("Which call answers which question")


@pytest.mark.parametrize("command", [c for _, commands in SKILL for c in commands])
def test_the_commands_of_the_skill_work(run_command, command):
    code, out, err = run_command(command)
    assert code == 0, (out, err)


@pytest.fixture
def names(tmp_path, monkeypatch):
    """Names that the calls of docs/skill.md use, and the files."""
    monkeypatch.chdir(tmp_path)
    write_tables(tmp_path, "data.csv battles.csv new.jsonl old.jsonl logs/")
    bk.compare(["max", "nmc"], "iris", cv="5x2", store="study.db", progress=False)
    X, y = load_iris(return_X_y=True)
    old, new = GaussianNB(), DecisionTreeClassifier(max_depth=2, random_state=0)
    grid = GridSearchCV(DecisionTreeClassifier(random_state=0), {"max_depth": [1, 3]}, cv=10)
    truth = np.arange(90) % 2
    chances = np.random.default_rng(3).random((2, 90)) / 2 + truth * 0.4
    return {
        "bk": bk, "X": X, "y": y, "X_test": X, "y_test": y, "old": old, "new": new, "rows": X[:3],
        "a": clone(old).fit(X, y), "b": clone(new).fit(X, y), "search": grid.fit(X, y),
        "frame": pd.DataFrame({"a": [0.8, 0.9, 0.85, 0.7, 0.8], "b": [0.7, 0.8, 0.8, 0.6, 0.7]}),
        "y_true": truth, "pred_a": chances[0], "pred_b": chances[1],
        "result": bk.compare([old, new], X, y, cv="5x2", progress=False),
    }  # fmt: skip


def test_the_calls_of_the_skill_work(names):
    calls = [call for calls, _ in SKILL for call in calls]
    assert len(calls) > 10
    for call in calls:
        quick = f"{call[:-1]}, cv='5x2', progress=False)" if "compare(" in call[:11] else call
        assert eval(quick, names) is not None, call


@pytest.mark.parametrize(("calls", "commands"), skill_table("Options that matter")[:-1])
def test_the_options_of_the_skill_work(run, names, calls, commands):
    table = pd.read_csv("data.csv").assign(patient=np.arange(60) // 2)
    table.to_csv("patients.csv", index=False)
    for option in calls:
        settings = {"cv": "5x2"} | eval(f"dict({option})")
        learners = ["small", "large"] if "small" in option else ["a", "b"]
        named = dict(zip(learners, ["baseline", "naive-bayes"], strict=True))
        if "groups" in settings:
            settings["cv"] = "group-kfold:5"
        if "stop" in settings:
            settings["cv"] = "10x10"
        result = bk.compare(named, table, "target", progress=False, **settings)
        assert result.recommended in learners
    for option in commands:
        words = option.replace("small,large", "baseline,naive-bayes").split()
        plan = [] if "--cv" in words else ["--cv", "10x10" if "stop" in option else "5x2"]
        if "--groups" in words:
            plan = ["--cv", "group-kfold:5"]
        learners = ["--learner", "baseline", "--learner", "naive-bayes"]
        code, _, err = run(
            "compare", "patients.csv", "--target", "target", *learners, *plan, *words
        )
        assert code == 0, err


def test_the_words_of_the_result_exist(names):
    text = (ROOT / "docs" / "skill.md").read_text()
    for name in re.findall(r"`result\.(\w+)", text):
        assert hasattr(names["result"], name)


def test_code_that_is_no_cell_is_tested_elsewhere_or_cannot_run():
    for page, language, text in blocks():
        if language not in ("console", "bash", "sh"):
            assert reason(text), (page, text)


def test_every_reason_is_still_needed():
    everything = "".join(path.read_text() for path in PAGES)
    assert [sign for sign in NOT_RUN if sign not in everything] == []
    assert all((ROOT / page).is_file() for page in TESTED_ELSEWHERE)
