"""Make the golden tables of tests/losses/golden with the tools that write them.

Needs, in an environment of its own: ``pip install mlflow optuna openml skore autorank
scikit-learn pandas``. Nothing leaves the machine.

    python studies/make_golden_tables.py mlflow tests/losses/golden/mlflow
    python studies/make_golden_tables.py optuna tests/losses/golden/optuna
    python studies/make_golden_tables.py openml tests/losses/golden/openml
    python studies/make_golden_tables.py scikit-learn tests/losses/golden/scikit-learn
    python studies/make_golden_tables.py skore tests/losses/golden/skore
    python studies/make_golden_tables.py autorank tests/losses/golden/autorank
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path
from typing import Any

FOLDS = 4
LEARNERS = ("tree", "bayes", "majority")


def estimators() -> dict[str, Any]:
    """Return three scikit-learn learners."""
    from sklearn.dummy import DummyClassifier
    from sklearn.naive_bayes import GaussianNB
    from sklearn.tree import DecisionTreeClassifier

    models = (DecisionTreeClassifier(random_state=0), GaussianNB(), DummyClassifier())
    return dict(zip(LEARNERS, models, strict=True))


def cross_validated(**how: Any) -> dict[str, dict[str, Any]]:
    """Run ``cross_validate`` for each learner on the same folds of iris."""
    from sklearn.datasets import load_iris
    from sklearn.model_selection import StratifiedKFold, cross_validate

    rows, labels = load_iris(return_X_y=True)
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=1)
    return {
        name: cross_validate(learner, rows, labels, cv=folds, **how)
        for name, learner in estimators().items()
    }


def make_scikit_learn(folder: Path) -> None:
    """Write results of cross_validate by learner, and cv_results_."""
    import pandas as pd
    from sklearn.datasets import load_iris
    from sklearn.model_selection import GridSearchCV
    from sklearn.tree import DecisionTreeClassifier

    results = cross_validated(scoring=("accuracy", "neg_log_loss"))
    plain = {
        name: {key: values.tolist() for key, values in one.items()} for name, one in results.items()
    }
    (folder / "cross_validate.json").write_text(json.dumps(plain, indent=1) + "\n")
    search = GridSearchCV(
        DecisionTreeClassifier(random_state=0), {"max_depth": [1, 2, 3]}, cv=FOLDS
    ).fit(*load_iris(return_X_y=True))
    pd.DataFrame(search.cv_results_).to_csv(folder / "cv_results.csv", index=False)


def make_mlflow(folder: Path) -> None:
    """Write parent and child runs as ``search_runs`` returns them."""
    import mlflow

    results = cross_validated(scoring=("accuracy",))
    with tempfile.TemporaryDirectory() as temporary:
        mlflow.set_tracking_uri(f"sqlite:///{temporary}/mlflow.db")
        mlflow.create_experiment("iris", artifact_location="artifacts")
        mlflow.set_experiment("iris")
        for name, one in results.items():
            with mlflow.start_run(run_name=name):
                mlflow.log_param("learner", name)
                for fold in range(FOLDS):
                    with mlflow.start_run(run_name=f"{name} {fold}", nested=True):
                        mlflow.log_param("fold", fold)
                        mlflow.log_metric("accuracy", one["test_accuracy"][fold])
        try:
            with mlflow.start_run(run_name="broken"):
                raise KeyboardInterrupt
        except KeyboardInterrupt:
            pass
        frame = mlflow.search_runs()
        frame["artifact_uri"] = frame["artifact_uri"].str.replace(temporary, "")
        frame.to_csv(folder / "search_runs.csv", index=False)


def make_optuna(folder: Path) -> None:
    """Write the trials of a study that store the scores of their folds, and only their values."""
    import optuna
    from sklearn.datasets import load_iris
    from sklearn.model_selection import StratifiedKFold, cross_val_score
    from sklearn.tree import DecisionTreeClassifier

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    rows, labels = load_iris(return_X_y=True)
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=1)

    def objective(trial: Any) -> float:
        depth = trial.suggest_int("max_depth", 1, 4)
        criterion = trial.suggest_categorical("criterion", ["gini", "entropy"])
        if trial.number == 3:
            raise optuna.TrialPruned
        learner = DecisionTreeClassifier(max_depth=depth, criterion=criterion, random_state=0)
        scores = cross_val_score(learner, rows, labels, cv=folds)
        for fold, score in enumerate(scores):
            trial.set_user_attr(f"split{fold}_test_score", float(score))
        return float(scores.mean())

    sampler = optuna.samplers.RandomSampler(seed=2)
    study = optuna.create_study(direction="maximize", sampler=sampler)
    study.optimize(objective, n_trials=6)
    study.trials_dataframe().to_csv(folder / "trials.csv", index=False)
    attrs = ("number", "value", "params", "state")
    study.trials_dataframe(attrs=attrs).to_csv(folder / "values.csv", index=False)


def make_openml(folder: Path) -> None:
    """Write listings as openml-python parses them.

    The answer of the server is made up in the format of its API.
    """
    from unittest.mock import patch

    import openml

    results = cross_validated(scoring=("accuracy",))
    evaluations = []
    for task, data in ((59, "iris"), (41, "soybean")):
        for flow, (name, one) in enumerate(results.items(), start=1):
            scores = [round(float(score) - (task == 41) / 8, 6) for score in one["test_accuracy"]]
            evaluations.append((1000 * flow + task, task, 10 * flow, flow, name, data, scores))
    # a later run of the first flow on the first task
    evaluations.append((9000, 59, 10, 1, LEARNERS[0], "iris", evaluations[0][-1]))
    for per_fold in (False, True):
        answer = _listing(evaluations, per_fold=per_fold)
        users = (
            '<oml:users xmlns:oml="http://openml.org/openml"><oml:user><oml:id>1</oml:id>'
            "<oml:username>nobody</oml:username></oml:user></oml:users>"
        )
        with patch(
            "openml._api_calls._perform_api_call",
            side_effect=lambda call, *_, answers=(users, answer): answers["user/" not in call],
        ):
            frame = openml.evaluations.list_evaluations(
                "predictive_accuracy", size=len(evaluations), per_fold=per_fold,
                output_format="dataframe",
            )  # fmt: skip
        name = "evaluations_per_fold.csv" if per_fold else "evaluations.csv"
        frame.to_csv(folder / name, index=False)


def _listing(evaluations: list[tuple[Any, ...]], *, per_fold: bool) -> str:
    """Return the server's answer to a request for evaluations."""
    parts = []
    for run, task, setup, flow, name, data, scores in evaluations:
        value = (
            f"<oml:values>{json.dumps(scores)}</oml:values>"
            if per_fold
            else f"<oml:value>{sum(scores) / len(scores)}</oml:value>"
        )
        parts.append(
            f"<oml:evaluation><oml:run_id>{run}</oml:run_id><oml:task_id>{task}</oml:task_id>"
            f"<oml:setup_id>{setup}</oml:setup_id><oml:flow_id>{flow}</oml:flow_id>"
            f"<oml:flow_name>{name}</oml:flow_name><oml:data_id>{task}</oml:data_id>"
            f"<oml:data_name>{data}</oml:data_name>"
            "<oml:function>predictive_accuracy</oml:function>"
            "<oml:upload_time>2020-01-01 00:00:00</oml:upload_time><oml:uploader>1</oml:uploader>"
            f"{value}</oml:evaluation>"
        )
    space = 'xmlns:oml="http://openml.org/openml"'
    return f"<oml:evaluations {space}>{''.join(parts)}</oml:evaluations>"


def make_skore(folder: Path) -> None:
    """Write the summary of the metrics of a ComparisonReport."""
    from sklearn.datasets import load_iris
    from sklearn.model_selection import StratifiedKFold
    from skore import ComparisonReport, CrossValidationReport

    rows, labels = load_iris(return_X_y=True)
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=1)
    reports = {
        name: CrossValidationReport(learner, rows, labels, splitter=folds)
        for name, learner in estimators().items()
    }
    metrics = ["default_score", "precision", "log_loss"]
    summary = ComparisonReport(reports).metrics.summarize(metric=metrics).summary
    summary.to_csv(folder / "summary.csv", index=False)


def make_autorank(folder: Path) -> None:
    """Write a frame that autorank accepts, and its mean ranks."""
    import warnings

    import numpy as np
    import pandas as pd
    from autorank import autorank

    draws = np.random.default_rng(3).normal(size=(12, 3))
    frame = pd.DataFrame(0.8 + draws / 50 + np.array([0.05, 0.0, -0.1]), columns=LEARNERS).round(4)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = autorank(frame, order="descending")
    frame.to_csv(folder / "populations.csv", index=False)
    result.rankdf["meanrank"].to_json(folder / "meanrank.json")


MAKERS = {
    "mlflow": make_mlflow,
    "optuna": make_optuna,
    "openml": make_openml,
    "scikit-learn": make_scikit_learn,
    "skore": make_skore,
    "autorank": make_autorank,
}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tool", choices=MAKERS)
    parser.add_argument("folder", type=Path)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    MAKERS[options.tool](options.folder.resolve())
