"""Tables of Weka's Experimenter in CSV and ARFF."""

import numpy as np
import pytest

import bestofk as bk

HEAD = ("Key_Dataset", "Key_Run", "Key_Fold", "Key_Scheme", "Key_Scheme_options",
        "Key_Scheme_version_ID", "Date_time", "Number_of_training_instances",
        "Number_of_testing_instances", "Number_correct", "Percent_correct", "Percent_incorrect",
        "Kappa_statistic", "Mean_absolute_error", "Elapsed_Time_training")  # fmt: skip
SCHEMES = (("weka.classifiers.rules.ZeroR", "''"),
           ("weka.classifiers.trees.J48", "'-C 0.25 -M 2'"),
           ("weka.classifiers.trees.J48", "'-U -M 2'"))  # fmt: skip


def rows():
    rng = np.random.default_rng(0)
    for data in ("iris", "glass"):
        for run in (1, 2):
            for fold in (1, 2, 3):
                for k, (scheme, options) in enumerate(SCHEMES):
                    right = round(60 + 10 * k + float(rng.normal()), 4)
                    yield (data, run, fold, scheme, options, f"{k}77", "2.0240101E7", 100, 50,
                           right / 2, right, 100 - right, 0.5, 0.1, 0.01)  # fmt: skip


def as_csv():
    return "\n".join(",".join(map(str, row)) for row in (HEAD, *rows())) + "\n"


def as_arff():
    nominal = {0: "{iris,glass}", 3: "{" + ",".join(dict.fromkeys(s for s, _ in SCHEMES)) + "}",
               4: "{" + ",".join(o for _, o in SCHEMES) + "}",
               1: "{1,2}", 2: "{1,2,3}", 5: "{077,177,277}"}  # fmt: skip
    attributes = [f"@attribute {name} {nominal.get(k, 'numeric')}" for k, name in enumerate(HEAD)]
    data = [",".join(map(str, row)) for row in rows()]
    return "\n".join(["@relation InstanceResultListener", *attributes, "@data", *data]) + "\n"


@pytest.mark.parametrize(("name", "text"), [("w.csv", as_csv), ("w.arff", as_arff)])
def test_an_experiment_is_read_as_it_stands(tmp_path, name, text):
    path = tmp_path / name
    path.write_text(text())
    table = bk.read_losses(path)
    assert table.learners == ("ZeroR", "J48 -C 0.25 -M 2", "J48 -U -M 2")
    assert table.datasets == ("iris", "glass")
    assert (table.design.runs, table.design.folds) == (2, 3)
    assert table.metric.higher_is_better
    shown = table.metric.shown(table.values)
    right = [row[10] for row in rows() if row[0] == "iris" and row[3].endswith("ZeroR")]
    assert shown[0, 0].mean() == pytest.approx(np.mean(right), rel=1e-9)
    assert "An experiment of Weka" in " ".join(table.account)


def test_another_measure_by_its_name(tmp_path):
    path = tmp_path / "w.csv"
    path.write_text(as_csv())
    table = bk.read_losses(path, metric="mean_absolute_error")
    assert np.allclose(table.values, 0.1)
    assert not table.metric.higher_is_better


def test_schemes_of_the_same_last_name_keep_their_whole_names():
    columns = {
        "Key_Dataset": ["d"] * 4, "Key_Run": [1, 1, 2, 2],
        "Key_Scheme": ["a.Tree", "b.Tree"] * 2, "Percent_correct": [50.0, 60.0, 51.0, 61.0],
    }  # fmt: skip
    table = bk.read_losses(columns)
    assert table.learners == ("a.Tree", "b.Tree")


@pytest.mark.parametrize("name", ["experiment.csv", "experiment.arff"])
def test_files_of_weka_itself(golden, name):
    """Means of Percent_correct over the runs and folds of Weka 3.6.14, taken from its CSV."""
    table = bk.read_losses(golden(f"weka/{name}"))
    assert table.learners == ("ZeroR", "NaiveBayes", "J48 -C 0.25 -M 2", "J48 -U -M 2")
    assert table.datasets == ("contact-lenses", "labor-neg-data")
    shown = table.metric.shown(table.values).mean(axis=(2, 3, 4))
    assert shown[0] == pytest.approx([62.5, 64.912], abs=1e-3)
    assert shown[1] == pytest.approx([79.1667, 93.8596], abs=1e-3)


@pytest.mark.parametrize(
    ("measure", "higher"),
    [("Kappa_statistic", True), ("Area_under_ROC", True), ("Percent_incorrect", False),
     ("Elapsed_Time_training", False), ("False_positive_rate", False)],
)  # fmt: skip
def test_the_measures_of_weka_point_their_way(golden, measure, higher):
    table = bk.read_losses(golden("weka/experiment.csv"), metric=measure.lower())
    assert table.metric.higher_is_better is higher
